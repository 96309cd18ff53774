"""Lockstep of simulation and controllers, without ROS."""

import random
import threading
from pathlib import Path

import pytest
from patience import DEADLINE, wait_until

import grouser
from grouser.recording.state_hash import state_hash
from grouser.runtime.lockstep import Lockstep
from grouser.runtime.mailbox import Mailbox
from grouser.runtime.pacing import Pacer
from grouser.runtime.physics_loop import PhysicsLoop
from grouser.runtime.robot_runtime import RobotRuntime
from grouser.runtime.schedule import StreamSchedule
from grouser.runtime.supervision import CommandSupervisor

MACHINE = Path(__file__).parents[1] / "ros" / "data" / "loader.urdf"
STEP = 0.001
PERIOD = 5  # steps


@pytest.fixture(scope="module")
def machine():
    return grouser.load_machine(MACHINE)


class Clock:
    """A wall clock that goes on when it is told to; knows how often, and when at last, it was looked at."""

    def __init__(self):
        self.time = 100.0
        self.looks = 0
        self.seen = 0.0

    def __call__(self):
        self.seen = self.time
        self.looks += 1
        return self.seen


class Controlled:
    """A paused loop in lockstep; `emit` sees every sample."""

    def __init__(self, machine, sources, deadline, emit=lambda sample, may_wait: True):
        self.mailbox = Mailbox()
        self.warnings = []
        self.simulation = grouser.Simulation(machine, grouser.World(), step=STEP)
        self.clock = Clock()
        self.lockstep = Lockstep(sources, PERIOD, deadline, self.mailbox, self.warnings.append, self.clock)
        self.loop = PhysicsLoop(
            self.simulation,
            StreamSchedule.from_rates({"clock": 1.0 / (PERIOD * STEP)}, STEP, 0.01),
            Pacer(STEP, 1.0, 0.1),
            {"": RobotRuntime(self.simulation, CommandSupervisor(STEP, 0.0, {}, None, lambda text: None))},
            self.mailbox,
            emit,
            self.warnings.append,
            lambda text: None,
            start_paused=True,
            lockstep=self.lockstep,
        )
        self.thread = threading.Thread(target=self.loop.run, daemon=True)

    def step(self, count):
        return self.mailbox.call(lambda loop: loop.step_paused(count))

    def pass_time(self, seconds):
        """Lets time pass in which the loop waits for somebody."""
        clock, looks = self.clock, self.clock.looks
        self.mailbox.attention.set()
        wait_until(lambda: clock.looks > looks, "that the loop waits")
        clock.time += seconds
        self.mailbox.attention.set()
        wait_until(lambda: clock.seen == clock.time, "a look at the clock")

    def __enter__(self):
        self.thread.start()
        assert self.mailbox.call(lambda loop: loop.step).result(DEADLINE) == 0  # the first period has begun
        return self

    def __exit__(self, *_):
        self.loop.finish()
        self.thread.join(DEADLINE)


def test_lockstep_waits_for_every_source_and_runs_calls_meanwhile(machine):
    with Controlled(machine, ("arm", "drum"), 0.0) as controlled:
        stepping = controlled.step(PERIOD)
        controlled.mailbox.post_commands("arm", {"boom_valve": 0.3})
        assert controlled.mailbox.call(lambda loop: loop.clear_faults()).result(DEADLINE).success
        controlled.pass_time(3600.0)
        assert not stepping.done()
        assert controlled.simulation.step_count == 0
        controlled.mailbox.post_commands("drum", {"drum_joint": 1.0})
        assert stepping.result(DEADLINE).success
        assert controlled.simulation.command["boom_valve"] == 0.3
        assert controlled.lockstep.late == {}


def test_command_with_an_old_stamp_does_not_end_the_wait(machine):
    with Controlled(machine, ("arm",), 0.05) as controlled:

        def step_late():
            stepping = controlled.step(PERIOD)
            controlled.pass_time(0.04)
            assert not stepping.done()
            controlled.pass_time(0.02)
            assert stepping.result(DEADLINE).success

        controlled.mailbox.post_commands("arm", {"boom_valve": 0.3})  # no stamp: counts for any sample
        assert controlled.step(PERIOD).result(DEADLINE).success
        assert controlled.lockstep.late == {}
        now = round(PERIOD * STEP * 1e9)
        controlled.mailbox.post_commands("arm", {"boom_valve": 0.4}, now - 1)
        step_late()
        assert controlled.lockstep.late == {"arm": 1}
        controlled.mailbox.post_commands("arm", {"boom_valve": 0.5}, 2 * now)
        assert controlled.step(PERIOD).result(DEADLINE).success
        assert controlled.lockstep.late == {"arm": 1}
        assert controlled.simulation.command["boom_valve"] == 0.5


