"""Hydraulic motors and rotary actuators."""

from grouser.physics.description.data.hydraulics import HydraulicMotor
from grouser.physics.description.table.attributes import (
    Attribute,
    ElementKind,
    Kind,
    joint,
    name_of,
    non_negative,
    port,
    positive,
)
from grouser.physics.description.table.family import Entry, Scope
from grouser.physics.description.table.requirements import require_independent

HYDRAULIC_MOTOR = ElementKind(
    "hydraulic_motor",
    "A hydraulic motor or rotary actuator on a joint; pressure at a drives it forward.",
    (
        name_of("its name"),
        joint("revolute, continuous or prismatic joint that mimics no other"),
        port("a", "line that drives it forward"),
        port("b", "line that drives it backward"),
        port("drain", "line of the case drain", default="tank"),
        positive("displacement", "m3/rad or m3/m", "per unit of the joint's coordinate, gear included"),
        positive("dead_volume", "m3", "oil on each side, including the hose"),
        non_negative("leakage", "m3/(s Pa)", "from a to b", default=0.0),
        non_negative("drain_leakage", "m3/(s Pa)", "from each side to the drain", default=0.0),
        non_negative("viscous_friction", "N m s/rad or N s/m", "at the joint", default=0.0),
        non_negative("dry_friction", "N m or N", "at the joint", default=0.0),
        Attribute(
            "holding_brake", Kind.BOOLEAN, "-", "locks the joint at neutral and on emergency stop", default=False
        ),
        positive("holding_torque", "N m or N", "largest effort of the brake, at the joint", default=1e6),
    ),
    HydraulicMotor,
    field="hydraulic_motors",
    unique="name",
)


def complete_motor(entry: Entry, scope: Scope) -> HydraulicMotor:
    """Checks the joint of a motor.

    Raises:
        MachineError: the joint has not exactly one coordinate of its own.
    """
    require_independent(entry.element, scope.joints[entry.value.joint])
    return entry.value
