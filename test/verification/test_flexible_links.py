"""Deflection of flexible links: beams under loads at their ends, and the poses of their links."""

import math

import numpy as np
import pytest

from grouser import Member, Simulation, World, combine
from grouser.physics.base.errors import ParameterError
from grouser.physics.base.spatial import matrix as matrix_of
from grouser.physics.description.data.compliance import FlexibleLink
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Inertial, Joint, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import matrix, quaternion_from_rpy

LENGTH, BENDING_Y, BENDING_Z, TORSION = 2.0, 5e4, 2e4, 8e3
LOAD, BEAM, LEVER = 3.0, 3e-5, 0.5  # [kg, kg, m]
START, RPY = (0.1, 0.2, 0.3), (0.3, -0.4, 0.5)  # the elastic frame in the link's
MOUNT = Pose((1.0, 2.0, 3.0), quaternion_from_rpy(0.7, 0.8, 0.9))
AXES = matrix(quaternion_from_rpy(*RPY))
# The slowest vibration under the load is about z, and critically damped.
DAMPING_TIME = 2.0 / math.sqrt(3.0 * BENDING_Z / (LENGTH**3 * LOAD))


def cantilever(size):
    """A beam, clamped to the world, with a mass on a lever along y at its end."""
    across = BEAM * LENGTH**2 / 12.0
    middle = tuple((START + AXES[:, 0] * LENGTH / 2).tolist())
    about_axis = 0.01 * across
    inertial = Inertial(Pose(middle, quaternion_from_rpy(*RPY)), BEAM, (about_axis, 0.0, 0.0, across, 0.0, across))
    tip = Pose(tuple((START + AXES[:, 0] * LENGTH).tolist()), quaternion_from_rpy(*RPY))
    load = Inertial(Pose((0.0, LEVER, 0.0)), LOAD, (0.1, 0.0, 0.0, 0.1, 0.0, 0.1))
    stiffnesses = (BENDING_Y, BENDING_Z, TORSION, DAMPING_TIME)
    return Machine(
        "cantilever",
        (Link("world"), Link("beam", inertial), Link("load", load)),
        (Joint("clamp", "fixed", "world", "beam", MOUNT), Joint("bolts", "fixed", "beam", "load", tip)),
        "world",
        False,
        flexible_links=(FlexibleLink("beam", "rigid_elements", size, START, RPY, LENGTH, *stiffnesses),),
    )


@pytest.mark.parametrize("size", [2, 5, 9])
@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.0, -1.0), (0.6, 0.8)])
def test_cantilever_under_a_load_at_its_end(size, direction):
    """Deflection F L3 / (3 E I), twist T L / (G J), energy F2 L3 / (6 E I) + T2 L / (2 G J).

    With springs in the middles of n segments, deflections under a force and bending energy are less by 1 / (4 n2): the
    midpoint rule for the square of the lever. Angles under a moment are the beam's own.
    """
    acceleration = 1e-3 * np.array([0.0, *direction])
    world = World(gravity=tuple((matrix(MOUNT.quaternion) @ AXES @ acceleration).tolist()), ground=None)
    simulation = Simulation(cantilever(size), world, tolerance=1e-14)
    simulation.step(1500)
    _, force_y, force_z = LOAD * acceleration
    moment = LEVER * force_z
    midpoint = 1.0 - 1.0 / (4.0 * (size - 1) ** 2)
    y = midpoint * force_y * LENGTH**3 / (3.0 * BENDING_Z)
    z = midpoint * force_z * LENGTH**3 / (3.0 * BENDING_Y)
    twist = moment * LENGTH / TORSION
    energy = 0.5 * (force_y * y + force_z * z + moment * twist)
    state = simulation.flexible_link["beam"]
    # deflections are levers, too; the beam's own weight adds 3/8 of BEAM / LOAD to them, and twice that to the energy
    small = 2.0 * math.hypot(y, z) / LEVER + BEAM / LOAD
    largest_twist = LEVER * math.hypot(force_y, force_z) * LENGTH / TORSION
    assert small < 2e-5
    assert state.tip_deflection_y == pytest.approx(y, rel=small, abs=small * abs(z))
    assert state.tip_deflection_z == pytest.approx(z, rel=small, abs=small * abs(y))
    assert state.tip_twist == pytest.approx(twist, rel=small, abs=small * largest_twist)
    assert state.strain_energy == pytest.approx(energy, rel=small)


