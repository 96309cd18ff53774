"""What the elements of ``<grouser>`` say of contact: materials, pairs of them, points, links that do not touch."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from grouser.physics.description.data.contact import ContactMaterial, MaterialPair
from grouser.physics.description.data.mechanism import Collision, Joint, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import PointSet
from grouser.physics.description.table.family import Entry
from grouser.physics.description.table.requirements import require_one_coordinate
from grouser.physics.description.text.names import closest
from grouser.physics.description.text.xml_tree import Element

_PAIR_VALUES = ("friction", "restitution", "rolling_resistance", "spinning_resistance", "stiffness", "damping")


def with_contact_points(links: Sequence[Link], entries: Collection[Entry]) -> tuple[Link, ...]:
    """Returns the links with their ``<contact_points>`` as further collision shapes."""
    added: dict[str, list[Collision]] = {}
    for entry in entries:
        shape = PointSet(entry.value.points, entry.value.radius)
        added.setdefault(entry.value.link, []).append(Collision("", Pose(), shape))
    return tuple(replace(link, collisions=(*link.collisions, *added.get(link.name, ()))) for link in links)


def complete_contact(entry: Entry, links: Mapping[str, Link], joints: Mapping[str, Joint]) -> ContactMaterial:
    """Checks how a link touches; a surface at rest has the radius zero.

    Raises:
        MachineError: a link without shape, or values that contradict each other.
    """
    contact, element = entry.value, entry.element
    if not links[contact.link].collisions:
        raise element.error(
            f"link '{contact.link}' has no collision shape", "give it a <collision>, or remove the contact"
        )
    _check_elasticity(element, contact)
    if contact.surface_joint is None:
        if "surface_radius" in element.attributes or "surface_direction" in element.attributes:
            raise element.error(
                "surface_radius or surface_direction is given without surface_joint", "name the surface_joint"
            )
        return replace(contact, surface_radius=0.0)
    require_one_coordinate(element, "surface_joint", joints[contact.surface_joint])
    if contact.surface_radius is None:
        raise element.error("surface_joint is given without surface_radius", "give the surface_radius [m]")
    return contact


def check_material_pairs(entries: Collection[Entry], materials: Collection[str]) -> None:
    """Checks pairs of materials.

    Args:
        entries: the pairs.
        materials: names that the machine's contacts give; those of the world are not known here.

    Raises:
        MachineError: a pair given twice, of unknown materials, empty, or with values that contradict each other.
    """
    seen: dict[frozenset[str], Element] = {}
    for entry in entries:
        pair, element = entry.value, entry.element
        if pair.first not in materials and pair.second not in materials:
            raise element.error(
                f"first = '{pair.first[:80]}', second = '{pair.second[:80]}': no <contact> has such a material",
                closest(pair.first, materials),
            )
        if all(getattr(pair, name) is None for name in _PAIR_VALUES):
            raise element.error("it gives no value", f"give some of {', '.join(_PAIR_VALUES)}, or remove the pair")
        _check_elasticity(element, pair)
        _refuse_repeated(element, frozenset((pair.first, pair.second)), seen, "these two materials")


def check_disabled_collisions(entries: Collection[Entry]) -> None:
    """Checks pairs of links that do not touch.

    Raises:
        MachineError: a link with itself, or a pair given twice.
    """
    seen: dict[frozenset[str], Element] = {}
    for entry in entries:
        pair, element = entry.value, entry.element
        if pair.link1 == pair.link2:
            raise element.error(f"link1 and link2 are both '{pair.link1}'", "a link never touches itself")
        _refuse_repeated(element, frozenset((pair.link1, pair.link2)), seen, "these two links")


def _refuse_repeated(element: Element, pair: frozenset[str], seen: dict[frozenset[str], Element], what: str) -> None:
    if pair in seen:
        line = seen[pair].line
        raise element.error(
            f"there is already a <{element.tag}> of {what}" + (f", in line {line}" if line else ""),
            "keep one of them",
        )
    seen[pair] = element


def _check_elasticity(element: Element, surface: ContactMaterial | MaterialPair) -> None:
    if surface.damping and surface.stiffness is None:
        raise element.error("damping is given without stiffness", "give both, or neither for a rigid contact")
    if surface.restitution and surface.stiffness is not None:
        raise element.error(
            "restitution and stiffness are both given", "an elastic contact returns what its damping leaves"
        )
