"""What lies in a bucket: its soil, the grains inside its profile, and those heaped on its opening at a slope of 1:1."""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.spatial import matrix
from grouser.physics.description.data.shovel import Shovel
from grouser.physics.digging.capacity import HOE_HEAP, heaped_capacity
from grouser.physics.readings.measurements import BucketLoad


class Content(NamedTuple):
    """Solids in a bucket.

    Attributes:
        mass: [kg].
        moment: mass times centre in the frame of the bucket's link [kg m], (3,).
        volume: [m3].
        grains: number of them.
    """

    mass: float
    moment: np.ndarray
    volume: float
    grains: int


EMPTY = Content(0.0, np.zeros(3), 0.0, 0)


def bucket_load(shovel: Shovel, soil: Content, grains: Content) -> BucketLoad:
    """Both contents of a bucket together."""
    mass, volume = soil.mass + grains.mass, soil.volume + grains.volume
    x, y, z = ((soil.moment + grains.moment) / mass).tolist() if mass > 0.0 else (0.0, 0.0, 0.0)
    capacity = heaped_capacity(shovel.profile, shovel.opening, shovel.width, HOE_HEAP)
    return BucketLoad(mass, (x, y, z), volume, volume / capacity, grains.grains)


def soil_in_bucket(bulk: np.ndarray, carried: np.ndarray, position: np.ndarray, rotation: np.ndarray) -> Content:
    """The soil that a shovel carries.

    Args:
        bulk, carried: as of the state of `digging`.
        position, rotation: of its link's frame in that of its body [m], (3,) and (3, 3).
    """
    mass, volume = bulk.tolist()
    return Content(mass, mass * ((carried[1:4] - position) @ rotation), volume, 0)


def grains_in_bucket(
    shovel: Shovel, pose: np.ndarray, place: np.ndarray, radius: np.ndarray, mass: np.ndarray
) -> Content:
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
    volume = 4.0 / 3.0 * np.pi * radius[inside] ** 3
    return Content(float(mass[inside].sum()), mass[inside] @ local[inside], float(volume.sum()), int(inside.sum()))


def _depth_at(shovel: Shovel, u: np.ndarray) -> np.ndarray:
    """Greatest depth of the profile at places along the plate [m]."""
    deepest = np.full(len(u), -np.inf)
    for (u0, v0), (u1, v1) in zip(shovel.profile, shovel.profile[1:], strict=False):
        low, high = min(u0, u1), max(u0, u1)
        share = (u - u0) / (u1 - u0) if u1 != u0 else np.zeros(len(u))
        between = (u >= low) & (u <= high)
        deepest[between] = np.maximum(deepest[between], (v0 + share * (v1 - v0))[between])
    return deepest
