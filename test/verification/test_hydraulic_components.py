"""Hydraulic components in motion and at their limits, against closed forms and Radau integration.

Steady states of most components are in `test_hydraulic_network`.
"""

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
    ReliefValve,
    ShuttleValve,
    Tank,
)

EDGE = 0.62 * math.pi * 6e-3 * 8e-5 * math.sqrt(2 / DENSITY)


def followed(rig, lines, times, step):
    """Pressures of lines at the times given, by steps of this length."""
    ours, before = [], 0.0
    for time in times:
        rig.advance(step, round((time - before) / step))
        before = time
        ours.append([rig.pressure(line) for line in lines])
    return np.array(ours).T


# --- pumps ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1e-3, 5e-3])
def test_pressure_controlled_pump_against_radau(step):
    """An orifice behind the pump opens to a line at 12 MPa that was at 1e5 Pa; the swash is reduced."""
    control = CONTROL | {"regulation_range": 2e6}
    rig = Rig(
        pump(6e-4, control="pressure", setting=15e6, leakage=2e-12, **control),
        *(Orifice("o", "p", "q", 3e-3), Orifice("out", "q", "tank", 1.5e-3), Line("p", 1e-3), Line("q", 4e-3)),
    )
    rig.now.swash[:] = 1.0
    first, second = orifice_gain(3e-3), orifice_gain(1.5e-3)

    def rates(t, y):
        p, q, swash = y
        wanted = min(max((15e6 - p) / 2e6, 0.0), 1.0)
        through = first * root(p - q)
        return [
            BETA / 1e-3 * (6e-4 * swash - 2e-12 * (p - ATMOSPHERE) - through),
            BETA / 4e-3 * (through - second * root(q - ATMOSPHERE)),
            (wanted - swash) / 0.05,
        ]

    times = np.arange(1, 101) * 1e-2
    expected = radau(rates, [ATMOSPHERE, ATMOSPHERE, 1.0], times, max_step=5e-3)
    assert expected[2].min() < 0.6
    ours = followed(rig, ["p", "q"], times, step)
    assert np.abs(ours - expected[:2]).max() < 2 * (FLOOR + SHARE * 15e6)
    # the steady swash, by its flow
    assert rig.now.swash[0] == pytest.approx(expected[2, -1], rel=SHARE)


@pytest.mark.parametrize("step", [1e-3, 5e-3])
def test_load_sensing_pump_against_radau(step):
    """A relief valve of 9 MPa as load behind a metering edge; the pressure is sensed at the load."""
    gain, wide = orifice_gain(3e-3), 1e-3 / math.sqrt(10e6)
    rig = Rig(
        pump(8e-4, control="load_sensing", sense="l", setting=21e6, margin=2e6, **CONTROL | {"regulation_range": 1e6}),
        *(Orifice("edge", "p", "l", 3e-3), ReliefValve("r", "l", 9e6, 1e-3), Line("p", 2e-3), Line("l", 2e-3)),
    )
    rig.now.swash[:] = 1.0

    def rates(t, y):
        p, load, swash = y
        wanted = min(max(min((21e6 - p) / 1e6, 1.0 + (load + 2e6 - p) / 1e6), 0.0), 1.0)
        over = wide * min(max((load - ATMOSPHERE - 9e6) / 1e6, 0.0), 1.0) * root(load - ATMOSPHERE)
        through = gain * root(p - load)
        return [BETA / 2e-3 * (8e-4 * swash - through), BETA / 2e-3 * (through - over), (wanted - swash) / 0.05]

    times = np.arange(1, 101) * 1e-2
    expected = radau(rates, [ATMOSPHERE, ATMOSPHERE, 1.0], times, max_step=5e-3)
    ours = followed(rig, ["p", "l"], times, step)
    # the saturation of the control changes within a sub-step while the pressures rise by 10 MPa in 50 ms
    assert np.abs(ours - expected[:2])[:, times > 0.1].max() < 2 * (FLOOR + SHARE * 11e6)
    assert rig.now.swash[0] == pytest.approx(expected[2, -1], rel=SHARE)
    assert 2e6 < ours[0, -1] - ours[1, -1] < 3e6


