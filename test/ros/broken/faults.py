"""Simulators with faults: what ROS carries of a good one is changed on its way, the rest is as it was."""

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, MultiDOFJointState

from grouser.nodes.simulator.node import SimulatorNode

Change = Callable[[Any], Any]
STARTED = int(time.time())  # [s]


class AlteredPublisher:
    """Sends what a change makes of each message; nothing where that is None.

    Args:
        publisher: that sends.
        change: of a copy of the message.
    """

    def __init__(self, publisher: Any, change: Change) -> None:
        self._publisher = publisher
        self._change = change

    def publish(self, message: Any) -> None:
        changed = self._change(copy.deepcopy(message))
        if changed is not None:
            self._publisher.publish(changed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._publisher, name)


class AlteringNode(SimulatorNode):
    """A simulator whose faults override what follows; each gets what rclpy would and the name as the node says it.

    Faults leave to their super class what they do not break, so that one node can have several.
    """

    def changed(self, topic: str) -> Change | None:
        """What becomes of the messages of a topic; None: nothing."""

    def publisher(self, kind: type, topic: str, quality: QoSProfile) -> tuple[type, str, QoSProfile] | None:
        """How a topic is published; None: not at all."""
        return kind, topic, quality

    def heard(self, topic: str, hear: Change) -> Change:
        """What hears the messages of a topic."""
        return hear

    def answered(self, service: str, answer: Callable) -> Callable:
        """What answers a service."""
        return answer

    def create_publisher(self, kind: type, topic: str, quality: QoSProfile, **options: Any) -> Any:
        change = self.changed(topic)
        kind, topic, quality = self.publisher(kind, topic, quality)
        publisher = super().create_publisher(kind, topic, quality, **options)
        return publisher if change is None else AlteredPublisher(publisher, change)

    def destroy_publisher(self, publisher: Any) -> bool:
        return super().destroy_publisher(getattr(publisher, "_publisher", publisher))

    def create_subscription(self, kind: type, topic: str, hear: Change, quality: Any, **options: Any) -> Any:
        return super().create_subscription(kind, topic, self.heard(topic, hear), quality, **options)

    def create_service(self, kind: type, service: str, answer: Callable, **options: Any) -> Any:
        return super().create_service(kind, service, self.answered(service, answer), **options)


def altering(topic: str, change: Change) -> type[AlteringNode]:
    """A node that changes the messages of one topic."""

    class Altering(AlteringNode):
        def changed(self, name):
            return change if name == topic else super().changed(name)

    return Altering


def publishing(
    topic: str, kind: type | None = None, change: Change | None = None, **quality: Any
) -> type[AlteringNode]:
    """A node that publishes one topic with another type or quality of service."""

    class Publishing(AlteringNode):
        def changed(self, name):
            return change if change and name == topic else super().changed(name)

        def publisher(self, own_kind, name, own_quality):
            if name != topic:
                return super().publisher(own_kind, name, own_quality)
            changed = QoSProfile(depth=own_quality.depth, **quality) if quality else own_quality
            return kind or own_kind, name, changed

    return Publishing


def in_frame(frame: str) -> Change:
    def change(message):
        message.header.frame_id = frame
        return message

    return change


def in_the_time_of_walls(message):
    message.header.stamp.sec += STARTED
    return message


def every_second() -> Change:
    count = 0

    def change(message):
        nonlocal count
        count += 1
        return message if count % 2 else None

    return change


def without_last_position(message: JointState) -> JointState:
    message.position = message.position[:-1]
    return message


def without_footprint(message):
    message.transforms = [part for part in message.transforms if part.child_frame_id != "base_footprint"]
    return message


def without_map(message):
    message.transforms = [part for part in message.transforms if part.header.frame_id != "map"]
    return message


def with_frames_of_their_own(message):
    for part in message.transforms:
        part.child_frame_id = part.child_frame_id.replace("conform_guest/", "guest/")
        part.header.frame_id = part.header.frame_id.replace("conform_guest/", "guest/")
    return message


def with_long_quaternion(message):
    message.orientation.w += 0.5
    return message


def with_wide_rays(message):
    message.angle_max += 0.1
    return message


def with_lopsided_covariance(message):
    message.pose.covariance[1] += 0.1
    return message


def with_nan(message):
    message.twist.twist.linear.x = float("nan")
    return message


class Contents(AlteringNode):
    """Sends messages that contradict themselves."""

    def changed(self, topic):
        return {
            "imu/data": with_long_quaternion,
            "scan": with_wide_rays,
            "odom": with_lopsided_covariance,
            "ground_truth/odom": with_nan,
        }.get(topic) or super().changed(topic)


