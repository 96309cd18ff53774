"""The element <flexible_link>."""

from dataclasses import dataclass

from grouser.physics.description.data.compliance import DISCRETISATIONS
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.elements.flexible_links.sections import SECTION, SHAPE, SectionShape, WrittenSection
from grouser.physics.description.table.attributes import (
    Attribute,
    ElementKind,
    Kind,
    choice,
    link,
    non_negative,
    place,
    positive,
)

SIZE_MAX = 200


@dataclass(frozen=True)
class WrittenFlexibleLink(SectionShape):
    """A `FlexibleLink` as written: its stiffnesses [N m2], or moduli [Pa] and the sections; None for what is not
    given."""

    link: str = ""
    discretisation: str = ""
    size: int = 1
    xyz: Vector3 = (0.0, 0.0, 0.0)
    rpy: Vector3 = (0.0, 0.0, 0.0)
    length: float = 0.0
    bending_stiffness_y: float | None = None
    bending_stiffness_z: float | None = None
    torsional_stiffness: float | None = None
    modulus: float | None = None
    shear_modulus: float | None = None
    density: float | None = None
    damping: float = 0.0
    axial: int = 1
    torsion: int = 1
    bending: str = "both"
    modes: int | None = None
    coupling: str = "first_order"
    rotary_inertia: bool = True
    end_loads: bool | None = None
    section: tuple[WrittenSection, ...] = ()


def _count(name: str, description: str, **more) -> Attribute:
    return Attribute(name, Kind.COUNT, "-", description, maximum=SIZE_MAX, **more)


FLEXIBLE_LINK = ElementKind(
    "flexible_link",
    "A link that bends and twists along an elastic axis. Moduli and cross sections give its stiffness; rigid elements "
    "also take three stiffnesses. The cross section is given here if it is constant, else by elements `<section>`. "
    "See [flexible_links.md](flexible_links.md)",
    (
        link("link; density and sections give its mass if it has no `<inertial>`, else the two must agree to 1 %"),
        choice(
            "discretisation",
            "how its deflection is described",
            DISCRETISATIONS,
            former_name="method",
        ),
        _count(
            "size",
            "number of modes of a bending direction (assumed_modes), of elements (finite_elements, rigid_elements) or "
            "of segments (b_spline), or degree (bezier)",
            required=True,
            minimum=1,
        ),
        *place("start of the elastic axis, which runs along x"),
        positive("length", "m", "of the elastic axis", default=0.0, default_text="to the last joint on the link"),
        *SHAPE,
        positive("modulus", "Pa", "Young's modulus E", default_text="none"),
        positive("shear_modulus", "Pa", "shear modulus G", default_text="none"),
        positive("density", "kg/m3", "of the material", default_text="that of the link's mass"),
        positive(
            "bending_stiffness_y", "N m2", "E I of bending about y; rigid_elements", default_text="of the section"
        ),
        positive(
            "bending_stiffness_z", "N m2", "E I of bending about z; rigid_elements", default_text="of the section"
        ),
        positive("torsional_stiffness", "N m2", "G J; rigid_elements", default_text="of the section"),
        non_negative(
            "damping",
            "s",
            "damping over stiffness (proportional damping): a vibration of w rad/s has w / 2 times this as its damping "
            "ratio",
            default=0.0,
            former_name="damping_time",
        ),
        _count("axial", "number of functions of axial displacement; not rigid_elements", default=1, minimum=0),
        _count("torsion", "number of functions of twist; not rigid_elements", default=1, minimum=0),
        choice("bending", "about which axes it bends; not rigid_elements", ("both", "y", "z"), default="both"),
        _count(
            "modes",
            "number of vibration modes that are kept, those of the lowest frequencies; not rigid_elements",
            minimum=1,
            default_text="all",
        ),
        choice(
            "coupling",
            "first_order: bending shortens the axis, so that spinning links stiffen and compressed ones soften; "
            "zero_order: without, for comparison; not rigid_elements",
            ("first_order", "zero_order"),
            default="first_order",
        ),
        Attribute(
            "rotary_inertia",
            Kind.BOOLEAN,
            "-",
            "whether its sections resist their turning in bending; not rigid_elements",
            default=True,
        ),
        Attribute(
            "end_loads",
            Kind.BOOLEAN,
            "-",
            "assumed_modes: whether the static shapes of loads at the end are added to the modes: two a bending "
            "direction, one of axial displacement and one of twist. The others contain them",
            default_text="true if its end carries a mass, a loop joint or a cylinder",
        ),
    ),
    WrittenFlexibleLink,
    field="flexible_links",
    unique="link",
    parts=(SECTION,),
)
