"""The discretisations by name. A new one is a file with its functions, and a row here."""

from grouser.physics.flexible_links.assumed_modes import ClampedFreeModes, ClampedFreeWaves
from grouser.physics.flexible_links.b_spline import SplineCurve, SplineLine
from grouser.physics.flexible_links.bezier import BezierCurve, BezierLine
from grouser.physics.flexible_links.finite_elements import HermiteElements, LinearElements
from grouser.physics.flexible_links.shape_functions import Discretisation

BY_NAME = {
    "assumed_modes": Discretisation(ClampedFreeModes, ClampedFreeWaves),
    "finite_elements": Discretisation(HermiteElements, LinearElements),
    "bezier": Discretisation(BezierCurve, BezierLine),
    "b_spline": Discretisation(SplineCurve, SplineLine),
}
