"""The control laws by name, and the controller of a body whose attitude is measured."""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.studies.attitude import axis_control, energy_shaping, rodrigues, sliding_mode
from grouser.studies.attitude.pivoted_body import PivotedBody, Triple, gravity_direction

ENERGY, SLIDING_MODE, PD = 0, 1, 2
LAWS = {"energy": ENERGY, "sliding_mode": SLIDING_MODE, "pd": PD}
# Modified Rodrigues parameters: the body's z axis is up, or down along gravity.
TARGETS: dict[str, Triple] = {"inverted": (1.0, 0.0, 0.0), "hanging": (0.0, 0.0, 0.0)}


class Gains(NamedTuple):
    """Gains of all laws; the modules of the laws define them.

    Attributes:
        energy: of the energy law [-].
        attitude: of the energy law [J], of the PD law [N m].
        damping: of the energy law [J s], of the PD law [N m s].
        gravity_compensation: whether the energy and the PD law compensate gravity; the sliding mode always does.
        sliding_rate, reaching_rate: of the sliding mode [1/s].
        reaching: of the sliding mode [rad/s2].
        layer: of the sliding mode [rad/s].
    """

    energy: float = 0.2
    attitude: float = 10.0
    damping: float = 1.5
    gravity_compensation: bool = False
    sliding_rate: float = 1.0
    reaching_rate: float = 1.0
    reaching: float = 0.2
    layer: float = 1e-3


@kernel
def control_torque(law, body, gains, sigma, sigma_target, omega):
    """The torque of a law in the body's frame [N m].

    Args:
        law: of `LAWS`.
        body: a `PivotedBody`.
        gains: `Gains`.
        sigma, sigma_target: attitude and target, modified Rodrigues parameters.
        omega: angular velocity in the body's frame [rad/s].
    """
    gamma = gravity_direction(sigma)
    if law == ENERGY:
        return energy_shaping.control_torque(body, gains, sigma, sigma_target, gamma, omega)
    if law == SLIDING_MODE:
        return sliding_mode.control_torque(body, gains, gamma, gravity_direction(sigma_target), omega)
    return axis_control.control_torque(body, gains, sigma, sigma_target, gamma, omega)


@kernel
def lyapunov(law, body, gains, sigma, sigma_target, omega):
    """Lyapunov function of a law [J, of the sliding mode rad2/s2]; arguments as of `control_torque`."""
    gamma, gamma_target = gravity_direction(sigma), gravity_direction(sigma_target)
    if law == ENERGY:
        return energy_shaping.lyapunov(body, gains, sigma, sigma_target, gamma, gamma_target, omega)
    if law == SLIDING_MODE:
        return sliding_mode.lyapunov(gains, gamma, gamma_target, omega)
    return axis_control.lyapunov(body, gains, sigma, sigma_target, gamma, gamma_target, omega)


class AttitudeController:
    """A control law for a sequence of measured attitudes.

    The energy law needs the set of parameters that is continuous in time. It begins with the set nearer to the
    target, and continues with the set nearer to the last one; `reset` restarts it.

    Args:
        law: of `LAWS`.
        target: of `TARGETS`.
        body: what is controlled.
        gains: of the law.
    """

    def __init__(self, law: str, target: str, body: PivotedBody, gains: Gains) -> None:
        self._law = LAWS[law]
        self._target = TARGETS[target]
        self._body = body
        self._gains = gains
        self.reset()

    def reset(self) -> None:
        """Clears the last attitude."""
        self._sigma = self._target

    def torque(self, attitude: np.ndarray, omega: np.ndarray) -> np.ndarray:
        """The torque now, in the body's frame [N m], shape (3,).

        Args:
            attitude: quaternion x y z w of the body in a frame with its z axis *up*, as ROS has it, shape (4,).
            omega: angular velocity in the body's frame [rad/s], shape (3,).
        """
        x, y, z, w = (float(element) for element in attitude)
        # The same in a frame with z down: multiplied from the left by half a turn about x, (1, 0, 0, 0).
        measured = rodrigues.from_quaternion((w, -z, y, -x))
        self._sigma = rodrigues.nearest_set(measured, self._sigma)
        rates = (float(omega[0]), float(omega[1]), float(omega[2]))
        return np.array(control_torque(self._law, self._body, self._gains, self._sigma, self._target, rates))
