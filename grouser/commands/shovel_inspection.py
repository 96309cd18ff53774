"""What `grouser inspect` shows of tools that cut soil."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.shovel import Shovel
from grouser.physics.digging.capacity import HOE_HEAP, LOADER_HEAP, heaped_capacity
from grouser.text_table import table


def shovel_facts(machine: Machine) -> list[dict[str, Any]]:
    """Tools that cut soil, in the types of JSON; capacities are None for blades."""
    return [_facts(shovel) for shovel in machine.shovels]


def _facts(shovel: Shovel) -> dict[str, Any]:
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
