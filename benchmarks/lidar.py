"""Sweeps of lidars and images of depth cameras, beside MuJoCo's rays through the same scene."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

import grouser
from grouser import catalogue
from grouser.benchmarks.figure import Figure, Target, alternating_medians
from grouser.benchmarks.peers import require
from grouser.physics.description import parse_machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import matrix, quaternion_from_rpy
from grouser.physics.description.data.sensors import DepthCamera, Lidar3d
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Geometry, Sphere
from grouser.physics.description.data.world import Ground, Heightfield, Obstacle, World
from grouser.physics.sensors.depth_camera import pixel_directions
from grouser.physics.sensors.lidar import beam_directions

DESCRIPTION = "lidars and depth cameras (of a core at 10 Hz) among obstacles and over ruts, beside MuJoCo's rays"

BEAMS, REACH = 720, 30.0
# Where the lidar is [m], and how it is tilted [rad].
PLACE, TILT = (0.0, 0.0, 0.8), (0.05, 0.03, 0.0)
_OBSTACLES = 30
_CELL, _SIDE = 0.25, 40.0  # of the rough ground [m]
_REPEATS, _CALLS = 15, 100
# Boxes around the larger sensors, and their rate [Hz] and largest share of a core [%].
_BOXES, _RATE, _SHARE = 200, 10.0, 15.0
_PATTERNS = {
    "lidar_3d": (f"{Lidar3d.channels} x {Lidar3d.samples} beams", beam_directions(Lidar3d("eye", "eye_link"))),
    "depth_camera": (
        f"{DepthCamera.width} x {DepthCamera.height} pixels",
        pixel_directions(DepthCamera("eye", "eye_link")),
    ),
}
_MAST = """<robot name="mast"><link name="world"/><link name="eye_link"/>
<joint name="foot" type="fixed"><parent link="world"/><child link="eye_link"/>
<origin xyz="{place}" rpy="{tilt}"/></joint>
<link name="lid"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="eye_link"/><child link="lid"/></joint>
<grouser>{sensor}</grouser></robot>"""
_PLANAR = f'<sensor name="eye" type="lidar" link="eye_link" beams="{BEAMS}" range_min="0" range_max="{REACH:g}"/>'


def run() -> list[Figure]:
    """Measures sweeps of planar lidars, then those of lidars with channels and depth images."""
    mujoco = require("mujoco")
    figures = []
    for name, ground in (("level ground", Ground()), ("rough ground", Ground(heightfield=rough_ground()))):
        world = scene(ground)
        eye = watching(world)
        theirs = MuJoCoRays(mujoco, world)
        ours, peer = alternating_medians(
            _REPEATS, *(_many(sweep) for sweep in (eye.sensors.lidar.values, theirs.sweep))
        )
        scan = eye.sensors.lidar["eye"]
        alike = np.isclose(scan.ranges, theirs.sweep(), rtol=0.0, atol=1e-4)
        details = {
            "obstacles": _OBSTACLES,
            "beams that meet something": int(np.isfinite(scan.ranges).sum()),
            "beams that both see within 0.1 mm": int(alike.sum()),
        }
        figures.append(_figure(f"{BEAMS} beams, {name}", ours, f"MuJoCo {mujoco.__version__}", peer, details))
    return [*figures, _ruts(), *_shares(mujoco)]


def rough_ground() -> Heightfield:
    """Waves with random bumps, up to 0.5 m high."""
    x = np.arange(-0.5 * _SIDE, 0.5 * _SIDE + 0.5 * _CELL, _CELL)
    heights = 0.1 + 0.08 * np.sin(0.8 * x[:, None] + 0.3 * x[None, :]) + 0.08 * np.sin(1.1 * x[None, :] - x[:, None])
    heights += np.random.default_rng(5).uniform(0.0, 0.1, heights.shape)
    return Heightfield(heights - heights.min(), _CELL, (-0.5 * _SIDE, -0.5 * _SIDE))


def scene(ground: Ground) -> World:
    """Boxes, spheres, cylinders and capsules of all sizes and attitudes, 2 to 15 m away."""
    random = np.random.default_rng(4)

    def solid(number: int) -> Geometry:
        a, b, c = random.uniform(0.2, 1.2, 3).tolist()
        return (Box((a, b, c)), Sphere(a), Cylinder(0.5 * a, 2.0 * b), Capsule(0.5 * a, b))[number % 4]

    obstacles = []
    for number in range(_OBSTACLES):
        angle, away = random.uniform(-math.pi, math.pi), random.uniform(2.5, 15.0)
        place = (away * math.cos(angle), away * math.sin(angle), random.uniform(0.2, 1.0))
        turn = quaternion_from_rpy(*random.uniform(-math.pi, math.pi, 3).tolist())
        obstacles.append(Obstacle(f"obstacle_{number}", solid(number), Pose(place, turn)))
    return World(ground=ground, obstacles=tuple(obstacles))


def watching(world: World, sensor: str = _PLANAR) -> grouser.Simulation:
    """A sensor in a world, on a mast that does not move: a planar lidar, or another element."""
    place, tilt = (" ".join(map(repr, values)) for values in (PLACE, TILT))
    return grouser.Simulation(parse_machine(_MAST.format(place=place, tilt=tilt, sensor=sensor), "mast.urdf"), world)


def boxes() -> tuple[Obstacle, ...]:
    """Boxes of all sizes that stand on level ground, 3 to 25 m away and beside the rover's path along x."""
    random, found = np.random.default_rng(3), []
    for number in range(_BOXES):
        angle, away = random.uniform(-math.pi, math.pi), random.uniform(3.0, 25.0)
        size = random.uniform(0.2, 1.0, 3).tolist()
        side = away * math.sin(angle)
        place = (away * math.cos(angle), side + math.copysign(2.0, side), 0.5 * size[2])
        turn = quaternion_from_rpy(0.0, 0.0, random.uniform(-math.pi, math.pi))
        found.append(Obstacle(f"box_{number}", Box((size[0], size[1], size[2])), Pose(place, turn)))
    return tuple(found)


