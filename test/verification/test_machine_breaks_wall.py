"""The demolition robot breaks a wall with its tool, and clears the rubble."""

import numpy as np
import pytest

import grouser
from grouser import catalogue
from grouser.physics.base.spatial import matrix
from grouser.program import load_program
from grouser.trials.playing import play


def test_tool_breaks_a_wall_into_pieces():
    """The swing of its program through the wall; the wall stands in equilibrium, asleep, until the tool comes."""
    simulation = grouser.Simulation(grouser.load_machine("demolition_robot"), grouser.load_world("rubble"))
    blocks, start = simulation.blocks, simulation.blocks.position
    program = load_program(catalogue.program_file("demolition_robot_wall"))
    play(simulation, program, 3500)
    assert blocks.asleep
    assert blocks.broken == 0.0
    assert np.abs(blocks.position - start).max() < 1e-6
    simulation.reset()
    energy = blocks.energy().total
    play(simulation, program, 5700)
    assert blocks.broken > 0.5
    assert len(set(blocks.pieces.tolist())) > 5
    moved = np.linalg.norm(blocks.position - start, axis=1)
    # pushed out by more than the wall is thick
    assert moved.max() > 0.2
    # the blocks have what the tool has lost; contacts between faces that change are off by some per cent (limits.md)
    balance = simulation.energy_balance()
    work = -balance.actuator_work["blocks on tool_link"]
    assert blocks.energy().total - energy == pytest.approx(work, rel=0.05)
    assert abs(balance.residual) < 1e-3 * work


def test_bucket_clears_the_rubble():
    """Two of three sweeps of its program: most of the mass leaves a strip along the wall, 0.4 m to either side."""
    machine = grouser.load_machine("demolition_robot", {"tool": "bucket", "lidar": "false"})
    world = grouser.load_world("rubble")
    simulation = grouser.Simulation(machine, world)
    blocks, (wall,) = simulation.blocks, world.blocks.walls
    along = matrix(wall.pose.quaternion)

    def inside() -> float:
        place = (blocks.position - wall.pose.position) @ along
        return float(blocks.mass[(np.abs(place[:, 0]) < 0.9) & (np.abs(place[:, 1]) < 0.4)].sum())

    assert inside() == pytest.approx(blocks.mass.sum())
    play(simulation, load_program(catalogue.program_file("demolition_robot_clearing")), 18600)
    assert inside() < 0.3 * blocks.mass.sum()
    # to the right, by the tool, and not through the ground
    cleared = ((blocks.position - wall.pose.position) @ along)[:, 1]
    assert np.sum(cleared < -0.4) > 0.7 * len(blocks)
    assert blocks.position[:, 2].min() > 0.0
    assert simulation.energy_balance().actuator_work["blocks on tool_link"] < 0.0
