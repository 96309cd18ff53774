"""The operator node, in a process of its own, with a simulated joystick, over DDS."""

import math
import signal
import subprocess
import threading
from array import array
from collections.abc import Callable
from typing import Any

import pytest
from control_msgs.msg import DynamicInterfaceGroupValues
from geometry_msgs.msg import Twist, TwistStamped
from patience import DEADLINE
from rcl_interfaces.msg import ParameterType
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from sensor_msgs.msg import JointState, Joy
from std_msgs.msg import Bool

from grouser.nodes.operator.node import DECLARATIONS
from grouser.nodes.shared import messages, topics
from grouser.physics.base.errors import ParameterError
from grouser.resources import share_path

# A busy computer may delay the joystick's messages, which come every 20 ms, for long; where silence is not
# tested, the timeout is long.
LONGEST_SILENCE = 10.0  # [s]
SWING, STICK, BUCKET, BOOM = range(4)  # axes of the ISO pattern
STOP, DEAD_MAN = 1, 9

JOINTS = """\
dead_man_button: 9
dead_band: 0.0
rate: 1000
levers:
  - {axis: 0, joint: drum_joint, scale: 3.0}
  - {axis: 1, joint: winch_joint, quantity: effort, scale: -0.5}
"""
LOADER = """\
dead_man_button: 9
emergency_stop_button: 1
levers: [{axis: 3, valve: boom_valve, scale: -0.5}]
"""


class Joystick:
    """Publishes the positions of levers and buttons repeatedly, as a game controller's node does."""

    def __init__(self, peer) -> None:
        self.sent = 0
        self.last_sent = 0  # [ns]
        self._peer = peer
        self._lock = threading.Lock()
        self._message: Joy | None = None
        self._publisher = peer.publisher(Joy, topics.JOY)
        peer.node.create_timer(0.02, self._repeat)

    def hold(self, axes: dict[int, float], *buttons: int) -> None:
        """Holds levers and buttons from now on."""
        self.say(Joy(axes=[axes.get(axis, 0.0) for axis in range(6)], buttons=[int(n in buttons) for n in range(21)]))

    def say(self, message: Joy | None) -> None:
        """Publishes this message from now on; None: nothing."""
        with self._lock:
            self._message = message
            self._send()

    def begin(self, answers: Any) -> None:
        """Presses the dead man's button with all levers in neutral, repeatedly until the operator acts.

        Args:
            answers: commands of the operator. One of them may still be of the released button.
        """
        heard = False
        while not heard:
            self.hold({})
            self.wait()
            before = answers.mark()
            self.hold({}, DEAD_MAN)
            self.wait(20)
            heard = answers.mark() >= before + 2

    def wait(self, times: int = 5) -> None:
        """Waits until it has published the same some times more."""
        goal = self.sent + times
        self._peer.wait_for(lambda: self.sent >= goal, "a joystick that speaks")

    def _repeat(self) -> None:
        with self._lock:
            self._send()

    def _send(self) -> None:
        if self._message is not None:
            self.last_sent = self._peer.node.get_clock().now().nanoseconds
            self._publisher.publish(self._message)
            self.sent += 1


@pytest.fixture
def run_operator(launch) -> Callable[..., subprocess.Popen]:
    """Starts operators with the given parameters."""

    def run(**parameters: Any) -> subprocess.Popen:
        values = {"pattern": "excavator_iso", "joy_timeout": LONGEST_SILENCE, **parameters}
        given = [word for name, value in values.items() for word in ("-p", f"{name}:={value}")]
        return launch("grouser.nodes.operator", "--ros-args", *given)

    return run


@pytest.fixture
def start_operator(peer, run_operator) -> Callable[..., tuple[subprocess.Popen, Joystick]]:
    """Starts operators with the given parameters, each with its joystick."""
    return lambda **parameters: (run_operator(**parameters), Joystick(peer))


@pytest.fixture
def valves(peer):
    return peer.hear(DynamicInterfaceGroupValues, "valve_commands")


@pytest.fixture
def after(peer, valves) -> Callable[..., Any]:
    """Performs an action, and waits for the first message since then that satisfies a condition."""

    def do(act: Callable[[], Any], wanted: Callable[[Any], bool], what: str) -> Any:
        seen = len(valves.all())
        act()
        peer.wait_for(lambda: any(wanted(message) for message in valves.all()[seen:]), what)
        return next(message for message in valves.all()[seen:] if wanted(message))

    return do


