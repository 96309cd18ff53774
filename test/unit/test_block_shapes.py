"""Blocks by themselves: shapes, volume integrals, modes, and faces that touch."""

from dataclasses import replace

import numpy as np
import pytest

from grouser import ParameterError
from grouser.physics.blocks.faces import cell_ends, find_joints, gauss_points
from grouser.physics.blocks.modes import make_modes, mode_shapes, strain_operator
from grouser.physics.blocks.polyhedron import edges, make_box, make_hull, make_polyhedron, make_prism, volume_points
from grouser.physics.blocks.walls import make_wall
from grouser.physics.description.data.blocks import BlockMaterial

STONE = BlockMaterial(1e9, 0.25, 2000.0)
WEDGE = make_prism("wedge", [(0.0, 0.0), (0.3, 0.0), (0.2, 0.15), (0.05, 0.1)], -0.1, 0.2)


def test_volume_integrals_are_exact_to_the_fifth_degree():
    """Against products of integrals along the axes."""
    lower, upper = np.array([0.1, -0.2, 0.3]), np.array([0.4, 0.5, 0.8])
    points, weights = volume_points(make_box("box", lower, upper))
    for powers in ((0, 0, 0), (1, 0, 0), (2, 2, 0), (4, 0, 1), (1, 3, 1), (0, 2, 3)):
        exponents = np.array(powers) + 1
        exact = np.prod((upper**exponents - lower**exponents) / exponents)
        assert weights @ np.prod(points ** np.array(powers), axis=1) == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize(
    "vertices, faces, face, problem",
    [
        # a notched prism: its outline turns back at a corner
        (
            [(x, y, z) for y in (0, 1) for x, z in ((0, 0), (2, 0), (1, 0.5), (2, 2), (0, 2))],
            [(0, 1, 2, 3, 4), (9, 8, 7, 6, 5), (1, 0, 5, 6), (2, 1, 6, 7), (3, 2, 7, 8), (4, 3, 8, 9), (0, 4, 9, 5)],
            "face 3",
            "divide the block",
        ),
        (
            [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
            [(0, 1, 2), (0, 1, 3), (0, 3, 2), (1, 2, 3)],
            "face 0",
            "no other",
        ),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 1, 2), (0, 3, 1), (0, 2, 3)], "face 0", "no other"),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 1, 7)], "face 0", "from 0 to 3"),
    ],
)
def test_shapes_that_are_no_convex_block_are_refused(vertices, faces, face, problem):
    with pytest.raises(ParameterError, match=f"{face} of block 'odd'.*{problem}"):
        make_polyhedron("odd", vertices, faces)


def test_hull_of_points_joins_the_triangles_of_a_face():
    """Corners of a cube and points within it, and of a wedge: the faces and volume of the solids."""
    inside = np.random.default_rng(1).uniform(0.1, 0.9, (20, 3))
    corners = make_box("cube", (0, 0, 0), (1, 1, 1)).vertices
    cube = make_hull("cube", np.concatenate([inside, corners]))
    assert sorted(map(len, cube.faces)) == [4] * 6
    assert volume_points(cube)[1].sum() == pytest.approx(1.0, rel=1e-14)
    again = make_hull("wedge", WEDGE.vertices[::-1])
    assert sorted(map(len, again.faces)) == sorted(map(len, WEDGE.faces))
    assert volume_points(again)[1].sum() == pytest.approx(volume_points(WEDGE)[1].sum(), rel=1e-13)
    with pytest.raises(ParameterError, match="points of block 'flat'"):
        make_hull("flat", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)])


def test_materials_without_meaning_are_refused():
    for bad in ({"youngs_modulus": 0.0}, {"density": -1.0}, {"poisson_ratio": 0.5}):
        with pytest.raises(ParameterError, match=next(iter(bad))):
            make_modes(WEDGE, replace(STONE, **bad), 1)
    with pytest.raises(ParameterError, match="order"):
        make_modes(WEDGE, STONE, 3)


def test_edges_have_the_faces_on_both_sides():
    for first, last, left, right in edges(WEDGE):
        assert {first, last} <= set(WEDGE.faces[left]) & set(WEDGE.faces[right])
    assert len(edges(WEDGE)) == len(WEDGE.vertices) + len(WEDGE.faces) - 2


def test_free_cube_has_the_frequencies_of_uniform_strains():
    """Closed form: five of sqrt(24 G/(rho s^2)), one of sqrt(12 E/((1 - 2 n) rho s^2))."""
    frequencies = make_modes(make_box("cube", (0, 0, 0), (0.1, 0.1, 0.1)), STONE, 1).frequencies
    assert frequencies == pytest.approx([3486.9101] * 5 + [5513.2890], abs=5e-5)


def test_bar_of_one_block_is_a_tenth_too_fast():
    """Closed form sqrt(12 E/rho)/(2 pi L), without Poisson's ratio."""
    material = BlockMaterial(1e9, 0.0, 2000.0)
    frequencies = make_modes(make_box("bar", (0, 0, 0), (1.0, 0.02, 0.02)), material, 1).frequencies
    exact = np.sqrt(12.0 * 1e9 / 2000.0) / (2.0 * np.pi)
    assert np.abs(frequencies - exact).min() < 1e-9 * exact
    assert exact / (0.5 * np.sqrt(1e9 / 2000.0)) == pytest.approx(1.103, abs=5e-4)


