"""FMUs in processes of their own: steps, types, failures, and mapping files."""

import math
import os
import re
import signal
import threading
import zipfile
from pathlib import Path

import pytest
from patience import DEADLINE, wait_until
from plc_peers import RememberingSink, load_mapping, opened

from grouser import experiments
from grouser.bridges.fmu.build import build_fmu, build_pressure_limiter
from grouser.bridges.fmu.description import read_description
from grouser.bridges.fmu.process import FmuDiscardedError, FmuFailedError, FmuProcess
from grouser.bridges.protocols import transport_of
from grouser.bridges.transport import KeptOpen
from grouser.physics.base.errors import MachineError, ParameterError

TROUBLED = Path(__file__).with_name("fmu_scripts") / "troubled_fmi2.py"
DISCARD, FAIL, NOT_A_NUMBER, SLEEP, CRASH, EXIT, TOO_LARGE, SLEEP_AT_START, CHILD = range(1, 10)


@pytest.fixture(scope="module")
def limiters(tmp_path_factory):
    folder = tmp_path_factory.mktemp("limiters")
    return {version: build_pressure_limiter(version, folder / str(version)) for version in (2, 3)}


@pytest.fixture(scope="module")
def troubled(tmp_path_factory):
    return build_fmu(TROUBLED, 2, tmp_path_factory.mktemp("troubled"))


def started(file, outputs=("command",), deadline=60.0, **parameters):
    return FmuProcess(read_description(file), ("wish", "pressure"), outputs, parameters, deadline)


@pytest.mark.parametrize("version", [2, 3])
def test_the_limiter_to_the_last_bit(limiters, version):
    limit, band = 2.1e6, 0.7e6
    process = started(limiters[version], limit=limit, band=band)
    try:
        for number in range(50):
            wish, pressure = math.sin(number), 1.0e6 + 0.1e6 * number / 3.0
            (command,) = process.step(0.01 * number, 0.01, (wish, pressure))
            assert command == wish * min(max((limit - pressure) / band, 0.0), 1.0)
    finally:
        process.close()


def test_integers_and_booleans(troubled):
    process = started(troubled, outputs=("is_on", "command", "count"))
    try:
        assert [process.step(0.1 * n, 0.1, (0.1 + 0.2, 0.0)) for n in range(2)] == [
            (1.0, 0.1 + 0.2, 1.0),
            (0.0, 0.1 + 0.2, 2.0),
        ]
    finally:
        process.close()


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [(FAIL, "failed in a step"), (NOT_A_NUMBER, "'command' is nan"), (CRASH, "ended"), (EXIT, "ended")],
)
def test_failures_end_the_process_and_are_told(troubled, trouble, reason):
    process = started(troubled, trouble=trouble, begin=0.1)
    process.step(0.0, 0.1, (0.5, 0.0))
    with pytest.raises(FmuFailedError, match=reason):
        process.step(0.1, 0.1, (0.5, 0.0))
    assert not _is_running(process.pid)


def test_a_sleeper_is_ended_at_the_deadline(troubled):
    process = started(troubled, deadline=0.2, trouble=SLEEP)
    with pytest.raises(FmuFailedError, match="longer than 0.2 s"):
        process.step(0.0, 0.1, (0.5, 0.0))
    assert not _is_running(process.pid)


def test_a_discarded_step_can_be_followed_by_others(troubled):
    process = started(troubled, trouble=DISCARD, begin=0.1)
    try:
        process.step(0.0, 0.1, (0.5, 0.0))
        for _ in range(3):
            with pytest.raises(FmuDiscardedError):
                process.step(0.1, 0.1, (0.5, 0.0))
        assert process.step(0.0, 0.1, (0.25, 0.0)) == (0.25,)
    finally:
        process.close()


def test_inputs_are_rounded_to_integers_and_booleans(troubled):
    process = FmuProcess(read_description(troubled), ("number", "is_wished"), ("seen", "is_seen"), {}, 60.0)
    try:
        for number, (wished, seen) in enumerate(
            [((0.3 / 0.1, 0.4), (3.0, 0.0)), ((-1.9999999, 0.9), (-2.0, 1.0)), ((1.2, 1.0), (1.0, 1.0))]
        ):
            assert process.step(0.1 * number, 0.1, wished) == seen
    finally:
        process.close()


def test_the_end_is_told_to_the_fmu_and_its_children_end_with_it(troubled, tmp_path, monkeypatch):
    monkeypatch.setenv("TROUBLED_ENDED", str(tmp_path / "ended"))
    process = started(troubled, outputs=("count",), trouble=CHILD)
    (child,) = process.step(0.0, 0.1, (0.5, 0.0))
    assert _is_running(int(child))
    process.close()
    assert (tmp_path / "ended").exists()
    wait_until(lambda: not _is_running(int(child)), "the end of the child")
    assert not Path(process._folder).exists()


