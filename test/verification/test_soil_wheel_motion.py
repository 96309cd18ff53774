"""A wheel on soft ground as a mechanical system: energy, rest, convergence, symmetry, unusual situations."""

import math
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from soil_rig import GRAVITY, LEVELS, RADIUS, SAND, WIDTH, bed, cart, drive, loose_wheel, plate, soft

from grouser import DivergenceError
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.soil import Validity, Wheel

LOAD = 100.0


def turned(axis, angle, height):
    """A pose at a height, turned about an axis."""
    half = 0.5 * angle
    return Pose((0.003, 0.002, height), (*(math.sin(half) * np.array(axis, dtype=float)).tolist(), math.cos(half)))


def means(simulation, slip, time=2.0, settle=2.5, speed=0.1, direction=1.0):
    """Time means of drawbar pull, torque, side force and resistance at a slip, and of normal force and sinkage."""
    simulation.step(1)
    drive(simulation, slip, speed, direction=direction)
    simulation.step(round(settle / simulation.step_size))
    total = np.zeros(6)
    readings = round(time / simulation.step_size) // 4  # a reading takes as long as some steps
    for _ in range(readings):
        simulation.step(4)
        wheel = simulation.wheel["wheel"]
        total += (
            wheel.drawbar_pull,
            wheel.torque,
            wheel.side_force,
            wheel.resistance,
            wheel.normal_force,
            wheel.sinkage,
        )
    return total / readings


def assert_balanced(simulation, work):
    """Work of drives and gravity equals the energy of soil and motion, to 1 %."""
    assert work > 0.0
    assert abs(simulation.energy_balance().residual) < 0.01 * work


# --- energy -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("slip, steer", [(0.2, 0.0), (1.0, 0.0), (-0.3, 0.0), (-1.0, 0.0), (0.3, 0.3)])
def test_drive_work_equals_energy_of_soil_and_motion(level, slip, steer):
    simulation = bed(soft(level), LOAD, steer=steer)
    simulation.step(1)
    drive(simulation, slip, 0.1)
    simulation.step(2000)
    balance = simulation.energy_balance()
    work = sum(balance.actuator_work.values())
    assert_balanced(simulation, work)
    # the soil absorbs it, and the fall into the soil besides
    soil = balance.dissipation["soil under wheel"]
    assert soil > 1.0
    assert soil == pytest.approx(work - balance.kinetic - balance.potential, rel=0.01)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("step", [1e-3, 2e-3])
def test_fall_energy_is_absorbed_by_the_soil(level, step):
    mass = 10.0
    simulation = loose_wheel(soft(level, spawn=Pose((0.0, 0.0, 1.0 + RADIUS))), mass, step=step)
    taken = []
    for _ in range(round(2.0 / step)):
        simulation.step(1)
        taken.append(-simulation.state.soil.soil_work[0])
    fall = -simulation.energy_balance().potential
    assert fall > mass * GRAVITY * 1.0
    assert_balanced(simulation, fall)
    # The rebound is at most the elastic energy of the soil: p_u^2 / (2 k_0) over a contact no larger than the wheel
    # from above, p_u = K z; here below a tenth of the fall.
    sunk = RADIUS - simulation.state.q[2] + 0.02
    spring = (8.3e5 * sunk) ** 2 / (2.0 * SAND.unloading_stiffness) * 2.0 * RADIUS * WIDTH
    assert (np.maximum.accumulate(taken) - taken).max() < max(spring, 0.01 * fall)
    assert 0.3 * RADIUS < simulation.state.q[2] < RADIUS


# --- rest ---------------------------------------------------------------------------------------------------------


def assert_rests(simulation, seconds=10):
    """Asserts a speed below 1e-6 m/s and rad/s now, and a drift below 0.1 mm over ten seconds."""
    assert np.abs(simulation.state.v).max() < 1e-6
    start = np.array(simulation.state.q)
    for _ in range(seconds):
        simulation.step(round(1.0 / simulation.step_size))
        assert np.abs(simulation.state.q - start).max() < 1e-4
    assert np.abs(simulation.state.v).max() < 1e-6


