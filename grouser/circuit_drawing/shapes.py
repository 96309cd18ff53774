"""Shapes of SVG, and the room that a text takes. Lengths are pixels; y points down."""

from html import escape

FONT = "Helvetica, Arial, DejaVu Sans, sans-serif"
_NARROW = frozenset("ijl.,:;|!'` ()[]frtI1-/")
_WIDE = frozenset("mwMWÆŒ@%—")


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Returns a width that a text does not exceed in a usual font without serifs."""
    share = 0.0
    for letter in text:
        if ord(letter) > 0x2E7F:
            share += 1.1
        elif letter in _WIDE:
            share += 1.02
        elif letter in _NARROW:
            share += 0.42 if letter not in "1fr()[]t" else 0.64
        else:
            share += 0.72 if letter.isupper() else 0.64
    return size * share * (1.1 if bold else 1.0)


def lines(*strokes: str, width: float = 1.4, dashed: bool = False, fill: str = "none") -> str:
    """Returns strokes, each in the language of a path's `d`."""
    dash = ' stroke-dasharray="4 2.5"' if dashed else ""
    return f'<path d="{" ".join(strokes)}" fill="{fill}" stroke="#202020" stroke-width="{width:g}"{dash}/>'


def box(x: float, y: float, width: float, height: float) -> str:
    """Returns a rectangle by its upper left corner."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="white" stroke="#202020" '
        'stroke-width="1.4"/>'
    )


def circle(x: float, y: float, radius: float) -> str:
    """Returns a circle."""
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="white" stroke="#202020" stroke-width="1.4"/>'


def dot(x: float, y: float, colour: str = "#202020", radius: float = 2.2) -> str:
    """Returns the sign of a connection."""
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{colour}"/>'


def triangle(*corners: tuple[float, float]) -> str:
    """Returns a filled triangle."""
    return f'<polygon points="{" ".join(f"{x:g},{y:g}" for x, y in corners)}" fill="#202020"/>'


def arrow(x0: float, y0: float, x1: float, y1: float, head: float = 6.0) -> str:
    """Returns an arrow from one point to another."""
    length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    along, across = ((x1 - x0) / length, (y1 - y0) / length), (-(y1 - y0) / length, (x1 - x0) / length)
    back = (x1 - head * along[0], y1 - head * along[1])
    corners = [(back[0] + side * 0.35 * head * across[0], back[1] + side * 0.35 * head * across[1]) for side in (1, -1)]
    return lines(f"M{x0:g} {y0:g}L{back[0]:.1f} {back[1]:.1f}") + triangle((x1, y1), *corners)


def spring(x0: float, y0: float, x1: float, y1: float, width: float = 6.0) -> str:
    """Returns a spring between two points on one horizontal or vertical line."""
    turns = 5
    points = [(x0, y0)]
    for turn in range(turns):
        share, side = (turn + 0.5) / turns, width / 2 * (1 if turn % 2 else -1)
        x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
        points.append((x, y + side) if y0 == y1 else (x + side, y))
    points.append((x1, y1))
    return lines("M" + "L".join(f"{x:g} {y:g}" for x, y in points), width=1.1)


def text(x: float, y: float, words: str, size: float, bold: bool = False, anchor: str = "start", more: str = "") -> str:
    """Returns a text whose base line starts, ends or has its middle at a point."""
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size:g}"{weight} text-anchor="{anchor}"{more}>{escape(words)}</text>'


def quoted(words: str) -> str:
    """Returns a text as the value of an attribute."""
    return f'"{escape(words)}"'


def title(words: str) -> str:
    """Returns the text that a pointer on the group shows."""
    return f"<title>{escape(words)}</title>"


def turned(fragment: str, transform: str) -> str:
    """Returns shapes turned, mirrored or moved."""
    return f'<g transform="{transform}">{fragment}</g>'
