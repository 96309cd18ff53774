"""The tree of bodies in a step: equations of motion, factorisation, and the new positions."""

import math
from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import kernel
from grouser.physics.base.labels import RATE
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.composite import mass_matrix_of
from grouser.physics.multibody.discrete_momentum import DiscreteMotion, make_discrete_motion
from grouser.physics.multibody.factorisation import factorise_of, multiply_of, solve_transposed_of
from grouser.physics.multibody.free_body import carry_momentum, measure_precession
from grouser.physics.multibody.free_flight import keep_centre_of_mass
from grouser.physics.multibody.integration import integrate_positions_of
from grouser.physics.multibody.kinematics import Kinematics, make_kinematics
from grouser.physics.multibody.mass import MassMatrix, copy_mass_matrix, make_mass_matrix
from grouser.physics.multibody.spans import Spans, has_lone_bodies, make_spans, span_at
from grouser.physics.multibody.velocity_forces import bias_forces, measure_turning, refine_bias_forces

# Limit of the rounds of an iteration within a step.
_MOST_ROUNDS = 30


class State(NamedTuple):
    """State of the tree for a restart, beside its positions and rates.

    Attributes:
        rate_change: change of the rates in the last step, 0 for lone free bodies, (coordinates,).
    """

    rate_change: np.ndarray


LABELS: Any = State(rate_change=RATE)


class Workspace(NamedTuple):
    """Buffers of the equations of motion.

    Attributes:
        awake: the bodies that the step moves; what belongs to others stays as it is.
        kinematics: at the start of the step.
        composite, wrench, motion: buffers of the dynamics, (bodies, ...).
        mass: mass matrix with the implicit terms that are constant in a step.
        factor: factor of `mass` with the terms that `assemble` adds.
        still: zeros, (coordinates,).
        force: of the equations of motion, (coordinates,).
        bias: of them, gravity and velocity products, (coordinates,).
        velocity_ahead: predicted mean of the rates over the step, for the velocity products.
        fast: for the first coordinate of each block, whether its bodies turn so fast that the prediction is not enough.
        has_fast: whether there are such blocks, (1,).
        iterates: of these blocks, those whose iteration for the velocity products goes on.
        turn: square of the largest rotation rate of a body since it was cleared [rad2/s2], (1,); 0 for slow ones.
        turning_body: that body, (1,).
        touched: whether something outside its tree acts on each body in this step.
        unsettled: -1, or the rate for which the iteration for the velocity products did not converge, (1,).
        u_start, u_before, u: whitened velocity at the start of the step, without the rows' impulses, and with them.
        velocity_start, velocity, velocity_mean: rates at the start and at the end of the last step, and their mean, in
            the poses of its start.
        precession: rates in the middle of the step less those at its start, of lone bodies; 0 for all others.
        has_precession: whether there is any, (1,).
        displacement: rates that move the positions.
        q_middle: positions in the middle of a step, for the midpoint rule.
        discrete: of the variational integrator.
    """

    awake: Spans
    kinematics: Kinematics
    composite: np.ndarray
    wrench: np.ndarray
    motion: np.ndarray
    mass: MassMatrix
    factor: MassMatrix
    still: np.ndarray
    force: np.ndarray
    bias: np.ndarray
    velocity_ahead: np.ndarray
    fast: np.ndarray
    has_fast: np.ndarray
    iterates: np.ndarray
    turn: np.ndarray
    turning_body: np.ndarray
    touched: np.ndarray
    unsettled: np.ndarray
    u_start: np.ndarray
    u_before: np.ndarray
    u: np.ndarray
    velocity_start: np.ndarray
    velocity: np.ndarray
    velocity_mean: np.ndarray
    precession: np.ndarray
    has_precession: np.ndarray
    displacement: np.ndarray
    q_middle: np.ndarray
    discrete: DiscreteMotion


def make_workspace(model: MultibodyModel) -> Workspace:
    """Buffers of the right sizes."""
    bodies, coordinates = len(model.body_parent), len(model.rate_damping)
    vectors = ("still", "force", "bias", "velocity_ahead", "u_start", "u_before", "u")
    rates = ("velocity_start", "velocity", "velocity_mean", "precession", "displacement")
    return Workspace(
        awake=make_spans(model),
        kinematics=make_kinematics(model),
        composite=np.zeros((bodies, 10)),
        wrench=np.zeros((bodies, 6)),
        motion=np.zeros((bodies, 6)),
        mass=make_mass_matrix(model),
        factor=make_mass_matrix(model),
        fast=np.zeros(coordinates, dtype=np.bool_),
        has_fast=np.zeros(1, dtype=np.bool_),
        iterates=np.zeros(coordinates, dtype=np.bool_),
        has_precession=np.zeros(1, dtype=np.bool_),
        turn=np.zeros(1),
        turning_body=np.zeros(1, dtype=np.int64),
        touched=np.zeros(bodies, dtype=np.bool_),
        unsettled=np.full(1, -1, dtype=np.int64),
        **{name: np.zeros(coordinates) for name in vectors + rates},
        q_middle=np.zeros(len(model.q_initial)),
        discrete=make_discrete_motion(model, _MOST_ROUNDS),
    )


