"""Servo drives with motors: against the published drive, closed forms of circuits and gears, and their limits."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import grouser
from grouser import MachineError, ParameterError, Simulation, World, catalogue, cli, experiments
from grouser.physics.description import parse_machine

WEIGHTLESS = World(gravity=(0.0, 0.0, 0.0), ground=None)
INERTIA = 0.05
MOTOR = {
    "gain": 50.0,
    "resistance": 2.0,
    "armature_time_constant": 0.01,
    "torque_constant": 0.5,
    "back_emf_constant": 0.5,
    "rotor_inertia": 1e-3,
    "voltage_limit": 48.0,
}
MAGNET = {
    "peak_torque": 4.0,
    "base_speed": 100.0,
    "no_load_speed": 300.0,
    "rated_torque": 1.0,
    "thermal_time_constant": 2.0,
}


def written(tag, **numbers):
    return f"<{tag} " + " ".join(f'{name}="{value}"' for name, value in numbers.items()) + "/>"


def wheel(parts="", mode="velocity", joint="", extra="", **drive):
    """An inertia about a fixed axis with a drive."""
    given = " ".join(f'{name}="{value}"' for name, value in drive.items())
    return f"""<robot name="wheel"><link name="world"/><link name="wheel"><inertial><mass value="1"/>
    <inertia ixx="{INERTIA}" iyy="{INERTIA}" izz="{INERTIA}" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="axle" type="continuous"><parent link="world"/><child link="wheel"/><axis xyz="0 0 1"/>
    <limit effort="1000" velocity="1000"/>{joint}</joint>
    <grouser><servo_drive joint="axle" mode="{mode}" {given}>{parts}</servo_drive>{extra}</grouser></robot>"""


def simulate(text, step=1e-3):
    return Simulation(parse_machine(text, "wheel.urdf"), WEIGHTLESS, step)


def run(simulation, command, duration):
    """Speed of the axle after each step, under a command that does not change."""
    simulation.command["axle"] = command
    speeds = []
    for _ in range(round(duration / simulation.step_size)):
        simulation.step(1)
        speeds.append(simulation.joint_velocity["axle"])
    return np.array(speeds)


# --- the published drive --------------------------------------------------------------------------------------------


def fin(step, **arguments):
    texts = {name: repr(value) for name, value in arguments.items()}
    return Simulation(grouser.load_machine(catalogue.machine_file("servo_fin"), texts), WEIGHTLESS, step)


@pytest.mark.parametrize("variant", [{}, {"gain": 37000.0, "torque_feedback": 0.0}])
def test_fin_drive_step_response(variant):
    """The experiment's figures have a first-order error of 0.5 %, the machine's of twice that."""
    expected = experiments.run("servo_step", **variant)
    simulation = fin(2e-5, kinetic_friction=0.0, **variant)
    simulation.command["hinge"] = 0.1
    angle = [0.0]
    for _ in range(5000):
        simulation.step(1)
        angle.append(simulation.joint_position["hinge"])
    time, steady = 2e-5 * np.arange(len(angle)), expected["steady_value"]
    share = np.array(angle) / steady
    rise = np.interp([0.1, 0.9], share[:2500], time[:2500])
    assert rise[1] - rise[0] == pytest.approx(expected["rise_time"], rel=0.01)
    settled = time[np.flatnonzero(np.abs(share - 1.0) > 0.05)[-1] + 1]
    assert settled == pytest.approx(expected["settling_time_5_percent"], rel=0.01)
    assert np.abs(angle - np.interp(time, expected["time"], expected["position"])).max() < 0.01 * steady
    simulation.step(10_000)
    assert simulation.joint_position["hinge"] == pytest.approx(steady, rel=1e-6)


def test_fin_drive_slow_ramp():
    expected = experiments.run("servo_stick_slip")
    # of first order: at twice this step the greatest speed, 7 ms after standstill, is 1.4 % low
    step = 1e-5
    simulation = fin(step)
    speed = []
    for k in range(100_000):
        simulation.command["hinge"] = 4e-4 * step * (k + 1)
        simulation.step(1)
        speed.append(simulation.joint_velocity["hinge"])
    moves = np.array(speed) > 1e-10 * 4e-4
    begun = step * np.flatnonzero(moves[1:] & ~moves[:-1])
    assert begun[0] == pytest.approx(expected["first_slip_time"], rel=0.01)
    assert np.diff(begun)[-5:] == pytest.approx(expected["period"], rel=0.01)
    assert max(speed) == pytest.approx(expected["max_speed"], rel=0.01)


@pytest.mark.parametrize("step", [1e-3, 5e-4, 2e-4, 1e-4])
def test_electric_drive_with_a_lag_shorter_than_the_step_is_stable(step):
    """The compensator's lag is 0.2 ms, the fastest poles of the loop are at 3.8 rad per millisecond."""
    simulation = fin(step, kinetic_friction=0.0)
    simulation.command["hinge"] = 0.1
    simulation.step(round(0.3 / step))
    steady = experiments.run("servo_step")["steady_value"]
    assert simulation.joint_position["hinge"] == pytest.approx(steady, rel=1e-6)
    assert abs(simulation.joint_velocity["hinge"]) < 1e-6


