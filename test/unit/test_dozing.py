"""Blades on tracks: tracks pull what the soil holds, slip where a cut is too deep, and leave heaps behind."""

import math

import numpy as np
import pytest

import grouser
from grouser import catalogue
from grouser.function_blocks.reader import load_control_program
from grouser.function_blocks.run import DiagramRun
from grouser.physics.description.data.rotation import rotate
from grouser.program import load_program

RADIUS, SPEED = 0.2, 0.3  # of the sprockets [m], of the belts [m/s]


@pytest.fixture(scope="module")
def bulldozer():
    machine = grouser.load_machine("tracked_vehicle", blade=2.0)
    return grouser.Simulation(machine, grouser.load_world("quarry"))


def cut(bulldozer, depth):
    bulldozer.reset()
    bulldozer.step(300)
    bulldozer.command.update({"blade": -depth, "left_sprocket": SPEED / RADIUS, "right_sprocket": SPEED / RADIUS})
    bulldozer.step(1500)


def mass_and_height(simulation):
    """Mass of a machine that stands level [kg], and height of its centre above its root link [m]."""
    parts = [link for link in simulation.machine.links if link.inertial]
    poses = [simulation.link_pose(link.name) for link in parts]
    heights = [
        place[2] + rotate(tuple(turn), link.inertial.pose.position)[2]
        for link, (place, turn) in zip(parts, poses, strict=True)
    ]
    masses = np.array([link.inertial.mass for link in parts])
    return masses.sum(), masses @ heights / masses.sum() - simulation.base_pose()[0][2]


def test_tracks_pull_what_the_soil_holds(bulldozer):
    """Impulse of the tracks along and across their shoes, and of the soil on the blade, over 2 s of a cut."""
    cut(bulldozer, 0.05)
    tracks = [f"track.{side}.{name}" for side in ("left", "right") for name in ("drawbar_pull", "normal_force")]
    motion = ["base_pose.qy", "base_twist.linear_x", "base_twist.angular_y"]
    record = bulldozer.record([*tracks, "digging_force.blade.force_world_x", *motion])
    bulldozer.step(2000)
    pitch, force = 2.0 * np.arcsin(record["base_pose.qy"][1:]), 0.0
    for side in ("left", "right"):
        along, across = (record[f"track.{side}.{name}"][1:] for name in ("drawbar_pull", "normal_force"))
        force = force + along * np.cos(pitch) + across * np.sin(pitch)
    soil = record["digging_force.blade.force_world_x"][1:]
    assert soil.mean() < -1000.0
    mass, height = mass_and_height(bulldozer)
    speed = record["base_twist.linear_x"] + height * record["base_twist.angular_y"]
    gained = mass * (speed[-1] - speed[0]) / 2.0
    assert force.mean() + soil.mean() == pytest.approx(gained, abs=0.01 * abs(soil.mean()))
    assert max(abs(track.slip_ratio) for track in bulldozer.track.values()) < 0.3


def test_tracks_slip_where_the_blade_is_too_deep(bulldozer):
    cut(bulldozer, 0.2)
    bulldozer.step(3000)
    record = bulldozer.record(["digging_force.blade.force_world_x"])
    bulldozer.step(1000)
    assert abs(bulldozer.base_twist()[0][0]) < 0.1 * SPEED
    assert min(track.slip_ratio for track in bulldozer.track.values()) > 0.8
    weight = sum(track.normal_force for track in bulldozer.track.values())
    # what sandy loam lets the tracks pull: friction of 30 degrees and cohesion on all of both soles
    most = weight * math.tan(math.radians(30.0)) + 2000.0 * 2 * 1.5 * 0.25
    held = -record["digging_force.blade.force_world_x"].mean()
    assert 0.6 * most < held < most


@pytest.mark.parametrize(
    ("name", "arguments", "program", "seconds", "mass"),
    [
        ("excavator", {}, "excavator_dozing", 10.0, 150.0),
        ("tracked_vehicle", {"blade": 2.0}, "tracked_vehicle_dozing", 14.0, 400.0),
    ],
)
def test_programs_leave_a_heap(name, arguments, program, seconds, mass):
    """The heap lies ahead of where the machine began, and nothing is lost."""
    simulation = grouser.Simulation(grouser.load_machine(name, **arguments), grouser.load_world("quarry"))
    timed, initial = load_program(catalogue.program_file(program)), dict(simulation.command)
    while simulation.time < seconds:
        simulation.command.update(timed.values(simulation.time, initial))
        simulation.step(20)
    balance = simulation.soil_balance()
    assert balance.displaced > mass and balance.carried == balance.falling == 0.0
    assert abs(balance.relative_residual) < 1e-9
    assert simulation.digging_force("blade").depth == 0.0, "the blade is lifted"


def test_the_excavator_levels_a_heap():
    """Top and unevenness of the ground around the heap of the world, 0.4 m high at 2.9 m, before and after."""
    simulation = grouser.Simulation(grouser.load_machine("excavator"), grouser.load_world("yard"))
    run = DiagramRun(load_control_program(catalogue.program_file("excavator_levelling")), simulation.signals)
    while not run.values.get("cycle.back_off") and simulation.time < 20.0:
        simulation.command.update(run.execute({}))
        simulation.step(20)
    assert run.values["cycle.back_off"]
    patch = simulation.terrain_patch()
    near = (np.abs(patch.x - 3.4) < 1.4) & (np.abs(patch.y) < 0.9)
    heap = 0.4 - math.tan(math.radians(32.0)) * np.hypot(patch.x[near] - 2.9, patch.y[near])
    before, after = np.maximum(heap, 0.0), patch.z[near]
    assert after.max() < 0.4 * before.max()
    assert after.std() < 0.4 * before.std()
    assert abs(simulation.soil_balance().relative_residual) < 1e-9
