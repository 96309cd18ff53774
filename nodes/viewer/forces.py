"""Contact forces as arrows. A resultant has a line of action, but no point on it: here it begins near the shapes."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import viser

from grouser.nodes.viewer.arrows import Arrows
from grouser.nodes.viewer.colours import swatches
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Link
from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.rotation import rotate
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Geometry, Mesh, PointSet, Sphere

ARROW_COLOUR = (190, 0, 110)  # colours that machines do not have
CUT_COLOUR = (110, 0, 190)
GRAVITY = 9.81  # [m/s2], only for the length of the arrows
LONGEST = 1.0  # length of the longest arrow, over the size of the machine
OF_WEIGHT = 0.5  # length of the arrow of the machine's weight, over that size


class ForceArrows:
    """Draws the contact forces.

    Args:
        scene: where they are drawn.
        metres_per_newton: length of the arrows [m/N]; 0: the machine's weight is half as long as the machine.

    Attributes:
        weight: of what can move of the machine [N].
    """

    def __init__(self, scene: viser.SceneApi, metres_per_newton: float) -> None:
        self._arrows, self._given_scale = Arrows(scene, "/contact_forces"), metres_per_newton
        self._balls: dict[str, tuple[Vector3, float]] = {}
        self._size = self.weight = 1.0

    @property
    def metres_per_newton(self) -> float:
        """Length of the arrows [m/N]."""
        return self._given_scale or OF_WEIGHT * self._size / self.weight

    def describe(self, machine: Machine, moving: set[str]) -> None:
        """Turns to another machine, without forces.

        Args:
            machine: to which they belong.
            moving: names of its links that can move: their weight counts.
        """
        self.draw(np.zeros((0, 2, 3)), True)
        masses = [link.inertial.mass for link in machine.links if link.inertial and link.name in moving]
        self.weight = GRAVITY * sum(masses) or 1.0
        self._balls = {link.name: contact_ball(link) for link in machine.links if link.collisions}

    def resize(self, size: float) -> None:
        """Takes the size of what can move of the machine [m]."""
        self._size = size
        self.draw(np.zeros((0, 2, 3)), True)

    def legend(self) -> str:
        """What the arrows mean, as HTML."""
        scale = self.metres_per_newton
        force = _rounded(self.weight)
        return swatches(
            [
                (ARROW_COLOUR, f"contact force: {force / 1e3:g} kN is {force * scale:.2g} m long"),
                (CUT_COLOUR, f"longer ones are cut at {LONGEST * self._size / scale / 1e3:.3g} kN"),
            ]
        )

    def arrows(self, pose: Callable[[str], Pose], wrenches: Mapping[str, Sequence[float]]) -> np.ndarray:
        """Start and end of the arrow of each wrench in the world [m], shape (n, 2, 3).

        Args:
            pose: of a link in the world at the time of the wrenches.
            wrenches: by link, the force [N] and the moment about the link's origin [N m] in its frame, six numbers.
        """
        tails, forces = [], []
        for link, wrench in wrenches.items():
            frame = pose(link)
            tails.append(np.add(frame.position, rotate(frame.quaternion, force_point(wrench, *self._balls[link]))))
            forces.append(rotate(frame.quaternion, (wrench[0], wrench[1], wrench[2])))
        starts = np.array(tails).reshape(-1, 3)
        return np.stack([starts, starts + self.metres_per_newton * np.array(forces).reshape(-1, 3)], axis=1)

    def draw(self, arrows: np.ndarray, visible: bool) -> None:
        """Draws arrows in place of those drawn before; too long ones are cut and have another colour."""
        along = arrows[:, 1] - arrows[:, 0]
        lengths, longest = np.linalg.norm(along, axis=1), LONGEST * self._size
        cut = lengths > longest
        ends = arrows[:, 0] + along * np.where(cut, longest / np.maximum(lengths, 1e-12), 1.0)[:, np.newaxis]
        points = np.stack([arrows[:, 0], ends], axis=1)
        self._arrows.draw(points, np.where(cut[:, np.newaxis], CUT_COLOUR, ARROW_COLOUR), self._size, visible)


def _rounded(value: float) -> float:
    """A value rounded down to one digit."""
    digit = 10.0 ** np.floor(np.log10(value))
    return float(np.floor(value / digit) * digit)


def contact_ball(link: Link) -> tuple[Vector3, float]:
    """Centre of a link's collision shapes in the link frame, and their largest distance from it [m].

    Args:
        link: with at least one collision shape.
    """
    centres = np.array([shape.pose.position for shape in link.collisions])
    middle = centres.mean(axis=0)
    reaches = [reach(shape.geometry) for shape in link.collisions]
    x, y, z = middle.tolist()
    return (x, y, z), float(np.max(np.linalg.norm(centres - middle, axis=1) + np.array(reaches)))


def force_point(wrench: Sequence[float], middle: Vector3, reach: float) -> Vector3:
    """The point on the line of action of a force that is nearest to the shapes.

    The line of action of forces that nearly cancel is far away; the point is then moved back to the shapes.

    Args:
        wrench: force, not zero [N], and moment about the link's origin [N m], in the link frame.
        middle, reach: of the shapes, from `contact_ball`.
    """
    fx, fy, fz, mx, my, mz = wrench
    x, y, z = middle
    square = fx * fx + fy * fy + fz * fz
    # from the middle to force x moment / force^2, a point of the line, and along the line back beside the middle
    bx, by, bz = (fy * mz - fz * my) / square - x, (fz * mx - fx * mz) / square - y, (fx * my - fy * mx) / square - z
    along = (bx * fx + by * fy + bz * fz) / square
    bx, by, bz = bx - along * fx, by - along * fy, bz - along * fz
    share = min(1.0, reach / max(math.hypot(bx, by, bz), 1e-12))
    return (x + share * bx, y + share * by, z + share * bz)


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
