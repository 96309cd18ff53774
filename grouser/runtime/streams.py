"""The table of what the simulator publishes: one row a topic.

The node, its parameters, docs/ros_interface.md and `grouser run` read it. It has no ROS in it: message types and
qualities of service are data. `nodes/simulator/message_makers.py` makes the messages of each type. A new sensor is a
sampler and a row here; a message type that no other stream has needs a maker there.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.world import World
from grouser.runtime import sampling
from grouser.runtime.sampling import ALL, Limits, Reading, Sample

if TYPE_CHECKING:  # nodes that only need the topics start without the physics
    from grouser.physics.simulation.simulation import Simulation
    from grouser.physics.simulation.view import MachineView
    from grouser.runtime.driving import Odometer
    from grouser.runtime.frames import FrameTree


@dataclass(frozen=True)
class Quality:
    """Quality of service.

    Attributes:
        depth: of the history.
        reliable: else best effort.
        latched: transient local, for subscribers that come late; else volatile.
    """

    depth: int
    reliable: bool = True
    latched: bool = False


RELIABLE = Quality(10)
TRANSFORMS = Quality(100)
TIME = Quality(1, reliable=False)
SENSOR_DATA = Quality(5, reliable=False)
LATCHED = Quality(1, latched=True)


@dataclass(frozen=True)
class Rate:
    """A parameter that sets how often streams are sampled.

    Attributes:
        parameter: its name.
        default: [Hz]; 0: every step.
        streams: names of these streams, for the description.
        wall: whether it is in wall time instead of simulation time.
        sensor: whether it is that of a sensor of the machine, which wall time never concerns.
    """

    parameter: str
    default: float
    streams: str
    wall: bool = False
    sensor: bool = False


@dataclass(frozen=True)
class Given:
    """Condition for a topic.

    Attributes:
        words: what the machine must have, for the documentation.
        holds: whether a machine in a world fulfils it.
    """

    words: str
    holds: Callable[[Machine, World], bool]


ALWAYS = Given("", lambda machine, world: True)


@dataclass(frozen=True)
class StreamSource:
    """A robot whose streams are published, and names of frames.

    Attributes:
        machine, world: description of the robot and of its world.
        frames: its transform tree.
        map_frame: frame of the world, which has no robot's prefix.
        odom_frame, base_footprint_frame: names from the parameters, without the robot's prefix.
        publish_link_tf: whether transforms of joints are published.
        publish_map_tf: whether the transform from the frame of the world to the top of `frames` is.
    """

    machine: Machine
    world: World
    frames: "FrameTree"
    map_frame: str
    odom_frame: str
    base_footprint_frame: str
    publish_link_tf: bool
    publish_map_tf: bool


FrameOf = Callable[[StreamSource, str], str]


@dataclass(frozen=True)
class Stream:
    """One row: a topic, or a topic for each item (link, joint, sensor) of a robot.

    Attributes:
        topic: name, relative to the robot's namespace unless it begins with a slash; ``<…>`` stands for the item.
        type: of the messages.
        meaning: description for the documentation.
        quality: of service.
        rate: of samples; None: published once, at the start.
        sample: sampler, with a value for each item if the stream has items; None: not sampled from a robot.
        given: condition for the stream.
        frame, child_frame: of the messages, from source and item.
        items: names of the items; None for a single topic.
        single: name of the topic of a robot that has only one item; "": as of several.
        groups: groups of a message with named values, each with the names of its values.
        on_demand: whether messages are made only while there is a subscriber.
    """

    topic: str
    type: str
    meaning: str
    quality: Quality
    rate: Rate | None = None
    sample: Callable[[Reading], Any] | None = None
    given: Given = ALWAYS
    frame: FrameOf | None = None
    child_frame: FrameOf | None = None
    items: Callable[[StreamSource], Sequence[str]] | None = None
    single: str = ""
    groups: Callable[[Machine], Sequence[tuple[str, Sequence[str]]]] | None = None
    on_demand: bool = False

    @property
    def shown(self) -> str:
        """The topic as documentation names it."""
        return self.single or self.topic

    @property
    def group(self) -> str:
        """Common beginning of the topics of its items."""
        return self.topic.partition("<")[0]

    def topics(self, items: Iterable[str]) -> dict[str, str]:
        """Item -> its topic.

        The name of a topic consists of letters, digits and underscores and does not start with a digit. Others are
        replaced; names that would be equal get a number.
        """
        topics: dict[str, str] = {}
        for item in items:
            candidate, number = topic_token(item), 2
            while (topic := re.sub("<.*>", candidate, self.topic)) in topics.values():
                candidate, number = f"{topic_token(item)}_{number}", number + 1
            topics[item] = topic
        return dict.fromkeys(topics, self.single) if self.single and len(topics) == 1 else topics


def topic_token(name: str) -> str:
    """A valid part of a topic's name from any name."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"_{plain}" if plain[:1].isdigit() else plain


