"""Shear that builds up along the contact of a track that turns on rigid ground.

Speeds are divided by the yaw rate: the motion is slow, and only its path matters. Vectors of the ground plane are
complex, forward + i left, in the axes of the hull.
"""

from typing import NamedTuple

import numpy as np

from grouser.studies.tracks.quadrature import RADAU_MATRIX, RADAU_NODES, gauss_nodes, graded_panels

DIRECTIONS = ("velocity", "displacement", "state")

# Largest angle by which the hull turns within a panel [rad].
_TURN = 0.5
# Finest panel as a share of the contact.
_FINEST = 2.0**-24


class Contact(NamedTuple):
    """Nodes of the contact of one track, and how its belt slides there.

    Attributes:
        belt_speed: of the belt, forward over the hull, by the yaw rate [m].
        edges: of panels along the belt's travel since it landed [m], (panels + 1,).
        travel: of the nodes along it [m], (panels, nodes).
        position: of the nodes, from the hull's centre [m], (panels, nodes, rows).
        area: of the nodes as shares of the contact, (panels, nodes, rows).
        sliding: velocity of the belt over the ground by the yaw rate [m], (panels, nodes, rows).
        landing: place where the belt lands, from the turning centre [m], (rows,).
        landing_slide: sliding velocity there by the yaw rate [m], (rows,).
    """

    belt_speed: float
    edges: np.ndarray
    travel: np.ndarray
    position: np.ndarray
    area: np.ndarray
    sliding: np.ndarray
    landing: np.ndarray
    landing_slide: np.ndarray


def make_contact(
    length: float, width: float, offset: float, radius: float, overspeed: float, shift: float, modulus: float
) -> Contact:
    """Nodes of a contact.

    Args:
        length, width: of the contact [m].
        offset: of the track's middle from that of the hull, positive to the left [m].
        radius: of the turn to the left, of the hull's middle [m].
        overspeed: of the belt over the hull, less that of the track's middle over the ground, by the yaw rate [m].
        shift: how far behind the hull's centre the point lies that moves straight ahead [m].
        modulus: shear displacement modulus [m]; 0: the shear is there at once, and the belt may stand.
    """
    belt_speed = radius - offset + overspeed
    forward = 1.0 if belt_speed >= 0.0 else -1.0
    edge = forward * 0.5 * length + shift
    # The direction of sliding changes fast near the point that does not slide, and where this lies beside the track,
    # near the place next to it.
    still = min(max(-overspeed, -0.5 * width), 0.5 * width)
    away = max(abs(overspeed + still), _FINEST * length)
    in_travel, in_rows, longest = [(0.5 * length + forward * shift, away)], [(still, away)], np.inf
    if modulus > 0.0:
        # The shear builds up where the belt has landed, and anew where it comes back to the place where it landed.
        fastest = np.hypot(abs(overspeed) + 0.5 * width, 0.5 * length + abs(shift))
        rise = max(0.5 * modulus * abs(belt_speed) / fastest, _FINEST * length)
        in_travel.append((0.0, rise))
        for turned, row in _returns(length / abs(belt_speed), edge, offset - radius, overspeed):
            if abs(row) < 0.5 * width:
                in_travel.append((turned * abs(belt_speed), rise))
                in_rows.append((row, max(0.5 * modulus / turned, _FINEST * width)))
        longest = _TURN * abs(belt_speed)
    edges = graded_panels(length, in_travel, longest)
    sizes = np.diff(edges)[:, None]
    travel = edges[:-1, None] + sizes * RADAU_NODES
    along = sizes * RADAU_MATRIX[-1] / length
    rows, across = gauss_nodes(graded_panels(width, [(row + 0.5 * width, finest) for row, finest in in_rows]))
    rows -= 0.5 * width
    ahead = forward * (0.5 * length - travel)[:, :, None]
    return Contact(
        belt_speed=belt_speed,
        edges=edges,
        travel=travel,
        position=ahead + 1j * (offset + rows),
        area=along[:, :, None] * across / width,
        sliding=-(overspeed + rows) + 1j * (ahead + shift),
        landing=edge + 1j * (offset + rows - radius),
        landing_slide=-(overspeed + rows) + 1j * edge,
    )


def mobilised_shear(contact: Contact, direction: str, modulus: float) -> np.ndarray:
    """Shear of the belt on the ground over the greatest one, complex, (panels, nodes, rows).

    Args:
        contact: of the track.
        direction: law of `DIRECTIONS`.
        modulus: K [m]; 0: all of the shear against the sliding velocity, whatever the law.
    """
    if modulus == 0.0:
        return _unit(contact.sliding)
    if direction == "state":
        return _shear_state(contact, modulus)
    displacement = shear_displacement(contact)
    share = -np.expm1(-np.abs(displacement) / modulus)
    return share * _unit(contact.sliding if direction == "velocity" else displacement)


def shear_displacement(contact: Contact) -> np.ndarray:
    """Displacement of the belt over the ground since it landed, complex [m], (panels, nodes, rows).

    With g the place from the turning centre and e the hull's turning since the landing, j = g - exp(-i e) g_0. Written
    so that wide turns, in which both are large and j is small, lose no digits.
    """
    turned = (contact.travel / abs(contact.belt_speed))[:, :, None]
    return turned * contact.landing_slide + _bend(turned) * contact.landing


def _bend(turned: np.ndarray) -> np.ndarray:
    """What is left of 1 - exp(-i e) without its linear part."""
    return 2.0 * np.sin(0.5 * turned) ** 2 + 1j * (np.sin(turned) - turned)


def _returns(last: float, edge: float, offset: float, overspeed: float) -> list[tuple[float, float]]:
    """Where the displacement is zero: turning since the landing [rad], and place across the track [m].

    Args:
        last: turning of the hull while an element is down [rad].
        edge, offset: where the track's middle lands, from the turning centre, ahead and left [m].
        overspeed: see `make_contact`.
    """
    turned = np.linspace(0.0, last, 64 + int(16.0 * last))[1:]
    bend = _bend(turned)
    # The displacement in the track's middle, and how it changes across.
    middle, slope = turned * (1j * edge - overspeed) + bend * (edge + 1j * offset), 1j * bend - turned
    ratio = middle / slope
    k = np.flatnonzero(ratio.imag[:-1] * ratio.imag[1:] < 0.0)
    share = ratio.imag[k] / (ratio.imag[k] - ratio.imag[k + 1])
    row = -(ratio.real[k] + share * (ratio.real[k + 1] - ratio.real[k]))
    return list(zip(turned[k] + share * (turned[k + 1] - turned[k]), row, strict=True))


def _shear_state(contact: Contact, modulus: float) -> np.ndarray:
    """The state s of ds/dt = (v - |v| s)/K in ground axes, from zero at the landing, by Radau's method of order 9."""
    speed = modulus * abs(contact.belt_speed)
    gain, decay = contact.sliding / speed, (np.abs(contact.sliding) + 1j * modulus) / speed
    state = np.zeros(contact.sliding.shape, dtype=complex)
    last = np.zeros(len(contact.landing), dtype=complex)
    for k, size in enumerate(np.diff(contact.edges)):
        matrix = size * RADAU_MATRIX
        system = np.eye(len(matrix)) + matrix * decay[k].T[:, None, :]
        right = last[:, None] + (matrix @ gain[k]).T
        state[k] = np.linalg.solve(system, right[:, :, None])[:, :, 0].T
        last = state[k, -1]
    return state


def _unit(vector: np.ndarray) -> np.ndarray:
    size = np.abs(vector)
    return np.divide(vector, size, out=np.zeros_like(vector), where=size > 0.0)
