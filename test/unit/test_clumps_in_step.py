"""Clumps in the worlds and steps of machines: exchange of momentum, restarts, copies, emitters and sinks."""

import numpy as np
import pytest
from momentum import momentum_of

import grouser
from grouser.physics.description import parse_machine
from grouser.physics.description.world.reader import parse_world

BOX = """<robot name="box"><link name="box">
  <inertial><mass value="5"/><inertia ixx="0.05" iyy="0.06" izz="0.07" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.2 0.25 0.1"/></geometry></collision>
</link></robot>"""
GRAINS = """
granular:
  materials: {gravel: {youngs_modulus: 1.0e6, density: 2600}}
  surface: {restitution: 0.4, friction: 0.5}
  settle: SETTLE
  clumps:
    rod: [{xyz: [0, 0, 0], radius: 1.0}, {xyz: [1.4, 0, 0], radius: 1.0}]
    corner: [{xyz: [0, 0, 0], radius: 2}, {xyz: [2.2, 0, 0], radius: 1.5}, {xyz: [0, 2.2, 0.4], radius: 1.5}]
  fills:
    rods: {material: gravel, clump: rod, box: [0.4, 0.4, 0.2], xyz: [0, 0, 0.12], radius: [0.025, 0.03], count: 20}
    corners: {material: gravel, clump: corner, box: [0.4, 0.4, 0.3], xyz: [0, 0, 0.4], radius: 0.03, mass: 2.0}
"""
ROD = "[{xyz: [0, 0, 0], radius: 1}, {xyz: [1.4, 0, 0], radius: 1}]"
PIT = """
ground: {height: 0.0}
obstacles:
 - {name: a, box: [0.02, 0.44, 0.3], xyz: [0.21, 0, 0.15]}
 - {name: b, box: [0.02, 0.44, 0.3], xyz: [-0.21, 0, 0.15]}
 - {name: c, box: [0.44, 0.02, 0.3], xyz: [0, 0.21, 0.15]}
 - {name: d, box: [0.44, 0.02, 0.3], xyz: [0, -0.21, 0.15]}
spawn: {xyz: [0, 0, 0.4]}
"""


def simulate(world: str, settle: float, more: str = "") -> grouser.Simulation:
    text = world + GRAINS.replace("SETTLE", str(settle)) + more
    return grouser.Simulation(parse_machine(BOX, "box.urdf"), parse_world(text, "clumps.yaml"))


def _bits(simulation) -> list[bytes]:
    grains = simulation.grains
    arrays = *grains.clumps, grains.position, grains.velocity, grains.spin, simulation.state.q, simulation.state.v
    return [array.tobytes() for array in arrays]


def test_fills_of_clumps():
    """As many as asked, or as heavy; their spheres hang together, turned at random."""
    simulation = simulate(PIT.replace("0.4]}", "2.0]}"), 0.0)
    grains, clumps = simulation.grains, simulation.grains.clumps
    rods, corners = clumps.mass[:20], clumps.mass[20:]
    lone = 2600 * 4 / 3 * np.pi * 0.03**3
    assert corners == pytest.approx(lone) and corners.sum() == pytest.approx(2.0, abs=0.5 * lone)
    assert (rods >= lone * (0.025 / 0.03) ** 3 * 0.999).all() and (rods <= lone * 1.001).all()
    assert grains.mass.sum() == pytest.approx(clumps.mass.sum())
    assert (np.bincount(grains.clump) == [2] * 20 + [3] * len(corners)).all()
    # none touches another, whatever its orientation
    apart = np.linalg.norm(grains.position[:, None] - grains.position, axis=2)
    both = grains.radius[:, None] + grains.radius
    assert (apart > both)[grains.clump[:, None] != grains.clump].all()
    turns = clumps.orientation[:20]
    assert np.abs(turns @ turns.T)[~np.eye(len(turns), dtype=bool)].max() < 0.999


