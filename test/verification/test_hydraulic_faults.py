"""Effect of each fault as described in docs/faults.md, against closed forms where they exist."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from grouser import ParameterError, Simulation, World
from grouser.physics.base.trees import leaves

AIR = World(ground=None)
GRAVITY, SUPPLY, TANK, BETA, DENSITY = 9.81, 10e6, 1e5, 1.4e9, 850.0
AREA_A, AREA_B = math.pi * 0.04**2 / 4, math.pi * (0.04**2 - 0.025**2) / 4
MASS, DEAD, STROKE = 1000.0, 1e-4, 0.5
# Tolerance of a sub-step, as a share of a pressure or speed: see `hydraulics.implicit`.
SHARE = 2e-3
# Flow path from the rod side to the tank with a pressure drop of at most a kilopascal here.
WIDE = '<orifice name="wide" inlet="valve.b" outlet="tank" diameter="0.01"/>'
# Friction that damps the load on its oil within a second [N s/m].
CALM = 2e4
HOLD = """<counterbalance_valve name="hold" load="load" valve="valve.a" pilot="valve.b" pressure="20e6"
    rated_flow="1e-3"/>"""
# Pressure of the piston side that carries the load, with the rod side at the tank's [Pa].
HOLDING = (MASS * GRAVITY + TANK * AREA_B) / AREA_A


def lift(parts, extra="", fluid="", valve="", piston_side="valve.a", friction=0.0, plain=False, **options):
    """A cylinder on a closed valve holds a mass, half extended, with its rod side open to the tank.

    For the published schemes the piston side is on the valve, and open in neutral as well.
    """
    underlap, ports = -0.1, f'piston_side="{piston_side}" rod_side="valve.b"'
    if plain:
        underlap, ports = 0.1, 'valve="valve"'
    text = f"""<fluid {fluid}/><pump name="pump" supply_pressure="{SUPPLY}" tank_pressure="{TANK}"/>
      <directional_valve name="valve" spool_diameter="6e-3" spool_travel="8e-5" supply_overlap="0.1"
        tank_a_underlap="{underlap}" tank_underlap="0.1" natural_frequency="60" damping_ratio="0.7" {valve}/>{extra}
      <cylinder name="lift" {ports} bore="0.04" rod_diameter="0.025" viscous_friction="{friction}"
        stroke="{STROKE}" retracted_length="0.6" piston_mass="5" dead_volume_piston_side="{DEAD}"
        dead_volume_rod_side="{DEAD}">
        <barrel link="world"/><rod link="load" xyz="0 0 {0.6 + STROKE / 2}"/></cylinder>"""
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("load", MASS),
        parts.joint("lift", "prismatic", "world", "load"),
        extension=text,
    )
    simulation = Simulation(machine, AIR, **{"step": 1e-3} | options)
    simulation.circuit.set_line_pressure(piston_side, HOLDING)
    return simulation


def circuit(parts, extension):
    """A circuit on a machine without other elements."""
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("load", 1.0),
        parts.joint("turn", "continuous", "world", "load"),
        extension="<fluid/>" + extension,
    )
    return Simulation(machine, AIR)


def fixed_pump(flow, more=""):
    """A pump of this flow [m3/s] from the tank into the line p."""
    return f'<pump name="pump" outlet="p" inlet="tank" displacement="{flow / 100}" speed="100" {more}/>'


def bits(simulation):
    return [array.tobytes() for array in leaves(simulation.state)]


def mean_speed(simulation, duration=0.2):
    start = simulation.cylinder["lift"].position
    simulation.step(round(duration / simulation.step_size))
    return (simulation.cylinder["lift"].position - start) / duration


# --- leaks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [313.15, 333.15])
def test_worn_seal_load_sinks_at_the_rate_of_the_leakage(parts, temperature):
    """Oil that passes the piston leaves through the open rod side: v = C (p_A - p_B) / S_A; thin oil passes faster."""
    simulation = lift(parts, WIDE, fluid=f'temperature="{temperature}"', friction=CALM)
    assert abs(mean_speed(simulation)) < 1e-9
    simulation.faults["lift"]["worn_seal"] = 1e-12
    simulation.step(1000)
    leakage = math.exp(0.03 * (temperature - 313.15)) * 1e-12
    # friction carries some of the load
    expected = leakage * (HOLDING - TANK) / AREA_A / (1 + leakage * CALM / AREA_A**2)
    assert mean_speed(simulation) == pytest.approx(-expected, rel=SHARE)


def test_worn_seal_between_closed_edges_raises_both_pressures(parts):
    """Without an outlet both sides reach F / (S_A - S_B): the load settles and stays."""
    simulation = lift(parts, valve='tank_b_underlap="-0.1"')
    simulation.faults["lift"]["worn_seal"] = 1e-11
    simulation.step(10_000)
    pressure = simulation.pressure["lift"]
    expected = MASS * GRAVITY / (AREA_A - AREA_B)
    assert pressure.piston_side == pytest.approx(expected, rel=1e-5)
    assert pressure.rod_side == pytest.approx(expected, rel=1e-5)
    assert abs(mean_speed(simulation)) < 1e-6


def test_burst_line_drops_the_load_at_the_speed_of_the_orifice(parts):
    """v S_A = 0.7 A sqrt(2 (p - 1 bar) / rho), with the pressure that the load makes."""
    simulation = lift(parts, WIDE, friction=CALM)
    area = 1e-6
    simulation.faults["valve.a"]["burst"] = area
    simulation.step(1000)

    def surplus(speed):
        pressure = HOLDING - CALM * speed / AREA_A
        return 0.7 * area * math.sqrt(2 * (pressure - 1e5) / DENSITY) - AREA_A * speed

    assert mean_speed(simulation) == pytest.approx(-brentq(surplus, 0.0, 0.2), rel=SHARE)
    simulation.faults.clear()
    simulation.step(1000)
    assert abs(mean_speed(simulation)) < 1e-6


def test_burst_hose_drains_the_pump_to_the_open_air(parts):
    """The pump's pressure falls to what its flow needs through the tear, beyond the hose's own resistance."""
    flow = 2e-4
    simulation = circuit(
        parts,
        fixed_pump(flow)
        + """<hose name="hose" inlet="p" outlet="q" length="2" diameter="0.01"/>
        <relief_valve name="relief" inlet="q" pressure="15e6" rated_flow="4e-4"/>""",
    )
    simulation.step(500)
    assert simulation.circuit.line_pressure["q"] > 15e6
    area = 1e-5
    simulation.faults["hose"]["burst_hose"] = area
    simulation.step(500)
    drop = (flow / (0.7 * area)) ** 2 * DENSITY / 2
    assert simulation.circuit.line_pressure["q"] - 1e5 == pytest.approx(drop, rel=1e-5)
    resistance = 128 * DENSITY * 46e-6 * 2 / (math.pi * 0.01**4)
    assert simulation.circuit.line_pressure["p"] - simulation.circuit.line_pressure["q"] == pytest.approx(
        flow * resistance, rel=1e-5
    )


def test_counterbalance_valve_holds_when_the_hose_to_it_bursts(parts):
    """A burst between directional and counterbalance valve has no effect; one at the cylinder drops the load."""
    extension = HOLD + '<orifice name="o" inlet="valve.b" outlet="tank" diameter="1e-3"/>'
    for line, falls in (("valve.a", False), ("load", True)):
        simulation = lift(parts, extension, piston_side="load")
        simulation.step(200)
        simulation.faults[line]["burst"] = 1e-5
        simulation.step(100)
        assert (mean_speed(simulation) < -0.1) == falls
        assert (abs(mean_speed(simulation)) < 1e-6) != falls


def test_burst_load_sensing_line_reduces_the_pump_pressure(parts):
    """The pump then holds its margin of 2 MPa, within its range of 0.5 MPa, above the open air: no load moves."""
    control = 'control="load_sensing" sense="ls" setting="20e6" margin="2e6" regulation_range="5e5"'
    simulation = circuit(
        parts,
        fixed_pump(5e-4, control)
        + """<orifice name="edge" inlet="p" outlet="load" diameter="2e-3"/>
        <orifice name="signal" inlet="load" outlet="ls" diameter="5e-4"/>
        <relief_valve name="load" inlet="load" pressure="10e6" rated_flow="1e-3"/>""",
    )
    simulation.step(1000)
    assert simulation.circuit.line_pressure["load"] > 10e6
    assert simulation.circuit.pump["pump"].flow > 1e-4
    simulation.faults["ls"]["burst"] = 1e-5
    simulation.step(1000)
    # the tear is fifty times as wide as the signal's orifice: a kilopascal remains in the line
    assert 1e5 + 2e6 < simulation.circuit.line_pressure["p"] < 1e5 + 2e6 + 5e5 + 1e3
    assert simulation.circuit.line_pressure["load"] < 10e6


def test_worn_motor_turns_slower_by_its_leakage(parts):
    """Fed with a constant flow against a constant torque: w = (Q - C dp) / D, dp = T / D."""
    flow, displacement, damping = 1e-4, 5e-5, 200.0

    def speed(leakage):
        machine = parts.machine(
            '<link name="world"/>',
            parts.link("load", 10.0),
            parts.joint("swing", "continuous", "world", "load"),
            extension=f"""<fluid/>{fixed_pump(flow)}
            <relief_valve name="relief" inlet="p" pressure="25e6" rated_flow="1e-3"/>
            <hydraulic_motor name="motor" joint="swing" a="p" b="tank" displacement="{displacement}" dead_volume="1e-4"
              viscous_friction="{damping}"/>""",
        )
        simulation = Simulation(machine, AIR)
        simulation.faults["motor"]["worn_motor"] = leakage
        simulation.step(1000)
        return simulation.joint_velocity["swing"]

    for leakage in (0.0, 1e-12, 1e-11):
        # damping carries the torque: D dp = k w
        expected = flow / (displacement + leakage * damping / displacement)
        assert speed(leakage) == pytest.approx(expected, rel=1e-6)


# --- pumps and relief valves ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("control", ["fixed", "load_sensing"])
def test_stopped_pump_has_no_flow_and_no_power(parts, control):
    more = {
        "fixed": 'torque_loss="2"',
        "load_sensing": 'control="load_sensing" sense="p" setting="20e6" margin="1e6" torque_loss="2"',
    }
    simulation = circuit(
        parts, fixed_pump(5e-4, more[control]) + '<orifice name="o" inlet="p" outlet="tank" diameter="2e-3"/>'
    )
    simulation.step(500)
    assert simulation.circuit.pump["pump"].flow > 1e-4
    simulation.faults["pump"]["stop"] = True
    simulation.step(500)
    assert simulation.circuit.pump["pump"].flow == 0.0
    assert simulation.circuit.pump["pump"].shaft_power == 0.0
    assert simulation.circuit.line_pressure["p"] == pytest.approx(TANK, abs=1.0)
    simulation.faults["pump"]["stop"] = False
    simulation.step(500)
    assert simulation.circuit.pump["pump"].flow > 1e-4


def test_stopped_supply_does_not_lift_but_lowers(parts):
    simulation = lift(parts)
    simulation.step(100)
    simulation.faults["pump"]["stop"] = True
    simulation.command["valve"] = -1.0
    simulation.step(300)
    assert simulation.circuit.line_pressure["supply"] == TANK
    assert simulation.cylinder["lift"].velocity < 0.0
    simulation.command["valve"] = 1.0
    simulation.step(300)
    # the supply edge also leads to the tank: no check valve holds the load
    assert simulation.cylinder["lift"].velocity < 0.0
    simulation.faults["pump"]["stop"] = False
    simulation.step(300)
    assert simulation.circuit.line_pressure["supply"] == SUPPLY
    assert simulation.cylinder["lift"].velocity > 0.0


@pytest.mark.parametrize("drop", [0.0, 4e6, 10e6])
def test_low_relief_setting_limits_the_pressure(parts, drop):
    flow, setting, rise = 6e-4, 10e6, 1e6
    simulation = circuit(
        parts, fixed_pump(flow) + f'<relief_valve name="relief" inlet="p" pressure="{setting}" rated_flow="1e-3"/>'
    )
    simulation.faults["relief"]["low_setting"] = drop
    simulation.step(1000)
    gain = 1e-3 / math.sqrt(setting + rise)

    def surplus(p):
        return gain * min((p - (setting - drop)) / rise, 1.0) * p / (p * p + 1e6) ** 0.25 - flow

    expected = brentq(surplus, setting - drop + 1.0, 20e6)
    assert simulation.circuit.line_pressure["p"] - TANK == pytest.approx(expected, rel=1e-6)
    assert setting - drop < expected


def test_low_holding_pressure_lowers_the_load(parts):
    extension = HOLD + '<orifice name="o" inlet="valve.a" outlet="tank" diameter="1e-3"/>'
    simulation = lift(parts, extension, piston_side="load")
    simulation.step(200)
    assert abs(mean_speed(simulation)) < 1e-9
    simulation.faults["hold"]["low_holding_pressure"] = 20e6 - 0.9 * HOLDING
    simulation.step(100)
    assert mean_speed(simulation) < -1e-3


# --- oil --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("air", [0.0, 0.01, 0.1])
def test_aerated_oil_compressibility(parts, air):
    """Pumped volume over pressure in a closed line: dV / V = dp / beta + a 1e5 (1 / p0 - 1 / p)."""
    volume, flow, p0 = 1e-3, 1e-5, 5e5
    simulation = circuit(
        parts,
        fixed_pump(flow)
        + f"""<line name="p" volume="{volume}"/>
        <relief_valve name="relief" inlet="p" pressure="30e6" rated_flow="1e-3"/>""",
    )
    simulation.faults["oil"]["entrained_air"] = air
    simulation.circuit.set_line_pressure("p", p0)
    for count in range(1, 6):
        simulation.step(100)

        def surplus(p, pumped=count * 100 * 1e-3 * flow):
            return (p - p0) / BETA + (air + 1e-8) * 1e5 * (1 / p0 - 1 / p) - pumped / volume

        # each of the first steps has an error of up to SHARE of the pressure; mass is conserved: later errors do not
        # add up
        assert simulation.circuit.line_pressure["p"] == pytest.approx(brentq(surplus, p0, 30e6), rel=SHARE)


def test_load_on_aerated_oil_oscillates_slower(parts):
    """Frequency on the effective bulk modulus at the load's pressure: 1 / beta + a 1e5 / p^2."""
    times = []
    for air in (0.0, 0.05):
        simulation = lift(parts, WIDE, step=2e-4)
        simulation.faults["oil"]["entrained_air"] = air
        pressure, volume = HOLDING, DEAD + AREA_A * STROKE / 2
        simulation.circuit.set_line_pressure("valve.a", 1.001 * pressure)
        simulation.step(1)
        speeds = []
        for _ in range(3000):
            simulation.step(1)
            speeds.append(simulation.cylinder["lift"].velocity)
        signs = np.sign(speeds)
        crossings = np.flatnonzero(np.diff(signs) > 0)[:3]
        period = np.diff(crossings).mean() * 2e-4
        modulus = 1 / (1 / BETA + (air + 1e-8) * 1e5 / pressure**2)
        stiffness = modulus * AREA_A**2 / volume
        times.append(period)
        # the time of a crossing is resolved to a step
        assert period == pytest.approx(2 * math.pi * math.sqrt((MASS + 5.0) / stiffness), abs=2e-4)
    assert times[1] > times[0] + 1e-3


