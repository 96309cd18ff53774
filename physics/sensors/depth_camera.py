"""Depth cameras: the depth of each pixel, all at one instant."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.description.data.sensors import DepthCamera
from grouser.physics.sensors.mounting import Mounting
from grouser.physics.sensors.noise import white_noise
from grouser.physics.sensors.ray_caster import RayCaster

# Number of cameras whose rays are kept: they are the same when machines come and go.
_KEPT = 4


class DepthImage(NamedTuple):
    """Measurement of a depth camera at one instant.

    Attributes:
        depth: along its x axis, row by row from the top, from left to right [m], (height, width): infinite where
            nothing is within the maximum depth, minus infinity where something is nearer than the minimum (REP-117).
    """

    depth: np.ndarray


class DepthCameraReader:
    """Reads one depth camera. Its rays meet the ground with its ruts, obstacles, and all links except its own.

    Args:
        camera: its description.
        mounting: its place.
        shapes: number of collision shapes.
        on_ground: whether the world has ground.
    """

    def __init__(self, camera: DepthCamera, mounting: Mounting, shapes: int, on_ground: bool):
        self._camera = camera
        directions = pixel_directions(camera)
        self._ahead = directions[:, :, 0].copy()
        self._rays = RayCaster(directions, camera.depth_max / self._ahead, mounting, shapes, on_ground)

    def read(self, context: Packed, kinematics: Packed, step: int) -> DepthImage:
        """Takes one image.

        Args:
            context: of the simulation.
            kinematics: of the machine.
            step: number of the step; the noise depends on it alone, so that a restart reproduces it.
        """
        camera, depth = self._camera, self._rays.cast(context, kinematics)
        depth *= self._ahead
        if camera.noise > 0.0 or camera.noise_growth > 0.0:
            met = np.isfinite(depth)
            deviation = camera.noise + camera.noise_growth * depth[met] ** 2
            depth[met] += deviation * white_noise(camera.name, step, depth.shape)[met]
        depth[depth > camera.depth_max] = np.inf
        depth[depth < camera.depth_min] = -np.inf
        return DepthImage(depth)


@lru_cache(maxsize=_KEPT)
def pixel_directions(camera: DepthCamera) -> np.ndarray:
    """Unit vectors through the middles of the pixels in the camera's frame, (height, width, 3), read-only."""
    centre_x, centre_y = camera.centre
    left = (centre_x - np.arange(camera.width)) / camera.focal_length
    up = (centre_y - np.arange(camera.height)[:, np.newaxis]) / camera.focal_length
    ways = np.stack(np.broadcast_arrays(1.0, left, up), axis=-1)
    directions = ways / np.linalg.norm(ways, axis=-1, keepdims=True)
    directions.flags.writeable = False
    return directions
