"""Solid boundaries of grains: distances, and no seams where solids meet."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull, cKDTree
from scipy.spatial.transform import Rotation

from grouser.physics.base.errors import ParameterError
from grouser.physics.base.packed import Packed
from grouser.physics.description.data.granular import GrainMaterial, Surface
from grouser.physics.granular.bed import GranularBed
from grouser.physics.granular.bodies import Ball, Bar, Boundary, Box, Hull, Plane, Solids
from grouser.physics.granular.boundaries import make_boundaries
from grouser.physics.granular.grain_rows import Grains
from grouser.physics.granular.solids import nearest_of_solid

GLASS = GrainMaterial("glass", 1e7)
TURN = Rotation.from_euler("xyz", [0.3, -0.7, 1.1]).as_matrix()
CENTRE = np.array([0.1, -0.2, 0.3])


def hull_of(points: np.ndarray) -> Hull:
    hull = ConvexHull(points)
    corners = points[hull.simplices]
    outward = np.einsum(
        "ij,ij->i", np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), hull.equations[:, :3]
    )
    corners[outward < 0.0] = corners[outward < 0.0][:, ::-1]
    return Hull(corners)


def surface_of(kind: str, random: np.random.Generator, count: int = 200_000) -> np.ndarray:
    """Points on the surface of a solid in its own axes."""
    if kind == "box":
        points = random.uniform(-1, 1, (count, 3))
        axis = random.integers(0, 3, count)
        points[np.arange(count), axis] = np.sign(points[np.arange(count), axis])
        return points * [0.2, 0.3, 0.1]
    angle = random.uniform(0, 2 * np.pi, count)
    if kind == "bar":
        radius = 0.2 * np.sqrt(random.uniform(0, 1, count))
        z = random.uniform(-0.3, 0.3, count)
        side = random.integers(0, 3, count)
        radius[side == 0] = 0.2
        z[side > 0] = np.where(side[side > 0] == 1, 0.3, -0.3)
        return np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)
    height = random.uniform(-1, 1, count)
    across = np.sqrt(1 - height**2)
    ball = 0.2 * np.stack([across * np.cos(angle), across * np.sin(angle), height], axis=1)
    straight = random.integers(0, 2, count) == 0
    ball[:, 2] += 0.3 * np.sign(ball[:, 2])
    ball[straight] = np.stack([0.2 * np.cos(angle), 0.2 * np.sin(angle), 0.3 * height], axis=1)[straight]
    return ball


@pytest.mark.parametrize("kind", ["box", "bar", "capsule"])
def test_distance_is_that_of_the_nearest_point_of_the_surface(kind):
    random = np.random.default_rng(3)
    surface = surface_of(kind, random)
    solid = {
        "box": Box(CENTRE, (0.4, 0.6, 0.2), TURN),
        "bar": Bar(CENTRE, 0.2, 0.6, TURN),
        "capsule": Ball(CENTRE, 0.2, 0.6, TURN),
    }[kind]
    check_distances(solid, surface @ TURN.T + CENTRE, random)


def test_distance_of_a_hull():
    random = np.random.default_rng(4)
    hull = hull_of(random.uniform(-0.3, 0.3, (12, 3)) + CENTRE)
    corners = np.asarray(hull.triangles)
    share = np.sort(random.uniform(0, 1, (len(corners), 8000, 2)), axis=2)
    weights = np.stack([share[..., 0], share[..., 1] - share[..., 0], 1 - share[..., 1]], axis=2)
    check_distances(hull, np.einsum("fkc,fcx->fkx", weights, corners).reshape(-1, 3), random)


def check_distances(solid, surface: np.ndarray, random: np.random.Generator) -> None:
    """Distances, normals and the sign inside of a solid against points on its surface."""
    boundaries = Packed(make_boundaries([Boundary("one", [Solids([solid], "glass")])], ["glass"], 0.01))
    places = surface.mean(axis=0) + random.uniform(-0.6, 0.6, (300, 3))
    distance, nearest = cKDTree(surface).query(places)
    for place, expected, found in zip(places, distance, surface[nearest], strict=True):
        *normal, signed = nearest_of_solid(boundaries, 0, tuple(place))
        # the sampled point is at most the spacing of the samples aside
        assert expected - 0.02**2 / max(expected, 0.01) - 2e-3 <= abs(signed) <= expected + 1e-12
        point = place - signed * np.array(normal)
        assert np.linalg.norm(point - found) < 0.05 or abs(np.linalg.norm(place - found) - abs(signed)) < 2e-3
        beyond = nearest_of_solid(boundaries, 0, tuple(place + 1e-6 * np.array(normal)))[3]
        assert beyond == pytest.approx(signed + 1e-6, abs=1e-11)


def rolled(shapes: list) -> GranularBed:
    bed = GranularBed(
        Grains(np.array([[-0.05, 0.001, 0.00995]]), 0.01, "glass", velocity=np.array([[1.0, 0.1, 0.0]])),
        [GLASS],
        {("glass", "glass"): Surface(restitution=0.5, rolling_friction=0.01)},
        [Boundary("floor", shapes)],
        step=2e-5,
    )
    bed.step(5000)
    return bed


def test_joints_of_solids_are_no_seams():
    plane = rolled([Plane((0, 0, 0), (0, 0, 1), "glass")])
    boxes = [Box((x, 0.0, -0.05), (0.02, 0.4, 0.1)) for x in np.arange(-0.2, 0.3, 0.02)]
    corners = np.array([(x, y, z) for x in (-0.3, 0.3) for y in (-0.3, 0.3) for z in (-0.1, 0.0)])
    for shapes in ([Solids(boxes, "glass")], [Solids([hull_of(corners)], "glass")]):
        other = rolled(shapes)
        assert other.position == pytest.approx(plane.position, abs=1e-9)
        assert other.spin == pytest.approx(plane.spin, abs=1e-6)


def test_grains_are_pushed_out_on_the_near_side():
    bed = GranularBed(
        Grains(np.array([[0.0, 0.0, 0.004]]), 0.01, "glass"),
        [GLASS],
        {("glass", "glass"): Surface(restitution=0.1)},
        [Boundary("plate", [Solids([Box((0, 0, 0), (0.2, 0.2, 0.01))], "glass")])],
        gravity=(0, 0, 0),
    )
    bed.step(400)
    assert bed.position[0, 2] > 0.0149
    assert bed.position[0, :2] == pytest.approx([0, 0], abs=1e-12)


def test_hulls_with_hollows_are_refused():
    corners = np.array([(x, y, z) for x in (0.0, 0.3) for y in (0.0, 0.3) for z in (0.0, 0.3)])
    triangles = np.array(hull_of(corners).triangles)
    triangles[0, 0] = triangles.reshape(-1, 3).mean(axis=0)
    with pytest.raises(ParameterError, match="a polyhedron without hollows"):
        make_boundaries([Boundary("one", [Solids([Hull(triangles)], "glass")])], ["glass"], 0.01)
