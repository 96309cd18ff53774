"""Composite rigid body algorithm: the joint-space mass matrix (Featherstone 2008, table 6.2)."""

from grouser.physics.kernel import kernel
from grouser.physics.spatial import momentum


@kernel
def mass_matrix(model, kinematics, composite, mass):
    """Lower triangle of M(q); the upper one is left as it was.

    Args:
        model: the multibody system.
        kinematics: with positions filled.
        composite: workspace, (bodies, 10).
        mass: result, (coordinates, coordinates) [kg, kg m, kg m2].
    """
    column, inertia = kinematics.column, kinematics.inertia
    for i in range(mass.shape[0]):
        for j in range(i + 1):
            mass[i, j] = 0.0
    for i in range(model.body_parent.shape[0]):
        for k in range(10):
            composite[i, k] = inertia[i, k]
    for i in range(model.body_parent.shape[0] - 1, -1, -1):
        parent = model.body_parent[i]
        if parent >= 0:
            for k in range(10):
                composite[parent, k] += composite[i, k]
        first, last = model.column_start[i], model.column_start[i + 1]
        for c in range(first, last):
            row = model.column_rate[c]
            f0, f1, f2, f3, f4, f5 = momentum(
                composite, i, column[c, 0], column[c, 1], column[c, 2], column[c, 3], column[c, 4], column[c, 5]
            )
            for d in range(first, c + 1):
                mass[row, model.column_rate[d]] += (
                    f0 * column[d, 0]
                    + f1 * column[d, 1]
                    + f2 * column[d, 2]
                    + f3 * column[d, 3]
                    + f4 * column[d, 4]
                    + f5 * column[d, 5]
                )
            above = parent
            while above >= 0:
                for d in range(model.column_start[above], model.column_start[above + 1]):
                    coupling = (
                        f0 * column[d, 0]
                        + f1 * column[d, 1]
                        + f2 * column[d, 2]
                        + f3 * column[d, 3]
                        + f4 * column[d, 4]
                        + f5 * column[d, 5]
                    )
                    other = model.column_rate[d]
                    if other < row:
                        mass[row, other] += coupling
                    elif other > row:
                        mass[other, row] += coupling
                    else:
                        # one coordinate moves both bodies: the pair counts both ways round
                        mass[row, row] += 2.0 * coupling
                above = model.body_parent[above]
