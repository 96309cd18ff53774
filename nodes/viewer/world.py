"""The world in the browser: ground and obstacles, drawn once."""

from collections.abc import Iterator

import numpy as np
import viser

from grouser.nodes.viewer.shapes import add_shape, wxyz
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.world import Ground, Heightfield, World
from grouser.physics.description.urdf.meshes import MeshError
from grouser.runtime.joint_frames import turn_from_z

GROUND_COLOUR = (226, 223, 214)
FIELD_COLOUR = (196, 190, 174)  # darker, so that shading shows its shape
LINE_COLOUR = (150, 144, 128)
FIELD_LINES = 100  # over a height field each way, at most
LINE_LIFT = 0.002  # [m] above the surface
OBSTACLE_COLOUR = (0.62, 0.60, 0.56, 1.0)
FIELD_POINTS = 300  # largest number of points of a height field on each side
FIELD_MARGIN = 50.0  # [m] of the ground beyond a height field that are drawn


def draw_world(scene: viser.SceneApi, world: World) -> list[str]:
    """Draws a world.

    Returns:
        Descriptions of obstacles that cannot be drawn: files without a mesh.
    """
    if world.ground is not None:
        _draw_ground(scene, world.ground)
    scene.configure_default_lights(cast_shadow=True)
    problems = []
    for obstacle in world.obstacles:
        name = f"/obstacles/{obstacle.name.replace('/', '|')}"
        try:
            add_shape(scene, name, obstacle.geometry, obstacle.pose, OBSTACLE_COLOUR)
        except MeshError as problem:
            problems.append(f"obstacle '{obstacle.name}': {problem}")
    return problems


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