def test_a_start_that_takes_too_long(troubled):
    with pytest.raises(FmuFailedError, match="loading it took longer than 3 s"):
        FmuProcess(read_description(troubled), (), (), {"trouble": SLEEP_AT_START}, 1.0, start_deadline=3.0)


def test_a_start_can_be_cancelled(troubled, tmp_path):
    text = mapping_text(troubled, f"{{trouble: {SLEEP_AT_START}}}").replace("deadline: 10", "start_deadline: 600")
    kept = KeptOpen(transport_of(load_mapping(tmp_path, text)), RememberingSink())
    kept.start()
    ended = threading.Thread(target=kept.stop, daemon=True)
    ended.start()
    ended.join(DEADLINE)
    assert not ended.is_alive()


def test_an_fmu_without_a_library_for_this_platform(limiters, tmp_path):
    bare = tmp_path / "bare.fmu"
    with zipfile.ZipFile(limiters[2]) as whole, zipfile.ZipFile(bare, "w") as left:
        for name in whole.namelist():
            if not name.startswith("binaries/"):
                left.writestr(name, whole.read(name))
    with pytest.raises(FmuFailedError, match="no library for this platform"):
        started(bare)


@pytest.mark.parametrize(
    ("parameters", "read"),
    [("{is_loud: true}", {"is_loud": 1.0}), ("{is_loud: 0, trouble: 2.0}", {"is_loud": 0.0, "trouble": 2.0})],
)
def test_parameters_are_read_by_type(troubled, tmp_path, parameters, read):
    assert load_mapping(tmp_path, mapping_text(troubled, parameters)).interface.parameters == read


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [("{trouble: 2.7}", "2.7 is not a whole number"), ("{is_loud: 0.5}", "neither true nor false")],
)
def test_parameters_of_another_type_are_refused(troubled, tmp_path, parameters, problem):
    with pytest.raises(MachineError, match=problem):
        load_mapping(tmp_path, mapping_text(troubled, parameters))


def test_the_mapping_of_the_documentation(limiters, tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "bridges_fmi.md").read_text()
    (text,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert limiters[2].name in text
    (tmp_path / limiters[2].name).write_bytes(limiters[2].read_bytes())
    mapping = load_mapping(tmp_path, text)
    inputs = {signal.field for message in mapping.outgoing for signal in message.signals}
    assert inputs == {one.name for one in read_description(limiters[2]).variables.values() if one.causality == "input"}


def _is_running(pid):
    return Path(f"/proc/{pid}").exists()


MAPPING = """
version: 1
bridge: fmu
machine: three_joints.urdf
interface: {{fmu: {file}, deadline: {deadline}, parameters: {parameters}}}
timeout: 0.1
messages:
  - name: answer
    direction: in
    period: 0.01
    signals:
      - {{source: command, signal: joint/a/velocity, range: [-1, 1], safe: 0.0}}
  - name: question
    direction: out
    period: 0.01
    signals:
      - {{target: wish, signal: joint/a/position}}
      - {{target: pressure, signal: joint/b/effort}}
"""


def mapping_text(file, parameters="{limit: 2.0e+6}", deadline=10):
    return MAPPING.format(file=file, parameters=parameters, deadline=deadline)


def test_each_outgoing_message_is_a_step(limiters, tmp_path):
    sink = RememberingSink()
    with opened(transport_of(load_mapping(tmp_path, mapping_text(limiters[3]))), sink) as transport:
        transport.send("question", {"wish": 0.5, "pressure": 1.6e6})
        sink.wait_for(lambda one: one.values("answer") == [{"command": 0.2}], "the answer")
        assert not transport.send("question", {"wish": math.nan, "pressure": 0.0})
        assert sink.losses == []


def test_a_discarded_step_is_a_refused_message_and_a_crash_breaks_the_transport(troubled, tmp_path):
    sink = RememberingSink()
    text = mapping_text(troubled, f"{{trouble: {DISCARD}, begin: 0.01}}")
    with opened(transport_of(load_mapping(tmp_path, text)), sink) as transport:
        transport.send("question", {"wish": 0.5, "pressure": 0.0})
        sink.wait_for(lambda one: one.values("answer"), "the answer")
        transport.send("question", {"wish": 0.5, "pressure": 0.0})
        sink.wait_for(lambda one: one.refusals("answer") == ["discarded"], "the refusal")
        os.kill(transport._process.pid, signal.SIGKILL)
        transport.send("question", {"wish": 0.5, "pressure": 0.0})
        sink.wait_for(lambda one: one.losses, "the loss")
    assert "Troubled.fmu: its process ended" in sink.losses[0]
    transport.open(sink)  # as whoever keeps it open does
    transport.send("question", {"wish": 0.25, "pressure": 0.0})
    sink.wait_for(lambda one: one.values("answer")[-1] == {"command": 0.25}, "the answer of a new process")
    transport.close()


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("source: command", "source: commands", "did you mean 'command'"),
        ("source: command", "source: wish", "the FMU has no output 'wish'"),
        ("target: wish", "target: command", "the FMU has no input 'command'"),
        ("limit: 2", "limits: 2", "did you mean 'limit'"),
        (
            "period: 0.01\n    signals:\n      - {target",
            "period: 0.02\n    signals:\n      - {target",
            "periods 0.02 and 0.01",
        ),
        ("deadline: 10", "deadline: 0", "0 is out of range"),
    ],
)
def test_mappings_that_are_refused(limiters, tmp_path, old, new, problem):
    text = mapping_text(limiters[2])
    assert old in text
    with pytest.raises(MachineError) as caught:
        load_mapping(tmp_path, text.replace(old, new, 1))
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("CoSimulation", "ModelExchange", "for Model Exchange only"),
        ("CoSimulation", "ScheduledExecution", "for Scheduled Execution only"),
        ('fmiVersion="3.0"', 'fmiVersion="1.0"', "FMI 1.0|not valid"),
        ("<fmiModelDescription", "<fmi", "not valid"),
    ],
)
def test_fmus_of_other_kinds_are_refused(limiters, tmp_path, old, new, problem):
    file = _rewritten(limiters[3], tmp_path, lambda text: text.replace(old, new))
    with pytest.raises(ValueError, match=problem):
        read_description(file)


