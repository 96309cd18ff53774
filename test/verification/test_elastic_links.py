"""Links that bend, stretch and twist by shape functions: closed forms at rest, buckling, momentum of floating ones."""

import math
from contextlib import nullcontext

import numpy as np
import pytest
from momentum import momentum_of

from grouser import Simulation, World
from grouser.experiments.flexible_links import MODAL, flexible_element, inertial_text, joint_text, link_text, parsed

LENGTH, DIAMETER, MODULUS, SHEAR, DENSITY = 2.0, 0.05, 2e9, 8e8, 1000.0
AREA, MOMENT = math.pi / 4.0 * DIAMETER**2, math.pi / 64.0 * DIAMETER**4
BENDING, LINE_MASS, LOAD = MODULUS * MOMENT, DENSITY * AREA, 3.0
SIZES = {"assumed_modes": 3, "finite_elements": 2, "bezier": 4, "b_spline": 2}
# Damping over stiffness: the slowest vibration, with the load, is damped critically.
DAMPING = 2.0 / math.sqrt(3.0 * BENDING / (LENGTH**3 * (LOAD + 0.236 * LINE_MASS * LENGTH)))


def rod(method, size, damping=DAMPING, **more):
    """The element of a round rod along x."""
    given = {"diameter": DIAMETER, "shear_modulus": SHEAR, "density": DENSITY, "damping": damping}
    return flexible_element("rod", LENGTH, MODULUS, {"method": method, "size": size}, **{**given, **more})


def cantilever(element, lever=0.0, load=LOAD):
    """The rod, clamped to the world, with a point mass at its end, beside it by a lever along y."""
    return parsed(
        "cantilever",
        link_text("world"),
        link_text("rod"),
        link_text("load", inertial_text(load, (1e-3, 1e-3, 1e-3))),
        joint_text("clamp", "fixed", "world", "rod"),
        joint_text("bolts", "fixed", "rod", "load", (LENGTH, lever, 0.0)),
        extension=element,
    )


@pytest.mark.parametrize("method", MODAL)
def test_cantilever_at_rest(method):
    """F L3 / 3 E I and w L4 / 8 E I, F L / E A and w L2 / 2 E A, T L / G J."""
    # twist turns the lever, and bends: of second order, deflections of 1e-7 of the length
    gravity, lever = 1e-5, 0.1
    element = rod(method, SIZES[method], axial=2)
    for direction in np.eye(3):
        world = World(gravity=tuple((-gravity * direction).tolist()), ground=None)
        simulation = Simulation(cantilever(element, lever if direction[2] else 0.0), world, 0.01, tolerance=1e-14)
        simulation.step(3000)
        x, y, z = simulation.link_pose("load")[0] - np.array([LENGTH, lever if direction[2] else 0.0, 0.0])
        turn = 2.0 * np.array(simulation.link_pose("load")[1])[0]
        force, weight = LOAD * gravity, LINE_MASS * gravity
        bent = -force * LENGTH**3 / (3.0 * BENDING) - weight * LENGTH**4 / (8.0 * BENDING)
        stretched = -(force * LENGTH + weight * LENGTH**2 / 2.0) / (MODULUS * AREA)
        if direction[0]:
            assert x == pytest.approx(stretched, rel=1e-6)
        elif direction[1]:
            assert y == pytest.approx(bent, rel=1e-6)
        else:
            twist = -force * lever * LENGTH / (SHEAR * 2.0 * MOMENT)
            assert turn == pytest.approx(twist, rel=1e-6)
            assert z == pytest.approx(bent + lever * turn, rel=1e-6)


@pytest.mark.parametrize(("share", "buckles"), [(0.95, False), (1.05, True)])
def test_column_buckles_above_the_load_of_euler(share, buckles):
    """A clamped column under a load: pi2 E I / 4 L2. Its own mass is a thousandth of the load."""
    load = share * math.pi**2 * BENDING / (4.0 * LENGTH**2) / 9.81
    element = rod("finite_elements", 3, damping=0.0, density=1.0)
    world = World(gravity=(-9.81, 0.0, 0.0), ground=None)
    simulation = Simulation(cantilever(element, load=load), world, 0.002, integrator="implicit_midpoint")
    (start,) = np.flatnonzero([name == "rod.bending_z_1" for name in simulation.arrays.names.rate_joint])
    simulation.state.v[start] = 1e-6
    largest = 0.0
    with pytest.warns(RuntimeWarning, match="a third of its length") if buckles else nullcontext():
        for _ in range(100):
            simulation.step(100)
            largest = max(largest, abs(simulation.link_pose("load")[0][1]))
    assert (largest > 0.01) == buckles


@pytest.mark.parametrize("method", MODAL)
def test_momentum_of_a_floating_rod(method):
    """The rod vibrates while it flies and turns; the variational integrator keeps both momenta to round-off."""
    machine = parsed(
        "floating",
        link_text("base", inertial_text(2.0, (0.1, 0.2, 0.3))),
        link_text("rod"),
        joint_text("clamp", "fixed", "base", "rod", (0.1, 0.2, 0.3)),
        extension=rod(method, max(SIZES[method] // 4, 2), damping=0.0),
    )
    world = World(gravity=(0.0, 0.0, 0.0), ground=None)
    simulation = Simulation(machine, world, 0.001, integrator="variational", tolerance=1e-14)
    simulation.state.v[:] = np.random.default_rng(5).uniform(-0.1, 0.1, len(simulation.state.v))
    before = momentum_of(simulation)
    simulation.step(500)
    after = momentum_of(simulation)
    assert after == pytest.approx(before, abs=1e-12 * np.abs(before).max())