def spools(message: DynamicInterfaceGroupValues) -> dict[str, float]:
    """A valve message as the simulator reads it."""
    return messages.valve_commands(message, message.interface_groups)


def says(**wanted: float) -> Callable[[DynamicInterfaceGroupValues], bool]:
    """Whether these valves have these commands, and all other valves none."""
    return lambda message: all(
        value == pytest.approx(wanted.get(valve.removesuffix("_valve"), 0.0))
        for valve, value in spools(message).items()
    )


def nanoseconds(message: Any) -> int:
    return message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec


def set_parameter(peer, name: str, value: Any) -> Any:
    """Sets a parameter of the operator; returns the result."""
    client = AsyncParameterClient(peer.node, "operator")
    assert client.wait_for_services(DEADLINE)
    answered: list[Any] = []
    client.set_parameters([Parameter(name, value=value)], callback=answered.append)
    peer.wait_for(lambda: answered, "an answer")
    (result,) = answered[0].result().results
    return result


def test_lever_commands_valves_while_the_button_is_held(start_operator, valves, after):
    _, joystick = start_operator()
    joystick.begin(valves)
    joystick.hold({STICK: 1.0, BUCKET: -1.0}, DEAD_MAN)
    # forward is away, right is out; the pattern begins with the range of 60 %
    message = valves.wait(says(stick=-0.6, bucket=-0.6), "stick and bucket commanded")
    assert len(message.interface_groups) == 7
    after(lambda: joystick.hold({STICK: 1.0, BUCKET: -1.0}), says(), "neutral")
    said = len(valves.all())
    joystick.wait(20)  # in which the operator, at 50 Hz too, would have spoken as often
    assert len(valves.all()) == said, "it leaves the machine to others while the button is up"


def test_silent_joystick_is_neutral_until_the_button_is_pressed_again(peer, start_operator, valves):
    timeout = 0.5
    _, joystick = start_operator(rate=50.0)
    joystick.begin(valves)
    joystick.hold({BOOM: -1.0}, DEAD_MAN)
    valves.wait(says(boom=0.6), "the boom commanded")
    commanded = valves.mark()
    joystick.say(None)
    # only now, as a busy computer may delay messages for so long
    assert set_parameter(peer, "joy_timeout", timeout).successful
    # Neutral comes once, and not before the timeout: silence is measured from the reception of a message, later than
    # its sending, and ends with the last tick within it.
    neutral = valves.wait(says(), "neutral", commanded)
    assert set_parameter(peer, "joy_timeout", LONGEST_SILENCE).successful
    assert nanoseconds(neutral) - joystick.last_sent > (timeout - 0.02) * 1e9
    joystick.hold({BOOM: -1.0}, DEAD_MAN)
    joystick.wait(20)
    assert says()(valves.all()[-1])
    joystick.begin(valves)
    joystick.hold({BOOM: -1.0}, DEAD_MAN)
    valves.wait(says(boom=0.6), "the boom commanded again")


def test_default_joystick_timeout_is_a_fifth_of_a_second():
    assert DECLARATIONS["joy_timeout"].default == 0.2


FULL = [0.0, 0.0, 0.0, -1.0, 0.0, 0.0]
HELD = [int(number == DEAD_MAN) for number in range(21)]


MALFORMED = [
    Joy(axes=FULL[:3], buttons=HELD),
    Joy(axes=FULL, buttons=HELD[:10]),
    Joy(axes=[math.nan, *FULL[1:]], buttons=HELD),
    Joy(axes=[*FULL[:5], 3.0], buttons=HELD),
]


def test_a_malformed_joy_is_refused_and_nothing_moves(start_operator, valves, after):
    process, joystick = start_operator()
    for message in MALFORMED:
        joystick.begin(valves)
        joystick.hold({BOOM: -1.0}, DEAD_MAN)
        valves.wait(says(boom=0.6), "the boom commanded")
        after(lambda message=message: joystick.say(message), says(), "neutral")
        joystick.wait()
        joystick.hold({BOOM: -1.0}, DEAD_MAN)  # the button was down all the time
        joystick.wait()
        assert says()(valves.all()[-1])
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=DEADLINE)
    assert "[operator]: joy refused: length of axes = 3 is not valid: at least 4" in output
    assert process.returncode == 0


