"""Input of the simulator node: commands, their refusal and timeout, the emergency stop, and services."""

import functools
import math

import pytest
from control_msgs.msg import DynamicInterfaceGroupValues, InterfaceValue
from diagnostic_msgs.msg import DiagnosticArray
from patience import DEADLINE
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray
from std_srvs.srv import SetBool, Trigger

from grouser.nodes.shared import topics

STEP = 1_000_000  # [ns]


def valve_message(*entries: tuple[str, str, list[float]]) -> DynamicInterfaceGroupValues:
    return DynamicInterfaceGroupValues(
        interface_groups=[valve for valve, _, _ in entries],
        interface_values=[
            InterfaceValue(interface_names=[interface], values=values) for _, interface, values in entries
        ],
    )


def spool(message: DynamicInterfaceGroupValues) -> float:
    values = message.interface_values[0]
    return dict(zip(values.interface_names, values.values, strict=True))["spool_position"]


def moving(name: str, quantity: str, predicate):
    """Whether a joint's position or velocity satisfies a predicate."""
    return lambda message: predicate(getattr(message, quantity)[message.name.index(name)])


@pytest.fixture
def hydraulics(peer):
    return peer.hear(DynamicInterfaceGroupValues, "hydraulics/state")


@pytest.fixture
def joint_states(peer):
    return peer.hear(JointState, "joint_states")


def test_a_valve_command_opens_the_valve_and_moves_the_boom(peer, start_simulator, hydraulics, joint_states):
    start_simulator(command_timeout=0.0)
    start = joint_states.wait().position[0]
    peer.say("valve_commands", valve_message(("boom_valve", "spool_command", [0.5])))
    hydraulics.wait(lambda message: spool(message) == pytest.approx(0.5, abs=0.01), "the spool at its command")
    joint_states.wait(moving("boom_joint", "position", lambda value: value > start + 0.05), "the boom rising")


def test_a_valve_array_follows_the_parameter_valves(peer, start_simulator, hydraulics):
    start_simulator(valves=["boom_valve"], command_timeout=0.0)
    peer.say("valve_commands_array", Float64MultiArray(data=[-0.25]))
    hydraulics.wait(lambda message: spool(message) == pytest.approx(-0.25, abs=0.01), "the spool at its command")


def test_joint_command_uses_the_quantity_of_each_drive(peer, start_simulator, joint_states):
    start_simulator(command_timeout=0.0)
    nan = math.nan
    message = JointState(
        name=["winch_joint", "mast_joint", "drum_joint"],
        position=[nan, 0.4, nan],
        velocity=[nan, nan, 3.0],
        effort=[0.5, nan, nan],
    )
    peer.say("joint_commands", message)
    joint_states.wait(moving("mast_joint", "position", lambda value: abs(value - 0.4) < 0.01), "the mast turned")
    joint_states.wait(moving("drum_joint", "velocity", lambda value: abs(value - 3.0) < 0.05), "the drum turning")
    # The winch's damping is 0.1 N m s/rad: 0.5 N m turn it at 5 rad/s in the end.
    joint_states.wait(moving("winch_joint", "velocity", lambda value: abs(value - 5.0) < 0.1), "the winch turning")


BAD_COMMANDS = {
    "value not a number": ("valve_commands", valve_message(("boom_valve", "spool_command", [math.nan]))),
    "value infinite": ("valve_commands", valve_message(("boom_valve", "spool_command", [math.inf]))),
    "value out of range": ("valve_commands", valve_message(("boom_valve", "spool_command", [1.01]))),
    "valve unknown": ("valve_commands", valve_message(("bom_valve", "spool_command", [0.5]))),
    "interface unknown": ("valve_commands", valve_message(("boom_valve", "pressure", [0.5]))),
    "no value": ("valve_commands", valve_message(("boom_valve", "spool_command", []))),
    "two values": ("valve_commands", valve_message(("boom_valve", "spool_command", [0.5, 0.5]))),
    "valve twice": ("valve_commands", valve_message(*[("boom_valve", "spool_command", [0.5])] * 2)),
    "group without values": ("valve_commands", DynamicInterfaceGroupValues(interface_groups=["boom_valve"])),
    "no valve": ("valve_commands", DynamicInterfaceGroupValues()),
    "one good, one bad": (
        "valve_commands",
        valve_message(("boom_valve", "spool_command", [0.5]), ("stick_valve", "spool_command", [0.5])),
    ),
    "array too long": ("valve_commands_array", Float64MultiArray(data=[0.5, 0.5])),
    "array empty": ("valve_commands_array", Float64MultiArray()),
    "array not a number": ("valve_commands_array", Float64MultiArray(data=[math.nan])),
    "joint unknown": ("joint_commands", JointState(name=["mast"], position=[0.5])),
    "joint without drive": ("joint_commands", JointState(name=["boom_joint"], position=[0.5])),
    "field missing": ("joint_commands", JointState(name=["mast_joint"], velocity=[0.5])),
    "field too short": ("joint_commands", JointState(name=["mast_joint", "drum_joint"], velocity=[0.5])),
    "unused field too long": ("joint_commands", JointState(name=["mast_joint"], position=[0.5], effort=[1.0, 1.0])),
    "target not a number": ("joint_commands", JointState(name=["mast_joint"], position=[math.nan])),
    "target infinite": ("joint_commands", JointState(name=["winch_joint"], effort=[-math.inf])),
    "good joint, bad joint": ("joint_commands", JointState(name=["mast_joint", "crane"], position=[0.5, 0.5])),
}