def _has_sensor(kind: str) -> Given:
    return Given(f"a sensor `{kind}`", lambda machine, world: any(one.type == kind for one in machine.every_sensor))


def _sensors(kind: str) -> Callable[[StreamSource], list[str]]:
    return lambda source: [sensor.name for sensor in source.machine.every_sensor if sensor.type == kind]


_SHAPES = Given("collision shapes", lambda machine, world: any(link.collisions for link in machine.links))
_LOOPS = Given("loop or compliant joints", lambda machine, world: bool(machine.loop_joints or machine.compliant_joints))
_FLEXIBLE = Given("flexible links", lambda machine, world: bool(machine.flexible_links))
_HYDRAULICS = Given(
    "cylinders, hydraulic motors or pumps", lambda machine, world: bool(sampling.hydraulic_groups(machine))
)
_FLOATING = Given("a floating base", lambda machine, world: machine.floating_base)
_TRACKS = Given("tracks", lambda machine, world: bool(machine.tracks))
_WHEELS = Given("wheels or tracks", lambda machine, world: bool(machine.wheels or machine.tracks))
_VEHICLE = Given(
    "a floating base and wheels or tracks",
    lambda machine, world: bool(machine.floating_base and (machine.wheels or machine.tracks)),
)
_BUCKETS = Given(
    "shovels with a profile, and soil or grains in its world",
    lambda machine, world: (
        (world.grains is not None or world.soil is not None) and bool(sampling.bucket_groups(machine))
    ),
)
_SHOVELS = Given(
    "shovels, and soil in its world", lambda machine, world: world.soil is not None and bool(machine.shovels)
)
_GRAINS = Given("grains, in its world", lambda machine, world: world.grains is not None)
_BLOCKS = Given("blocks, in its world", lambda machine, world: world.blocks is not None)
_SOIL = Given("soil, in its world", lambda machine, world: world.soil is not None)


def _map(source: StreamSource, _item: str) -> str:
    return source.map_frame


def _root(source: StreamSource, _item: str) -> str:
    return source.frames.name(source.machine.root)


def _odom(source: StreamSource, _item: str) -> str:
    return source.frames.name(source.odom_frame)


def _footprint(source: StreamSource, _item: str) -> str:
    return source.frames.name(source.base_footprint_frame)


def _item(source: StreamSource, item: str) -> str:
    return source.frames.name(item)


def _optical(source: StreamSource, camera: str) -> str:
    (frame,) = (one.optical_frame for one in source.machine.depth_cameras if one.name == camera)
    return source.frames.name(frame)


def _reaction(source: StreamSource, joint: str) -> str:
    return source.frames.name(source.frames.reactions[joint])


TRACK_MARKERS = "track_markers"
BLOCK_MARKERS = "blocks/markers"
# Of the simulation, not of a robot.
CLOCK = "/clock"
OBJECT_POSES = "objects/poses"
OBJECT_SHAPES = "objects/shapes"
CLOCK_RATE = Rate("clock_rate", 100.0, "/clock")
DIAGNOSTICS_RATE = Rate("diagnostics_rate", 1.0, "/diagnostics", wall=True)
_GROUP_VALUES = "control_msgs/msg/DynamicInterfaceGroupValues"
_JOINT_STATE_RATE = Rate("joint_state_rate", 100.0, "joint_states and /tf")
_CONTACT_RATE = Rate("contact_rate", 100.0, "contact_wrenches, obstacle_wrenches and contacts")
_MARKER_RATE = Rate("marker_rate", 10.0, "contact_markers and track_markers")
_ODOM_RATE = Rate("odom_rate", 50.0, "odom and ground_truth/odom")
_DEPTH_RATE = Rate("depth_rate", 10.0, "depth images", sensor=True)
_TERRAIN_RATE = Rate("terrain_rate", 1.0, "terrain and its maps")

