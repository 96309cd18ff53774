"""Tracks far from the sizes, loads, shoes and steps of shipped machines, against closed forms; belts that run free."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from tracked_vehicle import RADIUS, tracked_vehicle

from grouser import Simulation, World
from grouser.experiments.tracked_vehicle import VEHICLE, drive, make_tracked_vehicle, standing
from grouser.physics.description.data.world import Ground

GRAVITY = 9.81
FRICTION, SHEAR = 0.7, 5e-3


def vehicle(scale=1.0, mass=1.0, step=1e-3, friction=FRICTION, **given):
    """The bare vehicle, all lengths by a scale, its mass by another one beside; and its parameters."""
    lengths = ("contact_length", "width", "tread", "radius", "centre_height")
    values = {name: item.default * (scale if name in lengths else 1.0) for name, item in VEHICLE.items()}
    values |= {"weight": values["weight"] * scale**3 * mass, "step": step}
    values |= {name: value for name, value in given.items() if name in VEHICLE}
    more = {name: value for name, value in given.items() if name not in VEHICLE}
    world = World(ground=Ground(friction=friction))
    return make_tracked_vehicle(values, world, friction=friction, shear=SHEAR * scale, **more), values


def coulomb_pivot(length, width, tread, weight, friction):
    """Belt speed over yaw rate [m] and force of each belt [N] in a pivot turn, by Gauss's rule over a rectangle."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    x, y = np.meshgrid(0.5 * length * nodes, 0.5 * tread + 0.5 * width * nodes)
    force = 0.125 * friction * weight * np.outer(weights, weights)

    def along(belt):
        return force * (y - belt) / np.hypot(y - belt, x)

    belt = brentq(lambda b: (along(b) * y + force * x * x / np.hypot(y - b, x)).sum(), 0.01 * tread, 10.0 * tread)
    return belt, abs(along(belt).sum())


@pytest.mark.parametrize(
    ("speed", "given", "within"),
    [
        (0.1, {"scale": 0.05, "damping": 5e4}, 0.02),  # 2.5 N on tracks of 75 mm
        (0.5, {"mass": 10.0, "stiffness": 1e9}, 0.01),
        (0.5, {"shoes": 400}, 0.01),
        (0.5, {"shoes": 8}, 0.05),  # two and a half on the ground
        (0.5, {"step": 1e-4}, 0.01),
        (0.5, {"step": 4e-3}, 0.01),
        (0.5, {"friction": 1.5}, 0.01),
        (5.0, {"damping": 1e5}, 0.03),  # 5.6 rad/s
    ],
)
def test_pivot_turns_are_coulombs_at_any_size_load_pitch_and_step(speed, given, within):
    simulation, values = vehicle(**given)
    drive(simulation, -speed, speed, 0.5)
    ticks = round(0.01 / simulation.step_size)
    simulation.step(50 * ticks)
    headings, forces = [], []
    for _ in range(100):
        simulation.step(ticks)
        x, y, z, w = simulation.link_pose("base_link")[1]
        headings.append(math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))
        forces.append([abs(track.thrust) for track in simulation.track.values()])
    turned = np.unwrap(headings)
    size = [values[name] for name in ("contact_length", "width", "tread", "weight")]
    belt, force = coulomb_pivot(*size, given.get("friction", FRICTION))
    way = speed * 99 * ticks * simulation.step_size
    assert way / (turned[-1] - turned[0]) == pytest.approx(belt, rel=within)
    assert np.mean(forces, axis=0) == pytest.approx([force, force], rel=within)
    assert simulation.diagnostics.unsettled_steps == 0


@pytest.mark.parametrize(
    ("speed", "given", "within"),
    [
        (3.0, {"mass": 10.0, "stiffness": 1e9}, 0.01),
        (3.0, {"shoes": 400}, 0.01),
        (3.0, {"shoes": 8}, 0.01),
        (3.0, {"step": 1e-4}, 0.005),
        (0.6, {"scale": 0.05, "step": 1e-4}, 0.01),
        (3.0, {"step": 4e-3}, 0.06),  # one step of friction beyond the cone
    ],
)
def test_locked_belts_stop_within_the_way_of_friction(speed, given, within):
    """v^2/(2 mu g), less the way on which the shear builds up."""
    simulation, _ = vehicle(**given)
    second = round(1.0 / simulation.step_size)
    drive(simulation, speed, speed, 2.0 * speed / (FRICTION * GRAVITY))
    simulation.step(second // 4)
    before, start = standing(simulation)[0], float(simulation.base_twist()[0][0])
    simulation.command["left_sprocket"] = simulation.command["right_sprocket"] = 0.0
    simulation.step(second)
    assert np.linalg.norm(simulation.base_twist()) < 1e-3
    assert standing(simulation)[0][0] - before[0] == pytest.approx(start**2 / (2.0 * FRICTION * GRAVITY), rel=within)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_belts_that_jump_again_and_again_pull_less_and_keep_their_account(way):
    """Their tension is held to little more than that at rest: the vehicle starts more slowly than by friction."""
    machine = tracked_vehicle(pretension=2e4, shear=SHEAR, track='jump_tension="2.2e4"')
    simulation = Simulation(machine, World())
    simulation.step(300)
    simulation.command["left_sprocket"] = simulation.command["right_sprocket"] = way * 2.0 / RADIUS
    simulation.step(200)
    teeth = [track.jumped_teeth for track in simulation.track.values()]
    assert min(teeth) >= 1.0
    assert abs(simulation.base_twist()[0][0]) < 0.9 * FRICTION * GRAVITY * 0.2
    simulation.step(800)
    assert [track.jumped_teeth for track in simulation.track.values()] >= teeth
    balance = simulation.energy_balance()
    assert abs(balance.residual) < 1e-3 * sum(balance.dissipation.values())


def test_vehicle_that_hangs_in_the_air_feels_nothing_of_its_belts_but_their_momentum():
    """Without weight above the ground: no force of it, and what the belts gain in moment of momentum the hull loses."""
    simulation = Simulation(tracked_vehicle(pretension=2e4), World(ground=None, gravity=(0.0, 0.0, 0.0)))
    simulation.command["left_sprocket"], simulation.command["right_sprocket"] = 20.0, -20.0
    simulation.step(1000)
    assert np.abs(simulation.base_twist()).max() < 1e-9
    simulation.command["right_sprocket"] = 20.0
    simulation.step(1000)
    linear, angular = simulation.base_twist()
    # 0.1 kg m2 each about the axle: the whole turns the other way
    assert angular[1] < 0.0
    assert simulation.joint_velocity["left_sprocket"] == pytest.approx(20.0, rel=1e-6)
    assert abs(linear[1]) < 1e-9
    assert not any(track.normal_force for track in simulation.track.values())
