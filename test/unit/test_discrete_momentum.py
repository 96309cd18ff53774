"""Momenta of a discrete motion against the discrete Lagrangian, formed with poses and pseudo-inertias."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from uncompiled import uncompiled

import grouser
from grouser.physics.base.packed import Packed
from grouser.physics.description.data.mechanism import JointLimit
from grouser.physics.model.build import build_model
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.discrete_momentum import (
    add_momenta,
    find_momenta,
    momenta_at_end,
    momenta_at_start,
)
from grouser.physics.multibody.integration import integrate_positions
from grouser.physics.multibody.kinematics import make_kinematics, update_kinematics
from grouser.physics.multibody.mass import full_matrix, make_mass_matrix
from grouser.physics.multibody.newton_euler import gather_forces, inverse_dynamics

BOTH = pytest.mark.parametrize("of", [lambda leaf: leaf, uncompiled], ids=["compiled", "python"])
ALL_JOINTS = Path(__file__).parents[1] / "data" / "machines" / "all_joints.urdf"
STEP = 0.02
# Central differences: a truncation error of EPSILON squared, and round-off over EPSILON, for momenta of 100 kg m/s.
EPSILON = 1e-5
DIFFERENCE = 1e-7


class DiscreteStep:
    """Two positions of the machine with every kind of joint, one step of random rates apart."""

    def __init__(self, base):
        machine = grouser.load_machine(ALL_JOINTS, base=base)
        machine = replace(machine, joints=tuple(replace(joint, limit=JointLimit()) for joint in machine.joints))
        model, _ = build_model(machine, gravity=(1.0, -2.0, -9.0))
        self.model = Packed(model)
        random = np.random.default_rng(5)
        self.rates, self.bodies = len(self.model.rate_damping), len(self.model.body_parent)
        self.q = np.array(self.model.q_initial)
        integrate_positions(self.model, self.q, random.normal(size=self.rates), 1.0)
        self.v = random.normal(size=self.rates)
        self.end = self.moved(self.q, self.v, STEP)

    def moved(self, q, v, step):
        result = q.copy()
        integrate_positions(self.model, result, v, step)
        return result

    def kinematics(self, q, v=None):
        result = Packed(make_kinematics(self.model))
        update_kinematics(self.model, q, np.zeros(self.rates) if v is None else v, result)
        return result

    def poses(self, q):
        """R and p of every body in the world, (bodies, 3, 4)."""
        kinematics = self.kinematics(q)
        place = kinematics.origin + kinematics.position
        return np.concatenate([kinematics.rotation, place[:, :, np.newaxis]], axis=2)

    def lagrangian(self, first, second):
        """L_d of the head of `variational`, with the bodies' second moments about their own frames."""
        model, total = self.model, 0.0
        for before, after, mass, com, s in zip(
            self.poses(first), self.poses(second), model.body_mass, model.body_com, model.body_inertia, strict=True
        ):
            inertia = np.array([[s[0], s[1], s[2]], [s[1], s[3], s[4]], [s[2], s[4], s[5]]])
            pseudo = np.zeros((4, 4))
            pseudo[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia + mass * np.outer(com, com)
            pseudo[:3, 3] = pseudo[3, :3] = mass * com
            pseudo[3, 3] = mass
            change = after - before
            total += np.trace(change @ pseudo @ change.T) / (2.0 * STEP)
            heights = [mass * model.gravity @ (pose[:, :3] @ com + pose[:, 3]) for pose in (before, after)]
            total += 0.5 * STEP * sum(heights)
        return total

    def derivatives(self, of_end):
        """Derivatives of L_d along every coordinate rate at the end of the step, or at its start."""
        derivatives = np.zeros(self.rates)
        for d, unit in enumerate(np.eye(self.rates)):
            for sign in (1.0, -1.0):
                aside = self.moved(self.end if of_end else self.q, sign * unit, EPSILON)
                ends = (self.q, aside) if of_end else (aside, self.end)
                derivatives[d] += sign * self.lagrangian(*ends) / (2.0 * EPSILON)
        return derivatives


@pytest.fixture(scope="module", params=["fixed", "floating"])
def discrete(request):
    return DiscreteStep(request.param)


@BOTH
def test_discrete_momenta_are_the_derivatives_of_the_discrete_lagrangian(discrete, of):
    before, after = discrete.kinematics(discrete.q), discrete.kinematics(discrete.end)
    momenta, wrench = np.zeros((2, discrete.bodies, 6))
    start, end, weight, none = np.zeros((4, discrete.rates))
    of(find_momenta)(discrete.model, before, after, STEP, momenta)
    of(momenta_at_end)(discrete.model, before, after, STEP, momenta, wrench, end)
    gather_forces(discrete.model, before.column, momenta.copy(), start)
    # at zero rates the momenta at the start are half a step of weight
    of(momenta_at_start)(discrete.model, before, STEP, wrench, weight)
    inverse_dynamics(discrete.model, before, none.copy(), wrench, np.zeros((discrete.bodies, 6)), none)
    assert weight == pytest.approx(-0.5 * STEP * none, abs=1e-12)
    assert end == pytest.approx(discrete.derivatives(of_end=True), abs=DIFFERENCE)
    assert start - weight == pytest.approx(-discrete.derivatives(of_end=False), abs=DIFFERENCE)


@BOTH
def test_added_momenta_agree_with_the_mass_matrix(discrete, of):
    before = discrete.kinematics(discrete.q, discrete.v)
    momenta, wrench = np.zeros((2, discrete.bodies, 6))
    gathered, weight, start = np.zeros((3, discrete.rates))
    of(add_momenta)(discrete.model, before, discrete.v, np.zeros((discrete.bodies, 6)), momenta)
    of(gather_forces)(discrete.model, before.column, momenta, gathered)
    of(momenta_at_start)(discrete.model, discrete.kinematics(discrete.q), STEP, wrench, weight)
    of(momenta_at_start)(discrete.model, before, STEP, wrench, start)
    mass = Packed(make_mass_matrix(discrete.model))
    mass_matrix(discrete.model, before, np.zeros((discrete.bodies, 10)), mass)
    expected = full_matrix(discrete.model, mass) @ discrete.v
    assert gathered == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert start - weight == pytest.approx(expected, rel=1e-12, abs=1e-12)
