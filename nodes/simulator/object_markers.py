"""Shapes of plain objects as markers, each in the frame of its object."""

from collections.abc import Iterator
from pathlib import Path

from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import GREY, Visual
from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.rotation import compose
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Geometry, Mesh, PointSet, Sphere
from grouser.physics.description.urdf.placement import link_poses

_PLAIN = (0.27, 0.51, 0.71, 1.0)  # colour of collision shapes: red, green, blue, alpha
_POINT = 0.02  # [m], diameter of a point without a radius


def object_markers(name: str, machine: Machine) -> Iterator[Marker]:
    """Shapes of a plain object: the visuals of each link, or its collision shapes if it has none.

    The frame of the markers has the name of the object; they move with it.
    """
    number, poses = 0, link_poses(machine, {})
    for link in machine.links:
        for shape in link.visuals or link.collisions:
            colour = (shape.rgba or GREY) if isinstance(shape, Visual) else _PLAIN
            painted = isinstance(shape, Visual) and shape.rgba is None and isinstance(shape.geometry, Mesh)
            for marker in _shape_markers(shape.geometry, compose(poses[link.name], shape.pose)):
                marker.ns, marker.id, marker.frame_locked = name, number, True
                marker.header.frame_id = name
                marker.color = ColorRGBA(**dict(zip("rgba", map(float, colour), strict=True)))
                if painted:  # RViz tints what has a colour beside that of its file
                    marker.mesh_use_embedded_materials, marker.color = True, ColorRGBA()
                number += 1
                yield marker


def _shape_markers(geometry: Geometry, pose: Pose) -> Iterator[Marker]:
    """One marker for a shape, or several for a capsule."""
    match geometry:
        case Box(size):
            yield _marker(Marker.CUBE, pose, size)
        case Sphere(radius):
            yield _marker(Marker.SPHERE, pose, (2.0 * radius,) * 3)
        case Cylinder(radius, length):
            yield _marker(Marker.CYLINDER, pose, (2.0 * radius, 2.0 * radius, length))
        case Capsule(radius, length):
            yield from _shape_markers(Cylinder(radius, length), pose)
            for end in (0.5 * length, -0.5 * length):
                yield from _shape_markers(Sphere(radius), compose(pose, Pose((0.0, 0.0, end))))
        case PointSet(points, radius):
            marker = _marker(Marker.SPHERE_LIST, pose, (2.0 * radius or _POINT,) * 3)
            marker.points = [Point(x=x, y=y, z=z) for x, y, z in points.tolist()]
            yield marker
        case Mesh(path=path, scale=scale):
            marker = _marker(Marker.MESH_RESOURCE, pose, scale)
            marker.mesh_resource = Path(path).absolute().as_uri()
            yield marker


def _marker(kind: int, pose: Pose, scale: Vector3) -> Marker:
    marker = Marker(type=kind, action=Marker.ADD)
    place, turn = marker.pose.position, marker.pose.orientation
    place.x, place.y, place.z = map(float, pose.position)
    turn.x, turn.y, turn.z, turn.w = map(float, pose.quaternion)
    marker.scale.x, marker.scale.y, marker.scale.z = map(float, scale)
    return marker