def make_state(model: MultibodyModel) -> State:
    """A state at rest."""
    return State(np.zeros(len(model.rate_damping)))


@kernel
def apply_forces(context: Context):
    """Mass matrix; gravity and velocity products as the force."""
    model, state, work = context.system.multibody, context.state, context.workspace.multibody
    step = context.system.settings.step
    work.has_fast[0] = False
    for k in range(work.awake.number[0]):
        span = span_at(work.awake, k)
        mass_matrix_of(model, span, work.kinematics, work.composite, work.mass)
        bias_forces(model, span, work.kinematics, work.still, work.wrench, work.motion, work.bias)
        if measure_turning(model, span, work.kinematics, step, work.fast, work.turn, work.turning_body):
            work.has_fast[0] = True
        for d in range(span.rate, span.rate_end):
            work.force[d] = -work.bias[d]
            work.velocity_start[d] = state.v[d]
    work.touched[:] = False


@kernel
def assemble(context: Context):
    """Starts the mass matrix and the force, to which other rooms add."""
    work = context.workspace.multibody
    for k in range(work.awake.number[0]):
        span = span_at(work.awake, k)
        copy_mass_matrix(context.system.multibody, span, work.mass, work.factor)
        for d in range(span.rate, span.rate_end):
            work.u[d] = work.force[d]


@kernel
def factorise(context: Context):
    """Factorises the mass matrix, and finds the whitened velocity from the forces alone."""
    model, work, step = context.system.multibody, context.workspace.multibody, context.system.settings.step
    u = work.u
    for k in range(work.awake.number[0]):
        span = span_at(work.awake, k)
        singular = factorise_of(model, span, work.kinematics, work.factor)
        if singular >= 0:
            # the stiffness exceeds the precision of the masses: the finite check names the joint
            u[singular] = math.nan
        multiply_of(model, span, work.factor, context.state.v, work.u_start)
        solve_transposed_of(model, span, work.factor, u)
        for d in range(span.rate, span.rate_end):
            u[d] = work.u_before[d] = work.u_start[d] + step * u[d]
    work.unsettled[0] = -1
    if work.has_fast[0]:
        work.unsettled[0] = refine_bias_forces(model, step, work)
        for d in range(u.shape[0]):
            work.u_before[d] = u[d]


@kernel
def account(context: Context):
    """The mean rates, along which other rooms find their work."""
    work = context.workspace.multibody
    for k in range(work.awake.number[0]):
        span = span_at(work.awake, k)
        for d in range(span.rate, span.rate_end):
            work.velocity_mean[d] = 0.5 * (work.velocity_start[d] + work.velocity[d])


@kernel
def correct(context: Context):
    """Sets the displacement to zero, to which other rooms add, and finds the precession of lone bodies."""
    model, work, step = context.system.multibody, context.workspace.multibody, context.system.settings.step
    work.has_precession[0] = False
    for k in range(work.awake.number[0]):
        span = span_at(work.awake, k)
        for d in range(span.rate, span.rate_end):
            work.displacement[d] = 0.0
        if has_lone_bodies(work.awake) and measure_precession(model, span, work.velocity, step, work.precession):
            work.has_precession[0] = True


@kernel
def integrate(context: Context):
    """The new velocities, and the positions after the displacement."""
    model, state, work = context.system.multibody, context.state, context.workspace.multibody
    step = context.system.settings.step
    for k in range(work.awake.number[0]):
        span = span_at(work.awake, k)
        for d in range(span.rate, span.rate_end):
            state.v[d] = work.velocity[d]
            state.multibody.rate_change[d] = work.velocity[d] - work.velocity_start[d]
        integrate_positions_of(model, span, state.q, work.displacement, step)
        if has_lone_bodies(work.awake):
            for i in range(span.body, span.body_end):
                if model.body_alone[i]:
                    for c in range(model.column_start[i], model.column_start[i + np.uintp(1)]):
                        state.multibody.rate_change[model.column_rate[c]] = 0.0
            carry_momentum(model, span, work.kinematics, work.displacement, step, state.q, state.v)
        keep_centre_of_mass(model, span, work, step, state.q, state.v)
