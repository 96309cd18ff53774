"""Trees in free flight: their centre of mass, whatever happens inside."""

import numpy as np
import pytest
from momentum import centre_of_mass

from grouser import Simulation, World
from grouser.physics.description.data.pose import Pose


def arm_with_cylinder(parts):
    """A free base with an arm on a cylinder, and a second hinge."""
    cylinder = (
        '<fluid/><pump supply_pressure="12e6"/><directional_valve name="v" spool_diameter="0.006" spool_travel="2e-4"/>'
        '<cylinder name="c" valve="v" bore="0.04" rod_diameter="0.02" stroke="0.45" retracted_length="0.4"'
        ' piston_mass="1" dead_volume_piston_side="1e-4" dead_volume_rod_side="1e-4">'
        '<barrel link="base" xyz="-0.35 0 0"/><rod link="arm" xyz="0.3 0 0"/></cylinder>'
    )
    return parts.machine(
        parts.link("base", 30.0, (2.0, 3.0, 4.0), com=(0.1, 0.0, 0.05)),
        parts.link("arm", 8.0, (0.4, 0.5, 0.6), com=(0.5, 0.0, 0.02)),
        parts.link("tool", 3.0, (0.05, 0.03, 0.06), com=(0.1, 0.05, 0.0)),
        parts.joint("shoulder", "continuous", "base", "arm"),
        parts.joint("wrist", "continuous", "arm", "tool", axis=(0, 1, 0), xyz=(0.9, 0.0, 0.0)),
        extension=cylinder + '<initial_position joint="shoulder" position="-0.7"/>',
    )


@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (0.4, -1.0, -9.81)])
def test_centre_of_mass_of_a_free_machine(parts, gravity):
    world = World(gravity=gravity, ground=None, spawn=Pose((3.0, -2.0, 10.0)))
    simulation = Simulation(arm_with_cylinder(parts), world)
    simulation.state.v[:] = [0.2, -0.3, 0.1, 0.4, -0.2, 0.6, 5.0, 9.0]
    position, velocity = centre_of_mass(simulation)
    for k in range(60):
        simulation.command["v"] = 0.8 * np.sin(0.7 * k)
        simulation.step(20)
        velocity = velocity + 20e-3 * np.array(gravity)
        # semi-implicit Euler: positions move at the velocity at the end of each step
        position = position + 20e-3 * velocity - 190e-6 * np.array(gravity)
        now, speed = centre_of_mass(simulation)
        assert np.abs(speed - velocity).max() < 1e-9
        assert np.abs(now - position).max() < 1e-9


def test_a_machine_that_is_touched_is_pushed(parts):
    """The correction ends where something outside acts: a falling machine is stopped by the ground."""
    sphere = '<sphere radius="0.1"/>'
    machine = parts.machine(
        parts.link("base", 2.0, (0.01, 0.01, 0.01), shape=sphere),
        parts.link("flap", 0.5, (0.01, 0.01, 0.01), com=(0.1, 0.0, 0.0)),
        parts.joint("hinge", "continuous", "base", "flap", axis=(0, 1, 0), xyz=(0.0, 0.0, 0.3)),
    )
    simulation = Simulation(machine, World(spawn=Pose((0.0, 0.0, 0.5))))
    simulation.step(2000)
    _, velocity = centre_of_mass(simulation)
    assert simulation.link_pose("base")[0][2] == pytest.approx(0.1, abs=1e-3)
    assert abs(velocity[2]) < 3.0
