"""Motion of a rigid body by any of the methods, and the errors of its invariants."""

import math
import warnings
from dataclasses import dataclass, field

import numpy as np

from grouser.physics.base.checks import require_type
from grouser.physics.base.errors import ConvergenceError, DivergenceError, ParameterError
from grouser.physics.base.kernel import embedded, kernel
from grouser.physics.base.spatial import matrix, quaternion_from_matrix
from grouser.studies.attitude.body import BodyNumbers, BodyState, RigidBody, Vector, angular_acceleration, invariants
from grouser.studies.attitude.checks import check_steps, finite, three
from grouser.studies.attitude.euler_angles import euler_angles_step
from grouser.studies.attitude.lie_group import lie_group_step
from grouser.studies.attitude.quaternion import quaternion_step
from grouser.studies.attitude.runge_kutta import runge_kutta_step, uncoupled_runge_kutta_step

METHODS = ("lie_group_variational", "quaternion_variational", "rk4", "rk4_uncoupled", "euler_angles")
_LIE_GROUP, _QUATERNION, _RUNGE_KUTTA, _UNCOUPLED, _EULER_ANGLES = range(5)
# Tolerance of a given rotation matrix.
_ROTATION = 1e-9


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """The motion of a body, at the start and at an interval of steps; largest values are those of *all* steps.

    Attributes:
        time: (n,) [s].
        rotation: R, from body to world axes, (n, 3, 3).
        angular_velocity: body axes, (n, 3) [rad/s].
        position, velocity: of the centre of mass, from the pivot or as a free body's start has it, world axes,
            (n, 3) [m], [m/s].
        energy: kinetic and potential, (n,) [J].
        vertical_momentum: angular, about the direction of gravity (z without gravity) through the pivot or the centre
            of mass, (n,) [N m s].
        max_energy_error, max_vertical_momentum_error: largest difference from the start.
        max_constraint_error: largest distance of R from a rotation, |R^T R - 1| (Frobenius).
        singular_time: when Euler angles first went through their singularity [s]; None: never.
    """

    time: np.ndarray
    rotation: np.ndarray
    angular_velocity: np.ndarray
    position: np.ndarray = field(repr=False)
    velocity: np.ndarray = field(repr=False)
    energy: np.ndarray
    vertical_momentum: np.ndarray
    max_energy_error: float
    max_vertical_momentum_error: float
    max_constraint_error: float
    singular_time: float | None


def simulate_body(
    body: RigidBody,
    rotation: np.ndarray,
    angular_velocity: Vector,
    step: float,
    steps: int,
    method: str = "lie_group_variational",
    every: int = 1,
    torque: Vector | np.ndarray = (0.0, 0.0, 0.0),
    position: Vector = (0.0, 0.0, 0.0),
    velocity: Vector = (0.0, 0.0, 0.0),
) -> BodyMotion:
    """Simulates a body.

    Args:
        body: to simulate.
        rotation: R at the start, from body to world axes, (3, 3).
        angular_velocity: at the start, body axes, (3,) [rad/s].
        step: [s].
        steps: their number.
        method: one of METHODS.
        every: number of steps between two points of the result.
        torque: body axes, (3,), or one for each step, (steps, 3) [N m].
        position, velocity: of a free body's centre of mass at the start, world axes, (3,) [m], [m/s].

    Raises:
        ParameterError: bad input, by name.
        ConvergenceError: a variational method's step turns the body too far to have a solution.
        DivergenceError: the motion left the finite numbers.

    Warns:
        RuntimeWarning: Euler angles went through their singularity.
    """
    require_type("body", body, RigidBody, "a RigidBody")
    rotation, quaternion = _read_rotation(rotation)
    rate = three("angular_velocity", angular_velocity)
    position, velocity = three("position", position), three("velocity", velocity)
    check_steps(step, steps, every)
    if not isinstance(method, str) or method not in METHODS:
        raise ParameterError("method", method, "one of " + ", ".join(METHODS))
    if not body.free and (position.any() or velocity.any()):
        name, value = ("position", position) if position.any() else ("velocity", velocity)
        raise ParameterError(name, value.tolist(), "zero where the body's pivot is held")
    torques = np.atleast_2d(finite("torque", torque))
    if torques.shape not in ((1, 3), (steps, 3)):
        raise ParameterError("torque", torques.shape, f"(3,) or ({steps}, 3), one for each step")
    state = BodyState.of(np.asarray(body.inertia), rotation, quaternion, rate)
    if method == "euler_angles" and not math.sin(state.angles[1]) > _ROTATION:
        valid = "with its z axis off the vertical: Euler angles are singular there"
        raise ParameterError("rotation", rotation.tolist(), valid)
    numbers, points = body.numbers(), steps // every + 1
    rotations, rates = np.zeros((points, 3, 3)), np.zeros((points, 3))
    kept, largest = np.zeros((points, 2)), np.zeros(3)
    done, rounds, change, singular = _run(
        numbers, state, METHODS.index(method), step, steps, every, torques, rotations, rates, kept, largest
    )
    if done < steps:
        _report(numbers, state, torques[min(done, len(torques) - 1)], step, done, rounds, change)
    singular_time = None if singular < 0 else step * (singular + 1)
    if singular_time is not None:
        warnings.warn(
            f"the Euler angles went through their singularity at t = {singular_time:g} s: what follows is wrong; "
            "take another method",
            RuntimeWarning,
            stacklevel=2,
        )
    time, energy = step * (every * np.arange(points)), kept[:, 0].copy()
    if body.free:
        # of all methods here, in uniform gravity
        gravity, column = np.asarray(body.gravity), time[:, np.newaxis]
        places = position + velocity * column + 0.5 * gravity * column**2
        velocities = velocity + gravity * column
        energy += body.mass * (0.5 * (velocities**2).sum(axis=1) - places @ gravity)
    else:
        places = rotations @ body.offset
        velocities = np.einsum("kij,kj->ki", rotations, np.cross(rates, body.offset))
    return BodyMotion(
        *(time, rotations, rates, places, velocities, energy, kept[:, 1]),
        *(float(largest[0]), float(largest[1]), float(largest[2]), singular_time),
    )


