"""Receivers of satellite navigation."""

from grouser.physics.description.data.sensors import GnssReceiver
from grouser.physics.description.elements.sensors.frame import check_sensor_name
from grouser.physics.description.table.attributes import ElementKind, link, name_of, non_negative, place_on_link
from grouser.physics.description.table.family import Entry, Scope

GNSS_RECEIVER = ElementKind(
    "gnss_receiver",
    "A receiver of satellite navigation. It measures latitude, longitude and altitude of the origin of its frame above "
    "the ellipsoid of WGS 84, in a world with a `geodetic_origin` ([world_files.md](world_files.md)); in others it has "
    "no fix",
    (
        name_of("name, also of its frame; different from all links, joints and sensors"),
        link("link that it is fixed to"),
        *place_on_link("its frame"),
        non_negative(
            "horizontal_noise",
            "m",
            "standard deviation of the normally distributed error along east and along north",
            default=GnssReceiver.horizontal_noise,
        ),
        non_negative(
            "vertical_noise", "m", "standard deviation of the altitude's error", default=GnssReceiver.vertical_noise
        ),
    ),
    GnssReceiver,
    field="gnss_receivers",
    unique="name",
)


def complete_receiver(entry: Entry, scope: Scope) -> GnssReceiver:
    """Checks the name of a receiver.

    Raises:
        MachineError: it is taken.
    """
    check_sensor_name(entry, scope)
    return entry.value
