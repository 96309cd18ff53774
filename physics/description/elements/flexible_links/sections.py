"""Cross sections as written: of any shape, round or rectangular, solid or hollow."""

import math
from dataclasses import dataclass, fields

from grouser.physics.description.data.compliance import BeamSection
from grouser.physics.description.table.attributes import Attribute, ElementKind, non_negative, positive
from grouser.physics.description.text.xml_tree import Element

_GENERAL = ("area", "second_moment_y", "second_moment_z", "torsion_constant")
_RECTANGLE = ("width", "height")


@dataclass(frozen=True)
class SectionShape:
    """Cross section as written [m, m2, m4]; None for what is not given."""

    area: float | None = None
    second_moment_y: float | None = None
    second_moment_z: float | None = None
    torsion_constant: float | None = None
    diameter: float | None = None
    width: float | None = None
    height: float | None = None
    wall: float | None = None


@dataclass(frozen=True)
class WrittenSection(SectionShape):
    """A section at a place along the elastic axis [m]."""

    at: float = 0.0


def _shape(name: str, unit: str, description: str) -> Attribute:
    return positive(name, unit, description, default_text="none")


SHAPE = (
    _shape("area", "m2", "of the cross section"),
    _shape("second_moment_y", "m4", "of area, of bending about y; if only one of the two is given, both are equal"),
    _shape("second_moment_z", "m4", "of area, of bending about z"),
    positive("torsion_constant", "m4", "J of G J", default_text="sum of the second moments, right for round sections"),
    _shape("diameter", "m", "of a round section"),
    _shape("width", "m", "of a rectangular section, along y"),
    _shape("height", "m", "of a rectangular section, along z"),
    _shape("wall", "m", "thickness of the wall of a hollow round or rectangular section"),
)
SECTION = ElementKind(
    "section",
    "A cross section, given by `area` and second moments, by `diameter` or by `width` and `height`. Its properties "
    "vary linearly to those of the next section, and are constant before the first and after the last. Two sections at "
    "one place are a step",
    (non_negative("at", "m", "place along the elastic axis"), *SHAPE),
    WrittenSection,
    repeated=True,
)


def has_shape(shape: object) -> bool:
    """Whether anything of a cross section is given."""
    return any(getattr(shape, field.name) is not None for field in fields(SectionShape))


def section_of(shape: SectionShape, at: float, element: Element) -> BeamSection:
    """The properties of a section.

    Args:
        shape: as written.
        at: place along the elastic axis [m].
        element: for messages.

    Raises:
        MachineError: not exactly one shape is given, or its wall is too thick.
    """
    given = [field.name for field in fields(SectionShape) if getattr(shape, field.name) is not None]
    ways = [way for way in (_GENERAL, ("diameter",), _RECTANGLE) if any(name in given for name in way)]
    if len(ways) != 1:
        raise element.error(
            f"its cross section is given {'in two ways' if ways else 'nowhere'}",
            "give either area with second_moment_y or second_moment_z, or diameter, or width and height",
        )
    if ways[0] is _GENERAL:
        return _general(shape, at, given, element)
    if ways[0] is _RECTANGLE:
        for name in _RECTANGLE:
            if name not in given:
                raise element.error(f"{name} is missing beside {given[0]}", "a rectangle has width and height")
    outer = shape.diameter if shape.diameter is not None else min(shape.width or 0.0, shape.height or 0.0)
    if shape.wall is not None and shape.wall >= 0.5 * outer:
        raise element.error(
            f"wall = {shape.wall:g} m fills the section of {outer:g} m; valid: below {0.5 * outer:g}",
            "leave it out for a solid section",
        )
    if shape.diameter is not None:
        area, moment = (_round(n, shape.diameter, shape.wall) for n in (2, 4))
        return BeamSection(at, area, moment, moment, 2.0 * moment)
    return _rectangle(shape.width or 0.0, shape.height or 0.0, shape.wall, at)


def _general(shape: SectionShape, at: float, given: list[str], element: Element) -> BeamSection:
    if "wall" in given:
        raise element.error("wall is given for a section without diameter, width and height", "leave it out")
    about_y = shape.second_moment_z if shape.second_moment_y is None else shape.second_moment_y
    about_z = about_y if shape.second_moment_z is None else shape.second_moment_z
    if shape.area is None or about_y is None or about_z is None:
        missing = "area" if shape.area is None else "second_moment_y or second_moment_z"
        raise element.error(f"{missing} is missing beside {given[0]}", "a section has an area and a second moment")
    return BeamSection(at, shape.area, about_y, about_z, shape.torsion_constant or about_y + about_z)


def _round(power: int, diameter: float, wall: float | None) -> float:
    """Area (power 2) or second moment (4) of a disc or ring."""
    inner = 0.0 if wall is None else diameter - 2.0 * wall
    return math.pi * (diameter**power - inner**power) / (4.0 if power == 2 else 64.0)


def _rectangle(width: float, height: float, wall: float | None, at: float) -> BeamSection:
    inner_width, inner_height = (0.0, 0.0) if wall is None else (width - 2.0 * wall, height - 2.0 * wall)
    area = width * height - inner_width * inner_height
    about_y = (width * height**3 - inner_width * inner_height**3) / 12.0
    about_z = (height * width**3 - inner_height * inner_width**3) / 12.0
    if wall is None:
        torsion = _solid_torsion(max(width, height), min(width, height))
    else:
        # Bredt's formula for thin walls: 4 A^2 t / perimeter, both of the middle line
        torsion = 2.0 * wall * ((width - wall) * (height - wall)) ** 2 / (width + height - 2.0 * wall)
    return BeamSection(at, area, about_y, about_z, torsion)


def _solid_torsion(long: float, short: float) -> float:
    """Saint-Venant's torsion constant of a rectangle [m4]; Timoshenko and Goodier, "Theory of Elasticity", art. 109."""
    series = sum(math.tanh(0.5 * n * math.pi * long / short) / n**5 for n in range(1, 40, 2))
    return long * short**3 * (1.0 / 3.0 - 64.0 / math.pi**5 * short / long * series)
