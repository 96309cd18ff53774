"""Hydraulic piston as a row: a worked example of Strashnov and Mironenko's equation (9)."""

import numpy as np
import pytest
from one_island import solve_as_one_island

from grouser import Simulation, World
from grouser.physics.base.packed import Packed
from grouser.physics.constraints.rows import close_row, make_rows
from grouser.physics.contact.rows import make_contact_rows
from grouser.physics.hydraulics.actuator_geometry import make_actuator_geometry
from grouser.physics.hydraulics.piston_rows import measure_jacobian_rates, open_piston_rows
from grouser.physics.model.build import build_model
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.factorisation import factorise, multiply, solve
from grouser.physics.multibody.kinematics import make_kinematics, update_kinematics
from grouser.physics.multibody.mass import make_mass_matrix
from grouser.physics.multibody.newton_euler import inverse_dynamics

HYDRAULICS = """
<fluid/><pump name="pump" supply_pressure="10e6"/>
<directional_valve name="valve" spool_diameter="6e-3" spool_travel="2e-4"/>
<cylinder name="piston" valve="valve" bore="0.04" rod_diameter="0.025" stroke="0.5" retracted_length="0.6"
          piston_mass="2" dead_volume_piston_side="1e-4" dead_volume_rod_side="1e-4">
  <barrel link="i" xyz="0.3 0.1 -0.2"/><rod link="j" xyz="-0.25 0.05 0.1"/>
</cylinder>"""


def test_piston_impulse_of_equation_9(parts):
    direction, length = np.array([0.6, 0.8, 0.0]), 0.7
    arm_i, arm_j = np.array([0.3, 0.1, -0.2]), np.array([-0.25, 0.05, 0.1])
    place_j = arm_i + length * direction - arm_j
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("i", 10, (0.5, 0.8, 1.0)),
        parts.link("j", 4, (0.1, 0.2, 0.15)),
        parts.joint("free_i", "floating", "world", "i"),
        parts.joint("free_j", "floating", "world", "j", xyz=place_j),
        extension=HYDRAULICS,
    )
    model, names = build_model(machine)
    geometry, kinematics = Packed(make_actuator_geometry(machine, names, model)), Packed(make_kinematics(model))
    model = Packed(model)
    v = np.array([0.1, -0.2, 0.05, 0.2, -0.1, 0.3, 0.4, 0.1, -0.3, -0.5, 0.3, 0.2])
    update_kinematics(model, model.q_initial.copy(), v, kinematics)
    factor = Packed(make_mass_matrix(model))
    mass_matrix(model, kinematics, np.zeros((2, 10)), factor)
    assert factorise(model, kinematics, factor) == -1
    u = np.zeros(12)
    multiply(model, factor, v, u)
    rows, found = Packed(make_rows(1, 12)), np.zeros(1)
    rows.count[0] = 0
    open_piston_rows(model, geometry, kinematics, 0, np.zeros(1), np.zeros((1, 3)), rows, found)
    close_row(rows, 0, model, factor)
    assert found[0] == pytest.approx(length, abs=1e-15)
    # the piston: 2 kg at 0.25 m/s
    rows.conductance[0], rows.target[0] = 2.0, 0.25
    relative = rows.jacobian[0] @ v
    assert 0.25 - relative == pytest.approx(-0.084, abs=1e-15) or 0.25 - relative == pytest.approx(0.334, abs=1e-15)
    assert rows.inverse_mass[0] + 1 / 2.0 == pytest.approx(1.386266666667, abs=1e-12)
    solve_as_one_island(rows, Packed(make_contact_rows(0, 12)), u, 1e-15, 10)
    assert rows.impulse[0] == pytest.approx(-0.060594402231, abs=1e-12)
    solve(model, factor, u)
    piston = 0.25 - rows.impulse[0] / 2.0
    assert piston == pytest.approx(0.280297201116, abs=1e-12)
    assert rows.jacobian[0] @ u == pytest.approx(piston, abs=1e-14)
    assert u[:3] == pytest.approx([0.10363566, -0.19515245, 0.05], abs=1e-8)
    assert u[9:] == pytest.approx([-0.45152448, 0.28182168, 0.29291142], abs=1e-8)


def test_jacobian_rate_of_a_cylinder(parts):
    """dJ/dt v against the central difference of J v along the motion, between two moving bodies."""
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("i", 10, (0.5, 0.8, 1.0)),
        parts.link("k", 2, (0.1, 0.1, 0.1)),
        parts.link("j", 4, (0.1, 0.2, 0.15)),
        parts.joint("first", "continuous", "world", "i", axis=(0.6, 0.0, 0.8)),
        parts.joint("second", "prismatic", "i", "k", axis=(0.0, 1.0, 0.0), xyz=(0.1, 0.9, 0.3)),
        parts.joint("third", "continuous", "k", "j", axis=(1.0, 0.0, 0.0), xyz=(0.5, -0.1, -0.1)),
        extension=HYDRAULICS,
    )
    model, names = build_model(machine)
    geometry, kinematics = Packed(make_actuator_geometry(machine, names, model)), Packed(make_kinematics(model))
    model = Packed(model)
    v = np.array([1.3, -0.7, -2.1])
    direction, length = np.zeros((1, 3)), np.zeros(1)

    def speed(time):
        rows = Packed(make_rows(1, 3))
        rows.count[0] = 0
        update_kinematics(model, model.q_initial + time * v, v, kinematics)
        open_piston_rows(model, geometry, kinematics, 0, np.zeros(1), direction, rows, length)
        return rows.jacobian[0] @ v

    half = 1e-5
    expected = (speed(half) - speed(-half)) / (2 * half)
    speed(0.0)
    motion, turning = np.zeros((3, 6)), np.zeros(1)
    inverse_dynamics(model, kinematics, np.zeros(3), np.zeros((3, 6)), motion, np.zeros(3))
    measure_jacobian_rates(model, geometry, kinematics, motion, direction, length, turning)
    assert abs(expected) > 0.01
    # the difference's own error, half^2 of third derivatives of a few m/s4, and 1e-16 m/s over half
    assert turning[0] == pytest.approx(expected, abs=1e-8)


def test_mechanism_position_follows_the_piston(parts):
    # the mechanism ends every step at the piston's position, though it is moved by velocities alone
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("i", 1, (0.1, 0.1, 0.1)),
        parts.link("j", 40, (1.0, 1.0, 1.0), com=(0.5, 0, 0)),
        parts.joint("fixing", "fixed", "world", "i"),
        parts.joint("hinge", "continuous", "i", "j", axis=(0, -1, 0)),
        extension=HYDRAULICS.replace('xyz="0.3 0.1 -0.2"', 'xyz="0.2 0 -0.6"')
        .replace('xyz="-0.25 0.05 0.1"', 'xyz="0.5 0 0"')
        .replace('"0.6"', '"0.55"'),
    )
    simulation = Simulation(machine, World(ground=None), step=0.005)
    barrel = np.array([0.2, 0.0, -0.6])
    simulation.command["valve"] = 0.6
    for _ in range(200):
        simulation.step()
        position, (x, y, z, w) = simulation.link_pose("j")
        rod = position + 0.5 * np.array([1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)])
        length = np.linalg.norm(rod - barrel)
        # the position pass is linear in the distance: second order in the motion of a step
        assert simulation.cylinder["piston"].position == pytest.approx(length - 0.55, abs=5e-6)
    assert simulation.cylinder["piston"].position > 0.2
