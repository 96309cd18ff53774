"""Foreseen displacements against the step's own integration of positions, and candidates on the rims of cylinders."""

import math

import numpy as np
import pytest
from contact_scene import Scene, free_bodies

from grouser import World
from grouser.physics.base import spatial
from grouser.physics.base.kernel import kernel
from grouser.physics.base.packed import Packed
from grouser.physics.contact.foresight import displacement
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Inertial, Joint, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Cylinder, Sphere
from grouser.physics.model.build import build_model
from grouser.physics.multibody.free_body import carry_momentum
from grouser.physics.multibody.integration import integrate_positions
from grouser.physics.multibody.kinematics import make_kinematics, update_kinematics
from grouser.physics.multibody.spans import whole

BOTH = pytest.mark.parametrize("leaf", [displacement, displacement.py_func], ids=["compiled", "python"])
BODY = Inertial(Pose((0.1, -0.2, 0.3)), 2.0, (0.3, 0.01, 0.02, 0.4, -0.03, 0.5))


@kernel
def move(model, kinematics, q, v, time):
    """Moves positions q as a step does."""
    integrate_positions(model, q, v, time)
    carry_momentum(model, whole(model), kinematics, v, time, q, v)


def chain(*kinds):
    """A machine of bodies in a row, each on a joint."""
    names = ["world", *[f"b{k}" for k in range(len(kinds))]]
    joints = [
        Joint(f"j{k}", kind, names[k], names[k + 1], Pose((0.3, 0.1 * k, -0.2)), axis=(0.6, 0.8 * (-1.0) ** k, 0.0))
        for k, kind in enumerate(kinds)
    ]
    links = [Link("world"), *[Link(name, BODY) for name in names[1:]]]
    return Machine("chain", tuple(links), tuple(joints), "world", floating_base=False)


def errors_of_displacement(machine, time, leaf):
    """Foreseen less real displacement of a point of the last body at random rates [m], (3,)."""
    model, _ = build_model(machine, World().spawn)
    kinematics, after = make_kinematics(model), make_kinematics(model)
    packed, before, later = Packed(model), Packed(kinematics), Packed(after)
    random = np.random.default_rng(4)
    q, v = np.array(model.q_initial), random.normal(size=len(model.rate_damping)) * 20.0
    body, local = len(model.body_parent) - 1, np.array([0.2, 0.5, -0.1])
    update_kinematics(packed, q, v, before)
    point = kinematics.position[body] + kinematics.rotation[body] @ local
    foreseen = leaf(packed, before, body, *point, time)
    start = kinematics.origin + point
    move(packed, before, q, v.copy(), time)
    update_kinematics(packed, q, v, later)
    real = after.origin + after.position[body] + after.rotation[body] @ local - start
    return np.array(foreseen) - real


@BOTH
@pytest.mark.parametrize("time", [1e-3, 0.05])
@pytest.mark.parametrize("kind", ["floating", "continuous", "prismatic", "planar", "spherical"])
def test_displacement_of_a_body_on_one_joint_is_that_of_the_step(leaf, kind, time):
    # rounding of displacements of up to a metre
    assert errors_of_displacement(chain(kind), time, leaf) == pytest.approx(np.zeros(3), abs=1e-14)


@pytest.mark.parametrize("kinds", [("continuous", "continuous"), ("floating", "continuous", "prismatic")], ids=str)
def test_displacement_in_a_chain_is_exact_to_second_order(kinds):
    errors = [np.linalg.norm(errors_of_displacement(chain(*kinds), time, displacement)) for time in (2e-3, 1e-3)]
    assert errors[1] > 0.0
    # third order: an eighth for half of the time; the fourth order is w t = 4 % of it
    assert errors[0] / errors[1] == pytest.approx(8.0, rel=0.1)


@pytest.mark.parametrize("tilt", [0.0, 1e-9, 1e-4, 0.002])
def test_standing_cylinder_touches_the_plane_with_its_rim(tilt):
    radius, half = 0.3, 0.2
    scene = Scene(free_bodies(Cylinder(radius, 2 * half), Sphere(0.1)), World())
    turn = (math.sin(0.5 * tilt), 0.0, 0.0, math.cos(0.5 * tilt))
    height = half * math.cos(tilt) + radius * math.sin(tilt)
    scene.place(0, (0.0, 0.0, height), turn).place(1, (3.0, 0.0, 2.0))
    found = scene.touch()
    # four points a quarter turn apart, and the lowest one unless the tilt is rounding
    number = 4 if tilt < 1e-6 else 5
    assert len({contact.slot for contact in found}) == number
    corners = np.array([contact.point for contact in found])
    local = (corners - [0.0, 0.0, height]) @ spatial.matrix(turn)
    assert np.linalg.norm(local[:, :2], axis=1) == pytest.approx(np.full(number, radius), abs=1e-12)
    assert local[:, 2] == pytest.approx(np.full(number, -half), abs=1e-12)
    assert local[:4, :2].sum(axis=0) == pytest.approx(np.zeros(2), abs=1e-12)
    assert [contact.gap for contact in found] == pytest.approx(corners[:, 2], abs=1e-12)
    # the lowest point is exactly on the ground
    assert found[-1].gap == pytest.approx(0.0, abs=2.0 * radius * tilt + 1e-12 if number == 4 else 1e-12)


def test_lying_cylinder_touches_the_plane_with_two_points_that_do_not_rotate():
    scene = Scene(free_bodies(Cylinder(0.3, 0.4)), World())
    lying = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))
    for angle in (0.0, 0.3, 1.4):
        turn = spatial.quaternion_product(*spatial.quaternion_exponential(0.0, angle, 0.0), *lying)
        found = scene.place(0, (0.0, 0.0, 0.3), turn, angular=(0.0, 200.0, 0.0)).touch()
        touching = [contact for contact in found if contact.gap < 1e-3]
        assert sorted(contact.point[1] for contact in touching) == pytest.approx([-0.2, 0.2], abs=1e-12)
        for contact in touching:
            assert contact.point[[0, 2]] == pytest.approx([0.0, 0.0], abs=1e-12)
