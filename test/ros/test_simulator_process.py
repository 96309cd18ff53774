"""The simulator as a process: its start, its end, and its report of real time."""

import contextlib
import fcntl
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from patience import DEADLINE, wait_until
from rosgraph_msgs.msg import Clock

from grouser.commands.run import judge, status_text
from grouser.nodes.shared import topics
from grouser.runtime.report import LoopReport

MOST_WORK = 10.0  # [s] of processor time for an end; what still compiles takes ten times that


@pytest.fixture
def only_viewer():
    """Waits until no other test on this machine uses ports from 8080 on, those of the viewer of `grouser run`."""
    with (Path(tempfile.gettempdir()) / f"grouser_test_viewer_{os.getuid()}").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def end(process, number) -> float:
    """Signals a process and returns how much work it then did until it ended [s of processor time]."""
    ticks = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:15]
    begun = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process.send_signal(number)
    process.wait(DEADLINE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - begun


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_the_node_ends_cleanly(compiled, peer, launch_anew, loader_file, number):
    process = launch_anew("grouser.nodes.simulator", "--ros-args", "-p", f"machine:={loader_file}")
    peer.hear(Clock, "/clock", topics.CLOCK_QUALITY).collect(20)
    assert end(process, number) < MOST_WORK
    output = process.stdout.read()
    assert process.returncode == 0, output
    assert "Traceback" not in output
    assert "error" not in output.lower()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_the_node_ends_while_it_compiles(launch_anew, loader_file, tmp_path, number):
    """With an empty cache the signal comes in the middle of the first compilation."""
    cache = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    script = "import sys; from grouser.commands.run import main; sys.exit(main(sys.argv[1:]))"
    process = subprocess.Popen(
        [sys.executable, "-uc", script, "--machine", str(loader_file), "--no-view"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=cache,
    )
    try:
        line = ""
        while not re.match(r"preparing the physics .*\d+ s", line):
            line = process.stdout.readline()
            assert line, "ended by itself"
        assert end(process, number) < MOST_WORK
        assert process.returncode == 0
        assert "Traceback" not in process.stdout.read()
    finally:
        process.kill()
        process.communicate()


def test_run_with_a_duration_reports_whether_it_kept_real_time(compiled, launch_anew, loader_file):
    process = launch_anew("grouser.cli", "run", "--machine", str(loader_file), "--duration", "2", "--no-view")
    output, _ = process.communicate(timeout=DEADLINE)
    # which of both depends on the load of the computer
    kept, not_kept = "\nkept real time: factor" in output, "\ndid not keep real time: factor" in output
    assert kept != not_kept, output
    assert process.returncode == (0 if kept else 1), output
    assert "/clock" in output and "/contact_wrenches/<link>" in output and "/joint_commands" in output
    assert output.count("| residual") >= 1
    assert "preparing" not in output  # all was in the cache


@pytest.mark.parametrize(("option", "status"), [((), 1), (("--allow-late",), 0)])
def test_run_reports_lost_real_time(launch, loader_file, option, status):
    """No machine makes ten million steps a second."""
    process = launch(
        "grouser.cli",
        "run",
        "--machine",
        str(loader_file),
        "--duration",
        "1",
        "--no-view",
        "--real-time-factor",
        "1000",
        "--step",
        "0.0001",
        *option,
    )
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == status, output
    assert "did not keep real time: factor" in output


def read_until(process, words) -> str:
    """Output of a process, up to the line with these words."""
    output = ""
    while words not in output:
        line = process.stdout.readline()
        assert line, output
        output += line
    return output


def descendants(process) -> list[int]:
    """Process identifiers of the living children, and of theirs."""
    found = []
    pending = [process.pid]
    while pending:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            parent = pending.pop()
            for task in Path(f"/proc/{parent}/task").iterdir():
                children = [int(child) for child in (task / "children").read_text().split()]
                found += children
                pending += children
    return found


def alive(number) -> bool:
    """Whether a process runs; one that has ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def listening(port) -> bool:
    """Whether a server on this machine takes connections at a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("on_show", [False, True], ids=["while it starts", "on show"])
def test_ctrl_c_ends_run_and_its_viewer(compiled, launch_anew, loader_file, only_viewer, on_show):
    """As a terminal does it: the interrupt goes to every process of the group."""
    process = launch_anew("grouser.cli", "run", "--machine", str(loader_file), start_new_session=True)
    output = ""
    while "end it:" not in output or (on_show and not listening(page_port(output))):
        line = process.stdout.readline()
        assert line, output
        output += line
    children = descendants(process)
    assert children
    os.killpg(process.pid, signal.SIGINT)
    process.wait(DEADLINE)
    assert not [child for child in children if alive(child)]
    output += process.stdout.read()
    assert process.returncode == 0, output
    assert "Traceback" not in output and "KeyboardInterrupt" not in output


def page_port(output) -> int:
    """The port that a run has printed."""
    return int(re.search(r"page: +http://localhost:(\d+)", output)[1])


def test_run_tells_that_a_port_is_taken(compiled, launch_anew, loader_file, only_viewer):
    """Without a wish it takes the next one and prints its true address; a wish that cannot be met is an error."""
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):  # somebody else has it: just as well
            other.bind(("127.0.0.1", 8080))
            other.listen()
        process = launch_anew("grouser.cli", "run", "--machine", str(loader_file))
        output = read_until(process, "end it:")
        port = page_port(output)
        assert port > 8080 and f"another program has port 8080; the page is at {port}" in output
        wait_until(lambda: listening(port), "the page at its printed address")
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=DEADLINE)
        assert process.returncode == 0, output + rest
        refused = launch_anew("grouser.cli", "run", "--machine", str(loader_file), "--port", "8080")
        said, _ = refused.communicate(timeout=DEADLINE)
    assert refused.returncode == 2
    assert "--port 8080: another program has this port" in said


