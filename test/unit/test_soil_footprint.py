"""Footprint of a wheel: the touched cells, their depths, surface normals and patches."""

import math
from dataclasses import replace

import numpy as np
import pytest

from grouser import Simulation, World
from grouser.physics.description import parse_machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.soil import Soil, SoilGround, Wheel
from grouser.physics.description.data.world import Ground
from grouser.physics.soil import wheels as of

RADIUS, WIDTH = 0.2, 0.1
SAND = Soil("sand", "test", 1.5e6, 1.0, 500.0, 0.5, 0.02, 1500.0, 0.6, cohesive_modulus=2e4)


WHEEL = Wheel("wheel", RADIUS, WIDTH)


def touched(pose, cell=0.01, wheel=WHEEL, normal=(0.0, 0.0, 1.0)):
    """Cells touched by a wheel at a pose in the first step: rows of `WheelWorkspace.touch`."""
    link = '<link name="wheel"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    machine = replace(parse_machine(f'<robot name="wheel">{link}</inertial></link></robot>', "w.urdf"), wheels=(wheel,))
    ground = Ground(normal=normal, soil=SoilGround((SAND,), "deformable", cell, bulldozing=False))
    world = World(gravity=(0.0, 0.0, 0.0), ground=ground, spawn=pose)
    simulation = Simulation(machine, world, step=1e-6, spawn="as_given")
    simulation.step(1)
    work = simulation.arrays.context.workspace.soil
    return work.touch[0, :, : work.touched[0]], work.frame[0]


def turned(axis, angle, height, x=0.0, y=0.0):
    half = 0.5 * angle
    return Pose((x, y, height), (*(math.sin(half) * np.array(axis, dtype=float)).tolist(), math.cos(half)))


@pytest.mark.parametrize("yaw", [0.0, 0.3, 0.5 * math.pi, 2.0])
@pytest.mark.parametrize("x", [0.0, 0.0037])
def test_footprint_of_an_upright_wheel(yaw, x):
    sunk = 0.03
    touch, frame = touched(turned((0, 0, 1), yaw, RADIUS - sunk, x, 0.002))
    ahead = touch[of.X] * math.cos(yaw) + touch[of.Y] * math.sin(yaw)
    aside = touch[of.Y] * math.cos(yaw) - touch[of.X] * math.sin(yaw)
    # depth of a cylinder's lower side at each point
    expected = np.sqrt(RADIUS**2 - ahead**2) - (RADIUS - sunk)
    assert touch[of.DEPTH] == pytest.approx(expected, abs=1e-9)
    assert touch[of.DEPTH].min() > 0.0
    assert touch[of.NORMAL_Z] == pytest.approx(np.sqrt(1.0 - (ahead / RADIUS) ** 2))
    assert touch[of.NORMAL_X] == pytest.approx(-ahead / RADIUS * math.cos(yaw), abs=1e-9)
    # half a cell beyond, at a scattered point within the cell
    assert np.abs(aside).max() <= 0.5 * WIDTH + 0.005 + 0.005 * math.sqrt(2.0)
    # the projected area is width times chord, except for the cells at the ends of the chord
    chord = 2.0 * math.sqrt(RADIUS**2 - (RADIUS - sunk) ** 2)
    assert (touch[of.AREA] * touch[of.NORMAL_Z]).sum() == pytest.approx(WIDTH * chord, abs=2.0 * WIDTH * 0.01)
    assert frame[0] == pytest.approx([math.cos(yaw), math.sin(yaw), 0.0], abs=1e-12)
    assert frame[1] == pytest.approx([-math.sin(yaw), math.cos(yaw), 0.0], abs=1e-12)


def test_patch_width_is_that_of_the_equivalent_rectangle():
    """2 area / perimeter, to one cell's resolution of a side, in any direction of the grid."""
    sunk = 0.03
    chord = 2.0 * math.sqrt(RADIUS**2 - (RADIUS - sunk) ** 2)
    width = WIDTH * chord / (WIDTH + chord)
    for yaw in (0.0, 0.4, 0.5 * math.pi, math.pi / 4.0):
        touch, _ = touched(turned((0, 0, 1), yaw, RADIUS - sunk), 0.005)
        found = SAND.cohesive_modulus / (touch[of.STIFFNESS] - SAND.frictional_modulus)
        assert np.ptp(found) == 0.0
        assert found[0] == pytest.approx(width, rel=0.005 / WIDTH)


@pytest.mark.parametrize("side", [0.5, -0.5])
def test_footprint_of_a_lying_wheel_is_a_disc(side):
    errors = []
    for cell in (0.01, 0.005):
        touch, _ = touched(turned((1, 0, 0), side * math.pi, 0.04), cell)
        assert touch[of.DEPTH] == pytest.approx(np.full(touch.shape[1], 0.5 * WIDTH - 0.04), abs=1e-9)
        assert touch[of.NORMAL_Z] == pytest.approx(np.ones(touch.shape[1]))
        errors.append(abs(touch[of.AREA].sum() / (math.pi * RADIUS**2) - 1.0))
    # border cells count by their share: error of second order
    assert errors[0] < 2.0 * (0.01 / RADIUS) ** 2
    assert errors[1] < 0.3 * errors[0]