# --- circuits and gears ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1e-2, 1e-3, 1e-4])
def test_current_of_a_stalled_motor_against_closed_form(step):
    """At the voltage limit, against a brake: I = U / R (1 - exp(-t / T_a)), at any step."""
    parts = written("dc_motor", **MOTOR, compensator_lag=2e-4, compensator_lead=2e-4)
    brake = '<joint_friction joint="axle" static="1000" kinetic="1000"/>'
    simulation = simulate(wheel(parts + written("gear", ratio=1), extra=brake), step)
    # an error so large that the voltage is at its limit within a billionth of the lag
    simulation.command["axle"] = 1000.0
    resting = MOTOR["voltage_limit"] / MOTOR["resistance"]
    for k in range(1, round(0.05 / step) + 1):
        simulation.step(1)
        mean = resting * MOTOR["torque_constant"]
        # the step's mean torque, by the integral of the exponential; the compensator's lag delays it by 0.5 us
        t, lag = k * step, MOTOR["armature_time_constant"]
        mean *= 1.0 - lag / step * (math.exp(-(t - step) / lag) - math.exp(-t / lag))
        held = simulation.joint_effort["axle"]
        assert held == pytest.approx(0.0, abs=1e-6 * resting)
        if k > 1:
            warmed = resting * (1.0 - math.exp(-t / lag))
            assert simulation.state.joints.drive_memory[0, 2] == pytest.approx(warmed, rel=1e-2)


def test_motor_acceleration_against_its_equations():
    """Against an adaptive integration, with a gear that loses power."""
    parts = written("dc_motor", **MOTOR) + written("gear", ratio=5.0, efficiency=0.8)
    speeds = run(simulate(wheel(parts), 1e-4), 10.0, 0.2)
    ratio, lag = 5.0, MOTOR["armature_time_constant"]

    def rates(t, y):
        current, speed = y
        voltage = min(max(MOTOR["gain"] * (10.0 - speed), -48.0), 48.0)
        share = 0.8 if current * speed >= 0.0 else 1.25
        electric = voltage - MOTOR["resistance"] * current - MOTOR["back_emf_constant"] * ratio * speed
        torque = ratio * share * MOTOR["torque_constant"] * current
        return electric / (MOTOR["resistance"] * lag), torque / (INERTIA + ratio**2 * MOTOR["rotor_inertia"])

    times = 1e-4 * np.arange(1, len(speeds) + 1)
    expected = solve_ivp(rates, (0.0, 0.2), (0.0, 0.0), "Radau", times, rtol=1e-9, atol=1e-12, max_step=1e-4).y[1]
    # first order: half a step of the greatest acceleration, 1000 rad/s2
    assert np.abs(speeds - expected).max() < 0.1


def test_elastic_gear_oscillates_as_two_inertias_on_a_spring():
    """The free ends of a shaft: w^2 = k (1/J + 1/J_m), whatever the step."""
    still = MOTOR | {"back_emf_constant": 0.0, "gain": 1e-9}
    stiffness, ratio = 500.0, 4.0
    parts = written("dc_motor", **still) + written("gear", ratio=ratio, stiffness=stiffness)
    step = 1e-4
    simulation = simulate(wheel(parts), step)
    simulation.state.v[0] = 1.0
    speed = run(simulation, 0.0, 0.2)
    rotor = ratio**2 * MOTOR["rotor_inertia"]
    mean = INERTIA / (INERTIA + rotor)
    frequency = math.sqrt(stiffness * (1.0 / INERTIA + 1.0 / rotor))
    crossings = np.flatnonzero(np.diff(np.sign(speed - mean)))
    period = 2.0 * step * np.diff(crossings).mean()
    assert period == pytest.approx(2.0 * math.pi / frequency, rel=5e-3)
    assert speed.mean() == pytest.approx(mean, rel=0.02)


