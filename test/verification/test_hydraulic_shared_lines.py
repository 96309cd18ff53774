"""Cylinders that share lines, with each other and with an accumulator, on one load of a machine."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from grouser import Simulation, World

AIR = World(ground=None)
SUPPLY, TANK, BETA, DENSITY, GRAVITY = 10e6, 1e5, 1.4e9, 850.0, 9.81
AREA_A, AREA_B = math.pi * 0.04**2 / 4, math.pi * (0.04**2 - 0.025**2) / 4
ORIFICE, MASS, PISTON, VISCOUS, DEAD = 2e-3, 200.0, 5.0, 500.0, 1e-4


def root(drop):
    return drop / (drop * drop + 1e6) ** 0.25


def lift(parts, cylinders, extra="", step=1e-3):
    """A number of cylinders side by side lift a load, through one orifice in and one out."""
    pieces = "".join(
        f"""<cylinder name="c{n}" piston_side="a" rod_side="b" bore="0.04" rod_diameter="0.025" stroke="0.5"
              retracted_length="0.6" piston_mass="{PISTON}" viscous_friction="{VISCOUS}"
              dead_volume_piston_side="{DEAD}" dead_volume_rod_side="{DEAD}">
              <barrel link="world" xyz="0 {n} 0"/><rod link="load" xyz="0 {n} 0.7"/></cylinder>"""
        for n in range(cylinders)
    )
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("load", MASS),
        parts.joint("lift", "prismatic", "world", "load", axis=(0, 0, 1)),
        extension=f"""<fluid/><pump supply_pressure="{SUPPLY}"/>
        <orifice name="in" inlet="supply" outlet="a" diameter="{ORIFICE}"/>
        <orifice name="out" inlet="b" outlet="tank" diameter="{ORIFICE}"/>{extra}{pieces}""",
    )
    return Simulation(machine, AIR, step=step)


def converged(cylinders, times, start, gas=None):
    """Position, speed and pressures by Radau; `gas` is volume, precharge and index on the piston side."""
    gain = 0.7 * math.pi / 4 * ORIFICE**2 * math.sqrt(2 / DENSITY)
    n = cylinders

    def rates(t, y):
        x, v, a, b = y
        give = (n * (DEAD + AREA_A * x)) / BETA
        if gas and a > gas[1]:
            give += gas[0] * (gas[1] / a) ** (1 / gas[2]) / (gas[2] * a)
        force = n * (AREA_A * a - AREA_B * b - VISCOUS * v) - MASS * GRAVITY
        return [
            v,
            force / (MASS + n * PISTON),
            (gain * root(SUPPLY - a) - n * AREA_A * v) / give,
            BETA / (n * (DEAD + AREA_B * (0.5 - x))) * (n * AREA_B * v - gain * root(b - TANK)),
        ]

    return solve_ivp(rates, (0, times[-1]), start, "Radau", t_eval=times, rtol=1e-10, atol=1e-12, max_step=1e-3).y


GAS = (2e-3, 3e5, 1.25)


def lift_beside_radau(parts, cylinders, gas, step):
    """Ours and the converged position, speed and pressures every 5 ms."""
    volume, precharge, index = gas or GAS
    extra = f'<accumulator name="g" port="a" volume="{volume}" precharge="{precharge}" polytropic_index="{index}"/>'
    simulation = lift(parts, cylinders, extra if gas else "", step)
    carried = (MASS * GRAVITY / cylinders + AREA_B * TANK) / AREA_A
    simulation.circuit.set_line_pressure("a", carried)
    start = simulation.cylinder["c0"].position
    times = np.arange(1, 81) * 5e-3
    ours = []
    for _ in times:
        simulation.step(round(5e-3 / step))
        piston = simulation.cylinder["c0"]
        pressures = [float(simulation.state.hydraulics.pressure[simulation.arrays.lines.index(name)]) for name in "ab"]
        ours.append([piston.position, piston.velocity, *pressures])
    return np.array(ours).T, converged(cylinders, times, [start, 0.0, carried, TANK], gas)


@pytest.mark.parametrize("step", [1e-3, 5e-3])
@pytest.mark.parametrize("gas", [None, GAS])
@pytest.mark.parametrize("cylinders", [1, 2, 3])
def test_cylinders_on_shared_lines_against_radau(parts, cylinders, gas, step):
    ours, expected = lift_beside_radau(parts, cylinders, gas, step)
    error = np.abs(ours - expected).max(axis=1) / np.abs(expected).max(axis=1)
    # The tolerance of a sub-step is 2e-3. On the oil alone the load swings at some 50 Hz, in ten sub-steps or more each
    # time, and errors add up in its phase; the gas leaves nothing to swing.
    assert error[0] < 2e-3
    assert error[1:].max() < (2e-3 if gas else 3e-2)


@pytest.mark.parametrize("cylinders", [2, 3])
def test_cylinders_on_an_accumulator_stay_below_the_supply(parts, cylinders):
    """Also at 5 ms: no pressure in the circuit exceeds that of the supply."""
    ours, _ = lift_beside_radau(parts, cylinders, GAS, 5e-3)
    assert ours[2:].max() < SUPPLY
