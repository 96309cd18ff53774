"""Blocks and grains in one world: momentum, weight, sleep, restarts, and what is told of them."""

import dataclasses

import numpy as np
import pytest

import grouser
from grouser.physics.description import parse_machine
from grouser.physics.description.data.granular import GrainPair
from grouser.physics.description.world.reader import parse_world
from grouser.physics.simulation.transfer import simulate, transfer_state

WORLD = """
ground: {ground}
gravity: {gravity}
spawn: {{xyz: [0, 3, 0.06]}}
obstacles:
 - {{name: a, box: [0.02, 0.44, 0.5], xyz: [0.21, 0, 0.25]}}
 - {{name: b, box: [0.02, 0.44, 0.5], xyz: [-0.21, 0, 0.25]}}
 - {{name: c, box: [0.44, 0.02, 0.5], xyz: [0, 0.21, 0.25]}}
 - {{name: d, box: [0.44, 0.02, 0.5], xyz: [0, -0.21, 0.25]}}
granular:
  materials: {{gravel: {{youngs_modulus: 1.0e6, density: 2600}}}}
  surface: {{restitution: 0.4, friction: 0.5, rolling_friction: 0.05}}
  settle: {settle}
  fills:
    pit: {{material: gravel, box: [0.4, 0.4, {height}], xyz: [0, 0, {middle}], radius: [0.025, 0.035], count: {count}}}
blocks:
  material: {{youngs_modulus: 1.0e7, poisson_ratio: 0.2, density: 2000}}
  interface:
    {{normal_stiffness: 2.0e7, shear_stiffness: 2.0e7, friction: 0.6, cohesion: 2.0e5, tensile_strength: 1.0e5}}
"""
BOX = """<robot name="box"><link name="box">
  <inertial><mass value="5"/><inertia ixx="0.05" iyy="0.06" izz="0.07" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.2 0.25 0.1"/></geometry></collision>
</link></robot>"""
# A wall of two layers, a little above the bed that settles below it.
ON_BED = "  walls: {wall: {size: [0.12, 0.12, 0.1], counts: [2, 1, 2], xyz: [0, 0, 0.161]}}\n  mass_damping: 5\n"


def box() -> grouser.Machine:
    return parse_machine(BOX, "box.urdf")


def pit(blocks: str, ground="{height: 0.0}", gravity=9.81, settle=1.0, height=0.16, middle=0.08, count=45):
    text = WORLD.format(ground=ground, gravity=gravity, settle=settle, height=height, middle=middle, count=count)
    return parse_world(text + blocks, "pit.yaml")


@pytest.fixture(scope="module")
def standing() -> grouser.Simulation:
    """A wall that has come to rest on a bed of grains."""
    simulation = grouser.Simulation(box(), pit(ON_BED))
    simulation.step(2000)
    return simulation


def test_momentum_goes_over_to_the_last_bits():
    """A stone flies into a cloud of grains, and turns."""
    stone = "  loose: {stone: {box: [0.2, 0.15, 0.1], xyz: [0.02, -0.03, 0.5]}}\n"
    world = pit(stone, ground="null", gravity=0, settle=0.0, height=0.2, middle=0.3)
    simulation = grouser.Simulation(box(), dataclasses.replace(world, obstacles=()))
    blocks = simulation.state.blocks.blocks
    blocks.velocity[0] = 0.3, -0.2, -2.0
    blocks.angular_momentum[0] = 0.02, 0.03, -0.01
    simulation.resume(simulation.state)
    before = simulation.blocks.momentum() + simulation.grains.momentum()
    at_first = simulation.blocks.momentum()
    simulation.step(200)
    assert np.abs(simulation.blocks.momentum() - at_first)[:3].max() > 1.0
    assert simulation.blocks.momentum() + simulation.grains.momentum() == pytest.approx(before, abs=1e-12)


def test_bed_bears_the_wall(standing):
    blocks, grains = standing.blocks, standing.grains
    weight = 9.81 * blocks.mass.sum()
    assert blocks.asleep and blocks.broken == 0.0
    assert blocks.position[:, 2].min() > 0.05 + grains.radius.min()
    # at rest: slower than 0.014 m/s for 0.2 s, which a force of 0.007 of the weight would exceed
    assert blocks.grain_force.sum(axis=0) == pytest.approx([0.0, 0.0, weight], abs=0.02 * weight)
    # the layer above lies on the one below
    assert np.abs(blocks.grain_force[blocks.position[:, 2] > blocks.position[:, 2].mean()]).max() == 0.0