def test_bad_commands_are_refused_whole_and_counted(peer, start_simulator, hydraulics, joint_states):
    start_simulator(diagnostics_rate=50.0, command_timeout=0.0)
    diagnostics = peer.hear(DiagnosticArray, "/diagnostics")
    for count, (what, (topic, message)) in enumerate(BAD_COMMANDS.items(), start=1):
        peer.say(topic, message)
        diagnostics.wait(lambda message, count=count: refused(message) == count, f"the refusal of: {what}")
    # Long enough for an accepted command to move something.
    now = joint_states.wait().header.stamp.sec
    joint_states.wait(lambda message: message.header.stamp.sec > now + 1)
    assert {abs(spool(message)) < 1e-12 for message in hydraulics.all()} == {True}
    for message in joint_states.all():
        # The chassis settles on the ground; what is not commanded stays within that.
        assert max(abs(position) for position in message.position[1:3]) < 1e-3


def refused(message: DiagnosticArray) -> int | None:
    """The counter of refused commands, or None where the message does not have it."""
    for status in message.status:
        for pair in status.values:
            if pair.key == "refused_commands":
                return int(pair.value)
    return None


def test_refused_command_leaves_earlier_ones_in_force(peer, start_simulator, hydraulics):
    start_simulator(command_timeout=0.0)
    peer.say("valve_commands_array", Float64MultiArray(data=[0.5]))
    hydraulics.wait(lambda message: spool(message) > 0.49, "the spool open")
    peer.say("valve_commands_array", Float64MultiArray(data=[0.1, 0.2]))
    peer.say("valve_commands_array", Float64MultiArray(data=[0.6]))
    values = [hydraulics.wait(lambda message: spool(message) > 0.59, "the next command")]
    opened = next(index for index, message in enumerate(hydraulics.all()) if spool(message) > 0.49)
    assert min(spool(message) for message in hydraulics.all()[opened:] + values) > 0.48


def test_silent_source_goes_to_safe_values(peer, start_simulator, hydraulics, joint_states):
    """After the timeout valves close and velocity and effort drives get zero; position drives hold."""
    start_simulator(command_timeout=0.3, diagnostics_rate=20.0, start_paused=True, step_request_count=500)
    diagnostics = peer.hear(DiagnosticArray, "/diagnostics")
    peer.publisher(Float64MultiArray, "valve_commands_array")
    peer.say("joint_commands", JointState(name=["mast_joint", "drum_joint"], position=[0.4, 0.0], velocity=[0.0, 3.0]))
    peer.say("valve_commands_array", Float64MultiArray(data=[0.5]))
    opened = peer.step_until(hydraulics, lambda message: spool(message) > 0.4, "the valve open")
    begun = hydraulics.all().index(opened)
    closed = peer.step_until(hydraulics, lambda message: abs(spool(message)) < 1e-3, "the valve closed", begun)
    open_time = nanoseconds(closed) - nanoseconds(opened)
    assert 0.25e9 < open_time < 0.45e9  # the timeout, a tick, and the spool's own lag of some 50 ms
    now = joint_states.mark()
    drum_at_rest = moving("drum_joint", "velocity", lambda value: abs(value) < 0.01)
    peer.step_until(joint_states, drum_at_rest, "the drum at rest", now)
    mast_held = moving("mast_joint", "position", lambda value: abs(value - 0.4) < 0.01)
    peer.step_until(joint_states, mast_held, "the mast held", now)
    told = diagnostics.wait(lambda message: "silent" in told_of_commands(message))
    assert "valve_commands_array" in told_of_commands(told)
    # The source commands again.
    silent = hydraulics.mark()
    peer.say("valve_commands_array", Float64MultiArray(data=[0.5]))
    peer.step_until(hydraulics, lambda message: spool(message) > 0.4, "the valve open again", silent)


