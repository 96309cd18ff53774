"""Shows the machine and objects that a simulator publishes, live in the browser: ``python -m grouser.nodes.viewer``.

Subscribes to ``robot_description``, ``/tf``, ``/tf_static``, ``ground_truth/odom``, ``contact_wrenches/<link>``,
``hydraulics/state``, ``hydraulics/circuit``, ``slip``, ``joint_states``, ``terrain``, ``terrain/falling``,
``granular/points``, ``blocks/markers``, ``bucket/load``, ``digging/force``, ``objects/shapes``, ``objects/poses`` and
``/diagnostics``. The page commands the machine by a node of its own (`grouser.nodes.viewer.page`). The viewer may start
before or after the simulator, and shows the new machine when the simulator restarts with another one. No topic
describes the world: the parameter `world` names it.
"""

import math
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial
from time import monotonic

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Pose as PoseMessage
from rclpy.clock import Clock, ClockType
from rclpy.executors import Executor, TimeoutException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from grouser import catalogue
from grouser.nodes.shared import topics
from grouser.nodes.shared.messages import nanoseconds_of
from grouser.nodes.shared.parameters import Declaration, declare, stamped_by_default
from grouser.nodes.shared.process import run_node
from grouser.nodes.viewer.arrivals import Newest, Polled
from grouser.nodes.viewer.cdr import transforms
from grouser.nodes.viewer.circuit import shown_circuit
from grouser.nodes.viewer.moments import Moments, valid_pose
from grouser.nodes.viewer.signals import Signals
from grouser.nodes.viewer.values import FALLING_VALUES, GRAIN_VALUES, TERRAIN_VALUES, WantedValues, cloud_columns
from grouser.physics.base.errors import GrouserError, MachineError
from grouser.physics.description import load_world, parse_machine
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.world import World

SLOW = 3  # one of so many pictures shows new pressures and figures
UNSEEN = 30  # one of so many pictures is drawn while no browser shows the scene or the circuit
CALLBACK_PERIOD = 0.2  # [s], between two looks at what does not change from picture to picture
CLOCK_PERIOD = 1.0  # [s], over which the real-time factor is measured
ENERGY = ": energy"
PACE = ": pace"  # how the diagnostic status of a simulator's pace ends

