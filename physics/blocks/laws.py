"""The law of a point between two surfaces: springs, friction of Coulomb, and damping with the stiffness."""

import math

from grouser.physics.base.kernel import kernel


@kernel
def held_share(shear_stiffness, limit, length):
    """Share of an elastic shear that friction holds.

    Args:
        shear_stiffness: of the point [N/m].
        limit: of the friction [N].
        length: of the shear if nothing slid [m].

    Returns:
        The share [-], and the energy that sliding takes [J].
    """
    if shear_stiffness * length <= limit:
        return 1.0, 0.0
    kept = limit / shear_stiffness
    return kept / length, limit * (length - kept)


@kernel
def breaks(opening, shear_first, shear_second, normal_stiffness, shear_stiffness, strengths):
    """Whether a bond breaks.

    Args:
        opening: of the bond, positive apart [m].
        shear_first, shear_second: along both tangents [m].
        normal_stiffness, shear_stiffness: [Pa/m].
        strengths: tensile strength [Pa], cohesion [Pa], friction [-].
    """
    tensile, cohesion, friction = strengths
    normal = normal_stiffness * opening
    shear = shear_stiffness * math.sqrt(shear_first * shear_first + shear_second * shear_second)
    return normal > tensile or shear > cohesion + friction * max(-normal, 0.0)