def test_least_pump_stroke_flows_over_the_relief_valve():
    """Cut off by its control, the pump delivers its least displacement."""
    control = CONTROL | {"minimum_stroke": 0.1}
    rig = Rig(
        pump(1e-3, control="pressure", setting=10e6, **control),
        *(ReliefValve("r", "p", 12e6, 1e-3, rated_rise=1e6), Line("p", 1e-3)),
    )
    rig.run(2.0)
    assert rig.now.swash[0] == pytest.approx(0.1, abs=1e-9)
    rise = brentq(lambda rise: rise * math.sqrt((12 + rise) / 13) - 0.1, 0.0, 1.0)
    assert rig.pressure("p") - ATMOSPHERE == pytest.approx((12 + rise) * 1e6, rel=1e-5)


@pytest.mark.parametrize("load", [2e6, 6e6, 14e6])
def test_pump_power_limit_over_the_range_of_pressures(load):
    """Full flow up to the corner power, P / p beyond it, and the pressure setting as the limit."""
    numbers = CONTROL | {"power_limit": 5e3}
    rig = Rig(
        pump(1e-3, control="pressure", setting=20e6, **numbers),
        *(ReliefValve("r", "p", load, 1e-3, rated_rise=1e5), Line("p", 1e-3)),
    )
    rig.run(3.0)
    wanted = min(1e-3, 5e3 / rig.pressure("p"))
    assert rig.flow(0) == pytest.approx(wanted, rel=1e-4)


# --- valves that pressures open ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("pilot", [3e6, 5e6, 9e6])
def test_pilot_operated_check_valve_passes_reverse_flow(pilot):
    """s = (3 (p_x - p_in) - d - 0.05 MPa) / 0.5 MPa for a flow of 0.2 l/s against a seat of 1 l/s at 0.5 MPa."""
    check = CheckValve("c", "tank", "load", 1e-3, pilot="pilot", pilot_ratio=3.0, cracking_pressure=5e4)
    rig = Rig(Tank("pilot", pilot), pump(2e-4, outlet="load"), check, Line("load", 1e-3))
    rig.run(4.0)
    gain = 1e-3 / math.sqrt(5e5)

    def opening(drop):
        return min(max((3.0 * (pilot - ATMOSPHERE) - drop - 5e4) / 5e5, 0.0), 1.0)

    # the drop of the fully open valve, far below that which the pilot can hold open
    drop = brentq(lambda drop: gain * opening(drop) * root(drop) - 2e-4, 0.0, 2e6)
    assert rig.pressure("load") - ATMOSPHERE == pytest.approx(drop, rel=1e-5)


@pytest.mark.parametrize("pilot", [1e5, 2e6])
@pytest.mark.parametrize("step", [1e-3, 5e-3])
def test_counterbalance_valve_against_radau(pilot, step):
    """A load line of 25 MPa blows off behind a setting of 20 MPa, less four times the pilot's pressure."""
    rig = Rig(
        *(Tank("pilot", pilot), CounterbalanceValve("c", "load", "tank", "pilot", 20e6, 2e-4, pilot_ratio=4.0)),
        Line("load", 2e-3),
        pressures={"load": 25e6},
    )
    gain = 2e-4 / math.sqrt(21e6)

    def rates(t, y):
        share = min(max((y[0] + 4.0 * pilot - 20e6) / 1e6, 0.0), 1.0)
        return [-BETA / 2e-3 * gain * share * root(y[0] - ATMOSPHERE)]

    times = np.arange(1, 81) * 5e-3
    expected = radau(rates, [25e6], times, max_step=1e-3)
    ours = followed(rig, ["load"], times, step)
    assert np.abs(ours - expected).max() < FLOOR + SHARE * 25e6
    # it closes where load and pilot together fall to the setting
    assert ours[0, -1] == pytest.approx(20e6 - 4.0 * pilot, rel=1e-2)


