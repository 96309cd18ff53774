"""Vibrations of machines with flexible links on all supports, and equal deflections of all discretisations."""

import math

import numpy as np
import pytest

from grouser import Simulation, World
from grouser.experiments.flexible_links import MODAL, flexible_element, inertial_text, joint_text, link_text, parsed

MODULUS, SHEAR, DENSITY = 70e9, 26e9, 2700.0
# Roots b of the frequencies b2 / (2 pi L2) (E I / rho A)^1/2; Blevins, "Formulas for Natural Frequency and Mode Shape".
ROOTS = {
    ("fixed", None): (1.87510407, 4.69409113, 7.85475744),
    ("fixed", "fixed"): (4.73004074, 7.85320462, 10.99560784),
    ("fixed", "revolute"): (3.92660231, 7.06858275, 10.21017612),
    ("continuous", "revolute"): (math.pi, 2.0 * math.pi, 3.0 * math.pi),
}
SIZES = {"assumed_modes": 5, "finite_elements": 12, "bezier": 10, "b_spline": 12}


def on_supports(method, start, end, length, diameter, axis="0 0 1", **more):
    """A rod between a joint and a loop joint to the world, and the unit of its frequencies [Hz]."""
    section = {"diameter": diameter, "shear_modulus": SHEAR, "density": DENSITY, "rotary_inertia": False}
    element = flexible_element(
        *("rod", length, MODULUS, {"method": method, "size": SIZES[method]}), bending="z", torsion=0, **section, **more
    )
    if end is not None:
        sides = f'<parent link="world" xyz="{length} 0 0"/><child link="rod" at="{length}"/>'
        element += f'<loop_joint name="end" type="{end}">{sides}</loop_joint>'
    hinge = joint_text("start", start, "world", "rod", axis=axis)
    machine = parsed("beam", link_text("world"), link_text("rod"), hinge, extension=element)
    # of a circle, the radius of gyration is a quarter of the diameter
    return machine, 0.25 * diameter * math.sqrt(MODULUS / DENSITY) / (2.0 * math.pi * length**2)


def bending_frequencies(machine):
    modes = Simulation(machine, World(ground=None)).vibration.modes()
    return np.array([mode.frequency for mode in modes if max(mode.energy, key=mode.energy.get).startswith("rod.bend")])


@pytest.mark.parametrize("method", MODAL)
def test_frequencies_on_all_supports(method):
    for (start, end), roots in ROOTS.items():
        machine, unit = on_supports(method, start, end, 2.0, 0.02)
        assert bending_frequencies(machine)[:3] == pytest.approx(unit * np.square(roots), rel=1e-3), (start, end)


@pytest.mark.parametrize(("length", "diameter"), [(0.01, 1e-4), (50.0, 0.4), (0.1, 1e-5), (1.0, 0.09)])
def test_frequencies_of_links_of_any_size(length, diameter):
    """From the hair to the pylon; the axis of the hinge is reversed."""
    for (start, end), roots in ROOTS.items():
        machine, unit = on_supports("assumed_modes", start, end, length, diameter, axis="0 0 -1")
        assert bending_frequencies(machine)[:3] == pytest.approx(unit * np.square(roots), rel=1e-3), (start, end)


def test_discretisations_of_equal_size_swing_alike():
    """A cantilever falls into its deflection under a load; each has six functions of bending."""
    sizes = {"assumed_modes": 4, "finite_elements": 3, "bezier": 7, "b_spline": 5}
    section = {"diameter": 0.03, "density": DENSITY, "axial": 1, "torsion": 0, "bending": "z"}
    peaks = []
    for method in MODAL:
        machine = parsed(
            "cantilever",
            *(link_text("world"), link_text("rod"), link_text("load", inertial_text(2.0, (0.01, 0.01, 0.01)))),
            joint_text("clamp", "fixed", "world", "rod"),
            joint_text("bolts", "fixed", "rod", "load", (2.0, 0.0, 0.0)),
            extension=flexible_element("rod", 2.0, MODULUS, {"method": method, "size": sizes[method]}, **section),
        )
        assert len(machine.flexible_links) == 1
        world = World(gravity=(0.0, -9.81, 0.0), ground=None)
        simulation = Simulation(machine, world, 1e-3, integrator="implicit_midpoint", tolerance=1e-12)
        path = []
        for _ in range(300):
            simulation.step()
            path.append(simulation.link_pose("load")[0][1])
        peaks.append(path)
    peaks = np.array(peaks)
    assert np.ptp(peaks, axis=0).max() < 1e-3 * np.abs(peaks).max()