def told_of_commands(message: DiagnosticArray) -> str:
    return next((status.message for status in message.status if status.name.endswith(": commands")), "")


def nanoseconds(message) -> int:
    return message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec


@pytest.mark.parametrize("quality", [topics.LATCHED, 10], ids=["transient local", "volatile"])
def test_an_emergency_stop_is_latched_until_reset(peer, start_simulator, hydraulics, quality):
    start_simulator(command_timeout=0.0)
    command = Float64MultiArray(data=[0.5])
    peer.say("valve_commands_array", command)
    hydraulics.wait(lambda message: spool(message) > 0.49, "the valve open")
    peer.say("emergency_stop", Bool(data=True), quality)
    hydraulics.wait(lambda message: abs(spool(message)) < 1e-3, "the valve closed")
    peer.say("emergency_stop", Bool(data=False), quality)
    peer.say("valve_commands_array", command)
    stopped = nanoseconds(hydraulics.wait())
    hydraulics.wait(lambda message: nanoseconds(message) > stopped + 300 * STEP)
    assert max(abs(spool(message)) for message in hydraulics.all() if nanoseconds(message) > stopped) < 1e-3
    assert peer.ask(Trigger, "/simulator/reset", Trigger.Request()).success
    peer.say("valve_commands_array", command)
    hydraulics.wait(lambda message: spool(message) > 0.49, "the valve open after the reset")


def test_emergency_stop_is_cleared_when_commands_are_neutral(peer, start_simulator, hydraulics):
    start_simulator(command_timeout=0.0)
    clear = functools.partial(peer.ask, Trigger, "/simulator/clear_emergency_stop", Trigger.Request())
    peer.say("valve_commands_array", Float64MultiArray(data=[0.5]))
    hydraulics.wait(lambda message: spool(message) > 0.49, "the valve open")
    peer.say("/emergency_stop", Bool(data=True))
    hydraulics.wait(lambda message: abs(spool(message)) < 1e-3, "the valve closed")
    refused = clear()
    assert not refused.success and "neutral" in refused.message
    peer.say("valve_commands_array", Float64MultiArray(data=[0.0]))
    peer.wait_for(lambda: clear().success, "the release")
    opened = hydraulics.mark()
    peer.say("valve_commands_array", Float64MultiArray(data=[0.5]))
    hydraulics.wait(lambda message: spool(message) > 0.49, "the valve open after the release", opened)


def test_a_stop_that_was_released_is_not_heard_again(peer, start_simulator, hydraulics):
    node = start_simulator(command_timeout=0.0)
    stop = peer.node.create_publisher(Bool, "emergency_stop", topics.LATCHED)
    peer.wait_for(lambda: stop.get_subscription_count() == 1, "the subscription")
    stop.publish(Bool(data=True))
    peer.wait_for(lambda: node.report.emergency_stop, "the stop")
    peer.wait_for(
        lambda: peer.ask(Trigger, "/simulator/clear_emergency_stop", Trigger.Request()).success, "the release"
    )
    peer.wait_for(lambda: stop.get_subscription_count() == 2, "the subscription to earlier stops")
    begun = nanoseconds(hydraulics.wait())
    hydraulics.wait(lambda message: nanoseconds(message) > begun + 1000 * STEP)
    assert not node.report.emergency_stop


@pytest.mark.parametrize("quality", [topics.LATCHED, 10], ids=["transient local", "volatile"])
@pytest.mark.parametrize("topic", ["emergency_stop", "/emergency_stop"])
def test_no_publisher_of_the_emergency_stop_is_told_of_a_quality_that_does_not_match(
    peer, start_simulator, hydraulics, topic, quality
):
    start_simulator()
    hydraulics.wait()
    told = []
    events = PublisherEventCallbacks(incompatible_qos=told.append)
    publisher = peer.node.create_publisher(Bool, topic, quality, event_callbacks=events)
    peer.wait_for(lambda: publisher.get_subscription_count() > 0, "the subscription")
    hydraulics.collect(len(hydraulics.all()) + 20)
    assert not told


def test_emergency_stop_sent_before_the_start_is_obeyed(peer, start_simulator, hydraulics):
    publisher = peer.node.create_publisher(Bool, "emergency_stop", topics.LATCHED)
    publisher.publish(Bool(data=True))
    start_simulator(command_timeout=0.0, diagnostics_rate=20.0)
    diagnostics = peer.hear(DiagnosticArray, "/diagnostics")
    diagnostics.wait(lambda message: told_of_commands(message) == "emergency stop", "the stop")


