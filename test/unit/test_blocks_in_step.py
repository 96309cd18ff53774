"""Deformable blocks in the steps of machines: exchange of momentum, rubble, restarts, copies, transfer."""

import numpy as np
import pytest

import grouser
from grouser.physics.base.spatial import matrix
from grouser.physics.description import parse_machine
from grouser.physics.description.world.reader import parse_world
from grouser.physics.simulation.transfer import simulate, transfer_state

WALL = """
ground: {ground}
gravity: {gravity}
spawn: {{xyz: [0, {place}, {spawn}]}}
blocks:
  material: {{youngs_modulus: 1.0e7, poisson_ratio: 0.2, density: 2000}}
  interface:
    {{normal_stiffness: 2.0e7, shear_stiffness: 2.0e7, friction: 0.6, cohesion: 2.0e4, tensile_strength: 1.0e4}}
  walls: {{wall: {{size: [0.2, 0.1, 0.1], counts: [2, 1, 3], staggered: true}}}}
"""
BOX = """<robot name="box"><link name="box">
  <inertial><mass value="5"/><inertia ixx="0.05" iyy="0.06" izz="0.07" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.2 0.25 0.1"/></geometry></collision>
</link></robot>"""


def wall(spawn: float = 0.2, place: float = -0.4, ground: str = "{height: 0.0}", gravity: float = 9.81, more: str = ""):
    text = WALL.format(spawn=spawn, place=place, ground=ground, gravity=gravity)
    return parse_world(text + more, "wall.yaml")


def box() -> grouser.Machine:
    return parse_machine(BOX, "box.urdf")


def thrown(world: grouser.World) -> grouser.Simulation:
    """A box that flies against the wall and turns."""
    simulation = grouser.Simulation(box(), world)
    simulation.state.v[:] = 0.0, 3.0, 0.3, 1.0, 0.5, 2.0
    simulation.resume(simulation.state)
    return simulation


@pytest.fixture(scope="module")
def broken() -> grouser.Simulation:
    """A box has broken a wall that stands on the ground."""
    simulation = thrown(wall())
    simulation.step(400)
    return simulation


def test_wall_stands_in_equilibrium():
    simulation = grouser.Simulation(box(), wall(place=-3.0, spawn=0.05))
    blocks = simulation.blocks
    start = blocks.position
    # the foot of the wall carries the rest and half of itself: two halves at its ends are as high
    foot = [name.endswith("_0") for name in blocks.names]
    mean = blocks.stress[foot, 2].mean()
    assert mean == pytest.approx(-2000 * 9.81 * 0.25, rel=1e-4)
    simulation.step(50)
    assert np.abs(blocks.position - start).max() < 1e-9
    assert blocks.broken == 0.0


def test_tool_breaks_the_wall_into_pieces(broken):
    blocks = broken.blocks
    assert blocks.broken > 0.5
    assert len(set(blocks.pieces.tolist())) >= 4
    assert len(blocks) == 7
    # the contact of a corner, a quarter of the least face, stops a block of 4 kg at 3 m/s in 3 (4/(2e7 0.0025))^1/2 m
    assert min(blocks.corners(name)[:, 2].min() for name in blocks.names) > -0.027


def test_work_of_blocks_is_accounted(broken):
    balance = broken.energy_balance()
    work = balance.actuator_work["blocks on box"]
    assert work < -1.0
    assert balance.residual == pytest.approx(0.0, abs=2e-3 * abs(work))


def test_momentum_goes_over_to_the_last_bits():
    simulation = thrown(wall(ground="null", gravity=0.0))

    def momenta() -> np.ndarray:
        """Of box and blocks about the world's origin, where their velocities belong: half a step before."""
        place, quaternion = simulation.base_pose()
        turn, rates = matrix(quaternion), simulation.state.v
        linear = 5.0 * turn @ rates[:3]
        angular = turn @ ([0.05, 0.06, 0.07] * rates[3:]) + np.cross(place - 0.0005 * linear / 5.0, linear)
        return np.concatenate([linear, angular]) + simulation.blocks.momentum()

    before = momenta()
    simulation.step(300)
    assert simulation.blocks.broken > 0.0
    assert np.abs(simulation.blocks.velocity).max() > 0.5
    assert momenta() == pytest.approx(before, abs=1e-12)


def test_blocks_carry_a_body_and_fall_asleep():
    """Nothing sleeps below a box, though all is at rest; a wall alone does, until the box comes near."""
    simulation = grouser.Simulation(box(), wall(spawn=0.3505, place=0.0, more="  mass_damping: 20\n"))
    simulation.step(800)
    force, _ = simulation.blocks.force("box")
    assert force == pytest.approx([0.0, 0.0, 5 * 9.81], abs=0.5)
    assert not simulation.blocks.asleep
    alone = grouser.Simulation(box(), wall(place=-3.0, spawn=0.05))
    alone.step(400)
    assert alone.blocks.asleep
    alone.state.q[:3] = 0.0, -0.2, 0.15
    alone.state.v[1] = 1.0
    alone.resume(alone.state)
    alone.step(50)
    assert not alone.blocks.asleep
    assert np.abs(alone.blocks.velocity).max() > 0.0


