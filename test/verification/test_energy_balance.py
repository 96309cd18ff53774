"""The balance of energy: work, losses, and a residual of the integrator's order."""

import math

import numpy as np
import pytest
from shipped import shipped_machine

from grouser import Simulation, World
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.world import Ground

GRAVITY = 9.81
BOX = '<box size="0.4 0.4 0.2"/>'
INERTIA = (0.17, 0.17, 0.27)


def test_energy_of_a_sliding_box_is_dissipated_by_the_ground(parts):
    world = World(ground=Ground(friction=0.4), spawn=Pose((0.0, 0.0, 0.1)))
    simulation = Simulation(parts.machine(parts.link("box", 10, INERTIA, BOX)), world)
    simulation.state.v[0] = 2.0
    simulation.step(1000)
    balance = simulation.energy_balance()
    assert balance.kinetic == pytest.approx(-20.0, abs=1e-9), "it stands"
    # friction's power at the mean speed of each step is exact
    assert balance.dissipation["contacts of box"] == pytest.approx(20.0, abs=1e-6)
    assert set(balance.dissipation) == {"contacts of box"}
    assert balance.residual == pytest.approx(0.0, abs=1e-6)


def test_soft_contact_returns_its_stored_energy(parts):
    mass, stiffness = 2.0, 5e4
    machine = parts.machine(
        parts.link("ball", mass, (0.008,) * 3, '<sphere radius="0.1"/>'),
        extension=f'<contact link="ball" stiffness="{stiffness}" damping="60"/>',
    )
    simulation = Simulation(machine, World(spawn=Pose((0.0, 0.0, 0.2))), 1e-4)
    lost, held = [], []
    for _ in range(20_000):
        simulation.step(1)
        lost.append(simulation.energy_balance().dissipation.get("contacts of ball", 0.0))
        held.append(simulation.energy().elastic)
    # Damper and implicit step only ever lose. Work counts the mean speed of a step and the spring's energy that of its
    # end; where gravity is the stronger, they differ by up to half of its work, m g times g h^2 / 2.
    assert np.diff(lost).min() > -0.5 * mass * (GRAVITY * simulation.step_size) ** 2
    # At the deepest point the spring holds the energy of the fall, less losses.
    deepest = int(np.argmax(held))
    fall = mass * GRAVITY * (0.1 + math.sqrt(2.0 * held[deepest] / stiffness))
    assert held[deepest] + lost[deepest] == pytest.approx(fall, rel=1e-3)
    assert held[-1] == pytest.approx((mass * GRAVITY) ** 2 / (2.0 * stiffness), rel=1e-3)
    assert simulation.energy_balance().residual == pytest.approx(0.0, abs=1e-3 * fall)


def test_drive_work_against_dry_friction(parts):
    effort, level, inertia = 3.0, 1.0, 2.0
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("wheel", 1.0, (inertia,) * 3),
        parts.joint("axle", "continuous", "world", "wheel", axis=(0, 0, 1)),
        extension=f'<servo_drive joint="axle" mode="effort" effort_limit="10"/>'
        f'<joint_friction joint="axle" static="{level}" viscous="0.5"/>',
    )
    simulation = Simulation(machine, World(ground=None))
    simulation.command["axle"] = effort
    simulation.step(2000)
    balance, speed, angle = (
        simulation.energy_balance(),
        simulation.joint_velocity["axle"],
        simulation.joint_position["axle"],
    )
    # the position moves by the end's speed and work counts the mean one: half a step of travel between the two
    travel = 0.5 * simulation.step_size * speed
    assert balance.actuator_work["axle"] == pytest.approx(effort * angle, abs=1.1 * effort * travel)
    assert balance.dissipation["friction of axle"] == pytest.approx(level * angle, abs=1.1 * level * travel)
    assert balance.kinetic == pytest.approx(0.5 * inertia * speed**2)
    assert balance.residual == pytest.approx(0.0, abs=1e-9)
    assert balance.dissipation["damping of axle"] > 0.1


