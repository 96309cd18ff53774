"""Each hydraulic component and the circuits' scheme, against closed forms and equations integrated by Radau."""

import math

import numpy as np
import pytest
from hydraulic_elements import (
    AREA_A,
    AREA_B,
    BETA,
    CONTROL,
    DENSITY,
    FLOOR,
    SHARE,
    orifice_gain,
    pump,
    radau,
    root,
    supply,
    valve,
)
from hydraulic_rig import ATMOSPHERE, Rig, cylinder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.optimize import brentq

from grouser.physics.description.data.hydraulics import (
    Accumulator,
    CheckValve,
    Compensator,
    CounterbalanceValve,
    Fluid,
    Hose,
    Line,
    Orifice,
    Pump,
    ReducingValve,
    ReliefValve,
    ShuttleValve,
    Tank,
)
from grouser.physics.hydraulics.trials import AT_END, AT_START

# --- orifices and volumes ---------------------------------------------------------------------------------------------


def test_turbulent_orifices_in_series():
    rig = Rig(supply(), Line("m", 1e-4), Orifice("one", "supply", "m", 1e-3), Orifice("two", "m", "tank", 2e-3))
    rig.run(0.5)
    # equal flows: the drops are as the fourth power of the diameters, 16 to 1
    drop = (10e6 - ATMOSPHERE) * 16 / 17
    assert 10e6 - rig.pressure("m") == pytest.approx(drop, rel=1e-6)
    flow = 0.7 * math.pi / 4 * 1e-6 * math.sqrt(2 * drop / DENSITY)
    assert rig.flow(0) == pytest.approx(flow, rel=1e-6)
    assert rig.flow(1) == pytest.approx(flow, rel=1e-6)


def test_orifice_becomes_laminar_at_small_drops():
    """Far below 1 kPa the flow is proportional to the drop: d / sqrt(1 kPa)."""
    gain = orifice_gain(1e-3)
    for flow in (1e-3 * gain * math.sqrt(1e3), gain * math.sqrt(1e6)):
        rig = Rig(pump(flow), Orifice("o", "p", "tank", 1e-3))
        rig.run(0.5)
        drop = brentq(lambda d, flow=flow: gain * root(d) - flow, 0.0, 1e7, xtol=1e-12, rtol=1e-14)
        assert rig.pressure("p") - ATMOSPHERE == pytest.approx(drop, rel=1e-5)
    assert gain * root(1.0) == pytest.approx(gain / math.sqrt(1e3), rel=1e-6)


@pytest.mark.parametrize("temperature", [313.15, 333.15])
def test_laminar_orifice_drains_a_volume_exponentially(temperature):
    resistance, volume = 1e12, 1e-3
    fluid = Fluid(temperature=temperature)
    rig = Rig(Line("v", volume), Orifice("o", "v", "tank", resistance=resistance), fluid=fluid, pressures={"v": 20e6})
    constant = resistance * math.exp(-0.03 * (temperature - 313.15)) * volume / BETA
    for count in range(1, 5):
        rig.advance(constant / 20, 10)
        expected = ATMOSPHERE + (20e6 - ATMOSPHERE) * math.exp(-0.5 * count)
        assert rig.pressure("v") == pytest.approx(expected, rel=SHARE)


@pytest.mark.parametrize("start, end", [(1e5, 10e6), (20e6, 10e6)])
def test_turbulent_filling_and_draining(start, end):
    """The root of the drop falls at a constant rate, K beta / (2 V)."""
    volume, gain = 1e-3, orifice_gain(2e-3)
    rig = Rig(supply(end), Line("v", volume), Orifice("o", "supply", "v", 2e-3), pressures={"v": start})
    duration = math.sqrt(abs(end - start)) / (gain * BETA / (2 * volume))
    for count in range(1, 36):
        rig.advance(duration / 40)
        left = (start - end) * (1 - count / 40) ** 2
        assert rig.pressure("v") - end == pytest.approx(left, abs=SHARE * abs(end - start))


def test_oil_mass_is_conserved_through_cavitation():
    """A pump removes more than the volume and returns it: the same pressure, and vapour pressure in between."""
    fluid = Fluid(vapour_pressure=100.0)
    take = Pump("take", outlet="tank", inlet="v", displacement=1e-6, speed=100.0, control="fixed", leakage=0.0)
    rig = Rig(Line("v", 1e-4), take, fluid=fluid, pressures={"v": 5e6})
    before = rig.now.content.copy()
    rig.run(3.0)
    # three times its own volume
    assert 100.0 < rig.pressure("v") < 100.1
    at = rig.lines.index("v")
    assert rig.now.content[at] - before[at] == pytest.approx(-3.0, rel=1e-9)
    give = Pump("give", outlet="v", inlet="tank", displacement=1e-6, speed=100.0, control="fixed", leakage=0.0)
    back = Rig(Line("v", 1e-4), give, fluid=fluid, pressures={"v": rig.pressure("v")})
    back.run(3.0)
    # 3 times the volume back within the rounding of p - p_v = 3e-4 Pa at p = 100 Pa, 1.4e-14 / 3e-4 of a content of 3
    assert back.pressure("v") == pytest.approx(5e6, abs=3 * 1.5e-14 / 3e-4 * BETA + 1.0)


