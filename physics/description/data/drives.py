"""Electric drives of joints, their motors and gears. SI units."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class DcMotor:
    """A DC motor with converter, in a compensated control loop of the joint's position, speed or effort.

    Its voltage is gain ((T s + 1) / (T_1 s + 1))^2 times the error, commanded minus actual value plus torque_feedback
    times the motor's torque, within the voltage limit (Mikhailova, 2004).

    Attributes:
        gain: [V/rad, V s/rad or V/(N m)], by what is commanded.
        resistance: of the armature [ohm].
        armature_time_constant: inductance over resistance [s].
        torque_constant: [N m/A].
        back_emf_constant: [V s/rad].
        rotor_inertia: [kg m2].
        voltage_limit: [V], either way.
        compensator_lead, compensator_lag: T and T_1 [s].
        torque_feedback: error per torque of the motor.
    """

    gain: float
    resistance: float
    armature_time_constant: float
    torque_constant: float
    back_emf_constant: float
    rotor_inertia: float
    voltage_limit: float
    compensator_lead: float
    compensator_lag: float
    torque_feedback: float


@dataclass(frozen=True)
class PermanentMagnetMotor:
    """A servo motor; its torque follows the controller within limits that depend on speed and winding temperature.

    Attributes:
        peak_torque: up to `base_speed` [N m].
        base_speed: above it the torque falls linearly [rad/s].
        no_load_speed: at which the torque is zero [rad/s].
        rated_torque: continuous torque [N m].
        thermal_time_constant: of the winding's temperature, whose rise is proportional to the squared torque [s].
        rotor_inertia: [kg m2].
    """

    peak_torque: float
    base_speed: float
    no_load_speed: float
    rated_torque: float
    thermal_time_constant: float
    rotor_inertia: float


@dataclass(frozen=True)
class Gear:
    """A gear between motor and joint.

    Attributes:
        ratio: motor speed over joint speed [-, or rad/m on a prismatic joint].
        efficiency: share of the power that is transmitted, in either direction [-].
        stiffness: of its elasticity, at the joint [N m/rad or N/m]; None for a rigid gear.
        damping: parallel to the elasticity [N m s/rad or N s/m].
        backlash: full width, at the joint [rad or m].
    """

    ratio: float
    efficiency: float = 1.0
    stiffness: float | None = None
    damping: float = 0.0
    backlash: float = 0.0


@dataclass(frozen=True)
class ServoDrive:
    """An electric drive of a joint: a limited spring and damper, or a motor with gear and control loop.

    Attributes:
        mode: meaning of a command: position, velocity or effort.
        stiffness: [N m/rad or N/m], position mode.
        damping: [N m s/rad or N s/m], position and velocity mode.
        integral: gain of the integrated error [N m/(rad s) or N/(m s)], of a speed error [N m/rad or N/m]; the
            integral is held while the drive is at its limit.
        effort_limit: [N m or N].
        holding_effort: largest effort of the holding brake [N m or N], velocity mode; 0 without one. It engages at a
            command of 0 once it can do what the drive does, and on emergency stop.
        dc_motor, permanent_magnet_motor: at most one; without a motor the drive has no lag and no torque envelope.
        gear: of the motor.
    """

    joint: str
    mode: str
    stiffness: float
    damping: float
    effort_limit: float
    integral: float = 0.0
    holding_effort: float = 0.0
    dc_motor: DcMotor | None = None
    permanent_magnet_motor: PermanentMagnetMotor | None = None
    gear: Gear | None = None

    @property
    def rotor_inertia(self) -> float:
        """Rotor inertia referred to the joint; 0 without a rigid gear [kg m2 or kg]."""
        motor: Any = self.dc_motor or self.permanent_magnet_motor
        if motor is None or self.gear is None or self.gear.stiffness is not None:
            return 0.0
        return self.gear.ratio**2 * motor.rotor_inertia
