"""The tree of bodies in a step: equations of motion, factorisation, and the new positions."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import kernel
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.discrete_momentum import DiscreteMotion, make_discrete_motion
from grouser.physics.multibody.factorisation import copy_lower, multiply, solve_transposed
from grouser.physics.multibody.factorisation import factorise as factorise_in_place
from grouser.physics.multibody.free_body import carry_momentum, release_gyroscopic_force
from grouser.physics.multibody.integration import integrate_positions
from grouser.physics.multibody.kinematics import Kinematics, make_kinematics
from grouser.physics.multibody.newton_euler import inverse_dynamics

# Limit of the rounds in a step of the variational integrator.
_MOST_ROUNDS = 30


class Workspace(NamedTuple):
    """Buffers of the equations of motion.

    Attributes:
        kinematics: at the start of the step.
        composite, wrench, motion: buffers of the dynamics, (bodies, ...).
        mass: lower triangle of the mass matrix with the implicit terms that are constant in a step, (coordinates,
            coordinates).
        factor: factor of `mass` with the terms that `assemble` adds, (coordinates, coordinates).
        still: zeros, (coordinates,).
        force: of the equations of motion, (coordinates,).
        u_start, u_before, u: whitened velocity at the start of the step, without the rows' impulses, and with them.
        velocity_start, velocity, velocity_mean: rates at the start and at the end of the last step, and their mean, in
            the poses of its start.
        displacement: rates that move the positions.
        q_middle: positions in the middle of a step, for the midpoint rule.
        discrete: of the variational integrator.
    """

    kinematics: Kinematics
    composite: np.ndarray
    wrench: np.ndarray
    motion: np.ndarray
    mass: np.ndarray
    factor: np.ndarray
    still: np.ndarray
    force: np.ndarray
    u_start: np.ndarray
    u_before: np.ndarray
    u: np.ndarray
    velocity_start: np.ndarray
    velocity: np.ndarray
    velocity_mean: np.ndarray
    displacement: np.ndarray
    q_middle: np.ndarray
    discrete: DiscreteMotion


def make_workspace(model: MultibodyModel) -> Workspace:
    """Buffers of the right sizes."""
    bodies, coordinates = len(model.body_parent), len(model.rate_damping)
    vectors = Workspace._fields[6:15]
    return Workspace(
        kinematics=make_kinematics(model),
        composite=np.zeros((bodies, 10)),
        wrench=np.zeros((bodies, 6)),
        motion=np.zeros((bodies, 6)),
        mass=np.zeros((coordinates, coordinates)),
        factor=np.zeros((coordinates, coordinates)),
        **{name: np.zeros(coordinates) for name in vectors},
        q_middle=np.zeros(len(model.q_initial)),
        discrete=make_discrete_motion(model, _MOST_ROUNDS),
    )


@kernel
def apply_forces(context: Context):
    """Mass matrix; gravity and velocity products as the force."""
    model, state, work = context.system.multibody, context.state, context.workspace.multibody
    mass_matrix(model, work.kinematics, work.composite, work.mass)
    inverse_dynamics(model, work.kinematics, work.still, work.wrench, work.motion, work.force)
    release_gyroscopic_force(model, work.kinematics, work.motion, work.force)
    for d in range(work.force.shape[0]):
        work.force[d] = -work.force[d]
        work.velocity_start[d] = state.v[d]


@kernel
def assemble(context: Context):
    """Starts the mass matrix and the force, to which other rooms add."""
    work = context.workspace.multibody
    copy_lower(work.mass, work.factor)
    for d in range(work.u.shape[0]):
        work.u[d] = work.force[d]


@kernel
def factorise(context: Context):
    """Factorises the mass matrix, and finds the whitened velocity from the forces alone."""
    model, work, step = context.system.multibody, context.workspace.multibody, context.system.settings.step
    start, pattern, u = model.pattern_start, model.pattern, work.u
    singular = factorise_in_place(start, pattern, work.factor)
    if singular >= 0:
        # the stiffness exceeds the precision of the masses: the finite check names the joint
        u[singular] = math.nan
    multiply(start, pattern, work.factor, context.state.v, work.u_start)
    solve_transposed(start, pattern, work.factor, u)
    for d in range(u.shape[0]):
        u[d] = work.u_start[d] + step * u[d]
        work.u_before[d] = u[d]


@kernel
def account(context: Context):
    """The mean rates, along which other rooms find their work."""
    work = context.workspace.multibody
    for d in range(work.velocity_mean.shape[0]):
        work.velocity_mean[d] = 0.5 * (work.velocity_start[d] + work.velocity[d])


@kernel
def correct(context: Context):
    """Sets the displacement to zero; other rooms add to it."""
    displacement = context.workspace.multibody.displacement
    for d in range(displacement.shape[0]):
        displacement[d] = 0.0


@kernel
def integrate(context: Context):
    """The new velocities, and the positions after the displacement."""
    model, state, work = context.system.multibody, context.state, context.workspace.multibody
    step = context.system.settings.step
    for d in range(work.velocity.shape[0]):
        state.v[d] = work.velocity[d]
    integrate_positions(model, state.q, work.displacement, step)
    carry_momentum(model, work.kinematics, work.displacement, step, state.q, state.v)
