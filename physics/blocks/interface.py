"""Joints and contacts of an assembly: their constants, and those of its motion."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from grouser.physics.base.checks import require_range, require_vector
from grouser.physics.blocks.system import Laws


@dataclass(frozen=True)
class Interface:
    """Joints and contacts of the blocks; with neither cohesion nor tensile strength nothing is bonded.

    Attributes:
        normal_stiffness, shear_stiffness: k_n, k_s [Pa/m].
        friction: of broken and free faces, and of bonded ones under pressure [-].
        cohesion: shear stress that bonded faces bear without pressure [Pa].
        tensile_strength: stress that they bear [Pa].
    """

    normal_stiffness: float
    shear_stiffness: float
    friction: float = 0.0
    cohesion: float = np.inf
    tensile_strength: float = np.inf


def make_laws(
    interface: Interface,
    gravity: Sequence[float],
    mass_damping: float = 0.0,
    stiffness_damping: float = 0.0,
    collide: bool = True,
) -> Laws:
    """Checks the constants of an assembly.

    Args:
        interface: of all faces.
        gravity: [m/s2].
        mass_damping, stiffness_damping: a [1/s] and b [s] of a M + b K.
        collide: whether blocks that are not bonded to each other touch.

    Raises:
        ParameterError: a value out of its range.
    """
    for name in ("normal_stiffness", "shear_stiffness"):
        require_range(name, getattr(interface, name), 0.0, 1e18, "Pa/m")
    require_range("friction", interface.friction, 0.0, 100.0)
    for name in ("cohesion", "tensile_strength"):
        require_range(name, getattr(interface, name), 0.0, np.inf, "Pa")
    return Laws(
        **{name: float(value) for name, value in asdict(interface).items()},
        mass_damping=require_range("mass_damping", mass_damping, 0.0, 1e9, "1/s"),
        stiffness_damping=require_range("stiffness_damping", stiffness_damping, 0.0, 1e9, "s"),
        collide=bool(collide),
        gravity=np.array(require_vector("gravity", gravity, 3, "m/s2")),
    )