# By topic, in the order of docs/ros_interface.md.
STREAMS = {
    stream.topic: stream
    for stream in (
        Stream(CLOCK, "rosgraph_msgs/msg/Clock", "simulation time", TIME, CLOCK_RATE),
        Stream(
            "/tf",
            "tf2_msgs/msg/TFMessage",
            "odom → base_footprint → base, the links unless `publish_link_tf` is false; map → odom, or → a fixed base, "
            "as it really is, unless `publish_map_tf` is false: then by whoever localizes",
            TRANSFORMS,
            _JOINT_STATE_RATE,
            sampling.sample_link_poses,
        ),
        Stream("/tf_static", "tf2_msgs/msg/TFMessage", "what does not move, once", LATCHED),
        Stream(
            "/diagnostics",
            "diagnostic_msgs/msg/DiagnosticArray",
            "real-time factor, overruns, step time, solver, energy, mass of dug soil, refused commands, scheduling",
            RELIABLE,
            DIAGNOSTICS_RATE,
        ),
        Stream(
            OBJECT_POSES,
            "tf2_msgs/msg/TFMessage",
            "pose of every plain object in the frame of the world, by its name; also on /tf with `publish_object_tf`",
            RELIABLE,
            Rate("object_rate", 50.0, OBJECT_POSES),
            on_demand=True,
        ),
        Stream(
            OBJECT_SHAPES,
            "visualization_msgs/msg/MarkerArray",
            "shapes of all plain objects, each in the frame of its object, whenever objects come or go",
            LATCHED,
        ),
        Stream(
            "joint_states",
            "sensor_msgs/msg/JointState",
            "position, velocity and effort of every movable joint; of a ball joint `<joint>/x`, `/y`, `/z`: rotation "
            "vector in the joint's frame (axis times angle, at most π), velocity and torque in the child's axes",
            RELIABLE,
            _JOINT_STATE_RATE,
            sampling.sample_joints,
        ),
        Stream("robot_description", "std_msgs/msg/String", "the expanded URDF, once", LATCHED),
        Stream(
            "display_description",
            "std_msgs/msg/String",
            "a URDF for RViz with the flexible links in pieces, which bend; once",
            LATCHED,
            given=_FLEXIBLE,
        ),
        Stream(
            "contact_wrenches/<link>",
            "geometry_msgs/msg/WrenchStamped",
            "resultant on the link at its origin, in its frame",
            SENSOR_DATA,
            _CONTACT_RATE,
            sampling.sample_contact_wrenches,
            _SHAPES,
            frame=_item,
            items=lambda source: [link.name for link in source.machine.links if link.collisions],
        ),
        Stream(
            "obstacle_wrenches/<link>",
            "geometry_msgs/msg/WrenchStamped",
            "the part of it by obstacles and other machines, without ground and soil: a bumper",
            SENSOR_DATA,
            _CONTACT_RATE,
            sampling.sample_obstacle_wrenches,
            _SHAPES,
            frame=_item,
            items=lambda source: [link.name for link in source.machine.links if link.collisions],
            on_demand=True,
        ),
        Stream(
            "contacts",
            "ros_gz_interfaces/msg/Contacts",
            "points, normals, depths and wrenches",
            SENSOR_DATA,
            _CONTACT_RATE,
            sampling.sample_contacts,
            _SHAPES,
            frame=_map,
            on_demand=True,
        ),
        Stream(
            "contact_markers",
            "visualization_msgs/msg/MarkerArray",
            "points and forces for RViz",
            RELIABLE,
            _MARKER_RATE,
            sampling.sample_contact_scene,
            _SHAPES,
            frame=_root,
            on_demand=True,
        ),
        Stream(
            TRACK_MARKERS,
            "visualization_msgs/msg/MarkerArray",
            "the shoes of the tracks for RViz, each in the frame of the link that carries the track",
            RELIABLE,
            _MARKER_RATE,
            sampling.sample_belts,
            _TRACKS,
            on_demand=True,
        ),
        Stream(
            "joint_reactions/<joint>",
            "geometry_msgs/msg/WrenchStamped",
            "what the joint carries, in its frame",
            SENSOR_DATA,
            Rate("reaction_rate", 100.0, "joint_reactions"),
            sampling.sample_joint_reactions,
            _LOOPS,
            frame=_reaction,
            items=lambda source: list(source.frames.reactions),
        ),
        Stream(
            "hydraulics/state",
            _GROUP_VALUES,
            "pressures, flows, spools, forces, powers, temperatures",
            RELIABLE,
            Rate("hydraulics_rate", 100.0, "hydraulics/state"),
            sampling.sample_hydraulics,
            _HYDRAULICS,
            groups=sampling.hydraulic_groups,
        ),
        Stream(
            "hydraulics/circuit",
            _GROUP_VALUES,
            "pressure and flow of each line, flow into each port, position of each spool",
            RELIABLE,
            Rate("circuit_rate", 20.0, "hydraulics/circuit"),
            sampling.sample_circuit,
            _HYDRAULICS,
            groups=sampling.circuit_groups,
            on_demand=True,
        ),
        Stream(
            "flexible/state",
            _GROUP_VALUES,
            "deflections and twist of each flexible link's tip, its energy, and `strain/<gauge>` of its gauges",
            RELIABLE,
            Rate("flexible_rate", 50.0, "flexible/state"),
            sampling.sample_flexible_links,
            _FLEXIBLE,
            groups=sampling.flexible_groups,
        ),
        Stream(
            "odom",
            "nav_msgs/msg/Odometry",
            "dead reckoning by the wheels' turning",
            RELIABLE,
            _ODOM_RATE,
            sampling.sample_odometry,
            _VEHICLE,
            frame=_odom,
            child_frame=_footprint,
        ),
        Stream(
            "ground_truth/odom",
            "nav_msgs/msg/Odometry",
            "what really happened",
            RELIABLE,
            _ODOM_RATE,
            sampling.sample_ground_truth,
            _FLOATING,
            frame=_map,
            child_frame=_root,
        ),
        Stream(
            "imu/<name>/data",
            "sensor_msgs/msg/Imu",
            "of several, `imu/<name>/data`",
            SENSOR_DATA,
            Rate("imu_rate", 100.0, "imu/data", sensor=True),
            sampling.sample_imus,
            _has_sensor("imu"),
            frame=_item,
            items=_sensors("imu"),
            single="imu/data",
        ),
        Stream(
            "scan/<name>",
            "sensor_msgs/msg/LaserScan",
            "of several, `scan/<name>`",
            SENSOR_DATA,
            Rate("scan_rate", 10.0, "scan", sensor=True),
            sampling.sample_lidars,
            _has_sensor("lidar"),
            frame=_item,
            items=_sensors("lidar"),
            single="scan",
        ),
        Stream(
            "points/<name>",
            "sensor_msgs/msg/PointCloud2",
            "x y z intensity ring, a row for each channel; of several, `points/<name>`",
            SENSOR_DATA,
            Rate("points_rate", 10.0, "points", sensor=True),
            sampling.sample_lidars_3d,
            _has_sensor("lidar_3d"),
            frame=_item,
            items=_sensors("lidar_3d"),
            single="points",
            on_demand=True,
        ),
        Stream(
            "depth/<name>/image_rect",
            "sensor_msgs/msg/Image",
            "depths as 32FC1; of several, `depth/<name>/image_rect`",
            SENSOR_DATA,
            _DEPTH_RATE,
            sampling.sample_depth_cameras,
            _has_sensor("depth_camera"),
            frame=_optical,
            items=_sensors("depth_camera"),
            single="depth/image_rect",
            on_demand=True,
        ),
        Stream(
            "depth/<name>/camera_info",
            "sensor_msgs/msg/CameraInfo",
            "of each depth image; of several, `depth/<name>/camera_info`",
            SENSOR_DATA,
            _DEPTH_RATE,
            sampling.sample_camera_infos,
            _has_sensor("depth_camera"),
            frame=_optical,
            items=_sensors("depth_camera"),
            single="depth/camera_info",
        ),
        Stream(
            "fix/<name>",
            "sensor_msgs/msg/NavSatFix",
            "position on WGS 84, in a world with a geodetic origin; of several, `fix/<name>`",
            SENSOR_DATA,
            Rate("fix_rate", 5.0, "fix", sensor=True),
            sampling.sample_fixes,
            _has_sensor("gnss_receiver"),
            frame=_item,
            items=_sensors("gnss_receiver"),
            single="fix",
        ),
        Stream(
            "force_torque/<name>",
            "geometry_msgs/msg/WrenchStamped",
            "what passes through the joint, in the sensor's frame",
            SENSOR_DATA,
            Rate("force_torque_rate", 100.0, "force_torque", sensor=True),
            sampling.sample_force_torque_sensors,
            _has_sensor("force_torque_sensor"),
            frame=_item,
            items=_sensors("force_torque_sensor"),
        ),
        Stream(
            "slip",
            _GROUP_VALUES,
            "slip ratio, slip angle, sinkage and drawbar pull of each wheel and track; of a track also the tensions of "
            "the belt on both sides of the sprocket, the teeth over which it has jumped, whether it is thrown (1), and "
            "the point at rest, ahead and to the left of its middle (1000 m: it does not turn)",
            RELIABLE,
            Rate("slip_rate", 50.0, "slip"),
            sampling.sample_slip,
            _WHEELS,
            groups=sampling.slip_groups,
        ),
        Stream(
            "terrain",
            "sensor_msgs/msg/PointCloud2",
            "x y z sinkage rut pressure loose",
            LATCHED,
            _TERRAIN_RATE,
            sampling.sample_terrain,
            _SOIL,
            frame=_map,
        ),
        Stream(
            "terrain/rut_depth",
            "nav_msgs/msg/OccupancyGrid",
            "depth of ruts as a costmap layer",
            LATCHED,
            _TERRAIN_RATE,
            sampling.sample_rut_depth,
            _SOIL,
            frame=_map,
        ),
        Stream(
            "terrain/bearing_margin",
            "nav_msgs/msg/OccupancyGrid",
            "what the ground can still bear as a costmap layer",
            LATCHED,
            _TERRAIN_RATE,
            sampling.sample_bearing_margin,
            _SOIL,
            frame=_map,
        ),
        Stream(
            "bucket/load",
            _GROUP_VALUES,
            "soil and grains in each bucket and heaped on it: mass, centre in its link's frame, volume, loose and of "
            "grains without gaps, and fill factor, over the capacity heaped at 1:1",
            RELIABLE,
            Rate("bucket_rate", 10.0, "bucket/load"),
            sampling.sample_bucket_loads,
            _BUCKETS,
            groups=sampling.bucket_groups,
        ),
        Stream(
            "digging/force",
            _GROUP_VALUES,
            "force of soil on each shovel: separation, penetration, bearing, side and inertia; their sum, and its "
            "moment about the middle of the cutting edge, in the world; depth of the edge; specific energy of what is "
            "loaded",
            RELIABLE,
            Rate("digging_rate", 50.0, "digging/force"),
            sampling.sample_digging_forces,
            _SHOVELS,
            groups=sampling.digging_groups,
        ),
        Stream(
            "terrain/falling",
            "sensor_msgs/msg/PointCloud2",
            "x y z half_x half_y mass of soil in the air: the middle of each lot, and from there to its left end",
            SENSOR_DATA,
            Rate("falling_rate", 30.0, "terrain/falling"),
            sampling.sample_falling_soil,
            _SHOVELS,
            frame=_map,
            on_demand=True,
        ),
        Stream(
            "granular/points",
            "sensor_msgs/msg/PointCloud2",
            "x y z radius speed material force (the sum of normal forces) of the grains of the world, of more than "
            "`granular_count` every second or so",
            SENSOR_DATA,
            Rate("granular_rate", 30.0, "granular/points"),
            sampling.sample_grains,
            _GRAINS,
            frame=_map,
            on_demand=True,
        ),
        Stream(
            BLOCK_MARKERS,
            "visualization_msgs/msg/MarkerArray",
            "shapes and poses of the deformable blocks of the world; the namespace of each marker is the block's name",
            RELIABLE,
            Rate("blocks_rate", 30.0, BLOCK_MARKERS),
            sampling.sample_blocks,
            _BLOCKS,
            frame=_map,
            on_demand=True,
        ),
    )
}
# Rates in simulation time, by parameter.
RATES = {stream.rate.parameter: stream.rate for stream in STREAMS.values() if stream.rate and not stream.rate.wall}
_SAMPLERS = {stream.topic: stream.sample for stream in STREAMS.values() if stream.sample is not None}


def is_of_sensor(topic: str) -> bool:
    """Whether a stream is that of a sensor of the machine."""
    rate = STREAMS[topic].rate
    return rate is not None and rate.sensor


def take_sample(
    simulation: "MachineView",
    nanoseconds: int,
    topics: Collection[str],
    odometer: "Odometer | None" = None,
    limits: Limits = ALL,
) -> Sample:
    """Samples streams of a robot.

    Args:
        simulation: to read from.
        nanoseconds: the stamp; the simulation's own time differs from it after a reset.
        topics: of the streams that are due, of `STREAMS`.
        odometer: of a vehicle.
        limits: of what is sampled.
    """
    reading = Reading(simulation, odometer, limits)
    return Sample(nanoseconds, {topic: sample(reading) for topic, sample in _SAMPLERS.items() if topic in topics})


def rehearse(simulation: "Simulation", robots: Collection[str] = ("",)) -> None:
    """Makes a step, takes every sample of some robots and resets, so that all kernels are compiled."""
    simulation.step(1)
    for robot in robots:
        take_sample(simulation.part(robot), 0, STREAMS)
    simulation.energy_balance()
    simulation.soil_balance()
    simulation.reset()