# --- spools -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["implicit", "semi_implicit", "split"])
def test_stuck_spool_ignores_commands(parts, scheme):
    simulation = lift(parts, scheme=scheme, plain=scheme != "implicit")
    simulation.command["valve"] = 0.6
    simulation.step(40)
    stuck = simulation.cylinder["lift"].spool_position
    assert 0.1 < stuck < 0.6
    simulation.faults["valve"]["stuck_spool"] = True
    for command in (0.0, -1.0):
        simulation.command["valve"] = command
        simulation.step(100)
        assert simulation.cylinder["lift"].spool_position == stuck
    simulation.emergency_stop = True
    simulation.step(100)
    assert simulation.cylinder["lift"].spool_position == stuck
    simulation.faults["valve"]["stuck_spool"] = False
    simulation.step(300)
    assert abs(simulation.cylinder["lift"].spool_position) < 1e-3


@pytest.mark.parametrize("valve", ["", 'rate_limit="3"'])
def test_slow_spool_takes_longer(parts, valve):
    """With half of its speed lost, natural frequency and rate limit with it, it needs twice the time."""
    slow, healthy = lift(parts, valve=valve, step=2e-3), lift(parts, valve=valve, step=1e-3)
    slow.faults["valve"]["slow_spool"] = 0.5
    for simulation in (slow, healthy):
        simulation.command["valve"] = 0.8
    for _ in range(100):
        slow.step(1)
        healthy.step(1)
        # only products of time with frequency and rate count; rounding
        spools = [one.cylinder["lift"].spool_position for one in (slow, healthy)]
        assert spools[0] == pytest.approx(spools[1], abs=1e-12)


