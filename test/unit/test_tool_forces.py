"""Breakout and digging forces of `grouser inspect`: a small arm and a box that tips or slips, by closed forms."""

import math

import numpy as np
import pytest

import grouser
from grouser.commands.tool_forces import slipping_force, tipping_force, tool_forces
from grouser.physics.description import parse_machine

# Pins: barrel and rod of a cylinder behind and above its joint, at right angles there; the levers are greatest where
# the cylinder is normal to the rod's arm, and are that arm.
STICK, BUCKET = (0.7, 0.3), (0.6, 0.2)
STICK_LENGTH, TIP = 1.0, 0.5
BORE, ROD, SUPPLY, TANK = 0.05, 0.03, 20e6, 1e5
LINK = """<link name="{0}"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><origin xyz="{3} 0 0"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1e6"/></joint>"""
CYLINDER = """<directional_valve name="{0}_valve" spool_diameter="0.006" spool_travel="2e-4"/>
<cylinder name="{0}" valve="{0}_valve" bore="0.05" rod_diameter="0.03" stroke="0.8" retracted_length="0.3"
 piston_mass="1" dead_volume_piston_side="1e-4" dead_volume_rod_side="1e-4"><barrel link="{1}" xyz="{2} 0 0"/>
<rod link="{3}" xyz="0 0 {4}"/></cylinder>"""
SHOVEL = """<shovel name="bucket" link="bucket_body" cutting_edge="0.5 -0.2 0 0.5 0.2 0" top_edge="0 -0.2 0 0 0.2 0"
 cutting_direction="0 0 -1" profile="0.5 0 0 0.25 0 0.2 0 0 0"/>"""


def arm(more: str = "") -> grouser.Machine:
    parts = [
        *(LINK.format(name) for name in ("post", "stick_link", "bucket_body")),
        JOINT.format("stick_joint", "post", "stick_link", 0.0),
        JOINT.format("bucket_joint", "stick_link", "bucket_body", STICK_LENGTH),
    ]
    circuit = [
        f'<fluid/><pump supply_pressure="{SUPPLY}" tank_pressure="{TANK}"/>',
        CYLINDER.format("stick", "post", -STICK[0], "stick_link", STICK[1]),
        CYLINDER.format("bucket", "stick_link", STICK_LENGTH - BUCKET[0], "bucket_body", BUCKET[1]),
    ]
    text = f'<robot name="arm">{"".join(parts)}<grouser>{"".join(circuit)}{SHOVEL}{more}</grouser></robot>'
    return parse_machine(text, "arm.urdf", base="fixed")


def forces(machine: grouser.Machine):
    (bucket,) = machine.shovels
    return tool_forces(grouser.Simulation(machine, grouser.World(ground=None)), bucket)


AREA, RING = 0.25 * math.pi * BORE**2, 0.25 * math.pi * (BORE**2 - ROD**2)
PUSH = SUPPLY * AREA - TANK * RING


def test_forces_by_pressure_are_those_of_the_longest_levers():
    """The lever's greatest value is the arm of the rod, at sin q = -rod / barrel; 0.5 %: between positions tried."""
    breakout, digging = forces(arm())
    strongest = math.asin(-BUCKET[1] / BUCKET[0])
    radius = math.hypot(STICK_LENGTH + TIP * math.cos(strongest), TIP * math.sin(strongest))
    assert (breakout.cylinder, breakout.limit) == ("bucket", "pressure")
    assert breakout.force == pytest.approx(PUSH * BUCKET[1] / TIP, rel=5e-3)
    assert (digging.cylinder, digging.limit) == ("stick", "pressure")
    assert digging.force == pytest.approx(PUSH * STICK[1] / radius, rel=5e-3)
    assert [digging.pressure_force, breakout.pressure_force] == pytest.approx([digging.force, breakout.force], rel=5e-3)


def test_a_cylinder_that_gives_way_limits_the_force_of_another():
    """A relief valve at 4 MPa holds the stick: the bucket turns to where that is most."""
    pressure = 4e6
    relief = f'<relief_valve name="overload" inlet="stick_valve.a" pressure="{pressure}" rated_flow="4e-4"/>'
    breakout, digging = forces(arm(relief))
    angle = np.linspace(-1.0, 1.0, 100_001)
    lever = (
        BUCKET[0] * BUCKET[1] * np.cos(angle) / np.sqrt(np.hypot(*BUCKET) ** 2 + 2 * math.prod(BUCKET) * np.sin(angle))
    )
    holds = (TANK + pressure) * AREA * STICK[1] / (TIP + STICK_LENGTH * np.cos(angle))
    expected = np.minimum(PUSH * lever / TIP, holds).max()
    assert expected < 0.9 * PUSH * BUCKET[1] / TIP
    assert (breakout.force, breakout.limit) == (pytest.approx(expected, rel=5e-3), "pressure of stick")
    assert breakout.pressure_force == pytest.approx(PUSH * BUCKET[1] / TIP, rel=5e-3)
    assert digging.force < 0.25 * PUSH * STICK[1] / 1.4


def test_a_box_tips_over_the_edge_on_the_side_of_the_force():
    """Pulled at the height h, and lifted in front of its foot, by the moments about the edge."""
    support = np.array([(x, y, 0.0) for x in (-1.0, 1.0) for y in (-0.5, 0.5)])
    centre, weight = np.array([0.2, 0.0, 0.7]), 1000.0
    pulls = tipping_force(support, centre, weight, np.array([3.0, 0.0, 0.4]), np.array([-1.0, 0.0, 0.0]))
    assert pulls == pytest.approx(weight * 0.8 / 0.4)  # the soil pulls ahead: over the front
    lifts = tipping_force(support, centre, weight, np.array([3.0, 0.0, 0.4]), np.array([0.0, 0.0, 1.0]))
    assert lifts == pytest.approx(weight * 0.8 / 2.0)
    presses = tipping_force(support, centre, weight, np.array([3.0, 0.0, 0.4]), np.array([0.0, 0.0, -1.0]))
    assert presses == pytest.approx(weight * 1.2 / 4.0)  # it lifts itself, over the back
    assert tipping_force(support, centre, weight, np.array([0.0, 0.0, 0.4]), np.array([0.0, 0.0, 1.0])) == math.inf


def test_a_box_slips_where_friction_is_exceeded():
    assert slipping_force(0.7, 1000.0, np.array([-1.0, 0.0, 0.0])) == pytest.approx(700.0)
    up = np.array([-math.cos(0.5), 0.0, math.sin(0.5)])
    force = slipping_force(0.7, 1000.0, up)
    assert force * math.cos(0.5) == pytest.approx(0.7 * (1000.0 + force * math.sin(0.5)))
    assert slipping_force(0.7, 1000.0, np.array([0.0, 0.0, 1.0])) == math.inf
