"""The table of the element ``<servo_drive>``, its motors and its gear."""

from grouser.physics.description.data.drives import DcMotor, Gear, PermanentMagnetMotor, ServoDrive
from grouser.physics.description.table.attributes import (
    Attribute,
    ElementKind,
    Kind,
    choice,
    joint,
    non_negative,
    positive,
)

_ERROR = "V/rad, V s/rad or V/(N m)"

_DC_MOTOR = ElementKind(
    "dc_motor",
    "A DC motor at a converter. Its voltage follows the error of what is commanded through a compensator, "
    "gain ((T s + 1) / (T_1 s + 1))^2.",
    (
        positive("gain", _ERROR, "voltage per error of position, speed or effort (of a slide per m, m/s or N)"),
        positive("resistance", "ohm", "of the armature"),
        positive("armature_time_constant", "s", "inductance over resistance"),
        positive("torque_constant", "N m/A", "torque per current"),
        non_negative("back_emf_constant", "V s/rad", "voltage per speed"),
        non_negative("rotor_inertia", "kg m2", "of the rotor"),
        positive("voltage_limit", "V", "of the converter, either way"),
        non_negative("compensator_lead", "s", "T; with the lag's value there is no compensator", default=1e-3),
        positive("compensator_lag", "s", "T_1", default=1e-3),
        Attribute(
            "torque_feedback",
            Kind.NUMBER,
            "rad/(N m), rad/(s N m) or -",
            "error per torque of the motor, which it adds to: it stiffens the drive",
            default=0.0,
        ),
    ),
    DcMotor,
    optional=True,
)
_PERMANENT_MAGNET_MOTOR = ElementKind(
    "permanent_magnet_motor",
    "A servo motor whose torque follows the controller's, within what its speed and its temperature allow.",
    (
        positive("peak_torque", "N m", "up to base_speed"),
        positive("base_speed", "rad/s", "of the motor; beyond it the torque falls in a line"),
        positive("no_load_speed", "rad/s", "at which there is none left"),
        positive("rated_torque", "N m", "that it can give for ever; at most the peak"),
        positive("thermal_time_constant", "s", "of the winding"),
        non_negative("rotor_inertia", "kg m2", "of the rotor", default=0.0),
    ),
    PermanentMagnetMotor,
    optional=True,
)
_GEAR = ElementKind(
    "gear",
    "The gear between motor and joint.",
    (
        positive("ratio", "- or rad/m", "turns of the motor for one of the joint, or its angle per way of a slide"),
        Attribute(
            "efficiency",
            Kind.NUMBER,
            "-",
            "share of the power that arrives, either way",
            default=1.0,
            minimum=0.0,
            maximum=1.0,
            above_minimum=True,
        ),
        positive("stiffness", "N m/rad or N/m", "of its elasticity, at the joint", default_text="rigid"),
        non_negative("damping", "N m s/rad or N s/m", "beside it", default=0.0),
        non_negative("backlash", "rad or m", "full width, at the joint; needs a stiffness", default=0.0),
    ),
    Gear,
    optional=True,
)
SERVO_DRIVE = ElementKind(
    "servo_drive",
    "An electric drive of a joint: a limited spring and damper, with a motor's limits if it has one, or a converter "
    "with a DC motor. Its commands bear the joint's name.",
    (
        joint("revolute, continuous or prismatic joint that mimics no other"),
        choice("mode", "what a command means", ("position", "velocity", "effort")),
        non_negative("stiffness", "N m/rad or N/m", "in position mode, where it is needed", default=0.0),
        non_negative(
            "damping", "N m s/rad or N s/m", "in position and velocity mode; the latter needs it", default=0.0
        ),
        non_negative(
            "integral",
            "N m/(rad s), N/(m s); of speed N m/rad, N/m",
            "of the error over time; it rests while the drive is at its limit",
            default=0.0,
        ),
        positive("effort_limit", "N m or N", "largest effort", default_text="the joint's effort limit"),
    ),
    ServoDrive,
    field="drives",
    unique="joint",
    parts=(_DC_MOTOR, _PERMANENT_MAGNET_MOTOR, _GEAR),
)