class MuJoCoRays:
    """The same beams through the same world by `mj_multiRay`; height fields of MuJoCo's end at their border.

    Args:
        mujoco: the module.
        world: the scene.
        directions: of the beams in the sensor's frame, unit vectors, (..., 3); None: those of the planar lidar.
        reach: distance up to which they are followed [m].
    """

    def __init__(self, mujoco: Any, world: World, directions: np.ndarray | None = None, reach: float = REACH):
        self._mujoco = mujoco
        self._model = self._build(world)
        self._data = mujoco.MjData(self._model)
        mujoco.mj_forward(self._model, self._data)
        if directions is None:
            angles = -math.pi + 2.0 * math.pi / BEAMS * np.arange(BEAMS)
            directions = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(BEAMS)])
        beams, self._reach = directions.reshape(-1, 3), reach
        self._directions = (beams @ matrix(quaternion_from_rpy(*TILT)).T).ravel()
        self._place = np.array(PLACE)
        self._geometry, self._distance = np.zeros(len(beams), dtype=np.int32), np.zeros(len(beams))

    def _build(self, world):
        parts = []
        for obstacle in world.obstacles:
            match obstacle.geometry:
                case Box(size):
                    kind, numbers = "box", [0.5 * length for length in size]
                case Sphere(radius):
                    kind, numbers = "sphere", [radius]
                case Cylinder(radius, length):
                    kind, numbers = "cylinder", [radius, 0.5 * length]
                case Capsule(radius, length):
                    kind, numbers = "capsule", [radius, 0.5 * length]
                case other:
                    raise TypeError(f"no such obstacle here: {other}")
            qx, qy, qz, qw = obstacle.pose.quaternion
            values: dict[str, Sequence[object]] = {
                "type": [kind],
                "size": numbers,
                "pos": obstacle.pose.position,
                "quat": [qw, qx, qy, qz],
            }
            parts.append(
                "<geom " + " ".join(f"{k}={quoteattr(' '.join(map(str, v)))}" for k, v in values.items()) + "/>"
            )
        field = world.ground.heightfield if world.ground else None
        asset, floor = "", '<geom type="plane" size="0 0 1"/>'
        if field is not None:
            half, (n_x, n_y) = 0.5 * _SIDE, field.heights.shape
            extent = f"{half} {half} {field.heights.max()} 1"
            asset = f'<asset><hfield name="rough" nrow="{n_y}" ncol="{n_x}" size="{extent}"/></asset>'
            floor = '<geom type="hfield" hfield="rough"/>'
        model = self._mujoco.MjModel.from_xml_string(
            f"<mujoco>{asset}<worldbody>{floor}{''.join(parts)}</worldbody></mujoco>"
        )
        if field is not None:
            model.hfield_data[:] = (field.heights.T / field.heights.max()).ravel()
        return model

    def sweep(self) -> np.ndarray:
        """Distances [m], infinite where there is nothing, (beams,)."""
        self._mujoco.mj_multiRay(
            *(self._model, self._data, self._place, self._directions),
            *(None, True, -1, self._geometry, self._distance, None, len(self._distance), self._reach),
        )
        # a geometry that is partly within reach is met beyond it, too
        return np.where((self._geometry < 0) | (self._distance > self._reach), np.inf, self._distance)


