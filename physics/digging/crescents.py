"""What a narrow tool moves beside its width: crescents, or shear on its side plates."""

import math

from grouser.physics.base.kernel import inlined


@inlined
def crescent_ratio(depth, width, rake, failure):
    """Width of the crescent of soil at either side of a blade over that of the blade [-].

    McKyes and Ali (1977): s = d sqrt(cot^2 beta + 2 cot alpha cot beta), on level ground; zero for blades that lean
    ahead further than the wedge.

    Args:
        depth, width: of the blade [m].
        rake, failure: alpha and beta [rad].
    """
    ahead, behind = 1.0 / math.tan(failure), 1.0 / math.tan(rake)
    return depth * math.sqrt(max(0.0, ahead * (ahead + 2.0 * behind))) / width


@inlined
def side_shear(soil, depth, length, gravity):
    """Force on two side plates against their motion [N].

    Soil shears along both of them, under the pressure at rest with K_0 = 1 - sin(phi):
    2 (c + K_0 rho g d/2 tan(phi)) d L.

    Args:
        soil: `CutSoil`.
        depth, length: of a plate below ground [m].
        gravity: [m/s2].
    """
    at_rest = (1.0 - math.sin(soil.friction)) * 0.5 * soil.density * gravity * depth
    return 2.0 * (soil.cohesion + at_rest * math.tan(soil.friction)) * depth * length