class TwoClocks(AlteringNode):
    """Somebody else says the time too."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.create_publisher(Clock, "/clock", QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT))


class OneStepMore(AlteringNode):
    """Makes one step more than it was asked for."""

    def answered(self, service, answer):
        def step(request, response):
            count = self.get_parameter("step_request_count").value
            self.set_parameters([Parameter("step_request_count", value=count + 1)])
            try:
                return answer(request, response)
            finally:
                self.set_parameters([Parameter("step_request_count", value=count)])

        return super().answered(service, step if service == "~/step" else answer)


class SilentReset(AlteringNode):
    """Answers that all is well, and does nothing."""

    def answered(self, service, answer):
        def agree(_request, response):
            response.success, response.message = True, "reset"
            return response

        return super().answered(service, agree if service == "~/reset" else answer)


class TimeGoesBack(AlteringNode):
    """Sets its time back to zero with every reset, though nobody asked for that."""

    def answered(self, service, answer):
        def rewind(request, response):
            self.set_parameters([Parameter("reset_rewinds_time", value=True)])
            try:
                return answer(request, response)
            finally:
                self.set_parameters([Parameter("reset_rewinds_time", value=False)])

        return super().answered(service, rewind if service == "~/reset" else answer)


class GoesOn(AlteringNode):
    """Answers that it is paused, and goes on."""

    def answered(self, service, answer):
        def agree(_request, response):
            response.success, response.message = True, "paused"
            return response

        return super().answered(service, agree if service == "~/pause" else answer)


class NeverSilent(AlteringNode):
    """Goes on as it was told last, however long ago, until a reset."""

    def __init__(self, *arguments: Any) -> None:
        self._last: Callable[[], object] = lambda: None
        super().__init__(*arguments)
        self.create_timer(0.005, lambda: self._last())

    def heard(self, topic, hear):
        def remember(message):
            self._last = lambda: hear(message)
            return hear(message)

        return super().heard(topic, remember if topic == "cmd_vel" else hear)

    def answered(self, service, answer):
        def forget(request, response):
            self._last = lambda: None
            return answer(request, response)

        return super().answered(service, forget if service == "~/reset" else answer)


class TakesNan(AlteringNode):
    """Takes what is no number for a speed."""

    def heard(self, topic, hear):
        def mend(message):
            message.velocity = [0.5 if value != value else value for value in message.velocity]
            return hear(message)

        return super().heard(topic, mend if topic == "joint_commands" else hear)


class NoEmergencyStop(AlteringNode):
    """Does not hear the emergency stop."""

    def heard(self, topic, hear):
        return super().heard(topic, (lambda _: None) if topic.endswith("emergency_stop") else hear)


@dataclass(frozen=True)
class Fault:
    """A way to break a simulator.

    Attributes:
        node: that has the fault.
        groups: of checks to which the fault matters, and some beside that stay right.
        failed: rows that fail, and no others.
    """

    node: type[AlteringNode]
    groups: tuple[str, ...]
    failed: tuple[str, ...]


LOOKING = ("graph", "streams", "frames", "contents")
FAULTS = {
    "type": Fault(
        publishing("joint_states", MultiDOFJointState, lambda message: MultiDOFJointState(header=message.header)),
        LOOKING,
        ("joint_states: type",),
    ),
    "best effort": Fault(
        publishing("joint_states", reliability=ReliabilityPolicy.BEST_EFFORT), LOOKING, ("joint_states: QoS",)
    ),
    "volatile": Fault(
        publishing("robot_description", reliability=ReliabilityPolicy.RELIABLE),
        LOOKING,
        ("robot_description: QoS", "robot_description: received"),
    ),
    "two clocks": Fault(TwoClocks, LOOKING, ("/clock: publishers",)),
    "rate": Fault(altering("joint_states", every_second()), LOOKING, ("joint_states: rate",)),
    "wall time": Fault(
        altering("odom", in_the_time_of_walls), (*LOOKING, "time"), ("odom: time", "stamps while paused")
    ),
    "frame": Fault(altering("imu/data", in_frame("nowhere")), LOOKING, ("imu/data: frame",)),
    "footprint": Fault(altering("/tf", without_footprint), LOOKING, ("base", "root of all frames")),
    "map": Fault(altering("/tf", without_map), LOOKING, ("root of all frames", "ground_truth/odom: frame")),
    "prefix": Fault(altering("/tf", with_frames_of_their_own), ("interfaces",), ("frames of the spawned",)),
    "lengths": Fault(altering("joint_states", without_last_position), LOOKING, ("joint_states: lengths",)),
    "contents": Fault(
        Contents,
        LOOKING,
        (
            "imu/data: conventions",
            "scan: geometry",
            "odom: conventions",
            "ground_truth/odom: numbers",
        ),
    ),
    "step count": Fault(OneStepMore, ("time",), ("1 step", "7 steps")),
    "pause": Fault(GoesOn, ("time",), ("time while paused",)),
    "silent reset": Fault(SilentReset, ("reset",), ("joints after a reset",)),
    "time goes back": Fault(TimeGoesBack, ("reset",), ("time after a reset",)),
    "never silent": Fault(NeverSilent, ("commands",), ("cmd_vel: silence",)),
    "takes NaN": Fault(TakesNan, ("commands",), ("joint_commands: NaN",)),
    "no emergency stop": Fault(
        NoEmergencyStop,
        ("emergency_stop",),
        ("/diagnostics", "machine after a stop", "command after a stop", "command after its release"),
    ),
}
# Faults that neither hide nor change what the others of their line do to the checks. Those of contents are found with a
# robot's description only.
TOGETHER = (
    ("type", "frame", "footprint", "wall time"),
    ("best effort", "rate", "map", "two clocks"),
    ("volatile", "pause"),
    ("lengths", "contents"),
    ("step count", "time goes back"),
    ("silent reset", "prefix"),
    ("never silent",),
    ("takes NaN",),
    ("no emergency stop",),
)


def broken(names: Sequence[str]) -> type[SimulatorNode]:
    """A simulator with some faults, by their names; a good one without."""
    return type("Broken", tuple(FAULTS[name].node for name in names), {}) if names else SimulatorNode
