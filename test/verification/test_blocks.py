"""Deformable blocks against closed forms, a dense assembly, and conservation laws."""

from dataclasses import replace

import numpy as np
import pytest
from dense_blocks import DenseChain

from grouser import ParameterError
from grouser.physics.base.errors import StateError
from grouser.physics.base.spatial import matrix
from grouser.physics.blocks.assembly import Assembly
from grouser.physics.blocks.building import Block, FieldBelow
from grouser.physics.blocks.polyhedron import Polyhedron, make_box, make_polyhedron
from grouser.physics.blocks.walls import make_wall
from grouser.physics.contact.terrain import make_terrain
from grouser.physics.description.data.blocks import BlockMaterial, Interface
from grouser.physics.description.data.world import Ground, Heightfield

STONE = BlockMaterial(1e9, 0.25, 2000.0)
DRY = Interface(1e9, 1e9, friction=0.5, cohesion=0.0, tensile_strength=0.0)


def chain(count, stiffness, ratio, order, tensile_strength=np.inf, **options):
    """The chain of `DenseChain`, by the code."""
    wall = Block("wall", make_box("wall", (-0.1, -0.05, -0.05), (0.0, 0.05, 0.05)), driven=True)
    blocks = make_wall((count, 1, 1), (1.0 / count, 0.1, 0.1), (0.0, -0.05, -0.05), name="b")
    interface = Interface(stiffness, stiffness, tensile_strength=tensile_strength)
    material = replace(STONE, poisson_ratio=ratio)
    return Assembly([wall, *blocks], material, interface, order=order, gravity=(0, 0, 0), collide=False, **options)


@pytest.mark.parametrize(
    "count, stiffness, ratio, order, shortening, sag, frequency, step",
    [
        (5, 1e12, 0.25, 1, 9.606921e-06, 5.145000e-05, 86.6246, 1.185e-05),
        (10, 1e13, 0.0, 1, 1.001000e-05, 2.463000e-05, 117.2992, 2.601e-06),
        (5, 1e13, 0.25, 2, 9.906335e-06, 3.502583e-03, 12.2578, 2.638e-06),
        (10, 1e11, 0.0, 2, 1.100000e-05, 4.473000e-03, 10.7479, 1.665e-05),
    ],
)
def test_dense_chain_is_that_of_the_table(count, stiffness, ratio, order, shortening, sag, frequency, step):
    """The independent assembly of these tests gives the published digits: displacements are means of the end face."""
    dense = DenseChain(count, stiffness, ratio, order)
    assert dense.end_compliance([100.0, 0.0, 0.0]) == pytest.approx(shortening / 100.0, rel=1e-6)
    assert dense.end_compliance([0.0, 0.0, 100.0]) == pytest.approx(sag / 100.0, rel=1e-6)
    assert dense.angular_frequencies()[0] / (2.0 * np.pi) == pytest.approx(frequency, rel=1e-5)
    assert 2.0 / dense.angular_frequencies()[-1] == pytest.approx(step, rel=5e-4)


@pytest.mark.parametrize("relaxation", ["viscous", "local"])
@pytest.mark.parametrize("count, stiffness, ratio, order", [(4, 1e12, 0.25, 1), (7, 1e11, 0.0, 1), (3, 1e11, 0.25, 2)])
def test_relaxed_chain_is_the_dense_solution(count, stiffness, ratio, order, relaxation):
    """Within what the unbalanced forces leave, and the rotations of the sag, of second order."""
    dense = DenseChain(count, stiffness, ratio, order)
    assembly = chain(count, stiffness, ratio, order)
    assert assembly.critical_step == pytest.approx(2.0 / dense.angular_frequencies()[-1], rel=1e-9)
    tip = assembly.names[-1]
    for load, axis in (([-10.0, 0.0, 0.0], 0), ([0.0, 0.0, -1.0], 2)):
        assembly.clear_loads()
        assembly.press(tip, (1, 0, 0), np.array(load) / 0.01)
        assembly.relax(relaxation, 1e-8)
        expected = dense.end_displacement(load)[axis]
        assert assembly.displacement(tip, (1, 0, 0))[axis] == pytest.approx(expected, rel=2e-5)


