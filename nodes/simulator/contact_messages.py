"""Contacts as messages: ros_gz_interfaces/Contacts, and markers."""

from collections.abc import Collection, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from geometry_msgs.msg import Point, Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from grouser.nodes.shared.messages import set_stamp
from grouser.physics.readings.measurements import Contact
from grouser.runtime.frames import relative_poses

POINTS, NORMALS, FORCES = "points", "normals", "forces"
# Length of the lines along normals, diameter of points, of the shafts and heads of arrows [m].
NORMAL_LENGTH, _POINT, _SHAFT, _HEAD = 0.1, 0.03, 0.015, 0.03
_COLOURS = {
    POINTS: ColorRGBA(r=1.0, g=0.8, b=0.0, a=1.0),
    NORMALS: ColorRGBA(r=0.2, g=0.5, b=1.0, a=1.0),
    FORCES: ColorRGBA(r=0.75, g=0.0, b=0.45, a=1.0),
}


def contacts_message(
    interfaces: ModuleType, frame: str, nanoseconds: int, contacts: Sequence[Contact], links: Collection[str]
) -> Any:
    """Contacts in the world, an entry for each pair of a link and what it touches.

    Args:
        interfaces: `ros_gz_interfaces.msg`.
        frame: of the world.
        nanoseconds: simulation time.
        contacts: normals are towards the first of the pair.
        links: names of the machine's links; other names are models.

    Returns:
        `ros_gz_interfaces/Contacts`. Wrenches are forces at the contact's position.
    """
    message = interfaces.Contacts()
    message.header.frame_id = frame
    set_stamp(message.header.stamp, nanoseconds)
    entries: dict[tuple[str, str], Any] = {}
    for contact in contacts:
        pair = (contact.link, contact.other)
        if pair not in entries:
            entities = [
                interfaces.Entity(name=name, type=interfaces.Entity.LINK if name in links else interfaces.Entity.MODEL)
                for name in pair
            ]
            entries[pair] = interfaces.Contact(collision1=entities[0], collision2=entities[1])
        entry, wrench = entries[pair], interfaces.JointWrench(header=message.header)
        wrench.body_1_name.data, wrench.body_2_name.data = pair
        wrench.body_1_wrench.force = _vector(contact.force_world)
        wrench.body_2_wrench.force = _vector(-contact.force_world)
        entry.positions.append(_vector(contact.point_world))
        entry.normals.append(_vector(contact.normal_world))
        entry.depths.append(contact.depth)
        entry.wrenches.append(wrench)
    message.contacts = list(entries.values())
    return message


class ContactMarkers:
    """Contacts as markers: points, lines along the normals, and arrows along the forces.

    Args:
        frame: of the machine's root link, in which they are given, so that they move with the machine.
        newton: length of an arrow per newton [m/N].
    """

    def __init__(self, frame: str, newton: float) -> None:
        self._frame = frame
        self._newton = newton
        self._shown: set[tuple[str, int]] = set()

    def message(self, nanoseconds: int, contacts: Sequence[Contact], root: np.ndarray) -> MarkerArray:
        """The present markers; markers of the last message that are gone are deleted.

        Args:
            nanoseconds: simulation time.
            contacts: in the world.
            root: pose of the root link in the world, shape (7,).
        """
        markers = []
        if contacts:
            places = np.array([contact.point_world for contact in contacts])
            along = NORMAL_LENGTH * np.array([contact.normal_world for contact in contacts])
            forces = self._newton * np.array([contact.force_world for contact in contacts])
            points, ends, heads = (_points(_seen_from(root, at)) for at in (places, places + along, places + forces))
            lines = [point for line in zip(points, ends, strict=True) for point in line]
            markers = [
                self._marker(POINTS, 0, Marker.SPHERE_LIST, points, (_POINT, _POINT, _POINT)),
                self._marker(NORMALS, 0, Marker.LINE_LIST, lines, (0.3 * _SHAFT, 0.0, 0.0)),
                *(
                    self._marker(FORCES, number, Marker.ARROW, list(arrow), (_SHAFT, _HEAD, 0.0))
                    for number, arrow in enumerate(zip(points, heads, strict=True))
                ),
            ]
        shown = {(marker.ns, marker.id) for marker in markers}
        markers += [Marker(ns=group, id=number, action=Marker.DELETE) for group, number in sorted(self._shown - shown)]
        self._shown = shown
        for marker in markers:
            marker.header.frame_id = self._frame
            set_stamp(marker.header.stamp, nanoseconds)
        return MarkerArray(markers=markers)

    def _marker(self, group, number, kind, points, scale):
        marker = Marker(ns=group, id=number, type=kind, action=Marker.ADD, points=points, color=_COLOURS[group])
        marker.scale.x, marker.scale.y, marker.scale.z = scale
        return marker


def _seen_from(root: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Coordinates of points in a frame, from those in the world, shape (n, 3)."""
    poses = np.column_stack([points, np.zeros((len(points), 3)), np.ones(len(points))])
    return relative_poses(np.broadcast_to(root, poses.shape), poses)[:, :3]


def _points(rows: np.ndarray) -> list[Point]:
    return [Point(x=x, y=y, z=z) for x, y, z in rows.tolist()]


def _vector(values: np.ndarray) -> Vector3:
    x, y, z = values.tolist()
    return Vector3(x=x, y=y, z=z)
