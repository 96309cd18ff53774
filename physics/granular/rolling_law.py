"""Resistance of a contact to rolling and to turning about its normal."""

import math

from grouser.physics.base.kernel import inlined
from grouser.physics.granular.pairs import CONSTANT, FREE, ROLLING, ROLLING_LAW, TWISTING, PairTable

# Stiffness of the rolling spring by mu_r^2 times the normal stiffness, and damping ratio by 2 of it (the choice of
# LIGGGHTS' model epsd) [-].
_STIFFNESS, _DAMPING = 2.25, 0.6


@inlined
def rolling_force(pairs: PairTable, p, mass, force, slope, normal, rolling, step: float, history, k):
    """Rolling pseudo-force p; the moment on the first body is R* n x p.

    `spring` (type C of Ai et al., 2011): p = -k x - c x', |p| <= mu_r F, k = 2.25 mu_r^2 times the normal stiffness,
    c = 0.6 sqrt(m* k). `constant`: |p| = mu_r F against the rolling.

    Args:
        pairs, p: constants of the pair.
        mass: reduced, m* [kg].
        force: F, normal, without adhesion [N].
        slope: of the elastic normal force [N/m].
        normal: unit normal, from the second body to the first.
        rolling: x' = R* (w1 - w2) x n [m/s].
        step: h [s].
        history, k: memory of the contacts, and which of them.
    """
    friction, law = pairs.constant[p, ROLLING], pairs.law[p, ROLLING_LAW]
    if friction == 0.0 or law == FREE:
        return 0.0, 0.0, 0.0
    r0, r1, r2 = rolling
    limit = friction * force
    if law == CONSTANT:
        size = math.sqrt(r0 * r0 + r1 * r1 + r2 * r2)
        share = -limit / size if size > 0.0 else 0.0
        return share * r0, share * r1, share * r2
    n0, n1, n2 = normal
    x0, x1, x2 = history[k, 4], history[k, 5], history[k, 6]
    along = x0 * n0 + x1 * n1 + x2 * n2
    x0, x1, x2 = x0 - along * n0 + step * r0, x1 - along * n1 + step * r1, x2 - along * n2 + step * r2
    stiffness = _STIFFNESS * friction * friction * slope
    damper = _DAMPING * math.sqrt(mass * stiffness)
    p0, p1, p2 = -stiffness * x0 - damper * r0, -stiffness * x1 - damper * r1, -stiffness * x2 - damper * r2
    size = math.sqrt(p0 * p0 + p1 * p1 + p2 * p2)
    if size > limit:
        share = limit / size
        p0, p1, p2 = share * p0, share * p1, share * p2
        x0, x1, x2 = -(p0 + damper * r0) / stiffness, -(p1 + damper * r1) / stiffness, -(p2 + damper * r2) / stiffness
    history[k, 4], history[k, 5], history[k, 6] = x0, x1, x2
    return p0, p1, p2


@inlined
def twisting_force(pairs: PairTable, p, mass, force, slope, twisting, step: float, history, k):
    """Twisting pseudo-force along the normal; the moment on the first body is R* times it. As `rolling_force`.

    Args:
        twisting: R* (w1 - w2) . n [m/s].
    """
    friction, law = pairs.constant[p, TWISTING], pairs.law[p, ROLLING_LAW]
    if friction == 0.0 or law == FREE:
        return 0.0
    limit = friction * force
    if law == CONSTANT:
        return -math.copysign(limit, twisting) if twisting != 0.0 else 0.0
    stiffness = _STIFFNESS * friction * friction * slope
    damper = _DAMPING * math.sqrt(mass * stiffness)
    turned = history[k, 7] + step * twisting
    pull = -stiffness * turned - damper * twisting
    if abs(pull) > limit:
        pull = math.copysign(limit, pull)
        turned = -(pull + damper * twisting) / stiffness
    history[k, 7] = turned
    return pull