@kernel
def _run(body, state, method, step, steps, every, torques, rotations, rates, kept, largest):
    """Makes the steps of a body, and computes its invariants after each.

    Args:
        body, state: see there.
        method: place in METHODS.
        step, steps, every, torques: as of `simulate_body`.
        rotations, rates: results.
        kept: energy and vertical momentum.
        largest: errors of these two and of the rotation.

    Returns:
        Number of successful steps. Of a failed step its iterations and last change, or the quantity that is not
        finite. The step in which Euler angles became singular, or less than zero.
    """
    energy, momentum, largest[2] = invariants(body, state.rotation, state.rate)
    _keep(state, energy, momentum, rotations[0], rates[0], kept[0])
    singular = -1
    for k in range(steps):
        torque = torques[min(k, torques.shape[0] - 1)]
        rounds, change = 1, 0.0
        if method == _LIE_GROUP:
            rounds, change = lie_group_step(body, state, step, torque[0], torque[1], torque[2])
        elif method == _QUATERNION:
            rounds, change = quaternion_step(body, state, step, torque[0], torque[1], torque[2])
        elif method == _RUNGE_KUTTA:
            runge_kutta_step(body, state, step, torque[0], torque[1], torque[2])
        elif method == _UNCOUPLED:
            uncoupled_runge_kutta_step(body, state, step, torque[0], torque[1], torque[2])
        elif euler_angles_step(body, state, step, torque[0], torque[1], torque[2]) and singular < 0:
            singular = k
        if rounds < 0:
            return k, rounds, change, singular
        new_energy, new_momentum, distance = invariants(body, state.rotation, state.rate)
        # not isfinite, which subtracts a value from itself: of sums, which may be reassociated, that is taken for zero
        if not (abs(new_energy) < math.inf and distance < math.inf):
            return k, rounds, max(abs(new_energy), distance), singular
        largest[0] = max(largest[0], abs(new_energy - energy))
        largest[1] = max(largest[1], abs(new_momentum - momentum))
        largest[2] = max(largest[2], distance)
        if (k + 1) % every == 0:
            i = (k + 1) // every
            _keep(state, new_energy, new_momentum, rotations[i], rates[i], kept[i])
    return steps, 0, 0.0, singular


@embedded
def _keep(state, energy, momentum, rotation, rate, kept):
    for i in range(3):
        rate[i] = state.rate[i]
        for j in range(3):
            rotation[i, j] = state.rotation[i, j]
    kept[0], kept[1] = energy, momentum


def _read_rotation(rotation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The given rotation matrix, normalised to round-off, and its quaternion."""
    given = finite("rotation", rotation)
    if given.shape != (3, 3):
        raise ParameterError("rotation", given.tolist(), "a matrix of 3 x 3")
    distance = np.linalg.norm(given.T @ given - np.eye(3))
    if distance > _ROTATION:
        raise ParameterError("rotation", given.tolist(), f"a rotation matrix; R^T R is off by {distance:.3g}")
    if np.linalg.det(given) < 0.0:
        raise ParameterError("rotation", given.tolist(), "a rotation; it is a reflection, of determinant -1")
    quaternion = np.array(quaternion_from_matrix(given))
    return matrix(quaternion), quaternion


def _report(
    body: BodyNumbers, state: BodyState, torque: np.ndarray, step: float, done: int, rounds: int, value: float
) -> None:
    """Raises the error that ended a motion, with the state before the failed step."""
    if rounds > 0:
        raise DivergenceError((done + 1) * step, "the body's motion", value)
    # by half of what weight and torque do in the step, as the momentum
    pushed = angular_acceleration(body, state.rotation, 0.0, 0.0, 0.0, *torque)
    turning = float(np.linalg.norm(state.rate + 0.5 * step * np.array(pushed))) * step
    raise ConvergenceError(
        done * step,
        step,
        f"{-rounds} rounds of Newton's method found no turn. The angular velocity in the step, times its length, is "
        f"{turning:.3g} rad; from about 1 rad on, where the body would turn by a right angle, the equation of a "
        f"variational step has no solution: try a step of {0.5 * step / turning:.2g} s",
    )
