"""The plant in lockstep: every signal that it lists can be measured, and says what the simulation says."""

import math

import numpy as np
import pytest
from shipped import shipped_machine

import grouser
from grouser.bridges.simulation_plant import SimulationPlant
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.rotation import quaternion_from_rpy


def standing(name):
    simulation = grouser.Simulation(shipped_machine(name), grouser.World(), step=0.001)
    simulation.step(20)
    return simulation, SimulationPlant(simulation)


@pytest.mark.parametrize("name", ["rover", "demolition_robot"])
def test_every_listed_measurement_can_be_measured(name):
    _, plant = standing(name)
    measured = plant.measure(list(plant.measurements))
    assert list(measured) == list(plant.measurements)
    assert all(map(math.isfinite, measured.values()))


def test_measurements_are_those_of_the_simulation():
    simulation, plant = standing("rover")
    position, quaternion = simulation.base_pose()
    (name,) = simulation.sensors.imu
    imu = simulation.sensors.imu[name]
    link = next(link for link in simulation.machine.links if link.collisions).name
    joint = simulation.machine.drives[0].joint
    expected = {
        "pose/z": position[2],
        "twist/angular_y": simulation.base_twist()[1][1],
        f"imu/{name}/linear_acceleration_z": imu.specific_force[2],
        f"contact/{link}/force_z": simulation.contact_wrench[link][2],
        f"joint/{joint}/velocity": simulation.joint_velocity[joint],
    }
    assert plant.measure(list(expected)) == expected
    angles = plant.measure(["pose/roll", "pose/pitch", "pose/yaw"]).values()
    np.testing.assert_allclose(np.abs(np.dot(quaternion_from_rpy(*angles), quaternion)), 1.0, atol=1e-12)


def test_commands_and_what_is_refused():
    simulation, plant = standing("demolition_robot")
    plant.command({"valve/boom_valve": 0.25})
    assert simulation.command["boom_valve"] == 0.25
    with pytest.raises(ParameterError, match="did you mean 'valve/boom_valve'"):
        plant.command({"valve/bom_valve": 0.0})
    with pytest.raises(ParameterError, match="did you mean 'pose/roll'"):
        plant.measure(["pose/rol"])
    with pytest.raises(ParameterError, match="from -1 to 1"):
        plant.command({"valve/boom_valve": 1.5})
