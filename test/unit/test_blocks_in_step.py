"""Deformable blocks in the steps of machines: exchange of momentum, rubble, restarts, copies, transfer."""

import dataclasses

import numpy as np
import pytest

import grouser
from grouser.physics.base.spatial import matrix
from grouser.physics.description import parse_machine
from grouser.physics.description.data.blocks import LooseBlock
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


def test_blocks_below_a_box_stay_awake():
    """Nothing sleeps below a box, though all is at rest."""
    simulation = grouser.Simulation(box(), wall(spawn=0.3505, place=0.0, more="  mass_damping: 20\n"))
    simulation.step(800)
    force, _ = simulation.blocks.force("box")
    assert force == pytest.approx([0.0, 0.0, 5 * 9.81], abs=0.5)
    assert not simulation.blocks.sleeping.any()


def test_clusters_sleep_until_something_that_moves_comes_near():
    """A box flies into a wall that sleeps, and pushes it over a stone; another stone lies aside, on a third one."""
    stone = "{{box: [0.2, 0.2, 0.1], xyz: [{}, {}, {}]}}".format
    stones = f"low: {stone(1, 0, 0.05)}, high: {stone(1.05, 0.03, 0.15)}, behind: {stone(0.05, 0.25, 0.05)}"
    simulation = grouser.Simulation(
        box(), wall(place=-3.0, spawn=0.05, more=f"  mass_damping: 5\n  loose: {{{stones}}}\n")
    )
    blocks = simulation.blocks
    low, high, behind = (blocks.names.index(name) for name in ("low", "high", "behind"))
    simulation.step(600)
    assert blocks.sleeping.all() and blocks.asleep
    still = simulation.state.blocks.blocks
    pairs = set(still.contact_pair[: still.contact_count[0]].tolist())
    simulation.state.q[:3] = 0.0, -0.4, 0.2
    simulation.state.v[1] = 3.0
    simulation.resume(simulation.state)
    simulation.step(60)
    saved = simulation.snapshot()
    start = blocks.position
    simulation.step(240)
    assert not blocks.sleeping[: len(blocks) - 3].all()
    assert not blocks.sleeping[behind]
    assert np.abs(blocks.position - start)[behind].max() > 1e-3
    assert blocks.sleeping[[low, high]].all()
    assert (blocks.position == start)[[low, high]].all()
    # they keep the memory of their contacts
    aside = {pair for pair in pairs if pair // len(still.displacement) in (low, high)}
    now = simulation.state.blocks.blocks
    assert aside and aside <= set(now.contact_pair[: now.contact_count[0]].tolist())
    after = _bits(simulation)
    simulation.restore(saved)
    simulation.step(101)
    simulation.restore(simulation.snapshot())
    simulation.step(139)
    assert _bits(simulation) == after


def test_blocks_rest_on_a_height_field():
    """One on a slope that friction holds, one on the only peak of the field; what starts inside of it is refused."""
    heights = np.fromfunction(lambda i, j: 0.3 * np.maximum(8.0 - i, 0.0) * 0.25, (21, 9))
    heights[14, 4] = 0.2
    ground = grouser.Ground(heightfield=grouser.Heightfield(heights, 0.25, (-2.0, -1.0)))
    tilt, lift = np.arctan(0.3), 0.05 / np.cos(np.arctan(0.3))
    lean = grouser.Pose((-1.0, 0.0, 0.3 + lift), (0.0, np.sin(tilt / 2.0), 0.0, np.cos(tilt / 2.0)))
    slab = grouser.Box((0.3, 0.3, 0.1))
    loose = (LooseBlock("leaning", slab, lean), LooseBlock("high", slab, grouser.Pose((1.5, 0.0, 0.25))))
    law = grouser.Interface(2e7, 2e7, friction=0.6)
    blocks = grouser.Blocks(grouser.BlockMaterial(1e7, 0.2, 2000.0), law, loose=loose, mass_damping=20.0)
    world = grouser.World(ground=ground, blocks=blocks, spawn=grouser.Pose((1.5, 0.9, 0.05)))
    simulation = grouser.Simulation(box(), world)
    start = simulation.blocks.position
    simulation.step(500)
    assert simulation.blocks.asleep
    moved = simulation.blocks.position - start
    # the weight on springs by the area of the face, but for a share h k_n/(4 E) of the strain of the block
    sunk = 2000 * 0.1 * 9.81 * np.cos(tilt) / 2e7
    assert moved[0] @ [np.sin(tilt), 0.0, np.cos(tilt)] == pytest.approx(-sunk, rel=0.1)
    assert np.abs(moved[0]).max() < 2e-4
    assert -1e-3 < moved[1, 2] < 0.0
    inside = dataclasses.replace(blocks, loose=(LooseBlock("high", slab, grouser.Pose((1.5, 0.0, 0.24))),))
    # 0.01 m across the sides of the peak, which rise by 0.8
    with pytest.raises(grouser.ParameterError, match="outside of the ground: they overlap by 0.00781 m"):
        grouser.Simulation(box(), dataclasses.replace(world, blocks=inside))


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
        loose.format("vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0]]", 1): "3 corners bound no volume .give 4 or more",
        "  surface_material: [a]\n": "surface_material",
        "  stiffness_damping: 100\n": "the blocks need",
    }
    for more, message in wrong.items():
        with pytest.raises(grouser.GrouserError, match=message):
            grouser.Simulation(box(), wall(more=more))
    with pytest.raises(grouser.ParameterError, match="the body of link 'box': they overlap by"):
        grouser.Simulation(box(), wall(place=0.0, spawn=0.2), spawn="as_given")
    with pytest.raises(grouser.MachineError, match="blocks do not meet soft ground"):
        wall(ground="{soil: {type: cmu_sand}}")


def test_many_steps_are_told():
    simulation = grouser.Simulation(box(), wall(more="  stiffness_damping: 0.01\n"))
    (warning,) = [text for text in simulation.warnings if "the blocks take" in text]
    assert f"{simulation.arrays.system.blocks.steps} steps" in warning


def test_world_without_blocks_has_none():
    simulation = grouser.Simulation(box())
    assert len(simulation.blocks) == 0
    assert simulation.blocks.position.shape == (0, 3)
    assert simulation.blocks.stress.shape == (0, 6)
