"""Servo drives: electric drives of joints, their motors and gears."""

from dataclasses import replace

import numpy as np

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
from grouser.physics.description.table.family import Entry, Family, Scope
from grouser.physics.description.table.requirements import require_independent
from grouser.physics.description.text.xml_tree import Element

_ERROR = "V/rad, V s/rad or V/(N m)"
_DC_MOTOR = ElementKind(
    "dc_motor",
    "A DC motor with converter. A compensator with the transfer function gain ((T s + 1) / (T_1 s + 1))^2 from the "
    "control error gives the voltage.",
    (
        positive(
            "gain", _ERROR, "voltage per error of position, speed or effort (on a prismatic joint per m, m/s or N)"
        ),
        positive("resistance", "ohm", "of the armature"),
        positive("armature_time_constant", "s", "inductance over resistance"),
        positive("torque_constant", "N m/A", "torque per current"),
        non_negative("back_emf_constant", "V s/rad", "voltage per speed"),
        non_negative("rotor_inertia", "kg m2", "of the rotor"),
        positive("voltage_limit", "V", "of the converter, in both directions"),
        non_negative("compensator_lead", "s", "T; equal to compensator_lag: no compensator", default=1e-3),
        positive("compensator_lag", "s", "T_1", default=1e-3),
        Attribute(
            "torque_feedback",
            Kind.NUMBER,
            "rad/(N m), rad/(s N m) or -",
            "is added to the error, per torque of the motor: it stiffens the drive",
            default=0.0,
        ),
    ),
    DcMotor,
    optional=True,
)
_PERMANENT_MAGNET_MOTOR = ElementKind(
    "permanent_magnet_motor",
    "A servo motor whose torque follows the controller, within limits that depend on speed and winding temperature.",
    (
        positive("peak_torque", "N m", "up to base_speed"),
        positive("base_speed", "rad/s", "of the motor; above it the torque falls linearly"),
        positive("no_load_speed", "rad/s", "at which the torque is zero"),
        positive("rated_torque", "N m", "continuous torque; at most the peak torque"),
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
        positive("ratio", "- or rad/m", "motor speed over joint speed"),
        Attribute(
            "efficiency",
            Kind.NUMBER,
            "-",
            "share of the power that is transmitted, in both directions",
            default=1.0,
            minimum=0.0,
            maximum=1.0,
            above_minimum=True,
        ),
        positive("stiffness", "N m/rad or N/m", "of its elasticity, at the joint", default_text="rigid"),
        non_negative("damping", "N m s/rad or N s/m", "parallel to the elasticity", default=0.0),
        non_negative("backlash", "rad or m", "full width, at the joint; requires a stiffness", default=0.0),
    ),
    Gear,
    optional=True,
)
SERVO_DRIVE = ElementKind(
    "servo_drive",
    "An electric drive of a joint: a limited spring and damper, optionally with the limits of a motor, or a converter "
    "with a DC motor. The name of its command is that of the joint.",
    (
        joint("revolute, continuous or prismatic joint that mimics no other"),
        choice("mode", "meaning of a command", ("position", "velocity", "effort")),
        non_negative("stiffness", "N m/rad or N/m", "of position mode, which requires it", default=0.0),
        non_negative(
            "damping", "N m s/rad or N s/m", "of position and velocity mode; the latter requires it", default=0.0
        ),
        non_negative(
            "integral",
            "N m/(rad s), N/(m s); of speed N m/rad, N/m",
            "of the integrated error; the integral is held while the drive is at its limit",
            default=0.0,
        ),
        positive("effort_limit", "N m or N", "largest effort", default_text="the joint's effort limit"),
        non_negative(
            "holding_effort",
            "N m or N",
            "largest effort of a holding brake, for velocity mode: it engages at a command of 0 once it can do what "
            "the damping does, and on emergency stop; 0: no brake",
            default=0.0,
        ),
    ),
    ServoDrive,
    field="drives",
    unique="joint",
    parts=(_DC_MOTOR, _PERMANENT_MAGNET_MOTOR, _GEAR),
)


