"""Rays from one point: the distances at which they meet the ground with its ruts, obstacles, links, grains and blocks.

Neighbouring rays form patches. The shapes and blocks that a patch can meet are those whose bounding spheres touch the
cone around its rays; each ray tries the shapes from the nearest on, and ends when the next one is farther than what it
has met.
"""

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grouser.physics.base.kept import KeptWith
from grouser.physics.base.kernel import kernel
from grouser.physics.base.packed import Packed
from grouser.physics.base.spatial import rotated_back
from grouser.physics.blocks.rays import Outlines, make_outlines, place_outlines, ray_to_block
from grouser.physics.contact.pairs import place_shapes
from grouser.physics.contact.rays import ray_to_shape
from grouser.physics.contact.shapes import Shapes
from grouser.physics.granular.rays import GrainGrid, make_grain_grid, ray_to_grains, sort_into_cells
from grouser.physics.multibody.kinematics import Kinematics
from grouser.physics.sensors.mounting import Mounting
from grouser.physics.soil.rays import TileGrids, make_tile_grids, ray_to_ground, survey

if TYPE_CHECKING:
    from grouser.physics.integrators.context import StepContext

# Rays along the sides of a patch: of a grid with several rows, and of a single row.
_PATCH, _PATCH_OF_ROW = (8, 8), (1, 16)
# A patch of rays farther than this from its axis [rad] is divided into single rays.
_WIDEST = 0.25
# The cone of a patch is widened by this angle [rad], and the square of a bounding radius by this share, for rounding.
_ROUNDING = 1e-9
# Tiles are copied before the rays are followed only if there are so many rays for each, which then cost less.
_RAYS_PER_TILE = 32
_LOOSE = 1.0 + 1e-9


class _Rays(NamedTuple):
    """Constants and buffers of a bundle of rays, patch by patch.

    Attributes:
        direction: unit vectors in the sensor's frame, (rays, 3).
        reach: distance up to which each ray is followed [m], (rays,).
        place: index of each ray's result, (rays,).
        first: rays of patch p are first[p] to first[p + 1].
        axis, cosine, sine: axis of the cone around each patch in the sensor's frame, (patches, 3), and of its half
            angle, (patches,).
        farthest: greatest reach [m].
        link: link whose shapes the rays ignore.
        on_ground: whether there is ground.
        turn: rotation of each shape in the world, (shapes, 3, 3).
        axes: axes of each shape in the sensor's frame, as rows, (shapes, 3, 3).
        centre: of each shape in the sensor's frame [m], (shapes, 3).
        eye: origin of the sensor's frame in the frame of each shape [m], (shapes, 3).
        speed: of each shape, unused, see `place_shapes`.
        near: distance of each bounding sphere [m]; infinite for shapes that no ray meets, (shapes,).
        candidate: shapes that a patch can meet, (shapes,).
    """

    direction: np.ndarray
    reach: np.ndarray
    place: np.ndarray
    first: np.ndarray
    axis: np.ndarray
    cosine: np.ndarray
    sine: np.ndarray
    farthest: float
    link: int
    on_ground: bool
    turn: np.ndarray
    axes: np.ndarray
    centre: np.ndarray
    eye: np.ndarray
    speed: np.ndarray
    near: np.ndarray
    candidate: np.ndarray


class _Patches(NamedTuple):
    """What does not change in `_Rays` with the scene: rays and the cones around them, patch by patch."""

    direction: np.ndarray
    place: np.ndarray
    first: np.ndarray
    axis: np.ndarray
    cosine: np.ndarray
    sine: np.ndarray


# By the array of directions: a sensor keeps its own when machines come and go.
_PATCHES: KeptWith[_Patches] = KeptWith()


