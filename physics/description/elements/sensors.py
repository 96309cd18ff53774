"""Sensors: inertial measurement units and lidars."""

import math
from dataclasses import dataclass

from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.sensors import Lidar, Sensor
from grouser.physics.description.table.attributes import (
    Attribute,
    ElementKind,
    Kind,
    choice,
    link,
    name_of,
    non_negative,
    place,
    positive,
)
from grouser.physics.description.table.family import Entry, Family, Scope

BEAMS_MAX = 100_000
# Upper bound of a full turn, for files with few digits [rad].
FULL_TURN = 6.2832
_OF_LIDAR = ("beams", "angle_min", "angle_max", "range_min", "range_max", "noise")


@dataclass(frozen=True)
class WrittenSensor:
    """A `Sensor` or `Lidar` as written; None for attributes of a lidar that are not given."""

    name: str
    type: str
    link: str
    xyz: Vector3
    rpy: Vector3
    beams: int | None
    angle_min: float | None
    angle_max: float | None
    range_min: float | None
    range_max: float | None
    noise: float | None


SENSOR = ElementKind(
    "sensor",
    "A sensor. An `imu` measures specific force and angular rate in its own frame, and its orientation. A `lidar` "
    "measures distances in the plane of its x and y axes, all at one instant: to the ground with its ruts, to "
    "obstacles, and to the collision shapes of all links except its own. Meshes count by their convex hulls, as in "
    "contact. Distances below `range_min` are minus infinity, those above `range_max` infinity (REP-117). Only a "
    "lidar has the attributes after `rpy`.",
    (
        name_of("name, also of its frame; different from all links and joints"),
        choice("type", "kind of sensor", ("imu", "lidar")),
        link("link that it is fixed to"),
        *place("its frame"),
        Attribute("beams", Kind.COUNT, "-", "number of beams", default_text="720", minimum=2, maximum=BEAMS_MAX),
        Attribute(
            "angle_min",
            Kind.NUMBER,
            "rad",
            "of the first beam, from the x axis about the z axis",
            default_text="-pi",
            minimum=-FULL_TURN,
            maximum=FULL_TURN,
        ),
        Attribute(
            "angle_max",
            Kind.NUMBER,
            "rad",
            "of the last beam, up to a full turn further",
            default_text="a full turn further, less one beam",
            minimum=-FULL_TURN,
            maximum=FULL_TURN,
        ),
        non_negative("range_min", "m", "least measured distance", default_text="0.1"),
        positive("range_max", "m", "largest measured distance", default_text="30"),
        non_negative(
            "noise", "m", "standard deviation of the normally distributed error of each distance", default_text="0"
        ),
    ),
    WrittenSensor,
    field="sensors",
    unique="name",
)


def complete_sensor(entry: Entry, scope: Scope) -> Sensor:
    """Checks the values of a sensor, and fills in the defaults of a lidar.

    Args:
        entry: the sensor as written.
        scope: links and joints; a sensor has another name than these.

    Raises:
        MachineError: the name is taken, an attribute does not apply to the type, or a range is empty.
    """
    written, element = entry.value, entry.element
    if written.name in scope.links or written.name in scope.joints:
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


FAMILY = Family((SENSOR,), complete={"sensors": complete_sensor})
