"""The limit of position corrections: none moves a coordinate much farther than the step itself."""

from typing import TYPE_CHECKING

import numpy as np

from grouser.physics.base.kernel import inlined

if TYPE_CHECKING:
    from grouser.physics.model.multibody import MultibodyModel
    from grouser.physics.multibody.spans import Span

# Largest correction of a coordinate in a step, beyond the distance that it moves in the step [m or rad].
LARGEST_CORRECTION = 1e-3


@inlined
def limit_corrections(model: "MultibodyModel", span: "Span", velocity, precession, step: float, displacement):
    """Shortens the position corrections of every block of the mass matrix in which one of them is too large.

    An error of position along a row is divided by the row's lever. Near a dead point, or where a contact presses
    through a hinge, the lever vanishes and the correction would be arbitrarily large; what is left of the error is
    corrected when the machine has moved on.

    Args:
        model: the multibody system.
        span: the coordinates.
        velocity, precession: rates of the step, and what free rotation adds to those that move the positions.
        step: [s].
        displacement: rates with the corrections, changed in place.
    """
    allowed = LARGEST_CORRECTION / step
    first = np.int64(span.rate)
    while first < np.int64(span.rate_end):
        last = model.rate_last[first]
        share = 1.0
        for d in range(first, last):
            moved = abs(displacement[d] - velocity[d] - precession[d])
            most = abs(velocity[d]) + allowed
            if share * moved > most:
                share = most / moved
        if share < 1.0:
            for d in range(first, last):
                motion = velocity[d] + precession[d]
                displacement[d] = motion + share * (displacement[d] - motion)
        first = last
