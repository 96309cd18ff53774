"""Names of the nodes' topics, services and actions, and the quality of service of each, in one place.

Relative names follow the node's namespace; all can be remapped.
"""

import re
from collections.abc import Iterable

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

CLOCK = "/clock"
TF = "/tf"
TF_STATIC = "/tf_static"
DIAGNOSTICS = "/diagnostics"
JOINT_STATES = "joint_states"
ROBOT_DESCRIPTION = "robot_description"
CONTACT_WRENCHES = "contact_wrenches"
JOINT_REACTIONS = "joint_reactions"
HYDRAULICS_STATE = "hydraulics/state"
FLEXIBLE_STATE = "flexible/state"
ODOMETRY = "odom"
GROUND_TRUTH = "ground_truth/odom"
IMU = "imu"
SCAN = "scan"
CONTACTS = "contacts"
CONTACT_MARKERS = "contact_markers"
SLIP = "slip"
TERRAIN = "terrain"
RUT_DEPTH = "terrain/rut_depth"
BEARING_MARGIN = "terrain/bearing_margin"
MAP = "map"

VALVE_COMMANDS = "valve_commands"
VALVE_COMMANDS_ARRAY = "valve_commands_array"
JOINT_COMMANDS = "joint_commands"
JOINT_TRAJECTORY = "joint_trajectory"
FOLLOW_JOINT_TRAJECTORY = "follow_joint_trajectory"
CMD_VEL = "cmd_vel"
EMERGENCY_STOP = "emergency_stop"
JOY = "joy"
INITIAL_POSE = "initialpose"
GOAL_POSE = "goal_pose"

RESET = "~/reset"
PAUSE = "~/pause"
STEP = "~/step"
CLEAR_FAULTS = "~/clear_faults"
SIMULATE_STEPS = "~/simulate_steps"

RELIABLE = QoSProfile(depth=10)
TF_QUALITY = QoSProfile(depth=100)
CLOCK_QUALITY = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
SENSOR_DATA = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def contact_wrench_topics(links: Iterable[str]) -> dict[str, str]:
    """Name of each link -> topic of its contact wrench; see `topics_of`."""
    return topics_of(CONTACT_WRENCHES, links)


def joint_reaction_topics(joints: Iterable[str]) -> dict[str, str]:
    """Name of each loop or compliant joint -> topic of its reaction; see `topics_of`."""
    return topics_of(JOINT_REACTIONS, joints)


def imu_topics(names: Iterable[str]) -> dict[str, str]:
    """Name of each inertial measurement unit -> its topic: ``imu/data`` of a single one, else ``imu/<name>/data``."""
    topics = topics_of(IMU, names)
    return {name: f"{IMU if len(topics) == 1 else topic}/data" for name, topic in topics.items()}


def scan_topics(names: Iterable[str]) -> dict[str, str]:
    """Name of each lidar -> its topic: ``scan`` of a single one, else ``scan/<name>``."""
    topics = topics_of(SCAN, names)
    return {name: SCAN if len(topics) == 1 else topic for name, topic in topics.items()}


def topics_of(group: str, names: Iterable[str]) -> dict[str, str]:
    """A topic for each name, below that of their group.

    A topic's name holds letters, digits and underscores only and does not start with a digit; a link's or a joint's may
    hold anything. Names that would collide are told apart by a number.

    Args:
        group: what the topics have in common.
        names: of links or joints.

    Returns:
        Name -> name of its topic.
    """
    topics: dict[str, str] = {}
    for name in names:
        candidate, number = token(name), 2
        while f"{group}/{candidate}" in topics.values():
            candidate, number = f"{token(name)}_{number}", number + 1
        topics[name] = f"{group}/{candidate}"
    return topics


def token(name: str) -> str:
    """Any name as a part of a topic's."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"_{plain}" if plain[:1].isdigit() else plain