@pytest.mark.parametrize("a, b", [(8e6, 2e6), (2e6, 8e6), (8e6, 7.98e6), (8e6, 7.9999e6), (8e6, 8e6)])
def test_shuttle_valve_flow_against_closed_form(a, b):
    """Half of each path opens by the sides' difference, from 0.5 % on, half like a check valve, over 0.1 rated drop."""
    rig = Rig(
        *(Tank("a", a), Tank("b", b), ShuttleValve("s", "a", "b", "o", rated_flow=1e-4, rated_drop=5e5)),
        *(Orifice("load", "o", "tank", 0.8e-3), Line("o", 1e-4)),
    )
    rig.run(1.0)
    gain, load = 1e-4 / math.sqrt(5e5), orifice_gain(0.8e-3)

    def share(d):
        return min(max(d / 5e4, 0.0), 1.0)

    def flow(own, other, p):
        return gain * (share(250.0 + own - other) + share(own - p)) / 2 * root(own - p)

    def surplus(p):
        return flow(a, b, p) + flow(b, a, p) - load * root(p - ATMOSPHERE)

    assert rig.pressure("o") == pytest.approx(brentq(surplus, ATMOSPHERE, 8e6), rel=1e-6)


def test_shuttle_valve_outlet_fills_and_drains_at_equal_sides():
    """2 MPa compress 0.1 l by 1.4e-7 m3: 1.4 ms at the check valve's 1e-4 m3/s, 0.14 s at 0.5 % of it and 2 MPa."""
    rig = Rig(
        *(Line("a", 1.0), Line("b", 1.0), Line("o", 1e-4), Orifice("drain_a", "a", "tank", 1e-6)),
        *(Orifice("drain_b", "b", "tank", 1e-6), ShuttleValve("s", "a", "b", "o")),
        pressures={"a": 3e6, "b": 3e6, "o": 1e6},
    )
    rig.run(0.02)
    assert rig.pressure("o") == pytest.approx(3e6, rel=1e-2)
    rig.set_pressures({"a": 1e6, "b": 1e6})
    rig.run(1.0)
    assert rig.pressure("o") == pytest.approx(1e6, rel=1e-2)


@pytest.mark.parametrize("load", [1e6, 15e6])
def test_compensator_in_closed_form(load):
    """s = (m - (p_out - p_load)) / r on one side, the metering edge on the other."""
    rig = Rig(
        *(supply(20e6), Compensator("c", "supply", "m", "l", 1e6, 1e-3), Orifice("edge", "m", "l", 2e-3)),
        *(Tank("l", load), Line("m", 1e-4)),
    )
    rig.run(1.0)
    gain, metering = 1e-3 / math.sqrt(5e5), orifice_gain(2e-3)

    def surplus(p):
        return gain * min(max((1e6 - (p - load)) / 1e5, 0.0), 1.0) * root(20e6 - p) - metering * root(p - load)

    assert rig.pressure("m") == pytest.approx(brentq(surplus, load, load + 1e6), rel=1e-6)


# --- directional valves -----------------------------------------------------------------------------------------------


def edge_flow(rig, origin, end):
    """Flow of the flow element between two lines [m3/s]."""
    ends = zip(rig.network.origin, rig.network.end, strict=True)
    numbers = [e for e, (o, n) in enumerate(ends) if (rig.lines[o], rig.lines[n]) == (origin, end)]
    (number,) = numbers
    return rig.flow(number)


