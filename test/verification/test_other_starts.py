"""A simulation that starts at other positions of its joints is the machine with these initial positions."""

import numpy as np
import pytest
from shipped import shipped_machine

from grouser import MachineError, ParameterError, Simulation
from grouser.physics.base.trees import leaves


def states(simulation):
    return np.concatenate([array.ravel().astype(float) for array in leaves(simulation.state)])


@pytest.fixture(scope="module")
def excavator():
    return Simulation(shipped_machine("excavator"))


def test_start_is_that_of_a_machine_with_this_initial_position():
    machine = shipped_machine("hydraulic_lift")
    other = Simulation(machine.replace({"initial_position.lift.position": 0.2}))
    simulation = Simulation(machine)
    simulation.command["lift_valve"] = 1.0
    simulation.step(50)
    simulation.reset({"lift": 0.2})
    for each in (simulation, other):
        each.command["lift_valve"] = 0.3
        each.step(100)
    assert np.array_equal(states(simulation), states(other)), "to the last bit"
    assert simulation.cylinder["lift"].position > 0.2


def test_linkage_and_cylinders_follow_a_joint(excavator):
    """The bucket's four-bar closes on its branch, and the weights are carried by the pistons where they are."""
    excavator.reset({"boom": 0.4, "stick": -1.4, "tipping_lever": 2.2})
    assert excavator.joint_position["tipping_lever"] == 2.2
    assert np.abs(excavator.joint_deflection["bucket_pin"][:3]).max() < 1e-9
    bucket = excavator.joint_position["bucket"]
    pistons = {name: excavator.cylinder[name].position for name in ("boom", "stick", "bucket")}
    excavator.step(500)
    assert excavator.joint_position["bucket"] == pytest.approx(bucket, abs=0.01), "the oil gives way a little"
    for name, position in pistons.items():
        assert excavator.cylinder[name].position == pytest.approx(position, abs=3e-3)
    # opened by its cylinder, from the start, the bucket comes to the same place
    excavator.reset()
    while excavator.joint_position["tipping_lever"] < 2.2:
        excavator.command["bucket_valve"] = -1.0
        excavator.step(5)
    assert excavator.joint_position["bucket"] == pytest.approx(bucket, abs=0.05)


def test_positions_that_cannot_be_are_refused_and_the_start_stays(excavator):
    excavator.reset()
    start = states(excavator)
    for wrong in ({"boom": 3.0}, {"bom": 0.1}, {"tipping_lever": 1.5, "bucket": 0.4}, {"boom": float("nan")}):
        with pytest.raises(ParameterError):
            excavator.reset(wrong)
        assert np.array_equal(states(excavator), start)
    lift = Simulation(shipped_machine("hydraulic_lift"))
    with pytest.raises(MachineError, match="outside its range"):
        lift.reset({"lift": -0.01})
