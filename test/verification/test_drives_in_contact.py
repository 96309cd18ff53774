"""Saturated servo drives of any stiffness against contacts: balance of forces, and rigid bodies."""

import numpy as np
import pytest

from grouser import Simulation, World
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box
from grouser.physics.description.data.world import Ground, Obstacle

GRAVITY = 9.81
STEP = 1e-3
# Tolerance of the solver: greatest change of a speed in further sweeps [m/s or rad/s].
TOLERANCE = 1e-6
ARM, SLEDGE, CARRIAGE, WHEEL, RADIUS, INERTIA = 0.5, 1.0, 50.0, 2.0, 0.125, 0.019
LOAD, MASS = (CARRIAGE + WHEEL) * GRAVITY, SLEDGE + CARRIAGE + WHEEL

# Stiffness of a position drive [N m/rad] or damping of a velocity drive [N m s/rad], which is wide of any command.
strengths = pytest.mark.parametrize("strength", [10.0**power for power in range(9)])
modes = pytest.mark.parametrize("mode", ["velocity", "position"])
FAR = 1e4


def drive(joint, mode, strength, limit):
    """A drive that is a spring or a damper alone."""
    law = "stiffness" if mode == "position" else "damping"
    return f'<servo_drive joint="{joint}" mode="{mode}" {law}="{strength}" effort_limit="{limit}"/>'


def driven_wheel(parts, mode, strength, limit, friction, obstacles=()):
    """A wheel under a carriage that translates freely, but does not rotate."""
    machine = parts.machine(
        '<link name="world"/>',
        *[parts.link(name, SLEDGE) for name in ("across", "along")],
        parts.link("carriage", CARRIAGE),
        parts.link("wheel", WHEEL, (INERTIA,) * 3, f'<sphere radius="{RADIUS}"/>'),
        parts.joint("aside", "prismatic", "world", "across", axis=(0, 1, 0)),
        parts.joint("ahead", "prismatic", "across", "along", axis=(1, 0, 0)),
        parts.joint("lift", "prismatic", "along", "carriage", axis=(0, 0, 1)),
        parts.joint("axle", "continuous", "carriage", "wheel", axis=(0, 1, 0), xyz=(0, 0, RADIUS)),
        extension=drive("axle", mode, strength, limit),
    )
    return Simulation(machine, World(ground=Ground(friction=friction), obstacles=obstacles))


def step_ahead(friction):
    """An obstacle with an upright face, higher than the wheel's axle, that the wheel touches."""
    return (Obstacle("step", Box((0.4, 1.0, 0.4)), Pose((RADIUS + 0.2, 0.0, 0.0)), friction=friction),)


def forces(simulation):
    """Force on the machine from each thing that it touches."""
    return {contact.other: contact.force_world for contact in simulation.contacts()}


@modes
@strengths
def test_arm_presses_the_floor_with_its_limit_over_its_length(parts, mode, strength):
    limit = 12.0
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("hub", 1.0, (INERTIA,) * 3),
        parts.link("tip", 1.0, (1e-3,) * 3, '<sphere radius="0.1"/>'),
        parts.joint("hinge", "continuous", "world", "hub", axis=(0, 1, 0), xyz=(0, 0, 0.1)),
        parts.joint("end", "fixed", "hub", "tip", xyz=(ARM, 0, 0)),
        extension=drive("hinge", mode, strength, limit),
    )
    simulation = Simulation(machine, World(ground=Ground(friction=0.0)))
    simulation.command["hinge"] = FAR
    for _ in range(50):
        simulation.step()
        # the force that changes the speed by the tolerance, along the radius of the tip's path
        rounding = TOLERANCE * (INERTIA + 1e-3 + ARM**2) / ARM / STEP
        assert forces(simulation)["ground"] == pytest.approx([0.0, 0.0, limit / ARM + GRAVITY], abs=rounding)
        assert simulation.joint_effort["hinge"] == pytest.approx(limit, rel=1e-12)
    assert simulation.joint_velocity["hinge"] == pytest.approx(0.0, abs=TOLERANCE)


@modes
@strengths
def test_wheel_pushes_a_smooth_step_with_its_limit_over_its_radius(parts, mode, strength):
    limit = 40.0
    simulation = driven_wheel(parts, mode, strength, limit, 0.8, step_ahead(0.0))
    simulation.command["axle"] = FAR
    simulation.step(50)
    push, rounding = limit / RADIUS, TOLERANCE * MASS / STEP
    assert push < 0.8 * LOAD
    assert forces(simulation)["ground"] == pytest.approx([push, 0.0, LOAD], abs=rounding)
    assert forces(simulation)["step"] == pytest.approx([-push, 0.0, 0.0], abs=rounding)
    assert simulation.state.v == pytest.approx(np.zeros(4), abs=TOLERANCE / RADIUS)


