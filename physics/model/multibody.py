"""Description -> arrays: bodies, joints and coordinates as a struct of arrays, and the names of their indices.

Links joined by fixed joints are lumped into one *body*. A body's own frame has its origin at its joint and its z axis
along the joint's axis: a revolute joint is a rotation about z, a prismatic one a translation along z. The pose of each
link in its body undoes the difference. Bodies are numbered depth first, parents before children; -1 is the world.

Coordinates follow Pinocchio: a floating joint has q = (x, y, z, quaternion x y z w) and v = (linear, angular) in the
body frame, a spherical one only the quaternion and the angular velocity; a planar one q = (x, y, angle) in its plane
and v = (vx, vy, angular) in the body frame; the others are one number. A continuous joint is one unbounded angle. Each
coordinate rate of a body's joint is a *column*: the twist that it gives the body. A mimicking joint has its own columns
and shares the coordinate of the joint that it follows.

A link may carry elastic coordinates. Each joint on such a link is attached through an *elastic* body, which has a
column for each of them, and shares them with the others as mimicking joints do. The masses that they carry make the
modal mass matrix of the link. Those with nothing else on them are *carried* bodies, behind all others: a step takes
them together, by links (`model.elastic_links`). The frame of an elastic body is displaced in the axes of its joint by

    (1 - c s) d - 1/2 s e,    d = sum q_a t_a,  s = q^T H q,    and turned by the rotation vector    sum q_a r_a,

with the shapes t_a and r_a of its place, H, the shortening along the elastic axis e of a link that bends, and c, by
which the deflection falls short of the integral of its angle.

A compliant joint is attached through a chain of *twist* bodies, one with a spring for each direction that it blocks
elastically: a displacement by the exponential of coordinate times shape.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics.model.elastic_links import ElasticLinks

REVOLUTE, PRISMATIC, PLANAR, FREE, TWIST, SPHERICAL, ELASTIC = range(7)


class MultibodyModel(NamedTuple):
    """The multibody system as arrays.

    Attributes:
        body_parent: parent body, -1 for the world, shape (bodies,).
        body_kind: REVOLUTE, PRISMATIC, PLANAR, FREE, TWIST, SPHERICAL or ELASTIC.
        body_axis: elastic axis e of an ELASTIC body in the joint's axes, (bodies, 3).
        body_contraction: its c [1/m], (bodies,).
        body_rotation, body_position: joint frame in the parent body's frame, (bodies, 3, 3) and (bodies, 3) [m].
        body_root: first body of its tree.
        body_q: first index of the joint's position in q.
        body_alone: whether the body floats in the world and carries no other; loop joints may hold it.
        body_mimics: whether the joint follows another one's coordinate.
        body_multiplier, body_offset: a joint's position is multiplier * q + offset; 1 and 0 unless it mimics.
        body_mass: [kg].
        body_com: centre of mass in the body frame [m], (bodies, 3).
        body_inertia: xx xy xz yy yz zz about the centre of mass in body axes [kg m2], (bodies, 6).
        column_start: columns of body i are column_start[i] to column_start[i + 1].
        column_rate: index in v of the column's coordinate rate.
        column_shape: of a TWIST or ELASTIC body, per unit of the coordinate: t, then r, in the joint's axes,
            (columns, 6).
        shortening_start, shortening: H of body i is shortening[shortening_start[i]:shortening_start[i + 1]], row by
            row [m]; none if it has no entries.
        elastic: the elastic links with masses.
        rate_inertia: of rotors geared to each coordinate, reduced to it [kg m2 or kg], (coordinates,).
        rate_damping: viscous damping of each coordinate [N m s/rad or N s/m], (coordinates,).
        spring_position, spring_rate, spring_stiffness: elastic coordinates: index in q and in v, stiffness.
        rate_first, rate_last: the mass matrix couples a coordinate with those in range(rate_first, rate_last) only, its
            block: of its tree, and of trees that loops or shared coordinates couple with it.
        rate_entries: number of entries that each row of the mass matrix has left of its diagonal, from column
            rate_first on: all of the block, or 0 if the factor is found by recursion.
        rate_run: run of each coordinate.
        run_start: coordinates of run r are run_start[r] to run_start[r + 1]: of one tree whose factor is found by
            recursion (`multibody.articulated_factor`), or of blocks with entries. No runs if all have entries.
        run_tree: first and last (exclusive) body of that tree, (runs, 2); 0 and 0 of a run with entries.
        pattern_start, pattern: row k of the factor has entries left of the diagonal in the columns rate_first[k] +
            pattern[pattern_start[k]:pattern_start[k + 1]], ascending.
        q_initial: positions at the start, in the order of q.
        gravity: [m/s2], world frame.
    """

    body_parent: np.ndarray
    body_kind: np.ndarray
    body_axis: np.ndarray
    body_contraction: np.ndarray
    body_rotation: np.ndarray
    body_position: np.ndarray
    body_root: np.ndarray
    body_q: np.ndarray
    body_alone: np.ndarray
    body_mimics: np.ndarray
    body_multiplier: np.ndarray
    body_offset: np.ndarray
    body_mass: np.ndarray
    body_com: np.ndarray
    body_inertia: np.ndarray
    column_start: np.ndarray
    column_rate: np.ndarray
    column_shape: np.ndarray
    shortening_start: np.ndarray
    shortening: np.ndarray
    elastic: ElasticLinks
    rate_inertia: np.ndarray
    rate_damping: np.ndarray
    spring_position: np.ndarray
    spring_rate: np.ndarray
    spring_stiffness: np.ndarray
    rate_first: np.ndarray
    rate_last: np.ndarray
    rate_entries: np.ndarray
    rate_run: np.ndarray
    run_start: np.ndarray
    run_tree: np.ndarray
    pattern_start: np.ndarray
    pattern: np.ndarray
    q_initial: np.ndarray
    gravity: np.ndarray


def with_initial_positions(model: MultibodyModel, q: np.ndarray) -> MultibodyModel:
    """The same model with other initial positions."""
    q = np.array(q)
    q.flags.writeable = False
    return model._replace(q_initial=q)
