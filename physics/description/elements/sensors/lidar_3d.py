"""Lidars with several channels."""

import math

from grouser.physics.description.data.sensors import Lidar3d
from grouser.physics.description.elements.sensors.frame import check_range, check_sensor_name
from grouser.physics.description.elements.sensors.imu_and_lidar import FULL_TURN
from grouser.physics.description.table.attributes import (
    Attribute,
    ElementKind,
    Kind,
    link,
    name_of,
    non_negative,
    place_on_link,
    positive,
)
from grouser.physics.description.table.family import Entry, Scope

CHANNELS_MAX, SAMPLES_MAX, BEAMS_MAX = 256, 10_000, 1_000_000
_RIGHT_ANGLE = 1.5708


def _angle(name: str, description: str, default: float, limit: float) -> Attribute:
    return Attribute(name, Kind.NUMBER, "rad", description, default=default, minimum=-limit, maximum=limit)


LIDAR_3D = ElementKind(
    "lidar_3d",
    "A lidar with several channels. Each channel sweeps a cone about the z axis of the sensor's frame, and all "
    "distances are measured at one instant, to the same things as by a `<sensor>` of the type `lidar`. The elevations "
    "of the channels, and the azimuths of the beams, are evenly spaced",
    (
        name_of("name, also of its frame; different from all links, joints and sensors"),
        link("link that it is fixed to"),
        *place_on_link("its frame"),
        Attribute(
            "channels",
            Kind.COUNT,
            "-",
            "number of channels: the rows of the cloud",
            default=Lidar3d.channels,
            minimum=1,
            maximum=CHANNELS_MAX,
        ),
        _angle("elevation_min", "of the first channel above the xy plane", Lidar3d.elevation_min, _RIGHT_ANGLE),
        _angle("elevation_max", "of the last channel", Lidar3d.elevation_max, _RIGHT_ANGLE),
        Attribute(
            "samples",
            Kind.COUNT,
            "-",
            "number of beams of each channel: the columns of the cloud; with all channels at most a million beams",
            default=Lidar3d.samples,
            minimum=2,
            maximum=SAMPLES_MAX,
        ),
        Attribute(
            "angle_min",
            Kind.NUMBER,
            "rad",
            "azimuth of the first beam, from the x axis about the z axis",
            default_text="-pi",
            minimum=-FULL_TURN,
            maximum=FULL_TURN,
        ),
        Attribute(
            "angle_max",
            Kind.NUMBER,
            "rad",
            "azimuth of the last beam, up to a full turn further",
            default_text="a full turn further, less one beam",
            minimum=-FULL_TURN,
            maximum=FULL_TURN,
        ),
        non_negative("range_min", "m", "least measured distance", default=Lidar3d.range_min),
        positive("range_max", "m", "largest measured distance", default=Lidar3d.range_max),
        non_negative(
            "noise", "m", "standard deviation of the normally distributed error of each distance", default=Lidar3d.noise
        ),
    ),
    Lidar3d,
    field="lidars_3d",
    unique="name",
)


def complete_lidar(entry: Entry, scope: Scope) -> Lidar3d:
    """Checks the values of a lidar, and fills in its azimuths.

    Raises:
        MachineError: the name is taken, a range is empty, or there are too many beams.
    """
    written, element = entry.value, entry.element
    check_sensor_name(entry, scope)
    first = Lidar3d.angle_min if written.angle_min is None else written.angle_min
    last = first + 2.0 * math.pi * (1.0 - 1.0 / written.samples) if written.angle_max is None else written.angle_max
    lidar = Lidar3d(**{**vars(written), "angle_min": first, "angle_max": last})
    if not 0.0 < last - first <= FULL_TURN:
        raise element.error(f"its beams go from {first:g} to {last:g} rad", "give up to a full turn, anticlockwise")
    if lidar.channels > 1:
        check_range(element, lidar, "elevation_min", "elevation_max", "rad")
    check_range(element, lidar, "range_min", "range_max")
    if lidar.channels * lidar.samples > BEAMS_MAX:
        raise element.error(
            f"channels = {lidar.channels} with samples = {lidar.samples} are {lidar.channels * lidar.samples} beams; "
            f"valid: up to {BEAMS_MAX}",
            "give fewer",
        )
    return lidar
