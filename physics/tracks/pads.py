"""Pads: the points at which a shoe touches the ground.

A shoe has two, Radau's points of its width: one on an edge with a quarter of the area, one a sixth of the width beyond
the middle with the rest. Sums over both are exact for pressures that change up to quadratically across the shoe. From
shoe to shoe they are mirrored, so that a track carries load up to both of its edges.
"""

from grouser.physics.base.kernel import inlined

# Pads of a shoe, the one in its left half first.
PADS = 2


@inlined
def side_of(pad):
    """1 for a pad in the left half of its shoe, -1 for one in the right half."""
    return 1.0 - 2.0 * (pad % PADS)


@inlined
def share_of(pad):
    """Share of a shoe's area that a pad has: the strip from its side inwards [-]."""
    return 0.25 if is_edge(pad) else 0.75


@inlined
def is_edge(pad):
    """Whether a pad of a track is on the edge of its shoe."""
    return (pad // PADS + pad) % 2 == 0


@inlined
def place_of(pad):
    """Place of a pad to the left of its shoe's middle, over the width [-]."""
    return side_of(pad) * (0.5 if is_edge(pad) else 1.0 / 6.0)
