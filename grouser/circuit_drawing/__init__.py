"""A machine's hydraulic circuit as a drawing: symbols of ISO 1219-1, rows of elements, lines at right angles.

`circuit_svg` draws. An element is a `Cell` in a row, a line a `Net` through the channels between the rows.
"""

from grouser.circuit_drawing.drawing import circuit_svg

__all__ = ["circuit_svg"]
