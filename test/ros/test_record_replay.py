"""Recordings of the node and of `grouser record` replay bit by bit, and lockstep makes runs repeatable."""

import os
import random
import re
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from patience import DEADLINE, wait_until
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray
from std_srvs.srv import SetBool, Trigger

import grouser
from grouser.commands.replay import replay
from grouser.nodes.simulator.node import SimulatorNode, spinning
from grouser.recording.events import Commanded, StateReached
from grouser.recording.mcap_file import Recording


def test_commands_at_any_time_replay(peer, start_simulator, tmp_path):
    file = tmp_path / "run.mcap"
    node = start_simulator(record=str(file), command_timeout=0.1)
    joint_states = peer.hear(JointState, "joint_states")
    chance = random.Random(3)
    for count in range(30):
        way = 1.0 if count % 2 else -1.0
        begun = joint_states.mark()
        peer.say("valve_commands_array", Float64MultiArray(data=[chance.uniform(-1.0, 1.0)]))
        peer.say("joint_commands", JointState(name=["drum_joint"], velocity=[way * chance.uniform(1.0, 3.0)]))
        place = joint_states.wait().name.index("drum_joint")
        joint_states.wait(lambda heard: heard.velocity[place] * way > 0.0, "the drum turning the other way", begun)  # noqa: B023
    peer.say("emergency_stop", Bool(data=True))
    joint_states.wait()
    assert peer.ask(Trigger, "/simulator/reset", Trigger.Request()).success
    peer.say("valve_commands_array", Float64MultiArray(data=[0.5]))
    joint_states.wait()
    assert peer.ask(SetBool, "/simulator/pause", SetBool.Request(data=True)).success
    end = node.report.time
    node.stop()
    result = replay(Recording(file))
    assert (result.difference, result.time) == (None, pytest.approx(end))
    commands = [event for event in Recording(file).events() if isinstance(event, Commanded)]
    assert len(commands) > 20


class Controller:
    """Answers every sample of joint_states once, after a delay, up to the last one."""

    def __init__(self, peer, last, chance, slowest):
        self._peer, self._last, self._chance, self._slowest = peer, last, chance, slowest
        self._answered = set()
        self.done = threading.Event()
        self._valves = peer.node.create_publisher(Float64MultiArray, "valve_commands_array", 10)
        self._joints = peer.node.create_publisher(JointState, "joint_commands", 10)
        self._subscription = peer.hear_by(JointState, "joint_states", self._answer)

    def leave(self):
        self._peer.node.destroy_subscription(self._subscription)

    def _answer(self, state):
        step = round((state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec) * 1000)
        if step >= self._last:
            self.done.set()
        elif step not in self._answered:
            self._answered.add(step)
            # Its commands depend on the last bit of its input.
            joints = JointState(name=["drum_joint"], velocity=[3.0 * state.position[0]])
            joints.header.stamp = state.header.stamp
            answers = [
                (self._valves, Float64MultiArray(data=[0.5 - 0.1 * state.position[0]])),
                (self._joints, joints),
            ]
            self._chance.shuffle(answers)
            for publisher, message in answers:
                time.sleep(self._chance.uniform(0.0, self._slowest))
                publisher.publish(message)


LOCKSTEP = {
    "lockstep_sources": ["joint_commands", "valve_commands_array"],
    "lockstep_period": 0.01,
    "joint_state_rate": 100.0,
    "start_paused": True,
    "real_time_factor": 0.0,
}


def last_state(recording: Recording) -> StateReached:
    return [event for event in recording.events() if isinstance(event, StateReached)][-1]


def test_lockstep_runs_are_equal_with_a_controller_of_random_delay(peer, compiled, loader_file, tmp_path):
    """The controller ends the run by its silence: the simulation then waits without end."""
    states = []
    for run in range(2):
        file = tmp_path / f"run{run}.mcap"
        controller = Controller(peer, 1200, random.Random(run), 0.008)
        values = {**LOCKSTEP, "machine": str(loader_file), "lockstep_deadline": 0.0, "record": str(file)}
        with spinning(SimulatorNode([Parameter(name, value=value) for name, value in values.items()])) as node:
            assert node.built.wait(DEADLINE) and node.error is None
            assert peer.ask(SetBool, "/simulator/pause", SetBool.Request(data=False)).success
            assert controller.done.wait(DEADLINE)
        assert node.report.late_commands == {}
        controller.leave()
        states.append(last_state(Recording(file)))
    assert states[0].step == 1200
    assert states[0] == states[1]
    assert replay(Recording(file)).difference is None


def test_late_controller_is_named(peer, start_simulator):
    """The controller falls silent at 100 ms. The deadline is set only then, so that it is not late before."""
    diagnostics = peer.hear(DiagnosticArray, "/diagnostics")
    controller = Controller(peer, 100, random.Random(5), 0.0)
    node = start_simulator(**LOCKSTEP, lockstep_deadline=0.0, diagnostics_rate=20.0)
    assert peer.ask(SetBool, "/simulator/pause", SetBool.Request(data=False)).success
    assert controller.done.wait(DEADLINE)
    assert node.report.late_commands == {}
    (result,) = peer.set_parameters(Parameter("lockstep_deadline", value=0.1))
    assert result.successful

    def late(message):
        values = {pair.key: pair.value for status in message.status for pair in status.values}
        return re.fullmatch(r"joint_commands \((\d+)\), valve_commands_array \(\1\)", values.get("late_sources", ""))

    diagnostics.wait(late, "who was late")


def test_an_unknown_lockstep_source_is_refused(ros, loader_file):
    values = {"machine": str(loader_file), "lockstep_sources": ["wheel_commands"]}
    with pytest.raises(grouser.ParameterError, match="lockstep_sources = 'wheel_commands' is not valid: one of valve"):
        SimulatorNode([Parameter(name, value=value) for name, value in values.items()])


def run_command(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "grouser.cli", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def test_recording_of_a_killed_run_can_be_replayed(compiled, loader_file, tmp_path):
    file = tmp_path / "killed.mcap"

    def written():
        """Number of states on the disk."""
        with suppress(grouser.MachineError):  # not even its start
            return sum(isinstance(event, StateReached) for event in Recording(file).events())

    process = run_command("record", file, "--machine", loader_file, "--no-view")
    try:
        wait_until(lambda: (written() or 0) >= 3, "three states in the recording")
    finally:
        process.kill()  # as kill -9 does
        process.communicate()
    recording = Recording(file)
    result = replay(recording)
    assert result.difference is None and result.compared >= 3
    assert "the run was killed" in recording.problem


def test_record_and_replay_from_the_command_line(compiled, loader_file, tmp_path):
    file = tmp_path / "run.mcap"
    process = run_command(
        "record", file, "--machine", loader_file, "--no-view", "--real-time-factor", "0", "--duration", "1"
    )
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, output
    assert f"record it: {file}" in output
    process = run_command("replay", file)
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, output
    assert "the same to the last bit" in output and "incomplete" not in output
    process = run_command("record", file, "--machine", loader_file, "--no-view")
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 2
    assert "grouser record: record = " in output and "a new file" in output
