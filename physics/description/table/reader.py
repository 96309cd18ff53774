"""Reads ``<grouser>`` elements according to a table; `checks` compares their values."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.table.attributes import Attribute, ElementKind, Kind
from grouser.physics.description.table.family import Entry, Extension
from grouser.physics.description.text import numbers
from grouser.physics.description.text.names import closest, shortened
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.origin import direction, read_points, read_position

TAG = "grouser"
# Attribute that names the attributes of its element whose values are meant, though another unit is more plausible.
MEANT = "meant"
# Larger values are typing errors, whatever the unit.
_NUMBER_MAX = 1e15


def read_extension(robot: Element, elements: Collection[ElementKind]) -> Extension:
    """Reads all ``<grouser>`` elements of a robot; several count as one.

    Args:
        robot: the document's root element.
        elements: the table of valid elements.

    Returns:
        The entries by the `field` of their row, in the order of the file; every field is present.

    Raises:
        MachineError: an unknown tag or attribute, a value out of range, or a repeated element that must be unique.
    """
    kinds = {kind.tag: kind for kind in elements}
    entries: dict[str, list[Entry]] = {kind.field: [] for kind in elements}
    taken: dict[tuple[str, Any], Element] = {}
    for holder in robot.all(TAG):
        _check_attributes(holder, ())
        for element in holder.children:
            kind = kinds.get(element.tag)
            if kind is None:
                raise element.error(f"unknown element <{element.tag[:60]}> in <{TAG}>", closest(element.tag, kinds))
            value = _build(element, kind)
            key = (kind.tag, getattr(value, kind.unique) if kind.unique else None)
            if (kind.single or kind.unique) and key in taken:
                what = f"with {kind.unique} '{key[1]}'" if kind.unique else "in the machine"
                line = taken[key].line
                raise element.error(
                    f"there is already a <{kind.tag}> {what}" + (f", in line {line}" if line else ""),
                    "keep one of them",
                )
            taken[key] = element
            entries[kind.field].append(Entry(element, value))
    return {name: tuple(found) for name, found in entries.items()}


def _build(element: Element, kind: ElementKind) -> Any:
    guarded = [attribute.name for attribute in kind.attributes if attribute.plausible is not None]
    names = (attribute.name for attribute in kind.attributes)
    former = (attribute.former_name for attribute in kind.attributes if attribute.former_name in element.attributes)
    _check_attributes(element, (*names, *former, *([MEANT] if guarded else ())))
    if guarded and MEANT in element.attributes:
        for name in element.text(MEANT).split():
            if name not in guarded:
                raise element.error(f"{MEANT} = {shortened(name)} is not valid", closest(name, guarded))
    values = {
        attribute.name: _read(element, attribute) for attribute in kind.attributes if attribute.kind is not Kind.ALONG
    }
    tags = [part.tag for part in kind.parts]
    for child in element.children:
        if child.tag not in tags:
            remedy = closest(child.tag, tags) if tags else "it holds no elements"
            raise child.error(f"unknown element <{child.tag[:60]}> in <{kind.tag}>", remedy)
    for part in kind.parts:
        if part.repeated:
            values[part.tag] = tuple(_build(found, part) for found in element.all(part.tag))
            continue
        found = element.optional(part.tag) if part.optional else element.required(part.tag)
        values[part.tag] = None if found is None else _build(found, part)
    return kind.build(**values)


def _check_attributes(element: Element, valid: tuple[str, ...]) -> None:
    for name in element.attributes:
        # Namespace declarations and prefixed attributes belong to other programs.
        if name not in valid and ":" not in name and name != "xmlns":
            remedy = closest(name, valid) if valid else "it has no attributes"
            raise element.error(f"unknown attribute '{name[:60]}'", remedy)


def _read(element: Element, attribute: Attribute) -> Any:
    if attribute.former_name in element.attributes:
        if attribute.name in element.attributes:
            raise element.error(f"{attribute.name} is given twice, the second time as {attribute.former_name}")
        attribute = replace(attribute, name=attribute.former_name)
    if attribute.name not in element.attributes and not attribute.required:
        return attribute.default
    reader = _READERS.get(attribute.kind)
    return element.text(attribute.name) if reader is None else reader(element, attribute)


def _number(element: Element, attribute: Attribute) -> float:
    value = element.number(attribute.name)
    _check_range(element, attribute, value)
    return value


def _count(element: Element, attribute: Attribute) -> int:
    value = element.number(attribute.name)
    if not value.is_integer():
        raise element.error(f"{attribute.name} = {value:g} is not a whole number")
    _check_range(element, attribute, value)
    return int(value)


def _directional(element: Element, attribute: Attribute) -> float | Vector3:
    count = len(element.text(attribute.name).split())
    if count == 1:
        return _number(element, attribute)
    if count != 3:
        raise element.error(
            f"{attribute.name} = {shortened(element.text(attribute.name))}: {count} numbers",
            "give one number, or three for x, y and z",
        )
    values = element.triple(attribute.name)
    for value in values:
        _check_range(element, attribute, value)
    return values


def _boolean(element: Element, attribute: Attribute) -> bool:
    text = element.text(attribute.name)
    try:
        return numbers.boolean(text)
    except ValueError as problem:
        raise element.error(f"{attribute.name} = {shortened(text)} is {problem}") from None


def _choice(element: Element, attribute: Attribute) -> str:
    text = element.text(attribute.name)
    if text not in attribute.choices:
        raise element.error(f"{attribute.name} = {shortened(text)} is not valid", closest(text, attribute.choices))
    return text


# Other kinds are names: the text is the value.
_READERS: Mapping[Kind, Callable[[Element, Attribute], Any]] = {
    Kind.NUMBER: _number,
    Kind.COUNT: _count,
    Kind.POINT: lambda element, attribute: read_position(element, attribute.name),
    Kind.POINTS: lambda element, attribute: read_points(element, attribute.name),
    Kind.ANGLES: lambda element, attribute: element.triple(attribute.name),
    Kind.DIRECTION: lambda element, attribute: direction(element, attribute.name),
    Kind.DIRECTIONAL: _directional,
    Kind.BOOLEAN: _boolean,
    Kind.CHOICE: _choice,
}


def _check_range(element: Element, attribute: Attribute, value: float) -> None:
    low, high = attribute.minimum, attribute.maximum
    too_low = low is not None and (value <= low if attribute.above_minimum else value < low)
    if too_low or (high is not None and value > high):
        unit = "" if attribute.unit == "-" else f" {attribute.unit}"
        raise element.error(f"{attribute.name} = {value:g}{unit} is out of range; valid: {attribute.valid()}")
    _check_unit(element, attribute, value)
    if abs(value) > _NUMBER_MAX:
        raise element.error(f"{attribute.name} = {value:g} is beyond {_NUMBER_MAX:g}", f"its unit is {attribute.unit}")


def _check_unit(element: Element, attribute: Attribute, value: float) -> None:
    others = () if attribute.plausible is None else attribute.plausible.meant(value)
    if others and attribute.name not in element.attributes.get(MEANT, "").split():
        units = " or ".join(unit for unit, _ in others)
        converted = ", ".join(f"{value:g} {unit} are {size:.4g} {attribute.unit}" for unit, size in others)
        raise element.error(
            f"{attribute.name} = {value:g} {attribute.unit} is not plausible: is it in {units}? {converted}",
            f'write it in {attribute.unit}, or {MEANT}="{attribute.name}" if {value:g} {attribute.unit} is meant',
        )