@pytest.mark.parametrize("command", [-1.0, -0.5, -0.1, 0.0, 0.07, 0.3, 1.0])
def test_metering_edge_overlaps_of_a_directional_valve(command):
    """Flows between lines that are too large to change."""
    overlaps = {"supply_a_overlap": 0.02, "tank_a_underlap": 0.12, "supply_b_overlap": 0.15, "tank_b_underlap": -0.08}
    rig = Rig(supply(), valve(**overlaps), Line("a", 1e3), Line("b", 1e3), pressures={"a": 6e6, "b": 3e6})
    rig.command[0] = command
    rig.now.spool[0] = command, 0.0, command
    rig.advance(1e-3)
    # the laminar range reduces the flow by (drop / 1 kPa)^-2 / 4, 3e-8
    for origin, end, opening, drop in (
        ("supply", "a", command - 0.02, 4e6),
        ("a", "tank", 0.12 - command, 5.9e6),
        ("supply", "b", -command - 0.15, 7e6),
        ("b", "tank", command - 0.08, 2.9e6),
    ):
        expected = EDGE * max(opening, 0.0) * math.sqrt(drop)
        assert edge_flow(rig, origin, end) == pytest.approx(expected, rel=1e-6, abs=1e-15)


def test_open_centre_connects_all_ports_at_neutral():
    """Supply edges open by 0.1 and tank edges by 0.05 of the travel: the flow goes through both sides in parallel."""
    rig = Rig(
        *(pump(1e-5, outlet="supply"), valve(centre="open", supply_overlap=0.1)),
        *(Line("supply", 1e-4), Line("a", 1e-4), Line("b", 1e-4)),
    )
    # the lines fill with a time constant of 0.2 s
    rig.run(4.0)
    # half of the flow by each path; drops as the inverse squares of the openings
    upper, lower = (5e-6 / (0.1 * EDGE)) ** 2, (5e-6 / (0.05 * EDGE)) ** 2
    assert rig.pressure("a") == pytest.approx(rig.pressure("b"), rel=1e-9)
    assert rig.pressure("a") - ATMOSPHERE == pytest.approx(lower, rel=1e-5)
    assert rig.pressure("supply") - ATMOSPHERE == pytest.approx(lower + upper, rel=1e-5)


@pytest.mark.parametrize("command, sensed", [(1.0, 6e6), (-1.0, 3e6), (0.0, ATMOSPHERE)])
def test_sense_line_has_the_pressure_of_the_supplied_side(command, sensed):
    rig = Rig(
        *(supply(), valve(sense="ls"), Line("a", 1e3), Line("b", 1e3), Line("ls", 1e-5)),
        pressures={"a": 6e6, "b": 3e6},
    )
    rig.command[0] = command
    rig.run(1.0)
    assert rig.pressure("ls") == pytest.approx(sensed, rel=1e-4)


@pytest.mark.parametrize("rate_limit", [0.0, 4.0])
@pytest.mark.parametrize("command", [0.7, 1.0])
def test_spool_stops_at_full_travel(rate_limit, command):
    """A spool gain of two commands more than full travel."""
    rig = Rig(supply(), valve(gain=2.0, damping_ratio=0.3, rate_limit=rate_limit), Line("a", 1e-4), Line("b", 1e-4))
    rig.command[0] = command
    travelled = []
    for _ in range(400):
        rig.advance(1e-3)
        travelled.append(rig.now.spool[0, 0])
    assert max(travelled) == travelled[-1] == 1.0
    if rate_limit:
        # also in half sub-steps
        assert np.diff([0.0, *travelled]).max() <= rate_limit * 1e-3 * (1.0 + 1e-9)


# --- cylinders --------------------------------------------------------------------------------------------------------


def test_piston_breaks_away_at_its_static_friction():
    """Slow pressure rise by a pump: the piston sticks until S_A p_A - S_B p_B - load reaches the static friction."""
    load, static = 500.0, 900.0
    rig = Rig(
        *(pump(1e-7, outlet="a"), Orifice("o", "b", "tank", 5e-3)),
        cylinder(dry_friction=300.0, static_friction=static, stribeck_speed=0.02, viscous_friction=200.0),
        force=-load,
    )
    rig.now.position[:] = 0.1
    breakaway = (load + static + AREA_B * ATMOSPHERE) / AREA_A
    highest = 0.0
    for _ in range(4000):
        rig.advance(1e-3)
        highest = max(highest, rig.pressure("a"))
        if rig.now.velocity[0] > 0.0:
            break
    assert rig.now.velocity[0] > 0.0
    # the pressure rises by 0.6 kPa in a step
    volume = 1e-4 + AREA_A * 0.1
    assert highest == pytest.approx(breakaway, abs=2 * 1e-7 * 1e-3 * BETA / volume + 1.0)


