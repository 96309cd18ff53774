"""The world in the browser: ground and obstacles, drawn once."""

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import viser

from grouser.nodes.viewer.shapes import add_shape, textured_mesh, wxyz
from grouser.nodes.viewer.soils import Grain
from grouser.nodes.viewer.terrain import TILE, TerrainView, TileIndex
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import Ground, Heightfield, World
from grouser.physics.description.urdf.meshes import MeshError
from grouser.runtime.joint_frames import turn_from_z

GROUND_COLOUR = (226, 223, 214)
FIELD_COLOUR = (196, 190, 174)  # darker, so that shading shows its shape
LINE_COLOUR = (150, 144, 128)
FIELD_LINES = 100  # over a height field each way, at most
LINE_LIFT = 0.002  # [m] above the surface
ZENITH_COLOUR = (150, 190, 228)
HORIZON_COLOUR = (238, 243, 246)
SKY_ROWS = 128
_SAME = 1e-9  # [m] between marks that are one
MARGIN = 200.0  # to which soft ground is drawn along x and y [m]
OBSTACLE_COLOUR = (0.62, 0.60, 0.56, 1.0)
FIELD_POINTS = 300  # largest number of points of a height field on each side
FIELD_MARGIN = 50.0  # [m] of the ground beyond a height field that are drawn


def draw_world(scene: viser.SceneApi, world: World) -> list[str]:
    """Draws a world.

    Returns:
        Descriptions of obstacles that cannot be drawn: files without a mesh.
    """
    if world.ground is not None and not has_ruts(world.ground):
        _draw_ground(scene, world.ground)
    draw_sky(scene)
    problems = []
    for obstacle in world.obstacles:
        name = f"/obstacles/{obstacle.name.replace('/', '|')}"
        try:
            add_shape(scene, name, obstacle.geometry, obstacle.pose, OBSTACLE_COLOUR)
        except MeshError as problem:
            problems.append(f"obstacle '{obstacle.name}': {problem}")
    return problems


def has_ruts(ground: Ground | None) -> bool:
    """Whether the ground is drawn with its ruts: if it is soft and a plane."""
    return ground is not None and ground.soil is not None and ground.heightfield is None


