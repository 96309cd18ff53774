"""The table of hydraulic elements. Its order is that of the documentation and of the lines of a circuit."""

from grouser.physics.description.elements.hydraulics.cylinders import CYLINDER
from grouser.physics.description.elements.hydraulics.directional_valves import DIRECTIONAL_VALVE
from grouser.physics.description.elements.hydraulics.motors import HYDRAULIC_MOTOR
from grouser.physics.description.elements.hydraulics.oil import ACCUMULATOR, FLUID, HOSE, LINE, TANK
from grouser.physics.description.elements.hydraulics.plausible_ranges import with_plausible_ranges
from grouser.physics.description.elements.hydraulics.pumps import PUMP
from grouser.physics.description.elements.hydraulics.valves import (
    CHECK_VALVE,
    COMPENSATOR,
    COUNTERBALANCE_VALVE,
    ORIFICE,
    REDUCING_VALVE,
    RELIEF_VALVE,
    SHUTTLE_VALVE,
)
from grouser.physics.description.table.attributes import ElementKind

_ELEMENTS = (
    FLUID,
    LINE,
    TANK,
    PUMP,
    DIRECTIONAL_VALVE,
    RELIEF_VALVE,
    CHECK_VALVE,
    COUNTERBALANCE_VALVE,
    REDUCING_VALVE,
    SHUTTLE_VALVE,
    ORIFICE,
    COMPENSATOR,
    CYLINDER,
    HYDRAULIC_MOTOR,
    ACCUMULATOR,
    HOSE,
)

HYDRAULIC_ELEMENTS: tuple[ElementKind, ...] = tuple(with_plausible_ranges(kind) for kind in _ELEMENTS)
