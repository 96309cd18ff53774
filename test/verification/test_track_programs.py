"""Programs of tracked machines: what they do, and that every step of them is solved."""

import math
from dataclasses import replace

import numpy as np
import pytest

from grouser import Simulation, load_machine, load_world
from grouser.catalogue import machine_file, program_file, world_file
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box
from grouser.program import load_program

ARMS = tuple(f"track_arm_{end}_{side}" for end in ("front", "rear") for side in ("left", "right"))
TICK = 0.01
# Pitch or roll at which a machine falls over [rad].
TIPPED = 0.5


def played(simulation, program):
    """Plays a program to its end, as far as it commands what the machine has; returns the largest tilt [rad]."""
    commands, tilt = load_program(program_file(program)), 0.0
    while not commands.finished(simulation.time):
        for name, value in commands.values(simulation.time).items():
            if name in simulation.command:
                simulation.command[name] = value
        simulation.step(round(TICK / simulation.step_size))
        x, y, _, _ = simulation.base_pose()[1]
        tilt = max(tilt, 2.0 * math.hypot(x, y))
        if tilt > TIPPED:
            break
    for name in simulation.command:
        if name.endswith("_valve"):
            simulation.command[name] = 0.0
    simulation.step(500)
    return tilt


def step_of(height, friction=0.7, away=0.0):
    """The world `step` with a step of another height, friction and distance."""
    world = load_world(world_file("step"))
    (step,) = world.obstacles
    box = Box((*step.geometry.size[:2], height))
    x, y, _ = step.pose.position
    moved = replace(step, geometry=box, pose=Pose((x + away, y, 0.5 * height)), friction=friction)
    return replace(world, obstacles=(moved,))


def on_tracks(arms):
    return load_machine(machine_file("demolition_robot"), {"stance": "tracks", "track_arms": arms, "lidar": "false"})


@pytest.mark.parametrize("world", ["flat", "sand"])
def test_program_of_the_testbed_drives_at_its_slips_and_is_solved(world):
    machine = load_machine(machine_file("tracked_testbed"))
    simulation = Simulation(machine, load_world(world_file(world)))
    program, slips = load_program(program_file("tracked_testbed")), {}
    program.check([], {drive.joint: drive.mode for drive in machine.drives})
    for end in (11.5, 23.5, 25.0):
        while simulation.time < end:
            simulation.command.update(program.values(simulation.time))
            simulation.step(round(TICK / simulation.step_size))
        track = simulation.track["track"]
        slips[end] = track.slip_ratio
        assert np.isfinite([track.thrust, track.sinkage, track.tight_tension]).all()
    assert [slips[11.5], slips[23.5]] == pytest.approx([0.2, 0.5], abs=0.01)
    assert simulation.diagnostics.unsettled_steps == 0


@pytest.mark.parametrize(("height", "friction", "away"), [(0.2, 0.7, 0.0), (0.17, 0.55, 0.04)])
def test_demolition_robot_climbs_a_step_on_its_track_arms(height, friction, away):
    """The shipped world, and a step that is lower, more slippery and farther away."""
    simulation = Simulation(on_tracks("true"), step_of(height, friction, away))
    assert played(simulation, "demolition_robot_step") < math.radians(20.0)
    x, _, z = simulation.base_pose()[0]
    # all of it is on the step, and stands level there
    assert x - 0.75 > 1.1 + away
    assert z == pytest.approx(height, abs=0.02)
    tilt = 2.0 * math.hypot(*simulation.base_pose()[1][:2])
    assert tilt < math.radians(2.0)
    assert np.abs([simulation.joint_position[arm] for arm in ARMS]).max() < 0.1
    assert {contact.link for contact in simulation.contacts()} <= {f"track_{arm[10:]}" for arm in ARMS}
    assert simulation.diagnostics.unsettled_steps == 0


def test_demolition_robot_on_fixed_tracks_climbs_no_more_than_half_of_that():
    """It has the same program, in which it swings its arm aside."""
    for height, climbs in ((0.07, True), (0.1, False)):
        simulation = Simulation(on_tracks("false"), step_of(height))
        played(simulation, "demolition_robot_step")
        assert (simulation.base_pose()[0][0] > 1.7) == climbs
        assert (simulation.base_pose()[0][2] > 0.5 * height) == climbs