class RayCaster:
    """Measures the distances along the rays of a sensor. They do not meet the shapes of the link that carries it.

    Args:
        directions: unit vectors in the sensor's frame, in a grid of neighbours, (rows, columns, 3); not to be changed.
        reach: distance up to which the rays are followed [m], one for all or (rows, columns).
        mounting: of the sensor.
        shapes: number of collision shapes.
        on_ground: whether the world has ground.
    """

    def __init__(
        self, directions: np.ndarray, reach: float | np.ndarray, mounting: Mounting, shapes: int, on_ground: bool
    ):
        self._shape = directions.shape[:2]
        self._mounting = mounting
        self._rays = Packed(_make_rays(directions, np.broadcast_to(reach, self._shape), mounting, shapes, on_ground))
        self._make_grids(0)
        self._make_grain_grid(0)
        self._outlines: Packed | None = None

    def cast(self, context: Packed, kinematics: Packed) -> np.ndarray:
        """Distances [m], (rows, columns): infinite where nothing is within reach, zero inside a shape or underground.

        Args:
            context: of the simulation.
            kinematics: of the machine.
        """
        rotation, position = self._mounting.pose(kinematics)
        tiles = int(context.state.soil.tile_count[0])
        if tiles > self._tiles:
            self._make_grids(2 * tiles)
        grains = len(context.state.granular.grains.position)
        if grains > self._grains:
            self._make_grain_grid(grains)
        if self._outlines is None:
            self._outlines = _outlines_of(context)
        distance = np.empty(self._shape)
        cast_rays(
            *(context, kinematics, self._rays, self._grids, self._grain_grid, self._outlines),
            *(rotation, position, distance.reshape(-1)),
        )
        return distance

    def _make_grids(self, tiles: int) -> None:
        self._tiles, self._grids = tiles, Packed(make_tile_grids(tiles))

    def _make_grain_grid(self, grains: int) -> None:
        self._grains, self._grain_grid = grains, Packed(make_grain_grid(grains))


def _make_rays(directions: np.ndarray, reach: np.ndarray, mounting: Mounting, shapes: int, on_ground: bool) -> _Rays:
    patches = _PATCHES.get(directions, None, partial(_make_patches, directions))
    return _Rays(
        **patches._asdict(),
        reach=np.ascontiguousarray(reach.reshape(-1)[patches.place], dtype=float),
        farthest=float(reach.max()),
        link=mounting.link,
        on_ground=on_ground,
        turn=np.zeros((shapes, 3, 3)),
        axes=np.zeros((shapes, 3, 3)),
        centre=np.zeros((shapes, 3)),
        eye=np.zeros((shapes, 3)),
        speed=np.zeros(shapes),
        near=np.zeros(shapes),
        candidate=np.zeros(shapes, dtype=np.int64),
    )


def _make_patches(directions: np.ndarray) -> _Patches:
    ways, rows = directions.reshape(-1, 3), directions.shape[0]
    patches = [
        patch
        for block in _blocks(directions.shape[:2], _PATCH if rows > 1 else _PATCH_OF_ROW)
        for patch in _divided(ways, block)
    ]
    place = np.concatenate(patches)
    axes, angles = zip(*(_cone(ways[patch]) for patch in patches), strict=True)
    return _Patches(
        direction=np.ascontiguousarray(ways[place]),
        place=place,
        first=np.cumsum([0, *map(len, patches)]),
        axis=np.array(axes),
        cosine=np.cos(angles),
        sine=np.sin(angles),
    )


def _blocks(shape: tuple[int, int], size: tuple[int, int]) -> list[np.ndarray]:
    """Indices of the rays in each block of a grid."""
    index = np.arange(shape[0] * shape[1]).reshape(shape)
    return [
        index[i : i + size[0], j : j + size[1]].ravel()
        for i in range(0, shape[0], size[0])
        for j in range(0, shape[1], size[1])
    ]


def _divided(ways: np.ndarray, block: np.ndarray) -> list[np.ndarray]:
    """A block as a patch, or as many patches as it has rays if these are far apart."""
    return [block] if _cone(ways[block])[1] <= _WIDEST else list(block[:, np.newaxis])


def _cone(ways: np.ndarray) -> tuple[np.ndarray, float]:
    """Axis of a cone around unit vectors, and its half angle [rad]; any axis and pi if they cancel."""
    total = ways.sum(axis=0)
    length = float(np.linalg.norm(total))
    if length < 0.1 * len(ways):
        return ways[0], math.pi
    axis = total / length
    across = np.linalg.norm(np.cross(axis, ways), axis=1)
    return axis, float(np.arctan2(across, ways @ axis).max()) + _ROUNDING


def _outlines_of(context: Packed) -> Packed:
    """Room for the blocks of a simulation."""
    own = context.system.blocks
    return Packed(make_outlines(own.blocks, own.free))


