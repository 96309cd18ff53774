"""How the shoes of a track share its load: tipping, lying, steady driving, side slopes."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from tracked_vehicle import GRAVITY, RADIUS, tracked_vehicle

from grouser import Simulation, World
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.world import Ground


@pytest.mark.parametrize(("width", "height"), [(0.25, 0.3), (0.5, 0.6)])
def test_machine_tips_over_the_edge_of_its_tracks(width, height):
    """A mass moves sideways, slowly, until the machine tips: the centre of mass is then above the edge of the shoes."""
    weight, edge = 2e4, 0.5 * (1.4 + width)
    mass = 0.5 * weight / GRAVITY
    links = (
        f'<link name="mass"><inertial><mass value="{mass}"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="slider" type="prismatic"><parent link="base"/><child link="mass"/>'
        f'<origin xyz="0 0 {height}"/><axis xyz="0 1 0"/>'
        '<limit lower="-9" upper="9" effort="1e7" velocity="9"/></joint>'
    )
    machine = tracked_vehicle(
        weight=0.5 * weight,
        height=height,
        width=width,
        stiffness=1e9,
        links=links,
        extra='<servo_drive joint="slider" mode="position" stiffness="1e6" damping="1e5"/>',
    )
    simulation = Simulation(machine, World())
    for turn in np.linspace(0.0, 0.5 * math.pi, 200):
        simulation.command["slider"] = 2.0 * 0.99 * edge * math.sin(turn)
        simulation.step(20)
    simulation.step(1000)
    assert abs(simulation.link_pose("base")[1][0]) < 0.05
    for place in np.linspace(0.99 * edge, 1.01 * edge, 50):
        simulation.command["slider"] = 2.0 * place
        simulation.step(20)
    simulation.step(3000)
    assert abs(simulation.link_pose("base")[1][0]) > 0.3


def test_machine_on_its_side_lies_on_the_edges_of_its_belt():
    turn = math.sqrt(0.5)
    world = World(spawn=Pose((0.0, 0.0, 0.825), (turn, 0.0, 0.0, turn)))
    simulation = Simulation(tracked_vehicle(pretension=2e4, shear=5e-3, height=0.2), world)
    simulation.step(3000)
    before = simulation.link_pose("base")[0]
    simulation.step(2000)
    after = simulation.link_pose("base")[0]
    assert after[2] == pytest.approx(0.825, abs=5e-3)
    assert np.linalg.norm(after - before) / 2.0 < 1e-5


@pytest.mark.parametrize("pretension", [2e4, 1e9])
def test_load_stays_even_as_shoes_pass_below_the_wheels(pretension):
    simulation = Simulation(tracked_vehicle(pretension=pretension, shear=5e-3), World())
    simulation.step(500)
    simulation.command["left_sprocket"] = simulation.command["right_sprocket"] = 0.3 / RADIUS
    simulation.step(9000)
    seen = []
    for _ in range(1000):
        simulation.step(1)
        state = simulation.track["left"]
        seen.append((state.normal_force, state.thrust, state.slip_ratio))
    normal, thrust, slip = np.std(seen, axis=0)
    # of a load of 1e4 N; the shear of each shoe begins anew
    assert normal < 50.0
    assert thrust < 50.0
    assert slip < 5e-3


def test_load_between_the_wheels_adds_little_to_the_drift_on_a_side_slope():
    slope, ways = math.radians(20.0), []
    world = World(
        ground=Ground(normal=(0.0, -math.sin(slope), math.cos(slope))),
        spawn=Pose((0.0, 0.0, 0.0), (math.sin(0.5 * slope), 0.0, 0.0, math.cos(0.5 * slope))),
    )
    for pretension in (2e4, 1e9):
        simulation = Simulation(tracked_vehicle(pretension=pretension, shear=5e-3), world)
        simulation.step(500)
        simulation.command["left_sprocket"] = simulation.command["right_sprocket"] = 0.3 / RADIUS
        simulation.step(2000)
        before = simulation.link_pose("base")[0]
        simulation.step(6000)
        way = simulation.link_pose("base")[0] - before
        ways.append(np.hypot(way[1], way[2]) / way[0])
    # even pressure p needs the mean of 1 - exp(-b x / K) over the length to be tan(slope) / mu, for the drift b
    even = brentq(lambda b: 1.0 - (1.0 - math.exp(-b)) / b - math.tan(slope) / 0.7, 0.1, 10.0) * 5e-3 / 1.5
    assert even < ways[1] < ways[0] < 2.0 * even