def test_a_pause_stops_time_and_steps_are_exact(peer, start_simulator, joint_states):
    node = start_simulator(step_request_count=7)
    joint_states.wait()
    refusal = peer.ask(Trigger, "/simulator/step", Trigger.Request())
    assert not refusal.success
    assert "paused" in refusal.message
    assert peer.ask(SetBool, "/simulator/pause", SetBool.Request(data=True)).success
    paused = round(node.report.time * 1000)
    for request in range(1, 4):
        assert peer.ask(Trigger, "/simulator/step", Trigger.Request()).success
        expected = (paused + 7 * request) * STEP
        peer.wait_for(lambda expected=expected: last_stamp(joint_states) == expected, f"a sample at {expected} ns")
    assert round(node.report.time * 1000) == paused + 21
    assert peer.ask(SetBool, "/simulator/pause", SetBool.Request(data=False)).success
    joint_states.wait(lambda message: nanoseconds(message) > expected + 100 * STEP, "time going on")


def test_stepping_by_hand_leaves_no_sample_out(peer, start_simulator):
    """Many more samples than the queue holds, as fast as the machine steps; each stream ends at the last step."""
    steps = 2005
    node = start_simulator(start_paused=True, step_request_count=steps, hydraulics_rate=50.0)
    # A queue as deep as the number of samples: a shorter one would lose some.
    joint_states = peer.hear(JointState, "joint_states", 1000)
    hydraulics = peer.hear(DynamicInterfaceGroupValues, "hydraulics/state", 1000)
    peer.wait_for(lambda: peer.node.count_publishers("/joint_states") == 1, "joint_states")
    assert peer.ask(Trigger, "/simulator/step", Trigger.Request()).success
    for inbox in (joint_states, hydraulics):
        peer.wait_for(lambda inbox=inbox: last_stamp(inbox) == steps * STEP, "the last step")
    assert node.report.dropped_samples == 0


def last_stamp(inbox) -> int | None:
    """Stamp of the latest message [ns]; None before the first."""
    heard = inbox.all()
    return nanoseconds(heard[-1]) if heard else None


def test_a_reset_puts_the_machine_back(peer, start_simulator, joint_states):
    start_simulator(command_timeout=0.0)
    start = joint_states.first().position[0]
    peer.say("valve_commands_array", Float64MultiArray(data=[0.6]))
    joint_states.wait(moving("boom_joint", "position", lambda value: value > start + 0.1), "the boom up")
    assert peer.ask(Trigger, "/simulator/reset", Trigger.Request()).success
    joint_states.wait(moving("boom_joint", "position", lambda value: abs(value - start) < 1e-3), "the boom back")


def test_parameters_change_or_are_refused_with_a_reason(peer, start_simulator, joint_states):
    start_simulator(start_paused=True)
    client = AsyncParameterClient(peer.node, "simulator")
    assert client.wait_for_services(DEADLINE)
    changes = [
        Parameter("step", value=0.002),
        Parameter("real_time_factor", value=-1.0),
        Parameter("real_time_factor", value=math.nan),
        Parameter("step_request_count", value=0),
        Parameter("command_timeout", value="long"),
        Parameter("step_request_count", value=25),
    ]
    answered = []
    client.set_parameters(changes, callback=answered.append)
    peer.wait_for(lambda: answered, "an answer")
    results = answered[0].result().results
    assert [result.successful for result in results] == [False, False, False, False, False, True]
    assert all(result.reason for result in results[:-1])
    assert peer.ask(Trigger, "/simulator/step", Trigger.Request()).success
    peer.wait_for(lambda: last_stamp(joint_states) == 25 * STEP, "25 steps")


def test_program_plays_until_the_first_command(peer, start_simulator, hydraulics, tmp_path):
    program = tmp_path / "program.yaml"
    program.write_text("commands:\n- {time: 0.1, valve: boom_valve, value: 0.3}\n")
    start_simulator(program=str(program), command_timeout=0.2)
    hydraulics.wait(lambda message: spool(message) == pytest.approx(0.3, abs=0.01), "the program's command")
    peer.say("joint_commands", JointState(name=["drum_joint"], velocity=[1.0]))
    hydraulics.wait(lambda message: abs(spool(message)) < 1e-3, "the valve closed by the takeover")
    assert peer.ask(Trigger, "/simulator/reset", Trigger.Request()).success
    hydraulics.wait(lambda message: spool(message) == pytest.approx(0.3, abs=0.01), "the program from its beginning")
