"""Vibration modes of a flexible link that is clamped to its frame: its elastic coordinates.

The link is a beam after Euler and Bernoulli with the rotary inertia of its sections (Rayleigh). Axial displacement u,
bending v about z, bending w about y and twist are four kinds of deformation, uncoupled in mass and stiffness. For each,
K c = omega2 M c is solved in the space of the shape functions, so that the coordinates of the modes span this space.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.description.data.compliance import FlexibleLink
from grouser.physics.flexible_links.discretisations import BY_NAME
from grouser.physics.flexible_links.end_loads import WithEndLoads
from grouser.physics.flexible_links.quadrature import gauss_rule, merged
from grouser.physics.flexible_links.shape_functions import ShapeFunctions

BENDING_Z, BENDING_Y, AXIAL, TORSION = "bending_z", "bending_y", "axial", "torsion"


class Mode(NamedTuple):
    """A vibration mode of unit modal mass.

    Attributes:
        kind: of deformation.
        number: among the modes of its kind, from 1.
        frequency: [rad/s].
        coefficients: of the shape functions of its kind.
    """

    kind: str
    number: int
    frequency: float
    coefficients: np.ndarray


class ModalBeam:
    """The modes of a flexible link; places x are along its elastic axis, directions those of the elastic frame.

    Attributes:
        flexible: the link.
        functions: shape functions of each kind of deformation that it has.
        modes: in the order of the coordinates: by kind, then by frequency.
        pieces: ends of the pieces in which functions and sections are smooth [m].
        points: of Gauss quadrature in each piece, exact to rounding.
    """

    def __init__(self, flexible: FlexibleLink):
        self.flexible = flexible
        self.functions = _functions(flexible)
        self.pieces = merged(flexible.smooth_pieces, *(one.breakpoints for one in self.functions.values()))
        self.points = max(one.points for one in self.functions.values())
        every = [mode for kind in self.functions for mode in self._modes(kind)]
        kept = sorted(every, key=lambda mode: mode.frequency)[: flexible.modes]
        self.modes = [mode for mode in every if any(mode is one for one in kept)]

    @property
    def frequencies(self) -> np.ndarray:
        """Of the coordinates [rad/s], (n,)."""
        return np.array([mode.frequency for mode in self.modes])

    def values(self, kind: str, x: np.ndarray, derivative: int = 0) -> np.ndarray:
        """What each coordinate contributes to u, v, w or the twist, or to a derivative of it, (len(x), n)."""
        result = np.zeros((len(x), len(self.modes)))
        columns = [k for k, mode in enumerate(self.modes) if mode.kind == kind]
        if columns:
            coefficients = np.column_stack([self.modes[k].coefficients for k in columns])
            result[:, columns] = self.functions[kind].values(x, derivative) @ coefficients
        return result

    def translation(self, x: np.ndarray) -> np.ndarray:
        """Displacement of the elastic axis per unit of each coordinate, (len(x), n, 3)."""
        return np.stack([self.values(kind, x) for kind in (AXIAL, BENDING_Z, BENDING_Y)], axis=-1)

    def rotation(self, x: np.ndarray) -> np.ndarray:
        """Rotation vector of the section per unit of each coordinate, (len(x), n, 3): twist, -w', v'."""
        slope_z, slope_y = self.values(BENDING_Z, x, 1), self.values(BENDING_Y, x, 1)
        return np.stack([self.values(TORSION, x), -slope_y, slope_z], axis=-1)

    def shortening(self, x: np.ndarray) -> np.ndarray:
        """Integral of v_a' v_b' + w_a' w_b' from the start to each place, (len(x), n, n); zero for `zero_order`.

        Args:
            x: places [m], in any order.
        """
        n = len(self.modes)
        if self.flexible.coupling == "zero_order" or not len(x):
            return np.zeros((len(x), n, n))
        ends = np.unique(np.concatenate([self.pieces, x]))
        place, weight = gauss_rule(ends, self.points)
        total = np.zeros((len(ends), n, n))
        for kind in (BENDING_Z, BENDING_Y):
            slope = self.values(kind, place, 1).reshape(len(ends) - 1, self.points, n)
            parts = np.einsum("ep,epa,epb->eab", weight.reshape(-1, self.points), slope, slope)
            total[1:] += np.cumsum(parts, axis=0)
        return total[np.searchsorted(ends, x)]

    def contraction(self, x: np.ndarray) -> np.ndarray:
        """Share of the deflection that is lost per integral of the squared slope, at each place [1/m], (len(x),).

        A section turned by the angle a adds sin(a) = a - a3/6 to the deflection. The integral of a3/6 is taken in the
        shape of the lowest bending mode: as that of a2, times the deflection, times this share.
        """
        bent = [mode for mode in self.modes if mode.kind in (BENDING_Z, BENDING_Y)]
        if self.flexible.coupling == "zero_order" or not bent or not len(x):
            return np.zeros(len(x))
        lowest = min(bent, key=lambda mode: mode.frequency)
        ends = np.unique(np.concatenate([self.pieces, x]))
        place, weight = gauss_rule(ends, 2 * self.points)
        slope = self.functions[lowest.kind].values(place, 1) @ lowest.coefficients
        parts = (weight * np.stack([slope, slope**2, slope**3])).reshape(3, len(ends) - 1, -1).sum(axis=2)
        one, two, three = np.cumsum(np.hstack([np.zeros((3, 1)), parts]), axis=1)[:, np.searchsorted(ends, x)]
        return np.divide(three, 6.0 * one * two, out=np.zeros(len(x)), where=x > 0.0)

    def strain(self, x: float, y: float, z: float) -> np.ndarray:
        """Longitudinal strain at a point of a section per unit of each coordinate, u' - y v'' - z w'', (n,).

        It has no terms of second order: 1/2 (v'2 + w'2) is what the shortening of the axis takes back.
        """
        at = np.array([x])
        bent = y * self.values(BENDING_Z, at, 2) + z * self.values(BENDING_Y, at, 2)
        return (self.values(AXIAL, at, 1) - bent)[0]

    def curvature(self, x: np.ndarray) -> np.ndarray:
        """Curvature about y and about z per unit of each coordinate [1/m], -w'' and v'', (len(x), n, 2)."""
        return np.stack([-self.values(BENDING_Y, x, 2), self.values(BENDING_Z, x, 2)], axis=-1)

    def line_inertia(self, x: np.ndarray) -> np.ndarray:
        """Mass per length [kg/m], and rotary inertias per length about x, y and z [kg m], (len(x), 4)."""
        area, about_y, about_z, _ = self.flexible.sections_at(x).T
        share = 1.0 if self.flexible.rotary_inertia else 0.0
        moments = [about_y + about_z, share * about_y, share * about_z]
        return self.flexible.density * np.stack([area, *moments], axis=-1)

    def _modes(self, kind: str) -> list[Mode]:
        """Modes of a kind, by ascending frequency.

        With M = B^T B and K = C^T C, where the rows of B and C belong to the points of quadrature, and B = Q R, the
        frequencies are the singular values of C R^-1: squares, which would lose half of the digits, are not formed.
        """
        flexible, functions = self.flexible, self.functions[kind]
        x, weight = gauss_rule(self.pieces, functions.points)
        mass, polar, about_y, about_z = self.line_inertia(x).T
        area, moment_y, moment_z, torsion = flexible.sections_at(x).T
        value, slope = functions.values(x), functions.values(x, 1)
        if kind in (BENDING_Z, BENDING_Y):
            rotary, moment = (about_z, moment_z) if kind == BENDING_Z else (about_y, moment_y)
            inertia = np.vstack([_weighted(mass * weight, value), _weighted(rotary * weight, slope)])
            stiffness = _weighted(flexible.modulus * moment * weight, functions.values(x, 2))
        elif kind == AXIAL:
            inertia = _weighted(mass * weight, value)
            stiffness = _weighted(flexible.modulus * area * weight, slope)
        else:
            inertia = _weighted(polar * weight, value)
            stiffness = _weighted(flexible.shear_modulus * torsion * weight, slope)
        _, triangle = np.linalg.qr(inertia)
        _, frequency, turn = np.linalg.svd(np.linalg.solve(triangle.T, stiffness.T).T, full_matrices=False)
        coefficients = np.linalg.solve(triangle, turn[::-1].T)
        tip = functions.values(np.array([flexible.length])) @ coefficients
        coefficients = coefficients * np.copysign(1.0, tip)
        return [Mode(kind, k + 1, float(frequency[-1 - k]), coefficients[:, k]) for k in range(functions.count)]


def _functions(flexible: FlexibleLink) -> dict[str, ShapeFunctions]:
    made, length = BY_NAME[flexible.discretisation], flexible.length
    functions: dict[str, ShapeFunctions] = {}
    for kind, plane in ((BENDING_Z, "z"), (BENDING_Y, "y")):
        if flexible.bending in (plane, "both"):
            functions[kind] = made.transverse(flexible.size, length)
    for kind, count in ((AXIAL, flexible.axial), (TORSION, flexible.torsion)):
        if count > 0:
            functions[kind] = made.along(count, length)
    if not flexible.end_loads:
        return functions
    return {kind: _with_end_loads(flexible, kind, one) for kind, one in functions.items()}


def _with_end_loads(flexible: FlexibleLink, kind: str, functions: ShapeFunctions) -> ShapeFunctions:
    column = {AXIAL: 0, BENDING_Y: 1, BENDING_Z: 2, TORSION: 3}[kind]
    modulus = flexible.shear_modulus if kind == TORSION else flexible.modulus

    def stiffness(x: np.ndarray) -> np.ndarray:
        return modulus * flexible.sections_at(x)[:, column]

    return WithEndLoads(functions, flexible.smooth_pieces, stiffness, kind in (BENDING_Z, BENDING_Y))


def _weighted(weight: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.sqrt(weight)[:, None] * values
