"""A position servo drive as a linear system: converter with compensator, DC motor, gear, load, and what it feeds back.

After Mikhailova (2004). The error e = commanded - actual angle + K_om c_m I goes through the compensator
K_y ((T s + 1) / (T_1 s + 1))^2, which gives the motor's voltage U, within its limits. With the angle phi of the load,

    T_a R I' = U - R I - c_e i phi',        J phi'' = i c_m I - k_v phi' - c_sh phi - (dry friction),

J = i^2 J_d + J_r.
"""

import math
from dataclasses import dataclass, fields

import numpy as np

from grouser.physics.base.errors import ParameterError
from grouser.physics.drives.compensator import compensator_rows

# Variables of the system, and its inputs.
FIRST_STAGE, SECOND_STAGE, CURRENT, ANGLE, SPEED, VOLTAGE = range(6)
VARIABLES = 6


@dataclass(frozen=True)
class ServoLoop:
    """A position servo drive with its load.

    Attributes:
        gain: K_y, volts per radian of error [V/rad].
        compensator_lead, compensator_lag: T and T_1 [s].
        torque_feedback: K_om, angle of error per torque of the motor [rad/(N m)].
        voltage_limit: greatest voltage either way [V].
        resistance: R of the armature [ohm].
        armature_time_constant: T_a, inductance over resistance [s].
        torque_constant, back_emf_constant: c_m [N m/A] and c_e [V s/rad].
        motor_inertia: J_d of the rotor [kg m2].
        gear_ratio: i, turns of the motor for one of the load [-].
        load_inertia: J_r [kg m2].
        viscous_friction: k_v of the load [N m s/rad].
        hinge_stiffness: c_sh of the load [N m/rad].
    """

    gain: float
    compensator_lead: float
    compensator_lag: float
    torque_feedback: float
    resistance: float
    armature_time_constant: float
    torque_constant: float
    back_emf_constant: float
    motor_inertia: float
    gear_ratio: float
    load_inertia: float
    viscous_friction: float = 0.0
    hinge_stiffness: float = 0.0
    voltage_limit: float = math.inf

    def __post_init__(self):
        positive = {"compensator_lag", "resistance", "armature_time_constant", "torque_constant", "gear_ratio"}
        for item in fields(self):
            value = getattr(self, item.name)
            above = item.name in positive | {"load_inertia", "voltage_limit"}
            finite = math.isfinite(value) or (item.name == "voltage_limit" and value > 0.0)
            if not finite or (value <= 0.0 if above else value < 0.0 and item.name != "torque_feedback"):
                raise ParameterError(item.name, value, "above 0" if above else "0 or more")

    @property
    def inertia(self) -> float:
        """Of motor and load, at the load [kg m2]."""
        return self.gear_ratio**2 * self.motor_inertia + self.load_inertia

    def matrices(self, closed: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """E, A and b of E y' = A y + b (commanded angle), without limits and dry friction.

        Args:
            closed: whether the angle is fed back.
        """
        # by the variables, and by the commanded angle
        error = np.zeros(VARIABLES + 1)
        error[ANGLE], error[CURRENT] = -1.0 if closed else 0.0, self.torque_feedback * self.torque_constant
        error[-1] = 1.0
        rows = np.zeros((VARIABLES, VARIABLES + 1))
        rows[FIRST_STAGE], rows[SECOND_STAGE], output = compensator_rows(
            self.compensator_lead, self.compensator_lag, error, FIRST_STAGE, SECOND_STAGE
        )
        rows[VOLTAGE] = self.gain * output
        rows[VOLTAGE, VOLTAGE] = -1.0
        mass, matrix, entered = np.zeros(VARIABLES), rows[:, :-1], rows[:, -1]
        mass[[FIRST_STAGE, SECOND_STAGE]] = self.compensator_lag
        mass[CURRENT] = self.armature_time_constant * self.resistance
        matrix[CURRENT, [VOLTAGE, CURRENT, SPEED]] = 1.0, -self.resistance, -self.back_emf_constant * self.gear_ratio
        mass[ANGLE], matrix[ANGLE, SPEED] = 1.0, 1.0
        mass[SPEED] = self.inertia
        torque = self.gear_ratio * self.torque_constant
        matrix[SPEED, [CURRENT, SPEED, ANGLE]] = torque, -self.viscous_friction, -self.hinge_stiffness
        return mass, matrix, entered

    def poles(self, closed: bool = True) -> np.ndarray:
        """Poles of the loop [1/s], slowest first."""
        mass, matrix, _ = self.matrices(closed)
        # the voltage, which has no inertia, by the others
        moved, voltage = np.flatnonzero(mass), matrix[VOLTAGE] / -matrix[VOLTAGE, VOLTAGE]
        rates = matrix[np.ix_(moved, moved)] + np.outer(matrix[moved, VOLTAGE], voltage[moved])
        poles = np.linalg.eigvals(rates / mass[moved, np.newaxis])
        return poles[np.argsort(np.abs(poles))]

    def steady_angle(self, commanded: float) -> float | None:
        """Angle at which the drive comes to rest under a commanded one; None where the closed loop is unstable [rad].

        Where that takes more than the greatest voltage, the hinge moment and the motor at that voltage are in balance.
        """
        if self.poles().real.max() >= 0.0:
            return None
        _, matrix, entered = self.matrices()
        rest = np.linalg.solve(matrix, -entered * commanded)
        return float(rest[ANGLE] / max(abs(rest[VOLTAGE]) / self.voltage_limit, 1.0))
