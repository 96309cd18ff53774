"""A link with elastic coordinates: attached parts share them, and carry its modal mass."""

from dataclasses import replace

import numpy as np
import pytest
from elastic_shapes import shape_of_rows

from grouser import MachineError, Simulation, World
from grouser.physics.base.packed import Packed
from grouser.physics.description.data.mechanism import ElasticCoordinate
from grouser.physics.model.build import build_model
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.kinematics import make_kinematics, update_kinematics
from grouser.physics.multibody.mass import full_matrix, make_mass_matrix

FREE_SPACE = World(gravity=(0.0, 0.0, 0.0), ground=None)


def with_elasticity(machine, link, coordinates, shapes):
    """The machine with one link elastic, with the shapes of its joints."""
    links = tuple(replace(one, elastic=coordinates) if one.name == link else one for one in machine.links)
    joints = tuple(
        replace(one, elastic_shape=shape_of_rows(shapes[one.name]) if one.name in shapes else None)
        for one in machine.joints
    )
    return replace(machine, links=links, joints=joints)


def beam(parts, coordinates, shapes):
    """A hub that turns about z, with a massless beam along x that bends sideways and carries two nodes."""
    rigid = parts.machine(
        '<link name="world"/>',
        parts.link("hub", 2.0, (0.1, 0.1, 0.1)),
        parts.link("middle", 0.7, (1e-3, 1e-3, 1e-3)),
        parts.link("tip", 0.4, (1e-3, 1e-3, 1e-3)),
        parts.joint("turn", "continuous", "world", "hub", axis=(0, 0, 1)),
        parts.joint("at_middle", "fixed", "hub", "middle", xyz=(0.5, 0, 0)),
        parts.joint("at_tip", "fixed", "hub", "tip", xyz=(1.0, 0, 0)),
    )
    return with_elasticity(rigid, "hub", coordinates, shapes)


# bending and a second mode: deflection along y and slope about z, per unit
SHAPES = {
    "at_middle": ((0.0, 0.3, 0.0, 0.0, 0.0, 1.2), (0.0, -0.4, 0.0, 0.0, 0.0, 0.2)),
    "at_tip": ((0.0, 1.0, 0.0, 0.0, 0.0, 1.5), (0.0, 1.0, 0.0, 0.0, 0.0, 5.0)),
}
MODES = (ElasticCoordinate("first", 400.0), ElasticCoordinate("second", 9000.0))


def modal_matrices():
    """Mass and stiffness of the two modes, and their coupling with the rotation, from the nodes."""
    mass, coupling = np.zeros((2, 2)), np.zeros(2)
    for arm, weight, name in ((0.5, 0.7, "at_middle"), (1.0, 0.4, "at_tip")):
        shape = np.array(SHAPES[name])
        deflection, slope = shape[:, 1], shape[:, 5]
        mass += weight * np.outer(deflection, deflection) + 1e-3 * np.outer(slope, slope)
        coupling += weight * arm * deflection + 1e-3 * slope
    turn = 0.1 + 1e-3 * 2 + 0.7 * 0.25 + 0.4
    return np.block([[np.array([[turn]]), coupling[None, :]], [coupling[:, None], mass]]), np.diag([0.0, 400.0, 9000.0])


def test_mass_matrix_of_elastic_coordinates_is_modal(parts):
    model, names = build_model(beam(parts, MODES, SHAPES))
    assert names.rate_joint == ("turn", "hub.first", "hub.second")
    packed, kinematics, mass = Packed(model), Packed(make_kinematics(model)), Packed(make_mass_matrix(model))
    update_kinematics(packed, model.q_initial.copy(), np.zeros(3), kinematics)
    mass_matrix(packed, kinematics, np.zeros((len(model.body_parent), 10)), mass)
    expected, _ = modal_matrices()
    assert full_matrix(model, mass) == pytest.approx(expected, rel=1e-12)


def test_natural_frequency_of_the_free_hub(parts):
    mass, stiffness = modal_matrices()
    squares, vectors = np.linalg.eig(np.linalg.solve(mass, stiffness))
    order = np.argsort(squares.real)
    frequency = np.sqrt(squares.real[order[1]])
    mode = vectors.real[:, order[1]]
    simulation = Simulation(beam(parts, MODES, SHAPES), FREE_SPACE, step=2e-5)
    simulation.state.v[:] = 1e-3 * mode
    crossings, before = [], 1e-9
    while len(crossings) < 3:
        simulation.step()
        now = simulation.state.q[1] * np.sign(mode[1])
        if before > 0.0 >= now or before < 0.0 <= now:
            crossings.append(simulation.time - simulation.step_size * now / (now - before))
        before = now
    # implicit springs: period off by (w h)^2 / 2 and damped by w h / 2 a radian; w h = 5e-4
    assert 2 * np.pi / (crossings[2] - crossings[0]) == pytest.approx(frequency, rel=1e-3)


def test_stiff_elastic_modes_are_stable_at_ten_milliseconds(parts):
    modes = (ElasticCoordinate("first", 1e9, damping=1.0), ElasticCoordinate("second", 1e10))
    simulation = Simulation(beam(parts, modes, SHAPES), World(ground=None), step=0.01)
    simulation.state.v[:] = [2.0, 0.5, -0.5]
    simulation.step(500)
    assert abs(simulation.state.v[0]) < 3.0
    assert np.abs(simulation.state.q[1:]).max() < 1e-6


def test_zero_elastic_coordinates_have_no_effect(parts):
    rigid, _ = build_model(beam(parts, (), {}))
    assert len(rigid.rate_damping) == 1
    assert len(rigid.spring_rate) == 0


def test_elastic_energy_is_part_of_the_balance(parts):
    simulation = Simulation(beam(parts, MODES, SHAPES), FREE_SPACE, step=1e-5)
    simulation.state.v[:] = [0.0, 0.5, 0.0]
    start = simulation.energy()
    simulation.step(2000)
    now = simulation.energy()
    assert now.elastic > 0.1 * start.kinetic
    # implicit springs dissipate with the first order of the step: w h / 2 a radian, w = 100 rad/s over 2 rad
    assert now.kinetic + now.elastic == pytest.approx(start.kinetic, rel=5e-3)


def test_massless_frame_on_an_elastic_link(parts):
    machine = beam(parts, MODES, SHAPES)
    sensor = replace(machine.links[-1], name="sensor", inertial=None)
    mount = replace(machine.joints[-1], name="mount", child="sensor", elastic_shape=shape_of_rows(SHAPES["at_middle"]))
    machine = replace(machine, links=(*machine.links, sensor), joints=(*machine.joints, mount))
    simulation = Simulation(machine, World(ground=None))
    simulation.state.q[1] = 0.1
    # moved by its shape: a rotation of 1.2 rad per unit about z at the joint
    _, (_, _, z, w) = simulation.link_pose("sensor")
    assert 2 * np.arctan2(z, w) == pytest.approx(0.12, rel=1e-12)


def test_missing_elastic_shape_is_reported(parts):
    with pytest.raises(MachineError, match="at_tip.*0 elastic shapes.*2 elastic coordinates"):
        build_model(beam(parts, MODES, {"at_middle": SHAPES["at_middle"]}))