def terrain_view(scene: viser.SceneApi, ground: Ground, soil: SoilGround) -> TerrainView:
    """Draws a plane of soft ground, and the ruts that it gets."""
    grain = Grain(soil)

    def height(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        (x_0, y_0, z_0), (n_x, n_y, n_z) = ground.point, ground.normal
        return z_0 - (n_x * (x - x_0) + n_y * (y - y_0)) / n_z

    def draw_natural(left_out: set[TileIndex]) -> None:
        for kind in range(-1, len(soil.soils)):
            corners = natural_cells(soil, grain, kind, left_out)
            name = f"/ground/{'hard' if kind < 0 else soil.soils[kind].name}"
            if not len(corners):
                scene.remove_by_name(name)
            else:
                x, y = corners.reshape(-1, 2).T
                vertices = np.stack([x, y, height(x, y)], axis=1)
                faces = 4 * np.arange(len(corners))[:, np.newaxis, np.newaxis] + np.array([[0, 1, 2], [0, 2, 3]])
                places = np.stack([x, y], axis=1) / grain.pattern_size
                mesh = textured_mesh(vertices, faces.reshape(-1, 3), places, grain.texture(kind))
                scene.add_mesh_trimesh(name, mesh, cast_shadow=False)

    return TerrainView(scene, soil.cell, height, grain, draw_natural)


def natural_cells(soil: SoilGround, grain: Grain, kind: int, left_out: set[TileIndex]) -> np.ndarray:
    """Corners x and y [m] of rectangles that cover the ground of one soil but for some tiles, shape (n, 4, 2).

    Args:
        soil: the ground.
        grain: that knows its map.
        kind: number of the soil; -1: hard ground.
        left_out: tiles.
    """
    side = TILE * soil.cell
    columns: dict[int, set[int]] = {}
    for i, j in left_out:
        columns.setdefault(i, set()).add(j)
    rectangles = []
    for near, far in pairwise(_marks(soil, 0, columns, side)):
        # Only where tiles are left out the ground is cut along y, too.
        tiles = columns.get(math.floor(0.5 * (near + far) / side), set())
        for right, left in pairwise(_marks(soil, 1, tiles, side)):
            if math.floor(0.5 * (right + left) / side) not in tiles:
                rectangles.append(((near, right), (far, right), (far, left), (near, left)))
    corners = np.array(rectangles).reshape(-1, 4, 2)
    return corners[grain.kinds(*corners.mean(axis=1).T) == kind]


def _marks(soil: SoilGround, axis: int, tiles: Iterable[int], side: float) -> list[float]:
    """Where the ground is cut along an axis [m]: at its ends, at borders of soils and of tiles."""
    marks = {-MARGIN, MARGIN, *(side * (tile + end) for tile in tiles for end in (0, 1))}
    if soil.types is not None:
        borders = np.arange(1, soil.types.shape[axis]) - 0.5
        marks |= set((soil.types_origin[axis] + soil.types_cell * borders).tolist())
    # A tile may end just where a soil does.
    ordered = sorted(marks)
    return [mark for before, mark in zip([-math.inf, *ordered], ordered, strict=False) if mark - before > _SAME]


def draw_sky(scene: viser.SceneApi) -> None:
    """Draws a sky, and a sun that casts shadows."""
    share = np.linspace(0.0, 1.0, SKY_ROWS)[:, np.newaxis, np.newaxis]
    sky = (1.0 - share) * np.array(ZENITH_COLOUR) + share * np.array(HORIZON_COLOUR)
    scene.set_background_image(np.rint(np.repeat(sky, 2, axis=1)).astype(np.uint8), format="png")
    scene.configure_default_lights(cast_shadow=True)


def _draw_ground(scene: viser.SceneApi, ground: Ground) -> None:
    if ground.heightfield is not None:
        vertices, faces = field_surface(ground.heightfield)
        scene.add_mesh_simple("/ground", vertices, faces, color=FIELD_COLOUR, flat_shading=True, side="double")
        scene.add_line_segments("/ground/lines", _field_lines(vertices), LINE_COLOUR, position=(0.0, 0.0, LINE_LIFT))
        return
    scene.add_grid(
        "/ground",
        infinite_grid=True,
        cell_size=0.5,
        cell_color=(205, 202, 194),
        section_size=5.0,
        section_color=(165, 162, 154),
        fade_distance=40.0,
        plane_color=GROUND_COLOUR,
        plane_opacity=1.0,
        shadow_opacity=0.35,
        position=ground.point,
        wxyz=wxyz(Pose(quaternion=turn_from_z(ground.normal))),
    )


def field_surface(field: Heightfield) -> tuple[np.ndarray, np.ndarray]:
    """A height field as a mesh: vertices in the world [m], shape (n, 3), and triangles, shape (m, 3).

    The cells are split into triangles like those of the physics. A large field is thinned out, except for its border.
    Around it the ground continues at the border's height.
    """
    heights = field.heights
    rows, columns = (_thinned(count) for count in heights.shape)
    x, y = (
        np.pad(start + field.cell * taken, 1, "linear_ramp", end_values=(start - FIELD_MARGIN, end + FIELD_MARGIN))
        for start, end, taken in _sides(field, rows, columns)
    )
    z = np.pad(heights[np.ix_(rows, columns)], 1, "edge")
    vertices = np.stack([*np.meshgrid(x, y, indexing="ij"), z], axis=-1).reshape(-1, 3)
    corner = (np.arange(len(x) - 1)[:, np.newaxis] * len(y) + np.arange(len(y) - 1)).ravel()
    ahead, opposite, aside = corner + len(y), corner + len(y) + 1, corner + 1
    return vertices, np.concatenate([np.stack([corner, ahead, opposite], 1), np.stack([corner, opposite, aside], 1)])


def _field_lines(vertices: np.ndarray) -> np.ndarray:
    """Lines along x and along y over the vertices of a field's surface [m], shape (n, 2, 3)."""
    columns = int(np.count_nonzero(vertices[:, 0] == vertices[0, 0]))
    grid = vertices.reshape(-1, columns, 3)
    lines = []
    for turned in (grid, grid.transpose(1, 0, 2)):
        chosen = turned[:, :: -(-turned.shape[1] // FIELD_LINES)]
        lines.append(np.stack([chosen[:-1], chosen[1:]], axis=2).reshape(-1, 2, 3))
    return np.concatenate(lines)


def _sides(field: Heightfield, *taken: np.ndarray) -> Iterator[tuple[float, float, np.ndarray]]:
    for start, indices in zip(field.origin, taken, strict=True):
        yield start, start + field.cell * float(indices[-1]), indices


def _thinned(count: int) -> np.ndarray:
    """Indices of at most FIELD_POINTS of `count` points, evenly spaced, with the first and the last."""
    return np.unique(np.linspace(0, count - 1, min(count, FIELD_POINTS)).round().astype(np.int64))