def test_backlash_is_crossed_before_the_joint_moves():
    """The rotor starts in the middle of the gap and crosses half of it."""
    gap, torque = 0.02, 0.1
    parts = written("dc_motor", **(MOTOR | {"gain": 1e3})) + written(
        "gear", ratio=1, stiffness=1e4, damping=1, backlash=gap
    )
    simulation = simulate(wheel(parts, "effort"), 1e-4)
    simulation.command["axle"] = torque
    moved = None
    for k in range(1000):
        simulation.step(1)
        if moved is None and simulation.joint_velocity["axle"] > 1e-9:
            moved = 1e-4 * (k + 1)
    # the current's loop is fast: nearly constant torque on the rotor
    assert moved == pytest.approx(math.sqrt(gap * MOTOR["rotor_inertia"] / torque), rel=0.1)


# --- controllers and envelopes --------------------------------------------------------------------------------------


def test_integral_removes_the_error_of_a_load():
    """Under a constant load the error is load / stiffness; with an integral it is zero."""
    load = '<compliant_joint joint="axle" axial_stiffness="5" rest_position="-2"/>'
    for integral, left in ((0.0, 5.0 * 2.1 / 105.0), (400.0, 0.0)):
        simulation = simulate(wheel(mode="position", stiffness=100, damping=10, integral=integral, extra=load))
        simulation.command["axle"] = 0.1
        simulation.step(20_000)
        assert 0.1 - simulation.joint_position["axle"] == pytest.approx(left, abs=1e-9)


def test_integral_anti_windup():
    """While the drive is saturated the integral is held; then the error goes to zero."""
    simulation = simulate(wheel(mode="position", stiffness=100, damping=150, integral=50, effort_limit=5))
    simulation.command["axle"] = 5.0
    simulation.step(10)
    assert simulation.joint_effort["axle"] == pytest.approx(5.0, rel=1e-12)
    assert simulation.state.joints.drive_memory[0, 0] == 0.0
    simulation.step(60_000)
    assert simulation.state.joints.drive_memory[0, 0] != 0.0
    assert simulation.joint_position["axle"] == pytest.approx(5.0, abs=1e-6)


def test_torque_envelope_of_a_permanent_magnet_motor():
    """Peak up to the base speed, then a line down to the no-load speed; the rotor's inertia counts."""
    magnet = MAGNET | {"thermal_time_constant": 1e6, "rotor_inertia": 1e-3}
    parts = written("permanent_magnet_motor", **magnet) + written("gear", ratio=2, efficiency=0.9)
    simulation = simulate(wheel(parts, damping=1e6), 1e-4)
    inertia, peak = INERTIA + 4 * 1e-3, 2 * 0.9 * 4.0
    speeds = run(simulation, 149.0, 3.0)
    accelerations = np.diff(speeds) / 1e-4
    slow, fast = speeds[:-1] < 49.9, (speeds[:-1] > 50.1) & (speeds[:-1] < 148.0)
    assert accelerations[slow] * inertia == pytest.approx(peak, rel=1e-9)
    assert accelerations[fast] * inertia == pytest.approx(peak * (150.0 - speeds[:-1][fast]) / 100.0, rel=1e-9)
    # the full torque when braking
    simulation.command["axle"] = 0.0
    before = simulation.joint_velocity["axle"]
    simulation.step(10)
    assert (before - simulation.joint_velocity["axle"]) / 1e-3 * inertia == pytest.approx(peak, rel=1e-9)


def test_hot_motor_gives_its_rated_torque():
    """Temperature follows torque squared: peak torque reaches the limit after T ln(1 / (1 - (rated / peak)^2))."""
    brake = '<joint_friction joint="axle" static="1000" kinetic="1000"/>'
    simulation = simulate(wheel(written("permanent_magnet_motor", **MAGNET), damping=1e6, extra=brake))
    simulation.command["axle"] = 10.0
    warmth = []
    for _ in range(20_000):
        simulation.step(1)
        warmth.append(simulation.state.joints.drive_memory[0, 1])
    heated = 1e-3 * np.flatnonzero(np.array(warmth) >= 0.95)[0]
    assert heated == pytest.approx(-2.0 * math.log(1.0 - 0.95 / 16.0), rel=0.02)
    # equilibrium just above the rated torque
    assert 0.95 < warmth[-1] < 1.05
    assert simulation.arrays.system.joints.drives.rated[0] == 1.0