# --- valves that pressures open ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("back", [1e5, 5e6])
@pytest.mark.parametrize("share", [0.2, 0.6, 1.0])
def test_relief_valve_flow(back, share):
    """The setting is relative to the outlet; the opening is proportional, with the rated flow at the rated rise."""
    relief = ReliefValve("r", "p", 10e6, 1e-3, outlet="back", rated_rise=1e6)
    rig = Rig(pump(share * 1e-3), Tank("back", back), relief, Line("p", 1e-3))
    rig.run(1.0)
    rise = brentq(lambda rise: rise * math.sqrt((10 + rise) / 11) - share, 0.0, 2.0)
    assert rig.pressure("p") - back == pytest.approx((10 + rise) * 1e6, rel=1e-6)


@pytest.mark.parametrize("back", [1e5, 5e6])
def test_relief_valve_is_tight_below_its_setting(back):
    relief = ReliefValve("r", "p", 10e6, 1e-3, outlet="back", rated_rise=1e6)
    rig = Rig(Tank("back", back), Line("p", 1e-3), relief, pressures={"p": back + 9.999e6})
    rig.run(1.0)
    assert rig.totals["passed"][0] == 0.0


def test_check_valve_flow():
    check = CheckValve("c", "p", "tank", 1e-3, cracking_pressure=1e5, rated_drop=5e5)
    rig = Rig(pump(1e-3), check)
    rig.run(0.5)
    # the laminar range of 1 kPa reduces the flow by (1 / 500)^2 / 4
    assert rig.pressure("p") - ATMOSPHERE == pytest.approx(5e5, rel=2e-6)
    for inlet, outlet in ((5e6, 6e6), (6.09e6, 6e6)):
        held = Rig(Line("i", 1e-4), Line("o", 1e-4), CheckValve("c", "i", "o", 1e-3, cracking_pressure=1e5))
        held.set_pressures({"i": inlet, "o": outlet})
        held.run(1.0)
        assert held.totals["passed"][0] == 0.0


@pytest.mark.parametrize("pilot, opens", [(1.9e6, False), (2.3e6, True)])
def test_pilot_operated_check_valve_opens_in_reverse(pilot, opens):
    """With ratio 3, outlet 6 MPa, inlet 0.1 MPa: 3 (p - 0.1) > 5.9 + 0.05 MPa, p > 2.083 MPa."""
    check = CheckValve("c", "tank", "load", 1e-3, pilot="pilot", pilot_ratio=3.0, cracking_pressure=5e4)
    rig = Rig(Tank("pilot", pilot), Line("load", 1e-3), check, pressures={"load": 6e6})
    rig.run(1.0)
    if opens:
        # closes again when the load has fallen to the limit that the pilot holds
        rest = ATMOSPHERE + 3.0 * (pilot - ATMOSPHERE) - 5e4
        assert rig.pressure("load") < 6e6
        assert rig.pressure("load") < rest
    else:
        assert rig.pressure("load") == pytest.approx(6e6, abs=1e-3)


@pytest.mark.parametrize("pilot", [1e5, 2e6, 4e6])
def test_counterbalance_valve_opens_by_load_and_pilot(pilot):
    valve = CounterbalanceValve("c", "load", "tank", "pilot", 20e6, 1e-3, pilot_ratio=4.0)
    rig = Rig(Tank("pilot", pilot), pump(1e-3, outlet="load"), valve, Line("load", 1e-3))
    rig.run(3.0)
    # at the rated flow the load is at setting plus rise, less the pilot's contribution; the drop is smaller
    wide = 1e-3 / math.sqrt(21e6)

    def surplus(p):
        return wide * min(max((p + 4.0 * pilot - 20e6) / 1e6, 0.0), 1.0) * root(p - ATMOSPHERE) - 1e-3

    assert rig.pressure("load") == pytest.approx(brentq(surplus, 2e5, 60e6), rel=1e-5)


def test_counterbalance_valve_has_free_flow_to_the_load():
    valve = CounterbalanceValve("c", "load", "p", "tank", 20e6, 1e-3)
    rig = Rig(pump(1e-3), valve, ReliefValve("r", "load", 5e6, 1e-3), Line("load", 1e-3))
    rig.run(1.0)
    assert rig.pressure("p") - rig.pressure("load") == pytest.approx(5e5, rel=1e-5)


@pytest.mark.parametrize("inlet", [8e6, 20e6])
def test_reducing_valve_holds_its_outlet_pressure(inlet):
    reducing = ReducingValve("r", "supply", "o", 3e6, 2e-4, range=2e5)
    rig = Rig(supply(inlet), reducing, Orifice("load", "o", "tank", 1e-3), Line("o", 1e-4))
    rig.run(1.0)
    assert 2.8e6 < rig.pressure("o") < 3e6
    gain, metering = 2e-4 / math.sqrt(5e5), orifice_gain(1e-3)

    def surplus(p):
        return gain * (3e6 - p) / 2e5 * root(inlet - p) - metering * root(p - ATMOSPHERE)

    assert rig.pressure("o") == pytest.approx(brentq(surplus, 2.8e6, 3e6), rel=1e-6)
    closed = Rig(supply(inlet), reducing, Line("o", 1e-4))
    closed.run(2.0)
    assert closed.pressure("o") == pytest.approx(3e6, rel=1e-4)


