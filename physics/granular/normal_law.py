"""Normal force of a contact: elastic, and damped so that the restitution is the one asked for."""

import math

from grouser.physics.base.kernel import inlined
from grouser.physics.granular.pairs import (
    DAMPING,
    HOOKE,
    NORMAL_LAW,
    PULLS,
    STIFFNESS,
    VISCOELASTIC,
    PairTable,
)


@inlined
def normal_force(pairs: PairTable, p, radius, mass, overlap, separation):
    """Normal force of a contact, without adhesion.

    With d the overlap and a = sqrt(R* d): hertz F = k d + alpha sqrt(m* k) d', k = 4/3 E* a; viscoelastic
    F = k (d + 3/2 A d'); hooke F = k d + 2 zeta sqrt(m* k) d'. Cut at zero unless the contact may pull.

    Args:
        pairs, p: constants of the pair.
        radius, mass: reduced, R* [m] and m* [kg].
        overlap: d, above 0 [m].
        separation: speed at which the bodies part, -d' [m/s].

    Returns:
        Force [N], above 0 where it pushes; its elastic part [N]; slope of the elastic force [N/m]; damping coefficient
        [N s/m].
    """
    law = pairs.law[p, NORMAL_LAW]
    if law == HOOKE:
        stiffness = pairs.constant[p, STIFFNESS]
        slope = stiffness
    else:
        stiffness = pairs.constant[p, STIFFNESS] * math.sqrt(radius * overlap)
        slope = 1.5 * stiffness
    damping = pairs.constant[p, DAMPING] * (stiffness if law == VISCOELASTIC else math.sqrt(mass * stiffness))
    elastic = stiffness * overlap
    force = elastic - damping * separation
    if force < 0.0 and pairs.law[p, PULLS] == 0:
        force = 0.0
    return force, elastic, slope, damping


@inlined
def elastic_energy(pairs: PairTable, p, radius, overlap):
    """Energy in the normal spring of a contact [J]; arguments as of `normal_force`."""
    if pairs.law[p, NORMAL_LAW] == HOOKE:
        return 0.5 * pairs.constant[p, STIFFNESS] * overlap * overlap
    return 0.4 * pairs.constant[p, STIFFNESS] * math.sqrt(radius * overlap) * overlap * overlap