def test_a_box_on_clumps_and_the_same_bits_again():
    simulation = simulate(PIT, 1.0)
    simulation.step(150)
    saved = simulation.snapshot()
    copies = simulation.batch(2)
    simulation.step(200)
    copies.step(200)
    after = _bits(simulation)
    assert [_bits(copy) for copy in copies] == [after, after]
    simulation.restore(saved)
    simulation.step(77)
    simulation.step(123)
    assert _bits(simulation) == after
    simulation.step(2650)
    force, _ = simulation.grains.force("box")
    # it may lean on a wall
    assert force[2] == pytest.approx(5 * 9.81, abs=1.0)
    balance = simulation.energy_balance()
    assert balance.residual == pytest.approx(0.0, abs=2e-3 * abs(balance.actuator_work["grains on box"]))
    asleep, clump = simulation.grains.asleep, simulation.grains.clump
    assert all(len(set(asleep[clump == one].tolist())) == 1 for one in set(clump.tolist()))


def test_momentum_goes_over_to_the_last_bits():
    simulation = simulate("ground: null\ngravity: 0\nspawn: {xyz: [0, 0, -0.2]}\n", 0.0)
    simulation.state.v[:] = 0.3, -0.2, 2.0, 1.0, 2.0, -1.5
    simulation.resume(simulation.state)

    def momenta() -> np.ndarray:
        return momentum_of(simulation) + simulation.grains.momentum()

    before = momenta()
    simulation.step(300)
    assert np.abs(simulation.grains.clumps.velocity).max() > 0.5
    assert np.abs(simulation.grains.clumps.angular_momentum).max() > 1e-3
    assert momenta() == pytest.approx(before, abs=1e-12)


def test_emitters_and_sinks_of_clumps():
    more = """
  emitters:
    pipe:
      {material: gravel, clump: corner, box: [0.2, 0.2, 0.1], xyz: [0, 0, 1.2], rate: 50, radius: [0.025, 0.03],
       velocity: [0, 0, -1], end: 0.5}
  sinks:
    hole: {box: [0.5, 0.5, 0.1], xyz: [0.0, 0.0, 0.0]}
"""
    simulation = simulate(PIT.replace("0.4]}", "3.0]}"), 0.5, more)
    saved, before = simulation.snapshot(), len(simulation.grains.clumps.mass)
    total = simulation.grains.mass.sum()
    simulation.step(800)
    grains, sources = simulation.grains, simulation.state.granular
    assert sources.emitted[0] == 25
    drained, mass = sources.drained
    clumps = grains.clumps
    assert drained > 20 and len(grains) == np.bincount(grains.clump).sum()
    assert len(clumps.mass) < before + 25
    lone = [2600 * 4 / 3 * np.pi * radius**3 for radius in (0.025, 0.03)]
    assert 25 * lone[0] < clumps.mass.sum() + mass - total < 25 * lone[1]
    assert set(np.bincount(grains.clump)) <= {2, 3}
    after = _bits(simulation)
    simulation.restore(saved)
    simulation.step(800)
    assert _bits(simulation) == after


def test_clumps_inside_a_machine_are_taken_away_whole():
    simulation = simulate(PIT.replace("0.4]}", "0.1]}"), 0.0)
    (warning,) = [text for text in simulation.warnings if "grains" in text]
    left = np.bincount(simulation.grains.clump)
    assert set(left) == {0, 2, 3}
    simulation.step(1)
    assert len(simulation.grains.clumps.mass) == np.count_nonzero(left)
    assert f"{40 + 3 * (len(left) - 20) - left.sum()} of " in warning


def test_bad_clumps_of_a_world_are_refused():
    good = PIT + GRAINS.replace("SETTLE", "0.0")
    wrong = {
        "clump: rod": ("clump: rock", "clump of 'rods'.*one of rod, corner"),
        "xyz: [1.4, 0, 0], radius": ("xyz: [3.4, 0, 0], radius", "hang together"),
        "{xyz: [1.4, 0, 0], radius: 1.0}": ("{xyz: [1.4, 0, 0]}", "radius"),
        ", {xyz: [1.4, 0, 0], radius: 1.0}": ("", "2 to 200; a grain without a clump is one sphere"),
        "radius: 2}": ("radius: 2, mass: 3}", "'mass'"),
        "clumps:": (f"clumps:\n    top: {{inertia: [1, 1, 3, 0, 0, 0], spheres: {ROD}}}", "triangle inequality"),
    }
    for one, (other, message) in wrong.items():
        assert one in good
        with pytest.raises(grouser.MachineError, match=message):
            parse_world(good.replace(one, other), "wrong.yaml")
