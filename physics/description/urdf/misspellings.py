"""Elements and attributes of links and joints whose names are misspelt: they would be ignored without a word."""

import difflib

from grouser.physics.description.text.mending import Mendings
from grouser.physics.description.text.xml_tree import Element

# Elements of URDF that are read in each element; those of other programs are left to them.
_CHILDREN = {
    "robot": ("link", "joint", "material"),
    "link": ("inertial", "visual", "collision"),
    "inertial": ("origin", "mass", "inertia"),
    "visual": ("origin", "geometry", "material"),
    "collision": ("origin", "geometry"),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"),
}
# Attributes that are read of each element.
ATTRIBUTES = {
    "origin": ("xyz", "rpy", "quat_xyzw"),
    "inertia": ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
    "limit": ("lower", "upper", "effort", "velocity"),
    "dynamics": ("damping", "friction"),
    "mimic": ("joint", "multiplier", "offset"),
    "mesh": ("filename", "scale"),
}
# Words of URDF, or of its users, that are like those above.
_OTHERS = frozenset(
    {"acceleration", "deceleration", "jerk", "spring_stiffness", "spring_reference", "rolling_friction"}
)
# Elements of which there may be several: one that is misspelt is told though there are others.
_SEVERAL = frozenset({"link", "joint", "material", "visual", "collision"})
# Least likeness of the names, as of difflib: names of attributes are shorter.
_LIKE_ELEMENT, _LIKE_ATTRIBUTE = 0.7, 0.65


def tell_misspellings(robot: Element, mendings: Mendings) -> None:
    """Tells elements and attributes that are not read, and are like one that is read and missing.

    Args:
        robot: not changed.
        mendings: extended.
    """
    _tell(robot, "the robot", mendings)
    for part in (*robot.all("link"), *robot.all("joint")):
        _tell_below(part, f"{part.tag} '{part.attributes.get('name', '')}'", mendings)


def _tell_below(element: Element, owner: str, mendings: Mendings) -> None:
    _tell(element, owner, mendings)
    for child in element.children:
        if child.tag in _CHILDREN.get(element.tag, ()) or element.tag == "geometry":
            _tell_below(child, owner, mendings)


def _tell(element: Element, owner: str, mendings: Mendings) -> None:
    present = {child.tag for child in element.children} - _SEVERAL
    for child in element.children:
        meant = _meant(child.tag, _CHILDREN.get(element.tag, ()), present, _LIKE_ELEMENT)
        if meant:
            mendings.add(child, owner, f"has <{child.tag}>, which is not read: is <{meant}> meant?")
    for name in element.attributes:
        meant = _meant(name, ATTRIBUTES.get(element.tag, ()), set(element.attributes), _LIKE_ATTRIBUTE)
        if meant:
            mendings.add(element, owner, f"has {name} in <{element.tag}>, which is not read: is {meant} meant?")


def _meant(name: str, read: tuple[str, ...], present: set[str], likeness: float) -> str:
    """The word that a misspelt one is meant for; empty for none, or if there is that word, too."""
    if name in read or name in _OTHERS or ":" in name:
        return ""
    close = difflib.get_close_matches(name.lower()[:60], read, 1, likeness)
    return close[0] if close and close[0] not in present else ""
