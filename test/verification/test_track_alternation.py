"""Stiff shoes at long steps: their load alternates from K h^2/m = 3 on, which the machine tells."""

import math
import re

import numpy as np
import pytest
from tracked_vehicle import GRAVITY, tracked_vehicle

from grouser import Simulation, World, load_soil
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import Ground

WEIGHT, LENGTH, WIDTH = 20e3, 1.5, 0.25
STIFF = {"weight": WEIGHT, "length": LENGTH, "width": WIDTH, "stiffness": 1e9, "shear": 5e-3, "pretension": 1e12}


def step_at(ratio, stiffness=1e9, weight=WEIGHT):
    """Step at which K h^2/m has a value, for pads on both tracks [s]."""
    return math.sqrt(ratio * weight / GRAVITY / (stiffness * 2.0 * LENGTH * WIDTH))


def told(simulation):
    """Step that is told to do [s]; None if nothing is told."""
    found = [re.search(r"take a step of at most ([\d.]+) ms", warning) for warning in simulation.warnings]
    return next((1e-3 * float(match[1]) for match in found if match), None)


@pytest.mark.parametrize("damping", [0.0, 1e6])
@pytest.mark.parametrize(("ratio", "alternates"), [(2.9, False), (3.8, True), (6.0, True)])
def test_load_alternates_beyond_the_step_that_is_told(ratio, alternates, damping):
    """The vehicle falls by 1 cm; two seconds later its load is even, or it alternates."""
    fallen = World(spawn=Pose((0.0, 0.0, 0.01)))
    machine, step = tracked_vehicle(**STIFF, shoes=96, track=f'damping="{damping}"'), step_at(ratio)
    simulation = Simulation(machine, fallen, step=step, spawn="as_given")
    simulation.step(round(2.0 / step))
    loads = []
    for _ in range(6):
        simulation.step(1)
        loads.append(sum(track.normal_force for track in simulation.track.values()) / WEIGHT)
    # in three steps or in two
    assert np.mean(loads) == pytest.approx(1.0, abs=1e-3)
    assert min(loads) == pytest.approx(0.0 if alternates else 1.0, abs=1e-3)
    assert (told(simulation) is not None) == alternates
    if alternates:
        assert told(simulation) == pytest.approx(step_at(3.0), rel=0.02)
        assert told(Simulation(machine, fallen, step=0.99 * step_at(3.0))) is None


def test_belt_that_gives_way_allows_longer_steps_and_soil_any():
    slack = tracked_vehicle(**(STIFF | {"pretension": 2e4}))
    assert told(Simulation(slack, World(), step=0.02)) > 2.0 * step_at(3.0)
    stiff = tracked_vehicle(**STIFF)
    sand = SoilGround((load_soil("dry_sand"),))
    assert told(Simulation(stiff, World(ground=Ground(soil=sand)), step=0.02)) is None
    mixed = SoilGround(sand.soils, types=np.array([[0], [-1]]), types_cell=10.0)
    assert told(Simulation(stiff, World(ground=Ground(soil=mixed)), step=0.02)) is not None
