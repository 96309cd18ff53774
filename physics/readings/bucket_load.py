"""What lies in a bucket: the grains inside its profile, and those heaped on its opening at a slope of 1:1."""

from dataclasses import dataclass

import numpy as np

from grouser.physics.base.spatial import matrix
from grouser.physics.description.data.shovel import Shovel


@dataclass(frozen=True)
class BucketLoad:
    """Grains in a bucket.

    Attributes:
        mass: [kg].
        centre: of mass, in the frame of the bucket's link [m]; zero of an empty bucket.
        volume: of the grains, without the gaps between them [m3].
        count: number of grains.
    """

    mass: float
    centre: tuple[float, float, float]
    volume: float
    count: int


def bucket_load(
    shovel: Shovel, pose: np.ndarray, place: np.ndarray, radius: np.ndarray, mass: np.ndarray
) -> BucketLoad:
    """The grains whose centres are in a bucket.

    Args:
        shovel: with a profile.
        pose: of its link in the world: position [m] and quaternion, (7,).
        place: of the grains' centres in the world [m], (grains, 3).
        radius, mass: of the grains [m, kg], (grains,).
    """
    local = (place - pose[:3]) @ matrix(pose[3:])
    edge, top = (np.array(ends) for ends in (shovel.cutting_edge, shovel.top_edge))
    middle, across = edge.mean(axis=0), edge[1] - edge[0]
    along = top.mean(axis=0) - middle
    across, along = across / np.linalg.norm(across), along / np.linalg.norm(along)
    # into the bucket: away from where it cuts
    depth = np.cross(along, across)
    depth *= -np.copysign(1.0, depth @ shovel.cutting_direction)
    offset = local - middle
    u, v, w = offset @ along, offset @ depth, offset @ across
    heap = -np.minimum(u, shovel.opening - u)
    inside = (np.abs(w) < 0.5 * shovel.width) & (u > 0.0) & (u < shovel.opening) & (v > heap)
    inside &= v < _depth_at(shovel, u)
    if not inside.any():
        return BucketLoad(0.0, (0.0, 0.0, 0.0), 0.0, 0)
    total = float(mass[inside].sum())
    x, y, z = (mass[inside] @ local[inside] / total).tolist()
    return BucketLoad(total, (x, y, z), float((4.0 / 3.0 * np.pi * radius[inside] ** 3).sum()), int(inside.sum()))


def _depth_at(shovel: Shovel, u: np.ndarray) -> np.ndarray:
    """Greatest depth of the profile at places along the plate [m]."""
    deepest = np.full(len(u), -np.inf)
    for (u0, v0), (u1, v1) in zip(shovel.profile, shovel.profile[1:], strict=False):
        low, high = min(u0, u1), max(u0, u1)
        share = (u - u0) / (u1 - u0) if u1 != u0 else np.zeros(len(u))
        between = (u >= low) & (u <= high)
        deepest[between] = np.maximum(deepest[between], (v0 + share * (v1 - v0))[between])
    return deepest
