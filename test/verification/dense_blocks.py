"""A chain of box blocks as one dense matrix, without the modes, integrals and kernels of the code under test.

Each block's displacement is a polynomial in its own coordinates, all 12 linear or 30 quadratic coefficients free, rigid
motion among them; mass and strain energy by products of integrals along the axes of the box.
"""

from itertools import product

import numpy as np
from scipy.linalg import eigh

POWERS = {1: ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))}
POWERS[2] = (*POWERS[1], (2, 0, 0), (0, 2, 0), (0, 0, 2), (0, 1, 1), (1, 0, 1), (1, 1, 0))


class DenseChain:
    """Blocks along x, the first bonded to a wall, springs at the Gauss points of the faces."""

    def __init__(self, count, stiffness, ratio, order, modulus=1e9, density=2000.0, length=1.0, width=0.1, height=0.1):
        self.size = np.array([length / count, width, height])
        self.powers, self.count = POWERS[order], count
        self.fields = 3 * len(self.powers)
        mass, elastic = self._block(modulus, ratio, density)
        self.mass, self.stiffness = np.kron(np.eye(count), mass), np.kron(np.eye(count), elastic)
        nodes, weights = np.polynomial.legendre.leggauss(order + 1)
        half = np.array([0.5 * self.size[0], 0.0, 0.0])
        for face in range(count):
            for (u, wu), (v, wv) in product(zip(nodes, weights, strict=True), repeat=2):
                spring = stiffness * 0.25 * wu * wv * width * height
                place = np.array([0.0, 0.5 * u * width, 0.5 * v * height])
                jump = np.zeros((3, self.fields * count))
                jump[:, self.part(face)] = self.values(place - half)
                if face > 0:
                    jump[:, self.part(face - 1)] = -self.values(place + half)
                self.stiffness += spring * jump.T @ jump

    def part(self, block):
        return slice(block * self.fields, (block + 1) * self.fields)

    def values(self, place):
        """Displacement by the coefficients of a block, (3, fields)."""
        return np.kron(np.eye(3), [np.prod(np.asarray(place) ** power) for power in self.powers])

    def end_load(self, force):
        """A force spread evenly over the end face."""
        nodes, weights = np.polynomial.legendre.leggauss(3)
        load = np.zeros(len(self.mass))
        for (u, wu), (v, wv) in product(zip(nodes, weights, strict=True), repeat=2):
            load[self.part(self.count - 1)] += 0.25 * wu * wv * self.values(0.5 * self.size * [1.0, u, v]).T @ force
        return load

    def end_compliance(self, force):
        """Mean displacement of the end face along a force, by the force."""
        load = self.end_load(np.asarray(force, dtype=float))
        return load @ np.linalg.solve(self.stiffness, load) / (np.asarray(force) @ force)

    def end_displacement(self, force):
        """Displacement of the middle of the end face."""
        found = np.linalg.solve(self.stiffness, self.end_load(np.asarray(force, dtype=float)))
        return self.values([0.5 * self.size[0], 0.0, 0.0]) @ found[self.part(self.count - 1)]

    def angular_frequencies(self):
        return np.sqrt(eigh(self.stiffness, self.mass, eigvals_only=True))

    def _block(self, modulus, ratio, density):
        """Mass and stiffness of a block by its coefficients."""
        count = len(self.powers)
        shear = modulus / (2.0 * (1.0 + ratio))
        first = 2.0 * shear * ratio / (1.0 - 2.0 * ratio)
        mass, elastic = np.zeros((self.fields,) * 2), np.zeros((self.fields,) * 2)
        for one, other in product(range(count), repeat=2):
            integral = self._integral(self.powers[one], self.powers[other])
            slopes = np.array([[self._slope(one, other, i, j) for j in range(3)] for i in range(3)])
            for a, b in product(range(3), repeat=2):
                row, column = a * count + one, b * count + other
                mass[row, column] = density * integral if a == b else 0.0
                # first div u div v + shear (du_i/dx_j + du_j/dx_i) dv_i/dx_j
                elastic[row, column] = first * slopes[a, b] + shear * slopes[b, a]
                if a == b:
                    elastic[row, column] += shear * np.trace(slopes)
        return mass, elastic

    def _slope(self, one, other, i, j):
        """Integral of the product of the derivatives of two monomials along i and j."""
        first, second = list(self.powers[one]), list(self.powers[other])
        factor = first[i] * second[j]
        if factor == 0:
            return 0.0
        first[i] -= 1
        second[j] -= 1
        return factor * self._integral(first, second)

    def _integral(self, first, second):
        exponents = np.add(first, second)
        if (exponents % 2).any():
            return 0.0
        return float(np.prod(2.0 * (0.5 * self.size) ** (exponents + 1) / (exponents + 1)))
