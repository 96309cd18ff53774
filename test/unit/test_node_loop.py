"""The loop of the physics thread, without ROS: finish, single steps, emergency stop, reset, rewind."""

import threading
from pathlib import Path

import pytest
from patience import DEADLINE

import grouser
from grouser.physics.base.errors import StateError
from grouser.physics.base.trees import leaves
from grouser.recording.events import Left
from grouser.runtime.mailbox import Mailbox
from grouser.runtime.pacing import Pacer
from grouser.runtime.physics_loop import PhysicsLoop
from grouser.runtime.robot_runtime import RobotRuntime
from grouser.runtime.schedule import StreamSchedule
from grouser.runtime.supervision import CommandSupervisor

MACHINE = Path(__file__).parents[1] / "ros" / "data" / "loader.urdf"
STEP = 0.001


@pytest.fixture(scope="module")
def machine():
    return grouser.load_machine(MACHINE)


@pytest.fixture
def simulation(machine):
    return grouser.Simulation(machine, grouser.World(), step=STEP)


@pytest.fixture
def make_loop(simulation):
    """Makes a paused loop with a mailbox; `emit` sees every sample."""

    def make(mailbox, emit=lambda sample, may_wait: True, published=lambda: None):
        return PhysicsLoop(
            simulation,
            StreamSchedule.from_rates({"clock": 100.0}, STEP, 0.01),
            Pacer(STEP, 1.0, 0.1),
            {"": RobotRuntime(simulation, CommandSupervisor(STEP, 0.0, {}, None, lambda text: None))},
            mailbox,
            emit,
            lambda text: None,
            lambda text: None,
            start_paused=True,
            published=published,
        )

    return make


def test_finish_just_before_the_attention_is_cleared_is_not_lost(make_loop):
    """The worst moment for Ctrl-C: the loop is about to wait for the next call."""

    class LateMailbox(Mailbox):
        def run_calls(self, loop):
            loop.finish()
            super().run_calls(loop)

    loop = make_loop(LateMailbox())
    thread = threading.Thread(target=loop.run, daemon=True)
    thread.start()
    thread.join(DEADLINE)
    assert not thread.is_alive()


def test_finish_ends_a_waiting_loop(make_loop):
    mailbox = Mailbox()
    loop = make_loop(mailbox)
    thread = threading.Thread(target=loop.run, daemon=True)
    thread.start()
    assert mailbox.call(lambda loop: loop.report.paused).result(DEADLINE)
    loop.finish()
    thread.join(DEADLINE)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    ("call", "cause", "reached"),
    [
        (lambda loop: loop.stop_robot(""), "an emergency stop", 20),
        (lambda loop: loop.stop_all(), "an emergency stop", 20),
        (lambda loop: loop.set_paused(True), "a pause", 20),
        (lambda loop: loop.set_paused(False), "the start of the simulation", 20),
        (lambda loop: loop.set_active(False), "deactivation", 20),
        (lambda loop: loop.reset(True), "a reset", 0),
        (lambda loop: loop.reset(False), "a reset", 20),
        (lambda loop: loop.rewind(), "a reset", 0),
        (lambda loop: loop.finish(), "the end of the simulation", 20),
    ],
)
def test_request_for_steps_is_ended(make_loop, simulation, call, cause, reached):
    """By a call that comes with the samples of step 20, before the next tick."""
    mailbox, calls = Mailbox(), []

    def emit(sample, may_wait):
        if simulation.step_count == 20 and not calls:
            calls.append(mailbox.call(call))
        return True

    loop = make_loop(mailbox, emit)
    outcome = loop.step_paused(10_000_000)
    assert calls[0].done()
    assert (outcome.success, loop.step) == (False, reached)
    assert outcome.message == f"20 of 10000000 steps, ended by {cause}"


def test_activation_hands_out_a_sample_of_every_stream(make_loop):
    """Also when the simulation was ready before, and again after a deactivation."""
    stamps = []

    def emit(moment, may_wait):
        stamps.append(moment.nanoseconds)
        return True

    loop = make_loop(Mailbox(), emit)
    loop.set_active(False)
    loop.set_active(True)
    assert stamps == [0]
    loop.set_active(True)  # it is already
    assert stamps == [0]
    loop.step_paused(5)
    loop.set_active(False)
    assert stamps == [0, 5_000_000]
    loop.set_active(True)
    assert stamps == [0, 5_000_000, 5_000_000]


def test_stop_of_all_ends_requested_steps_without_robots(make_loop, simulation):
    """A loop whose simulation has no robot any more."""
    mailbox, calls = Mailbox(), []

    def emit(sample, may_wait):
        if simulation.step_count == 20 and not calls:
            calls.append(mailbox.call(lambda loop: loop.stop_all()))
        return True

    loop = make_loop(mailbox, emit)
    loop._runtimes.clear()
    assert loop.step_paused(200).message == "20 of 200 steps, ended by an emergency stop"


def test_second_request_for_steps_is_refused_at_once(make_loop, simulation):
    mailbox, calls = Mailbox(), []

    def emit(sample, may_wait):
        if simulation.step_count == 20 and not calls:
            calls.append(mailbox.call(lambda loop: loop.step_paused(1)))
        return True

    assert make_loop(mailbox, emit).step_paused(200).success
    assert simulation.step_count == 200
    outcome = calls[0].result(0)
    assert isinstance(outcome.error, StateError) and "being carried out" in outcome.message