def test_emergency_stop_is_latched_until_motion_is_enabled(peer, start_operator, valves, after):
    _, joystick = start_operator()
    joystick.begin(valves)
    joystick.hold({BOOM: -1.0}, DEAD_MAN)
    valves.wait(says(boom=0.6), "the boom commanded")
    after(lambda: joystick.hold({BOOM: -1.0}, DEAD_MAN, STOP), says(), "neutral")
    late = peer.hear(Bool, topics.EMERGENCY_STOP, topics.LATCHED)
    assert late.first("the emergency stop").data is True
    joystick.hold({BOOM: -1.0}, DEAD_MAN)
    joystick.wait()
    assert [message.data for message in late.all()] == [True]
    joystick.begin(valves)
    late.wait_ever(lambda message: not message.data, "the stop taken back")
    assert [message.data for message in late.all()] == [True, False]


def test_pattern_changes_while_running_and_a_bad_one_is_refused(peer, start_operator, valves, after):
    _, joystick = start_operator()
    joystick.begin(valves)
    joystick.hold({STICK: 1.0}, DEAD_MAN)
    valves.wait(says(stick=-0.6), "the stick commanded")
    for name, words in (("excavator_iso9", "did you mean 'excavator_iso'"), ("nothing.yaml", "no such file")):
        result = set_parameter(peer, "pattern", name)
        assert not result.successful and words in result.reason
    assert says(stick=-0.6)(valves.all()[-1])
    results = []
    after(lambda: results.append(set_parameter(peer, "pattern", "excavator_sae")), says(), "neutral")
    assert results[0].successful
    joystick.wait(20)
    assert says()(valves.all()[-1]), "a lever that is held does not begin to move something else"
    joystick.begin(valves)
    joystick.hold({STICK: 1.0}, DEAD_MAN)
    valves.wait(says(boom=-0.6), "the boom commanded by the same lever")


@pytest.mark.parametrize(("stamped", "kind"), [("true", TwistStamped), ("false", Twist)])
def test_cmd_vel_is_of_the_type_that_the_simulator_hears(peer, start_operator, stamped, kind):
    twists = peer.hear(kind, topics.CMD_VEL)
    _, joystick = start_operator(pattern="car", enable_stamped_cmd_vel=stamped)
    joystick.begin(twists)
    joystick.hold({1: -1.0, 2: 1.0}, DEAD_MAN)
    # backwards at 60 % of 0.5 m/s, and 60 % of a curvature of 1/m
    wanted = pytest.approx((-0.3, 0.0, -0.3 * 0.6))
    message = twists.wait(lambda message: tuple(messages.twist_command(message).values()) == wanted, "a way backwards")
    if stamped == "true":
        assert message.header.frame_id == "base_link" and nanoseconds(message) > 0


def test_joints_are_commanded_by_the_quantity_of_their_drive(peer, start_operator, tmp_path):
    pattern = tmp_path / "joints.yaml"
    pattern.write_text(JOINTS)
    inbox = peer.hear(JointState, topics.JOINT_COMMANDS)
    _, joystick = start_operator(pattern=pattern)
    joystick.begin(inbox)
    joystick.hold({0: 1.0, 1: 1.0}, DEAD_MAN)
    modes = {"drum_joint": "velocity", "winch_joint": "effort"}
    wanted = {"drum_joint": 3.0, "winch_joint": -0.5}
    inbox.wait(lambda message: messages.joint_commands(message, modes) == wanted, "both joints commanded")


def test_operator_moves_and_stops_a_machine(peer, start_simulator, start_operator, valves, tmp_path):
    pattern = tmp_path / "loader.yaml"
    pattern.write_text(LOADER)
    node = start_simulator()
    _, joystick = start_operator(pattern=pattern)
    joint_states = peer.hear(JointState, "joint_states")
    start = joint_states.wait().position[0]
    joystick.begin(valves)
    joystick.hold({3: -1.0}, DEAD_MAN)
    joint_states.wait(lambda message: message.position[0] > start + 0.05, "the boom rising")
    joystick.hold({3: -1.0}, DEAD_MAN, STOP)
    peer.wait_for(lambda: node.report.emergency_stop, "the machine stopped")


