"""What holds flexible links between their ends and to each other, at rest, against closed forms."""

import math

import numpy as np
import pytest

from grouser import Simulation, World
from grouser.experiments.flexible_links import MODAL, flexible_element, inertial_text, joint_text, link_text, parsed

LENGTH, DIAMETER, MODULUS, DENSITY = 2.0, 0.05, 2e9, 1000.0
BENDING, LINE_MASS = MODULUS * math.pi / 64.0 * DIAMETER**4, DENSITY * math.pi / 4.0 * DIAMETER**2
LOAD = 2.0


def rod(method, size, link="rod", density=1e-3):
    material = {"diameter": DIAMETER, "shear_modulus": 8e8, "density": density, "damping": 0.3}
    return flexible_element(link, LENGTH, MODULUS, {"method": method, "size": size}, **material)


def pin(parent, child):
    sides = f"<parent {parent}/><child {child}/>"
    return f'<loop_joint name="pin" type="spherical">{sides}</loop_joint>'


def clamped(*parts, extension):
    clamp = joint_text("clamp", "fixed", "world", "rod")
    return parsed("rod", link_text("world"), clamp, *parts, extension=extension)


LOADED = (
    link_text("rod"),
    link_text("load", inertial_text(LOAD, (1e-3, 1e-3, 1e-3))),
    joint_text("bolts", "fixed", "rod", "load", (LENGTH, 0.0, 0.0)),
)


def at_rest(machine, gravity):
    """Height of the load's link along gravity."""
    simulation = Simulation(machine, World(gravity=(0.0, -gravity, 0.0), ground=None), 0.01, tolerance=1e-14)
    simulation.step(3000)
    return simulation.link_pose("load")[0][1]


@pytest.mark.parametrize("method", ["finite_elements", "b_spline"])
def test_rod_on_a_pin_in_its_middle(method):
    """With the half a: F a3 / (4 E I) by the slope at the pin, and F a3 / (3 E I) beyond it.

    The shear jumps at the pin, which only functions with a knot there can follow; the rod has 1/500 of the load's mass.
    """
    extension = rod(method, 4) + pin(f'link="world" xyz="{LENGTH / 2} 0 0"', f'link="rod" at="{LENGTH / 2}"')
    found = at_rest(clamped(*LOADED, extension=extension), 1e-3)
    expected = -(1.0 / 4.0 + 1.0 / 3.0) * LOAD * 1e-3 * (LENGTH / 2.0) ** 3 / BENDING
    assert found == pytest.approx(expected, rel=3e-6)


@pytest.mark.parametrize("method", MODAL)
def test_two_links_that_close_a_loop_share_a_load(method):
    """A pin between the ends of two cantilevers, one of them turned round: F L3 / (6 E I)."""
    size = {"assumed_modes": 3, "finite_elements": 2, "bezier": 4, "b_spline": 2}[method]
    turned = '<origin xyz="4 0 0" rpy="0 0 3.141592653589793"/>'
    other = f'<joint name="wall" type="fixed"><parent link="world"/><child link="other"/>{turned}</joint>'
    extension = rod(method, size) + rod(method, size, "other")
    extension += pin(f'link="rod" at="{LENGTH}"', f'link="other" at="{LENGTH}"')
    found = at_rest(clamped(*LOADED, link_text("other"), other, extension=extension), 1e-3)
    assert found == pytest.approx(-LOAD * 1e-3 * LENGTH**3 / (6.0 * BENDING), rel=3e-6)


@pytest.mark.parametrize(("method", "size"), [("bezier", 6), ("finite_elements", 4)])
def test_rod_carries_what_lies_on_its_middle(method, size):
    """A ball in a vertical guide: F x3 / (3 E I), and w x2 (6 L2 - 4 L x + x2) / (24 E I) by the rod's weight."""
    gravity, x, radius = 2.0, LENGTH / 2.0, 0.05
    box = f'<geometry><box size="{LENGTH} {DIAMETER} {DIAMETER}"/></geometry>'
    shape = f'<collision><origin xyz="{x} 0 0"/>{box}</collision>'
    ball = f'<collision><geometry><sphere radius="{radius}"/></geometry></collision>'
    height = DIAMETER / 2.0 + radius
    # across it is free: links that one joint connects to what carries the rod do not touch it
    slides = [
        joint_text(name, "prismatic", parent, child, place, axis).replace(
            "<axis", '<limit lower="-1" upper="1" effort="1e3" velocity="9"/><axis'
        )
        for name, parent, child, place, axis in [
            ("across", "world", "slide", (x, 0.0, 0.0), "0 1 0"),
            ("guide", "slide", "ball", (0.0, 0.0, height), "0 0 1"),
        ]
    ]
    frictionless = '<contact link="ball" friction="0"/><contact link="rod" friction="0"/>'
    machine = clamped(
        link_text("rod", shape),
        link_text("slide", inertial_text(0.1, (1e-3, 1e-3, 1e-3))),
        link_text("ball", inertial_text(LOAD, (1e-3, 1e-3, 1e-3)) + ball),
        *slides,
        extension=rod(method, size, density=DENSITY) + frictionless,
    )
    simulation = Simulation(machine, World(gravity=(0.0, 0.0, -gravity), ground=None), 0.002)
    simulation.step(3000)
    weight = LINE_MASS * gravity
    bent = LOAD * gravity * x**3 / (3.0 * BENDING)
    bent += weight * x**2 * (6.0 * LENGTH**2 - 4.0 * LENGTH * x + x**2) / (24.0 * BENDING)
    slope = LOAD * gravity * x**2 / (2.0 * BENDING)
    slope += weight * x * (3.0 * LENGTH**2 - 3.0 * LENGTH * x + x**2) / (6.0 * BENDING)
    # contacts leave gaps of 10 um; on a slope the ball is higher above the axis, and touches it nearer to the clamp
    slack = 1e-5 + slope**2 * (0.5 * height + radius)
    assert slack < 4e-3 * bent
    assert np.array(simulation.link_pose("ball")[0])[2] - height == pytest.approx(-bent, abs=slack)
