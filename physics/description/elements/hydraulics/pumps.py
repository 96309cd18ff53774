"""Pumps: supplies of constant pressure, and displacement pumps with their controls."""

from dataclasses import replace

from grouser.physics.description.data.hydraulics import (
    Pump,
)
from grouser.physics.description.table.attributes import (
    ElementKind,
    choice,
    name_of,
    non_negative,
    port,
    positive,
)
from grouser.physics.description.table.family import Entry, Scope
from grouser.physics.description.table.requirements import refuse_foreign

# Defaults of a displacement pump; only those that its control uses are filled in.
PUMP_DEFAULTS = {
    "margin": 2e6,
    "regulation_range": 5e5,
    "response_time": 0.05,
    "power_limit": 0.0,
    "minimum_stroke": 0.0,
    "leakage": 0.0,
    "torque_loss": 0.0,
}
_NO_SUPPLY = "of a displacement pump"
_VARIABLE = "of a controlled pump"
_OF_EVERY_PUMP = frozenset({"name", "outlet", "tank_pressure"})
_OF_A_SUPPLY = _OF_EVERY_PUMP | {"supply_pressure"}
_OF_A_FIXED_PUMP = _OF_EVERY_PUMP | {"displacement", "inlet", "speed", "control", "leakage", "torque_loss"}
_OF_A_PRESSURE_CONTROL = _OF_A_FIXED_PUMP | {
    "setting",
    "regulation_range",
    "response_time",
    "power_limit",
    "minimum_stroke",
}
_OF_LOAD_SENSING = _OF_A_PRESSURE_CONTROL | {"sense", "margin"}
_OF_A_PUMP = {"fixed": _OF_A_FIXED_PUMP, "pressure": _OF_A_PRESSURE_CONTROL, "load_sensing": _OF_LOAD_SENSING}


def _pump_default(name: str) -> str:
    return f"{PUMP_DEFAULTS[name]:g}"


PUMP = ElementKind(
    "pump",
    "A supply of constant pressure, if it has a supply_pressure; a pump on a shaft of constant speed, if it has a "
    "displacement. Attributes of the other kind are refused.",
    (
        name_of("its name", default="pump"),
        port("outlet", "line that it feeds", default="supply"),
        positive(
            "supply_pressure",
            "Pa",
            "of a supply: absolute; above the tank pressure",
            default_text="none: it has a displacement",
        ),
        non_negative("tank_pressure", "Pa", "absolute; of a machine without `<tank>`", default=1e5),
        positive("displacement", "m3/rad", "at full stroke", default_text="none: it has a supply_pressure"),
        port("inlet", f"{_NO_SUPPLY}: line that it draws from", default="", default_text="tank"),
        positive("speed", "rad/s", f"{_NO_SUPPLY}: speed of its shaft; required", default_text="none"),
        choice(
            "control",
            f"{_NO_SUPPLY}: control of its displacement",
            ("fixed", "pressure", "load_sensing"),
            default="",
            default_text="fixed",
        ),
        port("sense", "of load_sensing: sensed line; required", default="", default_text="none"),
        positive(
            "setting",
            "Pa",
            f"{_VARIABLE}: absolute outlet pressure at zero displacement; required",
            default_text="none",
        ),
        positive(
            "margin",
            "Pa",
            "of load_sensing: pressure of the outlet above the sensed line",
            default_text=_pump_default("margin"),
        ),
        positive(
            "regulation_range",
            "Pa",
            f"{_VARIABLE}: rise of pressure from full to zero displacement",
            default_text=_pump_default("regulation_range"),
        ),
        positive(
            "response_time",
            "s",
            f"{_VARIABLE}: time constant of the displacement",
            default_text=_pump_default("response_time"),
        ),
        non_negative(
            "power_limit",
            "W",
            f"{_VARIABLE}: hydraulic power above which the displacement is reduced; 0: none",
            default_text=_pump_default("power_limit"),
        ),
        non_negative(
            "minimum_stroke",
            "-",
            f"{_VARIABLE}: least displacement, share of the full one",
            default_text=_pump_default("minimum_stroke"),
            maximum=0.99,
        ),
        non_negative(
            "leakage",
            "m3/(s Pa)",
            f"{_NO_SUPPLY}: from outlet to inlet",
            default_text=_pump_default("leakage"),
        ),
        non_negative(
            "torque_loss",
            "N m",
            f"{_NO_SUPPLY}: at the shaft, in addition to the hydraulic torque",
            default_text=_pump_default("torque_loss"),
        ),
    ),
    Pump,
    field="pumps",
    unique="name",
)


def complete_pump(entry: Entry, _scope: Scope) -> Pump:
    """Checks that the attributes of a pump apply to its kind, and fills in the defaults of its control.

    Raises:
        MachineError: an attribute is missing, or belongs to another kind of pump.
    """
    pump, element = entry.value, entry.element
    if pump.supply_pressure is None and pump.displacement is None:
        raise element.error(
            "attribute 'supply_pressure' is missing, and so is 'displacement'",
            'give supply_pressure="..." for a constant pressure, or displacement and speed for a pump on a shaft',
        )
    if pump.supply_pressure is not None and pump.displacement is not None:
        raise element.error(
            f"it has supply_pressure = {pump.supply_pressure:g} Pa and displacement = {pump.displacement:g} m3/rad",
            "keep one: a constant pressure needs no displacement, and a displacement pump makes its pressure",
        )
    if pump.supply_pressure is not None:
        refuse_foreign(element, _OF_A_SUPPLY, "a supply of constant pressure")
        return pump
    pump = replace(pump, control=pump.control or "fixed", inlet=pump.inlet or "tank")
    valid = _OF_A_PUMP[pump.control]
    refuse_foreign(element, valid, f'a pump with control="{pump.control}"')
    for name in ("speed", "setting", "sense"):
        if name in valid:
            element.text(name)
    given = {name: getattr(pump, name) for name in PUMP_DEFAULTS if name in valid}
    pump = replace(pump, **{name: PUMP_DEFAULTS[name] for name, value in given.items() if value is None})
    for name in ("regulation_range", "margin"):
        if name in valid and getattr(pump, name) >= pump.setting:
            raise element.error(f"{name} = {getattr(pump, name):g} Pa is not below setting = {pump.setting:g} Pa")
    return pump
