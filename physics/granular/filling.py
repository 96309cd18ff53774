"""Starts of beds: grains on a lattice that is not quite regular, in volumes, and boxes around them."""

import math
from collections.abc import Callable

import numpy as np

from grouser.physics.base.checks import require_count, require_range, require_size
from grouser.physics.base.errors import ParameterError
from grouser.physics.base.spatial import matrix
from grouser.physics.description.data.closed_mesh import ClosedMesh
from grouser.physics.description.data.granular import GrainFill
from grouser.physics.description.data.shapes import Box, Cylinder
from grouser.physics.granular.bodies import Plane
from grouser.physics.granular.mesh_volume import measure_depths

# Heights at x and y [m].
Level = Callable[[np.ndarray, np.ndarray], np.ndarray]
_MOST = 10_000_000
# Pitch of the lattice in a volume by the diameter of the largest grain, and displacement along each axis [-].
_PITCH, _SHIFT = 1.1, 0.04
# Share of the pitch by which rounding may make a volume too narrow [-].
_ROUNDING = 1e-9


def lattice(
    count: int, length: float, width: float, radius: float, spacing: float = 1.1, jitter: float = 0.04, seed: int = 1
) -> np.ndarray:
    """Positions of grains in layers above a floor at z = 0, between x = 0 and length, y = 0 and width.

    Args:
        count: number of grains.
        length, width: of the floor [m].
        radius: of the largest grain [m].
        spacing: of the lattice, by the diameter [-].
        jitter: largest displacement along each axis, by the diameter, at most half of what the spacing leaves [-].
        seed: of the displacements.

    Returns:
        Centres [m], (count, 3), layer by layer from the floor upwards.

    Raises:
        ParameterError: a floor narrower than a grain, or grains that would touch.
    """
    require_count("count", count, 1, _MOST)
    diameter = 2.0 * require_size("radius", radius)
    require_range("spacing", spacing, 1.0, 100.0)
    if not 0.0 <= jitter <= 0.5 * (spacing - 1.0):
        raise ParameterError("jitter", jitter, f"from 0 to {0.5 * (spacing - 1.0):g}, half of what the spacing leaves")
    across = [math.floor(side / (spacing * diameter)) for side in (length, width)]
    if min(across) < 1:
        raise ParameterError("length, width", (length, width), f"at least {spacing * diameter:g} m, the spacing")
    layer = across[0] * across[1]
    place = np.arange(count)
    index = np.stack([place % layer % across[0], place % layer // across[0], place // layer], axis=1)
    pitch = np.array([length / across[0], width / across[1], spacing * diameter])
    shift = np.random.default_rng(seed).uniform(-1.0, 1.0, (count, 3)) * jitter * diameter
    return (index + 0.5) * pitch + shift


def open_box(length: float, width: float, material: str) -> list[Plane]:
    """A floor at z = 0 and four walls, between x = 0 and length, y = 0 and width [m]."""
    return [
        Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), material),
        *walls(length, width, material),
    ]


def walls(length: float, width: float, material: str) -> list[Plane]:
    """Four upright walls, between x = 0 and length, y = 0 and width [m]."""
    return [
        Plane((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), material),
        Plane((length, 0.0, 0.0), (-1.0, 0.0, 0.0), material),
        Plane((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), material),
        Plane((0.0, width, 0.0), (0.0, -1.0, 0.0), material),
    ]


def fill_volume(
    fill: GrainFill, density: float, level: Level | None = None, reach: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Grains of a volume, from its lowest layer upwards.

    Args:
        fill: the volume and its grains.
        density: of their material [kg/m3].
        level: heights at x and y in the world that grains are above [m].
        reach: of the grains from their centres, by the radius [-]; of spheres 1.

    Returns:
        Centres in the world [m], (grains, 3), and radii [m], (grains,).

    Raises:
        ParameterError: more grains, or more mass, than the volume has room for on a lattice.
    """
    random, turn, middle = np.random.default_rng(fill.seed), matrix(fill.pose.quaternion), np.array(fill.pose.position)
    places = _places(fill, reach)
    if level is not None:
        x, y, z = (places @ turn.T + middle).T
        places = places[z >= level(x, y) + _PITCH * reach * fill.radius[1]]
    radius = random.uniform(*fill.radius, len(places))
    name, room = f"fill '{fill.name}'", f"room for {len(places)} grains of up to {fill.radius[1]:g} m"
    if not len(places):
        raise ParameterError(f"radius of {name}", fill.radius, "grains of which its volume has room for one, in m")
    count = len(places) if fill.count is None else fill.count
    if fill.mass is not None:
        mass = np.cumsum(density * 4.0 / 3.0 * math.pi * radius**3)
        if mass[-1] < fill.mass:
            raise ParameterError(f"mass of {name}", fill.mass, f"at most {mass[-1]:.4g} kg: its volume has {room}")
        # the number of grains whose mass is nearest
        count = int(np.abs(mass - fill.mass).argmin()) + 1
    if not 0 < count <= len(places):
        raise ParameterError(f"count of {name}", count, f"at least 1, at most {len(places)}: its volume has {room}")
    shift = random.uniform(-1.0, 1.0, (count, 3)) * _SHIFT * 2.0 * fill.radius[1]
    inside = places[:count] + shift
    return inside @ turn.T + middle, radius[:count]


def _places(fill: GrainFill, reach: float) -> np.ndarray:
    """Places of the largest grains on a lattice in a volume, in its axes, (places, 3)."""
    shape, pitch, middle = fill.geometry, _PITCH * 2.0 * reach * fill.radius[1], np.zeros(3)
    if isinstance(shape, Box):
        sides = np.array(shape.size)
    elif isinstance(shape, ClosedMesh):
        low, high = shape.vertices.min(axis=0), shape.vertices.max(axis=0)
        sides, middle = high - low, 0.5 * (low + high)
    elif isinstance(shape, Cylinder):
        sides = np.array([2.0 * shape.radius, 2.0 * shape.radius, shape.length])
    else:
        sides = np.full(3, 2.0 * shape.radius)
    if np.prod(sides / pitch) > _MOST:
        valid = f"shorter, or with larger grains: a lattice has at most {_MOST} places"
        raise ParameterError(f"longest side of fill '{fill.name}' [m]", float(sides.max()), valid)
    places = middle + _places_in_box(sides, pitch)
    if isinstance(shape, Box):
        return places
    if isinstance(shape, ClosedMesh):
        depth = np.zeros(len(places))
        measure_depths(shape.triangles, places, depth)
        return places[depth >= 0.5 * pitch * (1.0 - _ROUNDING)]
    across = places[:, :2] if isinstance(shape, Cylinder) else places
    return places[np.linalg.norm(across, axis=1) <= shape.radius - 0.5 * pitch]


def _places_in_box(sides: np.ndarray, pitch: float) -> np.ndarray:
    """Places on a lattice in a box about the origin."""
    number = np.floor(sides / pitch + _ROUNDING).astype(int)
    axes = [(np.arange(n) - 0.5 * (n - 1)) * pitch for n in number]
    # the lowest layer lies on the floor of the volume
    axes[2] -= 0.5 * (sides[2] - number[2] * pitch)
    z, y, x = np.meshgrid(axes[2], axes[1], axes[0], indexing="ij")
    return np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
