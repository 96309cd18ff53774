"""Names of the nodes' topics, services and actions, and qualities of service.

What the simulator publishes is in `grouser.runtime.streams`. Relative names follow the node's namespace; all can be
remapped.
"""

from collections.abc import Iterable

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from grouser.runtime import streams


def profile(quality: streams.Quality) -> QoSProfile:
    """A quality of service as a ROS profile."""
    return QoSProfile(
        depth=quality.depth,
        reliability=ReliabilityPolicy.RELIABLE if quality.reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if quality.latched else DurabilityPolicy.VOLATILE,
    )


def _stream(topic: str) -> str:
    """Name of a topic of the table of streams."""
    return streams.STREAMS[topic].shown


CLOCK = _stream("/clock")
TF = _stream("/tf")
TF_STATIC = _stream("/tf_static")
DIAGNOSTICS = _stream("/diagnostics")
JOINT_STATES = _stream("joint_states")
ROBOT_DESCRIPTION = _stream("robot_description")
DISPLAY_DESCRIPTION = _stream("display_description")
ODOMETRY = _stream("odom")
GROUND_TRUTH = _stream("ground_truth/odom")
IMU = _stream("imu/<name>/data")
SCAN = _stream("scan/<name>")
HYDRAULICS = _stream("hydraulics/state")
CIRCUIT = _stream("hydraulics/circuit")
FLEXIBLE = _stream("flexible/state")
SLIP = _stream("slip")
TERRAIN = _stream("terrain")
GRAINS = _stream("granular/points")
BLOCKS = _stream(streams.BLOCK_MARKERS)
FALLING = _stream("terrain/falling")
BUCKETS = _stream("bucket/load")
DIGGING = _stream("digging/force")
RUT_DEPTH = _stream("terrain/rut_depth")
BEARING_MARGIN = _stream("terrain/bearing_margin")
OBJECT_POSES = _stream(streams.OBJECT_POSES)
OBJECT_SHAPES = _stream(streams.OBJECT_SHAPES)
MAP = "map"
SOIL_COSTS = "soil_costs"

VALVE_COMMANDS = "valve_commands"
VALVE_COMMANDS_ARRAY = "valve_commands_array"
JOINT_COMMANDS = "joint_commands"
PROGRAM_INPUTS = "program_inputs"
PROGRAM_STATE = "program_state"
JOINT_TRAJECTORY = "joint_trajectory"
FOLLOW_JOINT_TRAJECTORY = "follow_joint_trajectory"
CMD_VEL = "cmd_vel"
PUSH = "push"
EMERGENCY_STOP = "emergency_stop"
STOP_OF_ALL = "/emergency_stop"
JOY = "joy"
INITIAL_POSE = "initialpose"
GOAL_POSE = "goal_pose"

RESET = "~/reset"
PAUSE = "~/pause"
STEP = "~/step"
RECORD = "~/record"
CLEAR_FAULTS = "~/clear_faults"
CLEAR_EMERGENCY_STOP = "~/clear_emergency_stop"
SIMULATE_STEPS = "~/simulate_steps"
BRIDGE_STATE = "~/state"
BRIDGE_FAULTS = "bridge_faults"
BRIDGE_COMMANDS = "/bridge_commands"
ACKNOWLEDGE = "~/acknowledge"

RELIABLE = profile(streams.RELIABLE)
TF_QUALITY = profile(streams.TRANSFORMS)
CLOCK_QUALITY = profile(streams.TIME)
SENSOR_DATA = profile(streams.SENSOR_DATA)
LATCHED = profile(streams.LATCHED)


def contact_wrench_topics(links: Iterable[str]) -> dict[str, str]:
    """Name of each link -> topic of its contact wrench."""
    return streams.STREAMS["contact_wrenches/<link>"].topics(links)