def complete_drive(entry: Entry, scope: Scope) -> ServoDrive:
    """Checks a drive; the default effort limit is that of the joint.

    Args:
        entry: the drive as written.
        scope: joints, and valves, whose commands share the names of drives.

    Raises:
        MachineError: the joint cannot be driven, a gain or the effort limit is missing, or motor and gear are invalid.
    """
    drive, element = entry.value, entry.element
    joint = scope.joints[drive.joint]
    require_independent(element, joint)
    if drive.joint in scope.named("valves"):
        raise element.error(
            f"a valve is named '{drive.joint}' too: commands go by name", "rename the valve or the joint"
        )
    drive = _complete_motor(drive, element)
    if drive.dc_motor is None:
        if drive.mode == "position" and drive.stiffness == 0.0:
            raise element.error(
                "a drive in position mode needs a stiffness above 0", "give the stiffness [N m/rad or N/m]"
            )
        if drive.mode == "velocity" and drive.damping == 0.0:
            raise element.error(
                "a drive in velocity mode needs a damping above 0", "give the damping [N m s/rad or N s/m]"
            )
    if drive.holding_effort > 0.0 and (drive.mode != "velocity" or drive.dc_motor is not None):
        kind = "one with a <dc_motor>" if drive.mode == "velocity" else f"in {drive.mode} mode"
        raise element.error(
            f"holding_effort = {drive.holding_effort:g} belongs to a drive in velocity mode without <dc_motor>: this "
            f"is {kind}",
            "leave it out: the emergency stop holds the joint with effort_limit",
        )
    limit = joint.limit.effort if drive.effort_limit is None else drive.effort_limit
    if not 0.0 < limit < np.inf:
        raise element.error(
            f"joint '{joint.name}' gives no effort limit above 0",
            "give effort_limit here, or effort in the joint's <limit>",
        )
    return replace(drive, effort_limit=limit)


def _complete_motor(drive: ServoDrive, element: Element) -> ServoDrive:
    """Checks motor and gear; the default gear has the ratio 1.

    Raises:
        MachineError: they are incomplete or contradict each other.
    """
    dc, magnet, gear = drive.dc_motor, drive.permanent_magnet_motor, drive.gear
    if dc is None and magnet is None:
        if gear is not None:
            raise element.error("a <gear> needs a motor", "add <dc_motor .../> or <permanent_magnet_motor .../>")
        return drive
    if dc is not None and magnet is not None:
        raise element.error("it has two motors", "keep <dc_motor> or <permanent_magnet_motor>")
    gear = Gear(1.0) if gear is None else gear
    if gear.stiffness is None and (gear.backlash > 0.0 or gear.damping > 0.0):
        name = "backlash" if gear.backlash > 0.0 else "damping"
        raise element.error(
            f"the gear's {name} = {getattr(gear, name):g} needs a stiffness", "give the gear's stiffness"
        )
    if dc is not None:
        for name in ("stiffness", "damping", "integral"):
            if getattr(drive, name) > 0.0:
                raise element.error(
                    f"{name} = {getattr(drive, name):g} belongs to a drive without <dc_motor>",
                    "the motor's gain and compensator take its place",
                )
        if gear.stiffness is not None and dc.rotor_inertia == 0.0:
            raise element.error(
                "an elastic gear needs a rotor_inertia above 0", "give the motor's rotor_inertia [kg m2]"
            )
    if magnet is not None:
        if gear.stiffness is not None:
            raise element.error(
                f"stiffness = {gear.stiffness:g} of a gear belongs to a <dc_motor>",
                "leave it out; a compliant_joint makes a joint elastic",
            )
        if magnet.no_load_speed <= magnet.base_speed:
            raise element.error(
                f"no_load_speed = {magnet.no_load_speed:g} is not above base_speed = {magnet.base_speed:g}", "swap them"
            )
        if magnet.rated_torque > magnet.peak_torque:
            raise element.error(
                f"rated_torque = {magnet.rated_torque:g} is above peak_torque = {magnet.peak_torque:g}", "swap them"
            )
    return replace(drive, gear=gear)


FAMILY = Family((SERVO_DRIVE,), complete={"drives": complete_drive})