def test_levers_dig_with_the_excavator(peer, start_simulator, start_operator, valves):
    """Stick away and bucket out, boom down into the soil, bucket and stick in: the bucket has soil in it."""
    start_simulator(machine="excavator", world="quarry", start_paused=True, step_request_count=100)
    _, joystick = start_operator()
    joints = peer.hear(JointState, "joint_states")
    load = peer.hear(DynamicInterfaceGroupValues, "bucket/load")

    def angle(message: JointState, name: str) -> float:
        return message.position[list(message.name).index(name)]

    def mass(message: DynamicInterfaceGroupValues) -> float:
        return message.interface_values[list(message.interface_groups).index("bucket")].values[0]

    joystick.begin(valves)
    joystick.hold({STICK: 1.0, BUCKET: -1.0}, DEAD_MAN)
    peer.step_until(joints, lambda m: angle(m, "stick") > -0.8 and angle(m, "bucket") > -0.2, "the arm is out")
    joystick.hold({BOOM: 1.0}, DEAD_MAN)
    peer.step_until(joints, lambda m: angle(m, "boom") < 0.1, "the boom is down")
    assert mass(load.all()[-1]) == 0.0
    joystick.hold({BUCKET: 1.0, STICK: -0.4}, DEAD_MAN)
    peer.step_until(load, lambda m: mass(m) > 5.0, "soil in the bucket")


def test_a_tip_moves_by_measured_joints_and_stands_without(peer, start_operator, valves):
    """The valves of the arm are commanded together once joint_states are there."""
    _, joystick = start_operator(pattern="excavator_tip")
    joystick.begin(valves)
    joystick.hold({STICK: -1.0}, DEAD_MAN)
    valves.wait(says(), "neutral without joint_states")
    joints = {"boom": 0.2, "stick": -1.6, "tipping_lever": 1.2, "bucket_link": 0.0, "bucket": 0.0, "swing": 0.0}
    publisher = peer.publisher(JointState, topics.JOINT_STATES)
    measured = JointState(
        name=list(joints), position=list(joints.values()), velocity=[0.0] * len(joints), effort=[0.0] * len(joints)
    )
    peer.node.create_timer(0.02, lambda: publisher.publish(measured))
    moving = valves.wait(lambda message: spools(message)["stick_valve"] != 0.0, "the stick moves")
    assert spools(moving)["boom_valve"] != 0.0
    assert spools(moving)["swing_valve"] == spools(moving)["track_left_valve"] == 0.0


def test_operator_sends_neutral_at_its_end(start_operator, valves, after):
    process, joystick = start_operator()
    joystick.begin(valves)
    joystick.hold({BOOM: -1.0}, DEAD_MAN)
    valves.wait(says(boom=0.6), "the boom commanded")
    after(lambda: process.send_signal(signal.SIGINT), says(), "neutral")
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0 and "Traceback" not in output, output


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"pattern": "excavator"}, "no control pattern called 'excavator'"),
        ({"joy_timeout": 0.01}, "parameter joy_timeout"),
    ],
)
def test_bad_parameters_end_the_operator_with_status_2(run_operator, parameters, words):
    process = run_operator(**parameters)
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 2
    assert words in output and "Traceback" not in output


def test_operator_messages_are_those_that_the_simulator_reads():
    values = {"boom_valve": 0.25, "stick_valve": -1.0}
    assert messages.valve_commands(messages.make_valve_commands(1_500_000_000, values), list(values)) == values
    only = messages.make_joint_commands(1_500_000_000, {"drum": 3.0}, {})
    assert only.velocity == array("d", [3.0]) and not only.effort and not only.position
    assert nanoseconds(only) == 1_500_000_000
    with pytest.raises(ParameterError, match="effort"):
        messages.joint_commands(only, {"drum": "effort"})
    twist = messages.make_stamped_twist("base_link", 1_500_000_000, (0.1, 0.2, 0.3))
    assert tuple(messages.twist_command(twist).values()) == (0.1, 0.2, 0.3)
    assert nanoseconds(twist) == 1_500_000_000


def test_every_parameter_is_described_bounded_and_documented():
    page = share_path("docs", "operator.md").read_text()
    for name, declaration in DECLARATIONS.items():
        descriptor = declaration.descriptor()
        assert descriptor.description.endswith("."), name
        assert f"`{name}`" in page, name
        if descriptor.type == ParameterType.PARAMETER_DOUBLE:
            (bounds,) = descriptor.floating_point_range
            assert bounds.from_value <= declaration.default <= bounds.to_value
            assert f"| {declaration.default:g} | {bounds.from_value:g} to {bounds.to_value:g} |" in page, name