@pytest.mark.parametrize("a, b", [(8e6, 2e6), (2e6, 8e6), (8e6, 7.9e6)])
def test_shuttle_valve_passes_the_higher_pressure(a, b):
    rig = Rig(Tank("a", a), Tank("b", b), ShuttleValve("s", "a", "b", "o"), Line("o", 1e-4))
    rig.run(1.0)
    assert rig.pressure("o") == pytest.approx(max(a, b), rel=1e-4)


@pytest.mark.parametrize("loaded", [0, 1, 4])
def test_shuttle_valve_chain_transmits_the_load_of_any_section(loaded):
    """A spool that is open by 7 % signals a load of 1.1 MPa past four idle sections, whose signal lines are drained."""
    rig = Rig(
        *(supply(), *(Tank(f"a{n}", 1.1e6) for n in range(5)), *(Line(f"b{n}", 1e-4) for n in range(5))),
        *(valve(name=f"valve{n}", a=f"a{n}", b=f"b{n}", sense=f"s{n}", tank_underlap=-0.05) for n in range(5)),
        *(Line(f"s{n}", 1e-5) for n in range(5)),
        *(ShuttleValve(f"shuttle{n}", "s0" if n == 1 else f"ls{n - 1}", f"s{n}", f"ls{n}") for n in range(1, 5)),
        *(Line(f"ls{n}", 1e-5) for n in range(1, 5)),
    )
    rig.run(0.2)
    assert rig.pressure("ls4") == pytest.approx(ATMOSPHERE, rel=1e-3)
    rig.command[loaded] = 0.12
    rig.run(1.0)
    own = rig.pressure(f"s{loaded}")
    assert own == pytest.approx(1.1e6, rel=1e-3)
    # it arrives in full: no flow crosses a shuttle once its sides differ by 0.5 % of 5e4 Pa
    assert rig.pressure("ls4") == pytest.approx(own, rel=1e-3)
    rig.command[loaded] = 0.0
    rig.run(1.0)
    assert rig.pressure("ls4") == pytest.approx(ATMOSPHERE, rel=1e-3)


def test_compensator_keeps_the_flow_at_any_load():
    """Margin 1 MPa over an edge of 2 mm: the flow of this drop, within 5 % from 1 to 15 MPa of load."""
    flows = []
    for load in (1e6, 5e6, 10e6, 15e6):
        rig = Rig(
            *(supply(20e6), Compensator("c", "supply", "m", "l", 1e6, 1e-3), Orifice("edge", "m", "l", 2e-3)),
            *(ReliefValve("load", "l", load, 1e-3, rated_rise=1e5), Line("l", 1e-4), Line("m", 1e-5)),
        )
        rig.run(1.0)
        flows.append(rig.flow(list(rig.network.origin).index(rig.lines.index("m"))))
    assert max(flows) < orifice_gain(2e-3) * math.sqrt(1e6)
    assert max(flows) / min(flows) < 1.05
    assert min(flows) > 0.95 * orifice_gain(2e-3) * math.sqrt(1e6)


# --- hoses and accumulators -------------------------------------------------------------------------------------------


def test_hose_resistance_by_hagen_and_poiseuille():
    hose = Hose("h", "p", "o", 5.0, 0.01)
    rig = Rig(pump(2e-4), hose, Orifice("o", "o", "tank", 5e-3), fluid=Fluid(temperature=303.15))
    rig.run(1.0)
    viscosity = 850.0 * 46e-6 * math.exp(0.3)
    drop = 128 * viscosity * 5.0 * 2e-4 / (math.pi * 0.01**4)
    assert rig.pressure("p") - rig.pressure("o") == pytest.approx(drop, rel=1e-6)


def test_hose_compliance_by_its_volume_and_stiffness():
    hose = Hose("h", "p", "o", 5.0, 0.02, expansion=5e8)
    rig = Rig(pump(1e-5), hose)
    rig.run(1.0)
    rise = 1e-5 * 1.0 / (math.pi / 4 * 0.02**2 * 5.0 * (1 / BETA + 1 / 5e8))
    mean = 0.5 * (rig.pressure("p") + rig.pressure("o")) - ATMOSPHERE
    # the trace of gas in the oil is 1e-8 of the volume: 14 Pa of the rise
    assert mean == pytest.approx(rise, abs=20.0)


@pytest.mark.parametrize("index", [1.0, 1.4])
def test_accumulator_is_polytropic(index):
    """p V^n is constant: 0.4 l pumped into 1 l of gas of 5 MPa."""
    gas = Accumulator("g", "p", 1e-3, 5e6, index)
    rig = Rig(pump(1e-4), gas, Line("p", 1e-5), pressures={"p": 5e6})
    rig.run(4.0, 5e-3)

    def surplus(p):
        return 1e-3 * (1 - (5e6 / p) ** (1 / index)) + 1e-5 * (p - 5e6) / BETA - 4e-4

    # error of each of 800 steps: a third of the curvature times the cube of the share that flows in, 0.05 %
    assert rig.pressure("p") == pytest.approx(brentq(surplus, 5e6, 20e6), rel=1e-5)