def test_cylinder_friction_follows_the_stribeck_curve():
    """Driven by pumps at steady speeds: S_A p_A - S_B p_B = k v + F_d + (F_s - F_d) exp(-(v / v_s)^2)."""
    for speed in (0.005, 0.02, 0.1):
        rig = Rig(
            pump(AREA_A * speed, outlet="a"),
            *(Orifice("o", "b", "tank", resistance=1e9),),
            cylinder(dry_friction=300.0, static_friction=900.0, stribeck_speed=0.02, viscous_friction=2e5),
            mass=10.0,
        )
        rig.now.position[:] = 0.05
        rig.now.velocity[:] = speed
        rig.run(2.0)
        friction = 2e5 * speed + 300.0 + 600.0 * math.exp(-((speed / 0.02) ** 2))
        assert rig.now.velocity[0] == pytest.approx(speed, rel=1e-4)
        push = AREA_A * rig.pressure("a") - AREA_B * rig.pressure("b")
        assert push == pytest.approx(friction, rel=1e-4)


# --- accumulators and hoses -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [1.0, 1.25])
@pytest.mark.parametrize("step", [1e-3, 5e-3])
def test_accumulator_discharge_against_radau(index, step):
    """Through an orifice, from 15 MPa to below its precharge of 5 MPa, where only the oil is compressible."""
    rig = Rig(
        *(Accumulator("g", "p", 1e-3, 5e6, index), Orifice("o", "p", "tank", 3e-3), Line("p", 1e-3)),
        pressures={"p": 15e6},
    )
    gain = orifice_gain(3e-3)

    def rates(t, y):
        gas = 1e-3 * (5e6 / y[0]) ** (1.0 / index) / (index * y[0]) if y[0] > 5e6 else 0.0
        return [-gain * root(y[0] - ATMOSPHERE) / (1e-3 / BETA + gas)]

    times = np.arange(1, 151) * 1e-2
    expected = radau(rates, [15e6], times, max_step=1e-3)
    assert expected[0, -1] < 0.2e6
    ours = followed(rig, ["p"], times, step)
    # the remaining oil leaves within 10 ms, up to a step late
    empty = times[int(np.argmax(expected[0] < 5e6))]
    calm = np.abs(times - empty) > 2.5e-2
    assert np.abs(ours - expected)[:, calm].max() < FLOOR + SHARE * 15e6


@pytest.mark.parametrize("step", [1e-3, 5e-3])
def test_hose_pressures_equalise_exponentially(step):
    """Two closed ends: the difference of pressures falls with R C / 2, its mean stays."""
    hose = Hose("h", "p", "o", 4.0, 4e-3, expansion=6e8)
    rig = Rig(hose, Line("p", 1e-4), Line("o", 1e-4), pressures={"p": 12e6, "o": 4e6}, fluid=Fluid(temperature=293.15))
    resistance = 128 * DENSITY * 46e-6 * math.exp(0.6) * 4.0 / (math.pi * 4e-3**4)
    half = 0.5 * math.pi / 4 * 4e-3**2 * 4.0
    capacity = (1e-4 + half) / BETA + half / 6e8
    times = np.arange(1, 21) * 1e-2
    ours = followed(rig, ["p", "o"], times, step)
    expected = 8e6 * np.exp(-2.0 * times / (resistance * capacity))
    assert np.abs(ours[0] - ours[1] - expected).max() < FLOOR + SHARE * 12e6
    # the trace of gas in the oil is stiffer under the higher pressure, by 1e-8 of the volume
    assert np.abs(0.5 * (ours[0] + ours[1]) - 8e6).max() < 1e3