def test_arrays_and_clocks_are_refused_where_they_are_mapped(limiters, tmp_path):
    def with_array(text):
        begin = text.index('<Float64 name="command"')
        end = text.index("/>", begin)
        return f'{text[:end]}><Dimension start="3"/></Float64>{text[end + 2 :]}'

    file = _rewritten(limiters[3], tmp_path, with_array)
    with pytest.raises(MachineError, match="variable command: it is an array"):
        load_mapping(tmp_path, mapping_text(file))


def test_files_that_are_no_fmus(tmp_path):
    for content in (b"", b"not a zip"):
        file = tmp_path / "controller.fmu"
        file.write_bytes(content)
        with pytest.raises(ValueError, match="cannot be read|not valid"):
            read_description(file)
    with zipfile.ZipFile(file, "w") as empty:
        empty.writestr("readme.txt", "")
    with pytest.raises(ValueError, match="cannot be read"):
        read_description(file)


def _rewritten(fmu, folder, change, changed="modelDescription.xml"):
    """A copy of an FMU with one file changed."""
    copy = folder / "changed.fmu"
    with zipfile.ZipFile(fmu) as source, zipfile.ZipFile(copy, "w") as target:
        for entry in source.infolist():
            content = source.read(entry)
            if entry.filename == changed:
                content = change(content.decode()).encode()
            target.writestr(entry, content)
    return copy


LIFT = {"duration": 0.4, "command": [[0, 0], [0.02, 1.0]], "limit": 2.0e6}


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("direction", ["in", "out"])
def test_round_trip_to_the_last_bit(version, direction):
    result = experiments.run("fmu_roundtrip", fmi=version, direction=direction, communication_step=0.002, **LIFT)
    assert result["max_difference"] == 0.0
    assert result["delay_steps"] == 1
    assert result["status"] == "done"
    assert result["command"].max() > 0.9
    assert result["position"][-1] > 1e-4
    later = result["command"][20:]  # after the wish has risen
    assert ((later > 0.0) & (later < 0.9)).any()  # the limiter is at work


@pytest.mark.parametrize(
    ("trouble", "held", "status"),
    [
        (DISCARD, 3, "refused: it discarded the step"),
        (TOO_LARGE, 3, "refused: its command 1.5"),
        (FAIL, 1, "failed at 0.2 s: it failed"),
        (NOT_A_NUMBER, 1, "failed at 0.2 s: its output 'command' is nan"),
        (CRASH, 1, "failed at 0.2 s: its process ended"),
        (SLEEP, 1, "failed at 0.2 s: a step took longer"),
    ],
)
def test_the_lift_is_safe_whatever_the_fmu_does(troubled, tmp_path, trouble, held, status):
    file = _rewritten(
        troubled,
        tmp_path,
        lambda text: text.replace("self.begin = 0.0, 0.0, 0.0, 0, 0.0", f"self.begin = 0.0, 0.0, 0.0, {trouble}, 0.2"),
        "resources/troubled_fmi2.py",
    )
    result = experiments.run("fmu_roundtrip", fmu=str(file), communication_step=0.01, **LIFT)
    assert result["status"].startswith(status)
    command = result["command"]
    assert len(command) == 41  # the run goes on
    assert (command[10:20] > 0.5).all()
    assert command[20] > 0.5  # what the step before the trouble said
    assert (command[20 + held :] == 0.0).all()
    assert result["velocity"][-1] < 0.1 * result["velocity"][20]


def test_steps_that_do_not_fit():
    with pytest.raises(ParameterError, match="a multiple of the step"):
        experiments.run("fmu_roundtrip", communication_step=0.0015)
    with pytest.raises(ParameterError, match="an FMU for co-simulation"):
        experiments.run("fmu_roundtrip", fmu="nowhere.fmu", duration=0.1)
