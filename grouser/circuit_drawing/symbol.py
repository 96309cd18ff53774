"""What a symbol of an element is, and the distances between ports that make lines straight."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from grouser.circuit_drawing import shapes

# Between the ports a and b of valves and actuators.
SPACING = 36.0
# From a valve's supply port to its load-sensing port.
SENSING = 18.0


@dataclass(frozen=True)
class Symbol:
    """A symbol without its texts.

    Attributes:
        width, height: of its rectangle.
        places: of the ports: x and y from the upper left corner, and whether the line leaves upwards.
        svg: its shapes.
        texts: where they stand: right, above, or before (above, to the left of port a).
    """

    width: float
    height: float
    places: Mapping[str, tuple[float, float, bool]]
    svg: str
    texts: str = "right"

    def mirrored(self) -> "Symbol":
        """Left to right."""
        places = {port: (self.width - x, y, above) for port, (x, y, above) in self.places.items()}
        return replace(self, places=places, svg=shapes.turned(self.svg, f"translate({self.width:g} 0) scale(-1 1)"))

    def hanging(self) -> "Symbol":
        """Top to bottom."""
        places = {port: (x, self.height - y, not above) for port, (x, y, above) in self.places.items()}
        return replace(self, places=places, svg=shapes.turned(self.svg, f"translate(0 {self.height:g}) scale(1 -1)"))