# --- snapshots, commands, refusals -----------------------------------------------------------------------------------


def test_snapshot_has_the_state_of_a_drive():
    simulation = fin(1e-4)
    simulation.command["hinge"] = 0.05
    simulation.step(30)
    saved = simulation.snapshot()
    simulation.step(100)
    there = simulation.state.q.copy(), simulation.state.joints.drive_memory.copy()
    simulation.restore(saved)
    simulation.step(100)
    assert (simulation.state.q == there[0]).all() and (simulation.state.joints.drive_memory == there[1]).all()
    simulation.reset()
    assert not simulation.state.joints.drive_memory.any()


@pytest.mark.parametrize(
    ("parts", "drive", "problem"),
    [
        (written("gear", ratio=1), {"damping": 1}, "a <gear> needs a motor"),
        (written("dc_motor", **MOTOR), {"damping": 1}, "damping = 1 belongs to a drive without <dc_motor>"),
        (written("dc_motor", **(MOTOR | {"armature_time_constant": 0})), {}, "armature_time_constant = 0"),
        (written("dc_motor", **MOTOR, compensator_lag=0), {}, "compensator_lag = 0"),
        (written("dc_motor", **MOTOR) + written("permanent_magnet_motor", **MAGNET), {}, "it has two motors"),
        (written("dc_motor", **MOTOR) + written("gear", ratio=2, backlash=0.1), {}, "backlash = 0.1 needs a stiffness"),
        (written("dc_motor", **MOTOR) + written("gear", ratio=2, efficiency=1.2), {}, "efficiency = 1.2"),
        (
            written("dc_motor", **(MOTOR | {"rotor_inertia": 0})) + written("gear", ratio=2, stiffness=10),
            {},
            "an elastic gear needs a rotor_inertia above 0",
        ),
        (
            written("permanent_magnet_motor", **(MAGNET | {"no_load_speed": 50})),
            {"damping": 1},
            "no_load_speed = 50 is not above base_speed = 100",
        ),
        (
            written("permanent_magnet_motor", **(MAGNET | {"rated_torque": 5})),
            {"damping": 1},
            "rated_torque = 5 is above peak_torque = 4",
        ),
        (written("permanent_magnet_motor", **MAGNET), {}, "a drive in velocity mode needs a damping above 0"),
    ],
)
def test_invalid_electric_drives_are_refused(parts, drive, problem):
    with pytest.raises(MachineError, match=problem):
        parse_machine(wheel(parts, **drive), "wheel.urdf")


# --- grouser bode -----------------------------------------------------------------------------------------------------


def test_bode_of_the_fin_agrees_with_the_experiment(capsys, tmp_path):
    picture = tmp_path / "bode.png"
    assert cli.main(["bode", "servo_fin", "--json", "--plot", str(picture)]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    expected = experiments.run("servo_bode")
    for name in ("dc_gain", "crossover_frequency", "phase_margin_deg", "gain_margin_db", "max_real_closed_loop_pole"):
        assert found[name] == pytest.approx(expected[name], rel=1e-9), name
    assert Path(picture).stat().st_size > 10_000


def test_bode_sweeps_and_reports_invalid_margins(capsys):
    assert cli.main(["bode", "servo_fin", "--sweep", "torque_feedback=0,6.25e-6,2e-4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[0] == "torque_feedback" and len(lines) == 6
    assert lines[-1].startswith("torque_feedback = 2e-4: the open loop is unstable: its margins have no meaning")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["demolition_robot"], "no joint has a position drive with a <dc_motor>"),
        (["servo_fin", "--joint", "rudder"], "--joint = 'rudder'"),
        (["servo_fin", "--sweep", "gain"], "--sweep = 'gain'"),
        (["servo_fin", "gain=1"], "xacro argument = 'gain=1'"),
    ],
)
def test_bode_refuses_invalid_input_by_name(arguments, named, capsys):
    assert cli.main(["bode", *arguments]) == 2
    assert named in capsys.readouterr().err


def test_drive_on_a_missing_joint_is_refused():
    with pytest.raises(ParameterError, match="axel"):
        simulate(wheel(written("dc_motor", **MOTOR))).command["axel"] = 1.0
