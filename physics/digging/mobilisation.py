"""How the resistance of soil grows as a tool begins to move."""

import math

from grouser.physics.base.kernel import kernel

# Travel over which the resistance grows to 63 %, over the depth.
MOBILISATION = 0.02


@kernel
def mobilised_share(travel, depth):
    """Share of the full resistance after a travel in one direction: 1 - exp(-x/(0.02 d)) [-].

    Args:
        travel: x, since the tool began to move or turned back [m], at least 0.
        depth: d [m], above 0.
    """
    return 1.0 - math.exp(-travel / (MOBILISATION * depth))
