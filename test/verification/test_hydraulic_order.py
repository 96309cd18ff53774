"""Order of convergence of the `implicit` scheme, alone and coupled with the mechanism, against Radau.

The circuits are smooth and so soft that every step is one sub-step: the adaptive step control has no effect.
"""

import math

import numpy as np
import pytest
from hydraulic_rig import ATMOSPHERE, Rig, cylinder
from scipy.integrate import solve_ivp

from grouser import Simulation, World
from grouser.physics.description.data.hydraulics import Orifice, Pump

BETA, DENSITY, GRAVITY = 1.4e9, 850.0, 9.81
AREA_A, AREA_B = math.pi * 0.04**2 / 4, math.pi * (0.04**2 - 0.025**2) / 4
DEAD, VISCOUS, SUPPLY = 0.05, 2000.0, 3e6
FEED, DRAIN = 1.2e-3, 1.0e-3
PISTON, WEIGHT = 5.0, 400.0 * 0.3 * GRAVITY


def gain(diameter):
    return 0.7 * math.pi / 4 * diameter**2 * math.sqrt(2 / DENSITY)


def radau(rates, start, end):
    return solve_ivp(rates, (0.0, end), start, "Radau", rtol=1e-11, atol=1e-12, max_step=end / 200).y[:, -1]


def chambers(x, v, a, b):
    """Rates of the pressures behind a turbulent orifice and before another one; drops stay above the laminar range."""
    into = gain(FEED) * math.sqrt(SUPPLY - a)
    out = gain(DRAIN) * math.sqrt(b - ATMOSPHERE)
    return (
        BETA / (DEAD + AREA_A * x) * (into - AREA_A * v),
        BETA / (DEAD + AREA_B * (0.5 - x)) * (AREA_B * v - out),
    )


def orders(errors):
    """Exponents by which each error falls when the step is halved."""
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


def test_implicit_scheme_order_with_turbulent_orifices():
    def rates(t, y):
        x, v, a, b = y
        return [v, (AREA_A * a - AREA_B * b - VISCOUS * v - 600.0) / 1005.0, *chambers(x, v, a, b)]

    expected = radau(rates, [0.2, 0.0, 1.2e6, 1.6e6], 0.4)
    errors = []
    for count in (100, 200, 400):
        rig = Rig(
            *(
                Pump("supply", supply_pressure=SUPPLY, outlet="supply"),
                Orifice("in", "supply", "a", FEED),
                Orifice("out", "b", "tank", DRAIN),
            ),
            cylinder(viscous_friction=VISCOUS, dead_volume_piston_side=DEAD, dead_volume_rod_side=DEAD),
            pressures={"a": 1.2e6, "b": 1.6e6},
            force=-600.0,
            mass=1000.0,
        )
        rig.now.position[:] = 0.2
        rig.advance(0.4 / count, count)
        assert rig.substeps == count
        ours = [rig.now.position[0], rig.now.velocity[0], rig.pressure("a"), rig.pressure("b")]
        errors.append(np.abs(np.array(ours) - expected))
    # of position, speed and both pressures; what a reference of 1e-11 and the next term of the series leave
    assert orders(errors) == pytest.approx(2.0, abs=0.15)


def machine(parts, hinged):
    """A load of 400 kg that the cylinder lifts straight up, or on an arm whose lever changes."""
    if hinged:
        arm = parts.link("load", 400.0, com=(1.0, 0.0, 0.0))
        joint = parts.joint("lift", "continuous", "world", "load", axis=(0, -1, 0))
        ends = '<barrel link="world" xyz="0.3 0 -0.8"/><rod link="load" xyz="0.5 0 0"/>'
    else:
        arm, joint = parts.link("load", 400.0), parts.joint("lift", "prismatic", "world", "load")
        ends = '<barrel link="world" xyz="0 0 -0.9"/><rod link="load"/>'
    return parts.machine(
        '<link name="world"/>',
        arm,
        joint,
        extension=f"""<fluid/><pump supply_pressure="{SUPPLY}"/>
        <orifice name="in" inlet="supply" outlet="a" diameter="{FEED}"/>
        <orifice name="out" inlet="b" outlet="tank" diameter="{DRAIN}"/>
        <cylinder name="c" piston_side="a" rod_side="b" bore="0.04" rod_diameter="0.025" stroke="0.5"
                  retracted_length="0.6" piston_mass="{PISTON}" viscous_friction="{VISCOUS}"
                  dead_volume_piston_side="{DEAD}" dead_volume_rod_side="{DEAD}">{ends}</cylinder>""",
    )


@pytest.mark.parametrize("hinged", [False, True])
def test_implicit_scheme_order_with_the_mechanism(parts, hinged):
    """Second order where the mechanism only carries a mass; else first order, that of its own scheme."""

    def straight(t, y):
        x, v, a, b = y
        force = AREA_A * a - AREA_B * b - VISCOUS * v
        return [v, (force - WEIGHT) / (400.0 + PISTON), *chambers(x, v, a, b)]

    def turning(t, y):
        angle, rate, a, b = y
        rod = 0.5 * np.array([math.cos(angle), math.sin(angle)])
        along = rod - [0.3, -0.8]
        length = float(np.linalg.norm(along))
        lever = (along[1] * rod[0] - along[0] * rod[1]) / length
        x, v = length - 0.6, lever * rate
        # of the rod's end, which goes round the hinge: dJ/dt v is its acceleration and the way round the barrel's end
        turn = -(rate**2) * float(along @ rod) / length + ((0.5 * rate) ** 2 - v**2) / length
        force = AREA_A * a - AREA_B * b - VISCOUS * v - PISTON * turn
        torque = lever * force - WEIGHT * math.cos(angle)
        return [rate, torque / (401.0 + PISTON * lever**2), *chambers(x, v, a, b)]

    end = 0.4
    start = [0.0, 0.0, 1.6e6, 1.2e6] if hinged else [0.3, 0.0, 1.2e6, 1.6e6]
    expected = radau(turning if hinged else straight, start, end)
    errors = []
    for count in (100, 200, 400, 800):
        world = World(gravity=(0.0, 0.0, -0.3 * GRAVITY), ground=None)
        simulation = Simulation(machine(parts, hinged), world, step=end / count)
        simulation.circuit.set_line_pressure("a", start[2])
        simulation.circuit.set_line_pressure("b", start[3])
        simulation.step(count)
        place = simulation.joint_position["lift"] + (0.0 if hinged else 0.3)
        ours = [
            place,
            simulation.joint_velocity["lift"],
            simulation.circuit.line_pressure["a"],
            simulation.circuit.line_pressure["b"],
        ]
        errors.append(np.abs(np.array(ours) - expected))
    # of position and both pressures; the speed's error passes through zero on the arm
    found = orders(errors)[:, [0, 2, 3]]
    assert found == pytest.approx(1.0 if hinged else 2.0, abs=0.25)
