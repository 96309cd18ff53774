"""How deep points are inside of a closed mesh."""

import math

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.granular.shapes import nearest_of_triangle


@kernel
def measure_depths(triangle, points, depth):
    """Distances of points from a closed surface.

    A point is inside where the faces span a solid angle of 4 pi around it, by the formula of van Oosterom and Strackee
    (1983) for each.

    Args:
        triangle: corners of the triangles [m], (triangles, 9).
        points: [m], (points, 3).
        depth: gets the distance of each point from the surface, below zero outside [m], (points,).
    """
    for i in range(points.shape[0]):
        point = points[i, 0], points[i, 1], points[i, 2]
        least, angle = np.inf, 0.0
        for t in range(triangle.shape[0]):
            q0, q1, q2 = nearest_of_triangle(triangle, t, point)
            least = min(least, (q0 - point[0]) ** 2 + (q1 - point[1]) ** 2 + (q2 - point[2]) ** 2)
            angle += _solid_angle(triangle, t, point)
        depth[i] = math.copysign(math.sqrt(least), abs(angle) - 2.0 * math.pi)


@kernel
def _solid_angle(corner, t, point):
    """Solid angle that a triangle spans around a point, above zero where it is wound anticlockwise from outside."""
    a0, a1, a2 = corner[t, 0] - point[0], corner[t, 1] - point[1], corner[t, 2] - point[2]
    b0, b1, b2 = corner[t, 3] - point[0], corner[t, 4] - point[1], corner[t, 5] - point[2]
    c0, c1, c2 = corner[t, 6] - point[0], corner[t, 7] - point[1], corner[t, 8] - point[2]
    a, b, c = (
        math.sqrt(a0 * a0 + a1 * a1 + a2 * a2),
        math.sqrt(b0 * b0 + b1 * b1 + b2 * b2),
        math.sqrt(c0 * c0 + c1 * c1 + c2 * c2),
    )
    volume = a0 * (b1 * c2 - b2 * c1) + a1 * (b2 * c0 - b0 * c2) + a2 * (b0 * c1 - b1 * c0)
    ab, bc, ca = a0 * b0 + a1 * b1 + a2 * b2, b0 * c0 + b1 * c1 + b2 * c2, c0 * a0 + c1 * a1 + c2 * a2
    return 2.0 * math.atan2(volume, a * b * c + ab * c + bc * a + ca * b)