@pytest.mark.parametrize("level, cell", [("deformable", 0.01), ("cells", 0.01)])
def test_parked_cart_stays_at_rest_on_fine_cells(level, cell):
    simulation = cart(soft(level, cell, spawn=Pose((0.003, 0.002, 0.155))), damping=1e9)
    simulation.step(8000)
    assert_rests(simulation)
    assert sum(simulation.wheel[name].normal_force for name in simulation.wheel) == pytest.approx(20.0 * GRAVITY)


# --- convergence --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["cells", "deformable"])
def test_wheel_forces_converge_with_the_grid(level):
    """Drawbar pull, torque and resistance: coarser grids are farther from the finest."""
    found = [
        means(bed(soft(level, cell, bulldozing=False), LOAD, heading=0.35), 0.3) for cell in (0.04, 0.02, 0.01, 0.005)
    ]
    scale = LOAD * np.array([1.0, RADIUS, 1.0, 1.0, 1.0, math.inf])
    errors = [float((np.abs(one - found[-1]) / scale).max()) for one in found[:-1]]
    assert errors[0] > errors[1] > errors[2]
    # the force is a sum over cells of a pressure that is smooth except at its borders: at least first order
    assert errors[1] < 0.5 * errors[0] + 1e-3
    assert errors[2] < 0.25 * errors[0] + 1e-3
    assert errors[1] < 0.01


@pytest.mark.parametrize("level", ["cells", "deformable"])
def test_wheel_forces_converge_with_the_step(level):
    """Half the step gives about half the error, within the force ripple of the grid."""
    pulls = [means(bed(soft(level, 0.01), LOAD, heading=0.35, step=step), 0.3)[0] for step in (4e-3, 2e-3, 1e-3, 5e-4)]
    changes = np.abs(np.diff(pulls))
    assert changes[0] > 1.3 * changes[1]
    assert changes[1] > 1.3 * changes[2]
    assert changes[2] < 1e-3 * LOAD


def test_stress_integrals_do_not_depend_on_the_step():
    """In steady motion nothing of the law is integrated over time."""
    pulls = [means(bed(soft("stress"), LOAD, step=step), 0.3, time=0.2, settle=4.0)[0] for step in (4e-3, 1e-3)]
    assert pulls[0] == pytest.approx(pulls[1], abs=1e-4 * LOAD)


# --- symmetry -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bulldozing", [True, False])
@pytest.mark.parametrize("steer", [0.0, 0.25])
def test_wheel_forces_are_unchanged_by_a_quarter_turn_of_the_grid(bulldozing, steer):
    """The grid is symmetric except for the scattered sample points: 2 % at 20 mm."""
    there, here = (
        means(bed(soft(bulldozing=bulldozing), LOAD, heading=h, steer=steer), 0.3) for h in (0.0, math.pi / 2)
    )
    assert here[:5] == pytest.approx(there[:5], abs=0.02 * LOAD)


@pytest.mark.parametrize("level", LEVELS)
def test_side_force_is_odd_and_backward_rolling_is_mirrored(level):
    ahead, back, other, both = (
        means(bed(soft(level), LOAD, steer=steer), 0.3, settle=3.0, direction=direction)
        for steer, direction in ((0.3, 1.0), (0.3, -1.0), (-0.3, 1.0), (-0.3, -1.0))
    )
    # it moves to its right: the soil pushes to its left
    assert ahead[2] > 0.05 * LOAD
    mirror, backward = np.array([1, 1, -1, 1, 1, 1]), np.array([-1, -1, -1, -1, 1, 1])
    # mirror images: at 20 mm to 2 % because of the scattered sample points; stress integrals to rounding
    close = 1e-5 * LOAD if level == "stress" else 0.02 * LOAD
    assert other == pytest.approx(mirror * ahead, abs=close)
    assert back == pytest.approx(backward * ahead, abs=close)
    assert both == pytest.approx(backward * mirror * ahead, abs=close)