def test_late_source_is_named_and_the_simulation_continues(machine):
    with Controlled(machine, ("drum", "arm"), 0.02) as controlled:
        controlled.mailbox.post_commands("arm", {"boom_valve": 0.3})
        stepping = controlled.step(2 * PERIOD)
        for late in ({"drum": 1}, {"drum": 2, "arm": 1}):
            controlled.pass_time(0.015)
            assert controlled.lockstep.late != late
            controlled.pass_time(0.01)
            wait_until(lambda late=late: controlled.lockstep.late == late, "that somebody is late")
        assert stepping.result(DEADLINE).success
        assert controlled.lockstep.late == {"drum": 2, "arm": 1}
        assert "drum did not command within 0.02 s" in controlled.warnings[0]
        assert "arm and drum did not command" in controlled.warnings[1]
        assert (
            controlled.mailbox.call(lambda loop: loop._refresh_report() or loop.report).result(DEADLINE).late_commands
        )


def test_source_of_a_removed_robot_is_not_waited_for(machine):
    with Controlled(machine, ("arm", "scout/arm"), 0.0) as controlled:
        stepping = controlled.step(2 * PERIOD)
        controlled.mailbox.post_commands("arm", {"boom_valve": 0.3})
        controlled.pass_time(3600.0)
        assert not stepping.done()
        controlled.mailbox.call(lambda loop: controlled.lockstep.leave_out("scout")).result(DEADLINE)
        wait_until(lambda: controlled.mailbox.missing, "the next period, in which the arm is expected")
        assert controlled.simulation.step_count == PERIOD
        controlled.mailbox.post_commands("arm", {"boom_valve": 0.3})
        assert stepping.result(DEADLINE).success
        assert controlled.lockstep.late == {}


def test_order_of_arrival_within_a_period_makes_no_difference(machine):
    values = {"arm": {"boom_valve": 0.3, "drum_joint": 1.0}, "boom": {"boom_valve": -0.2}}
    for order in (("arm", "boom"), ("boom", "arm")):
        with Controlled(machine, order, 0.0) as controlled:
            for source in order:
                controlled.mailbox.post_commands(source, values[source])
            assert controlled.step(1).result(DEADLINE).success
            assert controlled.simulation.command["boom_valve"] == -0.2


def test_commands_within_a_period_wait_for_the_next_period(machine):
    with Controlled(machine, ("arm",), 0.0) as controlled:
        controlled.mailbox.post_commands("arm", {"boom_valve": 0.3})
        assert controlled.step(1).result(DEADLINE).success
        controlled.mailbox.post_commands("arm", {"boom_valve": 0.4})
        assert controlled.step(PERIOD - 1).result(DEADLINE).success
        assert controlled.simulation.command["boom_valve"] == 0.3


def test_runs_with_random_controller_delays_end_in_the_same_state(machine):
    def run(seed):
        chance = random.Random(seed)

        def answer(sample, may_wait):
            """Each controller answers a sample from its own thread after a delay."""
            for source, name in (("arm", "boom_valve"), ("drum", "drum_joint")):
                value = 0.5 * ((sample.nanoseconds // 1_000_000) % 7 - 3) / 3.0
                command = (source, {name: value}, sample.nanoseconds)
                threading.Timer(chance.uniform(0.0, 0.004), mailbox_of[0].post_commands, command).start()
            return True

        mailbox_of = []
        controlled = Controlled(machine, ("arm", "drum"), 0.0, answer)
        mailbox_of.append(controlled.mailbox)
        with controlled:
            assert controlled.step(60 * PERIOD).result(DEADLINE).success
            assert controlled.lockstep.late == {}
            return state_hash(controlled.simulation.state)

    hashes = {run(seed) for seed in range(3)}
    assert len(hashes) == 1


def test_pause_restarts_the_deadline_and_is_followed_by_a_sample(machine):
    samples = []
    controlled = Controlled(machine, ("arm",), 0.5, lambda sample, may_wait: samples.append(sample) or True)
    with controlled:
        assert len(samples) == 1
        controlled.mailbox.call(lambda loop: loop.set_paused(False)).result(DEADLINE)
        assert [sample.nanoseconds for sample in samples] == [0, 0]
        controlled.pass_time(0.3)
        controlled.mailbox.call(lambda loop: loop.set_paused(True)).result(DEADLINE)
        controlled.clock.time += 0.3
        controlled.mailbox.call(lambda loop: loop.set_paused(False)).result(DEADLINE)
        controlled.pass_time(0.3)
        assert controlled.simulation.step_count == 0
        assert controlled.lockstep.late == {}
        controlled.mailbox.call(lambda loop: loop.set_paused(True)).result(DEADLINE)
        assert len(samples) == 3
        controlled.mailbox.post_commands("arm", {"boom_valve": 0.3})
        controlled.mailbox.call(lambda loop: loop.set_paused(False)).result(DEADLINE)
        wait_until(lambda: len(samples) > 3, "the next sample")
        assert samples[3].nanoseconds > 0  # no second sample for the same period
