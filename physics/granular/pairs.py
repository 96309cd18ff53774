"""Constants of every pair of materials, as the laws of contact read them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.granular import NORMAL_LAWS, ROLLING_LAWS, TANGENTIAL_LAWS, GrainMaterial, Surface
from grouser.physics.granular.materials import damping_ratio, reduced_modulus, reduced_shear_modulus

HERTZ, VISCOELASTIC, HOOKE = range(3)
NO_SLIP, DISPLACEMENT, PARTIAL_SLIP, FRICTIONLESS = range(4)
SPRING, CONSTANT, FREE = range(3)
# Columns of `PairTable.constant`: 4/3 E* [Pa] or k of `hooke` [N/m]; tangential by normal stiffness, 4 G*/E* [-], and
# its root; damping coefficient by sqrt(m* k) [-], of `viscoelastic` by k [s]; friction, rolling and twisting friction
# [-]; adhesive force by R* [N/m].
STIFFNESS, KAPPA, ROOT_KAPPA, DAMPING, FRICTION, ROLLING, TWISTING, ADHESION = range(8)
# Columns of `PairTable.law`: the laws by the numbers above, whether a contact may pull, springs of `partial_slip`.
NORMAL_LAW, TANGENTIAL_LAW, ROLLING_LAW, PULLS, SPRINGS = range(5)
# Numbers of a contact: tangential force [N] or displacement [m] (3), normal stiffness, above 0 while touching [N/m];
# rolling displacement (3) and twisting displacement [m]. With `partial_slip` half width of the springs [m] and the
# displacement of each [m] (3).
_PLAIN = 8
WIDTH, SHEAR = 8, 9


class PairTable(NamedTuple):
    """Constants of pairs; row `a * materials + b` is that of a grain of material a on material b.

    Attributes:
        materials: number of materials.
        constant: numbers, (materials^2, 8).
        law: laws, (materials^2, 5).
    """

    materials: int
    constant: np.ndarray
    law: np.ndarray

    @property
    def history_width(self) -> int:
        """Numbers that a contact keeps."""
        springs = int((self.law[:, SPRINGS] * (self.law[:, TANGENTIAL_LAW] == PARTIAL_SLIP)).max())
        return SHEAR + 3 * springs if springs else _PLAIN


@dataclass(frozen=True)
class PairSurfaces:
    """The surfaces between materials.

    Attributes:
        materials: in the order of their numbers.
        surfaces: by the names of both materials, in either order.
        default: of all other pairs; None: each must be given.

    Raises:
        ParameterError: a surface of a material that does not exist, or of a name that two have.
    """

    materials: Sequence[GrainMaterial]
    surfaces: Mapping[tuple[str, str], Surface]
    default: Surface | None = None

    def __post_init__(self) -> None:
        names = [material.name for material in self.materials]
        for pair in self.surfaces:
            for name in pair:
                if names.count(name) != 1:
                    raise ParameterError("surfaces", pair, f"names of materials, each given once: {', '.join(names)}")

    def between(self, first: GrainMaterial, second: GrainMaterial) -> Surface:
        """The surface between two materials.

        Raises:
            ParameterError: none is given.
        """
        pair = first.name, second.name
        found = self.surfaces.get(pair, self.surfaces.get(pair[::-1], self.default))
        if found is None:
            valid = f"with a surface for the pair ({first.name}, {second.name})"
            raise ParameterError("surfaces", list(self.surfaces), valid)
        return found


def make_pairs(table: PairSurfaces) -> PairTable:
    """Returns the constants of all pairs.

    Raises:
        ParameterError: a pair without a surface.
    """
    count = len(table.materials)
    constant, law = np.zeros((count * count, 8)), np.zeros((count * count, 5), dtype=np.int64)
    for a, first in enumerate(table.materials):
        for b, second in enumerate(table.materials):
            constant[a * count + b], law[a * count + b] = _row(first, second, table.between(first, second))
    constant.flags.writeable = law.flags.writeable = False
    return PairTable(count, constant, law)


def _row(first: GrainMaterial, second: GrainMaterial, surface: Surface) -> tuple[list[float], list[int]]:
    modulus = reduced_modulus(first, second)
    kappa = 4.0 * reduced_shear_modulus(first, second) / modulus
    normal = NORMAL_LAWS.index(surface.normal)
    if normal == VISCOELASTIC:
        damping = 1.5 * surface.dissipation_time
    else:
        # hertz: alpha = sqrt(5) zeta; hooke: 2 zeta
        damping = (2.0 if normal == HOOKE else math.sqrt(5.0)) * damping_ratio(surface.restitution, surface.damping_end)
    stiffness = surface.stiffness if normal == HOOKE else 4.0 / 3.0 * modulus
    return [
        *(stiffness, kappa, math.sqrt(kappa), damping, surface.friction),
        *(surface.rolling_friction, surface.twisting_friction, 2.0 * math.pi * surface.adhesion),
    ], [
        *(normal, TANGENTIAL_LAWS.index(surface.tangential), ROLLING_LAWS.index(surface.rolling)),
        *(int(surface.damping_end == "zero_overlap"), surface.springs),
    ]
