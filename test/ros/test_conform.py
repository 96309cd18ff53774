"""`grouser conform`: good simulators pass, and broken ones fail only the checks of their faults."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from faults import FAULTS, TOGETHER
from patience import DEADLINE, wait_until

from grouser.commands import conform

Simulators = Callable[..., "contextmanager"]


@pytest.fixture
def run_simulator(launch) -> Simulators:
    """Runs a simulator with some faults, or with none, in a process of its own."""

    @contextmanager
    def run(*faults: str, **parameters: str) -> Iterator[None]:
        namespace = parameters.pop("namespace", "/")
        parameters["diagnostics_rate"] = "10.0"  # nobody waits for a second
        settings = [text for name, value in parameters.items() for text in ("-p", f"{name}:={value}")]
        process = launch("broken_simulator", ",".join(faults), "--ros-args", "-r", f"__ns:={namespace}", *settings)
        yield
        process.terminate()
        process.communicate(timeout=DEADLINE)  # it has left the graph then

    return run


@pytest.fixture
def examine(tmp_path) -> Callable[..., tuple[int, dict]]:
    """Runs `grouser conform`; returns its exit status and its report."""
    file = tmp_path / "report.json"

    def run(*arguments: str) -> tuple[int, dict]:
        status = conform.main(["--timeout", str(DEADLINE), "--json", str(file), *arguments])
        return status, json.loads(file.read_text())

    return run


# Most of the work is about messages; no fault needs as many as a rover publishes by default.
STREAMS = ("clock", "contact", "force_torque", "hydraulics", "imu", "joint_state", "odom", "reaction", "slip")
FEW = {f"{stream}_rate": "20.0" for stream in STREAMS}
SHORT = {"command_timeout": "0.2", "cmd_vel_timeout": "0.2"}


def failed(report: dict) -> list[str]:
    return [row["check"] for row in report["rows"] if row["verdict"] == "FAILED"]


def assert_fails_only_the_checks_of(names, run_simulator, examine):
    faults = [FAULTS[name] for name in names]
    groups = dict.fromkeys(group for fault in faults for group in fault.groups)
    with run_simulator(*names, machine="rover", **FEW, **(SHORT if "commands" in groups else {})):
        status, report = examine("--node", "/simulator", "--only", *groups)
    assert sorted(failed(report)) == sorted(row for fault in faults for row in fault.failed), report
    assert status == 1


@pytest.mark.parametrize("names", TOGETHER, ids=", ".join)
def test_broken_simulator_fails_only_the_checks_of_its_faults(run_simulator, examine, names):
    assert_fails_only_the_checks_of(names, run_simulator, examine)


def test_every_fault_is_tried():
    assert sorted(name for names in TOGETHER for name in names) == sorted(FAULTS)


@pytest.mark.soak
@pytest.mark.parametrize("name", FAULTS)
def test_broken_simulator_fails_only_the_checks_of_its_single_fault(run_simulator, examine, name):
    assert_fails_only_the_checks_of([name], run_simulator, examine)


# The linkage's own integrator does not support brakes, which an emergency stop needs.
OURS = [
    {"machine": "rover"},
    {"machine": "demolition_robot", **FEW},
    {"machine": "four_bar", "world": "weightless", "integrator": "semi_implicit"},
]


@pytest.mark.parametrize("parameters", OURS, ids=lambda parameters: parameters["machine"])
def test_our_simulator_passes(run_simulator, examine, parameters, capsys):
    with run_simulator(**parameters):
        status, report = examine()
    assert (status, failed(report)) == (0, [])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert re.fullmatch(r"\d+ checks: \d+ passed, 0 failed, \d+ absent, \d+ skipped", lines[-1])


# Each command discovers the graph anew. When it learns of the second simulator is not known, so it is asked again.
def test_conform_selects_a_node_by_name(run_simulator, examine, capsys):
    with run_simulator(machine="four_bar"), run_simulator(machine="four_bar", namespace="/other"):
        for name in ("/simulator", "/other/simulator"):
            status, report = examine("--passive", "--only", "parameters", "--node", name)
            assert (status, report["node"], failed(report)) == (0, name, [])
        wait_until(lambda: conform.main(["--passive", "--only", "parameters"]) == 2, "a choice that is refused")
        said = capsys.readouterr().err
        assert "several simulators" in said and "/other/simulator, /simulator" in said

        def clock_has_two_publishers() -> bool:
            status, report = examine("--passive", "--only", "graph", "--node", "/other/simulator")
            return (status, failed(report)) == (1, ["/clock: publishers"])

        wait_until(clock_has_two_publishers, "a failed check of the publishers of /clock")
        assert conform.main(["--passive", "--timeout", "3", "--node", "nobody"]) == 2
        assert "no node is called nobody; nodes that are there: /other/simulator" in capsys.readouterr().err


def test_conform_without_a_simulator_fails(capsys):
    assert conform.main(["--timeout", "0.5"]) == 2
    assert "no node publishes /clock" in capsys.readouterr().err


def test_conform_leaves_a_paused_simulator_paused(run_simulator, examine):
    with run_simulator(machine="rover", start_paused="true"):
        status, report = examine("--only", "streams")
        assert (status, failed(report), report["skipped"]) == (0, [], 0)
        status, report = examine("--passive", "--only", "graph", "streams")  # it is paused again
        assert (status, failed(report)) == (0, [])
        assert [row["seen"] for row in report["rows"] if row["verdict"] == "skipped"] == ["no time received: paused?"]
