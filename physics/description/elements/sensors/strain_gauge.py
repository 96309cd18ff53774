"""Strain gauges on flexible links."""

from grouser.physics.description.data.sensors import StrainGauge
from grouser.physics.description.elements.sensors.frame import check_sensor_name
from grouser.physics.description.table.attributes import Attribute, ElementKind, Kind, link, name_of, non_negative
from grouser.physics.description.table.family import Entry, Scope

STRAIN_GAUGE = ElementKind(
    "strain_gauge",
    "A strain gauge along the elastic axis of a flexible link. It measures the longitudinal strain of the beam at a "
    "point of a section, u' - y v'' - z w'', positive in tension",
    (
        name_of("name; different from all links, joints and sensors"),
        link("link with a `<flexible_link>`, which is not of rigid elements"),
        non_negative("at", "m", "place along the elastic axis"),
        Attribute("y", Kind.NUMBER, "m", "place on the section, from the elastic axis", default=StrainGauge.y),
        Attribute("z", Kind.NUMBER, "m", "place on the section, from the elastic axis", default=StrainGauge.z),
    ),
    StrainGauge,
    field="strain_gauges",
    unique="name",
)


def complete_gauge(entry: Entry, scope: Scope) -> StrainGauge:
    """Checks name and place of a gauge.

    Raises:
        MachineError: the name is taken, its link is not flexible, or the place is beyond the link's end.
    """
    check_sensor_name(entry, scope)
    gauge, element = entry.value, entry.element
    beams = {one.value.link: one.value for one in scope.extension["flexible_links"]}
    beam = beams.get(gauge.link)
    if beam is None or beam.discretisation == "rigid_elements":
        found = "is not flexible" if beam is None else "is divided into rigid elements, which have no strain"
        raise element.error(f"link '{gauge.link}' {found}", "name a link with a <flexible_link> of another kind")
    if gauge.at > beam.length:
        raise element.error(f"at = {gauge.at:g} m is beyond the end of the elastic axis, at {beam.length:g} m")
    return gauge
