"""XML text to a tree of elements with line numbers.

Namespace prefixes stay in the tag (``drake:proximity_properties``), declared or not: many URDF files do not declare
them. Document type declarations are refused: URDF needs none, and entities can expand without bound.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from grouser.physics.base.errors import MachineError
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.text import numbers
from grouser.physics.description.text.names import shortened

BYTES_MAX = 50_000_000
DEPTH_MAX = 100
# Where elements without line are.
_EXPANDED = "in what xacro expands it to"
IS_XACRO = "it is xacro: let the name of the file end in .xacro"
_UNEXPANDED = ("${", "$(")
_CODES = expat.errors.codes
_REMEDIES = {
    _CODES[expat.errors.XML_ERROR_MISPLACED_XML_PI]: "let the file begin with <?xml ...?>, or leave it out",
    _CODES[expat.errors.XML_ERROR_INVALID_TOKEN]: "is it a URDF or xacro file? In texts & is written &amp; and < is "
    "written &lt;, and a comment holds no --",
}
_LATE_DECLARATION = re.compile(r"^\s+<\?xml\b[^>]*\?>")


@dataclass(slots=True, eq=False)
class Element:
    """One XML element.

    Attributes:
        tag: as written, with its prefix.
        attributes: in the order of the file.
        file: path, for messages.
        line: 1-based line of its start tag; None for text that xacro produced.
        children: child elements.
        offset: of its start tag in the text, in bytes of UTF-8.
    """

    tag: str
    attributes: dict[str, str]
    file: str
    line: int | None
    children: list["Element"] = field(default_factory=list)
    offset: int = 0

    @property
    def label(self) -> str:
        """Name of the element in messages, for instance ``<joint name="boom">``."""
        for key in ("name", "link", "joint"):
            if key in self.attributes:
                return f'<{self.tag} {key}="{self.attributes[key][:80]}">'
        return f"<{self.tag}>"

    @property
    def place(self) -> str:
        """File, line and label, as messages begin."""
        where = f"{self.file}, {_EXPANDED}" if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.label}"

    def error(self, problem: str, remedy: str | None = None) -> MachineError:
        """Returns a `MachineError` with this element's file, line and label."""
        if self.line is None:
            remedy = f"{remedy}; {_EXPANDED}" if remedy else _EXPANDED
        return MachineError(problem, file=self.file, line=self.line, element=self.label, remedy=remedy)

    def all(self, tag: str) -> Iterator["Element"]:
        """Yields the children with this tag."""
        return (child for child in self.children if child.tag == tag)

    def optional(self, tag: str) -> "Element | None":
        """Returns the child with this tag, None when there is none.

        Raises:
            MachineError: there are several.
        """
        found = list(self.all(tag))
        if len(found) > 1:
            raise found[1].error(f"{self.label} has {len(found)} <{tag}> elements, one is allowed", "remove the others")
        return found[0] if found else None

    def required(self, tag: str) -> "Element":
        """Returns the only child with this tag.

        Raises:
            MachineError: there is none, or there are several.
        """
        found = self.optional(tag)
        if found is None:
            raise self.error(f"a <{tag}> element is missing", f"add <{tag} .../>")
        return found

    def text(self, name: str) -> str:
        """Returns the required attribute `name`, which must not be empty.

        Raises:
            MachineError: it is missing or empty.
        """
        value = self.attributes.get(name)
        if value is None:
            raise self.error(f"attribute '{name}' is missing", f'add {name}="..."')
        if not value.strip():
            raise self.error(f"attribute '{name}' is empty")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """Returns the attribute `name` as a finite number; `default` when it is absent and a default is given.

        Raises:
            MachineError: it is missing without a default, or not a finite number.
        """
        if default is not None and name not in self.attributes:
            return default
        text = self.text(name)
        try:
            return numbers.number(text)
        except ValueError as problem:
            raise self.error(f"{name} = {shortened(text)} is {problem}", _unexpanded_remedy(text)) from None

    def limit(self, name: str) -> float:
        """Returns the attribute `name` as a number, which may be infinite: ``inf``, or too large for a double.

        Raises:
            MachineError: it is missing or not a number.
        """
        text = self.text(name)
        try:
            return numbers.limit(text)
        except ValueError as problem:
            raise self.error(f"{name} = {shortened(text)} is {problem}", _unexpanded_remedy(text)) from None

    def vector(self, name: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """Returns the attribute `name` as `count` finite numbers; `default` when it is absent and a default is given.

        Raises:
            MachineError: it is missing without a default, or not so many finite numbers.
        """
        if default is not None and name not in self.attributes:
            return default
        text = self.text(name)
        try:
            return numbers.numbers(text, count)
        except ValueError as problem:
            remedy = _unexpanded_remedy(text) or f"give {count} numbers, separated by spaces"
            raise self.error(f"{name} = {shortened(text)}: {problem}", remedy) from None

    def triple(self, name: str, default: Vector3 | None = None) -> Vector3:
        """Returns the attribute `name` as three finite numbers; see `vector`."""
        x, y, z = self.vector(name, 3, default)
        return (x, y, z)


def may_be_xacro(text: str) -> bool:
    """Returns whether the text of a file may hold xacro: expressions, or elements or a name space with its prefix."""
    return is_unexpanded(text) or "xacro:" in text


def is_unexpanded(text: str) -> bool:
    """Returns whether a text holds an expression of xacro."""
    return any(start in text for start in _UNEXPANDED)


def _unexpanded_remedy(text: str) -> str | None:
    return IS_XACRO if is_unexpanded(text) else None


class _RefusedError(Exception):
    """Raised in an expat handler to stop parsing."""


def without_slips(text: str) -> str:
    """Returns a text of as many lines without what is not well-formed but does no harm.

    This is an XML declaration below blank lines, and zero bytes at the end.
    """
    return _LATE_DECLARATION.sub(lambda found: "\n" * found.group().count("\n"), text, count=1).rstrip("\0")


def parse(text: str, file: str, has_lines: bool = True) -> Element:
    """Reads XML text.

    Args:
        text: the document; a declared encoding is ignored.
        file: its name in messages.
        has_lines: whether messages give line numbers; not useful for text that xacro produced.

    Returns:
        The root element.

    Raises:
        MachineError: not well-formed, nested deeper than DEPTH_MAX, or with a document type declaration.
    """
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parents: list[Element] = []
    roots: list[Element] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(parents) >= DEPTH_MAX:
            raise _RefusedError(f"elements are nested deeper than {DEPTH_MAX}")
        line = parser.CurrentLineNumber if has_lines else None
        element = Element(tag, attributes, file, line, offset=parser.CurrentByteIndex)
        (parents[-1].children if parents else roots).append(element)
        parents.append(element)

    def end(_tag: str) -> None:
        parents.pop()

    def declaration(*_arguments: object) -> None:
        raise _RefusedError("a document type declaration is not read: entities can expand without bound")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = declaration
    parser.EntityDeclHandler = declaration
    try:
        parser.Parse(text.encode("utf-8"), True)
    except _RefusedError as refusal:
        line = parser.CurrentLineNumber if has_lines else None
        raise MachineError(str(refusal), file=file, line=line, remedy="simplify the file") from None
    except UnicodeEncodeError as error:
        raise MachineError(f"the text holds an invalid character at offset {error.start}", file=file) from None
    except expat.ExpatError as error:
        raise MachineError(
            f"not well-formed XML: {expat.ErrorString(error.code)}, column {error.offset + 1}",
            file=file,
            line=error.lineno if has_lines else None,
            remedy=_REMEDIES.get(error.code, "is it a URDF or xacro file, and are all tags closed?"),
        ) from None
    return roots[0]