# --- pumps ------------------------------------------------------------------------------------------------------------


def test_fixed_pump_delivers_its_displacement_less_leakage():
    rig = Rig(pump(5e-4, leakage=1e-11), Line("p", 1e-3), Tank("high", 10e6), CheckValve("c", "p", "high", 1e-3))
    rig.run(1.0)
    leak = 1e-11 * (rig.pressure("p") - ATMOSPHERE)
    assert rig.accounts.delivered[0] / 1e-3 == pytest.approx(5e-4, rel=1e-9)
    leakage = int(rig.network.leak[0])
    assert rig.flow(leakage) == pytest.approx(leak, rel=1e-9)
    assert rig.flow(1 - leakage) == pytest.approx(5e-4 - leak, rel=1e-6)
    assert rig.accounts.pump_work[0] == pytest.approx(5e-4 * 1e-3 * (rig.pressure("p") - ATMOSPHERE), rel=1e-6)


def test_swash_follows_with_its_time_constant():
    rig = Rig(pump(1e-3, control="pressure", setting=20e6, **CONTROL), Orifice("o", "p", "tank", 0.02))
    for count in range(1, 11):
        rig.advance(5e-3)
        # each step of h = 0.1 tau has an error of up to h^3 / 6, which the following ones damp
        passes = 0.1**3 / 6 * count * math.exp(-0.1 * (count - 1))
        assert rig.now.swash[0] == pytest.approx(1 - math.exp(-0.1 * count), abs=passes)


def test_pump_pressure_control_cuts_off():
    """No displacement at the setting, full displacement a regulation range below."""
    rig = Rig(pump(1e-3, control="pressure", setting=20e6, **CONTROL), Orifice("o", "p", "tank", 2e-3))
    rig.run(2.0)
    gain = orifice_gain(2e-3)
    steady = brentq(lambda p: 1e-3 * (20e6 - p) / 5e5 - gain * root(p - ATMOSPHERE), 19e6, 20e6)
    assert rig.pressure("p") == pytest.approx(steady, rel=1e-5)
    closed = Rig(pump(1e-3, control="pressure", setting=20e6, **CONTROL), Line("p", 1e-3), pressures={"p": 19.9e6})
    closed.run(3.0)
    assert closed.now.swash[0] == pytest.approx(0.0, abs=1e-3)


def test_load_sensing_pump_keeps_its_margin():
    gain = orifice_gain(3e-3)
    for load in (2e6, 12e6):
        ls = pump(1e-3, control="load_sensing", sense="l", setting=21e6, margin=2e6, **CONTROL)
        rig = Rig(ls, Orifice("edge", "p", "l", 3e-3), ReliefValve("r", "l", load, 1e-3, rated_rise=1e5))
        rig.run(2.0)
        margin = rig.pressure("p") - rig.pressure("l")
        assert 1.5e6 <= margin <= 2.5e6
        assert rig.flow(0) == pytest.approx(gain * math.sqrt(margin), rel=1e-6)
        assert rig.flow(0) < 1e-3


def test_pump_power_limit_reduces_displacement():
    numbers = CONTROL | {"power_limit": 5e3}
    rig = Rig(pump(1e-3, control="pressure", setting=30e6, **numbers), ReliefValve("r", "p", 10e6, 1e-3))
    rig.run(2.0)
    assert rig.flow(0) < 0.6e-3
    # by the outlet's absolute pressure, of which the tank's is 1 %
    assert rig.flow(0) * rig.pressure("p") == pytest.approx(5e3, rel=1e-4)


# --- directional valves -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damping", [0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("step", [1e-3, 2e-2])
def test_spool_follows_the_exact_response(damping, step):
    rig = Rig(supply(), valve(damping_ratio=damping), cylinder(), force=-1000.0)
    rig.command[0] = 0.45
    system = np.array([[0.0, 1.0], [-(120.0**2), -2 * damping * 120.0]])
    for count in range(1, 11):
        rig.advance(step)
        place, speed = expm(system * count * step) @ [-0.45, 0.0]
        assert rig.now.spool[0, 0] == pytest.approx(0.45 + place, abs=1e-8)
        assert rig.now.spool[0, 1] == pytest.approx(speed, abs=1e-6)


def test_spool_keeps_to_its_rate_limit():
    rig = Rig(supply(), valve(rate_limit=2.0), cylinder())
    rig.command[0] = 1.0
    rig.run(0.3)
    # it starts smoothly: within the limit, and a time of 2 / w_n behind it
    assert 2.0 * (0.3 - 2 / 120.0) <= rig.now.spool[0, 0] <= 0.6 + 1e-12
    rig.run(0.5)
    assert rig.now.spool[0, 0] == pytest.approx(1.0, abs=1e-6)


