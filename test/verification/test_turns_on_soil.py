"""Turns at a radius on soft soil against their balance: resistance to compaction takes away the thrust that turns."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from tracked_vehicle import RADIUS, tracked_vehicle
from turn_balance import TurningTrack, steady_turn

from grouser import Simulation, World, load_machine, load_soil
from grouser.catalogue import machine_file
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import Ground
from grouser.physics.tracks.belts import DEPTH, NORMAL_X, NORMAL_Y, NORMAL_Z, PRESSED, X, Y, Z
from grouser.program import TWIST
from grouser.runtime.driving import Driver
from grouser.runtime.vehicle_parts import make_vehicle

READINGS = 200
# Of the middles of the demolition robot's tracks from its own [m].
AHEAD, ASIDE = 0.4, 0.295


def on(soil):
    return World(ground=Ground(soil=SoilGround((soil,))))


def means(simulation, every):
    """Means over a steady turn: yaw rate, and belt speed, load, resistance, thrust and sinkage of each track."""
    seen = []
    for _ in range(READINGS):
        simulation.step(every)
        tracks = simulation.track.values()
        seen.append(
            [
                (track.yaw_rate, track.belt_speed, track.normal_force, track.resistance, track.thrust, track.sinkage)
                for track in tracks
            ]
        )
    return np.mean(seen, axis=0)


@pytest.mark.parametrize(
    ("values", "left", "right", "least"),
    [
        ({}, 0.3, 0.5, 0.95),
        ({}, 0.5, 0.1, 0.95),
        ({"frictional_modulus": 3e5, "cohesive_modulus": 0.0, "exponent": 1.0}, 0.1, 0.5, 0.8),
    ],
)
def test_vehicle_turns_on_soil_as_its_balance_says(values, left, right, least):
    """5 % on firm sand; where it sinks by half its radius, it carries more load at its ends than the balance has."""
    soil = replace(load_soil("dry_sand"), **values)
    simulation = Simulation(tracked_vehicle(height=1e-3), on(soil), step=0.002)
    simulation.step(250)
    for share in np.linspace(0.02, 1.0, 50):
        simulation.command["left_sprocket"] = left * share / RADIUS
        simulation.command["right_sprocket"] = right * share / RADIUS
        simulation.step(20)
    simulation.step(3000)
    found = means(simulation, 5)
    tracks = [
        TurningTrack(belt, load, resistance, sinkage, 0.0, aside, 1.5, 0.25, RADIUS, 1e-3)
        for (_, belt, load, resistance, _, sinkage), aside in zip(found, (0.7, -0.7), strict=True)
    ]
    turned, expected = found[0, 0], steady_turn(soil, tracks)[2]
    assert least < turned / expected < 1.02


def pressed_along(simulation, every, bins=48):
    """The load along each track as `TurningTrack.pressed`, by the mean of what the ground did to its pads."""
    work, tracks = simulation._engine.workspace.tracks, simulation.arrays.system.tracks
    seen = [[] for _ in tracks.body]
    for _ in range(READINGS):
        simulation.step(every)
        for t, pads in enumerate(seen):
            rows, (ahead, _, up) = work.touch[t, :, : work.listed[t]], work.frame[t]
            place = (rows[[X, Y, Z]].T - work.plane[t]) @ ahead - tracks.middle[t, 0]
            normal = rows[[NORMAL_X, NORMAL_Y, NORMAL_Z]].T
            turn = np.arctan2(-normal @ ahead, normal @ up)
            pads.append(
                np.column_stack([place, turn, np.maximum(rows[DEPTH], 0.0), rows[PRESSED]])[rows[PRESSED] > 0.0]
            )
    found = []
    for pads in map(np.concatenate, seen):
        place, force = pads[:, 0], pads[:, 3]
        edges = np.linspace(place.max() + 1e-9, place.min() - 1e-9, bins + 1)
        parts = [(place <= high) & (place > low) for high, low in itertools.pairwise(edges)]
        found.append(
            [
                (0.5 * (high + low), turn, depth, force[part].sum() / READINGS, (high - low) / math.cos(turn))
                for part, (high, low) in zip(parts, itertools.pairwise(edges), strict=True)
                if part.any()
                for turn, depth in [np.average(pads[part, 1:3], axis=0, weights=force[part])]
            ]
        )
    return [np.array(rows) for rows in found]


@pytest.mark.parametrize("yaw", [0.3])
def test_demolition_robot_that_sinks_into_sand_turns_less_at_a_radius_and_its_odometry_allows_for_it(yaw):
    """Its front tracks sink nearly to their axles; even an even load leaves it at most 0.8 of the turn.

    Half of the load of its front tracks is on their front arcs. With the load where it is measured along the tracks the
    balance has the turn within 20 %.
    """
    soil = load_soil("dry_sand")
    machine = load_machine(machine_file("demolition_robot"), {"stance": "tracks"})
    simulation, vehicle = Simulation(machine, on(soil)), make_vehicle(machine)
    driver = Driver(vehicle, simulation)
    simulation.step(500)
    for _ in range(200):
        for name, value in driver.commands(dict(zip(TWIST, (0.3, 0.0, yaw), strict=True)), 0.02).items():
            simulation.command[name] = value
        simulation.step(20)
    found = means(simulation, 10)
    pressed = pressed_along(simulation, 10)
    tracks = [
        TurningTrack(
            *(belt, load, resistance, sinkage),
            *(AHEAD if "front" in track.name else -AHEAD, ASIDE if "left" in track.name else -ASIDE),
            *(track.path.longest_run, track.width, track.radius, track.thickness, track.grouser_height),
        )
        for (_, belt, load, resistance, _, sinkage), track in zip(found, machine.tracks, strict=True)
    ]
    # its front sinks deeper: its weight pulls it ahead
    drawbar = float(np.sum(found[:, 4] - found[:, 3]))
    turned, expected = found[0, 0], steady_turn(soil, tracks, -drawbar)[2]
    assert 0.5 * expected < turned < expected < 0.8 * yaw
    uneven = [replace(track, pressed=rows) for track, rows in zip(tracks, pressed, strict=True)]
    front, rear = uneven[0].pressed, uneven[2].pressed
    assert front[front[:, 1] > 0.05, 3].sum() > 0.4 * front[:, 3].sum()
    assert rear[rear[:, 1] > 0.05, 3].sum() < 0.4 * rear[:, 3].sum()
    assert turned == pytest.approx(steady_turn(soil, uneven, -drawbar)[2], rel=0.2)
    speeds = np.array([simulation.joint_velocity[wheel.joint] for wheel in vehicle.wheels])
    odometry = vehicle.motion(speeds, np.zeros(4))
    assert odometry.twist[2] == pytest.approx(yaw, rel=0.2)
    assert abs(odometry.twist[2] - turned) < 3.0 * math.sqrt(odometry.covariance[2, 2])
