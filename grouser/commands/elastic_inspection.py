"""What `grouser inspect` shows of flexible links."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from grouser.physics.description.data.compliance import FlexibleLink
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Joint, Link
from grouser.physics.description.data.world import World
from grouser.physics.simulation.simulation import Simulation
from grouser.text_table import table

# Number of frequencies of a link that are shown.
_SHOWN = 4


def flexible_link_facts(machine: Machine) -> list[dict[str, Any]]:
    """Flexible links in the types of JSON, each with its first frequencies [Hz], clamped at its frame and without
    what is on it."""
    return [{**asdict(flexible), "frequencies": _frequencies(machine, flexible)} for flexible in machine.flexible_links]


def flexible_link_lines(facts: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Lines of the text form of `flexible_link_facts`."""
    yield from ("", "flexible links  (frequencies of the link alone, clamped at its frame)")
    rows = [
        (
            link["link"],
            f"{link['size']} {link['discretisation'].replace('_', ' ')}",
            f"{link['length']:g}",
            f"{link['bending_stiffness_y']:g} / {link['bending_stiffness_z']:g}",
            f"{link['torsional_stiffness']:g}",
            " ".join(f"{frequency:.4g}" for frequency in link["frequencies"]),
        )
        for link in facts
    ]
    headings = ("link", "divided into", "length [m]", "EI about y / z [N m2]", "torsion [N m2]", "frequencies [Hz]")
    yield from table(headings, rows)


def _frequencies(machine: Machine, flexible: FlexibleLink) -> list[float]:
    """First frequencies of a flexible link alone [Hz]."""
    link = next(link for link in machine.links if link.name == flexible.link)
    bare = replace(link, visuals=(), collisions=())
    clamp = Joint("clamp", "fixed", "world", link.name)
    links = (Link("world"), bare)
    alone = Machine(link.name, links, (clamp,), "world", floating_base=False, flexible_links=(flexible,))
    modes = Simulation(alone, World(ground=None)).vibration.modes()
    return [mode.frequency for mode in modes[:_SHOWN]]
