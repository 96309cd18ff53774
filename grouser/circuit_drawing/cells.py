"""What a drawing consists of: cells in rows, with ports, and the nets between them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Port:
    """A port of a cell.

    Attributes:
        net: name of the hydraulic line; "" for a way that belongs to no line.
        x, y: from the upper left corner of the cell.
        above: whether the line leaves upwards.
        signal: whether it carries a pressure only.
        name: of the element's port; "" for a way.
    """

    net: str
    x: float
    y: float
    above: bool
    signal: bool = False
    name: str = ""


@dataclass(frozen=True)
class Cell:
    """A symbol with its texts, or the way of a line through a row.

    Attributes:
        name: of the element; "" for the way of a line.
        field: of `Machine` that holds the element; "" for a way.
        width, height: of the rectangle that is kept free of everything else.
        ports: of the symbol, and of the symbol mirrored left to right.
        svg: the symbol, and the symbol mirrored; its origin is the upper left corner.
    """

    name: str
    field: str
    width: float
    height: float
    ports: tuple[tuple[Port, ...], tuple[Port, ...]]
    svg: tuple[str, str] = ("", "")


@dataclass(eq=False)
class Placed:
    """A cell in a row.

    Attributes:
        row: 0 is the lowest.
        x, y: of the upper left corner; y is set when the rows have their heights.
        mirrored: which of the two forms is drawn.
    """

    cell: Cell
    row: int
    x: float = 0.0
    y: float = 0.0
    mirrored: bool = False

    @property
    def ports(self) -> tuple[Port, ...]:
        """Ports of the form that is drawn."""
        return self.cell.ports[self.mirrored]


@dataclass(frozen=True)
class Terminal:
    """Where a net meets a row: x, whether that row is below the channel, and the port."""

    x: float
    from_below: bool
    placed: Placed
    port: Port
