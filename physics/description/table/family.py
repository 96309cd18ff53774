"""Families of elements: rows of the table, with the functions that check and complete their values."""

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
    """A value, and the XML element that it was read from."""

    element: Element
    value: Any


Extension = Mapping[str, tuple[Entry, ...]]


@dataclass(frozen=True)
class Scope:
    """Everything that an element can refer to.

    Attributes:
        links, joints: by name.
        extension: all elements as written, by the field of their row.
    """

    links: Mapping[str, Link]
    joints: Mapping[str, Joint]
    extension: Extension

    def named(self, field: str) -> Mapping[str, Any]:
        """Returns the values of a field by name."""
        return {entry.value.name: entry.value for entry in self.extension[field]}


@dataclass(frozen=True)
class Family:
    """Elements of one subject. A family is one file, and one line in the registry.

    Attributes:
        elements: its rows of the table.
        prepare: applies its elements to links and joints, before other checks; its arguments are the robot, all
            elements and the list of warnings.
        complete: for fields of its rows, a function that checks one element, and returns its value with the defaults
            that depend on other values. Values of other fields stay as read.
        derive: returns further elements that follow from those of this family, by the field to which they are added.
        check: checks several elements together, or the whole machine.
    """

    elements: tuple[ElementKind, ...]
    prepare: Callable[[Robot, Extension, list[str]], Robot] | None = None
    complete: Mapping[str, Callable[[Entry, Scope], Any]] = field(default_factory=dict)
    derive: Callable[[Scope], Mapping[str, tuple[Entry, ...]]] | None = None
    check: Callable[[Machine, Extension], None] | None = None