@modes
@strengths
def test_wheel_jams_between_step_and_ground(parts, mode, strength):
    limit = 40.0
    simulation = driven_wheel(parts, mode, strength, limit, 0.8, step_ahead(0.8))
    simulation.command["axle"] = FAR
    simulation.step(50)
    ground, step = forces(simulation)["ground"], forces(simulation)["step"]
    # the balance of forces does not determine how both share the torque
    rounding = TOLERANCE * MASS / STEP
    assert ground + step == pytest.approx([0.0, 0.0, LOAD], abs=rounding)
    assert RADIUS * (ground[0] + step[2]) == pytest.approx(limit, abs=RADIUS * rounding)
    assert simulation.state.v == pytest.approx(np.zeros(4), abs=TOLERANCE / RADIUS)


@modes
@strengths
def test_wheel_rolls_off_with_the_acceleration_of_its_limit(parts, mode, strength):
    limit, steps = 40.0, 200
    simulation = driven_wheel(parts, mode, strength, limit, 0.8)
    simulation.command["axle"] = FAR
    simulation.step(steps)
    speed = limit / RADIUS / (MASS + INERTIA / RADIUS**2) * steps * STEP
    assert simulation.joint_velocity["ahead"] == pytest.approx(speed, abs=steps * TOLERANCE)
    assert simulation.joint_velocity["axle"] == pytest.approx(speed / RADIUS, abs=steps * TOLERANCE / RADIUS)


@modes
@strengths
def test_driven_wheel_spins_up_against_its_friction(parts, mode, strength):
    limit, friction, steps = 80.0, 0.1, 100
    simulation = driven_wheel(parts, mode, strength, limit, friction)
    simulation.command["axle"] = FAR
    simulation.step(steps)
    pull, time = friction * LOAD, steps * STEP
    assert simulation.joint_velocity["ahead"] == pytest.approx(pull / MASS * time, abs=steps * TOLERANCE)
    spin = (limit - pull * RADIUS) / INERTIA * time
    # an error of the friction acts on the wheel alone
    rounding = steps * TOLERANCE * MASS * RADIUS / INERTIA
    assert simulation.joint_velocity["axle"] == pytest.approx(spin, abs=rounding)
    assert simulation.joint_effort["axle"] == pytest.approx(limit, rel=1e-12)


@pytest.mark.parametrize("damping", [10.0**power for power in range(2, 9)])
def test_driven_wheel_reaches_its_speed_and_keeps_it(parts, damping):
    limit, speed = 40.0, 6.0
    simulation = driven_wheel(parts, "velocity", damping, limit, 0.8)
    simulation.command["axle"] = speed
    inertia = MASS * RADIUS**2 + INERTIA
    # at the limit up to limit / damping below the speed, and then with the time constant inertia / damping
    simulation.step(int(inertia * speed / limit / STEP) + int(20 * inertia / damping / STEP) + 2)
    saved = simulation.snapshot()
    assert simulation.joint_velocity["axle"] == pytest.approx(speed, abs=TOLERANCE / RADIUS)
    assert simulation.joint_velocity["ahead"] == pytest.approx(RADIUS * speed, abs=2 * TOLERANCE)
    assert abs(simulation.joint_effort["axle"]) < 0.01 * limit
    simulation.step(10)
    later = simulation.state.v.copy()
    simulation.restore(saved)
    simulation.step(10)
    assert np.array_equal(simulation.state.v, later)


@pytest.mark.parametrize("damping", [10.0**power for power in range(3, 9)])
def test_holding_drive_yields_to_an_impact_at_its_limit(parts, damping):
    table, block, limit, height, fall = 1.0, 2.0, 60.0, 1.0, 0.2
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("table", table, shape='<box size="1 1 0.1"/>'),
        parts.link("block", block, shape='<box size="0.1 0.1 0.1"/>'),
        parts.joint("hold", "prismatic", "world", "table", axis=(0, 0, 1), xyz=(0, 0, height)),
        parts.joint("drop", "prismatic", "world", "block", axis=(0, 0, 1), xyz=(0, 0, height + 0.1 + fall)),
        extension=drive("hold", "velocity", damping, limit),
    )
    simulation = Simulation(machine, World(ground=None))

    def momentum():
        return table * simulation.joint_velocity["hold"] + block * simulation.joint_velocity["drop"]

    before = 0.0
    while abs(simulation.joint_velocity["hold"]) < 0.1:
        before = momentum()
        simulation.step()
        assert simulation.time < 0.5
    for steps in range(1, 20):
        # from the step of the impact on the drive gives its limit
        assert simulation.joint_effort["hold"] == pytest.approx(limit, rel=1e-12)
        expected = before + steps * STEP * (limit - (table + block) * GRAVITY)
        assert momentum() == pytest.approx(expected, abs=steps * TOLERANCE * (table + block))
        simulation.step()
    assert simulation.joint_velocity["drop"] == pytest.approx(simulation.joint_velocity["hold"], abs=TOLERANCE)
