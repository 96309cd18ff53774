"""Variational integrator on the sphere (Lee, Leok and McClamroch, 2009): a mass on a rigid rod of no mass.

With the unit vector q from the pivot to the mass, the rod's angular velocity w across it, and its acceleration
a(q) = q x g / l, both in world axes,

    s = h (w + h/2 a(q)),    q' = s x q + sqrt(1 - s.s) q,    w' = w + h/2 (a(q) + a(q')).

|s| is the sine of the angle by which the rod turns. What begins in a vertical plane stays there, and the scheme is then
the one on the circle: a planar pendulum.
"""

import math
from dataclasses import dataclass

import numpy as np

from grouser.physics.base.checks import as_float
from grouser.physics.base.errors import ConvergenceError, ParameterError
from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.spatial import cross
from grouser.studies.attitude.body import Vector
from grouser.studies.attitude.checks import check_steps, three

# Share of a velocity that may be along the rod.
_ALONG = 1e-9


@dataclass(frozen=True, eq=False)
class PendulumMotion:
    """The motion of a mass on a rod, at the start and at an interval of steps; largest values are those of *all* steps.

    Attributes:
        time: (n,) [s].
        position, velocity: of the mass, from the pivot, world axes with z up, (n, 3) [m], [m/s].
        energy: of a unit of mass, zero at the height of the pivot, (n,) [J/kg].
        vertical_momentum: angular, of a unit of mass, (n,) [m2/s].
        max_energy_error, max_vertical_momentum_error: largest difference from the start.
        max_constraint_error: largest distance of q from unit length.
    """

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    energy: np.ndarray
    vertical_momentum: np.ndarray
    max_energy_error: float
    max_vertical_momentum_error: float
    max_constraint_error: float


def simulate_pendulum(
    position: Vector, velocity: Vector, step: float, steps: int, gravity: float = 9.81, every: int = 1
) -> PendulumMotion:
    """Simulates a mass on a rod.

    Args:
        position: from the pivot, world axes with z up, (3,); its length is the rod's [m].
        velocity: across the rod, (3,) [m/s].
        step: [s].
        steps: their number.
        gravity: downward [m/s2].
        every: number of steps between two points of the result.

    Raises:
        ParameterError: bad input, by name.
        ConvergenceError: a step turns the rod by more than a right angle, and has no solution.
    """
    position, velocity = three("position", position), three("velocity", velocity)
    length, speed = float(np.linalg.norm(position)), float(np.linalg.norm(velocity))
    if not 0.0 < length < math.inf:
        raise ParameterError("position", position.tolist(), "away from the pivot")
    if abs(velocity @ position) > _ALONG * length * speed:
        raise ParameterError("velocity", velocity.tolist(), "at right angles to the position")
    if not math.isfinite(as_float(gravity)):
        raise ParameterError("gravity", gravity, "a finite number")
    check_steps(step, steps, every)
    direction = position / length
    rate = np.cross(direction, velocity / length)
    points = steps // every + 1
    kept, largest = np.zeros((points, 8)), np.zeros(3)
    done, sine = _run(direction, rate, length, gravity, step, steps, every, kept, largest)
    if done < steps:
        raise ConvergenceError(
            done * step,
            step,
            f"the sine of the angle that the rod turns by would be {sine:.3g}: try a step of {0.5 * step / sine:.2g} s",
        )
    time = step * (every * np.arange(points))
    return PendulumMotion(time, kept[:, :3], kept[:, 3:6], kept[:, 6], kept[:, 7], *largest.tolist())


@kernel
def _run(q, w, length, gravity, step, steps, every, kept, largest):
    """Makes the steps of q and w; returns the number of successful steps, and the sine of the last one's angle."""
    energy, momentum = _invariants(q, w, length, gravity)
    _keep(q, w, length, energy, momentum, kept[0])
    # q x g / l is this, times (-q1, q0, 0)
    share = gravity / length
    for k in range(steps):
        w[0] -= 0.5 * step * share * q[1]
        w[1] += 0.5 * step * share * q[0]
        sx, sy, sz = step * w[0], step * w[1], step * w[2]
        square = sx * sx + sy * sy + sz * sz
        if not square < 1.0:
            return k, math.sqrt(square)
        cosine = math.sqrt(1.0 - square)
        cx, cy, cz = cross(sx, sy, sz, q[0], q[1], q[2])
        x, y, z = cx + cosine * q[0], cy + cosine * q[1], cz + cosine * q[2]
        # against the drift by rounding
        inverse = 1.0 / math.sqrt(x * x + y * y + z * z)
        q[0], q[1], q[2] = inverse * x, inverse * y, inverse * z
        w[0] -= 0.5 * step * share * q[1]
        w[1] += 0.5 * step * share * q[0]
        new_energy, new_momentum = _invariants(q, w, length, gravity)
        largest[0] = max(largest[0], abs(new_energy - energy))
        largest[1] = max(largest[1], abs(new_momentum - momentum))
        largest[2] = max(largest[2], abs(math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]) - 1.0))
        if (k + 1) % every == 0:
            _keep(q, w, length, new_energy, new_momentum, kept[(k + 1) // every])
    return steps, 0.0


@inlined
def _invariants(q, w, length, gravity):
    """Energy and vertical angular momentum of a unit of mass."""
    x, y, z = cross(w[0], w[1], w[2], q[0], q[1], q[2])
    square = length * length
    return 0.5 * square * (x * x + y * y + z * z) + gravity * length * q[2], square * (q[0] * y - q[1] * x)


@inlined
def _keep(q, w, length, energy, momentum, kept):
    x, y, z = cross(w[0], w[1], w[2], q[0], q[1], q[2])
    kept[0], kept[1], kept[2] = length * q[0], length * q[1], length * q[2]
    kept[3], kept[4], kept[5] = length * x, length * y, length * z
    kept[6], kept[7] = energy, momentum
