"""Loop joints, compliant joints and flexible links. SI units."""

from dataclasses import astuple, dataclass

import numpy as np

from grouser.physics.description.data.pose import AXES, Vector3


@dataclass(frozen=True)
class JointFrame:
    """A frame fixed to a link: origin [m] and orientation (roll, pitch, yaw) [rad] in the link frame."""

    link: str
    xyz: Vector3 = (0.0, 0.0, 0.0)
    rpy: Vector3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class LoopJoint:
    """A joint that closes a loop between two links of the tree.

    Its axes are those of the frame `parent`; `child` moves in it. The free motions of a type are about or along `axis`;
    those of a planar joint are in the plane normal to it. Stiffness and damping are given along and about the axes of
    the frame: for a constrained direction the stiffness of the constraint, for a free one that of a spring along it.

    Attributes:
        type: spherical, revolute, prismatic, cylindrical, planar or fixed.
        axis: x, y or z of the frame.
        stiffness: translational, along x, y, z of the frame [N/m]; None: rigid.
        damping: [N s/m].
        rotational_stiffness: about x, y, z of the frame [N m/rad]; None: rigid.
        rotational_damping: [N m s/rad].
        parent, child: the two frames.
    """

    name: str
    type: str
    axis: str
    stiffness: Vector3 | None
    damping: Vector3
    rotational_stiffness: Vector3 | None
    rotational_damping: Vector3
    parent: JointFrame
    child: JointFrame


@dataclass(frozen=True)
class CompliantJoint:
    """Elasticity of a joint: of its constrained directions, and a spring along its own coordinate.

    The axes are those of the joint's frame. A constrained direction without a stiffness is rigid.

    Attributes:
        stiffness, damping: translational, along x, y, z [N/m, N s/m]; 0: rigid.
        rotational_stiffness, rotational_damping: about x, y, z [N m/rad, N m s/rad]; 0: rigid.
        axial_stiffness: of the spring along the joint's coordinate [N m/rad or N/m]; 0: none.
        axial_damping: parallel to that spring, while it is engaged [N m s/rad or N s/m].
        cubic_stiffness: of the spring: effort per third power of the deflection [N m/rad3 or N/m3].
        rest_position: of the spring [rad or m].
        backlash: full width of the gap in which the spring does not act [rad or m].
        hysteresis: largest hysteretic effort, parallel to the spring [N m or N]; 0: none.
        hysteresis_stiffness: slope of that effort at a reversal [N m/rad or N/m].
    """

    joint: str
    stiffness: Vector3
    damping: Vector3
    rotational_stiffness: Vector3
    rotational_damping: Vector3
    axial_stiffness: float = 0.0
    axial_damping: float = 0.0
    cubic_stiffness: float = 0.0
    rest_position: float = 0.0
    backlash: float = 0.0
    hysteresis: float = 0.0
    hysteresis_stiffness: float = 0.0


@dataclass(frozen=True)
class BeamSection:
    """Cross section of a flexible link. Its axes are those of the elastic frame.

    Attributes:
        at: place along the elastic axis [m].
        area: [m2].
        second_moment_y, second_moment_z: of area, of bending about y and about z [m4].
        torsion_constant: J of G J, the torsional stiffness [m4].
    """

    at: float
    area: float
    second_moment_y: float
    second_moment_z: float
    torsion_constant: float


@dataclass(frozen=True)
class FlexibleLink:
    """A link that bends and twists along an elastic axis.

    Attributes:
        link: the link.
        discretisation: one of DISCRETISATIONS.
        size: of the discretisation: number of modes, of elements or of segments, or degree of the curve.
        xyz, rpy: start of the elastic axis in the link frame [m, rad]; it runs along x of this frame.
        length: of the elastic axis [m].
        bending_stiffness_y, bending_stiffness_z: EI of bending about the frame's y and z [N m2]; where they vary, at
            the start.
        torsional_stiffness: GJ [N m2], likewise.
        damping: damping over stiffness (proportional damping) [s].
        modulus, shear_modulus: E and G [Pa]; 0 if the stiffnesses are given.
        density: [kg/m3].
        sections: ascending along the axis, linear between them and constant beyond; two at one place are a step. Empty
            if the stiffnesses are given.
        axial, torsion: number of functions of axial displacement and of twist.
        bending: about which axes it bends: both, y or z.
        modes: number of vibration modes that are kept, those of the lowest frequencies; None: all.
        coupling: first_order, with the shortening of the axis by bending, or zero_order, without.
        rotary_inertia: whether its sections resist their turning in bending (Rayleigh's beam).
        end_loads: whether the static shapes of loads at the end are added to the functions.
    """

    link: str
    discretisation: str
    size: int
    xyz: Vector3
    rpy: Vector3
    length: float
    bending_stiffness_y: float
    bending_stiffness_z: float
    torsional_stiffness: float
    damping: float = 0.0
    modulus: float = 0.0
    shear_modulus: float = 0.0
    density: float = 0.0
    sections: tuple[BeamSection, ...] = ()
    axial: int = 1
    torsion: int = 1
    bending: str = "both"
    modes: int | None = None
    coupling: str = "first_order"
    rotary_inertia: bool = True
    end_loads: bool = False

    def sections_at(self, x: np.ndarray) -> np.ndarray:
        """Area, second moments about y and z and torsion constant at places between the steps, shape (n, 4)."""
        table = np.array([astuple(section) for section in self.sections])
        if len(table) == 1:
            return np.tile(table[0, 1:], (len(x), 1))
        before = np.clip(np.searchsorted(table[:, 0], x, side="right") - 1, 0, len(table) - 2)
        below, above = table[before], table[before + 1]
        share = np.clip((x - below[:, 0]) / np.maximum(above[:, 0] - below[:, 0], 1e-300), 0.0, 1.0)
        return below[:, 1:] + share[:, None] * (above - below)[:, 1:]

    @property
    def smooth_pieces(self) -> np.ndarray:
        """Ends of the pieces in which the section varies linearly, ascending from 0 to the length [m]."""
        inner = {section.at for section in self.sections if 0.0 < section.at < self.length}
        return np.array([0.0, *sorted(inner), self.length])


DISCRETISATIONS = ("assumed_modes", "finite_elements", "bezier", "b_spline", "rigid_elements")

Directions = tuple[bool, bool, bool]
# Constrained translations and rotations of a type: in all directions, in none, along its axis, or normal to it.
_CONSTRAINED = {
    "spherical": ("all", "none"),
    "revolute": ("all", "normal"),
    "prismatic": ("normal", "all"),
    "cylindrical": ("normal", "normal"),
    "planar": ("axis", "normal"),
    "fixed": ("all", "all"),
}
PAIR_TYPES = tuple(_CONSTRAINED)


def constrained_directions(type_: str, axis: str) -> tuple[Directions, Directions]:
    """Returns the translations along and the rotations about x, y, z that a loop joint constrains.

    Args:
        type_: one of PAIR_TYPES.
        axis: x, y or z.
    """
    translations, rotations = _CONSTRAINED[type_]
    return _directions(translations, axis), _directions(rotations, axis)


def _directions(which: str, axis: str) -> Directions:
    x, y, z = (which == "all" or which == ("axis" if name == axis else "normal") for name in AXES)
    return (x, y, z)