def test_undamped_chain_keeps_its_energy_in_long_runs():
    """The discrete energy of central differences is constant but for round-off, also near the critical step."""
    assembly = chain(3, 1e11, 0.25, 1)
    assembly.press(assembly.names[-1], (1, 0, 0), (2e4, 1e4, -3e4))
    assembly.relax(tolerance=1e-8)
    assembly.clear_loads()
    step = 0.98 * assembly.critical_step
    before = assembly.energy(step).total
    assembly.step(20_000, step)
    assert assembly.energy(step).total == pytest.approx(before, rel=1e-6)
    assert assembly.energy(step).kinetic > 1e-3 * before


def test_a_step_that_is_too_long_is_refused_with_one_that_would_do():
    assembly = chain(3, 1e11, 0.25, 1)
    with pytest.raises(ParameterError, match=f"at most {assembly.critical_step:.4g} s"):
        assembly.step(1, 1.001 * assembly.critical_step)


def test_damping_of_the_stiffness_shortens_the_critical_step():
    """Without the shorter step the fastest vibration would grow."""
    plain = chain(3, 1e11, 0.25, 1).critical_step
    assembly = chain(3, 1e11, 0.25, 1, stiffness_damping=0.5 * plain)
    assert assembly.critical_step < 0.7 * plain
    assembly.press(assembly.names[-1], (1, 0, 0), (2e4, 1e4, -3e4))
    assembly.relax()
    assembly.clear_loads()
    largest = assembly.energy().total
    assembly.step(20_000, 0.999 * assembly.critical_step)
    assert assembly.energy().kinetic + assembly.energy().strain < largest


@pytest.mark.parametrize("order", [1, 2])
def test_block_settles_under_its_own_weight(order):
    """The top of a block comes down by rho g h^2/(2 E) against its bottom: exact without Poisson's ratio.

    Contact forces find their mode shapes at deformed places: the strain, 4e-6, is the error.
    """
    floor = Block("floor", make_box("floor", (-1, -1, -0.5), (1, 1, 0)), driven=True)
    column = Block("column", make_box("column", (-0.1, -0.1, 0.0), (0.1, 0.1, 0.4)))
    assembly = Assembly(
        [floor, column],
        replace(STONE, poisson_ratio=0.0),
        Interface(1e11, 1e11, cohesion=0.0, tensile_strength=0.0),
        order=order,
    )
    assembly.relax(tolerance=1e-8)
    shortening = assembly.displacement("column", (0, 0, 0))[2] - assembly.displacement("column", (0, 0, 0.4))[2]
    assert shortening == pytest.approx(2000.0 * 9.81 * 0.4**2 / 2e9, rel=1e-5)
    assert assembly.stress("column")[2] == pytest.approx(-2000.0 * 9.81 * 0.2, rel=1e-5)
    corner = -assembly.displacement("column", (0.1, 0.1, 0.0))[2]
    assert corner == pytest.approx(2000.0 * 9.81 * 0.4 / 1e11, rel=1e-3)


def test_mean_stress_is_that_of_the_contact_forces():
    """V sigma_ij = sum of f_i x_j over all forces on a block, of any shape: loads at five points, held by nothing."""
    shape = make_polyhedron(
        "stone",
        np.array([(0, 0, 0), (0.3, 0, 0), (0, 0.2, 0), (0.05, 0.02, 0.25)]),
        [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)],
    )
    forces = np.array([(10.0, -20.0, 5.0), (3.0, 7.0, -1.0), (0.0, 4.0, 9.0), (-13.0, 9.0, -13.0)])
    arms = shape.vertices - shape.vertices.mean(axis=0)
    # moments are balanced by a couple in the forces: the part that turns is taken out
    inertia = (arms**2).sum() * np.eye(3) - arms.T @ arms
    forces = forces - np.cross(np.linalg.solve(inertia, np.cross(arms, forces).sum(axis=0)), arms)
    assembly = Assembly([Block("stone", shape)], STONE, DRY, order=2, gravity=(0, 0, 0), mass_damping=2e4)
    for place, force in zip(shape.vertices, forces, strict=True):
        assembly.push("stone", place, force)
    assembly.step(20_000)
    moments = forces.T @ arms / (0.3 * 0.2 * 0.25 / 6.0)
    expected = [*np.diag(moments), moments[1, 2], moments[0, 2], moments[0, 1]]
    assert assembly.stress("stone") == pytest.approx(expected, rel=1e-4, abs=1e-4 * np.abs(moments).max())


