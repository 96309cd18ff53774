"""Servo drives against closed forms: sag, saturation, speed, braking, and stability at any stiffness."""

from contextlib import nullcontext

import numpy as np
import pytest

from grouser import Simulation, World

GRAVITY = 9.81
AIR = World(ground=None)


def bounded(name, kind, child, lower, upper, axis, velocity):
    """URDF text of a joint with limits."""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="world"/><child link="{child}"/><axis xyz="{axis}"/>'
        f'<limit lower="{lower}" upper="{upper}" effort="1e9" velocity="{velocity}"/></joint>'
    )


def slider(parts, mass, extension, axis=(1, 0, 0), kind="prismatic"):
    """A body of this mass, and this inertia about its axis, on one joint."""
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("body", mass, (mass, mass, mass)),
        parts.joint("slide", kind, "world", "body", axis=axis),
        extension=extension,
    )
    return Simulation(machine, AIR)


def drive(mode, limit=1e9, stiffness=0.0, damping=0.0, joint="slide"):
    numbers = f'stiffness="{stiffness}" damping="{damping}" effort_limit="{limit}"'
    return f'<servo_drive joint="{joint}" mode="{mode}" {numbers}/>'


def test_position_drive_sags_by_load_over_stiffness(parts):
    simulation = slider(parts, 5.0, drive("position", stiffness=2e4, damping=600), axis=(0, 0, 1))
    simulation.command["slide"] = 0.2
    simulation.step(2000)
    # exp(-60 * 2 s): the transient is below the solver's tolerance
    assert simulation.joint_position["slide"] == pytest.approx(0.2 - 5.0 * GRAVITY / 2e4, abs=1e-9)


def test_velocity_drive_accelerates_with_its_limit_and_reaches_its_speed(parts):
    simulation = slider(parts, 0.05, drive("velocity", limit=4, damping=2), axis=(0, 0, 1), kind="continuous")
    simulation.command["slide"] = 12.0
    for steps in range(1, 101):  # saturated up to 12 - 4 / 2 = 10 rad/s
        simulation.step()
        assert simulation.joint_velocity["slide"] == pytest.approx(4 / 0.05 * steps * 1e-3, rel=1e-12)
        assert simulation.joint_effort["slide"] == pytest.approx(4.0, rel=1e-12)
    simulation.step(900)
    assert simulation.joint_velocity["slide"] == pytest.approx(12.0, rel=1e-9)


def test_velocity_commands_stay_within_the_joints_speed_limit(parts):
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("body", 1.0),
        bounded("slide", "prismatic", "body", -100, 100, axis="1 0 0", velocity=0.5),
        extension=drive("velocity", damping=1e3),
    )
    simulation = Simulation(machine, AIR)
    simulation.command["slide"] = -3.0
    simulation.step(1000)
    assert simulation.joint_velocity["slide"] == pytest.approx(-0.5, rel=1e-9)


@pytest.mark.parametrize("command, effort", [(12.0, 12.0), (50.0, 30.0), (-50.0, -30.0)])
def test_effort_drive_gives_its_command_up_to_its_limit(parts, command, effort):
    simulation = slider(parts, 2.0, drive("effort", limit=30))
    simulation.command["slide"] = command
    simulation.step(100)
    assert simulation.joint_velocity["slide"] == pytest.approx(effort / 2.0 * 0.1, rel=1e-12)


@pytest.mark.parametrize("stiffness, damping, told", [(1e9, 0.0, ""), (1e9, 1e7, ""), (1e4, 0.0, '"lower" turns by')])
def test_stiff_drives_are_stable_at_long_steps(parts, stiffness, damping, told):
    chain = parts.machine(
        '<link name="world"/>',
        parts.link("upper", 30.0, (1.0, 1.0, 1.0), com=(0.5, 0, 0)),
        parts.link("lower", 0.3, (0.01, 0.01, 0.01), com=(0.3, 0, 0)),
        parts.joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0)),
        parts.joint("elbow", "revolute", "upper", "lower", axis=(0, 1, 0), xyz=(1, 0, 0)),
        extension="".join(drive("position", 1e12, stiffness, damping, name) for name in ("shoulder", "elbow")),
    )
    simulation = Simulation(chain, AIR, step=1e-2)
    simulation.command.update({"shoulder": 0.5, "elbow": -1.0})
    positions = []
    with pytest.warns(RuntimeWarning, match=told) if told else nullcontext():
        for _ in range(500):
            simulation.step()
            positions.append(simulation.joint_position.values())
    # the overshoot of implicit Euler is at most the travel
    assert np.abs(positions).max() < 2.0
    # m g l / k, at most 156 N m / 1e4 N m/rad; undamped oscillations at 3 Hz are numerically damped within 5 s
    assert positions[-1] == pytest.approx([0.5, -1.0], abs=160 / stiffness + 1e-6)


