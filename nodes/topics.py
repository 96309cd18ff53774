"""Names of the simulator's topics and services, and the quality of service of each, in one place.

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
HYDRAULICS_STATE = "hydraulics/state"

VALVE_COMMANDS = "valve_commands"
VALVE_COMMANDS_ARRAY = "valve_commands_array"
JOINT_COMMANDS = "joint_commands"
EMERGENCY_STOP = "emergency_stop"

RESET = "~/reset"
PAUSE = "~/pause"
STEP = "~/step"

RELIABLE = QoSProfile(depth=10)
TF_QUALITY = QoSProfile(depth=100)
CLOCK_QUALITY = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
SENSOR_DATA = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def contact_wrench_topics(links: Iterable[str]) -> dict[str, str]:
    """Topic of each link's contact wrench.

    A topic's name holds letters, digits and underscores only and does not start with a digit; a link's name may hold
    anything. Names that would collide are told apart by a number.

    Args:
        links: names of the links.

    Returns:
        Name of the link -> name of its topic.
    """
    topics: dict[str, str] = {}
    for link in links:
        token = re.sub(r"[^A-Za-z0-9_]", "_", link)
        token = f"_{token}" if token[:1].isdigit() else token
        candidate, number = token, 2
        while f"{CONTACT_WRENCHES}/{candidate}" in topics.values():
            candidate, number = f"{token}_{number}", number + 1
        topics[link] = f"{CONTACT_WRENCHES}/{candidate}"
    return topics
