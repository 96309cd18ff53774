"""Shows the machine and objects that a simulator publishes, live in the browser: ``python -m grouser.nodes.viewer``.

Subscribes to ``robot_description``, ``/tf``, ``/tf_static``, ``ground_truth/odom``, ``objects/shapes``,
``objects/poses``, ``/diagnostics`` and ``contact_wrenches/<link>``. The page commands the machine by a node of its own
(`grouser.nodes.viewer.page`). The viewer may start before or after the simulator, and shows the new machine when the
simulator restarts with another one. No topic describes the world: the parameter `world` names it.
"""

import math
import sys
import threading
from collections import deque
from collections.abc import Sequence
from functools import partial
from time import monotonic

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Point, Quaternion, Vector3, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.clock import Clock, ClockType
from rclpy.executors import Executor, TimeoutException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from grouser import catalogue
from grouser.nodes.shared import topics
from grouser.nodes.shared.parameters import Declaration, declare, stamped_by_default
from grouser.nodes.shared.process import run_node
from grouser.nodes.shared.received_frames import ReceivedFrames
from grouser.physics.base.errors import GrouserError, MachineError
from grouser.physics.description import load_world, parse_machine
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.world import World

CLOCK_PERIOD = 1.0  # [s], over which the real-time factor is measured
PACE = ": pace"  # how the diagnostic status of a simulator's pace ends
SMALLEST_FORCE = 1e-3  # [N], below it no arrow is drawn

DECLARATIONS: dict[str, Declaration] = {
    "world": Declaration("flat", "World to draw: path of a YAML file, or the name of one that comes with grouser."),
    "port": Declaration(8080, "TCP port of the page; 0: a free one.", True, 0, 65535),
    # The page has no password, so that access from other computers must be enabled explicitly.
    "host": Declaration("127.0.0.1", "Address the page listens on; 0.0.0.0: for everyone on the network."),
    "rate": Declaration(30.0, "Rate at which the picture changes [Hz of wall time].", True, 1.0, 120.0),
    "contact_scale": Declaration(
        0.0,
        "Length of the arrow of a contact force [m/N]; 0: the machine's weight is as long as the machine.",
        True,
        0.0,
        10.0,
    ),
    "simulator": Declaration("simulator", "Name of the simulator's node, whose services the page calls."),
    "hands_timeout": Declaration(
        0.3,
        "All is in neutral when a browser that commands has been silent for so long [s of wall time].",
        True,
        0.1,
        10.0,
    ),
    "enable_stamped_cmd_vel": Declaration(
        stamped_by_default(),
        "Whether cmd_vel is a TwistStamped or a Twist; by default as the ROS distribution has it: stamped from Kilted.",
    ),
    "base_frame": Declaration("base_link", "Frame that a TwistStamped names: the machine's own."),
}

# Every node may publish static transforms of its own, once each.
TF_STATIC_QUALITY = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)

