"""A machine with other values: the text of its description is changed and read again, with all its checks."""

import re
from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import quoteattr

import numpy as np

from grouser.physics.base.checks import require_mapping
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.machine_file import registry
from grouser.physics.description.machine_file.loader import read_again
from grouser.physics.description.table.attributes import ElementKind
from grouser.physics.description.table.reader import TAG
from grouser.physics.description.text.names import closest
from grouser.physics.description.text.xml_tree import Element, parse
from grouser.physics.description.urdf.misspellings import ATTRIBUTES

# Attributes by which an element of a machine is told from others of its tag.
_NAMES = ("name", "link", "joint")
# Elements of links and joints that a change may add.
_ADDED = ("dynamics", "limit", "origin")
_KINDS = {kind.tag: kind for kind in registry.ELEMENTS}


def changed(machine: Machine, changes: Mapping[str, object]) -> Machine:
    """Returns a machine with other values in its description; see `Machine.replace`.

    Raises:
        ParameterError: a path that leads to nothing, a value that no attribute can have, or a fleet.
        MachineError: the changed description is not valid.
    """
    require_mapping("changes", changes, "values by path, such as {'cylinder.boom.bore': 0.06}")
    if machine.members or not machine.source:
        raise ParameterError("machine", machine.name, "one from a file, not yet combined with others")
    text = machine.source
    for path, value in changes.items():
        text = _with_value(text, machine.file, path, _written(path, value))
    return read_again(machine, text)


def _written(path: str, value: object) -> str:
    """A value as an attribute has it."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int | float | np.integer | np.floating):
        return repr(float(value)) if isinstance(value, float | np.floating) else str(int(value))
    if isinstance(value, Sequence | np.ndarray) and len(value):
        return " ".join(_written(path, item) for item in value)
    raise ParameterError(path, value, "a number, a truth value, a text, or a list of numbers")


def _with_value(text: str, file: str, path: str, value: str) -> str:
    """The text with another value of the attribute at a path."""
    if not isinstance(path, str):
        raise ParameterError("path", path, "a text, such as cylinder.boom.bore")
    root = parse(text, file, has_lines=False)
    element, rest = _named_element(root, path)
    if element is None:
        return _with_value(_with_element(text, root, path), file, path, value)
    while "." in rest and rest.partition(".")[0] not in element.attributes:
        tag, _, after = rest.partition(".")
        children = list(element.all(tag))
        number, _, below = after.partition(".")
        if len(children) > 1 and number.isdigit() and int(number) < len(children):
            element, rest = children[int(number)], below
        elif len(children) == 1:
            element, rest = children[0], after
        elif not children and tag in _ADDED and element.tag in ("link", "joint"):
            return _with_value(_with_child(text, element, f"<{tag}/>"), file, path, value)
        else:
            valid = closest(tag, {child.tag for child in element.children})
            if len(children) > 1:
                valid = f"there are {len(children)} of <{tag}>: write {tag}.0 to {tag}.{len(children) - 1}"
            raise ParameterError("path", path, f"{element.label} has no <{tag}>; {valid}")
    known = {*element.attributes, *_attributes(element.tag, path)}
    if rest not in known:
        raise ParameterError("path", path, f"{element.label} has no attribute '{rest}'; {closest(rest, known)}")
    return _with_attribute(text, element, rest, value)


def _named_element(root: Element, path: str) -> tuple[Element | None, str]:
    """The element of the robot at the beginning of a path, and the rest of it; None for one that can be added."""
    tag, _, rest = path.partition(".")
    top = [*root.children, *(child for holder in root.all(TAG) for child in holder.children)]
    found = [element for element in top if element.tag == tag]
    kind = _KINDS.get(tag)
    if not found and kind is None:
        raise ParameterError("path", path, f"there is no <{tag}>; {closest(tag, {*_KINDS, *(e.tag for e in top)})}")
    if kind is not None and kind.single:
        return (found[0] if found else None), rest
    names = {_name_of(element): element for element in found}
    fitting = [name for name in names if rest.startswith(f"{name}.")]
    if fitting:
        name = max(fitting, key=len)
        return names[name], rest[len(name) + 1 :]
    if kind is not None and _key_of(kind) in ("link", "joint") and "." in rest:
        return None, rest
    raise ParameterError("path", path, f"there is no such <{tag}>; {closest(rest.partition('.')[0], names)}")


def _name_of(element: Element) -> str:
    return next((element.attributes[name] for name in _NAMES if name in element.attributes), "")


def _key_of(kind: ElementKind) -> str:
    own = {attribute.name for attribute in kind.attributes}
    return next((name for name in _NAMES if name in own), "")


def _attributes(tag: str, path: str) -> Iterable[str]:
    """Attributes that an element may have, whether or not it has them."""
    kind = _KINDS.get(path.partition(".")[0])
    if kind is None:
        return ATTRIBUTES.get(tag, ())
    for part in (kind, *kind.parts):
        if part.tag == tag:
            return [attribute.name for attribute in part.attributes]
    return ()


def _with_element(text: str, root: Element, path: str) -> str:
    """The text with a new element of ``<grouser>``: a single one, or that of the link or joint in the path."""
    tag, _, rest = path.partition(".")
    kind = _KINDS[tag]
    name = rest.rpartition(".")[0]
    named = "" if kind.single else f" {_key_of(kind)}={quoteattr(name)}"
    return _with_child(text, root, f"<{TAG}><{tag}{named}/></{TAG}>")


def _with_child(text: str, parent: Element, child: str) -> str:
    """The text with an element at the beginning of another one."""
    raw = text.encode("utf-8")
    end = _end_of_tag(raw, parent.offset)
    if raw[end - 2 : end] == b"/>":
        grown = raw[: end - 2] + f">{child}</{parent.tag}>".encode() + raw[end:]
    else:
        grown = raw[:end] + child.encode() + raw[end:]
    return grown.decode("utf-8")


def _with_attribute(text: str, element: Element, name: str, value: str) -> str:
    """The text with another value of an attribute."""
    raw = text.encode("utf-8")
    end = _end_of_tag(raw, element.offset)
    tag = raw[element.offset : end].decode("utf-8")
    written = f" {name}={quoteattr(value)}"
    pattern = rf"""\s{re.escape(name)}\s*=\s*("[^"]*"|'[^']*')"""
    if name in element.attributes:
        tag = re.sub(pattern, lambda _: written, tag, count=1)
    else:
        tag = f"<{element.tag}{written}{tag[1 + len(element.tag) :]}"
    return (raw[: element.offset] + tag.encode() + raw[end:]).decode("utf-8")


def _end_of_tag(raw: bytes, begin: int) -> int:
    """Index after the start tag that begins at an index; a > in a quoted value does not end it."""
    found = re.compile(rb"""<(?:"[^"]*"|'[^']*'|[^>"'])*>""").match(raw, begin)
    assert found is not None  # expat has read it
    return found.end()