def test_joint_limit_dissipates_the_energy_of_a_fall(parts):
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("arm", 2.0, (0.1,) * 3, com=(0.5, 0, 0)),
        '<joint name="hinge" type="revolute"><parent link="world"/><child link="arm"/><axis xyz="0 1 0"/>'
        '<limit lower="-0.1" upper="0.8" effort="1" velocity="1"/></joint>',
    )
    simulation = Simulation(machine, World(ground=None))
    simulation.step(3000)
    balance = simulation.energy_balance()
    fallen = 2.0 * GRAVITY * 0.5 * math.sin(0.8)
    assert balance.potential == pytest.approx(-fallen, rel=1e-4)
    # the first-order step's own error of the fall, a part in a thousand of it
    assert balance.dissipation["limits of hinge"] == pytest.approx(fallen, rel=5e-3)


def test_numerical_damping_of_an_implicit_spring_is_accounted_for(parts):
    stiffness, mass, step = 4e3, 10.0, 1e-3
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("block", mass, (0.1,) * 3),
        parts.joint("slide", "prismatic", "world", "block", axis=(1, 0, 0)),
        extension=f'<compliant_joint joint="slide" axial_stiffness="{stiffness}"/>'
        '<initial_position joint="slide" position="0.05"/>',
    )
    simulation = Simulation(machine, World(gravity=(0, 0, 0), ground=None), step=step)
    simulation.step(1)  # The accounts start with the deflected spring.
    start = 0.5 * stiffness * 0.05**2
    simulation.step(999)
    balance = simulation.energy_balance()
    # amplitude falls by (1 + (w h)^2)^(-1/2) a step
    left = start * (1.0 + stiffness / mass * step**2) ** -1000
    assert balance.kinetic + balance.elastic == pytest.approx(left - start, rel=2e-2)
    assert balance.dissipation["elasticity of slide"] == pytest.approx(start - left, rel=2e-2)
    assert balance.residual == pytest.approx(0.0, abs=1e-9 * start)


def _robot_error(step):
    """Residual of the robot's balance after a second of motion, as a share of the work of its actuators."""
    simulation = Simulation(shipped_machine("demolition_robot"), step=step)
    simulation.step(round(0.2 / step))
    for _ in range(round(1.0 / step)):
        simulation.command["boom_valve"] = 0.4 * math.sin(3.0 * simulation.time)
        simulation.command["swing_valve"] = 0.3
        simulation.step()
    balance = simulation.energy_balance()
    assert balance.actuator_work["boom"] != 0.0
    return balance.residual / sum(abs(work) for work in balance.actuator_work.values())


def test_robot_energy_balance_closes_to_first_order():
    # The error of one step length is a matter of chance: feet and valves change their state at some moment of a step,
    # and errors of either sign, of up to 0.13 times the step in seconds, pass through zero. Ten lengths tell the order.
    steps = [1.0 / rate for rate in range(100, 200, 10)]
    errors = {finer: math.sqrt(np.mean([_robot_error(step / finer) ** 2 for step in steps])) for finer in (1, 16)}
    # The first order leaves a sixteenth, as measured 0.07 to 0.11 with such sets of lengths; the order 1/2 a quarter.
    assert errors[16] < 0.2 * errors[1]
    assert errors[1] < 1e-3


def test_energy_balance_of_a_smooth_chain_closes_with_the_midpoint_rule(parts):
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("upper", 2.0, (0.1, 0.1, 0.02), com=(0, 0, -0.5)),
        parts.link("lower", 1.0, (0.05, 0.05, 0.01), com=(0, 0, -0.4)),
        parts.joint("shoulder", "continuous", "world", "upper", axis=(0, 1, 0)),
        parts.joint("elbow", "continuous", "upper", "lower", axis=(1, 0, 0), xyz=(0, 0, -1)),
        extension='<initial_position joint="shoulder" position="1.2"/><initial_position joint="elbow" position="0.7"/>',
    )
    residuals = []
    for step in (4e-3, 2e-3):
        simulation = Simulation(machine, World(ground=None), step=step, integrator="implicit_midpoint")
        simulation.step(round(2.0 / step))
        residuals.append(abs(simulation.energy_balance().residual))
    assert np.log2(residuals[0] / residuals[1]) == pytest.approx(2.0, abs=0.5), "of second order"
