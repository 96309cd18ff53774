"""The rigid body of the attitude integrators, and its arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from grouser.physics.base.checks import as_float
from grouser.physics.base.errors import ParameterError
from grouser.physics.base.kernel import embedded
from grouser.physics.base.spatial import rotated, rotated_back
from grouser.studies.attitude.checks import finite, three

Vector = Sequence[float] | np.ndarray
_Array = Sequence[float] | Sequence[Sequence[float]] | np.ndarray
# Tolerance of the triangle inequality of moments of inertia, as a share of the largest: figures are rounded.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class RigidBody:
    """A rigid body that turns about a pivot, a point that is held; or that flies free.

    Attributes:
        mass: [kg].
        inertia: about the pivot, of a free body about the centre of mass, body axes; three moments about the axes or
            a symmetric matrix, kept as (3, 3) [kg m2].
        offset: centre of mass from the pivot, body axes, (3,) [m].
        gravity: world axes, (3,) [m/s2].
        free: whether no point is held; `offset` is then zero.

    Raises:
        ParameterError: numbers that are not finite, a mass that is not above 0, an impossible inertia, an offset of a
            free body.
    """

    mass: float
    inertia: _Array
    offset: _Array = (0.0, 0.0, 0.0)
    gravity: _Array = (0.0, 0.0, -9.81)
    free: bool = False

    def __post_init__(self) -> None:
        if not 0.0 < as_float(self.mass) < np.inf:
            raise ParameterError("mass", self.mass, "above 0 kg")
        given = finite("inertia", self.inertia)
        inertia = np.diag(given) if given.shape == (3,) else given
        offset, gravity = three("offset", self.offset), three("gravity", self.gravity)
        if self.free and offset.any():
            valid = "zero for a free body, whose inertia is about its centre of mass"
            raise ParameterError("offset", offset.tolist(), valid)
        _check_inertia(given.tolist(), inertia, self.mass * (offset @ offset * np.eye(3) - np.outer(offset, offset)))
        for name, value in (("inertia", inertia), ("offset", offset), ("gravity", gravity)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    def numbers(self) -> "BodyNumbers":
        """Its numbers for kernels."""
        gravity = np.asarray(self.gravity)
        size = float(np.linalg.norm(gravity))
        vertical = gravity / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
        inertia = np.array(self.inertia, dtype=float)
        return BodyNumbers(
            inertia, np.linalg.inv(inertia), np.array(self.offset, dtype=float), self.mass * gravity, vertical
        )


class BodyNumbers(NamedTuple):
    """A body in kernels.

    Attributes:
        inertia, inverse: J and its inverse, (3, 3).
        offset: rho, centre of mass from the pivot, body axes, (3,).
        weight: m g, world axes, (3,).
        vertical: direction of gravity, world axes; z without gravity, (3,).
    """

    inertia: np.ndarray
    inverse: np.ndarray
    offset: np.ndarray
    weight: np.ndarray
    vertical: np.ndarray


class BodyState(NamedTuple):
    """A body's state, in the variables of every method: each moves its own, and sets `rotation` and `rate`.

    Attributes:
        rotation: R, from body to world axes, (3, 3).
        rate: w, angular velocity in body axes, (3,).
        whole: both, one after the other in memory, (12,).
        quaternion: of R, x y z w, (4,).
        momentum: angular, about the pivot, world axes, (3,).
        angles: phi, theta, psi of R = Rz(phi) Rx(theta) Rz(psi), (3,).
        start, start_rotation, start_rate: the former at the start of a step.
        total, slope: buffers, (12,).
    """

    rotation: np.ndarray
    rate: np.ndarray
    whole: np.ndarray
    quaternion: np.ndarray
    momentum: np.ndarray
    angles: np.ndarray
    start: np.ndarray
    start_rotation: np.ndarray
    start_rate: np.ndarray
    total: np.ndarray
    slope: np.ndarray

    @classmethod
    def of(cls, inertia: np.ndarray, rotation: np.ndarray, quaternion: np.ndarray, rate: np.ndarray) -> "BodyState":
        """The state of a body at this attitude, given twice, and rate."""
        whole = np.concatenate([np.ravel(rotation), rate])
        phi, psi = np.arctan2(rotation[0, 2], -rotation[1, 2]), np.arctan2(rotation[2, 0], rotation[2, 1])
        theta = np.arctan2(np.hypot(rotation[0, 2], rotation[1, 2]), rotation[2, 2])
        start = np.zeros(12)
        return cls(
            *(whole[:9].reshape(3, 3), whole[9:], whole),
            *(np.array(quaternion), rotation @ inertia @ rate, np.array([phi, theta, psi])),
            *(start, start[:9].reshape(3, 3), start[9:], np.zeros(12), np.zeros(12)),
        )


@embedded
def angular_acceleration(body, rotation, wx, wy, wz, tx, ty, tz):
    """w' of Euler's equation J w' = J w x w + rho x R^T m g + torque, body axes [rad/s2]."""
    hx, hy, hz = rotated(body.inertia, wx, wy, wz)
    gx, gy, gz = rotated_back(rotation, body.weight[0], body.weight[1], body.weight[2])
    ox, oy, oz = body.offset[0], body.offset[1], body.offset[2]
    return rotated(
        body.inverse,
        hy * wz - hz * wy + oy * gz - oz * gy + tx,
        hz * wx - hx * wz + oz * gx - ox * gz + ty,
        hx * wy - hy * wx + ox * gy - oy * gx + tz,
    )


