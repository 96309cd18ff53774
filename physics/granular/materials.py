"""What materials and surfaces of pairs mean for a contact: damping ratio and reduced moduli."""

import math

import scipy

from grouser.physics.base.checks import require_range
from grouser.physics.description.data.granular import LEAST_RESTITUTION, GrainMaterial


def damping_ratio(restitution: float, damping_end: str = "zero_force") -> float:
    """Damping ratio zeta whose contact has this restitution [-].

    With x = overlap^(5/4) the path of a damped Hertzian contact in the plane of x and its speed is that of a linear
    oscillator of damping ratio zeta, and zero force is the same ray in both planes. Ended there,
    e = exp(-2 zeta acos(zeta)/sqrt(1 - zeta^2)), with acosh above zeta = 1; ended at zero overlap,
    e = exp(-pi zeta/sqrt(1 - zeta^2)). After Antypov and Elliott (2011) and Schwager and Poeschel (2007).

    Args:
        restitution: e, 0.001 to 1; from 0 at `zero_overlap` on.
        damping_end: `zero_force` or `zero_overlap`.

    Raises:
        ParameterError: a restitution out of its range.
    """
    require_range("restitution", restitution, LEAST_RESTITUTION, 1.0)
    if restitution == 1.0:
        return 0.0
    if damping_end == "zero_overlap":
        logarithm = math.log(restitution)
        return -logarithm / math.hypot(logarithm, math.pi)
    return scipy.optimize.brentq(
        lambda zeta: restitution_of(zeta) - restitution, 0.0, 1.0 / LEAST_RESTITUTION, xtol=1e-15, rtol=1e-14
    )


def restitution_of(zeta: float) -> float:
    """Restitution of a contact of this damping ratio that ends at zero force [-]."""
    if zeta < 1.0:
        root = math.sqrt((1.0 - zeta) * (1.0 + zeta))
        return math.exp(-2.0 * zeta * math.acos(zeta) / root)
    if zeta == 1.0:
        return math.exp(-2.0)
    root = math.sqrt((zeta - 1.0) * (zeta + 1.0))
    return math.exp(-2.0 * zeta * math.acosh(zeta) / root)


def reduced_modulus(first: GrainMaterial, second: GrainMaterial) -> float:
    """E* of a contact [Pa]: 1/E* = (1 - nu1^2)/E1 + (1 - nu2^2)/E2 (Hertz, 1882)."""
    return 1.0 / sum((1.0 - one.poisson_ratio**2) / one.youngs_modulus for one in (first, second))


def reduced_shear_modulus(first: GrainMaterial, second: GrainMaterial) -> float:
    """G* of a contact [Pa]: 1/G* = (2 - nu1)/G1 + (2 - nu2)/G2 (Mindlin, 1949)."""
    return 1.0 / sum((2.0 - one.poisson_ratio) / one.shear_modulus for one in (first, second))