def test_grains_that_strike_a_sleeping_block_wake_it(standing):
    saved = standing.snapshot()
    standing.step(50)
    assert standing.blocks.asleep
    grains = standing.state.granular.grains
    top = standing.blocks.corners("wall_0_0_1")[:, 2].max()
    thrown = int(np.argmax(grains.position[: grains.number[0], 3]))
    grains.position[thrown, :3] = standing.blocks.position[-1, 0], 0.0, top + 0.04
    grains.velocity[thrown, :3] = 0.0, 0.0, -3.0
    grains.asleep[thrown], grains.still[thrown], grains.stale[0] = False, 0, 1
    standing.resume(standing.state)
    standing.step(20)
    assert not standing.blocks.sleeping.any()
    standing.step(3000)
    assert standing.blocks.asleep
    standing.restore(saved)


def _bits(simulation) -> list[bytes]:
    blocks, grains = simulation.blocks, simulation.grains
    arrays = blocks.position, blocks.quaternion, blocks.velocity, blocks.stress, grains.position, grains.velocity
    return [array.tobytes() for array in arrays]


def test_restart_and_copies_have_the_same_bits():
    simulation = grouser.Simulation(box(), pit(ON_BED))
    simulation.step(150)
    saved = simulation.snapshot()
    copies = simulation.batch(2)
    simulation.step(100)
    copies.step(100)
    after = _bits(simulation)
    assert [_bits(copy) for copy in copies] == [after, after]
    simulation.restore(saved)
    simulation.step(63)
    simulation.restore(simulation.snapshot())
    simulation.step(37)
    assert _bits(simulation) == after


def test_wall_stays_on_its_bed_when_machines_come(standing):
    both = simulate(
        {"one": grouser.Member(box()), "two": grouser.Member(box(), grouser.Pose((0.0, 2.0, 0.0)))}, pit(ON_BED), 0.001
    )
    transfer_state(standing, both)
    both.step(100)
    assert both.blocks.position == pytest.approx(standing.blocks.position, abs=1e-3)
    weight = 9.81 * both.blocks.mass.sum()
    assert both.blocks.grain_force.sum(axis=0) == pytest.approx([0.0, 0.0, weight], abs=0.05 * weight)


def test_bed_settles_on_top_of_a_wall():
    """Blocks that stand on the ground are there when the grains settle, and bear those above them."""
    floor = "  walls: {floor: {size: [0.19, 0.38, 0.1], counts: [2, 1, 1], xyz: [0, 0, 0]}}\n"
    simulation = grouser.Simulation(box(), pit(floor, middle=0.181))
    grains, blocks = simulation.grains, simulation.blocks
    start = blocks.position
    assert (grains.position[:, 2] + 0.1 * grains.radius).min() > 0.1
    simulation.step(1000)
    assert blocks.position == pytest.approx(start, abs=1e-3)
    weight = 9.81 * grains.mass.sum()
    push = blocks.grain_force[:, 2].sum()
    sides = simulation._engine.workspace.granular.grains.impulse[0, 2] / 0.001
    assert push + sides == pytest.approx(-weight, rel=0.01)
    # friction at the sides of the pit is the smaller part: the bed is half as high as it is wide
    assert push < -0.6 * weight


@pytest.mark.parametrize("surface_material, spins", [("gravel", True), ("ice", False)])
def test_surface_of_blocks_has_the_pair_of_its_material(surface_material, spins):
    """A grain on a slab, on a slope that gravity makes, rolls; on ice it slides."""
    slab = f"  loose: {{slab: {{box: [0.4, 0.4, 0.1], xyz: [0, 0, 0.05]}}}}\n  surface_material: {surface_material}\n"
    world = pit(slab, settle=0.0, height=0.2, middle=0.2)
    media = world.granular
    ice = dataclasses.replace(media.materials[0], name="ice")
    smooth = GrainPair("gravel", "ice", dataclasses.replace(media.surface, friction=0.0))
    fills = (dataclasses.replace(media.fills[0], count=1),)
    media = dataclasses.replace(media, materials=(*media.materials, ice), pairs=(smooth,), fills=fills)
    simulation = grouser.Simulation(
        box(), dataclasses.replace(world, obstacles=(), granular=media, gravity=(2.0, 0.0, -9.6))
    )
    simulation.step(300)
    assert simulation.blocks.grain_force[0, 2] < 0.0
    assert bool(np.abs(simulation.state.granular.grains.spin[0, :3]).max() > 0.1) == spins


def test_stiff_grains_on_a_light_block_are_told():
    stone = "  loose: {stone: {box: [0.04, 0.04, 0.02], xyz: [0, 0, 0.4]}}\n"
    world = pit(stone)
    hard = dataclasses.replace(world.granular.materials[0], youngs_modulus=1e9)
    world = dataclasses.replace(world, granular=dataclasses.replace(world.granular, materials=(hard,), settle=0.0))
    simulation = grouser.Simulation(box(), world)
    with pytest.warns(RuntimeWarning, match=r'contacts of grains with "stone" are .* softer grains'):
        simulation.step(400)
