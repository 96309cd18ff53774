"""Arrays of boundaries."""

import math
from collections.abc import Sequence

import numpy as np

from grouser.physics.base.checks import SIZE_MAX, VALUE_MAX, require_range, require_size, require_vector
from grouser.physics.base.errors import ParameterError
from grouser.physics.granular.arrays import Boundaries
from grouser.physics.granular.bodies import Boundary, Cylinder, Mesh, Plane, Plate, SoilSurface, Solids, Vibration
from grouser.physics.granular.mesh_grid import MeshGrids
from grouser.physics.granular.shapes import CYLINDER, MESH, PLANE, PLATE, SOIL, SOLIDS
from grouser.physics.granular.solid_rows import SolidRows
from grouser.physics.granular.solids import WIDTH

# Contacts that a grain may have with one mesh, or the solids of one shape.
_MANIFOLD_SLOTS = 4


def make_boundaries(bodies: Sequence[Boundary], materials: Sequence[str], widest: float) -> Boundaries:
    """Returns the arrays of boundaries.

    Args:
        bodies: in the order of their numbers.
        materials: names, in the order of their numbers.
        widest: largest radius of a grain [m].

    Raises:
        ParameterError: a shape that is none, an unknown material, a mesh with a degenerate triangle.
    """
    kind, body, material, slots, value, mesh = [], [], [], [], [], []
    extents, meshes, solids = [], MeshGrids(widest), SolidRows()
    for b, boundary in enumerate(bodies):
        extent = 0.0
        for number, shape in enumerate(boundary.shapes):
            name = f"{boundary.name}.shapes[{number}]"
            if shape.material not in materials:
                raise ParameterError(f"material of {name}", shape.material, "one of " + ", ".join(materials))
            numbers, reach = _shape(name, shape, meshes, solids)
            kind.append(_KINDS[type(shape)])
            body.append(b)
            material.append(materials.index(shape.material))
            solids.close()
            slots.append(_MANIFOLD_SLOTS if isinstance(shape, Mesh | Solids) else 1)
            mesh.append(len(meshes.grid) - 1 if isinstance(shape, Mesh) else -1)
            value.append(np.resize(numbers, 12))
            extent = max(extent, reach)
        extents.append(extent)
    whole, count = np.int64, len(bodies)
    motions = [boundary.vibration or Vibration((0.0, 0.0, 0.0), 0.0) for boundary in bodies]
    return Boundaries(
        kind=np.array(kind, whole), body=np.array(body, whole), material=np.array(material, whole),
        slots=np.array(slots, whole), value=np.reshape(np.array(value, float), (-1, 12)), mesh=np.array(mesh, whole),
        triangle=np.concatenate(meshes.triangle or [np.zeros((0, 9))]),
        grid=np.reshape(np.array(meshes.grid, float), (-1, 4)),
        grid_size=np.reshape(np.array(meshes.grid_size, whole), (-1, 4)),
        cell_start=np.cumsum(np.concatenate([[0], *meshes.cell_count]), dtype=whole),
        cell_triangle=np.concatenate(meshes.cell_triangle or [np.zeros(0, whole)]).astype(whole),
        solid_start=np.array(solids.start, whole), solid_kind=np.array(solids.kind, whole),
        solid=np.reshape(np.array(solids.solid, float), (-1, WIDTH)),
        hull_triangle=np.concatenate(solids.triangle or [np.zeros((0, 9))]),
        hull_plane=np.concatenate(solids.plane or [np.zeros((0, 4))]),
        extent=np.array(extents, float),
        start=np.reshape([require_vector("position", one.position, 3, "m") for one in bodies], (count, 3)),
        amplitude=np.reshape([require_vector("amplitude", one.amplitude, 3, "m") for one in motions], (count, 3)),
        angular_frequency=np.array(
            [require_range("angular_frequency", one.angular_frequency, 0.0, VALUE_MAX, "rad/s") for one in motions]
        ),
        phase=np.array([float(one.phase) for one in motions]),
    )  # fmt: skip


_KINDS = {Plane: PLANE, Plate: PLATE, Cylinder: CYLINDER, Mesh: MESH, Solids: SOLIDS, SoilSurface: SOIL}


def _shape(name: str, shape, meshes: MeshGrids, solids: SolidRows) -> tuple[np.ndarray, float]:
    """Numbers of a shape (`shapes`), and the distance of its farthest point from the body's origin [m]."""
    if isinstance(shape, Plane):
        return np.array(
            [*require_vector(f"point of {name}", shape.point, 3, "m"), *_unit(name, shape.normal)]
        ), math.inf
    if isinstance(shape, SoilSurface):
        return np.zeros(1), math.inf
    if isinstance(shape, Plate):
        centre = require_vector(f"centre of {name}", shape.centre, 3, "m")
        require_range(f"inner_radius of {name}", shape.inner_radius, 0.0, SIZE_MAX, "m")
        if not shape.outer_radius > shape.inner_radius:
            raise ParameterError(f"outer_radius of {name}", shape.outer_radius, "above inner_radius")
        radii = shape.inner_radius, shape.outer_radius
        return np.array([*centre, *_unit(name, shape.normal), *radii]), math.dist(
            centre, (0, 0, 0)
        ) + shape.outer_radius
    if isinstance(shape, Cylinder):
        centre, radius = require_vector(f"centre of {name}", shape.centre, 3, "m"), require_size(name, shape.radius)
        reach = math.dist(centre, (0, 0, 0)) + math.hypot(radius, 0.5 * shape.length)
        return np.array([*centre, *_unit(name, shape.axis), radius, 0.5 * shape.length]), reach
    if isinstance(shape, Mesh | Solids):
        low, high = meshes.add(name, shape.triangles) if isinstance(shape, Mesh) else solids.add(name, shape.solids)
        return np.array([*low, *high]), float(np.linalg.norm(np.maximum(-low, high)))
    raise ParameterError(name, shape, "a Plane, Plate, Cylinder, Mesh or Solids")


def _unit(name: str, vector: Sequence[float] | np.ndarray) -> np.ndarray:
    numbers = np.array(require_vector(f"direction of {name}", vector, 3))
    length = float(np.linalg.norm(numbers))
    if length == 0.0:
        raise ParameterError(f"direction of {name}", vector, "a vector that is not zero")
    return numbers / length
