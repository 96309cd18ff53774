"""Sensors: inertial measurement units and lidars."""

import math
from dataclasses import dataclass

from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.sensors import Imu, Lidar
from grouser.physics.description.elements.sensors.frame import check_range, check_sensor_name
from grouser.physics.description.table.attributes import (
    Attribute,
    ElementKind,
    Kind,
    choice,
    link,
    name_of,
    non_negative,
    place_on_link,
    positive,
)
from grouser.physics.description.table.family import Entry, Scope

BEAMS_MAX = 100_000
# Upper bound of a full turn, for files with few digits [rad].
FULL_TURN = 6.2832
_OF = {
    "imu": (
        "sample_rate",
        *("gyroscope_noise", "gyroscope_bias", "gyroscope_walk"),
        *("accelerometer_noise", "accelerometer_bias", "accelerometer_walk"),
        "orientation_noise",
    ),
    "lidar": ("beams", "angle_min", "angle_max", "range_min", "range_max", "noise"),
}


@dataclass(frozen=True)
class WrittenSensor:
    """An `Imu` or `Lidar` as written; None for attributes after `rpy` that are not given."""

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
    sample_rate: float | None
    gyroscope_noise: float | None
    gyroscope_bias: float | None
    gyroscope_walk: float | None
    accelerometer_noise: float | None
    accelerometer_bias: float | None
    accelerometer_walk: float | None
    orientation_noise: float | None


def _of_imu(name: str, unit: str, description: str) -> Attribute:
    return non_negative(name, unit, f"imu: {description}", default_text="0")


SENSOR = ElementKind(
    "sensor",
    "A sensor. An `imu` measures specific force and angular rate in its own frame, and its orientation. A `lidar` "
    "measures distances in the plane of its x and y axes, all at one instant: to the ground with its ruts, to "
    "obstacles, and to the collision shapes of all links except its own. Meshes count by their convex hulls, as in "
    "contact. Distances below `range_min` are minus infinity, those above `range_max` infinity (REP-117). Only a "
    "lidar has the attributes from `beams` to `noise`, only an imu those after. The errors of an imu are white noise "
    "and a bias that walks (IEEE 952): the Allan deviation of a signal is noise / sqrt(t) after short times t, and "
    "walk * sqrt(t / 3) after long ones. All errors are functions of the sensor's name and the step: a run that is "
    "repeated has the same.",
    (
        name_of("name, also of its frame; different from all links and joints"),
        choice("type", "kind of sensor", ("imu", "lidar")),
        link("link that it is fixed to"),
        *place_on_link("its frame"),
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
        positive(
            "sample_rate",
            "Hz",
            "imu: rate at which it samples; a sample's white noise has the standard deviation density times its root",
            default_text=f"{Imu.sample_rate:g}",
        ),
        _of_imu("gyroscope_noise", "rad/s/√Hz", "density of the white noise of each angular rate"),
        _of_imu("gyroscope_bias", "rad/s", "standard deviation of the bias of each angular rate at the start"),
        _of_imu("gyroscope_walk", "rad/s2/√Hz", "density of the random walk of this bias"),
        _of_imu("accelerometer_noise", "m/s2/√Hz", "density of the white noise of each specific force"),
        _of_imu("accelerometer_bias", "m/s2", "standard deviation of the bias of each specific force at the start"),
        _of_imu("accelerometer_walk", "m/s3/√Hz", "density of the random walk of this bias"),
        _of_imu("orientation_noise", "rad", "standard deviation of the orientation about each axis"),
    ),
    WrittenSensor,
    field="sensors",
    unique="name",
)


def complete_sensor(entry: Entry, scope: Scope) -> Imu | Lidar:
    """Checks the values of a sensor, and fills in defaults.

    Args:
        entry: the sensor as written.
        scope: links and joints; a sensor has another name than these.

    Raises:
        MachineError: the name is taken, an attribute does not apply to the type, or a range is empty.
    """
    written, element = entry.value, entry.element
    check_sensor_name(entry, scope)
    given = {name: value for names in _OF.values() for name in names if (value := getattr(written, name)) is not None}
    for name in given:
        if name not in _OF[written.type]:
            (owner,) = (kind for kind, names in _OF.items() if name in names)
            raise element.error(f"{name} is given, and its type is {written.type}", f"only a sensor {owner} has it")
    common = (written.name, written.link, written.xyz, written.rpy)
    if written.type == "imu":
        return Imu(*common, **given)
    first, beams = given.get("angle_min", Lidar.angle_min), given.get("beams", Lidar.beams)
    lidar = Lidar(*common, **{"angle_max": first + 2.0 * math.pi * (1.0 - 1.0 / beams), **given})
    if not 0.0 < lidar.angle_max - lidar.angle_min <= FULL_TURN:
        raise element.error(
            f"its beams go from {lidar.angle_min:g} to {lidar.angle_max:g} rad", "give up to a full turn, anticlockwise"
        )
    check_range(element, lidar, "range_min", "range_max")
    return lidar
