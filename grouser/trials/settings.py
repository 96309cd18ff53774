"""Settings of a trial by address: where the value goes that a sweep or a fit changes.

machine, world, program        the name or file itself
step, duration                 [s]
argument.bore                  an argument of the machine's xacro file
machine.cylinder.lift.bore     a value of the machine's description, as of `Machine.replace`
world.ground.soil.type         a value of the world file
program.commands.0.value       a value of the command program; entries of lists by their numbers
"""

import copy
from collections.abc import Mapping
from typing import Any

from grouser.physics.base.errors import ParameterError
from grouser.physics.description.text.names import closest

WHOLES = ("machine", "world", "program", "step", "duration")
GROUPS = ("argument", "machine", "world", "program")


def check_address(address: object) -> str:
    """Refuses what is no address; whether a path leads anywhere is seen when it is applied.

    Raises:
        ParameterError: neither one of `WHOLES` nor a path in one of `GROUPS`.
    """
    text = address if isinstance(address, str) else ""
    group, dot, path = text.partition(".")
    if text in WHOLES or (group in GROUPS and dot and path):
        return text
    valid = [*WHOLES, *(f"{name}.PATH" for name in GROUPS)]
    remedy = f"{group}.NAME" if group in GROUPS else closest(group, {*WHOLES, *GROUPS})
    raise ParameterError("address", address, f"{remedy}; addresses are {', '.join(valid)}")


def in_group(settings: Mapping[str, Any], group: str) -> dict[str, Any]:
    """Returns the settings of a group by their paths in it."""
    return {path: value for path, value in ((_path_in(address, group), value) for address, value in settings.items())
            if path}  # fmt: skip


def with_values(content: Any, values: Mapping[str, Any], group: str) -> Any:
    """Returns a copy of nested mappings and lists with other values.

    Args:
        content: of a world or a program.
        values: by path in it; mappings on the way are made where there are none.
        group: of the addresses, for messages.

    Raises:
        ParameterError: a path leads through a value that holds nothing, or to an entry that a list does not have.
    """
    content = copy.deepcopy(content)
    for path, value in sorted(values.items()):  # a whole before its parts
        *way, last = path.split(".")
        place = content
        for key in way:
            place = _step_into(place, key, f"{group}.{path}")
        _index(place, last, f"{group}.{path}")
        place[int(last) if isinstance(place, list) else last] = copy.deepcopy(value)
    return content


def _path_in(address: str, group: str) -> str:
    found, _, path = address.partition(".")
    return path if found == group else ""


def _step_into(place: Any, key: str, address: str) -> Any:
    if isinstance(place, dict):
        if place.get(key) is None:
            place[key] = {}
        return place[key]
    _index(place, key, address)
    return place[int(key)]


def _index(place: Any, key: str, address: str) -> None:
    """Refuses a key that a place cannot have."""
    if isinstance(place, dict):
        return
    if not isinstance(place, list):
        raise ParameterError("address", address, f"before '{key}' there is the value {place!r}, which has no parts")
    if not key.isdigit() or int(key) >= len(place):
        raise ParameterError("address", address, f"instead of '{key}' the number of an entry, 0 to {len(place) - 1}")