@embedded
def invariants(body, rotation, rate):
    """Energy [J], angular momentum about the vertical [N m s], and how far R is from a rotation, |R^T R - 1|.

    The norm is Frobenius's.
    """
    hx, hy, hz = rotated(body.inertia, rate[0], rate[1], rate[2])
    lx, ly, lz = rotated(rotation, hx, hy, hz)
    ax, ay, az = rotated(rotation, body.offset[0], body.offset[1], body.offset[2])
    energy = 0.5 * (hx * rate[0] + hy * rate[1] + hz * rate[2])
    energy -= body.weight[0] * ax + body.weight[1] * ay + body.weight[2] * az
    momentum = body.vertical[0] * lx + body.vertical[1] * ly + body.vertical[2] * lz
    total = 0.0
    for i in range(3):
        for j in range(i, 3):
            product = -1.0 if i == j else 0.0
            for k in range(3):
                product += rotation[k, i] * rotation[k, j]
            total += (1.0 if i == j else 2.0) * product * product
    return energy, momentum, np.sqrt(total)


def _check_inertia(given: list, inertia: np.ndarray, of_offset: np.ndarray) -> None:
    if inertia.shape != (3, 3):
        raise ParameterError("inertia", given, "three numbers or a matrix of 3 x 3")
    slack = _ROUNDING * np.abs(inertia).max()
    if np.abs(inertia - inertia.T).max() > slack:
        raise ParameterError("inertia", given, "a symmetric matrix")
    low, middle, high = np.linalg.eigvalsh(inertia)
    if not low > 0.0:
        raise ParameterError("inertia", given, f"moments above 0; the least is {low:.6g} kg m2")
    if high > low + middle + slack:
        valid = f"of a body: none of its principal moments exceeds the other two, {high:.6g} > {low:.6g} + {middle:.6g}"
        raise ParameterError("inertia", given, valid)
    # The test above is not applied to the central moments: published figures (Tian and Ge, 2015) would fail it.
    least = np.linalg.eigvalsh(inertia - of_offset)[0]
    if least < -slack:
        valid = (
            "about the pivot, at least what the mass at its offset has alone, "
            f"{np.round(of_offset, 12).tolist()}: {-least:.6g} kg m2 are missing"
        )
        raise ParameterError("inertia", given, valid)