def test_run_goes_on_without_a_viewer_that_ends(compiled, launch_anew, loader_file, only_viewer):
    process = launch_anew("grouser.cli", "run", "--machine", str(loader_file))
    output = read_until(process, "end it:")
    wait_until(lambda: listening(page_port(output)), "the page")
    for child in descendants(process):
        if b"grouser.nodes.viewer" in Path(f"/proc/{child}/cmdline").read_bytes():
            os.kill(child, signal.SIGKILL)
    output += read_until(process, "the viewer ended with status -9; the simulation goes on without it")
    output += read_until(process, "| residual")  # the status of a simulation that goes on
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, output + rest
    assert "Traceback" not in output + rest


DIVERGING = """<robot name="diverging"><link name="world"/>
  <link name="arm"><inertial><origin xyz="1 0 0"/><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="joint" type="continuous"><parent link="world"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit effort="1e300" velocity="1"/></joint>
  <grouser><servo_drive joint="joint" mode="effort"/></grouser></robot>"""


def test_run_reports_divergence(launch, tmp_path):
    machine = tmp_path / "diverging.urdf"
    machine.write_text(DIVERGING)
    program = tmp_path / "program.yaml"
    program.write_text("commands:\n- {time: 0.1, joint: joint, value: 1.0e+300}\n")
    process = launch("grouser.cli", "run", "--machine", str(machine), "--program", str(program), "--no-view")
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 1, output
    assert "the simulation diverged at t = " in output
    assert "joint has the value" in output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--machine", "nothing.urdf"], "no such file"),
        (["--machine", "unicorn"], "no machine called 'unicorn'"),
        (["--world", "flatt"], "did you mean 'flat'"),
        (["--program", "nothing.yaml"], "no such file"),
        (["--step", "7"], "step"),
        (["--scheme", "magic"], "implicit or semi_implicit or split"),
        (["--argument", "size"], "name:=value"),
        (["--duration", "0"], "not a time above 0 s"),
        (["--duration", "nan"], "not a time above 0 s"),
        (["--nonsense"], "--nonsense is not known here"),
    ],
)
def test_bad_input_ends_with_status_2(launch, loader_file, arguments, words):
    process = launch("grouser.cli", "run", "--no-view", "--machine", str(loader_file), *arguments)
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 2, output
    assert words in output
    assert "Traceback" not in output


def test_the_node_refuses_bad_parameters_with_status_2(launch, loader_file):
    process = launch("grouser.nodes.simulator", "--ros-args", "-p", "step:=1")
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 2
    assert "parameter step" in output
    assert "from 1e-05 to 0.1" in output


@pytest.mark.parametrize(
    ("report", "factor", "kept", "words"),
    [
        (LoopReport(elapsed_simulated=9.9, elapsed_wall=10.0), 1.0, True, "factor 0.990"),
        (LoopReport(elapsed_simulated=9.7, elapsed_wall=10.0, overruns=3), 1.0, False, "3 overruns"),
        (LoopReport(elapsed_simulated=19.7, elapsed_wall=10.0), 2.0, True, "factor 1.970"),
        (LoopReport(elapsed_simulated=19.5, elapsed_wall=10.0), 2.0, False, "of 2"),
        (LoopReport(elapsed_simulated=15.0, elapsed_wall=10.0), 0.0, True, "factor 1.500"),
        (LoopReport(elapsed_simulated=10.0, elapsed_wall=10.0, failure="diverged"), 1.0, False, "diverged"),
        (LoopReport(), 1.0, False, "did not keep"),
    ],
)
def test_the_verdict(report, factor, kept, words):
    verdict, text = judge(report, factor)
    assert verdict is kept
    assert words in text


def test_status_line():
    report = LoopReport(
        time=12.3, real_time_factor=0.997, step_time_median=4.2e-5, residual=3e-7, overruns=2, emergency_stop=True
    )
    assert status_text(report) == (
        "t =   12.3 s | real time 1.00 | EMERGENCY STOP | step 0.042 ms | overruns 2 | residual 3e-07 m/s"
    )
    assert len(status_text(replace(report, time=9999.9, emergency_stop=False))) < 80  # a line of a usual terminal
