"""Composite rigid body algorithm: the joint-space mass matrix (Featherstone 2008, table 6.2)."""

import numpy as np

from grouser.physics.base.kernel import embedded, inlined
from grouser.physics.base.spatial import momentum
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.elastic_link import couple_elastic_link, is_link_in
from grouser.physics.multibody.kinematics import Kinematics, force_along
from grouser.physics.multibody.mass import MassMatrix
from grouser.physics.multibody.spans import Span, whole


@embedded
def mass_matrix(model: MultibodyModel, kinematics: Kinematics, composite, mass: MassMatrix):
    """M(q), rotors included.

    Args:
        model: the multibody system.
        kinematics: with positions filled.
        composite: workspace, (bodies, 10).
        mass: result [kg, kg m, kg m2].
    """
    mass_matrix_of(model, whole(model), kinematics, composite, mass)


@embedded
def mass_matrix_of(model: MultibodyModel, span: Span, kinematics: Kinematics, composite, mass: MassMatrix):
    """As `mass_matrix`, for the bodies of a span."""
    for i in range(span.rate, span.rate_end):
        mass.diagonal[i] = mass.along[i] = model.rate_inertia[i]
        for j in range(model.rate_entries[i]):
            mass.lower[i, j] = 0.0
    for i in range(span.body, span.body_end):
        for k in range(10):
            composite[i, k] = kinematics.inertia[i, k]
    for link in range(model.elastic.body.shape[0]):
        if is_link_in(model.elastic, link, span):
            couple_elastic_link(model, link, kinematics.column, kinematics.elastic, mass)
            body = model.elastic.body[link]
            if body >= 0:
                for k in range(10):
                    composite[body, k] += kinematics.elastic.inertia[link, k]
    for m in range(span.body_end - span.body):
        i = span.body_end - np.uintp(1) - m
        for c in range(model.column_start[i], model.column_start[i + np.uintp(1)]):
            _couple_column(model, i, c, kinematics.column, composite, mass)
        parent = model.body_parent[i]
        if parent >= 0:
            for k in range(10):
                composite[parent, k] += composite[i, k]


@inlined
def _couple_column(model: MultibodyModel, i, c, column, composite, mass: MassMatrix):
    """Adds the coupling of column c of body i with itself, and with earlier columns of the body and its ancestors."""
    # Unsigned, as in `factorisation`.
    row = np.uintp(model.column_rate[c])
    first = np.uintp(model.rate_first[row])
    f0, f1, f2, f3, f4, f5 = momentum(
        composite, i, column[c, 0], column[c, 1], column[c, 2], column[c, 3], column[c, 4], column[c, 5]
    )
    mass.diagonal[row] += force_along(column, c, f0, f1, f2, f3, f4, f5)
    body, last = np.int64(i), c
    if model.run_tree.shape[0] > 0 and model.run_tree[model.rate_run[row], 1] > 0:
        body = -1  # the recursion along the tree needs no entries
    while body >= 0:
        for d in range(np.uintp(model.column_start[body]), np.uintp(last)):
            coupling = force_along(column, d, f0, f1, f2, f3, f4, f5)
            other = np.uintp(model.column_rate[d])
            if other < row:
                mass.lower[row, other - first] += coupling
            elif other > row:
                mass.lower[other, row - first] += coupling
            else:
                # one coordinate moves both bodies: the product counts twice
                mass.diagonal[row] += 2.0 * coupling
        body = model.body_parent[body]
        last = model.column_start[body + 1]