def test_spool_hysteresis_and_dead_band():
    rig = Rig(supply(), valve(hysteresis=0.04), cylinder())

    def after(command):
        rig.command[0] = command
        rig.run(0.3)
        return rig.now.spool[0, 0]

    assert after(0.5) == pytest.approx(0.48, abs=1e-6)
    assert after(0.47) == pytest.approx(0.48, abs=1e-6)
    assert after(0.4) == pytest.approx(0.42, abs=1e-6)
    rig = Rig(supply(), valve(dead_band=0.1), cylinder())
    assert after(0.09) == pytest.approx(0.0, abs=1e-9)
    assert after(0.55) == pytest.approx(0.5, abs=1e-6)
    assert after(-1.0) == pytest.approx(-1.0, abs=1e-6)


def test_tandem_centre_unloads_the_pump():
    rig = Rig(
        *(pump(1e-5, outlet="supply"), ReliefValve("r", "supply", 15e6, 1e-3, rated_rise=5e5)),
        *(valve(centre="tandem", tank_underlap=-0.05), cylinder()),
    )
    rig.run(0.5)
    gain = 0.62 * math.pi * 6e-3 * 8e-5 * math.sqrt(2 / DENSITY)
    assert rig.pressure("supply") - ATMOSPHERE == pytest.approx((1e-5 / gain / 0.15) ** 2, rel=1e-5)
    rig.command[0] = 1.0
    rig.push(-1e5)
    rig.run(0.5)
    assert rig.pressure("supply") > 15e6


def test_metering_edge_flows():
    """Flow of each edge at steady spool, between lines of constant pressure on one side."""
    gain = 0.62 * math.pi * 6e-3 * 8e-5 * math.sqrt(2 / DENSITY)
    for command, a, b in ((0.6, 0.55, 0.65), (-0.6, 0.65, 0.55)):
        rig = Rig(supply(), valve(), Orifice("oa", "a", "tank", 1e-3), Orifice("ob", "b", "tank", 1e-3))
        rig.command[0] = command
        rig.run(1.0)
        line, other = ("a", "b") if command > 0 else ("b", "a")
        share = a if command > 0 else b

        def surplus(p, share=share):
            return gain * share * root(10e6 - p) - orifice_gain(1e-3) * root(p - ATMOSPHERE)

        assert rig.pressure(line) == pytest.approx(brentq(surplus, ATMOSPHERE, 10e6), rel=1e-5)
        assert rig.pressure(other) == pytest.approx(ATMOSPHERE, rel=1e-3)


# --- cylinders --------------------------------------------------------------------------------------------------------


def converged_cylinder(times, *, feed_a, feed_b, cyl, load, force, pressures, position=0.25):
    """Motion that never reverses, both chambers through orifices from lines of constant pressure: (gain, pressure)."""
    mass = load + cyl.piston_mass

    def rates(t, y):
        x, v, a, b = y
        friction = cyl.viscous_friction * v
        if cyl.dry_friction > 0.0:
            over = (cyl.static_friction or cyl.dry_friction) - cyl.dry_friction
            friction += cyl.dry_friction + over * math.exp(-((v / cyl.stribeck_speed) ** 2))
        leak = cyl.leakage * (a - b)
        flow_a = feed_a[0] * root(feed_a[1] - a) - leak - AREA_A * v
        flow_b = feed_b[0] * root(feed_b[1] - b) + leak - cyl.rod_leakage * (b - 1e5) + AREA_B * v
        return [
            v,
            (AREA_A * a - AREA_B * b - friction + force) / mass,
            BETA / (1e-4 + AREA_A * x) * flow_a,
            BETA / (1e-4 + AREA_B * (0.5 - x)) * flow_b,
        ]

    return radau(rates, [position, 0.0, *pressures], times, max_step=2e-3)


@pytest.mark.parametrize(
    "numbers",
    [
        {"viscous_friction": 500.0},
        {"leakage": 2e-11, "rod_leakage": 1e-11, "viscous_friction": 500.0},
        {"dry_friction": 300.0, "static_friction": 600.0, "stribeck_speed": 0.05, "viscous_friction": 200.0},
    ],
)
@pytest.mark.parametrize("step", [5e-4, 1e-3, 5e-3])
def test_cylinder_against_radau(numbers, step):
    cyl, times = cylinder(**numbers), np.arange(1, 101) * 5e-3
    gain = orifice_gain(2e-3)
    rig = Rig(
        *(supply(), cyl, Orifice("oa", "supply", "a", 2e-3), Orifice("ob", "b", "tank", 2e-3)),
        force=-1000.0,
        pressures={"a": 1e6, "b": 1e5},
    )
    rig.now.position[:] = 0.1
    expected = converged_cylinder(
        times,
        feed_a=(gain, 10e6),
        feed_b=(gain, ATMOSPHERE),
        cyl=cyl,
        load=100.0,
        force=-1000.0,
        pressures=(1e6, 1e5),
        position=0.1,
    )
    assert expected[1].min() > 0.0
    ours = []
    for _ in times:
        rig.advance(step, round(5e-3 / step))
        ours.append([rig.now.position[0], rig.now.velocity[0], rig.pressure("a"), rig.pressure("b")])
    error = np.abs(np.array(ours).T - expected).max(axis=1)
    # each within the tolerance of a sub-step: 10 kPa and 0.2 % of the 10 MPa; of the speed 0.2 % and 0.1 mm/s,
    # while the oil swings by 0.1 m/s; and its integral over a swing of 10 ms
    assert error[2:].max() < 2 * (FLOOR + SHARE * 10e6)
    assert error[1] < 0.01 * expected[1].max()
    assert error[0] < 1e-5


