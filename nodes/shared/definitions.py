"""Definitions of message types, as the installed interface packages have them."""

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from grouser.physics.base.errors import GrouserError

_SEPARATOR = "=" * 80
# Type of a field at the beginning of a line: bounds and arrays, which follow it, are left out.
_FIELD = re.compile(r"^\s*((?:[A-Za-z]\w*/)*[A-Z]\w*)\b")


def definition_of(kind: str) -> str:
    """Text of a message type and of all types that it contains, in the format ros2msg.

    Args:
        kind: of messages, package/msg/Name.

    Raises:
        GrouserError: the definition of one of them is not installed.
    """
    texts = {kind: _text(kind)}
    waiting = [kind]
    while waiting:
        for part in _parts(waiting.pop(0), texts):
            if part not in texts:
                texts[part] = _text(part)
                waiting.append(part)
    own, *others = texts.items()
    return "\n".join([own[1], *(f"{_SEPARATOR}\nMSG: {_short(name)}\n{text}" for name, text in others)])


def type_hash_of(kind: str) -> str:
    """Hash of a message type (RIHS01); "" where the installed packages have none, before ROS 2 Iron."""
    for folder in _folders(kind):
        file = folder / f"{kind.split('/')[2]}.json"
        if file.is_file():
            hashes = {one["type_name"]: one["hash_string"] for one in json.loads(file.read_text())["type_hashes"]}
            return hashes[kind]
    return ""


def _parts(kind: str, texts: dict[str, str]) -> Iterator[str]:
    """The message types of the fields of a type."""
    package = kind.split("/")[0]
    for line in texts[kind].splitlines():
        field = _FIELD.match(line)
        if field is not None:
            *owner, name = field[1].split("/")
            yield f"{owner[0] if owner else package}/msg/{name}"


@cache
def _text(kind: str) -> str:
    file = f"{kind.split('/')[2]}.msg"
    folders = list(_folders(kind))
    for folder in folders:
        if (folder / file).is_file():
            return (folder / file).read_text(encoding="utf-8")
    raise GrouserError(
        f"the definition of {kind} is not installed: there is no {file} in {' or '.join(map(str, folders))}"
    )


def _folders(kind: str) -> Iterator[Path]:
    """Where definitions may be beside the Python module of a package: <prefix>/share/<package>/msg."""
    package = kind.split("/")[0]
    module = import_module(f"{package}.msg").__file__
    assert module is not None, "a regular package"
    # <prefix>/lib/python3.x/site-packages/<package>/msg/__init__.py, or <prefix>/local/lib/... on Debian
    for prefix in Path(module).resolve().parents[5:7]:
        yield prefix / "share" / package / "msg"


def _short(kind: str) -> str:
    package, _, name = kind.split("/")
    return f"{package}/{name}"
