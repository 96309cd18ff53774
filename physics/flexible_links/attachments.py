"""What is attached to a flexible link by a frame, moved to the parts that the link is divided into."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.sensors import MOUNTED


def with_attachments(machine: Machine, place: Callable[[str, Vector3], tuple[str, Vector3]]) -> Machine:
    """Moves the attachments of cylinders, the frames of loop joints and the sensors; joints are not moved.

    Args:
        machine: the machine.
        place: the link that carries a point of a link, and the point in its frame, parallel to that of the link.
    """

    def moved(frame: Any) -> Any:
        link, xyz = place(frame.link, frame.xyz)
        return replace(frame, link=link, xyz=xyz)

    cylinders = (replace(one, barrel=moved(one.barrel), rod=moved(one.rod)) for one in machine.cylinders)
    loops = (replace(one, parent=moved(one.parent), child=moved(one.child)) for one in machine.loop_joints)
    sensors: dict[str, Any] = {field: tuple(map(moved, getattr(machine, field))) for field in MOUNTED}
    return replace(machine, cylinders=tuple(cylinders), loop_joints=tuple(loops), **sensors)
