"""Levers that vanish: cylinders at their dead point, and contacts through a hinge."""

import math
from itertools import pairwise

import numpy as np
from scipy.integrate import solve_ivp

from grouser import Simulation, World
from grouser.physics.constraints.position_limits import LARGEST_CORRECTION

SPACE = World(gravity=(0.0, 0.0, 0.0), ground=None)
ARM, DISTANCE, BORE, ROD, STROKE, RETRACTED, RESISTANCE = 0.4, 0.7, 0.06, 0.035, 0.6, 0.55, 8e8
TANK, BULK, DEAD, VISCOUS, INERTIA = 2e6, 1.2e9, 3e-4, 700.0, 40.0


def lever(parts, start):
    """A lever on a cylinder whose both sides lead to a tank through laminar orifices."""
    circuit = (
        f'<fluid bulk_modulus="{BULK}"/><tank name="tank" pressure="{TANK}"/>'
        f'<orifice name="out_a" inlet="a" outlet="tank" resistance="{RESISTANCE}"/>'
        f'<orifice name="out_b" inlet="b" outlet="tank" resistance="{RESISTANCE}"/>'
        f'<cylinder name="c" piston_side="a" rod_side="b" bore="{BORE}" rod_diameter="{ROD}" stroke="{STROKE}"'
        f' retracted_length="{RETRACTED}" piston_mass="0" viscous_friction="{VISCOUS}"'
        f' dead_volume_piston_side="{DEAD}" dead_volume_rod_side="{DEAD}">'
        f'<barrel link="world" xyz="{-DISTANCE} 0 0"/><rod link="lever" xyz="{ARM} 0 0"/></cylinder>'
    )
    return parts.machine(
        '<link name="world"/>',
        parts.link("lever", 1.0, (1.0, 1.0, INERTIA)),
        parts.joint("hinge", "continuous", "world", "lever"),
        extension=circuit + f'<initial_position joint="hinge" position="{start}"/>',
    )


def exact(start, rate, time):
    """Angle and rate after `time`, by an implicit Runge-Kutta method."""
    area_a = math.pi / 4 * BORE**2
    area_b = area_a - math.pi / 4 * ROD**2

    def rates(_, state):
        angle, speed, a, b = state
        dx, dy = DISTANCE + ARM * math.cos(angle), ARM * math.sin(angle)
        length = math.hypot(dx, dy)
        arm = (-dx * ARM * math.sin(angle) + dy * ARM * math.cos(angle)) / length
        piston, motion = length - RETRACTED, arm * speed
        force = area_a * a - area_b * b - VISCOUS * motion
        return [
            speed,
            force * arm / INERTIA,
            BULK / (DEAD + area_a * piston) * (-area_a * motion - (a - TANK) / RESISTANCE),
            BULK / (DEAD + area_b * (STROKE - piston)) * (area_b * motion - (b - TANK) / RESISTANCE),
        ]

    tolerance = [1e-12, 1e-12, 1e-2, 1e-2]
    solution = solve_ivp(rates, (0.0, time), [start, rate, TANK, TANK], method="Radau", rtol=1e-10, atol=tolerance)
    return solution.y[:2, -1]


def passage(parts, start, rate, time, step):
    simulation = Simulation(lever(parts, start), SPACE, step=step)
    simulation.state.v[0] = rate
    simulation.step(round(time / step))
    return simulation.joint_position["hinge"], simulation.joint_velocity["hinge"]


def test_passage_of_a_dead_point_converges_with_the_first_order(parts):
    reference = exact(-0.4, 4.0, 0.4)
    assert reference[0] > 0.2, "the lever should pass its dead point"
    errors = [np.abs(np.array(passage(parts, -0.4, 4.0, 0.4, step)) - reference) for step in (4e-3, 1e-3, 2.5e-4)]
    for coarse, fine in pairwise(errors):
        assert (fine < 0.35 * coarse + 2e-4).all(), errors
    assert errors[1][0] < 3e-3


def test_no_passage_jumps(parts):
    generator = np.random.default_rng(5)
    step = 1e-3
    for _ in range(25):
        simulation = Simulation(lever(parts, -generator.uniform(0.02, 0.5)), SPACE, step=step)
        simulation.state.v[0] = generator.uniform(1.0, 9.0)
        for _ in range(300):
            angle, before = simulation.joint_position["hinge"], simulation.joint_velocity["hinge"]
            simulation.step()
            speed = max(abs(before), abs(simulation.joint_velocity["hinge"]))
            assert abs(simulation.joint_position["hinge"] - angle) <= 2.0 * step * speed + LARGEST_CORRECTION


def test_contact_below_a_hinge_does_not_turn_it_far_in_a_step(parts):
    """The tip is 8 mm in the ground, straight below the hinge: the contact has no lever."""
    pendulum = parts.machine(
        '<link name="world"/>',
        parts.link("rod", 1.5, (0.1, 0.1, 0.01), com=(0.0, 0.0, -0.3), shape='<sphere radius="0.02"/>'),
        parts.joint("hinge", "continuous", "world", "rod", axis=(0, 1, 0), xyz=(0.0, 0.0, 0.012)),
    )
    simulation = Simulation(pendulum, World())
    simulation.state.v[0] = 1e-4
    for _ in range(500):
        angle = simulation.joint_position["hinge"]
        simulation.step()
        moved = 1e-3 * abs(simulation.joint_velocity["hinge"])
        assert abs(simulation.joint_position["hinge"] - angle) <= 2.0 * moved + LARGEST_CORRECTION