@pytest.mark.parametrize("step", [1e-3, 5e-3])
def test_both_stroke_ends_hold_the_piston(step):
    rig = Rig(supply(), valve(), cylinder(dry_friction=50.0), force=-500.0)
    rig.command[0] = 1.0
    rig.run(6.0, step)
    assert rig.now.regime[0] == AT_END
    assert rig.now.position[0] == 0.5
    assert rig.now.velocity[0] == 0.0
    assert rig.pressure("a") == pytest.approx(10e6, rel=1e-3)
    rig.command[0] = -1.0
    rig.run(6.0, step)
    assert rig.now.regime[0] == AT_START
    assert rig.now.position[0] == 0.0
    assert rig.pressure("b") == pytest.approx(10e6, rel=1e-3)


def test_piston_momentum_is_absorbed_by_the_stop():
    """With the rod side wide open and the other side in air, both at 1e5 Pa, the stop absorbs the kinetic energy."""
    rig = Rig(cylinder(piston_side=""), Orifice("wide", "b", "tank", 0.05), mass=95.0)
    rig.now.velocity[:] = 1.0
    rig.run(1.0)
    assert rig.now.position[0] == 0.5
    assert rig.now.velocity[0] == 0.0
    # plus the air's work on the rod's area, less the loss of the wide orifice
    assert 0.0 < rig.totals["lost"][0] < 0.5
    expected = 0.5 * 100.0 + 0.5 * 1e5 * (AREA_A - AREA_B) - rig.totals["lost"][0]
    assert rig.totals["stop_loss"][0] == pytest.approx(expected, rel=1e-4)


def test_cushion_against_radau():
    """Chambers, ports and the three flow paths between them: main path, throttle, check valve."""
    cyl = cylinder(cushion_length=0.05, cushion_diameter=1.5e-3, viscous_friction=300.0)
    rig = Rig(
        *(supply(), cyl, Orifice("oa", "supply", "a", 3e-3), Orifice("ob", "b", "tank", 3e-3)),
        *(Line("a", 1e-4), Line("b", 1e-4)),
    )
    rig.now.position[:] = 0.4
    gain, throttle = orifice_gain(3e-3), orifice_gain(1.5e-3)
    wide = [0.7 * 0.1 * area * math.sqrt(2 / DENSITY) for area in (AREA_A, AREA_B)]

    def out(side, chamber, port, left):
        share = min(left / 0.05, 1.0)
        back = min(max((port - chamber - 5e4) / 4.5e5, 0.0), 1.0)
        return (throttle + wide[side] * share) * root(chamber - port) - wide[side] * back * root(port - chamber)

    def rates(t, y):
        x, v, chamber_a, chamber_b, a, b = y
        out_a, out_b = out(0, chamber_a, a, x), out(1, chamber_b, b, 0.5 - x)
        return [
            v,
            (AREA_A * chamber_a - AREA_B * chamber_b - 300.0 * v) / 105.0,
            -BETA / (1e-4 + AREA_A * x) * (out_a + AREA_A * v),
            BETA / (1e-4 + AREA_B * (0.5 - x)) * (AREA_B * v - out_b),
            BETA / 1e-4 * (gain * root(10e6 - a) + out_a),
            BETA / 1e-4 * (out_b - gain * root(b - ATMOSPHERE)),
        ]

    times = np.arange(1, 301) * 1e-3
    expected = radau(rates, [0.4, 0.0, *[ATMOSPHERE] * 4], times, max_step=1e-3)
    stops = int(np.argmax(expected[0] > 0.4999))
    stops = stops or len(times)
    lines = [rig.lines.index(line) for line in ("cylinder.piston_chamber", "cylinder.rod_chamber")]
    ours = []
    for _ in times[:stops]:
        rig.advance(1e-3)
        ours.append([rig.now.position[0], rig.now.velocity[0], *rig.now.pressure[lines]])
    expected = expected[:4, :stops]
    error = np.abs(np.array(ours).T - expected).max(axis=1)
    assert expected[1].max() > 1.5 * expected[1, -1] > 0.0
    assert error[0] < 1e-4
    assert error[1] < 0.02 * expected[1].max()


# --- the scheme -------------------------------------------------------------------------------------------------------


