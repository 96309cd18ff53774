"""Planar lidars: distances along their beams; all beams of a scan are measured at one instant."""

import math
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.base.packed import Packed
from grouser.physics.contact.pairs import place_shapes
from grouser.physics.contact.rays import ray_to_shape
from grouser.physics.contact.shapes import Shapes
from grouser.physics.description.data.sensors import Lidar
from grouser.physics.model.multibody import Names
from grouser.physics.multibody.kinematics import Kinematics
from grouser.physics.sensors.imu import mounting
from grouser.physics.soil.rays import fill_bounds, ray_to_ground

if TYPE_CHECKING:
    from grouser.physics.integrators.context import StepContext

# Full turns by which the angle of a beam may differ from that of a hit point, which is from -pi to pi.
_TURNS = 2


class LidarScan(NamedTuple):
    """Measurement of a lidar at one instant.

    Attributes:
        angles: of the beams, from the x axis of its frame about the z axis [rad], (beams,).
        ranges: distances [m], (beams,): infinite where nothing is within the maximum range, minus infinity where
            something is nearer than the minimum range (REP-117).
    """

    angles: np.ndarray
    ranges: np.ndarray


class _Sweep(NamedTuple):
    """Constants and buffers of a lidar's scan.

    Attributes:
        first, between: angle of the first beam, and angle between beams [rad].
        cosine, sine: of their angles, (beams,).
        reach: maximum range [m].
        link: link whose shapes the beams ignore.
        on_ground: whether there is ground.
        turn, place, speed: poses and speeds of the collision shapes, see `place_shapes`.
        bounds: of the opened tiles of soft ground, (4,).
    """

    first: float
    between: float
    cosine: np.ndarray
    sine: np.ndarray
    reach: float
    link: int
    on_ground: bool
    turn: np.ndarray
    place: np.ndarray
    speed: np.ndarray
    bounds: np.ndarray


class LidarReader:
    """Reads one lidar. Its beams meet the ground with its ruts, obstacles, and all links except its own.

    Args:
        lidar: its description.
        names: of the machine's links.
        shapes: number of collision shapes.
        on_ground: whether the world has ground.
    """

    def __init__(self, lidar: Lidar, names: Names, shapes: int, on_ground: bool):
        self._lidar = lidar
        self._mounting = mounting(lidar, names)
        self._angles = np.linspace(lidar.angle_min, lidar.angle_max, lidar.beams)
        self._angles.flags.writeable = False
        self._sweep = Packed(
            _Sweep(
                first=lidar.angle_min,
                between=lidar.angle_increment,
                cosine=np.cos(self._angles),
                sine=np.sin(self._angles),
                reach=lidar.range_max,
                link=names.link_index(lidar.link),
                on_ground=on_ground,
                turn=np.zeros((shapes, 3, 3)),
                place=np.zeros((shapes, 3)),
                speed=np.zeros(shapes),
                bounds=np.zeros(4),
            )
        )

    def read(self, context: Packed, kinematics: Packed, step: int) -> LidarScan:
        """Makes one scan.

        Args:
            context: of the simulation.
            kinematics: of the machine.
            step: number of the step; the noise depends on it alone, so that a restart reproduces it.
        """
        lidar, (body, rotation, position) = self._lidar, self._mounting
        if body >= 0:
            position = kinematics.position[body] + kinematics.rotation[body] @ position
            rotation = kinematics.rotation[body] @ rotation
        else:
            position = position - kinematics.origin
        crest = np.full(int(context.state.soil.tile_count[0]), np.nan)
        ranges = np.empty(lidar.beams)
        sweep_once(context, kinematics, self._sweep, rotation, position, crest, ranges)
        if lidar.noise > 0.0:
            random = np.random.default_rng([zlib.crc32(lidar.name.encode()), step])
            ranges += lidar.noise * random.standard_normal(lidar.beams)
        ranges[ranges > lidar.range_max] = np.inf
        ranges[ranges < lidar.range_min] = -np.inf
        return LidarScan(self._angles, ranges)


def arguments_of_a_sweep(context: Packed, kinematics: Packed) -> tuple[Any, ...]:
    """Arguments of `sweep_once` that have the right types, for compiling it ahead."""
    beams, frames = np.zeros(1), np.zeros((1, 3, 3))
    sweep = _Sweep(0.0, 0.0, beams, beams, 0.0, 0, True, frames, frames[0], beams, beams)
    return context, kinematics, Packed(sweep), frames[0], beams, beams, beams