@pytest.mark.parametrize("scheme", ["semi_implicit", "split"])
def test_published_schemes_support_slow_spools_and_refuse_other_faults(parts, scheme):
    simulation = lift(parts, scheme=scheme, plain=True)
    simulation.faults["valve"]["slow_spool"] = 0.9
    simulation.command["valve"] = 0.8
    simulation.step(100)
    # a tenth of 60 rad/s, and damping 0.7
    decay, own = 0.7 * 6 * 0.1, 6 * math.sqrt(1 - 0.49) * 0.1
    expected = 0.8 * (1 - math.exp(-decay) * (math.cos(own) + 0.7 / math.sqrt(0.51) * math.sin(own)))
    # semi-implicit Euler in sub-steps of 0.1 ms: half a sub-step times the greatest spool speed of 0.8 * 6 / s
    assert simulation.cylinder["lift"].spool_position == pytest.approx(expected, abs=0.5e-4 * 4.8)
    with pytest.raises(ParameterError, match=f"scheme '{scheme}' does not support this fault; 'implicit' does"):
        simulation.faults["lift"]["worn_seal"] = 1e-12
    simulation.faults["lift"]["worn_seal"] = 0.0


# --- sensors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["implicit", "semi_implicit"])
def test_sensor_offset_changes_the_reading_only(parts, scheme):
    right, wrong = (lift(parts, scheme=scheme, plain=True) for _ in range(2))
    wrong.faults["lift"]["sensor_offset_rod_side"] = -3e5
    for simulation in (right, wrong):
        simulation.command["valve"] = 0.7
        simulation.step(200)
    assert bits(right) == bits(wrong)
    assert wrong.pressure["lift"].rod_side == right.pressure["lift"].rod_side - 3e5
    assert wrong.cylinder["lift"].pressure_rod_side == right.cylinder["lift"].pressure_rod_side - 3e5
    assert wrong.pressure["lift"].piston_side == right.pressure["lift"].piston_side
    assert wrong.circuit.line_pressure["valve.b"] == right.circuit.line_pressure["valve.b"]