def _many(sweep, calls=_CALLS):
    def repeat():
        for _ in range(calls):
            sweep()

    return repeat


def _figure(name, seconds, peer="", peer_seconds=None, details=None):
    scale = 1e6 / _CALLS
    return Figure(
        name, scale * seconds, "µs", peer, None if peer_seconds is None else scale * peer_seconds, details or {}
    )


def _ruts() -> Figure:
    """A planar lidar on the rover that looks back and down at its ruts."""
    simulation = _on_ruts('<sensor name="eye" type="lidar" link="base_link" xyz="0 0 0.9" rpy="0 -0.3 0"/>')
    (taken,) = alternating_medians(_REPEATS, _many(simulation.sensors.lidar.values))
    scan = simulation.sensors.lidar["eye"]
    details = {
        "tiles": int(simulation.state.soil.tile_count[0]),
        "beams that meet something": int(np.isfinite(scan.ranges).sum()),
    }
    return _figure(f"{BEAMS} beams, rover over its ruts", taken, details=details)


def _on_ruts(sensors: str, obstacles: tuple[Obstacle, ...] = ()) -> grouser.Simulation:
    """The rover after 12 m on sand."""
    rover = grouser.load_machine(catalogue.machine_file("rover"), {"lidar": "false"})
    end = rover.urdf.rindex("</grouser>")
    machine = parse_machine(rover.urdf[:end] + sensors + rover.urdf[end:], rover.file)
    world = replace(grouser.load_world(catalogue.world_file("sand")), obstacles=obstacles)
    simulation = grouser.Simulation(machine, world)
    turning = {joint.child: joint.name for joint in machine.joints}
    for wheel in machine.wheels:
        simulation.command[turning[wheel.link]] = 0.4 / wheel.radius
    simulation.step(30_000)
    return simulation


def _shares(mujoco: Any) -> Iterator[Figure]:
    """Lidar with channels and depth camera among boxes, on level ground beside MuJoCo, and on the rover over its ruts.

    The camera looks back at the ruts.
    """
    world = World(obstacles=boxes())
    places = {"lidar_3d": 'xyz="0.38 0 1.5"', "depth_camera": 'xyz="-0.5 0 1.4" rpy="0 0.35 3.14159"'}
    sensors = "".join(f'<{kind} name="{kind}" link="base_link" {place}/>' for kind, place in places.items())
    rover = _on_ruts(sensors, world.obstacles)
    for kind, (name, directions) in _PATTERNS.items():
        reach = Lidar3d.range_max if kind == "lidar_3d" else DepthCamera.depth_max / float(directions[..., 0].min())
        mast = watching(world, f'<{kind} name="eye" link="eye_link"/>')
        ours, theirs = getattr(mast, kind).values, MuJoCoRays(mujoco, world, directions, reach)
        level, peer = alternating_medians(_REPEATS, _many(ours, 1), _many(theirs.sweep, 1))
        yield _share(f"{name}, boxes", level, f"MuJoCo {mujoco.__version__}", peer)
        (ruts,) = alternating_medians(_REPEATS, _many(getattr(rover, kind).values, 1))
        yield _share(f"{name}, boxes, ruts", ruts)


def _share(name: str, seconds: float, peer: str = "", peer_seconds: float | None = None) -> Figure:
    """Of one core at the sensor's rate."""
    share, peer_share = (None if taken is None else 100.0 * _RATE * taken for taken in (seconds, peer_seconds))
    assert share is not None
    targets = (Target(f"share of a core at {_RATE:g} Hz [%]", share, _SHARE),)
    return Figure(name, share, "% core", peer, peer_share, {"rate [Hz]": _RATE, "boxes": _BOXES}, targets)
