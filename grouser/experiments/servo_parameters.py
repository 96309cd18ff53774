"""Parameters of a servo drive that experiments have in common (Mikhailova, 2004)."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.protocol import Parameter, positive
from grouser.studies.friction.system import DryFriction, FrictionSystem, VariableLimit
from grouser.studies.servo.servo_loop import SPEED, VARIABLES, VOLTAGE, ServoLoop


def _at_least_zero(default: float, unit: str, description: str) -> Parameter:
    return Parameter(default, unit, description, minimum=0.0)


SERVO = {
    "back_emf_constant": _at_least_zero(1.29, "V s/rad", "c_e of the motor"),
    "torque_constant": positive(1.3, "N m/A", "c_m of the motor"),
    "resistance": positive(4.5, "ohm", "R of the armature"),
    "armature_time_constant": positive(0.025, "s", "T_a, inductance over resistance"),
    "motor_inertia": _at_least_zero(0.00239, "kg m2", "J_d of the rotor"),
    "gear_ratio": positive(6.0, "-", "turns of the motor for one of the load"),
    "load_inertia": positive(0.032, "kg m2", "J_r"),
    "hinge_stiffness": _at_least_zero(800.0, "N m/rad", "c_sh of the hinge moment"),
    "viscous_friction": _at_least_zero(0.9, "N m s/rad", "k_v of the load"),
    "compensator_lead": _at_least_zero(0.005, "s", "T of the compensator"),
    "compensator_lag": positive(0.0002, "s", "T_1 of the compensator"),
    "gain": positive(1.11e5, "V/rad", "K_y, voltage per error"),
    "torque_feedback": Parameter(6.25e-6, "rad/(N m)", "K_om, error per torque of the motor"),
}
VOLTAGE_LIMIT = {"voltage_limit": positive(220.0, "V", "of the converter, either way")}


def read_loop(parameters: Mapping[str, Any]) -> ServoLoop:
    """The servo that an experiment's parameters describe."""
    names = [*SERVO, *(name for name in VOLTAGE_LIMIT if name in parameters)]
    return ServoLoop(**{name: parameters[name] for name in names})


def servo_system(loop: ServoLoop, kinetic: float = 0.0, static: float = 0.0, typical: float = 1.0) -> FrictionSystem:
    """A servo drive whose voltage is limited, and whose load has dry friction; its input is the commanded angle.

    Args:
        loop: the drive.
        kinetic, static: friction of the load [N m].
        typical: speed of the load [rad/s].
    """
    mass, matrix, entered = loop.matrices()
    load = np.eye(VARIABLES)[SPEED]
    frictions = [DryFriction(load, static, kinetic, rest_speed=1e-10 * typical, name="load")] if static > 0.0 else []
    limit = loop.voltage_limit
    limits = [VariableLimit(VOLTAGE, -limit, limit, name="voltage")] if math.isfinite(limit) else []
    return FrictionSystem(matrix, entered[:, np.newaxis], mass, frictions, limits)
