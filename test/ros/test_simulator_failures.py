"""Failure of one of the simulator's threads: the node reports it and ends, and no request waits for ever."""

import subprocess
import sys
import threading

import pytest
from patience import DEADLINE
from rclpy.parameter import Parameter
from std_msgs.msg import Bool
from std_srvs.srv import SetBool, Trigger

from grouser.nodes.simulator.node import SimulatorNode, spinning
from grouser.nodes.simulator.publishing import StatePublisher
from grouser.runtime.physics_loop import PhysicsLoop

# The traceback that a failed thread leaves on the terminal.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")


def fail(*_arguments, **_options):
    raise RuntimeError("out of oil")


def simulator(ended: threading.Event, machine, **parameters) -> SimulatorNode:
    values = {"machine": str(machine), **parameters}
    return SimulatorNode([Parameter(name, value=value) for name, value in values.items()], ended)


def test_unexpected_error_of_the_build_ends_the_node(ros, loader_file, monkeypatch):
    monkeypatch.setattr("grouser.nodes.simulator.session.simulate", fail)
    ended = threading.Event()
    with spinning(simulator(ended, loader_file)) as node:
        assert ended.wait(DEADLINE)
        assert node.built.wait(DEADLINE)
        assert str(node.error) == "out of oil"
        assert node.exit_status == 1


def test_a_failing_publisher_ends_the_node_and_does_not_block_the_physics(peer, compiled, loader_file, monkeypatch):
    """As fast as possible, when the physics waits for room in the queue."""
    monkeypatch.setattr(StatePublisher, "publish", fail)
    ended = threading.Event()
    with spinning(simulator(ended, loader_file, real_time_factor=0.0)) as node:
        assert ended.wait(DEADLINE)
        assert node.built.wait(DEADLINE)
        assert str(node.error) == "out of oil"
        assert node.exit_status == 1
        peer.wait_for(lambda: node.report.dropped_samples > 200, "more samples than the queue holds")


def test_a_failing_request_is_answered_and_ends_the_node(peer, compiled, loader_file, monkeypatch):
    monkeypatch.setattr(PhysicsLoop, "set_paused", fail)
    ended = threading.Event()
    with spinning(simulator(ended, loader_file)) as node:
        assert node.built.wait(DEADLINE)
        answer = peer.ask(SetBool, "/simulator/pause", SetBool.Request(data=True))
        assert not answer.success
        assert "out of oil" in answer.message
        assert ended.wait(DEADLINE)
        assert node.exit_status == 1


@pytest.mark.parametrize(
    ("program", "call"),
    [
        ("simulator", "node.main(['simulator', '--ros-args', '-p', 'machine:=' + sys.argv[1]])"),
        ("grouser run", "run.main(['--no-view', '--machine', sys.argv[1]])"),
    ],
)
def test_the_process_ends_with_status_1_and_the_message(loader_file, program, call):
    code = (
        "import sys\nfrom grouser.commands import run\nfrom grouser.nodes.simulator import node, session\n"
        "def fail(*arguments, **options): raise RuntimeError('out of oil')\n"
        f"session.simulate = fail\n{call}"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(loader_file)], capture_output=True, text=True, check=False, timeout=DEADLINE
    )
    assert done.returncode == 1, done.stderr
    assert f"{program}: RuntimeError: out of oil" in done.stdout + done.stderr
    assert "in fail" in done.stderr  # a defect shows where it is


def test_an_emergency_stop_is_heard_during_a_long_request_for_steps(peer, start_simulator):
    node = start_simulator(start_paused=True, step_request_count=100_000)
    client = peer.node.create_client(Trigger, "/simulator/step")
    assert client.wait_for_service(DEADLINE)
    answer = client.call_async(Trigger.Request())
    peer.wait_for(lambda: node.report.time > 0.0, "the steps begun")
    peer.say("emergency_stop", Bool(data=True))
    peer.wait_for(answer.done, "the end of the request")
    assert node.report.emergency_stop
    assert "ended by an emergency stop" in answer.result().message
    assert node.report.time < 100.0