DECLARATIONS: dict[str, Declaration] = {
    "world": Declaration("flat", "World to draw: path of a YAML file, or the name of one that comes with grouser."),
    "port": Declaration(8080, "TCP port of the page; 0: a free one.", True, 0, 65535),
    # The page has no password, so that access from other computers must be enabled explicitly.
    "host": Declaration("127.0.0.1", "Address the page listens on; 0.0.0.0: for everyone on the network."),
    "rate": Declaration(30.0, "Rate at which the picture changes [Hz of wall time].", True, 1.0, 120.0),
    "contact_scale": Declaration(
        0.0,
        "Length of the arrow of a contact force [m/N]; 0: the machine's weight is half as long as the machine.",
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
NEWEST_QUALITY = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class Viewer(Node):
    """Hears a machine and draws it.

    Args:
        parameter_overrides: parameters that take precedence over files and the command line.

    Attributes:
        scene: what the browser shows.
        page: around the scene, on the port of the parameter.
        pictures: the timer of the pictures.

    Raises:
        GrouserError: the port is taken, or a parameter or the world is not valid.
    """

    def __init__(self, parameter_overrides: list[Parameter] | None = None) -> None:
        super().__init__("viewer", parameter_overrides=parameter_overrides)
        parameters = declare(self, DECLARATIONS)
        # Imported here: viser and trimesh are no ROS packages, and `main` reports one that is missing.
        from grouser.nodes.viewer.beside import MachinesBeside
        from grouser.nodes.viewer.page.page import Page
        from grouser.nodes.viewer.scene import Scene

        self._world = load_world(catalogue.world_file(parameters["world"]))
        self._make_scene = partial(Scene, metres_per_newton=parameters["contact_scale"])
        self.scene = self._make_scene(self._world)
        self._warn_of(self.scene.problems)
        self._moments = Moments(self, lambda text: self.get_logger().warning(text, throttle_duration_sec=5.0))
        self._signals = Signals(self)
        self._circuit = WantedValues(self, topics.CIRCUIT)
        self._program = WantedValues(self, topics.PROGRAM_STATE)
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
                root_pose=lambda: self._moments.frames.world(self._root),
                show_world=self.show_world,
            )
        except GrouserError:
            self.scene.stop()
            raise
        self._description = ""
        self._machine: Machine | None = None
        self._root = ""
        self._picture = 0
        self._aim_wanted = False
        group = Polled()
        self._object_poses = Newest(self, TFMessage, topics.OBJECT_POSES, NEWEST_QUALITY, group)
        self._grains = Newest(self, PointCloud2, topics.GRAINS, NEWEST_QUALITY, group)
        self._falling = Newest(self, PointCloud2, topics.FALLING, NEWEST_QUALITY, group)
        self._blocks = Newest(self, MarkerArray, topics.BLOCKS, NEWEST_QUALITY, group)
        self._turned: dict[str, float] = {}  # position of each joint [rad or m]
        self._terrain_stamps: dict[str, int] = {}  # of the last message around each machine
        self._beside = MachinesBeside(self, self.get_logger().warning, self._on_terrain)
        self._measured_at = (monotonic(), 0.0)
        self.create_subscription(String, topics.ROBOT_DESCRIPTION, self._on_description, topics.LATCHED)
        self.create_subscription(TFMessage, topics.TF_STATIC, self._moments.fix, TF_STATIC_QUALITY, raw=True)
        self.create_subscription(MarkerArray, topics.OBJECT_SHAPES, self._on_object_shapes, topics.LATCHED)
        self.create_subscription(DiagnosticArray, topics.DIAGNOSTICS, self._on_diagnostics, topics.RELIABLE)
        self.create_subscription(PointCloud2, topics.TERRAIN, partial(self._on_terrain, ""), topics.LATCHED, raw=True)
        # Wall time: with use_sim_time a paused simulation would otherwise stop the picture and its buttons.
        clock = Clock(clock_type=ClockType.STEADY_TIME)
        self.pictures = self.create_timer(1.0 / parameters["rate"], self.draw, clock=clock)
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
        self._warn_of(self.scene.show(machine))
        self._signals.clear()
        self._turned = {}
        self._moments.describe(machine, self._world.spawn)
        self._machine = machine
        self._root = machine.root
        self.page.show(machine)
        self._draw()
        self.scene.aim()
        self._aim_wanted = not self._moments.frames.known(self._root)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        """The simulator's state: its pace, or how far its compiler is."""
        for status in message.status:
            if status.name.endswith(PACE):
                self.scene.show_state(status.message)
            elif status.name.endswith(ENERGY):
                self._signals.hear_energy(status)

    def _warn_of(self, problems: list[str]) -> None:
        for problem in problems:
            self.get_logger().warning(f"left out: {problem}")

    def _on_terrain(self, machine: str, message: bytes) -> None:
        """Soft ground around a machine; a stamp that is older than its last one begins anew."""
        if (terrain := self.scene.terrain) is None:
            return
        cloud = deserialize_message(message, PointCloud2)
        stamp = nanoseconds_of(cloud.header.stamp)
        points = cloud_columns(cloud, (*TERRAIN_VALUES, "loose")) or cloud_columns(cloud, TERRAIN_VALUES)
        if points is None:
            return
        with self.scene.server.atomic():
            if stamp < self._terrain_stamps.get(machine, 0):
                terrain.clear()
            terrain.receive({"loose": np.zeros_like(points["z"]), **points})
        self._terrain_stamps[machine] = stamp

    def _on_object_shapes(self, message: MarkerArray) -> None:
        shapes = [marker for marker in message.markers if marker.action == Marker.ADD]
        self._warn_of(self.scene.objects.show(shapes))

    def _move_belts(self) -> None:
        """Moves the shoes of tracks to where their sprockets have turned."""
        drawn = self.scene.drawn
        if drawn is not None and drawn.has_belts:
            positions = {name: values.get("position", 0.0) for name, values in self._signals.values("joints").items()}
            self._turned.update((name, value) for name, value in positions.items() if math.isfinite(value))
            drawn.move_belts(self._turned)

    def _move_objects(self) -> None:
        """Moves the objects to their newest poses, if there are new ones."""
        if (message := self._object_poses.take()) is None:
            return
        poses = {}
        for _, name, numbers in transforms(message):
            if (pose := valid_pose(numbers)) is not None:
                poses[name] = np.array([*pose.position, *pose.quaternion])
        self.scene.objects.move(poses)

    def _move_grains(self) -> None:
        """Draws the newest grains, if there are new ones."""
        self.scene.colour_grains()
        if self.scene.grains is None or (message := self._grains.take()) is None:
            return
        if (columns := cloud_columns(self._grains.read(message), GRAIN_VALUES)) is not None:
            self.scene.grains.receive(columns)

    def _move_blocks(self) -> None:
        """Draws the newest blocks, if there are new ones."""
        if self.scene.blocks is None or (message := self._blocks.take()) is None:
            return
        markers = self._blocks.read(message).markers
        shown = [(marker, valid_pose(_numbers_of(marker.pose))) for marker in markers]
        poses = [[*pose.position, *pose.quaternion] for _, pose in shown if pose is not None]
        drawn = [marker for marker, pose in shown if pose is not None and len(marker.points) % 3 == 0]
        if drawn and len(drawn) == len(poses):
            triangles = [
                np.array([(point.x, point.y, point.z) for point in marker.points]).reshape(-1, 3, 3) for marker in drawn
            ]
            self.scene.blocks.receive([marker.ns for marker in drawn], triangles, np.array(poses))

    def _move_soil(self) -> None:
        """Draws the newest soil in the air, if there is some."""
        if self.scene.falling is None or (message := self._falling.take()) is None:
            return
        if (columns := cloud_columns(self._falling.read(message), FALLING_VALUES)) is not None:
            self.scene.falling.receive(columns)

    def show_world(self, world: World) -> None:
        """Shows another world from the next picture on; from any thread."""
        self._new_worlds.append(world)

    def _change_world(self, world: World) -> None:
        """Shows another world, in a scene of its own, with the machine until another one is described."""
        before, self.scene = self.scene, self._make_scene(world)
        self._world = world
        self._warn_of(self.scene.problems)
        if self._machine is not None:
            self.scene.show(self._machine)
            self._aim_wanted = True
        self.page.show_scene(self.scene.port)
        self._terrain_stamps.clear()
        before.stop()

    def draw(self) -> None:
        """Draws the next picture, unless nobody sees it."""
        self._picture += 1
        seen = self.scene.server.get_clients() or self.page.shows_circuit or self.page.shows_program
        if seen or self._picture % UNSEEN == 0:
            self._draw()

    def _draw(self) -> None:
        moments = self._moments
        moments.take()
        self.page.time = 1e-9 * (moments.time or 0)
        if self._new_worlds:
            self._change_world(self._new_worlds.pop())
        with self.scene.server.atomic():
            forces = self.scene.forces
            arrows, strengths = [np.zeros((0, 2, 3))], {}
            for frames, wrenches in moments.forces():
                arrows.append(forces.arrows(frames.world, wrenches))
                strengths.update({link: math.hypot(*wrench[:3]) for link, wrench in wrenches.items()})
            moments.show(moments.time)
            self.scene.move(moments.frames)
            self._move_belts()
            self._beside.draw(self.scene, moments.frames)
            if self._picture % SLOW == 0:
                self._draw_figures(strengths)
            self._move_objects()
            tool = self.scene.pushes
            tool.switch(self.page.pushing)
            if self.page.push_is_lost:
                tool.let_go()
            world = moments.frames.world
            self.page.push(tool.draw(world, forces.metres_per_newton, forces.weight, self.scene.cameras.size))
            forces.draw(np.concatenate(arrows), self.scene.forces_box.value)
            self.scene.refresh_visibility()
            self.scene.colour_ground()
            self._move_grains()
            self._move_blocks()
            self._move_soil()
            self.scene.plots.draw(1e-9 * (moments.time or 0), self._signals)
            self.scene.cameras.follow()
        if self._aim_wanted and moments.frames.known(self._root):
            self._aim_wanted = False
            self.scene.aim()

    def _draw_figures(self, strengths: Mapping[str, float]) -> None:
        """Draws what is read as figures and colours.

        Args:
            strengths: contact force on each link [N].
        """
        hydraulics = self._signals.values("hydraulics")
        self.page.circuit = shown_circuit(self._circuit.take(self.page.shows_circuit), hydraulics)
        self.page.wires = self._program.take(self.page.shows_program)
        self.scene.colour_cylinders(hydraulics)
        if (drawn := self.scene.drawn) is not None and drawn.has_buckets:
            drawn.fill_buckets(self._signals.values("buckets"))
        self.scene.labels.draw(strengths, hydraulics)

    def _show_progress(self) -> None:
        now = monotonic()
        wall, simulated = self._measured_at
        time = 1e-9 * (self._moments.time or 0)
        self._measured_at = (now, time)
        # After a restart of the simulator time begins at zero: no negative speed.
        speed = max(0.0, time - simulated) / (now - wall)
        self.page.speed = speed
        self.page.has_program = self.count_publishers(topics.PROGRAM_STATE) > 0
        self.scene.show_time(time, speed)
        self.scene.cameras.aim_newcomers()
        self._beside.look(self.scene)


def spin_in_bursts(viewer: Viewer, executor: Executor, stop: threading.Event) -> None:
    """Draws the pictures, and after some of them runs the callbacks that are ready, until `stop` is set.

    A usual spin checks every subscription for each message, and a machine with twenty links publishes two thousand
    wrenches a second. What changes from picture to picture is read when it is drawn.
    """
    viewer.pictures.cancel()
    period = 1e-9 * viewer.pictures.timer_period_ns
    due = called = monotonic()
    while not stop.wait(due - monotonic()):
        due = max(due + period, monotonic())
        viewer.draw()
        if monotonic() >= called + CALLBACK_PERIOD:
            called = monotonic()
            _run_callbacks(executor, period)


def _run_callbacks(executor: Executor, longest: float) -> None:
    """Runs the callbacks that are ready, as long as new ones begin within a time [s]."""
    end = monotonic() + longest
    while monotonic() < end:
        try:
            handler, _, _ = executor.wait_for_ready_callbacks(timeout_sec=0.0)
        except TimeoutException:
            return
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


def _numbers_of(pose: PoseMessage) -> tuple[float, ...]:
    """Position and quaternion of a message."""
    at, turn = pose.position, pose.orientation
    return at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w
