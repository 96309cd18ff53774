"""The drawing of a hydraulic circuit, as a browser needs it."""

from typing import Any

from grouser.circuit_drawing.drawing import circuit_svg
from grouser.nodes.viewer.colours import STOPS
from grouser.nodes.viewer.cylinders import pressure_scale
from grouser.physics.base.errors import GrouserError
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.elements.hydraulics.circuit import feeding_valve

_BAR = 1e5  # [Pa]


def drawing(machine: Machine) -> dict[str, Any]:
    """What a browser needs to draw the circuit of a machine.

    Returns:
        ``svg``; ``problem``: why there is none; ``valves``: actuator -> name of the valve that moves it; ``scale``:
        pressure of the last colour [bar]; ``colours`` of the scale.
    """
    try:
        svg, problem = circuit_svg(machine, live=True), ""
    except GrouserError as error:
        svg, problem = "", str(error)
    lines = {one.name: (one.piston_side, one.rod_side) for one in machine.cylinders}
    lines |= {one.name: (one.a, one.b) for one in machine.hydraulic_motors}
    valves = {name: feeding_valve(machine, sides) for name, sides in lines.items()}
    return {
        "svg": svg,
        "problem": problem,
        "valves": {name: valve for name, valve in valves.items() if valve},
        "scale": pressure_scale(machine).largest / _BAR,
        "colours": STOPS,
    }
