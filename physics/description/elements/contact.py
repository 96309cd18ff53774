"""Contact: properties of links and of pairs of materials, contact points, disabled collisions."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from grouser.physics.description.data.contact import (
    DECOMPOSITIONS,
    ContactMaterial,
    DisabledCollision,
    MaterialPair,
    SelfCollision,
)
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Collision
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Mesh, PointSet
from grouser.physics.description.table.attributes import (
    Attribute,
    ElementKind,
    Kind,
    choice,
    link,
    material_of,
    non_negative,
    positive,
)
from grouser.physics.description.table.family import Entry, Extension, Family, Scope
from grouser.physics.description.table.requirements import require_one_coordinate
from grouser.physics.description.text.names import closest
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.robot import Robot

_PAIR_VALUES = ("friction", "restitution", "rolling_resistance", "spinning_resistance", "stiffness", "damping")


@dataclass(frozen=True, eq=False)
class ContactPoints:
    """Contact points of a link: positions in the link frame [m], shape (n, 3), and radius [m]."""

    link: str
    points: np.ndarray
    radius: float


CONTACT = ElementKind(
    "contact",
    "Contact properties of a link against the ground, obstacles and other links.",
    (
        link("link with at least one collision shape"),
        material_of("name for `<material_pair>`; several links may share it", default="", default_text="none"),
        non_negative(
            "friction",
            "-",
            "Coulomb coefficient; the lesser one of the two bodies counts",
            default_text="that of the other body",
        ),
        non_negative(
            "restitution",
            "-",
            "coefficient of restitution; the greater one of the two bodies counts",
            default=0.0,
            maximum=1.0,
        ),
        non_negative("rolling_resistance", "m", "rolling moment per normal force", default=0.0),
        non_negative(
            "spinning_resistance",
            "m",
            "moment against spinning about the normal, per normal force",
            default=0.0,
        ),
        positive("stiffness", "N/m", "of each contact point", default_text="rigid"),
        non_negative("damping", "N s/m", "of each contact point; needs a stiffness", default=0.0),
        Attribute(
            "surface_joint",
            Kind.JOINT,
            "-",
            "joint whose rotation moves the surface, such as the sprocket of a track",
            default_text="none: a surface at rest",
        ),
        positive("surface_radius", "m", "surface speed per joint speed; requires surface_joint", default_text="none"),
        Attribute(
            "surface_direction",
            Kind.DIRECTION,
            "-",
            "direction in the link's frame in which the machine travels when the joint turns forward",
            default=(1.0, 0.0, 0.0),
        ),
        choice(
            "decomposition",
            "of the link's collision meshes: `none`, each is its one convex hull, which fills its hollows; `convex`, "
            "several convex parts, which take seconds to find the first time, and cost as much as other shapes; needs "
            "the package coacd",
            DECOMPOSITIONS,
            default="none",
        ),
    ),
    ContactMaterial,
    field="contacts",
    unique="link",
)
MATERIAL_PAIR = ElementKind(
    "material_pair",
    "Contact properties of a pair of materials. Attributes that are not given follow from the two materials.",
    (
        material_of("material of a `<contact>`, or of the world", name="first"),
        material_of("material of a `<contact>`, or of the world; may be the first one", name="second"),
        non_negative("friction", "-", "Coulomb coefficient", default_text="from the two materials"),
        non_negative(
            "restitution", "-", "coefficient of restitution", default_text="from the two materials", maximum=1.0
        ),
        non_negative(
            "rolling_resistance",
            "m",
            "rolling moment per normal force",
            default_text="from the two materials",
        ),
        non_negative(
            "spinning_resistance",
            "m",
            "moment against spinning about the normal, per normal force",
            default_text="from the two materials",
        ),
        positive("stiffness", "N/m", "of each contact point", default_text="from the two materials"),
        non_negative(
            "damping", "N s/m", "of each contact point; needs a stiffness", default_text="from the two materials"
        ),
    ),
    MaterialPair,
    field="material_pairs",
)
SELF_COLLISION = ElementKind(
    "self_collision",
    "Whether links of the machine collide with each other; the default is true.",
    (Attribute("enabled", Kind.BOOLEAN, "-", "whether they collide", required=True),),
    SelfCollision,
    field="self_collision",
    single=True,
)
DISABLE_COLLISIONS = ElementKind(
    "disable_collisions",
    "Two links that do not collide with each other.",
    (link("one link", name="link1"), link("the other link", name="link2")),
    DisabledCollision,
    field="disabled_collisions",
)
CONTACT_POINTS = ElementKind(
    "contact_points",
    "Contact points of a link, in addition to its collision shapes. A link may have several such elements.",
    (
        link("link that they are fixed to"),
        Attribute("points", Kind.POINTS, "m", "x y z of each point, in the link's frame", required=True),
        non_negative("radius", "m", "of the sphere around each point", default=0.0),
    ),
    ContactPoints,
    field="contact_points",
    consumed=True,
)


def with_contact_points(robot: Robot, extension: Extension, _warnings: list[str]) -> Robot:
    """Adds the ``<contact_points>`` of links to their collision shapes."""
    added: dict[str, list[Collision]] = {}
    for entry in extension["contact_points"]:
        shape = PointSet(entry.value.points, entry.value.radius)
        added.setdefault(entry.value.link, []).append(Collision("", Pose(), shape))
    links = (replace(link, collisions=(*link.collisions, *added.get(link.name, ()))) for link in robot.links)
    return replace(robot, links=tuple(links))


def complete_contact(entry: Entry, scope: Scope) -> ContactMaterial:
    """Checks the contact properties of a link; without a surface joint the surface radius is zero.

    Raises:
        MachineError: the link has no collision shape, or values contradict each other.
    """
    contact, element = entry.value, entry.element
    if not scope.links[contact.link].collisions:
        raise element.error(
            f"link '{contact.link}' has no collision shape", "give it a <collision>, or remove the contact"
        )
    if contact.decomposition != "none" and not any(
        isinstance(collision.geometry, Mesh) for collision in scope.links[contact.link].collisions
    ):
        raise element.error(
            f"decomposition is given, and link '{contact.link}' has no collision mesh", "remove decomposition"
        )
    _check_elasticity(element, contact)
    if contact.surface_joint is None:
        if "surface_radius" in element.attributes or "surface_direction" in element.attributes:
            raise element.error(
                "surface_radius or surface_direction is given without surface_joint", "name the surface_joint"
            )
        return replace(contact, surface_radius=0.0)
    require_one_coordinate(element, "surface_joint", scope.joints[contact.surface_joint])
    if contact.surface_radius is None:
        raise element.error("surface_joint is given without surface_radius", "give the surface_radius [m]")
    return contact


def check_material_pairs(entries: Collection[Entry], materials: Collection[str]) -> None:
    """Checks pairs of materials.

    Args:
        entries: the pairs.
        materials: names of the machine's materials; those of the world are not known here.

    Raises:
        MachineError: a repeated pair, unknown materials, no value, or values that contradict each other.
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
    """Checks pairs of links that do not collide.

    Raises:
        MachineError: a link with itself, or a repeated pair.
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


def _check_pairs(_machine: Machine, extension: Extension) -> None:
    materials = {entry.value.material for entry in extension["contacts"]} - {""}
    check_material_pairs(extension["material_pairs"], materials)
    check_disabled_collisions(extension["disabled_collisions"])


FAMILY = Family(
    (CONTACT, MATERIAL_PAIR, SELF_COLLISION, DISABLE_COLLISIONS, CONTACT_POINTS),
    prepare=with_contact_points,
    complete={"contacts": complete_contact},
    check=_check_pairs,
)
