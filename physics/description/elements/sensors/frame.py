"""What all sensors have: a frame with a name of its own; and checks of pairs of values."""

from typing import Any

from grouser.physics.description.table.family import Entry, Scope
from grouser.physics.description.text.xml_tree import Element

# Fields of all sensors. A new family of sensors is added here.
FIELDS = ("sensors", "lidars_3d", "depth_cameras", "gnss_receivers", "force_torque_sensors", "strain_gauges")


def check_sensor_name(entry: Entry, scope: Scope) -> None:
    """Refuses a sensor whose name is that of a link, a joint or another sensor.

    Raises:
        MachineError: it is.
    """
    name, element = entry.value.name, entry.element
    if name in scope.links or name in scope.joints:
        raise element.error(f"name = '{name}' is that of a link or joint", "its frame needs a name of its own")
    for field in FIELDS:
        for other in scope.extension[field]:
            if other.element is not element and other.value.name == name:
                raise element.error(
                    f"name = '{name}' is that of another <{other.element.tag}>", "its frame needs a name of its own"
                )


def check_range(element: Element, values: Any, low: str, high: str, unit: str = "m") -> None:
    """Refuses an empty range between two attributes.

    Raises:
        MachineError: the lower limit is not less than the upper one.
    """
    least, most = getattr(values, low), getattr(values, high)
    if least >= most:
        raise element.error(f"{low} = {least:g} {unit} is not less than {high} = {most:g} {unit}", "change one")
