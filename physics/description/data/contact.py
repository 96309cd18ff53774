"""Contact properties of links. SI units."""

from dataclasses import dataclass

from grouser.physics.description.data.pose import Vector3

# How a collision mesh becomes convex: by its one convex hull, or by several parts.
DECOMPOSITIONS = ("none", "convex")


@dataclass(frozen=True)
class ContactMaterial:
    """Contact properties of a link.

    Attributes:
        link: the link whose collision shapes have them.
        material: name that `MaterialPair` knows it by; "" for none.
        friction: Coulomb coefficient [-]; None: that of the other body.
        restitution: [-], 0 to 1.
        rolling_resistance: lever of the moment against rolling, per normal force [m].
        spinning_resistance: lever of the moment against spinning about the normal [m].
        stiffness, damping: of each contact point [N/m, N s/m]; rigid when stiffness is None.
        surface_joint: joint whose turning moves the surface (a belt or track), or None.
        surface_radius: surface speed per joint speed [m].
        surface_direction: unit vector in the link frame along which the machine travels when the joint turns forward.
        decomposition: of the link's collision meshes: one of DECOMPOSITIONS.
    """

    link: str
    material: str = ""
    friction: float | None = None
    restitution: float = 0.0
    rolling_resistance: float = 0.0
    spinning_resistance: float = 0.0
    stiffness: float | None = None
    damping: float = 0.0
    surface_joint: str | None = None
    surface_radius: float = 0.0
    surface_direction: Vector3 = (1.0, 0.0, 0.0)
    decomposition: str = "none"


@dataclass(frozen=True)
class MaterialPair:
    """Contact properties of a pair of materials. None: the value follows from the rule that combines two materials.

    Attributes:
        first, second: names of materials of links or of the world; equal for contact of a material with itself.
        friction, restitution, rolling_resistance, spinning_resistance, stiffness, damping: see `ContactMaterial`.
    """

    first: str
    second: str
    friction: float | None = None
    restitution: float | None = None
    rolling_resistance: float | None = None
    spinning_resistance: float | None = None
    stiffness: float | None = None
    damping: float | None = None


@dataclass(frozen=True)
class SelfCollision:
    """Whether links of the machine collide with each other."""

    enabled: bool


@dataclass(frozen=True)
class DisabledCollision:
    """Two links that do not collide with each other."""

    link1: str
    link2: str