def two_blocks(order=1):
    """Two free blocks that fly at each other askew and turn, an edge ahead."""
    first = make_box("first", (-0.1, -0.05, -0.05), (0.1, 0.05, 0.05))
    second = make_box("second", (0.13, 0.02, -0.04), (0.23, 0.17, 0.09))
    assembly = Assembly([Block("first", first), Block("second", second)], STONE, DRY, order=order, gravity=(0, 0, 0))
    assembly.set_velocity("first", (1.0, 0.5, 0.0), (3.0, -8.0, 14.0))
    assembly.set_velocity("second", (-2.0, 0.1, 0.3), (5.0, 7.0, -4.0))
    return assembly


@pytest.mark.parametrize("order", [1, 2])
def test_momentum_and_angular_momentum_are_kept_in_a_collision(order):
    """To round-off, however the blocks touch, turn, slide and deform; energy only within the error of the step."""
    assembly = two_blocks(order)
    before, energy = assembly.momentum(), assembly.energy()
    touched = 0
    for _ in range(40):
        assembly.step(50)
        touched += assembly.state.contact_count[0] > 0
    assert touched > 0
    assert np.abs(assembly.state.velocity[1] - [-2.0, 0.1, 0.3]).max() > 0.5
    assert assembly.momentum() == pytest.approx(before, abs=1e-12 * np.abs(before).max())
    after = assembly.energy()
    assert after.friction > 0.0
    assert after.total == pytest.approx(energy.total, rel=0.02)


def test_free_block_turns_with_constant_momentum_and_energy():
    """About the middle axis, where it turns over again and again."""
    box = make_box("box", (-0.15, -0.1, -0.03), (0.15, 0.1, 0.03))
    assembly = Assembly([Block("box", box)], STONE, DRY, gravity=(0, 0, 0))
    assembly.set_velocity("box", (0.3, 0.0, 0.0), (0.1, 20.0, 0.1))
    energy, momentum = assembly.energy().total, assembly.momentum()
    lowest = 1.0
    for _ in range(100):
        assembly.step(500)
        turn = assembly.state.quaternion[0]
        lowest = min(lowest, 1.0 - 2.0 * (turn[0] ** 2 + turn[2] ** 2))
    assert assembly.momentum() == pytest.approx(momentum, abs=1e-12)
    assert assembly.energy().total == pytest.approx(energy, rel=1e-6)
    assert lowest < 0.9


def test_runs_have_the_same_bits_and_go_on_from_a_snapshot():
    first, second = two_blocks(), two_blocks()
    first.step(600)
    snapshot = first.snapshot()
    first.step(700)
    second.step(1300)
    for one, other in zip(first.state, second.state, strict=True):
        assert np.array_equal(one, other)
    second.restore(snapshot)
    second.step(700)
    for one, other in zip(first.state, second.state, strict=True):
        assert np.array_equal(one, other)