def test_implicit_scheme_is_of_second_order():
    """A soft, smooth circuit with one sub-step per step: a quarter of the error for half the step."""
    resistance = 2e10
    cyl = cylinder(viscous_friction=2000.0, dead_volume_piston_side=0.05, dead_volume_rod_side=0.05)

    def rig():
        made = Rig(
            *(supply(3e6), cyl, Orifice("oa", "supply", "a", resistance=resistance)),
            Orifice("ob", "b", "tank", resistance=resistance),
            pressures={"a": 1e6, "b": 1e6},
            force=-600.0,
            mass=1000.0,
        )
        made.now.position[:] = 0.2
        return made

    def rates(t, y):
        x, v, a, b = y
        return [
            v,
            (AREA_A * a - AREA_B * b - 2000.0 * v - 600.0) / 1005.0,
            BETA / (0.05 + AREA_A * x) * ((3e6 - a) / resistance - AREA_A * v),
            BETA / (0.05 + AREA_B * (0.5 - x)) * ((1e5 - b) / resistance + AREA_B * v),
        ]

    expected = radau(rates, [0.2, 0.0, 1e6, 1e6], [0.4])[:, -1]
    errors = []
    for count in (100, 200, 400):
        made = rig()
        made.advance(0.4 / count, count)
        ours = np.array([made.now.position[0], made.now.velocity[0], made.pressure("a"), made.pressure("b")])
        errors.append(np.abs(ours - expected))
    ratios = np.array([errors[0] / errors[1], errors[1] / errors[2]])
    assert np.all(np.abs(ratios - 4.0) < 0.6)


@pytest.mark.parametrize("step", [1e-3, 2e-3, 5e-3])
def test_cylinder_on_a_closed_valve_does_not_creep(step):
    rig = Rig(supply(), valve(tank_underlap=-0.05), cylinder(viscous_friction=500.0), force=-5000.0)
    rig.set_pressures({"a": 5000 / AREA_A})
    rig.now.position[:] = 0.25
    rig.run(20.0, step)
    settled = rig.now.position[0]
    rig.run(60.0, step)
    # rounding of a position of 0.25 m, 60 000 times at random, is 1e-14 m
    assert rig.now.position[0] == pytest.approx(settled, abs=1e-12)


@pytest.mark.parametrize("step", [1e-3, 5e-3])
def test_load_sinks_by_the_leakage(step):
    """Single-acting: leakage G (p - p_air) lets it sink by as much per area."""
    cyl = cylinder(rod_side="", leakage=1e-12, dead_volume_rod_side=0.0)
    rig = Rig(supply(), valve(tank_underlap=-0.05), cyl, Line("b", 1e-4), force=-5000.0)
    pressure = (5000.0 + AREA_B * 1e5) / AREA_A
    rig.set_pressures({"a": pressure})
    rig.now.position[:] = 0.25
    rig.run(2.0, step)
    start = rig.now.position[0]
    rig.run(20.0, step)
    assert start - rig.now.position[0] == pytest.approx(1e-12 * (pressure - 1e5) / AREA_A * 20.0, rel=1e-4)


@pytest.mark.parametrize("friction", [0.0, 400.0])
@pytest.mark.parametrize("step", [1e-3, 5e-3])
def test_closed_chambers_conserve_oil_under_vibration(friction, step):
    """The fluid mass of a closed chamber, c + ln V, is constant under any motion of the piston."""
    rig = Rig(Line("a", 1e-4), Line("b", 1e-4), cylinder(dry_friction=friction), pressures={"a": 5e6, "b": 5e6})
    rig.now.position[:] = 0.25
    steady = -(AREA_A - AREA_B) * 5e6
    rig.push(steady)

    def held():
        return rig.now.content + np.log(rig.volumes(), where=rig.volumes() > 0, out=np.zeros(len(rig.lines)))

    moving = ~rig.network.constant
    before = held()[moving]
    for count in range(4000):
        rig.push(steady + 3000.0 * math.sin(37.0 * count * step))
        rig.advance(step)
    drift = (held()[moving] - before) * BETA
    # after some 10 000 sub-steps less than a tenth of the tolerance of one
    assert np.abs(drift).max() < 0.1 * FLOOR


def turnover(rig):
    """Energy from pumps, supplies and tanks less the energy returned, and the sum of both [J]."""
    network, totals = rig.network, rig.totals
    turned = float(totals["pump_work"].sum())
    received = turned
    for e, passed in enumerate(totals["passed"]):
        for line, sign in ((network.origin[e], 1.0), (network.end[e], -1.0)):
            if network.constant[line]:
                received += sign * network.pressure[line] * passed
                turned += abs(network.pressure[line] * passed)
    for p, passed in enumerate(totals["delivered"]):
        if network.constant[network.inlet[p]]:
            received += network.pressure[network.inlet[p]] * passed
    return received, turned


