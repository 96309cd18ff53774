"""What a family of elements is: its rows of the table, and what makes sure that their values hold together."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Joint, Link
from grouser.physics.description.table.attributes import ElementKind
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.robot import Robot


@dataclass(frozen=True)
class Entry:
    """A value with the element that gave it."""

    element: Element
    value: Any


Extension = Mapping[str, tuple[Entry, ...]]


@dataclass(frozen=True)
class Scope:
    """What an element can refer to.

    Attributes:
        links, joints: by name.
        extension: all elements as they are written, by the field of their row.
    """

    links: Mapping[str, Link]
    joints: Mapping[str, Joint]
    extension: Extension

    def named(self, field: str) -> Mapping[str, Any]:
        """Returns the values of a field by their names."""
        return {entry.value.name: entry.value for entry in self.extension[field]}


@dataclass(frozen=True)
class Family:
    """Elements of one subject. A family is one file, and one line in the registry.

    Attributes:
        elements: its rows of the table.
        prepare: changes links and joints as the elements say, before anything is checked against them; it is given the
            robot, all elements and the list of warnings.
        complete: by the field of a row, what checks one element, and returns its value with the defaults filled in
            that depend on others. A row without it keeps the value that was read.
        derive: elements that follow from those of this family, by the field that they are added to.
        check: checks what depends on several elements or on the whole machine.
    """

    elements: tuple[ElementKind, ...]
    prepare: Callable[[Robot, Extension, list[str]], Robot] | None = None
    complete: Mapping[str, Callable[[Entry, Scope], Any]] = field(default_factory=dict)
    derive: Callable[[Scope], Mapping[str, tuple[Entry, ...]]] | None = None
    check: Callable[[Machine, Extension], None] | None = None
