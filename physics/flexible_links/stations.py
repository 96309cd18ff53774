"""Where the mass of a flexible link is lumped: the points of a quadrature of its mass integrals."""

from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from grouser.physics.flexible_links.modal_beam import AXIAL, BENDING_Y, BENDING_Z, TORSION, ModalBeam
from grouser.physics.flexible_links.quadrature import gauss_rule

# Largest error of an integral, as a share of its scale.
TOLERANCE = 1e-9


class Stations(NamedTuple):
    """Lumps of mass along the elastic axis.

    Attributes:
        place: [m], ascending, (stations,).
        inertia: mass [kg], and rotary inertias about x, y and z [kg m2], (stations, 4).
    """

    place: np.ndarray
    inertia: np.ndarray


def mass_stations(beam: ModalBeam) -> Stations:
    """The fewest Gauss points a smooth piece that give all mass integrals to `TOLERANCE`.

    The integrals are those of products of the modes that are kept, of these with rigid motions of the link, of rigid
    motions, and of the shortening of the axis at the mass, once alone and once with its distance from the start. With
    polynomials of degree p, p + 1 points suffice for all modes; fewer modes may need fewer.
    """
    exact = _integrals(beam, *gauss_rule(beam.pieces, beam.points))
    scale = np.sqrt(np.diagonal(exact, axis1=1, axis2=2))
    scale = np.where(scale > 0.0, scale, 1.0)

    def suffices(points: int) -> bool:
        error = np.abs(_integrals(beam, *gauss_rule(beam.pieces, points)) - exact)
        return bool((error <= TOLERANCE * scale[:, :, None] * scale[:, None, :]).all())

    fewest = 1 + bisect_left(range(1, beam.points), True, key=suffices)
    x, weight = gauss_rule(beam.pieces, fewest)
    return Stations(x, weight[:, None] * beam.line_inertia(x))


def _integrals(beam: ModalBeam, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Mass integrals by a quadrature, (3, n + 2, n + 2): of products of the modes and two rigid motions; of the
    shortening; of the shortening times x. Only products that occur in the equations of motion count; the others are
    integrals of the same functions."""
    mass, polar, _, _ = beam.line_inertia(x).T * weight
    n, one = len(beam.modes), np.ones((len(x), 1))
    moved = sum(beam.values(kind, x) for kind in (AXIAL, BENDING_Z, BENDING_Y))
    turned = beam.values(TORSION, x) + sum(beam.values(kind, x, 1) for kind in (BENDING_Z, BENDING_Y))
    moved, turned = np.hstack([moved, one, x[:, None]]), np.hstack([turned, 0.0 * one, one])
    result = np.zeros((3, n + 2, n + 2))
    result[0] = (mass[:, None] * moved).T @ moved + (polar[:, None] * turned).T @ turned
    shortening = beam.shortening(x)
    result[1, :n, :n] = np.einsum("p,pab->ab", mass, shortening)
    result[2, :n, :n] = np.einsum("p,pab->ab", mass * x, shortening)
    return result
