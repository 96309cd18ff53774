"""Rows of the joints' own coordinates: limits, dry friction, and drives beyond their limit."""

from typing import TYPE_CHECKING

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.constraints.rows import Rows, close_row, open_row, spring_impulse
from grouser.physics.drives.springs import BUILT_IN
from grouser.physics.friction.joints import HELD, JointFrictions, hold_impulse

if TYPE_CHECKING:
    from grouser.physics.joints.laws import JointLaws
    from grouser.physics.model.multibody import MultibodyModel

# A joint closer to its limit than this gets a row, which stops it at the limit [rad or m].
_NEAR = 1e-2
# Share of a limit's violation that a step corrects.
LIMIT_RELIEF = 0.2


@kernel
def open_joint_rows(
    model: "MultibodyModel",
    laws: "JointLaws",
    q,
    v,
    factor,
    step: float,
    frictions: JointFrictions,
    remembered,
    springs,
    place,
    rows: Rows,
):
    """Opens a row for each joint law that acts beyond the spring in the mass matrix.

    Args:
        model, laws: the machine.
        q, v: state.
        factor: of the mass matrix.
        step: [s].
        frictions: dry friction of the step; held joints have no row.
        remembered: impulse of each law in the last step without that of its drive.
        springs, place: from `linearise_drives`.
        rows: result.
    """
    for law in range(laws.rate_index.shape[0]):
        position, speed = q[laws.position_index[law]], v[laws.rate_index[law]]
        below, above = position - laws.lower[law], laws.upper[law] - position
        reach = 2.0 * step * abs(speed) + _NEAR
        near = below < reach or above < reach
        holds = hold_impulse(laws, law, laws.static[law], frictions, step) > 0.0
        if frictions.grip[law] == HELD or not (near or holds or place[law] != BUILT_IN):
            continue
        d = laws.rate_index[law]
        r = open_row(rows, law, remembered[law], model.rate_first[d], model.rate_last[d])
        rows.jacobian[r, d] = 1.0
        close_row(rows, r, model, factor)
        if place[law] != BUILT_IN:
            rows.conductance[r], rows.target[r] = springs[law, 0], springs[law, 1]
            rows.spring_lower[r], rows.spring_upper[r] = -springs[law, 2], springs[law, 2]
            rows.impulse[r] += spring_impulse(rows, r, speed)
        if near:
            rows.slowest[r] = -max(below, 0.0) / step
            rows.fastest[r] = max(above, 0.0) / step
            _keep_within_limits(rows, r, below, above, step)
        rows.hold_bound[r] = hold_impulse(laws, law, frictions.level[law], frictions, step)


@inlined
def _keep_within_limits(rows: Rows, r, below, above, step: float):
    """Position shift of a joint near a limit: at most to it, or a share of the violation back."""
    if below <= above:
        rows.shift[r] = -below / step if below > 0.0 else -LIMIT_RELIEF * below / step
        rows.shift_upper[r] = np.inf
    else:
        rows.shift[r] = above / step if above > 0.0 else LIMIT_RELIEF * above / step
        rows.shift_lower[r] = -np.inf
