"""Push and pull of a cylinder by the pressures that its circuit is set to: one definition for all pages and commands.

The push is S_A p - S_B p_T - F_f, the pull S_B p - S_A p_T - F_f, with the tank's pressure p_T and the dry friction
F_f. The working pressure p is the highest that a pump's control or a supply gives, of a pump without control that of
the relief valve on its outlet; and no more than a relief valve on the cylinder's own line allows. What a load needs to
open that valve, the overload, is a number of its own.
"""

from dataclasses import dataclass

from grouser.physics.description.data.hydraulics import HydraulicCylinder
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.elements.hydraulics.circuit import circuit_tanks
from grouser.physics.hydraulics.actuator_geometry import piston_area, rod_side_area


@dataclass(frozen=True)
class CylinderForces:
    """Forces of a cylinder [N].

    Attributes:
        push, pull: at the working pressure, after dry friction.
        overload_push: with which a load presses the rod in when the relief valve of the piston side opens; None
            without one.
        overload_pull: likewise out, by that of the rod side.
    """

    push: float
    pull: float
    overload_push: float | None
    overload_pull: float | None


def cylinder_forces(machine: Machine, cylinder: HydraulicCylinder) -> CylinderForces:
    """Returns the forces of one of a machine's cylinders."""
    areas = piston_area(cylinder), rod_side_area(cylinder)
    tank = min(each.pressure for each in circuit_tanks(machine))
    reliefs = _relief_pressures(machine, tank)
    working = _working_pressure(machine, reliefs, tank)

    def pushes(line: str, area: float, other: float) -> float:
        return min(working, reliefs.get(line, working)) * area - tank * other - cylinder.dry_friction

    def holds(line: str, area: float) -> float | None:
        return reliefs[line] * area if line and line in reliefs else None

    return CylinderForces(
        push=pushes(cylinder.piston_side, areas[0], areas[1]),
        pull=pushes(cylinder.rod_side, areas[1], areas[0]),
        overload_push=holds(cylinder.piston_side, areas[0]),
        overload_pull=holds(cylinder.rod_side, areas[1]),
    )


def overload_text(push: float | None, pull: float | None) -> str:
    """Both overloads in kN as a cell of a table."""
    if push is None and pull is None:
        return "-"
    return " / ".join("-" if load is None else f"{load / 1e3:.1f}" for load in (push, pull))


def _relief_pressures(machine: Machine, tank: float) -> dict[str, float]:
    """Pressure at which the first relief valve of a line opens, by line [Pa, absolute]."""
    found: dict[str, float] = {}
    for valve in machine.relief_valves:
        found[valve.inlet] = min(found.get(valve.inlet, float("inf")), tank + valve.pressure)
    return found


def _working_pressure(machine: Machine, reliefs: dict[str, float], tank: float) -> float:
    """Highest pressure that a pump or supply gives [Pa, absolute]."""
    given = [pump.supply_pressure or pump.setting or reliefs.get(pump.outlet) for pump in machine.pumps]
    return max(filter(None, given), default=max(reliefs.values(), default=tank))
