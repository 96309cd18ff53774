"""The configuration of RViz 2 for a machine."""

from collections.abc import Mapping
from typing import Any

import yaml

from grouser.layouts.shown import MAP_FRAME, ROBOT_DESCRIPTION, Shown, shown_topics
from grouser.physics.description.data.machine import Machine

# By type of message: class of the display, whether it is on at the start, and its own settings.
_DISPLAYS: Mapping[str, tuple[str, bool, Mapping[str, Any]]] = {
    "visualization_msgs/msg/MarkerArray": ("MarkerArray", True, {}),
    "sensor_msgs/msg/LaserScan": ("LaserScan", True, {"Style": "Flat Squares", "Size (m)": 0.03}),
    "sensor_msgs/msg/PointCloud2": ("PointCloud2", True, {"Style": "Flat Squares", "Size (m)": 0.03}),
    "sensor_msgs/msg/Image": ("Image", False, {"Normalize Range": True}),
    "nav_msgs/msg/Odometry": ("Odometry", False, {"Keep": 100}),
    "nav_msgs/msg/OccupancyGrid": ("Map", False, {"Color Scheme": "costmap", "Alpha": 0.6}),
    "geometry_msgs/msg/WrenchStamped": ("Wrench", False, {}),
}
# Many topics of a kind, which contact_markers show together.
_LEFT_OUT = ("contact_wrenches/", "obstacle_wrenches/")


def rviz_config(machine: Machine) -> str:
    """Returns the configuration as YAML: robot model, grid, frames, and a display for each topic that has one."""
    displays = [
        {"Class": "rviz_default_plugins/Grid", "Name": "Grid", "Enabled": True, "Value": True, "Cell Size": 1},
        {
            "Class": "rviz_default_plugins/RobotModel",
            "Name": machine.name,
            "Enabled": True,
            "Value": True,
            "Description Source": "Topic",
            "Description Topic": _topic(ROBOT_DESCRIPTION, reliable=True, latched=True, depth=1),
        },
        {"Class": "rviz_default_plugins/TF", "Name": "Frames", "Enabled": False, "Value": False},
        *(
            _display(shown)
            for shown in shown_topics(machine)
            if shown.stream.type in _DISPLAYS and not shown.stream.topic.startswith(_LEFT_OUT)
        ),
    ]
    config = {
        "Panels": [
            {"Class": "rviz_common/Displays", "Name": "Displays"},
            {"Class": "rviz_common/Views", "Name": "Views"},
        ],
        "Visualization Manager": {
            "Class": "",
            "Displays": displays,
            "Enabled": True,
            "Global Options": {"Background Color": "48; 48; 48", "Fixed Frame": MAP_FRAME, "Frame Rate": 30},
            "Name": "root",
            "Tools": [
                {"Class": "rviz_default_plugins/Interact"},
                {"Class": "rviz_default_plugins/MoveCamera"},
                {"Class": "rviz_default_plugins/Measure"},
            ],
            "Transformation": {"Current": {"Class": "rviz_default_plugins/TF"}},
            "Value": True,
            "Views": {
                "Current": {
                    "Class": "rviz_default_plugins/Orbit",
                    "Name": "Current View",
                    "Distance": 8,
                    "Pitch": 0.4,
                    "Yaw": 0.8,
                    "Target Frame": machine.root,
                },
            },
        },
    }
    return yaml.safe_dump(config, sort_keys=False, allow_unicode=True)


def _display(shown: Shown) -> dict[str, Any]:
    kind, enabled, settings = _DISPLAYS[shown.stream.type]
    quality = shown.stream.quality
    return {
        "Class": f"rviz_default_plugins/{kind}",
        "Name": shown.topic.removeprefix("/"),
        "Enabled": enabled,
        "Value": enabled,
        "Topic": _topic(shown.topic, quality.reliable, quality.latched, quality.depth),
        **settings,
    }


def _topic(name: str, reliable: bool, latched: bool, depth: int) -> dict[str, Any]:
    return {
        "Depth": depth,
        "Durability Policy": "Transient Local" if latched else "Volatile",
        "History Policy": "Keep Last",
        "Reliability Policy": "Reliable" if reliable else "Best Effort",
        "Value": name,
    }