def bent(simulation, spread):
    """Deflects all springs by random angles."""
    simulation.state.q[:] = np.random.default_rng(3).uniform(-spread, spread, len(simulation.state.q))
    return simulation


def from_poses(simulation, beam, load):
    """Deflections and twist by the frames of the link and of a link fixed to its end."""
    (start, near), (end, far) = ((p, matrix_of(tuple(q))) for p, q in map(simulation.link_pose, (beam, load)))
    undeformed = near @ AXES
    _, y, z = undeformed.T @ (end - start) - AXES.T @ START
    # the load's frame is the elastic one; the twist remains after the shortest rotation of x is removed
    turned = undeformed.T @ far
    axis, cosine = np.cross([1.0, 0.0, 0.0], turned[:, 0]), turned[0, 0]
    skew = np.cross(axis, np.eye(3)).T
    swing = np.eye(3) + skew + skew @ skew / (1.0 + cosine)
    twisted = swing.T @ turned
    assert twisted[:, 0] == pytest.approx([1.0, 0.0, 0.0], abs=1e-14)
    return y, z, math.atan2(twisted[2, 1], twisted[1, 1])


@pytest.mark.parametrize("size", [2, 5, 12])
def test_large_deflections_agree_with_the_poses_of_links(size):
    simulation = bent(Simulation(cantilever(size), World(ground=None)), 0.4)
    state = simulation.flexible_link["beam"]
    measured = (state.tip_deflection_y, state.tip_deflection_z, state.tip_twist)
    assert measured == pytest.approx(from_poses(simulation, "beam", "load"), abs=1e-14)
    assert min(map(abs, measured)) > 0.01
    # there are no other springs
    assert state.strain_energy == pytest.approx(simulation.energy().elastic, rel=1e-14)
    assert simulation.link_poses().shape[0] == 3 + 3 * (size - 1)


def test_rigid_beam_stays_straight():
    simulation = Simulation(cantilever(1), World(ground=None))
    simulation.step(10)
    state = simulation.flexible_link["beam"]
    straight = (state.tip_deflection_y, state.tip_deflection_z, state.tip_twist, state.strain_energy)
    assert straight == pytest.approx((0.0, 0.0, 0.0, 0.0), abs=1e-15)


def test_each_of_several_machines_has_its_own_deflections():
    members = {"a": Member(cantilever(3)), "b": Member(cantilever(5), Pose((9.0, 0.0, 0.0)))}
    both = bent(Simulation(combine(members), World(ground=None)), 0.2)
    assert list(both.flexible_link) == ["a/beam", "b/beam"]
    for name in members:
        view = both.part(name).flexible_link
        assert list(view) == ["beam"]
        assert view["beam"] == both.flexible_link[f"{name}/beam"]
        measured = (view["beam"].tip_deflection_y, view["beam"].tip_deflection_z, view["beam"].tip_twist)
        assert measured == pytest.approx(from_poses(both.part(name), "beam", "load"), abs=1e-14)
    assert both.flexible_link["a/beam"] != both.flexible_link["b/beam"]
    energies = [state.strain_energy for state in both.flexible_link.values()]
    assert sum(energies) == pytest.approx(both.energy().elastic, rel=1e-14)
    with pytest.raises(ParameterError, match="flexible link = 'beams'"):
        both.part("a").flexible_link["beams"]


def test_batch_copies_have_their_own_deflections():
    simulation = Simulation(cantilever(3), World(ground=None))
    first, second = simulation.batch(2)
    bent(first, 0.1)
    assert first.flexible_link["beam"].strain_energy > 1.0
    assert second.flexible_link["beam"].strain_energy == simulation.flexible_link["beam"].strain_energy == 0.0