def test_slender_block_tips_where_its_weight_leaves_its_foot():
    """Tipping at tan(theta) = b/h for one that cannot slide: 0.1 m by 0.3 m."""
    floor = Block("floor", make_box("floor", (-1, -1, -0.5), (1, 1, 0)), driven=True)
    block = Block("block", make_box("block", (-0.05, -0.05, 0.0), (0.05, 0.05, 0.3)))
    for slope, falls in ((0.95 / 3.0, False), (1.05 / 3.0, True)):
        rough = Interface(1e9, 1e9, friction=2.0, cohesion=0.0, tensile_strength=0.0)
        assembly = Assembly([floor, block], STONE, rough, stiffness_damping=2e-5, mass_damping=0.5)
        assembly.relax()
        for part in range(100):
            angle = np.arctan(slope) * (part + 1) / 100
            assembly.gravity = (9.81 * np.sin(angle), 0.0, -9.81 * np.cos(angle))
            assembly.step(round(0.003 / assembly.checked_step()))
        assembly.step(round(1.0 / assembly.checked_step()))
        turned = 2.0 * np.arcsin(abs(assembly.state.quaternion[1, 1]))
        assert (turned > 0.3) == falls
        if not falls:
            assert turned < 1e-3


def test_block_slides_on_a_height_field():
    """As on a plane, over the borders of its triangles: g (sin - mu cos)."""
    angle, friction, cell = 0.3, 0.2, 0.07
    heights = np.fromfunction(lambda i, j: np.tan(angle) * cell * (i - 20.0), (41, 9))
    terrain = make_terrain(Ground(heightfield=Heightfield(heights, cell, (-20.0 * cell, -0.31))))
    bounds = Block("field", make_box("field", (-2, -1, -1), (2, 1, 1)), driven=True)
    turn = matrix((0.0, -np.sin(angle / 2.0), 0.0, np.cos(angle / 2.0)))
    box = make_box("box", (-0.1, -0.1, 0.0), (0.1, 0.1, 0.1))
    block = Block("box", Polyhedron(box.vertices @ turn.T, box.faces, box.normals @ turn.T))
    rough = Interface(1e8, 1e8, friction=friction, cohesion=0.0, tensile_strength=0.0)
    assembly = Assembly([block, bounds], STONE, rough, stiffness_damping=1e-4, field=FieldBelow(terrain, 1))
    steps = round(0.1 / assembly.checked_step())
    assembly.step(steps)
    before = assembly.momentum()[:3]
    assembly.step(3 * steps)
    gained = (assembly.momentum()[:3] - before) / (2000 * 0.004 * 3 * steps * assembly.checked_step())
    expected = 9.81 * (np.sin(angle) - friction * np.cos(angle))
    assert turn.T @ gained == pytest.approx([-expected, 0.0, 0.0], abs=2e-3 * 9.81)


def test_driven_block_pushes_another_and_gets_the_reaction():
    """Momentum that the free block gains is the impulse on the tool, to round-off."""
    tool = Block("tool", make_box("tool", (-0.3, -0.1, -0.1), (-0.01, 0.1, 0.1)), driven=True)
    stone = Block("stone", make_box("stone", (0.0, -0.04, -0.02), (0.1, 0.06, 0.08)))
    assembly = Assembly([tool, stone], STONE, DRY, gravity=(0, 0, 0))
    assembly.drive("tool", (0.5, 0.0, 0.0))
    assembly.step(round(0.05 / assembly.checked_step()))
    momentum = assembly.momentum()
    impulse = assembly.take_impulse("tool")
    assert momentum[0] > 0.5 * 2.0
    assert impulse[:3] == pytest.approx(-momentum[:3], abs=1e-12)
    assert not assembly.take_impulse("tool").any()
    with pytest.raises(StateError, match="driven=True"):
        assembly.drive("stone", (0, 0, 0))


