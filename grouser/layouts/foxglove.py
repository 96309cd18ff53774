"""The layout of Foxglove for a machine: a view in three dimensions, and plots of joints and hydraulics."""

import json
from typing import Any

from grouser.layouts.shown import MAP_FRAME, ROBOT_DESCRIPTION, shown_topics
from grouser.physics.description.data.machine import Machine

_IN_THE_VIEW = (
    "visualization_msgs/msg/MarkerArray",
    "sensor_msgs/msg/LaserScan",
    "sensor_msgs/msg/PointCloud2",
    "nav_msgs/msg/Odometry",
    "nav_msgs/msg/OccupancyGrid",
)


def foxglove_layout(machine: Machine) -> str:
    """Returns the layout as JSON."""
    topics = shown_topics(machine)
    seen = {shown.topic: {"visible": True} for shown in topics if shown.stream.type in _IN_THE_VIEW}
    view = {
        "followMode": "follow-position",
        "followTf": machine.root,
        "fixedFrame": MAP_FRAME,
        "topics": seen,
        "layers": {
            "grid": {"layerId": "foxglove.Grid", "instanceId": "grid", "label": "Grid", "visible": True, "size": 20},
            "urdf": {
                "layerId": "foxglove.Urdf",
                "instanceId": "urdf",
                "label": machine.name,
                "visible": True,
                "sourceType": "topic",
                "topic": ROBOT_DESCRIPTION,
            },
        },
    }
    published = {shown.topic for shown in topics}
    plots = {
        f"Plot!{topic.strip('/').replace('/', '_')}": _plot(topic, path)
        for topic, path in (("/joint_states", ".velocity[:]"), ("/imu/data", ".linear_acceleration.z"))
        if topic in published
    }
    raw = {"RawMessages!hydraulics": {"topicPath": "/hydraulics/state"}} if "/hydraulics/state" in published else {}
    panels: dict[str, Any] = {"3D!machine": view, **plots, **raw}
    layout = {
        "configById": panels,
        "globalVariables": {},
        "userNodes": {},
        "playbackConfig": {"speed": 1},
        "layout": _beside("3D!machine", _stacked([name for name in panels if name != "3D!machine"])),
    }
    return json.dumps(layout, indent=1) + "\n"


def _plot(topic: str, path: str) -> dict[str, Any]:
    paths = [{"value": topic + path, "enabled": True, "timestampMethod": "receiveTime"}]
    return {"title": topic.strip("/"), "paths": paths, "showLegend": True, "followingViewWidth": 20}


def _stacked(names: list[str]) -> Any:
    """The panels above one another, as Foxglove's tree of splits."""
    if len(names) <= 1:
        return names[0] if names else None
    share = round(100 / len(names))
    return {"first": names[0], "second": _stacked(names[1:]), "direction": "column", "splitPercentage": share}


def _beside(first: str, second: Any) -> Any:
    return first if second is None else {"first": first, "second": second, "direction": "row", "splitPercentage": 70}