@pytest.mark.parametrize("order", [1, 2])
def test_modes_are_orthogonal_to_rigid_motion_and_to_each_other(order):
    modes = make_modes(WEDGE, STONE, order)
    points, weights = volume_points(WEDGE)
    points, weights = points - modes.centre, STONE.density * weights
    phi = mode_shapes(modes.coefficients, points)
    size = modes.mass * np.ptp(WEDGE.vertices)
    assert weights @ points == pytest.approx(0.0, abs=1e-14 * size)
    assert np.einsum("p,pia->ia", weights, phi) == pytest.approx(0.0, abs=1e-12 * modes.mass)
    moments = np.einsum("p,pai->ia", weights, np.cross(points[:, np.newaxis], phi.transpose(0, 2, 1)))
    assert moments == pytest.approx(0.0, abs=1e-12 * size)
    gram = np.einsum("p,pia,pib->ab", weights, phi, phi)
    assert gram == pytest.approx(modes.mass * np.eye(len(gram)), abs=1e-11 * modes.mass)
    assert len(gram) == (6 if order == 1 else 24)


def test_strains_are_derivatives_of_the_mode_shapes():
    modes = make_modes(WEDGE, STONE, 2)
    place, tiny = np.array([0.03, -0.02, 0.01]), 1e-6
    ahead, behind = (mode_shapes(modes.coefficients, place + sign * tiny * np.eye(3)) for sign in (1.0, -1.0))
    slopes = (ahead - behind) / (2.0 * tiny)
    twice = slopes + slopes.transpose(1, 0, 2)
    expected = [twice[0, 0] / 2, twice[1, 1] / 2, twice[2, 2] / 2, twice[1, 2], twice[0, 2], twice[0, 1]]
    assert strain_operator(modes.coefficients, [place])[0] == pytest.approx(
        np.array(expected), abs=1e-8 * abs(twice).max()
    )


def test_second_order_holds_the_first():
    """The free vibrations of uniform strains are bounds of the slowest quadratic ones from above."""
    first, second = (make_modes(WEDGE, STONE, order).frequencies for order in (1, 2))
    assert (second[:6] <= first * (1.0 + 1e-12)).all()


@pytest.mark.parametrize("order", [1, 2])
def test_gauss_points_of_a_polygon_integrate_quadratic_functions(order):
    """Over a pentagon, against the moments of its triangles; a pentagon is divided into five quadrilaterals."""
    turn = 2.0 * np.pi * np.arange(5) / 5
    outline = np.column_stack([np.cos(turn), 0.5 * np.sin(turn), np.full(5, 0.2)])
    points, areas = gauss_points(outline, order)
    middle = np.tile(outline.mean(axis=0), (5, 1))
    corners = np.stack([middle, outline, np.roll(outline, -1, axis=0)], axis=1)
    size = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    assert areas.sum() == pytest.approx(size.sum(), rel=1e-14)
    sums = corners.sum(axis=1)
    second = np.einsum("t,tki,tkj->ij", size, corners, corners) + np.einsum("t,ti,tj->ij", size, sums, sums)
    assert np.einsum("p,pi,pj->ij", areas, points, points) == pytest.approx(second / 12.0, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("order", [1, 2])
def test_ends_of_cells_continue_the_polynomial_of_the_gauss_points(order):
    """Bending stress at the edge is that of the beam's fibre."""
    outline = np.array([(0.0, -1.0, -1.0), (0.0, 1.0, -1.0), (0.0, 1.0, 1.0), (0.0, -1.0, 1.0)])
    points, _ = gauss_points(outline, order)
    ends = cell_ends(order) @ points
    assert np.abs(ends[:, 1:]).max() == pytest.approx(1.0, rel=1e-14)
    assert np.sign(np.round(ends, 12)) == pytest.approx(np.sign(np.round(points, 12)))


def test_faces_that_touch_are_found_from_the_geometry():
    """A staggered wall: each block of the second layer touches two of the first, with half of its face."""
    blocks = make_wall((2, 1, 2), (0.2, 0.1, 0.05), staggered=True)
    assert len(blocks) == 5
    joints = list(find_joints([block.shape for block in blocks], 1))
    pairs = {tuple(blocks[number].name for number in joint.blocks): joint.areas.sum() for joint in joints}
    assert pairs == pytest.approx({
        ("block_0_0_0", "block_1_0_0"): 0.005,
        ("block_0_0_0", "block_0_0_1"): 0.01,
        ("block_0_0_0", "block_1_0_1"): 0.01,
        ("block_1_0_0", "block_1_0_1"): 0.01,
        ("block_1_0_0", "block_2_0_1"): 0.01,
        ("block_0_0_1", "block_1_0_1"): 0.005,
        ("block_1_0_1", "block_2_0_1"): 0.005,
    })  # fmt: skip
    for joint in joints:
        assert np.cross(joint.frame[0], joint.frame[1]) == pytest.approx(joint.frame[2], abs=1e-15)
