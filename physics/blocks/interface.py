"""Constants of joints, contacts and motion of an assembly."""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from grouser.physics.base.checks import require_range, require_vector
from grouser.physics.blocks.system import Laws
from grouser.physics.description.data.blocks import Interface


def make_laws(
    interface: Interface,
    gravity: Sequence[float],
    mass_damping: float = 0.0,
    stiffness_damping: float = 0.0,
    collide: bool = True,
    rigid_rubble: bool = False,
) -> Laws:
    """Checks the constants of an assembly.

    Args:
        interface: of all faces.
        gravity: [m/s2].
        mass_damping, stiffness_damping: a [1/s] and b [s] of a M + b K.
        collide: whether blocks that are not bonded to each other touch.
        rigid_rubble: whether blocks without a joint have no modes.

    Raises:
        ParameterError: a value out of its range.
    """
    return Laws(
        **{name: float(value) for name, value in asdict(interface).items()},
        mass_damping=require_range("mass_damping", mass_damping, 0.0, 1e9, "1/s"),
        stiffness_damping=require_range("stiffness_damping", stiffness_damping, 0.0, 1e9, "s"),
        collide=bool(collide),
        rigid_rubble=bool(rigid_rubble),
        gravity=np.array(require_vector("gravity", gravity, 3, "m/s2")),
    )