def test_wall_falls_to_pieces_and_comes_to_rest():
    """A tool breaks a masonry wall; its bricks fall, and lie still on the floor and on each other.

    What the tool works is in the accounts but for 3 %: contacts change their area, and other faces or edges take them
    over as bricks turn.
    """
    floor = Block("floor", make_box("floor", (-2, -2, -0.3), (2, 2, 0)), driven=True)
    tool = Block("tool", make_box("tool", (-0.05, -0.25, 0.12), (0.45, -0.1, 0.32)), driven=True)
    bricks = make_wall((2, 1, 3), (0.2, 0.1, 0.1), (0.0, -0.05, 0.0), staggered=True)
    mortar = Interface(1e8, 1e8, friction=0.6, cohesion=2e4, tensile_strength=1e4)
    material = BlockMaterial(1e8, 0.2, 2000.0)
    wall = Assembly([floor, tool, *bricks], material, mortar, stiffness_damping=1e-4, mass_damping=3.0)
    wall.relax()
    assert wall.broken() == 0.0
    energy, work = wall.energy().total, 0.0
    for speed, time in ((1.0, 0.35), (-1.0, 0.35), (0.0, 2.0)):
        wall.drive("tool", (0.0, speed, 0.0))
        wall.step(round(time / wall.checked_step()))
        work -= speed * wall.take_impulse("tool")[1]
    assert wall.broken() > 0.5
    assert wall.energy().total - energy == pytest.approx(work, rel=0.03)
    heights = np.array([wall.place(brick.name, brick.shape.vertices.mean(axis=0))[2] for brick in bricks])
    speeds = np.array([np.abs(wall.velocity(brick.name)).max() for brick in bricks])
    assert speeds.max() < 5e-3
    assert heights.min() > 0.049
    assert (heights < 0.11).sum() >= 5


def test_broken_chain_is_in_two_and_its_parts_fly_apart():
    """Pulled beyond its strength: no force is left between the parts, and the tensile energy is in the account."""
    assembly = chain(2, 1e11, 0.0, 1, tensile_strength=1e5)
    assembly.press("b_1_0_0", (1, 0, 0), (9.9e4, 0.0, 0.0))
    assembly.load_factor = 0.5
    assembly.relax()
    assert assembly.broken() == 0.0
    assembly.load_factor = 1.5
    assembly.step(3000)
    assert assembly.broken() > 0.0
    assert assembly.energy().breaking > 0.0
    assembly.clear_loads()
    before = assembly.state.velocity[2].copy()
    assembly.step(100)
    assert assembly.state.velocity[2] == pytest.approx(before, rel=1e-12)
    assert before[0] > 0.0


def test_shear_breaks_bonds_at_cohesion_and_friction():
    """Two blocks pressed on each other: bonded while shear < c + mu p, and the friction mu p is left."""
    pressure, cohesion, friction = 5e4, 2e4, 0.4
    for shear, breaks in ((0.97, False), (1.03, True)):
        base = Block("base", make_box("base", (-0.1, -0.1, -0.1), (0.1, 0.1, 0.0)), driven=True)
        block = Block("block", make_box("block", (-0.1, -0.1, 0.0), (0.1, 0.1, 0.002)))
        interface = Interface(1e11, 1e11, friction, cohesion, 1e9)
        assembly = Assembly([base, block], STONE, interface, gravity=(0, 0, 0), mass_damping=2e3)
        assembly.press("block", (0, 0, 1), (0.0, 0.0, -pressure))
        assembly.relax()
        force = shear * (cohesion + friction * pressure)
        assembly.press("block", (0, 0, -1), (force, 0.0, 0.0))
        for part in range(200):
            assembly.load_factor = 1.0
            assembly.gravity = (-force / (0.002 * 2000.0) * (1.0 - (part + 1) / 200), 0.0, 0.0)
            assembly.step(20)
        assert (assembly.broken() > 0.0) == breaks


def test_interface_and_names_are_checked():
    box = Block("box", make_box("box", (0, 0, 0), (1, 1, 1)))
    for bad in ({"normal_stiffness": -1.0}, {"friction": np.nan}, {"tensile_strength": -2.0}):
        with pytest.raises(ParameterError, match=next(iter(bad))):
            Assembly([box], STONE, Interface(**{"normal_stiffness": 1e9, "shear_stiffness": 1e9} | bad))
    with pytest.raises(ParameterError, match="given once"):
        Assembly([box, box], STONE, DRY)
    with pytest.raises(ParameterError, match="one of box"):
        Assembly([box], STONE, DRY).stress("bix")
    with pytest.raises(StateError, match="no equilibrium"):
        Assembly([box], STONE, DRY).relax(most_steps=10)
