"""Types of OPC UA variables, without the library."""

from dataclasses import dataclass

# Of each type the values that it holds; None: those of a double.
_LIMITS: dict[str, tuple[float, float] | None] = {
    "boolean": (0, 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "float": (-(2.0 - 2.0**-23) * 2.0**127, (2.0 - 2.0**-23) * 2.0**127),
    "double": None,
}
TYPES = tuple(_LIMITS)
HEARTBEAT_TYPES = ("int16", "uint16", "int32", "uint32")


@dataclass(frozen=True)
class NodeField:
    """A variable.

    Attributes:
        node: of a server: its browse name, unique in the message. Of a client: the identifier of a node of the
            controller, ``ns=2;s=Levelling.FrontLeft``.
        type: a name of `TYPES`.
    """

    node: str
    type: str = "double"

    def __str__(self) -> str:
        return self.node

    @property
    def limits(self) -> tuple[float, float] | None:
        """Values that it can hold; None: any double."""
        return _LIMITS[self.type]


def to_type(field: NodeField, value: float) -> bool | int | float:
    """Returns a finite value as the type of a field has it; an integer type gets the nearest one.

    Raises:
        ValueError: the field cannot hold it.
    """
    if field.type == "double":
        return float(value)
    limits = field.limits
    assert limits is not None  # of all types but the double
    low, high = limits
    number = value if field.type == "float" else round(value)
    if not low <= number <= high:
        raise ValueError(f"{value:g} in {field}: {field.type} holds {low:g} to {high:g}")
    return bool(number) if field.type == "boolean" else number
