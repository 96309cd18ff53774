"""Lidars: distances along their beams; all beams of a scan are measured at one instant."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.description.data.sensors import Lidar, Lidar3d
from grouser.physics.sensors.mounting import Mounting
from grouser.physics.sensors.noise import white_noise
from grouser.physics.sensors.ray_caster import RayCaster

# Number of lidars whose beams are kept: they are the same when machines come and go.
_KEPT = 16


class LidarScan(NamedTuple):
    """Measurement of a planar lidar at one instant.

    Attributes:
        angles: of the beams, from the x axis of its frame about the z axis [rad], (beams,).
        ranges: distances [m], (beams,): infinite where nothing is within the maximum range, minus infinity where
            something is nearer than the minimum range (REP-117).
    """

    angles: np.ndarray
    ranges: np.ndarray


class LidarSweep(NamedTuple):
    """Measurement of a lidar with several channels at one instant.

    Attributes:
        directions: of the beams in its frame, unit vectors, (channels, samples, 3).
        ranges: distances, as of `LidarScan`, (channels, samples) [m].
    """

    directions: np.ndarray
    ranges: np.ndarray


class LidarReader:
    """Reads one planar lidar. Its beams meet the ground with its ruts, obstacles, and all links except its own.

    Args:
        lidar: its description.
        mounting: its place.
        shapes: number of collision shapes.
        on_ground: whether the world has ground.
    """

    def __init__(self, lidar: Lidar, mounting: Mounting, shapes: int, on_ground: bool):
        self._lidar = lidar
        self._angles, directions = _beams(lidar)
        self._rays = RayCaster(directions, lidar.range_max, mounting, shapes, on_ground)

    def read(self, context: Packed, kinematics: Packed, step: int) -> LidarScan:
        """Makes one scan.

        Args:
            context: of the simulation.
            kinematics: of the machine.
            step: number of the step; the noise depends on it alone, so that a restart reproduces it.
        """
        ranges = self._rays.cast(context, kinematics)[0]
        return LidarScan(self._angles, _measured(self._lidar, ranges, step))


class Lidar3dReader:
    """Reads one lidar with several channels; its beams meet the same as those of `LidarReader`.

    Args:
        lidar: its description.
        mounting, shapes, on_ground: as of `LidarReader`.
    """

    def __init__(self, lidar: Lidar3d, mounting: Mounting, shapes: int, on_ground: bool):
        self._lidar = lidar
        self._directions = beam_directions(lidar)
        self._rays = RayCaster(self._directions, lidar.range_max, mounting, shapes, on_ground)

    def read(self, context: Packed, kinematics: Packed, step: int) -> LidarSweep:
        """Makes one sweep; arguments as of `LidarReader.read`."""
        return LidarSweep(self._directions, _measured(self._lidar, self._rays.cast(context, kinematics), step))


@lru_cache(maxsize=_KEPT)
def _beams(lidar: Lidar) -> tuple[np.ndarray, np.ndarray]:
    """Angles of the beams [rad], (beams,), and their directions, unit vectors, (1, beams, 3), read-only."""
    angles = np.linspace(lidar.angle_min, lidar.angle_max, lidar.beams)
    directions = np.stack([np.cos(angles), np.sin(angles), np.zeros(lidar.beams)], axis=-1)[np.newaxis]
    angles.flags.writeable = directions.flags.writeable = False
    return angles, directions


@lru_cache(maxsize=_KEPT)
def beam_directions(lidar: Lidar3d) -> np.ndarray:
    """Directions of the beams in the lidar's frame, unit vectors, (channels, samples, 3), read-only."""
    elevation = np.linspace(lidar.elevation_min, lidar.elevation_max, lidar.channels)[:, np.newaxis]
    azimuth = np.linspace(lidar.angle_min, lidar.angle_max, lidar.samples)
    level = np.cos(elevation)
    directions = np.stack(
        np.broadcast_arrays(level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)), axis=-1
    )
    directions.flags.writeable = False
    return directions


def _measured(lidar: Lidar | Lidar3d, ranges: np.ndarray, step: int) -> np.ndarray:
    """Distances with the errors and within the limits of a lidar."""
    if lidar.noise > 0.0:
        ranges = ranges + lidar.noise * white_noise(lidar.name, step, ranges.shape)
    ranges[ranges > lidar.range_max] = np.inf
    ranges[ranges < lidar.range_min] = -np.inf
    return ranges
