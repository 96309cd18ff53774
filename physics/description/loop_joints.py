"""Joints that close loops: the directions that each type constrains."""

AXES = ("x", "y", "z")
Directions = tuple[bool, bool, bool]
# Translations and rotations that a type constrains: in all directions, none, along (about) its axis, or normal to it.
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
