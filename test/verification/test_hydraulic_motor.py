"""A machine with a hydraulic motor on a joint: speed, torque, losses and brake."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from grouser import Simulation, World
from grouser.physics.readings.measurements import CylinderEnergy

AIR = World(ground=None)
GRAVITY, SUPPLY, TANK, BETA, DENSITY = 9.81, 10e6, 1e5, 1.4e9, 850.0
DISPLACEMENT, INERTIA, DEAD = 5e-5, 20.0, 1e-4
ORIFICE = 1.5e-3


# Holds line a at 3 MPa above the tank, a torque of 145 N m.
LOW = """<reducing_valve name="r" inlet="supply" outlet="a" pressure="3e6" rated_flow="2e-4" range="2e4"/>
    <orifice name="bleed" inlet="a" outlet="tank" diameter="1e-3"/>
    <orifice name="out" inlet="b" outlet="tank" diameter="2e-3"/>"""
VALVE = """<directional_valve name="swing" spool_diameter="6e-3" spool_travel="8e-5" tank_underlap="-0.05"
                              a="a" b="b"/>"""


def root(drop):
    return drop / (drop * drop + 1e6) ** 0.25


def swing(parts, motor="", feed=None, *, axis=(0, 0, 1), mass=50.0, com=(0.0, 0.0, 0.0), step=1e-3):
    """A link of 20 kg m2 on a motor between two orifices."""
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("upper", mass, (INERTIA,) * 3, com=com),
        parts.joint("swing", "continuous", "world", "upper", axis=axis),
        extension=f"""<fluid/><pump supply_pressure="{SUPPLY}"/>
        {
            feed
            or f'''<orifice name="in" inlet="supply" outlet="a" diameter="{ORIFICE}"/>
        <orifice name="out" inlet="b" outlet="tank" diameter="{ORIFICE}"/>'''
        }
        <hydraulic_motor name="motor" joint="swing" a="a" b="b" displacement="{DISPLACEMENT}" dead_volume="{DEAD}"
                         {motor}/>""",
    )
    return Simulation(machine, AIR, step=step)


def line(simulation, name):
    return float(simulation.state.hydraulics.pressure[simulation.arrays.lines.index(name)])


@pytest.mark.parametrize("step", [1e-3, 5e-3])
@pytest.mark.parametrize(
    "viscous, dry, leakage, drain", [(50.0, 0.0, 0.0, 0.0), (50.0, 40.0, 0.0, 0.0), (20.0, 10.0, 2e-12, 1e-12)]
)
def test_hydraulic_motor_accelerates_a_joint_against_radau(parts, viscous, dry, leakage, drain, step):
    simulation = swing(
        parts,
        f'viscous_friction="{viscous}" dry_friction="{dry}" leakage="{leakage}" drain_leakage="{drain}"',
        step=step,
    )
    gain = 0.7 * math.pi / 4 * ORIFICE**2 * math.sqrt(2 / DENSITY)

    def rates(t, y):
        _, w, a, b = y
        torque = DISPLACEMENT * (a - b) - viscous * w
        torque -= dry if w > 1e-9 else min(max(torque, -dry), dry)
        return [
            w,
            torque / INERTIA,
            BETA / DEAD * (gain * root(SUPPLY - a) - leakage * (a - b) - drain * (a - TANK) - DISPLACEMENT * w),
            BETA / DEAD * (DISPLACEMENT * w + leakage * (a - b) - drain * (b - TANK) - gain * root(b - TANK)),
        ]

    times = np.arange(1, 201) * 5e-3
    accuracy = {"rtol": 1e-10, "atol": 1e-12, "max_step": 1e-3}
    expected = solve_ivp(rates, (0, 1.0), [0, 0, TANK, TANK], "Radau", t_eval=times, **accuracy).y
    ours = []
    for _ in times:
        simulation.step(round(5e-3 / step))
        ours.append(
            [
                simulation.joint_position["swing"],
                simulation.joint_velocity["swing"],
                line(simulation, "a"),
                line(simulation, "b"),
            ]
        )
    error = np.abs(np.array(ours).T - expected)
    # the mechanism's scheme is of first order: the position error is half a step of the speed
    assert error[0].max() < step * expected[1].max()
    assert error[1].max() < 0.01 * expected[1].max()
    assert error[1, -1] < 1e-3 * expected[1, -1]
    assert error[2:, -1].max() < 2e-3 * SUPPLY


def test_torque_of_a_motor_at_rest_is_its_displacement_times_the_pressure(parts):
    """A pendulum of 50 kg at 0.5 m hangs where the torques balance: 145 N m of 245."""
    simulation = swing(parts, 'viscous_friction="300"', LOW, axis=(0, -1, 0), com=(0, 0, -0.5))
    simulation.step(20_000)
    torque = 50.0 * GRAVITY * 0.5 * math.sin(simulation.joint_position["swing"])
    assert abs(simulation.joint_velocity["swing"]) < 1e-6
    assert abs(torque) == pytest.approx(DISPLACEMENT * (line(simulation, "a") - line(simulation, "b")), rel=1e-6)
    # within the reducing valve's range below its setting
    assert 2.98e6 < line(simulation, "a") < 3e6


@pytest.mark.parametrize("step", [1e-3, 5e-3])
def test_closed_valve_holds_a_joint_except_for_motor_leakage(parts, step):
    """Gravity torque on a closed motor: it turns by its leakage, G dp / D."""
    still = swing(parts, 'viscous_friction="500"', VALVE, axis=(0, -1, 0), com=(0.5, 0, 0), step=step)
    still.step(round(10 / step))
    start = still.joint_position["swing"]
    still.step(round(20 / step))
    # rounding of an angle of 0.02 rad for 20 000 steps
    assert still.joint_position["swing"] == pytest.approx(start, abs=1e-10)
    leaking = swing(parts, 'viscous_friction="500" leakage="1e-13"', VALVE, axis=(0, -1, 0), com=(0.5, 0, 0), step=step)
    leaking.step(round(10 / step))
    start, time = leaking.joint_position["swing"], 5.0
    drop = line(leaking, "b") - line(leaking, "a")
    leaking.step(round(time / step))
    turned = leaking.joint_position["swing"] - start
    # the drop changes by the cosine of a turn of 0.05 rad
    assert abs(turned) == pytest.approx(1e-13 * abs(drop) / DISPLACEMENT * time, rel=2e-2)


def test_hydraulic_motor_state(parts):
    """Steady state: flow is displacement plus leakage, torque is that of the pressures less friction."""
    viscous, leakage = 20.0, 2e-12
    simulation = swing(parts, f'viscous_friction="{viscous}" leakage="{leakage}"')
    simulation.step(4000)
    motor = simulation.circuit.hydraulic_motor["motor"]
    assert motor.velocity == simulation.joint_velocity["swing"]
    assert motor.position == simulation.joint_position["swing"]
    assert (motor.pressure_a, motor.pressure_b) == (line(simulation, "a"), line(simulation, "b"))
    drop = motor.pressure_a - motor.pressure_b
    # rounding of the row's impulse, and the remaining transient after many time constants
    assert motor.flow_a == pytest.approx(DISPLACEMENT * motor.velocity + leakage * drop, rel=1e-6)
    assert motor.flow_b == -motor.flow_a
    gain = 0.7 * math.pi / 4 * ORIFICE**2 * math.sqrt(2 / DENSITY)
    assert gain * root(SUPPLY - motor.pressure_a) == pytest.approx(motor.flow_a, rel=1e-6)
    assert motor.torque == pytest.approx(DISPLACEMENT * drop - viscous * motor.velocity, abs=1e-6 * DISPLACEMENT * drop)
    assert motor.power == motor.torque * motor.velocity
    assert not motor.brake_engaged
    assert motor.spool_position == 0.0


def test_hydraulic_motor_state_braked_under_load(parts):
    """The brake holds gravity: the torque on the joint, of 245 N m."""
    simulation = swing(
        parts,
        'viscous_friction="20" holding_brake="true"',
        VALVE.replace('tank_underlap="-0.05"', 'tank_underlap="0.05"'),
        axis=(0, -1, 0),
        com=(0.5, 0, 0),
    )
    simulation.step(500)
    motor = simulation.circuit.hydraulic_motor["motor"]
    assert motor.brake_engaged
    assert motor.torque == pytest.approx(50.0 * GRAVITY * 0.5, rel=1e-4)
    simulation.command["swing"] = 1.0
    simulation.step(100)
    assert simulation.circuit.hydraulic_motor["motor"].spool_position == simulation.state.hydraulics.spool[0, 0]


@pytest.mark.parametrize("step", [1e-3, 5e-3])
def test_valve_drives_the_motor_forth_and_back(parts, step):
    simulation = swing(parts, 'viscous_friction="300" dry_friction="10"', VALVE, step=step)
    speeds = []
    for command in (1.0, 0.0, -1.0):
        simulation.command["swing"] = command
        simulation.step(round(2.0 / step))
        speeds.append(simulation.joint_velocity["swing"])
    assert speeds[0] == pytest.approx(-speeds[2], rel=1e-3)
    assert speeds[0] > 0.1
    assert abs(speeds[1]) < 1e-3
    assert np.all(np.isfinite(simulation.state.hydraulics.pressure))
    assert simulation.state.hydraulics.pressure.min() > 0.0


def test_hydraulic_motor_energy_balance_closes(parts):
    simulation = swing(parts, 'viscous_friction="20" dry_friction="10"', VALVE)
    for command in (1.0, 0.0, -1.0, 0.0):
        simulation.command["swing"] = command
        simulation.step(1000)
    balance = simulation.energy_balance()
    assert balance.residual == pytest.approx(0.0, abs=1e-9)
    account = CylinderEnergy(*simulation.state.hydraulics.account[0].tolist())
    oil = account.supplied - account.returned - account.throttled - account.compressed - account.piston_work
    rotor = account.piston_work - account.viscous_loss - account.friction_loss - balance.actuator_work["motor"]
    assert oil == pytest.approx(0.0, abs=1e-3 * account.supplied)
    assert rotor == pytest.approx(0.0, abs=1e-3 * account.supplied)


@pytest.mark.parametrize("torque, slips", [(400.0, False), (150.0, True)])
def test_motor_brake_holds_up_to_its_torque(parts, torque, slips):
    """245 N m of gravity."""
    simulation = swing(
        parts,
        f'viscous_friction="20" holding_brake="true" holding_torque="{torque}"',
        VALVE.replace('tank_underlap="-0.05"', 'tank_underlap="0.05"'),
        axis=(0, -1, 0),
        com=(0.5, 0, 0),
    )
    simulation.step(2000)
    angle = simulation.joint_position["swing"]
    if slips:
        assert abs(angle) > 0.1
    else:
        assert abs(angle) < 1e-5