def test_rigid_rubble_has_no_modes_and_longer_steps():
    simulation = thrown(wall(more="  rubble: rigid\n"))
    before = simulation.blocks.block_step
    simulation.step(400)
    blocks = simulation.blocks
    pieces = blocks.pieces
    alone = np.bincount(pieces)[pieces] == 1
    assert alone.any()
    held = np.abs(blocks.stress).max(axis=1) > 0.0
    assert not held[alone].all()
    system = simulation.arrays.system.blocks
    assert system.rubble_steps <= system.steps
    assert before == pytest.approx(0.001 / system.steps)


def _bits(simulation) -> list[bytes]:
    blocks = simulation.blocks
    arrays = blocks.position, blocks.quaternion, blocks.velocity, blocks.stress, simulation.state.q, simulation.state.v
    return [array.tobytes() for array in arrays]


def test_restart_and_copies_have_the_same_bits(broken):
    simulation = thrown(wall())
    simulation.step(80)
    saved = simulation.snapshot()
    copies = simulation.batch(2)
    simulation.step(120)
    copies.step(120)
    after = _bits(simulation)
    assert [_bits(copy) for copy in copies] == [after, after]
    simulation.restore(saved)
    simulation.step(77)
    simulation.step(43)
    assert _bits(simulation) == after
    kept = broken.snapshot()
    broken.restore(saved)
    broken.step(120)
    assert _bits(broken) == after
    broken.restore(kept)


def test_machines_come_and_go_beside_blocks():
    world, machine = wall(), box()
    alone = simulate({"one": grouser.Member(machine)}, world, 0.001)
    alone.state.v[1] = 3.0
    alone.resume(alone.state)
    alone.step(120)
    both = simulate(
        {"one": grouser.Member(machine), "two": grouser.Member(box(), grouser.Pose((0.0, 0.0, 2.0)))}, world, 0.001
    )
    transfer_state(alone, both)
    alone.step(50)
    both.step(50)
    # the second is still in the air
    assert both.blocks.broken == alone.blocks.broken > 0.0
    assert both.blocks.position == pytest.approx(alone.blocks.position, abs=1e-12)
    again = simulate({"one": grouser.Member(machine)}, world, 0.001)
    transfer_state(both, again)
    alone.step(20)
    again.step(20)
    assert again.blocks.position == pytest.approx(alone.blocks.position, abs=1e-12)


LUMP = "vertices: [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, {}], [0.05, 0.05, {}]]"
FACES = "faces: [[0, 2, 1], [0, 1, 4, 3], [0, 3, 4, 2], [1, 2, 4]]"


def test_bad_input_is_refused_with_the_place():
    loose = "  loose: {{lump: {{{}, xyz: [0, 1, {}]}}}}\n"
    box_of = "box: [0.1, 0.1, 0.1]"
    wrong = {
        "  loose: {lump: {xyz: [0, 1, 1]}}\n": "give one of box, vertices",
        "  loose: {lump: {box: [0.1, 0.1, 0.1], size: 2}}\n": "size",
        loose.format(LUMP.format(0.2, 0.01) + ", " + FACES, 1): "'lump'",
        loose.format(box_of, 0.02): "place of block 'lump' .* outside of the ground: they overlap by 0.03 m",
        "  loose: {lump: {box: [0.1, 0.1, 0.1], xyz: [0, 0, 0.2]}}\n": "place of block 'wall_.*overlap by",
        "  order: 3\n": "order: 3 is out of range",
        "  rubble: soft\n": "one of deformable, rigid",
        "  stiffness_damping: 100\n": "the blocks need",
    }
    for more, message in wrong.items():
        with pytest.raises(grouser.GrouserError, match=message):
            grouser.Simulation(box(), wall(more=more))
    with pytest.raises(grouser.ParameterError, match="the body of link 'box': they overlap by"):
        grouser.Simulation(box(), wall(place=0.0, spawn=0.2), spawn="as_given")
    with pytest.raises(grouser.MachineError, match="blocks do not meet soft ground"):
        wall(ground="{soil: {type: cmu_sand}}")
    grains = "granular: {materials: {a: {youngs_modulus: 1e6}}, fills: {f: {material: a, box: [1, 1, 1], radius: 0.1}}}"
    with pytest.raises(grouser.MachineError, match="blocks do not meet grains"):
        wall(more=grains)


def test_many_steps_are_told():
    simulation = grouser.Simulation(box(), wall(more="  stiffness_damping: 0.01\n"))
    (warning,) = [text for text in simulation.warnings if "the blocks take" in text]
    assert f"{simulation.arrays.system.blocks.steps} steps" in warning


def test_world_without_blocks_has_none():
    simulation = grouser.Simulation(box())
    assert len(simulation.blocks) == 0
    assert simulation.blocks.position.shape == (0, 3)
    assert simulation.blocks.stress.shape == (0, 6)
