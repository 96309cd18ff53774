"""Read-only views by name, and the error for a name that is unknown."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

import numpy as np

from grouser.physics.base.errors import ParameterError
from grouser.physics.description.text.names import closest

T = TypeVar("T")
_SHOWN = 12  # names in a text


def unknown_name(kind: str, name: object, known) -> ParameterError:
    """The error for an unknown name, with the closest valid one."""
    if not isinstance(name, str):
        return ParameterError(kind, name, f"a name as a text; {closest('', known)}")
    return ParameterError(kind, name, closest(name, known))


def require_name(kind: str, name: object, known: Collection[str]) -> str:
    """Refuses a name that is unknown."""
    if not isinstance(name, str) or name not in known:
        raise unknown_name(kind, name, known)
    return name


class NamedView(Mapping, Generic[T]):
    """A mapping from names to values that are read on access.

    Args:
        kind: what the names are, for error messages.
        names: all valid names.
        read: value of the name with a given index.
        read_all: all values in the order of the names, where that is faster than one by one; as one array, if they are
            numbers or arrays of one shape.
    """

    def __init__(
        self, kind: str, names, read: Callable[[int], T], read_all: Callable[[], np.ndarray | list[T]] | None = None
    ):
        self.names = tuple(names)
        self._kind = kind
        self._index = {name: index for index, name in enumerate(self.names)}
        self._read = read
        self._read_all = read_all

    def __getitem__(self, name: str) -> T:
        """Value by name; ParameterError for an unknown one."""
        return self._read(self._index[require_name(self._kind, name, self._index)])

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._index

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        names = ", ".join(self.names[:_SHOWN]) + (", ..." if len(self.names) > _SHOWN else "")
        return f"<{len(self)} by {self._kind}: {names}>" if self.names else f"<none: no {self._kind}>"

    def values(self):
        """All values in the order of the names, as one array where that is possible."""
        return self._read_all() if self._read_all is not None else [self._read(i) for i in range(len(self.names))]


def elements_view(kind: str, names: Sequence[str], own: np.ndarray, read: Callable[[int], T]) -> NamedView[T]:
    """A view of elements that are read one by one, by their index in the simulation."""
    index = own.tolist()
    return NamedView(kind, names, lambda i: read(index[i]))


def numbers_view(kind: str, names: Sequence[str], read_all: Callable[[], np.ndarray]) -> NamedView[float]:
    """A view of numbers that are read together."""
    return NamedView(kind, names, lambda i: float(read_all()[i]), read_all)


def rows_view(kind: str, names: Sequence[str], read_all: Callable[[], np.ndarray]) -> NamedView[np.ndarray]:
    """A view of arrays that are read together."""
    return NamedView(kind, names, lambda i: np.array(read_all()[i]), read_all)
