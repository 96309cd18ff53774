"""The track's test rig: spinning at a standstill, in the air, under its program."""

import math

import numpy as np
import pytest
from rolling_belt import rolled_beyond

from grouser import Simulation, World, load_machine, load_soil
from grouser.catalogue import machine_file, program_file
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import Ground
from grouser.program import load_program

LOAD, LENGTH, WIDTH = 1e4, 1.5, 0.25
RIG = {"load": LOAD, "length": LENGTH, "width": WIDTH, "pretension": 1e9, "shoes": 48, "thickness": 1e-3}


def rig(world, **arguments):
    texts = {name: repr(value) for name, value in (RIG | arguments).items()}
    return Simulation(load_machine(machine_file("tracked_testbed"), texts), world)


def set_down(simulation):
    for share in np.linspace(1.0, 0.0, 100):
        simulation.command["slide"] = LOAD * share
        simulation.step(10)


@pytest.mark.parametrize(("name", "way"), [("dry_sand", 1.0), ("clay", -1.0)])
def test_track_that_spins_at_a_standstill_pulls_with_the_strength_of_the_soil(name, way):
    """All of c A + W tan phi once each shoe has slid by many K; 3 %: the arcs touch as well."""
    soil = load_soil(name)
    simulation = rig(World(ground=Ground(soil=SoilGround((soil,)))))
    set_down(simulation)
    simulation.command["drive"], simulation.command["rail"] = way * 0.5 / 0.2, 0.0
    simulation.step(4000)
    thrust = []
    for _ in range(100):
        simulation.step(10)
        thrust.append(way * simulation.track["track"].thrust)
    state = simulation.track["track"]
    assert np.mean(thrust) == pytest.approx(
        LENGTH * WIDTH * soil.cohesion + LOAD * math.tan(soil.friction_angle), rel=0.03
    )
    assert state.slip_ratio == pytest.approx(1.0, abs=1e-6)
    assert abs(state.speed) < 1e-6
    assert simulation.diagnostics.unsettled_steps == 0


def test_track_in_the_air_runs_without_force():
    simulation = rig(World())
    simulation.command["slide"], simulation.command["drive"] = 1.5 * LOAD, 1.0 / 0.2
    simulation.step(500)
    lost = simulation.energy_balance().dissipation.get("shear under track track", 0.0)
    simulation.step(500)
    state = simulation.track["track"]
    assert state.belt_speed == pytest.approx(1.0, rel=1e-3)
    for name in ("normal_force", "thrust", "resistance", "side_force", "sinkage", "shoes_in_contact"):
        assert getattr(state, name) == 0.0
    assert state.tight_tension == state.slack_tension == RIG["pretension"]
    assert simulation.energy_balance().dissipation.get("shear under track track", 0.0) == lost


def test_program_of_the_rig_settles_in_each_step():
    sand = World(ground=Ground(soil=SoilGround((load_soil("dry_sand"),))))
    simulation = Simulation(load_machine(machine_file("tracked_testbed")), sand)
    program = load_program(program_file("tracked_testbed"))
    while simulation.time < 25.0:
        for name, value in program.values(simulation.time).items():
            simulation.command[name] = value
        simulation.step(20)
    assert simulation.joint_position["rail"] > 2.0
    assert simulation.diagnostics.unsettled_steps == 0
    assert np.all(np.isfinite(simulation.state.v))


@pytest.mark.parametrize(
    "values", [{"thickness": 0.04, "pretension": 2e4}, {"thickness": 0.04, "radius": 0.13, "load": 3e4}]
)
def test_track_rolls_farther_than_its_belt_by_its_faster_shoes_on_the_arcs(values):
    """Within 0.1 % of the way, of the balance of shear along the contact: a free carriage."""
    texts = {name: repr(value) for name, value in (RIG | {"rail_length": 100.0} | values).items()}
    machine = load_machine(machine_file("tracked_testbed"), texts | {"carriage": "free"})
    simulation, (track,) = Simulation(machine, World()), machine.tracks
    simulation.step(500)
    for share in np.linspace(0.01, 1.0, 100):
        simulation.command["drive"] = share * 0.3 / track.radius
        simulation.step(20)
    simulation.step(3000)
    begin, turned = simulation.joint_position["rail"], simulation.joint_position["drive"]
    simulation.step(4000)
    rolled = track.radius * (simulation.joint_position["drive"] - turned)
    expected = rolled_beyond(track, values.get("load", LOAD), 0.0, 0.3, 0.0, 0.7)
    assert (simulation.joint_position["rail"] - begin) / rolled - 1.0 == pytest.approx(expected, abs=1e-3)
    assert expected > 2e-3
