"""The family of hydraulic elements."""

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.elements.hydraulics.circuit_checks import check_circuit
from grouser.physics.description.elements.hydraulics.cylinders import check_cylinders_fit, complete_cylinder
from grouser.physics.description.elements.hydraulics.directional_valves import complete_valve
from grouser.physics.description.elements.hydraulics.motors import complete_motor
from grouser.physics.description.elements.hydraulics.oil import complete_fluid
from grouser.physics.description.elements.hydraulics.pumps import complete_pump
from grouser.physics.description.elements.hydraulics.table import HYDRAULIC_ELEMENTS
from grouser.physics.description.elements.hydraulics.valves import complete_check_valve, complete_orifice
from grouser.physics.description.table.family import Extension, Family


def _check_machine(machine: Machine, extension: Extension) -> None:
    check_circuit(machine, extension)
    check_cylinders_fit(machine, extension["cylinders"])


FAMILY = Family(
    HYDRAULIC_ELEMENTS,
    complete={
        "fluid": complete_fluid,
        "pumps": complete_pump,
        "valves": complete_valve,
        "check_valves": complete_check_valve,
        "orifices": complete_orifice,
        "cylinders": complete_cylinder,
        "hydraulic_motors": complete_motor,
    },
    check=_check_machine,
)
