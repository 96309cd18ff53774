"""Kernels of the constraint rows and of the hydraulics, compiled and interpreted, against plain formulas."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from one_island import solve_as_one_island
from scipy.optimize import brentq

from grouser.physics.base.packed import Packed
from grouser.physics.constraints.rows import hold_against, make_rows, open_row, row_speed
from grouser.physics.contact.rows import (
    CONTACT_SLOP,
    PENETRATION_RELIEF,
    RESTITUTION_SPEED,
    _normal_law,
    make_contact_rows,
)
from grouser.physics.description import parse_machine
from grouser.physics.hydraulics.chambers import chamber_compliances, oil_stiffness
from grouser.physics.hydraulics.elements import make_network
from grouser.physics.hydraulics.published_valve import (
    CAVITY,
    advance_spool,
    conductance,
    edge_openings,
    fill_chamber,
    turbulent,
)

SUPPLY, TANK = 1e7, 1e5
# Width [Pa] of the laminar range.
MIDDLE = 1e3


def both(function):
    """The compiled function and its Python source."""
    return pytest.mark.parametrize("leaf", [function, function.py_func], ids=["compiled", "interpreted"])


# --- the closed form of a row -----------------------------------------------------------------------------------------

numbers = st.floats(-10.0, 10.0)
maybe = lambda strategy, absent: st.one_of(st.just(absent), strategy)  # noqa: E731
row_laws = st.fixed_dictionaries(
    {
        "conductance": maybe(st.floats(1e-6, 1e8), 0.0),
        "target": numbers,
        "spring_lower": maybe(st.floats(-1e3, 10.0), -math.inf),
        "spring_upper": maybe(st.floats(10.0, 1e3), math.inf),
        "hold_bound": maybe(st.floats(1e-6, 1e2), 0.0),
        "hold_speed": maybe(numbers, 0.0),
        "slowest": maybe(st.floats(-10.0, 0.0), -math.inf),
        "fastest": maybe(st.floats(0.0, 10.0), math.inf),
    }
)


def speed_by_bisection(law, speed, inverse_mass):
    """The root of v - s - K (spring + hold + stops), which increases with v and jumps where a hold or stop acts."""

    def excess(v):
        if v > law["fastest"]:
            return math.inf
        if v < law["slowest"]:
            return -math.inf
        spring = law["conductance"] * (law["target"] - v)
        spring = min(max(spring, law["spring_lower"]), law["spring_upper"])
        hold = -law["hold_bound"] * np.sign(v - law["hold_speed"])
        return v - speed - inverse_mass * (spring + hold)

    # by signs alone: at a jump a set-valued law has no values to interpolate
    return brentq(lambda v: math.copysign(1.0, excess(v)), -1e5, 1e5, xtol=1e-13, maxiter=500)


@both(row_speed)
@given(law=row_laws, speed=numbers, inverse_mass=st.floats(1e-4, 1e2))
@settings(max_examples=300, deadline=None)
def test_row_speed_is_the_root_of_its_law(leaf, law, speed, inverse_mass):
    rows = make_rows(1, 1)
    assert open_row(rows, 0, 0.0, 0, 1) == 0
    for name, value in law.items():
        getattr(rows, name)[0] = value
    # K (spring bound + hold bound) < 1.1e5 moves the solution out of the bracket only at the extremes of both
    largest = max(-max(law["spring_lower"], -1e3), min(law["spring_upper"], 1e3))
    assume(law["conductance"] == 0.0 or inverse_mass * largest < 5e4)
    found = leaf(rows, 0, speed, inverse_mass)
    # round-off: terms of 1e5 at most cancel to leave the speed
    assert found == pytest.approx(speed_by_bisection(law, speed, inverse_mass), abs=1e-9)


@both(row_speed)
@pytest.mark.parametrize("bound", [0.0, 3.0])
@pytest.mark.parametrize("mass", [0.0, 5.0])
@pytest.mark.parametrize("before", [0.0, -0.4, -2.0])
@pytest.mark.parametrize("free", [-9.0, -1.0, -0.1, 0.0, 0.5])
def test_friction_and_a_mass_that_moves_along_push_one_way_only(leaf, bound, mass, before, free):
    """A body of 2 kg that would have the speed `free`: the row makes it slower against the row, and never turns it."""
    rows = make_rows(1, 1)
    open_row(rows, 0, 0.0, 0, 1)
    hold_against(rows, 0, bound, mass, before)
    found = leaf(rows, 0, free, 0.5)
    moving = (2.0 * free + bound + mass * before) / (2.0 + mass)  # 2 (v - free) = bound + mass (before - v)
    pushed = bound + mass * (before - moving) > 0.0
    expected = free if free > 0.0 or not pushed else min(moving, 0.0)
    assert found == pytest.approx(expected, abs=1e-12)


def test_open_row_has_no_impulse():
    rows = make_rows(1, 2)
    open_row(rows, 0, 0.0, 0, 2)
    assert row_speed(rows, 0, 3.7, 2.0) == 3.7


# --- contacts ---------------------------------------------------------------------------------------------------------


@both(_normal_law)
def test_rigid_normal_law_closes_the_gap_exactly(leaf):
    step, gap = 1e-3, 0.004
    for approach in (
        0.0,
        -1.0,
        -10.0,
    ):  # the last one arrives within the step: without restitution it ends on the ground
        compliance, target, shift = leaf(gap, approach, 0.0, 0.0, 0.0, step)
        assert compliance == 0.0
        assert target == shift == pytest.approx(-(gap - CONTACT_SLOP) / step)
    # inside the slop it must not approach at all; beyond it a share of the depth is corrected without momentum
    assert leaf(0.5 * CONTACT_SLOP, -10.0, 0.0, 0.0, 0.0, step)[1:] == (0.0, 0.0)
    _, target, shift = leaf(-0.004, -10.0, 0.0, 0.0, 0.0, step)
    assert target == 0.0
    assert shift == pytest.approx(PENETRATION_RELIEF * (0.004 - CONTACT_SLOP) / step)


@both(_normal_law)
def test_rigid_normal_law_has_restitution_only_on_impact(leaf):
    step = 1e-3
    assert leaf(0.0, -2.0, 0.6, 0.0, 0.0, step)[1] == pytest.approx(1.2)
    assert leaf(0.003, -2.0, 0.6, 0.0, 0.0, step)[1] < 0.0, "it arrives in the next step"
    assert leaf(0.0, -0.9 * RESTITUTION_SPEED, 0.6, 0.0, 0.0, step)[1] == 0.0


@both(_normal_law)
@given(gap=st.floats(-0.01, 0.01), stiffness=st.floats(1.0, 1e9), damping=st.floats(0.0, 1e6), speed=numbers)
@settings(deadline=None)
def test_compliant_normal_law_is_an_implicit_spring(leaf, gap, stiffness, damping, speed):
    step = 1e-3
    compliance, target, _ = leaf(gap, -1.0, 0.5, stiffness, damping, step)
    impulse = (target - speed) / compliance
    # above the ground the damper acts from the touch on, like the spring
    damped = speed + max(gap, 0.0) / step
    expected = -step * (stiffness * (gap + step * speed) + damping * damped)
    assert impulse == pytest.approx(expected, rel=1e-9, abs=1e-12 * step * (stiffness + damping))


@given(heading=st.floats(-math.pi, math.pi), friction=st.floats(0.05, 1.5), inertia_ratio=st.floats(0.2, 5.0))
@settings(deadline=None)
def test_sliding_friction_opposes_the_slip_in_every_direction(heading, friction, inertia_ratio):
    # normal and tangents of a point with different masses along the tangents: no axis of the cone is preferred
    contacts, rows = Packed(make_contact_rows(1, 3)), Packed(make_rows(0, 3))
    contacts.count[0] = 1
    contacts.size[0], contacts.index[0] = 3, range(3)
    contacts.whitened_jacobian[0] = np.diag([1.0, 1.0, math.sqrt(inertia_ratio)])
    contacts.inverse_mass[0] = [1.0, 1.0, inertia_ratio]
    contacts.friction[0] = friction
    slip = 10.0 * np.array([math.cos(heading), math.sin(heading)])
    u = np.array([-1.0, slip[0], slip[1] / math.sqrt(inertia_ratio)])
    sweeps, change = solve_as_one_island(rows, contacts, u, 1e-12, 1000)
    assert sweeps < 1000 and change <= 1e-12
    normal, *tangent = contacts.impulse[0]
    assert normal == pytest.approx(1.0, abs=1e-11)
    assert np.linalg.norm(tangent) == pytest.approx(friction, rel=1e-11)
    left = u @ contacts.whitened_jacobian[0, :, 1:]
    # a mass of 1/5 kg slows by 7.5 m/s at most, so that it still slides
    assert left[0] * tangent[1] - left[1] * tangent[0] == pytest.approx(0.0, abs=1e-9)
    assert left @ tangent < 0.0


# --- the valve --------------------------------------------------------------------------------------------------------


@both(edge_openings)
@given(spool=st.floats(-1.0, 1.0))
def test_metering_edges_open_by_their_laps(leaf, spool):
    supply_a, tank_a, supply_b, tank_b = leaf(spool, 0.05, 0.03)
    assert (supply_a, tank_b) == (max(0.0, spool - 0.05), max(0.0, spool + 0.03))
    # the valve is symmetric: the edge that feeds A at +x feeds B at -x
    mirrored = leaf(-spool, 0.05, 0.03)
    assert (supply_b, tank_a) == (mirrored[0], mirrored[3])


@both(conductance)
@given(drop=st.one_of(st.floats(-1e7, 1e7), st.floats(-2e3, 2e3)))
def test_orifice_conductance_is_a_square_root_with_a_laminar_range(leaf, drop):
    flow = leaf(drop, MIDDLE, False) * drop
    assert leaf(-drop, MIDDLE, False) == leaf(drop, MIDDLE, False)
    # between the turbulent law and the laminar slope at zero, 1 / sqrt(e)
    assert abs(flow) <= min(abs(turbulent(drop)), abs(drop) / math.sqrt(MIDDLE)) * (1 + 1e-12)
    if abs(drop) > 100 * MIDDLE:
        # (1 + (e/d)^2)^(1/4): a quarter of 1e-4
        assert flow == pytest.approx(turbulent(drop), rel=2.6e-5)


@both(conductance)
def test_linear_range_meets_the_square_root(leaf):
    for drop in (1e-3, 1e5, 1.999e5):
        assert leaf(drop, 2e5, True) == 1.0 / math.sqrt(2e5)
    for drop in (-2e5, 3e5, 1e7):
        assert leaf(drop, 2e5, True) * drop == pytest.approx(turbulent(drop), rel=1e-15)


@both(fill_chamber)
@pytest.mark.parametrize("implicit", [False, True])
def test_closed_chamber_pressure_follows_the_bulk_modulus(leaf, implicit):
    pressure, flow, from_supply = leaf(2e6, SUPPLY, TANK, 0.0, 0.0, -1e-5, 1e9, MIDDLE, False, implicit)
    assert pressure == pytest.approx(2e6 + 1e4)
    assert flow == from_supply == 0.0
    assert leaf(2e6, SUPPLY, TANK, 0.0, 0.0, 1.0, 1e9, MIDDLE, False, implicit)[0] == CAVITY, "oil carries no tension"


@both(fill_chamber)
def test_stiff_chamber_pressure_does_not_oscillate(leaf):
    # a hundred times the stiffness at which the explicit form would oscillate about the supply's pressure
    pressure, flow = SUPPLY - 0.5 * MIDDLE, 0.0
    assert 1e-6 * 1e10 * conductance(0.0, MIDDLE, False) > 100 * 2.0
    for _ in range(20):
        before = pressure
        pressure, flow, _ = leaf(pressure, SUPPLY, TANK, 1e-6, 0.0, 0.0, 1e10, MIDDLE, False, True)
        assert abs(pressure - SUPPLY) < 0.5 * abs(before - SUPPLY) + 1e-6
    assert pressure == pytest.approx(SUPPLY, abs=1e-3)
    assert flow == pytest.approx(0.0, abs=1e-12)


@both(fill_chamber)
@given(pressure=st.floats(TANK, SUPPLY), stiffness=st.floats(1e6, 1e13), opening=st.floats(1e-9, 1e-5))
@settings(deadline=None)
def test_chamber_pressure_at_rest_stays_between_tank_and_supply(leaf, pressure, stiffness, opening):
    # without motion, oil flows down the pressure drop and can at most equalise it
    filled = leaf(pressure, SUPPLY, TANK, opening, 0.0, 0.0, stiffness, MIDDLE, False, True)[0]
    assert filled <= SUPPLY * (1 + 1e-9)
    emptied = leaf(pressure, SUPPLY, TANK, 0.0, opening, 0.0, stiffness, MIDDLE, False, True)[0]
    assert emptied >= TANK * (1 - 1e-9)


def spool_response(leaf, damping, time, steps, frequency=120.0):
    position, velocity = 0.0, 0.0
    for _ in range(steps):
        position, velocity = leaf(position, velocity, 0.5, 1.6, frequency, damping, time / steps)
    return position


@both(advance_spool)
@pytest.mark.parametrize("damping", [0.3, 1.0])
def test_spool_converges_to_the_second_order_response(leaf, damping):
    time, final = 0.012, 0.8
    phase = 120.0 * time
    if damping == 1.0:
        exact = final * (1.0 - (1.0 + phase) * math.exp(-phase))
    else:
        root = math.sqrt(1.0 - damping**2)
        sway = math.cos(root * phase) + damping / root * math.sin(root * phase)
        exact = final * (1.0 - math.exp(-damping * phase) * sway)
    coarse, fine = (abs(spool_response(leaf, damping, time, steps) - exact) for steps in (120, 480))
    # semi-implicit Euler is of first order; with sub-steps of 0.1 ms its error is below w h = 1.2 % of the travel
    assert math.log(coarse / fine, 4) == pytest.approx(1.0, abs=0.1)
    assert coarse < 0.012 * final


@both(advance_spool)
def test_spool_stops_at_its_end(leaf):
    assert leaf(0.99, 100.0, 1.0, 1.0, 120.0, 1.0, 1e-3) == (1.0, 0.0)
    assert leaf(-0.99, -100.0, -1.0, 1.0, 120.0, 1.0, 1e-3) == (-1.0, 0.0)


# --- the chambers -----------------------------------------------------------------------------------------------------


def test_chamber_volumes_follow_the_stroke():
    machine = parse_machine(
        """<robot name="rig"><link name="world"/>
        <link name="load"><inertial><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="slide" type="prismatic"><parent link="world"/><child link="load"/><origin xyz="0 0 0.6"/>
        <axis xyz="0 0 1"/><limit lower="0" upper="0.5" effort="1e9" velocity="1"/></joint>
        <grouser><fluid/><pump supply_pressure="1e7"/>
        <directional_valve name="valve" spool_diameter="6e-3" spool_travel="2e-4"/>
        <cylinder name="lift" valve="valve" bore="0.04" rod_diameter="0.025" stroke="0.5" retracted_length="0.6"
         piston_mass="5" dead_volume_piston_side="1e-4" dead_volume_rod_side="2e-4">
        <barrel link="world"/><rod link="load"/></cylinder></grouser></robot>""",
        "rig.urdf",
    )
    network, _, _ = make_network(machine)
    area_a, area_b = 1.2566371e-3, 7.6576321e-4  # of the published case, with its digits
    for leaf in (chamber_compliances, chamber_compliances.py_func):
        for position, volumes in (
            (0.0, (1e-4, 2e-4 + 0.5 * area_b)),
            (0.5, (1e-4 + 0.5 * area_a, 2e-4)),
            (0.2, (1e-4 + 0.2 * area_a, 2e-4 + 0.3 * area_b)),
        ):
            assert leaf(network, 0, position) == pytest.approx([volume / 1.4e9 for volume in volumes], rel=1e-7)
    expected = 1.4e9 * (area_a**2 / (1e-4 + 0.2 * area_a) + area_b**2 / (2e-4 + 0.3 * area_b))
    assert oil_stiffness(network, 0, 0.2) == pytest.approx(expected, rel=1e-6)
