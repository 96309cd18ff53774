"""Sensors of the `<grouser>` element: what of their values fits together."""

import math
from collections.abc import Collection

from grouser.physics.description.data.sensors import Lidar, Sensor
from grouser.physics.description.elements.sensors import FULL_TURN
from grouser.physics.description.table.family import Entry

_OF_LIDAR = ("beams", "angle_min", "angle_max", "range_min", "range_max", "noise")


def complete_sensor(entry: Entry, taken: Collection[str]) -> Sensor:
    """Checks a sensor's values against each other, and fills the defaults of a lidar.

    Args:
        entry: as written.
        taken: names of links and joints.

    Raises:
        MachineError: the name is taken, values that its type does not have, or a lidar that could see nothing.
    """
    written, element = entry.value, entry.element
    if written.name in taken:
        raise element.error(f"name = '{written.name}' is that of a link or joint", "its frame needs a name of its own")
    given = {name: getattr(written, name) for name in _OF_LIDAR if getattr(written, name) is not None}
    common = (written.name, written.type, written.link, written.xyz, written.rpy)
    if written.type != "lidar":
        if given:
            raise element.error(f"{next(iter(given))} is given, and its type is {written.type}", "only a lidar has it")
        return Sensor(*common)
    first, beams = given.get("angle_min", Lidar.angle_min), given.get("beams", Lidar.beams)
    lidar = Lidar(*common, **{"angle_max": first + 2.0 * math.pi * (1.0 - 1.0 / beams), **given})
    if not 0.0 < lidar.angle_max - lidar.angle_min <= FULL_TURN:
        raise element.error(
            f"its beams go from {lidar.angle_min:g} to {lidar.angle_max:g} rad", "give up to a full turn, anticlockwise"
        )
    if lidar.range_min >= lidar.range_max:
        raise element.error(
            f"range_min = {lidar.range_min:g} m is not less than range_max = {lidar.range_max:g} m", "change one"
        )
    return lidar
