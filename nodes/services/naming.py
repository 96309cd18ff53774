"""Names of entities and namespaces: validity and uniqueness."""

import re
from collections.abc import Collection
from itertools import count

from rclpy.exceptions import InvalidNamespaceException
from rclpy.validate_namespace import validate_namespace

from grouser.nodes.services.request_error import Reason, RequestError

# A valid part of a topic's name, which an entity's name may become.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def choose_name(wanted: str, given: str, taken: Collection[str], may_rename: bool) -> str:
    """The name of a new entity.

    Args:
        wanted: from the request; empty: from the description.
        given: from the description; may be empty.
        taken: names of other entities.
        may_rename: whether it may get another name if this one is taken or not valid.

    Raises:
        RequestError: the name is not valid, or is taken.
    """
    name = wanted or given
    if not _NAME.fullmatch(name):
        if wanted or not may_rename:
            problem = f"the name {name!r} is not valid: letters, digits and underscores, a digit not first"
            raise RequestError(
                Reason.NAME_INVALID, problem if name else "neither the request nor the resource has a name"
            )
        name = re.sub(r"[^A-Za-z0-9_]", "_", name)
        name = name if _NAME.fullmatch(name) else f"entity_{name}".rstrip("_")
    if name in taken and not may_rename:
        raise RequestError(Reason.NAME_NOT_UNIQUE, f"there is already an entity called {name!r}")
    return name if name not in taken else next(f"{name}_{n}" for n in count(2) if f"{name}_{n}" not in taken)


def check_namespace(namespace: str) -> str:
    """Checks a namespace and returns it; a relative one is below that of the simulator.

    Raises:
        RequestError: it is not valid.
    """
    if namespace:
        try:
            validate_namespace(namespace if namespace.startswith("/") else f"/{namespace}")
        except InvalidNamespaceException as error:
            text = " ".join(str(error).split())
            raise RequestError(Reason.NAMESPACE_INVALID, f"namespace {namespace!r}: {text}") from None
    return namespace
