"""Start of the arrow of a contact force: a resultant has a line of action, but no point on it."""

import numpy as np

from grouser.physics.description.data.mechanism import Link
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Geometry, Mesh, PointSet, Sphere


def contact_ball(link: Link) -> tuple[np.ndarray, float]:
    """Centre of a link's collision shapes in the link frame, and their largest distance from it [m].

    Args:
        link: with at least one collision shape.
    """
    centres = np.array([shape.pose.position for shape in link.collisions])
    middle = centres.mean(axis=0)
    reaches = [reach(shape.geometry) for shape in link.collisions]
    return middle, float(np.max(np.linalg.norm(centres - middle, axis=1) + np.array(reaches)))


def force_point(wrench: np.ndarray, middle: np.ndarray, reach: float) -> tuple[float, float, float]:
    """The point on the line of action of a force that is nearest to the shapes.

    The line of action of forces that nearly cancel is far away; the point is then moved back to the shapes.

    Args:
        wrench: force, not zero [N], and moment about the link's origin [N m], in the link frame.
        middle, reach: of the shapes, from `contact_ball`.
    """
    force, moment = wrench[:3], wrench[3:]
    square = force @ force
    on_line = np.cross(force, moment) / square
    beside = on_line + ((middle - on_line) @ force / square) * force - middle
    distance = float(np.linalg.norm(beside))
    x, y, z = middle + beside * min(1.0, reach / max(distance, 1e-12))
    return (float(x), float(y), float(z))


def reach(geometry: Geometry) -> float:
    """Largest distance of a shape's points from the origin of its frame [m]; of a mesh those of its hull."""
    match geometry:
        case Box(size):
            return float(np.linalg.norm(size)) / 2
        case Cylinder(radius, length):
            return float(np.hypot(radius, length / 2))
        case Sphere(radius):
            return radius
        case Capsule(radius, length):
            return radius + length / 2
        case PointSet(points, radius):
            return radius + float(np.linalg.norm(points, axis=1).max())
        case Mesh() as mesh:
            return float(np.linalg.norm(mesh.hull, axis=1).max())
