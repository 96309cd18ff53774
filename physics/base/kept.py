"""Values that are kept as long as the object that they were made from."""

import weakref
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class KeptWith(Generic[T]):
    """Values by object and key. Objects count as equal only if they are the same, and need not be hashable."""

    def __init__(self) -> None:
        self._values: dict[int, tuple[weakref.ref[Any], dict[Hashable, T]]] = {}

    def get(self, owner: object, key: Hashable, make: Callable[[], T]) -> T:
        """The value of an object and a key, made at the first time.

        Args:
            owner: of the value, which must not refer to it.
            key: tells apart the values of an object.
            make: makes the value.
        """
        number = id(owner)
        if number not in self._values:
            self._values[number] = weakref.ref(owner, lambda _: self._values.pop(number, None)), {}
        values = self._values[number][1]
        if key not in values:
            values[key] = make()
        return values[key]
