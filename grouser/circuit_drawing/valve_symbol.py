"""The symbol of a proportional directional valve: a box for each position, with the ways of the oil in it."""

from typing import Any

from grouser.circuit_drawing import shapes
from grouser.circuit_drawing.symbol import SENSING, SPACING, Symbol

_SIDE, _HEIGHT, _END, _TOP = 60.0, 40.0, 24.0, 8.0
# Ports from the left side of a box: a above the supply, b above the tank, the load-sensing port between.
_A, _B, _LS = 12.0, 12.0 + SPACING, 12.0 + SENSING


def directional_valve(valve: Any) -> Symbol:
    """Returns the symbol of a directional valve.

    The left box is the position of a positive command: it joins the supply with a, and b with the tank. The group of
    class ``spool`` moves by a box to show a position.
    """
    ways = (_parallel(bool(valve.sense)), _centre(valve.centre, bool(valve.sense)), _crossed(bool(valve.sense)))
    right, bottom = _END + 3 * _SIDE, _TOP + _HEIGHT
    boxes = ""
    for number, way in enumerate(ways):
        x = _END + number * _SIDE
        boxes += shapes.box(x, _TOP, _SIDE, _HEIGHT) + shapes.turned(way, f"translate({x:g} {_TOP:g})")
    # Lines along the boxes: the spool stands at any position between.
    boxes += shapes.lines(f"M{_END:g} {_TOP - 3:g}H{right:g}", f"M{_END:g} {bottom + 3:g}H{right:g}", width=1)
    end = _solenoid()
    body = f'<g class="spool">{boxes}</g>' + end
    body += shapes.turned(end, f"translate({right + _END:g} 0) scale(-1 1)")
    x_a, x_b, x_sense = (_END + _SIDE + x for x in (_A, _B, _LS))
    below = bottom + _TOP
    body += shapes.lines(*(f"M{x:g} 0V{_TOP:g}M{x:g} {bottom:g}V{below:g}" for x in (x_a, x_b)))
    places = {"a": (x_a, 0.0, True), "b": (x_b, 0.0, True), "supply": (x_a, below, False), "tank": (x_b, below, False)}
    if valve.sense:
        places["sense"] = (x_sense, below, False)
        body += shapes.lines(f"M{x_sense:g} {bottom:g}V{below:g}", dashed=True)
    return Symbol(right + _END, below, places, body, "before")


def _parallel(sense: bool) -> str:
    way = shapes.arrow(_A, _HEIGHT, _A, 0) + shapes.arrow(_B, 0, _B, _HEIGHT)
    if sense:
        way += shapes.lines(f"M{_LS:g} {_HEIGHT:g}V26H{_A:g}", width=1.1) + shapes.dot(_A, 26, radius=1.8)
    return way


def _crossed(sense: bool) -> str:
    way = shapes.arrow(_A, _HEIGHT, _B, 0) + shapes.arrow(_A, 0, _B, _HEIGHT)
    if sense:
        joint = _A + SPACING * 8 / _HEIGHT
        way += shapes.lines(f"M{_LS:g} {_HEIGHT:g}V32H{joint:g}", width=1.1) + shapes.dot(joint, 32, radius=1.8)
    return way


def _centre(centre: str, sense: bool) -> str:
    low = _HEIGHT - 10
    way = ""
    if centre == "open":
        way = shapes.lines(f"M{_A:g} 0V{_HEIGHT:g}", f"M{_B:g} 0V{_HEIGHT:g}", f"M{_A:g} 16H{_B:g}")
        way += shapes.dot(_A, 16, radius=1.8) + shapes.dot(_B, 16, radius=1.8)
    else:
        way = shapes.lines(*(f"M{x:g} 0V8M{x - 5:g} 8h10" for x in (_A, _B)))
        if centre == "tandem":
            way += shapes.lines(f"M{_A:g} {_HEIGHT:g}V20H{_B:g}V{_HEIGHT:g}")
        else:
            blocked = (_A,) if sense else (_A, _B)
            way += shapes.lines(*(f"M{x:g} {_HEIGHT:g}v-8M{x - 5:g} {_HEIGHT - 8:g}h10" for x in blocked))
    if sense:
        way += shapes.lines(f"M{_LS:g} {_HEIGHT:g}V{low:g}H{_B:g}V{_HEIGHT:g}", width=1.1)
        way += shapes.dot(_B, low, radius=1.8) if centre != "closed" else ""
    return way


def _solenoid() -> str:
    """The left end: a spring, and a solenoid whose force can be set."""
    body = shapes.spring(_END, _TOP + 10, 6, _TOP + 10) + shapes.lines(f"M6 {_TOP + 5:g}v10")
    body += shapes.box(6, _TOP + 22, _END - 6, 14) + shapes.lines(f"M10 {_TOP + 22:g}L16 {_TOP + 36:g}", width=1.1)
    return body + shapes.arrow(2, _TOP + 39, 22, _TOP + 19, 5)
