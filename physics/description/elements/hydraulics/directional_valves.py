"""Directional valves: their size, their spool and their metering edges."""

from dataclasses import replace

from grouser.physics.description.data.hydraulics import (
    LAMINAR_DROP,
    DirectionalValve,
    edge_overlaps,
    valve_lines,
)
from grouser.physics.description.table.attributes import (
    Attribute,
    ElementKind,
    Kind,
    choice,
    name_of,
    non_negative,
    port,
    positive,
)
from grouser.physics.description.table.family import Entry, Scope
from grouser.physics.description.table.requirements import require_with


def _tank_edge(name: str, description: str, **more) -> Attribute:
    return Attribute(name, Kind.NUMBER, "-", description, minimum=-0.99, maximum=1.0, **more)


DIRECTIONAL_VALVE = ElementKind(
    "directional_valve",
    "A proportional 4/3 directional valve; a positive command feeds a, which extends its cylinder. Its size is given "
    "by its spool or by a rated flow. Its spool is a second-order lag, or a first-order lag if it has a time_constant.",
    (
        name_of("name, also of its command"),
        port("supply", "line that it draws from", default="supply"),
        port("tank", "line that it returns to", default="tank"),
        port("a", "line that a positive command feeds", default="", default_text="`<name>.a`"),
        port("b", "line that a negative command feeds", default="", default_text="`<name>.b`"),
        port(
            "sense",
            "load-sensing line, with the pressure of the fed one of a and b, or of the tank",
            default="",
            default_text="none",
        ),
        choice(
            "centre",
            "connection of the supply at neutral: none, with a, b and tank, or with tank",
            ("closed", "open", "tandem"),
            default="closed",
        ),
        positive("discharge_coefficient", "-", "of the metering edges", default=0.62, maximum=1.0),
        positive(
            "spool_diameter", "m", "the metering edge is its circumference", default_text="none: it has a rated_flow"
        ),
        positive("spool_travel", "m", "opening at full spool position", default_text="none: it has a rated_flow"),
        positive(
            "rated_flow",
            "m3/s",
            "over one fully open edge, at rated_drop",
            default_text="none: it has a spool_diameter",
        ),
        positive("rated_drop", "Pa", "drop over one edge at rated_flow", default=35e5),
        positive("transition_drop", "Pa", "drop over an edge below which its flow is laminar", default=LAMINAR_DROP),
        choice(
            "transition",
            "smooth transition, or flow proportional to the drop below transition_drop",
            ("smooth", "linear"),
            default="smooth",
        ),
        non_negative(
            "supply_overlap",
            "-",
            "positive overlap of the supply edges, as a share of the travel",
            default=0.05,
            maximum=0.99,
        ),
        _tank_edge(
            "tank_underlap",
            "negative overlap of the tank edges, as a share of the travel; below zero they are closed at neutral",
            default=0.05,
        ),
        non_negative(
            "supply_a_overlap",
            "-",
            "overlap of the edge from supply to a",
            maximum=0.99,
            default_text="supply_overlap",
        ),
        non_negative(
            "supply_b_overlap",
            "-",
            "overlap of the edge from supply to b",
            maximum=0.99,
            default_text="supply_overlap",
        ),
        _tank_edge("tank_a_underlap", "underlap of the edge from a to tank", default_text="tank_underlap"),
        _tank_edge("tank_b_underlap", "underlap of the edge from b to tank", default_text="tank_underlap"),
        positive("gain", "-", "spool position per unit of command", default=1.0),
        positive("natural_frequency", "rad/s", "of a second-order spool", default=120.0),
        non_negative("damping_ratio", "-", "of a second-order spool", default=1.0),
        positive("time_constant", "s", "of a first-order spool", default_text="none: it is of second order"),
        non_negative("rate_limit", "1/s", "fastest change of the spool's position; 0: none", default=0.0),
        non_negative(
            "hysteresis",
            "-",
            "full width of the backlash between command and spool, as a share of the full command",
            default=0.0,
            maximum=0.99,
        ),
        non_negative("dead_band", "-", "largest command, of either sign, without effect", default=0.0, maximum=0.99),
    ),
    DirectionalValve,
    field="valves",
    unique="name",
)


def complete_valve(entry: Entry, _scope: Scope) -> DirectionalValve:
    """Checks a directional valve, and fills in its lines and the overlap of each edge.

    Raises:
        MachineError: its size or spool dynamics is given twice, or its size is missing.
    """
    valve, element = entry.value, entry.element
    spool = [name for name in ("spool_diameter", "spool_travel") if name in element.attributes]
    if valve.rated_flow is None:
        for name in ("spool_diameter", "spool_travel"):
            if name not in spool:
                raise element.error(
                    f"attribute '{name}' is missing, and so is 'rated_flow'",
                    "give spool_diameter and spool_travel [m], or rated_flow [m3/s]",
                )
    elif spool:
        raise element.error(f"it has rated_flow and {' and '.join(spool)}", "its size is given twice: keep one")
    require_with(element, "rated_drop", "rated_flow", valve.rated_flow is not None)
    if valve.time_constant is not None:
        for name in ("natural_frequency", "damping_ratio"):
            if name in element.attributes:
                raise element.error(
                    f"it has time_constant and {name}", "keep the one, of a spool of first order, or of second order"
                )
    a, b = valve_lines(valve)
    supply_a, supply_b, tank_a, tank_b = edge_overlaps(valve)
    return replace(
        valve,
        a=a,
        b=b,
        supply_a_overlap=supply_a,
        supply_b_overlap=supply_b,
        tank_a_underlap=tank_a,
        tank_b_underlap=tank_b,
    )