@pytest.mark.parametrize("step", [1e-3, 5e-3])
@pytest.mark.parametrize("source", ["supply", "pump"])
def test_hydraulic_energy_balance_over_a_cycle(step, source):
    """Received = throttled + friction + potential and kinetic energy + energy of the oil, to 0.1 %."""
    cyl = cylinder(dry_friction=100.0, viscous_friction=200.0)
    feed = (
        (supply(),)
        if source == "supply"
        else (pump(2e-4, outlet="supply"), ReliefValve("r", "supply", 12e6, 5e-4), Line("supply", 1e-3))
    )
    rig = Rig(*feed, valve(), cyl, force=-1500.0, mass=200.0)
    oil = 0.0
    sizes, densities = rig.volumes(), rig.energy_densities()
    for command in (1.0, 0.0, -0.7, 0.0, 0.5):
        rig.command[0] = command
        for _ in range(round(1.0 / step)):
            rig.advance(step)
            new_sizes, new_densities = rig.volumes(), rig.energy_densities()
            oil += float(np.sum((0.5 * (sizes + new_sizes) * (new_densities - densities))[~rig.network.constant]))
            sizes, densities = new_sizes, new_densities
    received, turned = turnover(rig)
    totals = rig.totals
    gone = totals["lost"].sum() + totals["work"].sum() + oil
    assert received == pytest.approx(gone, abs=1e-3 * turned)
    moved = 0.5 * 205.0 * rig.now.velocity[0] ** 2 + 1500.0 * rig.now.position[0]
    used = totals["viscous_loss"].sum() + totals["friction_loss"].sum() + totals["stop_loss"].sum() + moved
    assert totals["work"].sum() == pytest.approx(used, abs=1e-3 * turned)


# --- whatever circuit -------------------------------------------------------------------------------------------------


@st.composite
def rigs(draw):
    """A pump of any control, a valve, a cylinder behind any of the other components, and any load."""
    control = draw(st.sampled_from(["fixed", "pressure", "load_sensing"]))

    def number(low, high):
        return draw(st.floats(math.log(low), math.log(high)).map(math.exp))

    feed = pump(
        number(1e-5, 2e-3),
        control=control,
        sense="ls" if control == "load_sensing" else "",
        outlet="p0",
        setting=number(5e6, 3e7),
        margin=number(5e5, 3e6),
        leakage=draw(st.sampled_from([0.0, 1e-12])),
        regulation_range=number(1e5, 2e6),
        response_time=draw(st.sampled_from([0.0, 0.01, 0.2])),
        power_limit=draw(st.sampled_from([0.0, 5e3])),
        minimum_stroke=draw(st.sampled_from([0.0, 0.1])),
    )
    parts = [feed, ReliefValve("r", "p0", number(2e6, 3e7), number(1e-4, 2e-3), rated_rise=number(1e5, 3e6))]
    parts += [
        draw(st.sampled_from([Hose("h", "p0", "supply", 3.0, 0.012, 8e8), CheckValve("c", "p0", "supply", 1e-3)]))
    ]
    if draw(st.booleans()):
        parts.append(Accumulator("g", "supply", number(1e-5, 1e-3), number(5e5, 1e7), 1.4))
    metered = draw(st.booleans())
    if metered:
        parts.append(Compensator("k", "supply", "metered", "ls", 8e5, number(1e-4, 1e-3)))
    parts.append(
        valve(
            supply="metered" if metered else "supply",
            a="va",
            sense="ls",
            spool_travel=number(2e-5, 2e-3),
            tank_underlap=draw(st.floats(-0.2, 0.2)),
            centre=draw(st.sampled_from(["closed", "open", "tandem"])),
            damping_ratio=draw(st.floats(0.0, 2.0)),
            rate_limit=draw(st.sampled_from([0.0, 3.0])),
        )
    )
    parts.append(
        draw(
            st.sampled_from(
                [
                    CounterbalanceValve("cb", "a", "va", "b", 2e7, 1e-3),
                    CheckValve("po", "va", "a", 1e-3, pilot="b"),
                    Orifice("o", "va", "a", 2e-3),
                    Hose("ho", "va", "a", 1.0, 0.008),
                ]
            )
        )
    )
    cushion = {"cushion_length": 0.03, "cushion_diameter": 1e-3} if draw(st.booleans()) else {}
    dry = draw(st.sampled_from([0.0, 200.0]))
    parts.append(
        cylinder(
            **{"stroke": draw(st.floats(0.08, 0.5)), "dry_friction": dry, "static_friction": 2 * dry, **cushion},
            dead_volume_piston_side=number(1e-6, 1e-3),
            dead_volume_rod_side=number(1e-6, 1e-3),
            leakage=draw(st.sampled_from([0.0, 1e-11])),
            viscous_friction=draw(st.sampled_from([0.0, 500.0])),
        )
    )
    air = draw(st.sampled_from([0.0, 0.02]))
    fluid = Fluid(entrained_air=air, dissolved_air=4 * air, vapour_pressure=draw(st.sampled_from([0.0, 500.0])))
    return Rig(*parts, fluid=fluid, mass=number(1.0, 1e4), force=draw(st.floats(-5e4, 5e4)))


@given(
    rig=rigs(),
    commands=st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=6),
    step=st.sampled_from([1e-3, 2e-3, 5e-3]),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_random_circuits_stay_within_physical_limits(rig, commands, step):
    """Pressures above the vapour pressure, the piston within its stroke, finite numbers."""
    network = rig.network
    for command in commands:
        rig.command[0] = command
        for _ in range(round(0.25 / step)):
            rig.advance(step)
            assert np.all(np.isfinite(rig.now.pressure))
            assert rig.now.pressure.min() > network.oil.vapour
            assert 0.0 <= rig.now.position[0] <= network.stroke[0]
            assert np.isfinite(rig.now.velocity[0])
            assert np.all((rig.now.swash >= 0.0) & (rig.now.swash <= 1.0))
