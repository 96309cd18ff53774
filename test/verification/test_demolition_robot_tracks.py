"""The demolition robot on its tracks: turns as it is told, and tracks on arms."""

import math
from dataclasses import replace

import numpy as np
import pytest

from grouser import Simulation, World, load_machine
from grouser.catalogue import machine_file
from grouser.program import TWIST
from grouser.runtime.driving import Driver
from grouser.runtime.vehicle_parts import make_vehicle

ARMS = tuple(f"track_arm_{end}_{side}" for end in ("front", "rear") for side in ("left", "right"))
# From an arm's axis to that of the sprocket at its outer end [m].
REACH = 0.38
TICK = 20


def _machine(**arguments):
    return load_machine(machine_file("demolition_robot"), {"stance": "tracks", **arguments})


def _heading(simulation):
    _, _, z, w = simulation.base_pose()[1]
    return 2.0 * math.atan2(z, w)


@pytest.mark.parametrize(("forward", "yaw"), [(0.3, 0.05), (0.3, 0.3), (0.0, 0.1), (0.0, -0.4), (0.0, 0.8)])
def test_demolition_robot_turns_about_as_it_is_told(forward, yaw):
    """Its contact is shorter than that of the even pressure by which commands are made: it turns by more."""
    machine = _machine()
    simulation, vehicle = Simulation(machine, World()), make_vehicle(machine)
    driver, headings = Driver(vehicle, simulation), []
    simulation.step(300)
    for _ in range(200):
        for name, value in driver.commands(dict(zip(TWIST, (forward, 0.0, yaw), strict=True)), 0.02).items():
            simulation.command[name] = value
        simulation.step(TICK)
        headings.append(_heading(simulation))
    turned = np.unwrap(headings)
    assert 0.9 < (turned[-1] - turned[-101]) / 2.0 / yaw < 1.45
    for side in ("left", "right"):
        front, rear = (simulation.joint_velocity[f"sprocket_{end}_{side}"] for end in ("front", "rear"))
        assert front == pytest.approx(rear, rel=0.1, abs=0.25)


def test_motors_of_a_side_in_series_or_side_by_side_are_found_with_their_direction():
    machine = _machine()
    wheels = {wheel.name: (wheel.valve, wheel.valve_sense) for wheel in make_vehicle(machine).wheels}
    assert wheels["rear_left"] == wheels["front_left"] == ("track_left_valve", 1.0)
    rear = next(motor for motor in machine.hydraulic_motors if motor.name == "track_rear_left")
    others = tuple(motor for motor in machine.hydraulic_motors if motor is not rear)
    turned = replace(machine, hydraulic_motors=(*others, replace(rear, a=rear.b, b=rear.a)))
    assert {wheel.name: wheel.valve_sense for wheel in make_vehicle(turned).wheels}["rear_left"] == -1.0
    valve = next(valve for valve in machine.valves if valve.name == "track_left_valve")
    beside = tuple(
        replace(motor, a=valve.a, b=valve.b) if motor.name.endswith("left") else motor
        for motor in machine.hydraulic_motors
    )
    found = {wheel.name: wheel.valve for wheel in make_vehicle(replace(machine, hydraulic_motors=beside)).wheels}
    assert found["front_left"] == found["rear_left"] == "track_left_valve"


def test_track_arms_lift_the_machine_as_far_as_they_turn():
    simulation = Simulation(_machine(track_arms="true"), World())
    simulation.step(500)
    before = simulation.base_pose()[0][2]
    for name in ARMS:
        simulation.command[f"{name}_valve"] = 0.6
    simulation.step(2000)
    for name in ARMS:
        simulation.command[f"{name}_valve"] = 0.0
    simulation.step(500)
    turned = np.abs([simulation.joint_position[name] for name in ARMS])
    assert turned == pytest.approx(np.full(4, turned.mean()), rel=0.05)
    assert turned.min() > 0.2
    assert simulation.base_pose()[0][2] - before == pytest.approx(REACH * math.sin(turned.mean()), rel=0.05)
    # the brakes hold it, and it drives on its outer ends
    simulation.command["track_left_valve"] = simulation.command["track_right_valve"] = 0.4
    simulation.step(2000)
    assert simulation.base_pose()[0][0] > 0.4
    assert np.abs([simulation.joint_position[name] for name in ARMS]) == pytest.approx(turned, abs=1e-2)
    assert simulation.diagnostics.unsettled_steps == 0


def test_rear_track_that_is_lifted_clears_a_step_and_the_machine_stays_level():
    simulation = Simulation(_machine(track_arms="true"), World())
    for name in ARMS[2:]:
        simulation.command[f"{name}_valve"] = -1.0
    simulation.step(3000)
    assert [simulation.joint_position[name] for name in ARMS[2:]] == pytest.approx([-0.45, -0.45], abs=5e-3)
    x, y, _, _ = simulation.base_pose()[1]
    assert 2.0 * math.hypot(x, y) < math.radians(1.0)
    position, quaternion = simulation.link_pose("sprocket_rear_left_link")
    assert len(quaternion) == 4
    assert position[2] - 0.15 == pytest.approx(REACH * math.sin(0.45), abs=0.01)