def test_emergency_stop_brakes_with_the_effort_limit(parts):
    simulation = slider(parts, 0.05, drive("velocity", limit=4, damping=2), axis=(0, 0, 1), kind="continuous")
    simulation.command["slide"] = 12.0
    simulation.step(1000)
    simulation.emergency_stop = True
    simulation.step(100)
    assert simulation.joint_velocity["slide"] == pytest.approx(12.0 - 4 / 0.05 * 0.1, rel=1e-9)
    simulation.step(51)
    assert simulation.joint_velocity["slide"] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("limit", [40.0, 60.0])
def test_braked_drive_holds_no_more_than_its_effort_limit(parts, limit):
    simulation = slider(parts, 5.0, drive("effort", limit=limit), axis=(0, 0, 1))
    simulation.emergency_stop = True
    simulation.step(500)
    falling = min(limit - 5.0 * GRAVITY, 0.0) / 5.0 * 0.5
    assert simulation.joint_velocity["slide"] == pytest.approx(falling, rel=1e-9)


def braked_slider(parts, damping, holding, axis=(0, 0, 1), mass=5.0):
    text = drive("velocity", damping=damping).replace("/>", f' holding_effort="{holding}"/>')
    return slider(parts, mass, text, axis=axis)


@pytest.mark.parametrize("holding", [40.0, 60.0])
def test_holding_brake_of_a_drive_holds_up_to_its_effort_without_creeping(parts, holding):
    """Beyond it the drive's damping carries the rest: v = (m g - F) / d."""
    simulation = braked_slider(parts, 100.0, holding)
    simulation.step(5000)
    assert simulation.joint_velocity["slide"] == pytest.approx(-max(5.0 * GRAVITY - holding, 0.0) / 100.0, abs=1e-12)
    if holding > 5.0 * GRAVITY:
        assert simulation.joint_position["slide"] == 0.0


def test_holding_brake_of_a_drive_lets_a_command_move_it_and_engages_slowly(parts):
    """It brakes only what is slower than F / d, so that it never brakes harder than the drive does itself."""
    simulation = braked_slider(parts, 100.0, 20.0, axis=(1, 0, 0))
    simulation.command["slide"] = 1e-3
    simulation.step(2000)
    assert simulation.joint_velocity["slide"] == pytest.approx(1e-3, rel=1e-9)
    simulation.command["slide"] = 2.0
    simulation.step(1000)
    simulation.command["slide"] = 0.0
    speed = simulation.joint_velocity["slide"]
    while speed > 0.0:
        simulation.step()
        # implicit damping, and the brake where the speed at the start of the step allows it
        brake = 20.0 if speed <= 20.0 / 100.0 else 0.0
        speed = max((5.0 * speed - 1e-3 * brake) / (5.0 + 1e-3 * 100.0), 0.0)
        assert simulation.joint_velocity["slide"] == pytest.approx(speed, abs=1e-12)


def test_holding_brake_of_a_drive_adds_to_the_emergency_stop(parts):
    text = drive("velocity", limit=4, damping=2).replace("/>", ' holding_effort="2"/>')
    simulation = slider(parts, 0.05, text, axis=(0, 0, 1), kind="continuous")
    simulation.command["slide"] = 12.0
    simulation.step(1000)
    simulation.emergency_stop = True
    simulation.step(50)
    assert simulation.joint_velocity["slide"] == pytest.approx(12.0 - (4 + 2) / 0.05 * 0.05, rel=1e-9)
