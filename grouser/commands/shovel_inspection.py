"""What `grouser inspect` shows of tools that cut soil."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from grouser.commands.tool_forces import tool_forces
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.shovel import Shovel
from grouser.physics.digging.capacity import HOE_HEAP, LOADER_HEAP, heaped_capacity
from grouser.physics.simulation.simulation import Simulation
from grouser.text_table import table


def shovel_facts(machine: Machine, simulation: Simulation | None) -> list[dict[str, Any]]:
    """Tools that cut soil, in the types of JSON; capacities are None for blades.

    Args:
        machine: with the tools.
        simulation: of it on level ground, whose state is reset; None: it cannot be simulated, forces are left out.
    """
    return [_facts(shovel, simulation) for shovel in machine.shovels]


def _facts(shovel: Shovel, simulation: Simulation | None) -> dict[str, Any]:
    struck, hoe, loader = (
        heaped_capacity(shovel.profile, shovel.opening, shovel.width, slope) if shovel.profile else None
        for slope in (0.0, HOE_HEAP, LOADER_HEAP)
    )
    return {
        "name": shovel.name,
        "link": shovel.link,
        "width": shovel.width,
        "opening": shovel.opening,
        "teeth": shovel.teeth,
        "side_plates": shovel.side_plates,
        "struck_capacity": struck,
        "heaped_capacity_1_1": hoe,
        "heaped_capacity_1_2": loader,
        "tool_forces": [asdict(force) for force in tool_forces(simulation, shovel)]
        if simulation is not None and shovel.profile
        else [],
    }


def shovel_lines(shovels: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The table of `shovel_facts`; nothing without any."""
    if not shovels:
        return
    yield from ("", "tools in soil")
    volumes = ("struck_capacity", "heaped_capacity_1_1", "heaped_capacity_1_2")
    rows = [
        (
            shovel["name"],
            shovel["link"],
            f"{shovel['width']:.3g}",
            f"{shovel['opening']:.3g}",
            str(shovel["teeth"]),
            *("-" if shovel[name] is None else f"{1e3 * shovel[name]:.3g}" for name in volumes),
        )
        for shovel in shovels
    ]
    headings = ("tool", "link", "width [m]", "opening [m]", "teeth", "struck [l]", "heaped 1:1 [l]", "heaped 1:2 [l]")
    yield from table(headings, rows)
    forces = [(shovel["name"], force) for shovel in shovels for force in shovel["tool_forces"]]
    if forces:
        yield from ("", "tool forces  (ISO 6015: at the tips of the teeth, along their path; empty, on level ground)")
        yield from table(
            ("tool", "by cylinder", "force [kN]", "limited by", "by its pressure [kN]"),
            [
                (tool, force["cylinder"], f"{1e-3 * force['force']:.1f}", force["limit"], _kilonewtons(force))
                for tool, force in forces
            ],
        )


def _kilonewtons(force: Mapping[str, Any]) -> str:
    return f"{1e-3 * force['pressure_force']:.1f}"
