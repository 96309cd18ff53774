"""How links touch. SI units."""

from dataclasses import dataclass

from grouser.physics.description.data.pose import Vector3


@dataclass(frozen=True)
class ContactMaterial:
    """How a link touches.

    Attributes:
        link: the link whose collision shapes it speaks of.
        material: name that `MaterialPair` knows it by; "" for none.
        friction: coefficient [-]; None: the other side's.
        restitution: [-], 0 to 1.
        rolling_resistance: lever of the moment against rolling, per normal force [m].
        spinning_resistance: lever of the moment against spinning about the normal [m].
        stiffness, damping: of each contact point [N/m, N s/m]; rigid when stiffness is None.
        surface_joint: joint whose turning moves the surface (a belt or track), or None.
        surface_radius: surface speed per joint speed [m].
        surface_direction: unit vector in the link frame along which the machine travels when the joint turns forward.
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


@dataclass(frozen=True)
class MaterialPair:
    """How two materials touch each other, instead of the rule that combines them; None leaves a value to that rule.

    Attributes:
        first, second: names of materials, of links or of the world; the same name twice for a material and itself.
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
    """Whether links of the machine touch each other."""

    enabled: bool


@dataclass(frozen=True)
class DisabledCollision:
    """Two links that do not touch each other."""

    link1: str
    link2: str