@kernel
def sweep_once(context: "StepContext", kinematics: Kinematics, sweep: _Sweep, rotation, position, crest, distance):
    """Fills `distance` with the distance at which each beam meets something, infinite where nothing is in its way [m].

    Args:
        context: of the simulation.
        kinematics: of the machine.
        sweep: see `_Sweep`.
        rotation, position: of the lidar's frame in the world, from the kinematics' origin [m].
        crest: buffer, one number for each opened tile, NaN.
        distance: result, (beams,).
    """
    if not math.isfinite(position.sum() + rotation.sum()):
        distance[:] = math.nan
        return
    distance[:] = math.inf
    system, state = context.system, context.state
    shapes, origin = system.contact.shapes, kinematics.origin
    place_shapes(
        *(shapes.body, shapes.rotation, shapes.position, shapes.bound),
        *(origin, kinematics.rotation, kinematics.position, kinematics.twist),
        *(sweep.turn, sweep.place, sweep.speed),
    )
    for s in range(shapes.body.shape[0]):
        if shapes.link[s] != sweep.link:
            _meet_shape(shapes, s, sweep, rotation, position, distance)
    if not sweep.on_ground:
        return
    terrain, cell = system.contact.terrain, system.soil.cell[0]
    fill_bounds(state.soil, cell, sweep.bounds)
    x, y, z = position[0] + origin[0], position[1] + origin[1], position[2] + origin[2]
    for k in range(distance.shape[0]):
        dx, dy, dz = _direction(rotation, sweep.cosine[k], sweep.sine[k])
        end = min(distance[k], sweep.reach)
        hit = ray_to_ground(terrain, cell, state.soil, sweep.bounds, crest, x, y, z, dx, dy, dz, end)
        distance[k] = min(distance[k], hit)


@kernel
def _direction(r, cosine, sine):
    """A beam's direction in the target frame of the lidar's rotation r."""
    return (
        r[0, 0] * cosine + r[0, 1] * sine,
        r[1, 0] * cosine + r[1, 1] * sine,
        r[2, 0] * cosine + r[2, 1] * sine,
    )


@kernel
def _meet_shape(shapes: Shapes, s, sweep: _Sweep, rotation, position, distance):
    """Shortens the beams that meet a shape; tries those that pass through its bounding sphere."""
    r, turn = rotation, sweep.turn[s]
    wx, wy, wz = sweep.place[s, 0] - position[0], sweep.place[s, 1] - position[1], sweep.place[s, 2] - position[2]
    # its centre in the lidar's frame, and the circle where its bounding sphere cuts the plane of the beams
    x = r[0, 0] * wx + r[1, 0] * wy + r[2, 0] * wz
    y = r[0, 1] * wx + r[1, 1] * wy + r[2, 1] * wz
    z = r[0, 2] * wx + r[1, 2] * wy + r[2, 2] * wz
    square = shapes.bound[s] * shapes.bound[s] - z * z
    radius, away = math.sqrt(max(square, 0.0)), math.sqrt(x * x + y * y)
    # false where anything is NaN
    if not (square >= 0.0 and away - radius <= sweep.reach):
        return
    # the lidar in the shape's frame
    px = -(turn[0, 0] * wx + turn[1, 0] * wy + turn[2, 0] * wz)
    py = -(turn[0, 1] * wx + turn[1, 1] * wy + turn[2, 1] * wz)
    pz = -(turn[0, 2] * wx + turn[1, 2] * wy + turn[2, 2] * wz)
    beams = distance.shape[0]
    around = away <= radius
    middle, half = math.atan2(y, x), 0.0 if around else math.asin(radius / away)
    for full in range(-_TURNS, _TURNS + 1):
        offset = middle + 2.0 * math.pi * full - sweep.first
        first, last = (offset - half) / sweep.between, (offset + half) / sweep.between
        if around:
            first, last = (0.0, float(beams)) if full == 0 else (1.0, 0.0)
        for k in range(int(max(first, 0.0)), int(min(last, beams - 1.0)) + 1):
            dx, dy, dz = _direction(r, sweep.cosine[k], sweep.sine[k])
            hit = ray_to_shape(
                *(shapes.kind[s], shapes.size[s]),
                *(shapes.vertex, shapes.part[s, 0], shapes.part[s, 1]),
                *(shapes.face, shapes.part[s, 2], shapes.part[s, 3]),
                *(px, py, pz),
                turn[0, 0] * dx + turn[1, 0] * dy + turn[2, 0] * dz,
                turn[0, 1] * dx + turn[1, 1] * dy + turn[2, 1] * dz,
                turn[0, 2] * dx + turn[1, 2] * dy + turn[2, 2] * dz,
            )
            distance[k] = min(distance[k], hit)