@pytest.mark.parametrize("lean", [0.1, 0.6, 1.2, -0.6, math.pi - 0.6, math.pi])
def test_footprint_of_a_leaning_wheel_is_the_lower_side_of_a_cylinder(lean):
    """No touched cell lies above the solid's lower side, found by sampling its surface."""
    height = RADIUS * abs(math.cos(lean)) + 0.5 * WIDTH * abs(math.sin(lean)) - 0.02
    touch, _ = touched(turned((1, 0, 0), lean, height), 0.0025)
    assert touch.shape[1] > 20
    angle, along = np.meshgrid(np.linspace(0, 2 * math.pi, 721), np.linspace(-0.5, 0.5, 201) * WIDTH)
    rim = np.stack([RADIUS * np.cos(angle), along, RADIUS * np.sin(angle)]).reshape(3, -1)
    share = np.sqrt(np.linspace(0.0, 1.0, 61))[:, None]
    turn = np.linspace(0, 2 * math.pi, 361)[None]
    flat = [RADIUS * share * np.cos(turn), np.full((61, 361), 0.5 * WIDTH), RADIUS * share * np.sin(turn)]
    flat = np.stack(flat).reshape(3, -1)
    points = np.hstack([rim, flat, flat * [[1.0], [-1.0], [1.0]]])
    c, s = math.cos(lean), math.sin(lean)
    points = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]) @ points
    for x, y, depth in touch[[of.X, of.Y, of.DEPTH]].T[:: max(touch.shape[1] // 40, 1)]:
        near = np.hypot(points[0] - x, points[1] - y) < 0.004
        if near.any() and abs(y) < 0.9 * (RADIUS * abs(s) + 0.5 * WIDTH * abs(c)):
            # lowest of the samples around: their distance times the slope, which is below 5
            assert depth == pytest.approx(-(points[2][near].min() + height), abs=0.02)
    volume = (touch[of.DEPTH] * touch[of.AREA] * np.maximum(touch[of.NORMAL_Z], 0.2)).sum()
    # a border of cells, and surface parts steeper than STEEPEST
    assert volume == pytest.approx(_submerged(lean, height), rel=0.05)


def _submerged(lean, height):
    """Volume of the cylinder below z = 0, by counting [m3]."""
    grid = (np.arange(160) + 0.5) / 160 - 0.5
    x, y, z = np.meshgrid(2 * RADIUS * grid, WIDTH * grid, 2 * RADIUS * grid, indexing="ij")
    inside = x**2 + z**2 < RADIUS**2
    below = math.sin(lean) * y + math.cos(lean) * z + height < 0.0
    return float((inside & below).sum()) * 4 * RADIUS**2 * WIDTH / 160**3


def test_wheel_above_the_ground_touches_no_cells():
    touch, _ = touched(Pose((0.0, 0.0, RADIUS + 1e-4)))
    assert touch.shape[1] == 0


def test_ground_frame_of_a_wheel_on_a_slope():
    angle = 0.3
    normal = (-math.sin(angle), 0.0, math.cos(angle))
    touch, frame = touched(Pose((0.0, 0.0, RADIUS / math.cos(angle) - 0.02)), normal=normal)
    assert frame[0] == pytest.approx([math.cos(angle), 0.0, math.sin(angle)])
    assert frame[2] == pytest.approx(normal)
    assert touch[of.DEPTH].max() > 0.0
    # deepest where the surface is parallel to the slope
    deepest = int(np.argmax(touch[of.DEPTH]))
    assert touch[of.X, deepest] == pytest.approx(RADIUS * math.sin(angle), abs=0.011)


def test_grousers_are_resolved_by_fine_cells_and_merged_by_coarse_ones():
    wheel = Wheel("wheel", RADIUS, WIDTH, grousers=24, grouser_height=0.02, grouser_thickness=0.01)
    tip = RADIUS + 0.02
    fine, _ = touched(Pose((0.0, 0.0, RADIUS - 0.02)), 0.002, wheel)
    radius = np.hypot(fine[of.X], fine[of.Z])
    assert radius.max() == pytest.approx(tip, abs=1e-3)
    assert radius.min() == pytest.approx(RADIUS, abs=1e-3)
    # grousers are 52 mm apart, fewer than two cells
    coarse, _ = touched(Pose((0.0, 0.0, RADIUS)), 0.05, wheel)
    assert coarse.shape[1] > 0
    assert np.hypot(coarse[of.X], coarse[of.Z]) == pytest.approx(tip)