# --- unusual situations ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("gravity", [1.62, 3.71])
def test_wheel_on_soil_under_other_gravity(level, gravity):
    mass, step = 10.0, 5e-3
    simulation = loose_wheel(soft(level, gravity=gravity, spawn=Pose((0.0, 0.0, 0.16))), mass, step=step)
    simulation.step(1000)
    assert simulation.wheel["wheel"].normal_force == pytest.approx(mass * gravity, rel=1e-3)
    heavier = loose_wheel(soft(level, spawn=Pose((0.0, 0.0, 0.16))), mass, step=step)
    heavier.step(1000)
    assert heavier.state.q[2] < simulation.state.q[2] < RADIUS


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("mass", [0.05, 1e4])
@pytest.mark.parametrize("step", [1e-3, 5e-3])
def test_light_and_heavy_wheels_on_soil_stay_finite(level, mass, step):
    simulation = loose_wheel(soft(level, spawn=Pose((0.0, 0.0, 0.16))), mass, step=step)
    sinks = mass > 1.0
    with pytest.warns(RuntimeWarning, match="of a wheel's diameter") if sinks else nullcontext():
        simulation.step(round(3.0 / step))
    x, y, z = simulation.state.q[:3]
    assert max(abs(x), abs(y)) < 0.3
    # no higher than it fell from; and the soil stops it: a free fall would have taken it 44 m down
    assert -6.0 < z < 0.161


@pytest.mark.parametrize("level", LEVELS)
def test_wheel_leaps_and_lands(level):
    simulation = loose_wheel(soft(level, spawn=Pose((0.0, 0.0, 0.3))), 10.0)
    simulation.state.v[:3] = 5.0, 0.0, 4.0
    simulation.state.v[4] = 30.0
    simulation.step(1)
    before = simulation.energy()
    highest = 0.0
    # it sinks in by 0.47 of its diameter with stress integrals, by 0.3 with the others
    sinks = level == "stress"
    with pytest.warns(RuntimeWarning, match="of a wheel's diameter") if sinks else nullcontext():
        for _ in range(4000):
            simulation.step(1)
            highest = max(highest, simulation.state.q[2])
    # the flight's height, within half a step's gain
    assert highest == pytest.approx(0.3 + 4.0**2 / (2.0 * GRAVITY), abs=4.0 * simulation.step_size)
    after = simulation.energy()
    assert_balanced(simulation, before.kinetic + before.potential - after.kinetic - after.potential)
    assert simulation.wheel["wheel"].normal_force > 0.0
    assert simulation.state.q[0] > 5.0


def test_wheel_lies_on_its_side():
    """Its flat side is a plate: Bekker's pressure carries it."""
    mass = 10.0
    simulation = loose_wheel(soft("deformable", 0.01, spawn=turned((1, 0, 0), 0.5 * math.pi, 0.076)), mass)
    simulation.step(3000)
    assert simulation.wheel["wheel"].normal_force == pytest.approx(mass * GRAVITY, rel=1e-4)
    at_rest = mass * GRAVITY / (math.pi * RADIUS**2) / SAND.frictional_modulus
    # the fall of a millimetre presses it deeper by m g h = K A z^2 / 2 at most
    fallen = math.sqrt(2.0 * mass * GRAVITY * 0.005 / (SAND.frictional_modulus * math.pi * RADIUS**2))
    assert at_rest < 0.5 * WIDTH - simulation.state.q[2] < at_rest + fallen


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("degrees", [20, 45, 70])
def test_leaning_wheel_falls_over(level, degrees):
    # the impact takes some ten steps of 1 ms, whose error appears in the balance: half of them
    simulation = loose_wheel(soft(level, spawn=turned((1, 0, 0), math.radians(degrees), 0.2)), 10.0, step=5e-4)
    simulation.step(8000)
    assert_balanced(simulation, -simulation.energy_balance().potential)
    assert simulation.state.q[2] < 0.2


@pytest.mark.parametrize("level", LEVELS)
def test_cart_on_its_back_spins_its_wheels(level):
    simulation = cart(soft(level, spawn=turned((1, 0, 0), math.pi, 0.2)))
    simulation.step(1000)
    for name in simulation.wheel:
        simulation.command[f"{name}_spin"] = 3.0
    simulation.step(3000)
    assert sum(simulation.wheel[name].normal_force for name in simulation.wheel) == pytest.approx(20 * GRAVITY, rel=0.2)
    # upside down, wheels that turn forward drive backward over the ground
    assert simulation.state.q[0] < -0.3


@pytest.mark.parametrize("level", LEVELS)
def test_nan_on_soil_raises_a_divergence_error(level):
    for field, at in (("v", 2), ("q", 0), ("q", 2)):
        simulation = loose_wheel(soft(level, spawn=Pose((0.0, 0.0, 0.15))), 10.0)
        simulation.step(10)
        getattr(simulation.state, field)[at] = math.nan
        with pytest.raises(DivergenceError):
            simulation.step(10)


