"""All laws of one contact in one pass."""

from grouser.physics.base.kernel import embedded, inlined
from grouser.physics.granular.normal_law import normal_force
from grouser.physics.granular.pairs import ADHESION, PairTable
from grouser.physics.granular.rolling_law import rolling_force, twisting_force
from grouser.physics.granular.tangential_law import tangential_force


@embedded
def contact_force(pairs: PairTable, p, radius, mass, overlap, normal, speed, spin, step: float, history, k):
    """Force and moment of a contact on its first body; its memory is advanced by a step.

    Args:
        pairs, p: constants of the pair.
        radius, mass: reduced, R* [m] and m* [kg].
        overlap: d, above 0 [m].
        normal: unit normal, from the second body to the first.
        speed: of the first body relative to the second at the contact point [m/s].
        spin: angular velocity of the first body relative to the second [rad/s].
        step: h [s].
        history, k: memory of the contacts, and which of them.

    Returns:
        Normal force and its damping part [N], tangential force (3) [N], moment of rolling and twisting (3) [N m].
    """
    n0, n1, n2 = normal
    u0, u1, u2 = speed
    separation = u0 * n0 + u1 * n1 + u2 * n2
    slip = u0 - separation * n0, u1 - separation * n1, u2 - separation * n2
    push, elastic, slope, damping = normal_force(pairs, p, radius, mass, overlap, separation)
    bearing = max(push, 0.0)
    g0, g1, g2, m0, m1, m2 = friction_forces(
        pairs, p, radius, mass, overlap, -separation, bearing, bearing, slope, damping, normal, slip, spin, step,
        history, k,
    )  # fmt: skip
    return push - pairs.constant[p, ADHESION] * radius, push - elastic, g0, g1, g2, m0, m1, m2


@inlined
def friction_forces(
    pairs: PairTable, p, radius, mass, overlap, approach, bearing, held, slope, damping, normal, slip, spin,
    step: float, history, k,
):  # fmt: skip
    """Friction and moments of a contact on its first body; its memory is advanced by a step.

    Args:
        pairs, p: constants of the pair.
        radius, mass: reduced, R* [m] and m* [kg].
        overlap: d, above 0 [m].
        approach: speed of the bodies towards each other [m/s].
        bearing: normal force, without adhesion [N].
        held: normal force whose friction the bodies can bear, at most `bearing` [N].
        slope, damping: of the normal force, as of `normal_force`.
        normal: unit normal, from the second body to the first.
        slip: tangential speed of the first body relative to the second at the contact point [m/s].
        spin: angular velocity of the first body relative to the second [rad/s].
        step: h [s].
        history, k: memory of the contacts, and which of them.

    Returns:
        Tangential force (3) [N], moment of rolling and twisting (3) [N m].
    """
    n0, n1, n2 = normal
    w0, w1, w2 = spin
    g0, g1, g2 = tangential_force(
        pairs, p, radius, mass, overlap, approach, held, slope, damping, normal, slip, step, history, k
    )
    rolling = radius * (w1 * n2 - w2 * n1), radius * (w2 * n0 - w0 * n2), radius * (w0 * n1 - w1 * n0)
    p0, p1, p2 = rolling_force(pairs, p, mass, bearing, slope, normal, rolling, step, history, k)
    twisting = radius * (w0 * n0 + w1 * n1 + w2 * n2)
    pull = twisting_force(pairs, p, mass, bearing, slope, twisting, step, history, k)
    history[k, 3] = slope
    m0 = radius * (n1 * p2 - n2 * p1 + pull * n0)
    m1 = radius * (n2 * p0 - n0 * p2 + pull * n1)
    m2 = radius * (n0 * p1 - n1 * p0 + pull * n2)
    return g0, g1, g2, m0, m1, m2
