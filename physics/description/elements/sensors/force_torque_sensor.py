"""Force-torque sensors in joints."""

from grouser.physics.description.data.sensors import ForceTorqueSensor
from grouser.physics.description.elements.sensors.frame import check_sensor_name
from grouser.physics.description.table.attributes import ElementKind, choice, joint, name_of, non_negative, place
from grouser.physics.description.table.family import Entry, Scope

DIRECTIONS = ("parent_to_child", "child_to_parent")

FORCE_TORQUE_SENSOR = ElementKind(
    "force_torque_sensor",
    "A sensor in a joint, fixed or movable. It measures force and moment that pass through the joint, the drive's "
    "included, as the mean over the last step, about the origin of its frame in the axes of its frame. The frame is "
    "fixed to the child link. At rest, a sensor that carries a mass m shows m g upwards, as the force that the parent "
    "gives the child",
    (
        name_of("name, also of its frame; different from all links, joints and sensors"),
        joint("joint that it is in"),
        *place("its frame"),
        choice(
            "direction",
            "whose force on whom: the parent link's on the child link, or the reverse",
            DIRECTIONS,
            default=ForceTorqueSensor.direction,
        ),
        non_negative(
            "force_noise",
            "N",
            "standard deviation of the normally distributed error of each component",
            default=ForceTorqueSensor.force_noise,
        ),
        non_negative("torque_noise", "N m", "the same of the moment", default=ForceTorqueSensor.torque_noise),
    ),
    ForceTorqueSensor,
    field="force_torque_sensors",
    unique="name",
)


def complete_force_torque(entry: Entry, scope: Scope) -> ForceTorqueSensor:
    """Checks the name of a sensor.

    Raises:
        MachineError: it is taken.
    """
    check_sensor_name(entry, scope)
    return entry.value