@pytest.mark.parametrize("level", LEVELS)
def test_wheel_on_soil_far_from_the_origin(level):
    """Other cells have other sample points: a few percent of the sinkage."""
    near, far = (loose_wheel(soft(level, spawn=Pose((x, y, 0.155))), 10.0) for x, y in ((0.0, 0.0), (9e6, -3e6)))
    for simulation in (near, far):
        simulation.step(1000)
    assert RADIUS - far.state.q[2] == pytest.approx(RADIUS - near.state.q[2], rel=0.05)


# --- levels ---------------------------------------------------------------------------------------------------------


def test_plate_loads_on_cells_and_by_bekker():
    """One plate, pressed slowly: K z at one level, mu_p + mu_v z_p at the other."""
    radius, depth = 0.1, 0.01
    area, width = math.pi * radius**2, math.pi * radius / (2.0 * math.sqrt(3.0))
    expected = {
        "deformable": (SAND.cohesive_modulus / width + SAND.frictional_modulus) * depth,
        # z - z_p = (mu_p + mu_v z) / (c_f + mu_v), at rates without influence of viscosity
        "cells": SAND.soil_stiffness
        * (SAND.yield_stress + SAND.plastic_modulus * depth)
        / (SAND.soil_stiffness + SAND.plastic_modulus),
    }
    speeds = {"deformable": 0.005, "cells": 0.001}  # [m/s]
    for level, pressure in expected.items():
        simulation = plate(soft(level, 0.005, bulldozing=False), radius)
        simulation.command["press"] = -speeds[level]
        simulation.step(round(depth / speeds[level] / simulation.step_size))
        # the border of the disc is counted by the share of its cells: of second order in cell over diameter
        assert simulation.wheel["plate"].normal_force == pytest.approx(
            pressure * area, rel=2.0 * (0.005 / 0.2) ** 2 + 0.01
        )


@pytest.mark.parametrize("load", [50.0, 200.0])
def test_static_sinkage_agrees_on_stress_and_deformable_levels(load):
    """Both have Bekker's pressure; the width of the patch, 2 area / perimeter, is less than the wheel's there."""
    sunk = []
    for level in ("stress", "deformable"):
        simulation = bed(soft(level, 0.01, bulldozing=False), load)
        simulation.step(3000)
        assert simulation.wheel["wheel"].normal_force == pytest.approx(load, rel=1e-6)
        sunk.append(simulation.wheel["wheel"].sinkage)
    # k_c / b is 1 to 4 % of K, and the rim shears the soil a little as it sinks
    assert sunk[1] == pytest.approx(sunk[0], rel=0.04)


@pytest.mark.parametrize("level", LEVELS)
def test_slip_sinkage_at_each_level(level):
    """Slip deepens the sinkage only with slip sinkage, at each level with Bekker's law."""
    shallow, deep = (
        means(bed(soft(level, 0.02, replace(SAND, slip_sinkage=kind), bulldozing=False), LOAD, heading=0.35), 0.6, 1.0)[
            5
        ]
        for kind in ("none", "lyasko")
    )
    if level == "cells":
        assert deep == shallow
    else:
        assert deep > 1.5 * shallow


def test_wheel_with_its_own_level():
    world = soft("deformable", bulldozing=False)
    for level in LEVELS:
        own = bed(world, LOAD, wheel=Wheel("wheel", RADIUS, WIDTH, level=level))
        same = bed(soft(level, bulldozing=False), LOAD)
        for simulation in (own, same):
            simulation.step(500)
        assert own.wheel["wheel"] == same.wheel["wheel"]


# --- validity -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "validity, told",
    [
        (Validity(pressure=1e3), "for pressures up to 1000 Pa, not"),
        (Validity(sinkage=0.01), "down to 0.01 of a wheel's diameter, not"),
    ],
)
def test_use_beyond_the_validity_of_a_soil_is_warned_of_once(level, validity, told):
    simulation = bed(soft(level, 0.02, replace(SAND, validity=validity)), LOAD)
    with pytest.warns(RuntimeWarning, match=told) as warned:
        simulation.step(200)
        simulation.step(200)
    assert len(warned) == 1
