"""Elimination of the pressures of a circuit's part, which leaves the equations of its actuators.

With the changes y of the lines, the speeds v of the actuators and their impulses J, the linear system of a sub-step is

    A y + B v = r,    J = j + C y - R v.

The lines are eliminated in an order fixed when the network is made (`ordering`); J = j' - K v remains, with
K = R + C A^-1 B (a Schur complement). K does not depend on which actuators slide, stick or stop.
"""

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.hydraulics.network import HydraulicNetwork

_ONE = np.uintp(1)


@kernel
def eliminate_lines(network: HydraulicNetwork, part, entry, right):
    """Eliminates the lines of a part without pivoting, in place.

    Args:
        network: with the lists of the elimination.
        part: number of the part.
        entry: entries of its matrix as in `ordering.MatrixLayout`; then its factors, with the inverse pivots.
        right: right sides of lines and actuators.

    Returns:
        Whether every pivot was finite and not zero.
    """
    first = np.uintp(network.part_line_start[part])
    for k in range(first, np.uintp(network.part_line_start[part + 1])):
        pivot = network.pivot[k]
        if not abs(entry[pivot]) > 0.0:
            return False
        inverse = 1.0 / entry[pivot]
        entry[pivot] = inverse
        rows, columns = network.below_start[k], network.beside_start[k + _ONE] - network.beside_start[k]
        beside = pivot + _ONE
        below = beside + columns
        target = network.target_start[k]
        own = right[k - first]
        for p in range(network.below_start[k + _ONE] - rows):
            factor = entry[below + p]
            if factor != 0.0:
                factor *= inverse
                right[network.below[rows + p]] -= factor * own
                for q in range(columns):
                    entry[network.target[target + q]] -= factor * entry[beside + q]
            target += columns
    return True


@kernel
def substitute_lines(network: HydraulicNetwork, part, entry, right):
    """Solves for the changes of the lines of an eliminated part, given the speeds of its actuators.

    Args:
        network, part, entry: as for `eliminate_lines`, after it.
        right: right sides of the lines, then the changes; after them, the speeds.
    """
    first = np.uintp(network.part_line_start[part])
    k = np.uintp(network.part_line_start[part + 1])
    while k > first:
        k -= _ONE
        pivot = network.pivot[k]
        total = right[k - first]
        beside, columns = pivot + _ONE, network.beside_start[k]
        for q in range(network.beside_start[k + _ONE] - columns):
            total -= entry[beside + q] * right[network.beside[columns + q]]
        right[k - first] = total * entry[pivot]
