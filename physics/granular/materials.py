"""Materials of grains and boundaries, and the surfaces of pairs of them."""

import math
from dataclasses import dataclass

from scipy.optimize import brentq

from grouser.physics.base.checks import VALUE_MAX, require_range
from grouser.physics.base.errors import ParameterError

NORMAL_LAWS = ("hertz", "viscoelastic", "hooke")
TANGENTIAL_LAWS = ("no_slip", "displacement", "partial_slip", "none")
ROLLING_LAWS = ("spring", "constant", "none")
DAMPING_ENDS = ("zero_force", "zero_overlap")
# Least restitution that a damping ratio is found for [-].
_LEAST_RESTITUTION = 1e-3


@dataclass(frozen=True)
class GrainMaterial:
    """What a grain or a boundary is made of.

    Attributes:
        name: by which pairs name it.
        youngs_modulus: E [Pa].
        poisson_ratio: nu [-], above -1, at most 0.5.
        density: of grains [kg/m3]; boundaries need none.
    """

    name: str
    youngs_modulus: float
    poisson_ratio: float = 0.25
    density: float = 2500.0

    def __post_init__(self):
        require_range(f"youngs_modulus of '{self.name}'", self.youngs_modulus, 1.0, 1e15, "Pa")
        require_range(f"poisson_ratio of '{self.name}'", self.poisson_ratio, -0.99, 0.5)
        require_range(f"density of '{self.name}'", self.density, 1e-3, 1e6, "kg/m3")

    @property
    def shear_modulus(self) -> float:
        """G = E/(2 (1 + nu)) [Pa]."""
        return self.youngs_modulus / (2.0 * (1.0 + self.poisson_ratio))


@dataclass(frozen=True)
class Surface:
    """How the surfaces of two materials act on each other.

    Attributes:
        restitution: e of a head-on impact [-]; of the laws `hertz` and `hooke`, at any speed.
        friction: Coulomb's mu [-].
        rolling_friction: mu_r: the largest rolling moment is mu_r R* times the normal force [-].
        twisting_friction: the same about the normal [-].
        adhesion: work of adhesion w [J/m2]: touching surfaces attract with 2 pi w R* (Derjaguin, Muller and Toporov,
            1975).
        normal: `hertz`, `viscoelastic` or `hooke`.
        tangential: `no_slip` (increments of force, scaled on unloading; Thornton et al., 2013), `displacement`,
            `partial_slip` (method of dimensionality reduction; Popov and Hess) or `none`.
        rolling: `spring` (Iwashita and Oda, 1998; Ai et al., 2011), `constant` or `none`.
        damping_end: where a contact ends: at `zero_force`, or at `zero_overlap`, before which it may pull.
        stiffness: k of `hooke` [N/m].
        dissipation_time: A of `viscoelastic` (Brilliantov et al., 1996) [s].
        springs: of `partial_slip`, in half a contact.
    """

    restitution: float = 0.7
    friction: float = 0.5
    rolling_friction: float = 0.0
    twisting_friction: float = 0.0
    adhesion: float = 0.0
    normal: str = "hertz"
    tangential: str = "no_slip"
    rolling: str = "spring"
    damping_end: str = "zero_force"
    stiffness: float = 0.0
    dissipation_time: float = 0.0
    springs: int = 8

    def __post_init__(self):
        for name in ("friction", "rolling_friction", "twisting_friction"):
            require_range(name, getattr(self, name), 0.0, 1e3)
        for name in ("adhesion", "stiffness", "dissipation_time"):
            require_range(name, getattr(self, name), 0.0, VALUE_MAX)
        choices = {"normal": NORMAL_LAWS, "tangential": TANGENTIAL_LAWS, "rolling": ROLLING_LAWS}
        for name, valid in {**choices, "damping_end": DAMPING_ENDS}.items():
            if getattr(self, name) not in valid:
                raise ParameterError(name, getattr(self, name), "one of " + ", ".join(valid))
        require_range("springs", self.springs, 1, 1000)
        if self.normal == "hooke" and self.stiffness == 0.0:
            raise ParameterError("stiffness", self.stiffness, "above 0 N/m for the normal law 'hooke'")
        if self.normal != "viscoelastic":
            damping_ratio(self.restitution, self.damping_end)


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
    require_range("restitution", restitution, _LEAST_RESTITUTION, 1.0)
    if restitution == 1.0:
        return 0.0
    if damping_end == "zero_overlap":
        logarithm = math.log(restitution)
        return -logarithm / math.hypot(logarithm, math.pi)
    return brentq(
        lambda zeta: restitution_of(zeta) - restitution, 0.0, 1.0 / _LEAST_RESTITUTION, xtol=1e-15, rtol=1e-14
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
