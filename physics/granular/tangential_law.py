"""Friction of a contact: a spring with a damper, limited by Coulomb's friction; its memory turns with the contact."""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.granular.pairs import (
    DISPLACEMENT,
    FRICTION,
    FRICTIONLESS,
    KAPPA,
    PARTIAL_SLIP,
    ROOT_KAPPA,
    SHEAR,
    SPRINGS,
    STIFFNESS,
    TANGENTIAL_LAW,
    WIDTH,
    PairTable,
)

# Springs of `partial_slip` beyond whose reach a contact grows are spread over this many times their width.
_WIDENING = 1.5
# Overlap of the innermost spring, at least, by that of the contact [-].
_LEAST = 0.1


@inlined
def tangential_force(
    pairs: PairTable, p, radius, mass, overlap, approach, force, slope, damping, normal, slip, step: float, history, k
):
    """Tangential force on the first body; its memory in `history[k]` is advanced by a step.

    With k_t = 8 G* a, which is 4 G*/E* times the slope of the elastic normal force, and its damper c_t:
    `no_slip` f -= k_t u h, after f is scaled by a/a_old where the contact unloads (Thornton et al., 2013);
    `displacement` f = -k_t x; `partial_slip` `_partial_slip`. The sum with the damper is at most mu F.

    Args:
        pairs, p: constants of the pair.
        radius, mass: reduced, R* [m] and m* [kg].
        overlap: d [m].
        approach: speed of the bodies towards each other [m/s].
        force: F, normal, without adhesion [N].
        slope, damping: of the normal force, as of `normal_force`.
        normal: unit normal, from the second body to the first.
        slip: tangential speed of the first body relative to the second at the contact point [m/s].
        step: h [s].
        history, k: memory of the contacts, and which of them.
    """
    law = pairs.law[p, TANGENTIAL_LAW]
    limit = pairs.constant[p, FRICTION] * force
    if law == FRICTIONLESS:
        return 0.0, 0.0, 0.0
    t0, t1, t2 = slip
    stiffness, damper = pairs.constant[p, KAPPA] * slope, damping * pairs.constant[p, ROOT_KAPPA]
    if law == PARTIAL_SLIP:
        return _partial_slip(
            pairs, p, radius, mass, overlap, approach, limit, stiffness, damper, normal, slip, step, history, k
        )
    old = history[k, 3]
    f0, f1, f2 = history[k, 0], history[k, 1], history[k, 2]
    if old > 0.0:
        f0, f1, f2 = turned(f0, f1, f2, normal)
    if law == DISPLACEMENT:
        f0, f1, f2 = -stiffness * (f0 + step * t0), -stiffness * (f1 + step * t1), -stiffness * (f2 + step * t2)
    else:
        scale = slope / old if slope < old else 1.0
        way = stiffness * step
        f0, f1, f2 = scale * f0 - way * t0, scale * f1 - way * t1, scale * f2 - way * t2
    g0, g1, g2 = f0 - damper * t0, f1 - damper * t1, f2 - damper * t2
    size = math.sqrt(g0 * g0 + g1 * g1 + g2 * g2)
    if size > limit:
        share = limit / size
        g0, g1, g2 = share * g0, share * g1, share * g2
        f0, f1, f2 = g0 + damper * t0, g1 + damper * t1, g2 + damper * t2
    if law == DISPLACEMENT:
        f0, f1, f2 = -f0 / stiffness, -f1 / stiffness, -f2 / stiffness
    history[k, 0], history[k, 1], history[k, 2] = f0, f1, f2
    return g0, g1, g2


@inlined
def turned(f0, f1, f2, normal):
    """A vector turned into the plane of a contact, with its length."""
    n0, n1, n2 = normal
    along = f0 * n0 + f1 * n1 + f2 * n2
    before = f0 * f0 + f1 * f1 + f2 * f2
    f0, f1, f2 = f0 - along * n0, f1 - along * n1, f2 - along * n2
    after = f0 * f0 + f1 * f1 + f2 * f2
    scale = math.sqrt(before / after) if after > 0.0 else 0.0
    return scale * f0, scale * f1, scale * f2


@kernel
def _partial_slip(
    pairs: PairTable, p, radius, mass, overlap, approach, limit, stiffness, damper, normal, slip, step, history, k
):
    """Cattaneo's and Mindlin's contact by independent springs (method of dimensionality reduction; Popov and Hess).

    Spring i of n stands at x_i = (i + 1/2) b/n, touches where d > x_i^2/R*, and bears a share of the normal force that
    goes with d - x_i^2/R*. Each has the stiffness 8 G* b/n, slides at its own limit, and is let go when it lifts. The
    width b is the contact radius that an elastic impact at the speed of the first touch reaches.
    """
    n = pairs.law[p, SPRINGS]
    half = math.sqrt(radius * overlap)
    # k_t = 8 G* a
    modulus = stiffness / half
    if history[k, 3] == 0.0:
        history[k, WIDTH] = max(_reach(pairs, p, radius, mass, approach), half)
        for i in range(SHEAR, SHEAR + 3 * n):
            history[k, i] = 0.0
    while history[k, WIDTH] < half:
        _widen(n, history, k)
    part = history[k, WIDTH] / n
    # the innermost spring bears alone while the contact is smaller than its place
    innermost = max(overlap - 0.25 * part * part / radius, _LEAST * overlap)
    whole = innermost
    for i in range(1, n):
        x = (i + 0.5) * part
        whole += max(overlap - x * x / radius, 0.0)
    t0, t1, t2 = slip
    g0, g1, g2 = -damper * t0, -damper * t1, -damper * t2
    for i in range(n):
        x, place = (i + 0.5) * part, SHEAR + 3 * i
        bearing = innermost if i == 0 else overlap - x * x / radius
        if bearing <= 0.0:
            history[k, place] = history[k, place + 1] = history[k, place + 2] = 0.0
            continue
        s0, s1, s2 = turned(history[k, place], history[k, place + 1], history[k, place + 2], normal)
        s0, s1, s2 = s0 + step * t0, s1 + step * t1, s2 + step * t2
        size = math.sqrt(s0 * s0 + s1 * s1 + s2 * s2)
        most = limit * bearing / whole / (modulus * part)
        if size > most:
            share = most / size
            s0, s1, s2 = share * s0, share * s1, share * s2
        history[k, place], history[k, place + 1], history[k, place + 2] = s0, s1, s2
        g0, g1, g2 = g0 - modulus * part * s0, g1 - modulus * part * s1, g2 - modulus * part * s2
    size = math.sqrt(g0 * g0 + g1 * g1 + g2 * g2)
    if size > limit:
        share = limit / size
        g0, g1, g2 = share * g0, share * g1, share * g2
    return g0, g1, g2


@inlined
def _reach(pairs: PairTable, p, radius, mass, speed):
    """Contact radius at the largest overlap of an elastic impact [m]: d = (15 m* v^2/(16 E* sqrt(R*)))^(2/5)."""
    # STIFFNESS is 4/3 E*
    overlap = (1.25 * mass * speed * speed / (pairs.constant[p, STIFFNESS] * math.sqrt(radius))) ** 0.4
    return math.sqrt(radius * overlap)


@inlined
def _widen(n, history, k):
    """Spreads the springs of a contact over a larger width, with the displacements at their new places."""
    history[k, WIDTH] *= _WIDENING
    for i in range(n):
        nearest = math.floor((i + 0.5) * _WIDENING)
        for c in range(3):
            history[k, SHEAR + 3 * i + c] = history[k, SHEAR + 3 * nearest + c] if nearest < n else 0.0