# Of these only the newest is drawn.
WRENCH_QUALITY = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
OBJECT_QUALITY = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class Viewer(Node):
    """Hears a machine and draws it.

    Args:
        parameter_overrides: parameters that take precedence over files and the command line.

    Attributes:
        scene: what the browser shows.
        page: around the scene, on the port of the parameter.
        period: time between two pictures [s].

    Raises:
        GrouserError: the port is taken, or a parameter or the world is not valid.
    """

    def __init__(self, parameter_overrides: list[Parameter] | None = None) -> None:
        super().__init__("viewer", parameter_overrides=parameter_overrides)
        parameters = declare(self, DECLARATIONS)
        self.period = 1.0 / parameters["rate"]
        self._contact_scale = parameters["contact_scale"]
        # Imported here: viser and trimesh are no ROS packages, and `main` reports one that is missing.
        from grouser.nodes.viewer.page.page import Page
        from grouser.nodes.viewer.scene import Scene

        self._world = load_world(catalogue.world_file(parameters["world"]))
        self._make_scene = Scene
        self.scene = self._make_scene(self._world)
        self._warn_of(self.scene.problems)
        self._frames = ReceivedFrames()
        self._new_worlds: deque[World] = deque(maxlen=1)
        try:
            self.page = Page(
                host=parameters["host"],
                port=parameters["port"],
                scene_port=self.scene.port,
                timeout=parameters["hands_timeout"],
                stamped=parameters["enable_stamped_cmd_vel"],
                frame=parameters["base_frame"],
                simulator=parameters["simulator"],
                world=parameters["world"],
                root_pose=lambda: self._frames.world(self._root),
                show_world=self._new_worlds.append,
            )
        except GrouserError:
            self.scene.stop()
            raise
        self._description = ""
        self._root = ""
        self._aim_wanted = False
        self._wrench_subscriptions: list[Subscription] = []
        self._wrenches: dict[str, bytes] = {}
        self._object_poses = b""  # serialized: only those that are drawn are deserialized
        self._simulation_time = 0.0
        self._measured_at = (monotonic(), 0.0)
        self.create_subscription(String, topics.ROBOT_DESCRIPTION, self._on_description, topics.LATCHED)
        self.create_subscription(TFMessage, topics.TF, self._on_moving_transforms, topics.TF_QUALITY)
        self.create_subscription(TFMessage, topics.TF_STATIC, self._on_transforms, TF_STATIC_QUALITY)
        self.create_subscription(Odometry, topics.GROUND_TRUTH, self._on_ground_truth, topics.RELIABLE)
        self.create_subscription(MarkerArray, topics.OBJECT_SHAPES, self._on_object_shapes, topics.LATCHED)
        self.create_subscription(TFMessage, topics.OBJECT_POSES, self._on_object_poses, OBJECT_QUALITY, raw=True)
        self.create_subscription(DiagnosticArray, topics.DIAGNOSTICS, self._on_diagnostics, topics.RELIABLE)
        # Wall time: with use_sim_time a paused simulation would otherwise stop the picture and its buttons.
        clock = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(self.period, self._draw, clock=clock)
        self.create_timer(CLOCK_PERIOD, self._show_progress, clock=clock)
        address = "localhost" if parameters["host"] in ("127.0.0.1", "0.0.0.0") else parameters["host"]
        self.get_logger().info(f"the machine is on show at http://{address}:{self.page.port}")

    def stop(self) -> None:
        """Closes the page, with the machine in neutral if it was commanded from there."""
        self.page.stop()
        self.scene.stop()

    def _on_description(self, message: String) -> None:
        if message.data == self._description:
            return
        self._description = message.data
        try:
            machine = parse_machine(message.data, file=topics.ROBOT_DESCRIPTION)
        except MachineError as error:
            self.get_logger().error(f"the machine cannot be shown: {error}")
            return
        self._subscribe_wrenches(machine)
        self._warn_of(self.scene.show(machine))
        self._frames.describe(machine, self._world.spawn)
        self._root = machine.root
        self.page.show(machine)
        self._draw()
        self.scene.aim()
        self._aim_wanted = not self._frames.known(self._root)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        """The simulator's state: its pace, or how far its compiler is."""
        for status in message.status:
            if status.name.endswith(PACE):
                self.scene.show_state(status.message)

    def _warn_of(self, problems: list[str]) -> None:
        for problem in problems:
            self.get_logger().warning(f"left out: {problem}")

    def _subscribe_wrenches(self, machine: Machine) -> None:
        """Subscribes to the contact wrenches of this machine's links."""
        for subscription in self._wrench_subscriptions:
            self.destroy_subscription(subscription)
        # A new dictionary, so that a late wrench of the previous machine is dropped. It holds serialized messages: only
        # those that are drawn are deserialized.
        self._wrenches = {}
        touching = [link.name for link in machine.links if link.collisions]
        self._wrench_subscriptions = [
            self.create_subscription(
                WrenchStamped, topic, partial(self._wrenches.__setitem__, link), WRENCH_QUALITY, raw=True
            )
            for link, topic in topics.contact_wrench_topics(touching).items()
        ]

    def _on_moving_transforms(self, message: TFMessage) -> None:
        self._on_transforms(message)
        if message.transforms:
            stamp = message.transforms[-1].header.stamp
            self._simulation_time = stamp.sec + 1e-9 * stamp.nanosec

    def _on_transforms(self, message: TFMessage) -> None:
        for stamped in message.transforms:
            pose = self._valid_pose(stamped.child_frame_id, stamped.transform.translation, stamped.transform.rotation)
            if pose is not None:
                self._frames.receive(stamped.child_frame_id, stamped.header.frame_id, pose)

    def _on_ground_truth(self, message: Odometry) -> None:
        pose = self._valid_pose(message.child_frame_id, message.pose.pose.position, message.pose.pose.orientation)
        if pose is not None:
            self._frames.place(message.child_frame_id, pose)

    def _on_object_shapes(self, message: MarkerArray) -> None:
        shapes = [marker for marker in message.markers if marker.action == Marker.ADD]
        self._warn_of(self.scene.objects.show(shapes))

    def _on_object_poses(self, message: bytes) -> None:
        self._object_poses = message

    def _move_objects(self) -> None:
        """Moves the objects to their newest poses, if there are new ones."""
        if not self._object_poses:
            return
        message, self._object_poses = deserialize_message(self._object_poses, TFMessage), b""
        poses = {}
        for stamped in message.transforms:
            place, turn = stamped.transform.translation, stamped.transform.rotation
            pose = self._valid_pose(stamped.child_frame_id, place, turn)
            if pose is not None:
                poses[stamped.child_frame_id] = np.array([*pose.position, *pose.quaternion])
        self.scene.objects.move(poses)

    def _valid_pose(self, frame: str, place: Vector3 | Point, turn: Quaternion) -> Pose | None:
        """Pose of a frame from a received transform; None, with a warning, if it is not valid."""
        position, quaternion = (place.x, place.y, place.z), (turn.x, turn.y, turn.z, turn.w)
        length = math.hypot(*quaternion)
        if not (math.isfinite(sum(position)) and math.isfinite(length) and length > 0.0):
            self.get_logger().warning(
                f"the transform of {frame} is not valid: {position}, {quaternion}", throttle_duration_sec=5.0
            )
            return None
        x, y, z, w = quaternion
        return Pose(position, (x / length, y / length, z / length, w / length))

    def _change_world(self, world: World) -> None:
        """Shows another world, in a scene of its own; the machine comes with its next description."""
        before, self.scene = self.scene, self._make_scene(world)
        self._world = world
        self._description = ""
        self._warn_of(self.scene.problems)
        self.page.show_scene(self.scene.port)
        before.stop()

    def _draw(self) -> None:
        self.page.time = self._simulation_time
        if self._new_worlds:
            self._change_world(self._new_worlds.pop())
        with self.scene.server.atomic():
            for link in self.scene.links:
                self.scene.move(link, self._frames.world(link))
            self.scene.stretch_cylinders()
            self._move_objects()
            self.scene.draw_forces(self._forces(), self._contact_scale)
            self.scene.refresh_visibility()
        if self._aim_wanted and self._frames.known(self._root):
            self._aim_wanted = False
            self.scene.aim()

    def _forces(self) -> dict[str, np.ndarray]:
        """Contact force [N] and moment [N m] by link, in the link frame."""
        forces = {}
        for link, raw in self._wrenches.items():
            wrench = deserialize_message(raw, WrenchStamped).wrench
            force, torque = wrench.force, wrench.torque
            if math.hypot(force.x, force.y, force.z) > SMALLEST_FORCE:
                forces[link] = np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])
        return forces

    def _show_progress(self) -> None:
        now = monotonic()
        wall, simulated = self._measured_at
        self._measured_at = (now, self._simulation_time)
        # After a restart of the simulator time begins at zero: no negative speed.
        speed = max(0.0, self._simulation_time - simulated) / (now - wall)
        self.page.speed = speed
        self.scene.show_time(self._simulation_time, speed)
        self.scene.aim_newcomers()


def spin_in_bursts(viewer: Viewer, executor: Executor, stop: threading.Event) -> None:
    """Runs all callbacks that are ready, then waits for the viewer's period, until `stop` is set.

    A usual spin checks every subscription for each message, and a machine with twenty links publishes two thousand
    wrenches a second. Here they wait until the next picture, and only the newest of each topic is read.
    """
    while not stop.wait(viewer.period):
        end = monotonic() + viewer.period
        while monotonic() < end:
            try:
                handler, _, _ = executor.wait_for_ready_callbacks(timeout_sec=0.0)
            except TimeoutException:
                break
            handler()
            handler.result()


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the viewer until a signal; returns the exit status, 2 for an invalid parameter or a missing package."""
    return run_node("viewer", _make_viewer, Viewer.stop, arguments, spin_in_bursts)


def _make_viewer() -> Viewer:
    try:
        return Viewer()
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        raise GrouserError(
            f"the Python package {package} is not installed: pip install {package} (for the Python that runs ROS 2: "
            f"{sys.executable})"
        ) from error
