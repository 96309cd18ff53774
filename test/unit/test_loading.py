"""Machines and worlds by name, with other arguments and other values."""

import numpy as np
import pytest

from grouser import MachineError, ParameterError, Simulation, load_machine, load_soil, load_world
from grouser.catalogue import machine_file, world_file
from grouser.physics.description import load_machine as load_machine_file


def test_names_are_those_of_the_command_line():
    assert load_machine("hydraulic_lift").source == load_machine_file(machine_file("hydraulic_lift")).source
    assert load_machine(machine_file("four_bar")).name == load_machine("four_bar").name
    assert load_world("sand").source == world_file("sand").read_text(encoding="utf-8")
    with pytest.raises(MachineError, match="did you mean 'hydraulic_lift'"):
        load_machine("hydraulic_lif")
    with pytest.raises(MachineError, match="did you mean 'sand'"):
        load_world("snd")


def test_arguments_are_those_of_the_xacro_file():
    machine = load_machine("hydraulic_lift", {"stroke": 0.6}, bore=0.06)
    assert (machine.cylinders[0].bore, machine.cylinders[0].stroke) == (0.06, 0.6)
    with pytest.raises(ParameterError, match="did you mean 'bore'"):
        load_machine("hydraulic_lift", bor=0.06)
    with pytest.raises(ParameterError, match="given once"):
        load_machine("hydraulic_lift", {"bore": 0.05}, bore=0.06)


def test_worlds_from_mappings():
    world = load_world({"gravity": np.float64(3.7), "ground": {"soil": {"type": "dry_sand", "level": "stress"}}})
    assert world.gravity == (0.0, 0.0, -3.7)
    assert world.ground.soil.soils[0] == load_soil("dry_sand")
    with pytest.raises(MachineError, match="did you mean 'ground'"):
        load_world({"grond": {}})
    with pytest.raises(ParameterError, match="ground soil"):
        load_world({"ground": {"soil": object()}})


def test_values_by_path():
    machine = load_machine("hydraulic_lift")
    other = machine.replace(
        {
            "cylinder.lift.bore": 0.0625,
            "cylinder.lift.holding_brake": False,
            "fluid.bulk_modulus": 1.1e9,
            "joint.lift.dynamics.damping": 3.0,
            "joint_friction.lift.static": 20.0,
            "joint_friction.lift.kinetic": np.float64(15.0),
            "link.load.inertial.mass.value": 123,
            "joint.lift.origin.xyz": [0.0, 0.0, 0.75],
        }
    )
    (cylinder,), (friction,) = other.cylinders, other.frictions
    assert (cylinder.bore, cylinder.holding_brake, other.fluid.bulk_modulus) == (0.0625, False, 1.1e9)
    assert (friction.joint, friction.static, friction.kinetic) == ("lift", 20.0, 15.0)
    assert next(link.inertial.mass for link in other.links if link.name == "load") == 123.0
    joint = next(joint for joint in other.joints if joint.name == "lift")
    assert (joint.damping, joint.pose.position[2]) == (3.0, 0.75)
    assert other.arguments == machine.arguments
    assert machine.cylinders[0].bore != 0.0625


def test_a_machine_without_changes_is_the_same():
    machine = load_machine("hydraulic_lift")
    again = machine.replace({})
    assert again == machine
    fingerprints = {Simulation(one).snapshot().system for one in (machine, again)}
    assert len(fingerprints) == 1
    assert Simulation(machine.replace({"cylinder.lift.bore": 0.07})).snapshot().system not in fingerprints


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("cylinder.lif.bore", 0.1, "did you mean 'lift'"),
        ("cylinder.lift.boree", 0.1, "did you mean 'bore'"),
        ("cylindr.lift.bore", 0.1, "did you mean 'cylinder'"),
        ("cylinder.lift.bore", None, "a number"),
        ("joint.lift.limits.effort", 1.0, "did you mean 'limit'"),
        ("link.load", 1.0, "there is no such <link>"),
        ("fluid.bulk", 1.0, "bulk_modulus"),
        (3, 1.0, "a text"),
    ],
)
def test_paths_that_lead_to_nothing_are_refused(path, value, said):
    with pytest.raises(ParameterError, match=said):
        load_machine("hydraulic_lift").replace({path: value})


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [("cylinder.lift.bore", -1.0, "above 0"), ("joint_friction.nowhere.static", 1.0, "there is no such joint")],
)
def test_changed_descriptions_are_checked(path, value, said):
    with pytest.raises(MachineError, match=said):
        load_machine("hydraulic_lift").replace({path: value})


def test_texts_say_what_there_is():
    machine = load_machine("hydraulic_lift")
    assert repr(machine) == "<Machine 'hydraulic_lift': 3 links, 2 joints, 1 valve, 1 cylinder>"
    simulation = Simulation(machine, load_world("flat"))
    assert repr(load_world("flat")) == "<World 'flat': gravity 9.81 m/s2, plane>"
    assert repr(load_world("sand")) == "<World 'sand': gravity 9.81 m/s2, plane of 'dry_sand'>"
    dry_sand = "<Soil 'dry_sand': exponent 1.1, cohesion 1040 Pa, friction angle 28 deg, density 1600 kg/m3>"
    assert repr(load_soil("dry_sand")) == dry_sand
    assert repr(simulation) == "<Simulation of 'hydraulic_lift' in 'flat' at t = 0 s, steps of 0.001 s>"
    assert repr(simulation.snapshot()) == "<Snapshot after 0 steps>"
    assert repr(simulation.circuit) == f"<circuit: {len(simulation.circuit.lines)} lines, 1 valve>"