def test_emergency_stop_is_released_when_commands_are_neutral(make_loop, simulation):
    mailbox = Mailbox()
    loop = make_loop(mailbox)
    mailbox.post_commands("valves", {"boom_valve": 0.5})
    assert loop.step_paused(20).success
    loop.stop_all()
    refused = loop.release_stop()
    assert simulation.emergency_stop
    assert not refused.success and "boom_valve" in refused.message
    assert isinstance(refused.error, StateError)
    mailbox.post_commands("valves", {"boom_valve": 0.0})
    assert loop.step_paused(1).success
    assert loop.release_stop().message == "released"
    assert not simulation.emergency_stop and not loop.report.emergency_stop
    assert loop.release_stop().message == "no machine was stopped"
    mailbox.post_commands("valves", {"boom_valve": 0.5})
    before = simulation.joint_position["boom_joint"]
    assert loop.step_paused(300).success
    assert abs(simulation.joint_position["boom_joint"] - before) > 1e-3


def test_reset_drops_pending_commands(make_loop, simulation):
    mailbox = Mailbox()
    loop = make_loop(mailbox)
    mailbox.post_commands("valves", {"boom_valve": 0.5})
    assert loop.reset(False).success
    assert loop.step_paused(1).success
    assert simulation.command["boom_valve"] == 0.0
    mailbox.post_commands("valves", {"boom_valve": 0.5})
    assert loop.step_paused(1).success
    assert simulation.command["boom_valve"] == 0.5


def test_new_machine_ignores_commands_to_an_earlier_one_of_its_name(make_loop, machine):
    mailbox = Mailbox()
    loop = make_loop(mailbox)
    schedule = StreamSchedule.from_rates({"clock": 100.0}, STEP, 0.01)
    mailbox.post_commands("a/valves", {"boom_valve": 0.5})
    both = grouser.Simulation(
        grouser.combine({"": grouser.Member(machine), "a": grouser.Member(machine, grouser.Pose((20.0, 0.0, 0.0)))}),
        grouser.World(),
        step=STEP,
    )

    def runtime(robot):
        return RobotRuntime(robot, CommandSupervisor(STEP, 0.0, {}, None, lambda text: None))

    assert loop.exchange(both, ["", "a"], schedule, {"a": runtime}, lambda step: [Left(step, "")]).success
    assert loop.step_paused(1).success
    assert both.command["a/boom_valve"] == 0.0
    mailbox.post_commands("a/valves", {"boom_valve": 0.5})
    assert loop.step_paused(1).success
    assert both.command["a/boom_valve"] == 0.5


def test_steps_with_feedback_are_the_same_steps_and_can_be_canceled(make_loop, simulation):
    loop, told = make_loop(Mailbox()), []
    assert loop.step_paused(25, lambda made: told.append((made, simulation.step_count)) or True).success
    assert told == [(n, n) for n in range(1, 26)]
    singly = simulation.snapshot().state
    assert loop.reset(True).success
    assert loop.step_paused(25).success
    for one, other in zip(leaves(singly), leaves(simulation.snapshot().state), strict=True):
        assert one.tobytes() == other.tobytes()

    outcome = loop.step_paused(100, lambda made: made < 13)
    assert not outcome.success
    assert outcome.message.startswith("13 of 100 steps")
    assert loop.step == 38
    assert loop.step_paused(1).success  # no state of the canceled request remains


def test_rewind_sets_time_back_and_keeps_the_state(make_loop, simulation):
    samples = []
    loop = make_loop(Mailbox(), lambda sample, may_wait: samples.append(sample.nanoseconds) or True)
    assert loop.step_paused(25).success
    before = simulation.snapshot().state
    assert loop.rewind().success
    assert (loop.step, loop.report.time) == (0, 0.0)
    assert samples[-1] == 0
    for one, other in zip(leaves(before), leaves(simulation.snapshot().state), strict=True):
        assert one.tobytes() == other.tobytes()
    assert loop.step_paused(10).success
    assert samples[-1] == 10_000_000
    assert simulation.step_count == 35
    assert loop.reset(True).success
    assert loop.step_paused(10).success
    assert (loop.step, samples[-1]) == (10, 10_000_000)


def test_rewind_does_not_restart_the_silence_watchdog(make_loop):
    mailbox = Mailbox()
    loop = make_loop(mailbox)
    loop.change_command_timeout("", 0.05, {})
    mailbox.post_commands("valves", {"boom_valve": 0.5})
    assert loop.step_paused(30).success
    assert loop.rewind().success
    assert loop.step_paused(20).success
    assert loop.report.watchdog_trips == 0
    assert loop.step_paused(1).success  # 50 steps of silence
    assert loop.report.watchdog_trips == 1


def test_what_stands_at_a_pause_is_of_now_even_if_there_was_no_room_for_it(make_loop):
    """A full queue drops the newest samples: without others, readers would keep an older time."""
    mailbox, taken, dropped = Mailbox(), [], threading.Event()

    def emit(moment, may_wait):
        if may_wait:
            taken.append(moment.nanoseconds)
        elif moment.nanoseconds >= 50_000_000:
            dropped.set()
        return may_wait

    loop = make_loop(mailbox, emit)
    thread = threading.Thread(target=loop.run, daemon=True)
    thread.start()
    mailbox.call(lambda loop: loop.set_paused(False)).result(DEADLINE)
    assert dropped.wait(DEADLINE)
    for _ in range(2):  # once only
        mailbox.call(lambda loop: loop.set_paused(True)).result(DEADLINE)
        assert taken == [0, mailbox.call(lambda loop: loop.step * 1_000_000).result(DEADLINE)]
    loop.finish()
    thread.join(DEADLINE)


def test_a_request_for_steps_is_answered_after_its_last_samples_are_published(make_loop):
    order = []

    def emit(moment, may_wait):
        order.append(moment.nanoseconds)
        return True

    loop = make_loop(Mailbox(), emit, lambda: order.append("published"))
    assert loop.step_paused(7).success
    assert order == [7_000_000, "published"]