def arguments_of_a_cast(context: Packed, kinematics: Packed) -> tuple[Any, ...]:
    """Arguments of `cast_rays` that have the right types, for compiling it ahead."""
    mounting = Mounting(0, -1, np.eye(3), np.zeros(3))
    rays = _make_rays(np.array([[[1.0, 0.0, 0.0]]]), np.ones((1, 1)), mounting, 1, True)
    grids = Packed(make_tile_grids(1)), Packed(make_grain_grid(1)), _outlines_of(context)
    return context, kinematics, Packed(rays), *grids, np.eye(3), np.zeros(3), np.zeros(1)


@kernel
def cast_rays(
    context: "StepContext",
    kinematics: Kinematics,
    rays: _Rays,
    grids: TileGrids,
    grain_grid: GrainGrid,
    outlines: Outlines,
    rotation,
    position,
    distance,
):  # fmt: skip
    """Fills `distance` with the distance at which each ray meets something, infinite where nothing is in its way [m].

    Args:
        context: of the simulation.
        kinematics: of the machine.
        rays: see `_Rays`.
        grids: for the opened tiles of soft ground, or more.
        grain_grid: for the grains, or more.
        outlines: for the blocks.
        rotation, position: of the sensor's frame in the world, from the kinematics' origin [m].
        distance: result, (rays,).
    """
    if not math.isfinite(position.sum() + rotation.sum()):
        distance[:] = math.nan
        return
    system, state = context.system, context.state
    shapes, origin = system.contact.shapes, kinematics.origin
    place_shapes(
        *(shapes.body, shapes.rotation, shapes.position, shapes.bound),
        *(origin, kinematics.rotation, kinematics.position, kinematics.twist),
        *(rays.turn, rays.centre, rays.speed),
    )
    _to_sensor_frame(shapes, rays, rotation, position)
    terrain, cell = system.contact.terrain, system.soil.cell[0]
    x, y, z = position[0] + origin[0], position[1] + origin[1], position[2] + origin[2]
    survey(terrain, cell, state.soil, grids, x, y, rays.farthest, distance.shape[0] // _RAYS_PER_TILE)
    sort_into_cells(state.granular.grains, grain_grid)
    masonry = system.blocks.blocks
    place_outlines(masonry, state.blocks.blocks, outlines)
    for p in range(rays.axis.shape[0]):
        count = _gather(shapes, rays, p)
        blocks = _gather_blocks(outlines, rays, p, rotation, x, y, z)
        for k in range(rays.first[p], rays.first[p + 1]):
            dx, dy, dz = rays.direction[k, 0], rays.direction[k, 1], rays.direction[k, 2]
            nearest = _nearest_shape(shapes, rays, count, dx, dy, dz)
            r = rotation
            way = (
                r[0, 0] * dx + r[0, 1] * dy + r[0, 2] * dz,
                r[1, 0] * dx + r[1, 1] * dy + r[1, 2] * dz,
                r[2, 0] * dx + r[2, 1] * dy + r[2, 2] * dz,
            )
            if rays.on_ground:
                end = min(nearest, rays.reach[k])
                ground = ray_to_ground(terrain, cell, state.soil, grids, x, y, z, way[0], way[1], way[2], end)
                nearest = min(nearest, ground)
            if grain_grid.size[0] > 0:
                end = min(nearest, rays.reach[k])
                grain = ray_to_grains(state.granular.grains, grain_grid, x, y, z, way[0], way[1], way[2], end)
                nearest = min(nearest, grain)
            for c in range(blocks):
                block = ray_to_block(masonry, outlines, outlines.candidate[c], x, y, z, way[0], way[1], way[2])
                nearest = min(nearest, block)
            distance[rays.place[k]] = nearest


@kernel
def _to_sensor_frame(shapes: Shapes, rays: _Rays, rotation, position):
    """Expresses the placed shapes in the sensor's frame, and finds which of them are within reach."""
    r = rotation
    for s in range(shapes.body.shape[0]):
        turn, centre, eye = rays.turn[s], rays.centre[s], rays.eye[s]
        wx, wy, wz = centre[0] - position[0], centre[1] - position[1], centre[2] - position[2]
        for k in range(3):
            eye[k] = -(turn[0, k] * wx + turn[1, k] * wy + turn[2, k] * wz)
            centre[k] = r[0, k] * wx + r[1, k] * wy + r[2, k] * wz
        for m in range(3):
            # column m of the rotation of the shape becomes a row of its transpose, in the sensor's axes
            tx, ty, tz = turn[0, m], turn[1, m], turn[2, m]
            rays.axes[s, m, 0] = r[0, 0] * tx + r[1, 0] * ty + r[2, 0] * tz
            rays.axes[s, m, 1] = r[0, 1] * tx + r[1, 1] * ty + r[2, 1] * tz
            rays.axes[s, m, 2] = r[0, 2] * tx + r[1, 2] * ty + r[2, 2] * tz
        near = math.sqrt(wx * wx + wy * wy + wz * wz) - shapes.bound[s]
        # false where anything is NaN
        seen = near <= rays.farthest and shapes.link[s] != rays.link
        rays.near[s] = max(near, 0.0) if seen else math.inf


@kernel
def _gather(shapes: Shapes, rays: _Rays, p):
    """Fills `rays.candidate` with the shapes that the rays of patch p can meet, from the nearest on; their number."""
    count = 0
    for s in range(shapes.body.shape[0]):
        near = rays.near[s]
        if near == math.inf:
            continue
        if near > 0.0 and _beside_cone(
            rays, p, rays.centre[s, 0], rays.centre[s, 1], rays.centre[s, 2], shapes.bound[s]
        ):
            continue
        slot = count
        while slot > 0 and rays.near[rays.candidate[slot - 1]] > near:
            rays.candidate[slot] = rays.candidate[slot - 1]
            slot -= 1
        rays.candidate[slot] = s
        count += 1
    return count


@kernel
def _gather_blocks(outlines: Outlines, rays: _Rays, p, rotation, x, y, z):
    """Fills `outlines.candidate` with the blocks that the rays of patch p can meet; their number.

    Args:
        outlines: placed.
        rays: see `_Rays`.
        p: patch.
        rotation, x, y, z: of the sensor's frame in the world [m].
    """
    count = 0
    for block in range(outlines.radius.shape[0]):
        place, radius = outlines.position[block], outlines.radius[block]
        cx, cy, cz = rotated_back(rotation, place[0] - x, place[1] - y, place[2] - z)
        near = math.sqrt(cx * cx + cy * cy + cz * cz) - radius
        if near > rays.farthest or (near > 0.0 and _beside_cone(rays, p, cx, cy, cz, radius)):
            continue
        outlines.candidate[count] = block
        count += 1
    return count


@kernel
def _beside_cone(rays: _Rays, p, x, y, z, radius):
    """Whether a sphere about a point in the sensor's frame, not around its origin, is beside the cone of patch p."""
    cosine, sine = rays.cosine[p], rays.sine[p]
    along = rays.axis[p, 0] * x + rays.axis[p, 1] * y + rays.axis[p, 2] * z
    across = math.sqrt(max(x * x + y * y + z * z - along * along, 0.0))
    # the distance from the centre to the cone, and whether the cone's nearest point is ahead of its tip
    return across * cosine - along * sine > radius * _LOOSE or across * sine + along * cosine < 0.0


@kernel
def _nearest_shape(shapes: Shapes, rays: _Rays, count, dx, dy, dz):
    """Distance to the nearest of the patch's candidates along a direction in the sensor's frame [m]."""
    nearest = math.inf
    for c in range(count):
        s = rays.candidate[c]
        if rays.near[s] >= nearest:
            break
        x, y, z, radius = rays.centre[s, 0], rays.centre[s, 1], rays.centre[s, 2], shapes.bound[s]
        along = dx * x + dy * y + dz * z
        # beside the bounding sphere, or beyond the nearest point so far
        wx, wy, wz = x - along * dx, y - along * dy, z - along * dz
        if wx * wx + wy * wy + wz * wz > _LOOSE * radius * radius:
            continue
        axes = rays.axes[s]
        hit = ray_to_shape(
            *(shapes.kind[s], shapes.size[s]),
            *(shapes.vertex, shapes.part[s, 0], shapes.part[s, 1]),
            *(shapes.face, shapes.part[s, 2], shapes.part[s, 3]),
            *(rays.eye[s, 0], rays.eye[s, 1], rays.eye[s, 2]),
            axes[0, 0] * dx + axes[0, 1] * dy + axes[0, 2] * dz,
            axes[1, 0] * dx + axes[1, 1] * dy + axes[1, 2] * dz,
            axes[2, 0] * dx + axes[2, 1] * dy + axes[2, 2] * dz,
        )
        nearest = min(nearest, hit)
    return nearest