# --- all of them ------------------------------------------------------------------------------------------------------


def raised(parts, faults=()):
    simulation = lift(parts)
    for component, name, value in faults:
        simulation.faults[component][name] = value
    simulation.command["valve"] = 0.7
    return simulation


FAULTS = (
    ("valve", "slow_spool", 0.5),
    ("valve.a", "burst", 1e-6),
    ("lift", "worn_seal", 1e-12),
    ("oil", "entrained_air", 0.02),
)


def test_cleared_faults_leave_no_effect(parts):
    """Bit for bit: a cleared fault has no effect once the state is restored."""
    mended = raised(parts, FAULTS)
    mended.step(100)
    assert set(mended.faults.clear()) == {f"faults.{component}.{name}" for component, name, _ in FAULTS}
    assert mended.faults.clear() == ()
    mended.reset()
    mended.circuit.set_line_pressure("valve.a", HOLDING)
    new = raised(parts)
    mended.command["valve"] = 0.7
    for simulation in (mended, new):
        simulation.step(200)
    assert bits(mended) == bits(new)
    assert mended.circuit.cylinder_energy["lift"] == new.circuit.cylinder_energy["lift"]


def test_faults_survive_a_reset_and_are_part_of_a_snapshot(parts):
    simulation = raised(parts, FAULTS)
    simulation.step(50)
    saved = simulation.snapshot()
    simulation.step(100)
    expected = bits(simulation)
    simulation.faults.clear()
    simulation.step(100)
    simulation.restore(saved)
    assert len(simulation.faults.active) == len(FAULTS)
    simulation.step(100)
    assert bits(simulation) == expected
    simulation.reset()
    assert simulation.faults.active == {(component, name): value for component, name, value in FAULTS}
    assert simulation.command["valve"] == 0.0


def test_each_copy_of_a_batch_has_its_own_faults(parts):
    batch = raised(parts).batch(2)
    for component, name, value in FAULTS:
        batch[1].faults[component][name] = value
    batch.step(100)
    for copy, faults in ((batch[0], ()), (batch[1], FAULTS)):
        alone = raised(parts, faults)
        alone.step(100)
        assert bits(alone) == bits(copy)
    assert not batch[0].faults.active


def test_energy_balance_closes_with_faults(parts):
    """Supplied = returned (also to the open air) + throttled + compressed + work, to the published 0.1 %."""
    simulation = raised(parts, FAULTS[:3])
    simulation.step(1500)
    energy = simulation.circuit.cylinder_energy["lift"]
    balance = energy.supplied - energy.returned - energy.throttled - energy.compressed - energy.piston_work
    assert abs(balance) < 1e-3 * energy.supplied
