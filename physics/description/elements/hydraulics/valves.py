"""Pressure-operated valves, orifices and compensators."""

from grouser.physics.description.data.hydraulics import (
    CheckValve,
    Compensator,
    CounterbalanceValve,
    Orifice,
    ReducingValve,
    ReliefValve,
    ShuttleValve,
)
from grouser.physics.description.table.attributes import (
    Attribute,
    ElementKind,
    name_of,
    non_negative,
    port,
    positive,
)
from grouser.physics.description.table.family import Entry, Scope
from grouser.physics.description.table.requirements import require_with


def _rated_flow(where: str, **more) -> Attribute:
    return positive("rated_flow", "m3/s", where, **more)


def _rated_drop() -> Attribute:
    return positive("rated_drop", "Pa", "pressure drop at rated_flow", default=5e5)


def _cracking_pressure(where: str) -> Attribute:
    return non_negative("cracking_pressure", "Pa", where, default=5e4)


def _pilot_ratio(where: str) -> Attribute:
    return positive("pilot_ratio", "-", where, default=3.0, maximum=1e3)


RELIEF_VALVE = ElementKind(
    "relief_valve",
    "A relief valve: it opens when its inlet pressure is above its outlet pressure by a setting.",
    (
        name_of("its name"),
        port("inlet", "line whose pressure it limits"),
        port("outlet", "line that it discharges to", default="tank"),
        positive("pressure", "Pa", "of the inlet above the outlet, at which it opens"),
        _rated_flow("at rated_rise above that pressure"),
        positive("rated_rise", "Pa", "rise above the opening pressure at rated_flow", default=1e6),
    ),
    ReliefValve,
    field="relief_valves",
    unique="name",
)
CHECK_VALVE = ElementKind(
    "check_valve",
    "A check valve. With a pilot it is pilot-operated: the pilot pressure opens it in the other direction, too.",
    (
        name_of("its name"),
        port("inlet", "line from which oil flows"),
        port("outlet", "line to which oil flows"),
        port("pilot", "line whose pressure opens it against its blocking direction", default="", default_text="none"),
        _cracking_pressure("drop at which it opens"),
        _rated_flow("when open, at rated_drop"),
        _rated_drop(),
        _pilot_ratio("area of the pilot's piston over that of the seat"),
    ),
    CheckValve,
    field="check_valves",
    unique="name",
)
COUNTERBALANCE_VALVE = ElementKind(
    "counterbalance_valve",
    "A counterbalance (load-holding) valve: free flow to the load; from the load a pilot-assisted relief valve.",
    (
        name_of("its name"),
        port("load", "line of the actuator"),
        port("valve", "line of the directional valve"),
        port("pilot", "line whose pressure helps to open it, usually that of the other side"),
        positive("pressure", "Pa", "of the load at which it opens without pilot"),
        _pilot_ratio("area on which the pilot pressure acts over that on which the load pressure acts"),
        _rated_flow("from the load at rated_rise above opening; to the load at rated_drop"),
        positive("rated_rise", "Pa", "rise above the opening pressure at rated_flow from the load", default=1e6),
        _cracking_pressure("drop at which the free-flow path to the load opens"),
        _rated_drop(),
    ),
    CounterbalanceValve,
    field="counterbalance_valves",
    unique="name",
)
REDUCING_VALVE = ElementKind(
    "reducing_valve",
    "A pressure-reducing valve: it closes when its outlet pressure reaches its setting.",
    (
        name_of("its name"),
        port("inlet", "line that it draws from"),
        port("outlet", "line whose pressure it limits"),
        positive("pressure", "Pa", "absolute; of the outlet at which it is closed"),
        positive("range", "Pa", "rise of the outlet pressure from fully open to closed", default=2e5),
        _rated_flow("when open, at rated_drop"),
        _rated_drop(),
    ),
    ReducingValve,
    field="reducing_valves",
    unique="name",
)
SHUTTLE_VALVE = ElementKind(
    "shuttle_valve",
    "A shuttle valve: it connects its outlet with that of two lines which has the higher pressure.",
    (
        name_of("its name"),
        port("a", "one line"),
        port("b", "the other line"),
        port("outlet", "line with the higher pressure"),
        _rated_flow("at rated_drop", default=1e-4),
        _rated_drop(),
    ),
    ShuttleValve,
    field="shuttle_valves",
    unique="name",
)
ORIFICE = ElementKind(
    "orifice",
    "A restriction: turbulent with a diameter, laminar with a resistance.",
    (
        name_of("its name"),
        port("inlet", "one line"),
        port("outlet", "the other line"),
        positive("diameter", "m", "of a turbulent one", default_text="none: it has a resistance"),
        positive("discharge_coefficient", "-", "of a turbulent one; laminar at small drops", default=0.7, maximum=1.0),
        positive(
            "resistance",
            "Pa s/m3",
            "of a laminar one: drop per flow at 313.15 K, proportional to the viscosity",
            default_text="none: it has a diameter",
        ),
    ),
    Orifice,
    field="orifices",
    unique="name",
)
COMPENSATOR = ElementKind(
    "compensator",
    "A pressure compensator: it keeps the drop over the metering edge downstream of it at its margin by throttling.",
    (
        name_of("its name"),
        port("inlet", "line that it draws from"),
        port("outlet", "line that the metering edge draws from"),
        port("load", "line downstream of the metering edge, whose pressure is sensed"),
        positive("margin", "Pa", "pressure of the outlet above the load at which it is closed"),
        positive("range", "Pa", "rise of that difference from fully open to closed", default=1e5),
        _rated_flow("when open, at rated_drop"),
        _rated_drop(),
    ),
    Compensator,
    field="compensators",
    unique="name",
)


def complete_check_valve(entry: Entry, _scope: Scope) -> CheckValve:
    """Checks that a check valve with a pilot ratio has a pilot line.

    Raises:
        MachineError: it has none.
    """
    require_with(entry.element, "pilot_ratio", "pilot", bool(entry.value.pilot))
    return entry.value


def complete_orifice(entry: Entry, _scope: Scope) -> Orifice:
    """Checks that an orifice has either a diameter or a resistance.

    Raises:
        MachineError: it has neither or both.
    """
    orifice, element = entry.value, entry.element
    if (orifice.diameter is None) == (orifice.resistance is None):
        count = "neither" if orifice.diameter is None else "both"
        raise element.error(
            f"of diameter and resistance it has {count}",
            "give diameter [m] for a turbulent one, or resistance [Pa s/m3] for a laminar one",
        )
    require_with(element, "discharge_coefficient", "diameter", orifice.diameter is not None)
    return orifice
