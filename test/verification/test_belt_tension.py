"""Tension along belts, and how they hang."""

import math

import numpy as np
import pytest
from tracked_vehicle import RADIUS, tracked_vehicle

from grouser import MachineError, Simulation, World
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.world import Ground
from grouser.physics.description.urdf.belt_path import lay_belt

STANDARD_GRAVITY = 9.80665


def test_upper_run_hangs_as_a_parabola_by_weight_over_tension():
    """Depth w l^2 / (8 T) between return rollers, and 8 d^2 / (3 l) more belt."""
    length, sag = 1.6, 0.05
    centres, radii = np.array([[-0.8, 0.0], [0.8, 0.0]]), np.array([0.2, 0.2])
    straight, hanging = lay_belt(centres, radii, 0.0), lay_belt(centres, radii, 0.0, sag)
    depth = sag * length**2 / 8.0
    span = int(np.flatnonzero(hanging.radius < 0.0)[0])
    half = 0.5 * hanging.length[span]
    radius, (x, z), (tx, tz) = hanging.radius[span], hanging.point[span], hanging.direction[span]
    turn = half / radius
    middle = z + radius * (math.sin(turn) * tz - (1.0 - math.cos(turn)) * tx)
    assert 0.2 - middle == pytest.approx(depth, rel=1e-2)
    assert x == pytest.approx(-0.8)
    assert hanging.total - straight.total == pytest.approx(8.0 * depth**2 / (3.0 * length), rel=1e-2)


def test_return_roller_in_the_middle_leaves_a_quarter_of_the_sag():
    sag, ends, sizes = 0.05, [[-0.8, 0.0], [0.8, 0.0]], [0.2, 0.2]
    one = lay_belt(np.array(ends), np.array(sizes), 0.0, sag)
    two = lay_belt(np.array([*ends, [0.0, 0.1]]), np.array([*sizes, 0.1]), 0.0, sag)
    depths = [np.max(path.length[path.radius < 0.0]) ** 2 * sag / 8.0 for path in (one, two)]
    assert depths[1] == pytest.approx(0.25 * depths[0], rel=1e-2)


def test_machine_lays_its_belt_by_weight_and_pretension():
    mass, pretension = 80.0, 3e3
    belt = tracked_vehicle(pretension=pretension, track=f'mass="{mass}"').tracks[0]
    straight = tracked_vehicle(pretension=pretension).tracks[0]
    weight = mass * STANDARD_GRAVITY / straight.path.total
    depth = weight * 1.5**2 / (8.0 * pretension)
    assert belt.path.total - straight.path.total == pytest.approx(8.0 * depth**2 / (3.0 * 1.5), rel=0.02)


def test_belt_that_would_hang_too_deep_is_refused_with_numbers():
    with pytest.raises(MachineError, match=r"under a pretension of 100 N the belt of 80 kg hangs down by .* 1\.5 m"):
        tracked_vehicle(pretension=100.0, track='mass="80"')


@pytest.mark.parametrize(("wheel", "kept"), [("idler", "slack"), ("road_0", "tight")])
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_tensioner_keeps_the_tension_at_its_wheel(wheel, kept, way):
    """On a slope each ground run pulls half of the weight's part along it; sprocket and tight side are in the rear.

    At the idler, before the ground run, the slack side keeps its tension; at the last wheel behind it, the tight one.
    """
    pretension, slope, weight = 2e4, math.radians(15.0), 20e3
    machine = tracked_vehicle(weight=weight, pretension=pretension, shear=5e-3, tensioner=wheel)
    world = World(
        ground=Ground(normal=(-math.sin(slope), 0.0, math.cos(slope))),
        spawn=Pose((0.0, 0.0, 0.0), (0.0, -math.sin(0.5 * slope), 0.0, math.cos(0.5 * slope))),
    )
    simulation, seen = Simulation(machine, world), []
    for side in ("left", "right"):
        simulation.command[f"{side}_sprocket"] = way * 0.2 / RADIUS
    simulation.step(2000)
    for _ in range(200):
        simulation.step(5)
        seen.append((simulation.track["left"].slack_tension, simulation.track["left"].tight_tension))
    slack, tight = np.mean(seen, axis=0)
    assert tight - slack == pytest.approx(0.5 * weight * math.sin(slope), rel=0.05)
    assert {"slack": slack, "tight": tight}[kept] == pytest.approx(pretension, rel=0.05)
