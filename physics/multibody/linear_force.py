"""Forces that are linear in a motion of a few components, as terms of the equations of motion."""

from grouser.physics.base.kernel import inlined
from grouser.physics.multibody.jacobian import list_entries


@inlined
def find_motion(size, jacobian, velocity, first, last, motion):
    """Fills a motion of `size` components at coordinate rates, with its Jacobian filled over range(first, last)."""
    for k in range(size):
        motion[k] = 0.0
        for d in range(first, last):
            motion[k] += jacobian[k, d] * velocity[d]


@inlined
def add_linear_force(size, jacobian, pushed, entry, first, last, step: float, wrench, slope, mass, force):
    """Adds J^T F to the force and h J^T D J to the mass matrix, with the Jacobian filled over range(first, last).

    Args:
        size: number of components of the motion.
        jacobian: J of the motion, (size, coordinates).
        pushed, entry: buffers, (size, coordinates) and (coordinates,).
        first, last: range of the coordinates.
        step: h [s].
        wrench: F, (size,).
        slope: D, resistance to the motion; its lower triangle is given, the upper one is filled, (size, size).
        mass, force: of the equations of motion, changed in place.
    """
    for k in range(size):
        for m in range(k):
            slope[m, k] = slope[k, m]
    for a in range(list_entries(jacobian, size, first, last, entry, 0)):
        d = entry[a]
        pull = 0.0
        for k in range(size):
            pull += jacobian[k, d] * wrench[k]
            total = 0.0
            for m in range(size):
                total += slope[k, m] * jacobian[m, d]
            pushed[k, d] = step * total
        force[d] += pull
        for b in range(a + 1):
            e = entry[b]
            total = 0.0
            for k in range(size):
                total += jacobian[k, e] * pushed[k, d]
            if e < d:
                mass.lower[d, e - first] += total
            else:
                mass.diagonal[d] += total
