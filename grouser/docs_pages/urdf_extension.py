"""Writes docs/urdf_extension.md from the table by which ``<grouser>`` elements are read.

python -m grouser.docs_pages.urdf_extension > docs/urdf_extension.md
"""

import sys
from collections.abc import Iterator

from grouser.physics.description.machine_file import registry
from grouser.physics.description.table.attributes import Attribute, ElementKind, Kind
from grouser.physics.description.table.reader import TAG

_INTRODUCTION = f"""# The `<{TAG}>` element

The element `<{TAG}>`, a child of `<robot>`, describes what URDF has no elements for. Other programs ignore it. A file
may have several, so that each xacro macro can have its own; they count as one. Names refer to links and joints of the
URDF; units are SI. An unknown element, attribute or name and a value out of range are errors. The message gives file,
line, element, the bad value and the valid ones. For xacro files it gives no line, as the expanded text has other lines.
A value of the hydraulics that is plausible only in a unit of catalogues, such as a bore of 60 or a pressure of 220, is
an error too; `meant="bore"` on its element says that it is meant.

This page is generated from the tables in `physics/description/elements/`.

```xml
<robot name="arm">
  ...
  <{TAG}>
    <fluid density="850" bulk_modulus="1.4e9"/>
    <pump supply_pressure="18e6"/>
    <directional_valve name="boom_valve" spool_diameter="0.006" spool_travel="0.0002"/>
    <cylinder name="boom" valve="boom_valve" bore="0.08" rod_diameter="0.045" stroke="0.4" retracted_length="0.7"
              piston_mass="6" dead_volume_piston_side="1e-4" dead_volume_rod_side="1e-4" holding_brake="true">
      <barrel link="chassis" xyz="0.3 0 0.2"/>
      <rod link="boom" xyz="0.5 0 -0.1"/>
    </cylinder>
  </{TAG}>
</robot>
```
"""

_KINDS = {
    Kind.NUMBER: "number",
    Kind.COUNT: "whole number",
    Kind.POINT: "three numbers",
    Kind.POINTS: "three numbers a point",
    Kind.ANGLES: "three numbers",
    Kind.DIRECTION: "three numbers, not all zero",
    Kind.DIRECTIONAL: "one number or three",
    Kind.BOOLEAN: "true or false",
    Kind.NAME: "a name",
    Kind.CHOICE: "a word",
    Kind.LINK: "name of a link",
    Kind.JOINT: "name of a joint",
    Kind.VALVE: "name of a valve",
    Kind.PORT: "name of a line",
    Kind.MATERIAL: "a name",
}


def extension_page() -> str:
    """Returns the text of docs/urdf_extension.md."""
    return "\n".join([_INTRODUCTION, *(line for kind in registry.ELEMENTS for line in _section(kind, "##"))])


def _section(kind: ElementKind, heading: str) -> Iterator[str]:
    yield f"{heading} `<{kind.tag}>`"
    yield ""
    yield kind.description[0].upper() + kind.description[1:].rstrip(".") + "." + _how_often(kind)
    yield ""
    yield "| attribute | unit | default | valid | meaning |"
    yield "|---|---|---|---|---|"
    for attribute in kind.attributes:
        cells = (f"`{attribute.name}`", attribute.unit, _default(attribute), _valid(attribute), attribute.description)
        yield "| " + " | ".join(cells) + " |"
    yield ""
    for part in kind.parts:
        yield from _section(part, heading + "#")


def _how_often(kind: ElementKind) -> str:
    if kind.single:
        return " At most one."
    if kind.unique is not None:
        return f" Each has its own `{kind.unique}`."
    if kind.field:
        return ""
    if kind.repeated:
        return " Any number in each."
    return " At most one in each." if kind.optional else " Exactly one in each."


def _default(attribute: Attribute) -> str:
    if attribute.required:
        return "required"
    if attribute.default_text:
        return attribute.default_text
    if isinstance(attribute.default, bool):
        return str(attribute.default).lower()
    if isinstance(attribute.default, tuple):
        return " ".join(f"{value:g}" for value in attribute.default)
    return f"{attribute.default:g}" if isinstance(attribute.default, float) else str(attribute.default)


def _valid(attribute: Attribute) -> str:
    if attribute.kind in (Kind.COUNT, Kind.DIRECTIONAL):
        return f"{_KINDS[attribute.kind]}, {attribute.valid()}"
    return attribute.valid() or _KINDS[attribute.kind]


if __name__ == "__main__":
    sys.stdout.write(extension_page())
