"""What a hydraulic element of ``<grouser>`` says must fit together; `circuit_checks` looks at the whole circuit."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from grouser.physics.description.data.hydraulics import (
    DirectionalValve,
    HydraulicCylinder,
    Pump,
    edge_overlaps,
    valve_lines,
)
from grouser.physics.description.data.mechanism import Joint
from grouser.physics.description.elements.hydraulics.pumps import PUMP_DEFAULTS
from grouser.physics.description.table.family import Entry
from grouser.physics.description.table.requirements import require_independent
from grouser.physics.description.text.xml_tree import Element

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


def check_fluid(entry: Entry) -> None:
    """Checks that air comes out of the oil before the oil boils.

    Raises:
        MachineError: it does not.
    """
    fluid = entry.value
    if fluid.vapour_pressure >= fluid.saturation_pressure:
        raise entry.element.error(
            f"vapour_pressure = {fluid.vapour_pressure:g} Pa is not below "
            f"saturation_pressure = {fluid.saturation_pressure:g} Pa"
        )


def complete_pump(entry: Entry) -> Pump:
    """Checks that a pump's numbers are those of its kind, and fills in those of its control.

    Raises:
        MachineError: a number is missing, or is of another kind of pump.
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
        _refuse_foreign(element, _OF_A_SUPPLY, "a supply of constant pressure")
        return pump
    pump = replace(pump, control=pump.control or "fixed", inlet=pump.inlet or "tank")
    valid = _OF_A_PUMP[pump.control]
    _refuse_foreign(element, valid, f'a pump with control="{pump.control}"')
    for name in ("speed", "setting", "sense"):
        if name in valid:
            element.text(name)
    given = {name: getattr(pump, name) for name in PUMP_DEFAULTS if name in valid}
    pump = replace(pump, **{name: PUMP_DEFAULTS[name] for name, value in given.items() if value is None})
    for name in ("regulation_range", "margin"):
        if name in valid and getattr(pump, name) >= pump.setting:
            raise element.error(f"{name} = {getattr(pump, name):g} Pa is not below setting = {pump.setting:g} Pa")
    return pump


def complete_valve(entry: Entry) -> DirectionalValve:
    """Returns a directional valve with its lines and the overlap of each edge filled in.

    Raises:
        MachineError: its size or its spool is given twice or not at all.
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
    _require_with(element, "rated_drop", "rated_flow", valve.rated_flow is not None)
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


def check_check_valve(entry: Entry) -> None:
    """Checks that a check valve with a pilot's numbers has one.

    Raises:
        MachineError: it has none.
    """
    _require_with(entry.element, "pilot_ratio", "pilot", bool(entry.value.pilot))


def check_orifice(entry: Entry) -> None:
    """Checks that an orifice is either turbulent or laminar.

    Raises:
        MachineError: it is neither or both.
    """
    orifice, element = entry.value, entry.element
    if (orifice.diameter is None) == (orifice.resistance is None):
        count = "neither" if orifice.diameter is None else "both"
        raise element.error(
            f"of diameter and resistance it has {count}",
            "give diameter [m] for a turbulent one, or resistance [Pa s/m3] for a laminar one",
        )
    _require_with(element, "discharge_coefficient", "diameter", orifice.diameter is not None)


def complete_cylinder(entry: Entry, valves: Mapping[str, DirectionalValve]) -> HydraulicCylinder:
    """Checks a cylinder's numbers, and fills in its lines and what it holds at standstill.

    Args:
        entry: the cylinder as written.
        valves: by name, with their lines.

    Raises:
        MachineError: its numbers contradict each other, or nothing feeds it.
    """
    cylinder, element = _with_lines(entry, valves), entry.element
    if cylinder.rod_diameter >= cylinder.bore:
        raise element.error(f"rod_diameter = {cylinder.rod_diameter:g} m is not below bore = {cylinder.bore:g} m")
    if not cylinder.rod_side and cylinder.rod_leakage > 0.0:
        raise element.error(
            f"rod_leakage = {cylinder.rod_leakage:g} m3/(s Pa) leaves the rod side, which is open to the air",
            "remove it; leakage across the piston leaves through the open side",
        )
    static = cylinder.dry_friction if cylinder.static_friction is None else cylinder.static_friction
    if static < cylinder.dry_friction:
        raise element.error(
            f"static_friction = {static:g} N is below dry_friction = {cylinder.dry_friction:g} N", "swap them"
        )
    _require_with(element, "stribeck_speed", "static_friction", cylinder.static_friction is not None)
    _check_cushions(element, cylinder)
    _check_buffers(element, cylinder)
    return replace(
        cylinder,
        static_friction=static,
        dead_volume_piston_side=_dead_volume(element, "piston_side", cylinder.piston_side),
        dead_volume_rod_side=_dead_volume(element, "rod_side", cylinder.rod_side),
    )


def check_motor(entry: Entry, joints: Mapping[str, Joint]) -> None:
    """Checks that a motor drives a joint that can be driven.

    Raises:
        MachineError: a joint without one coordinate of its own.
    """
    require_independent(entry.element, joints[entry.value.joint])


def _with_lines(entry: Entry, valves: Mapping[str, DirectionalValve]) -> HydraulicCylinder:
    cylinder, element = entry.value, entry.element
    if cylinder.valve is None:
        if not cylinder.piston_side and not cylinder.rod_side:
            raise element.error(
                "nothing feeds it: both its sides are open to the air",
                'give valve="...", or the lines of its sides: piston_side="..." rod_side="..."',
            )
        return cylinder
    for side in ("piston_side", "rod_side"):
        if getattr(cylinder, side):
            raise element.error(
                f"it has valve = '{cylinder.valve}' and {side} = '{getattr(cylinder, side)}'",
                f"remove {side}, or remove valve and name the lines of both sides",
            )
    valve = valves[cylinder.valve]
    return replace(cylinder, piston_side=valve.a, rod_side=valve.b)


def _dead_volume(element: Element, side: str, line: str) -> float:
    name = f"dead_volume_{side}"
    if line:
        return element.number(name)
    if name in element.attributes:
        raise element.error(f"{name} is given, and its {side} is open to the air", f"give {side}, or remove {name}")
    return 0.0


def _check_cushions(element: Element, cylinder: HydraulicCylinder) -> None:
    length, diameter = cylinder.cushion_length, cylinder.cushion_diameter
    if (length > 0.0) != (diameter > 0.0):
        raise element.error(
            f"cushion_length = {length:g} m and cushion_diameter = {diameter:g} m",
            "give both above 0, or neither",
        )
    if 2.0 * length > cylinder.stroke:
        raise element.error(
            f"cushion_length = {length:g} m at each end is more than half of stroke = {cylinder.stroke:g} m"
        )
    if diameter >= cylinder.bore:
        raise element.error(f"cushion_diameter = {diameter:g} m is not below bore = {cylinder.bore:g} m")


def _check_buffers(element: Element, cylinder: HydraulicCylinder) -> None:
    length = cylinder.buffer_length
    for name in ("buffer_stiffness", "buffer_damping"):
        _require_with(element, name, "buffer_length", length > 0.0)
    if length > 0.0 and cylinder.buffer_stiffness == cylinder.buffer_damping == 0.0:
        raise element.error(
            f"buffer_length = {length:g} m, and neither buffer_stiffness nor buffer_damping", "give one of them"
        )
    if 2.0 * length > cylinder.stroke:
        raise element.error(
            f"buffer_length = {length:g} m at each end is more than half of stroke = {cylinder.stroke:g} m"
        )


def _refuse_foreign(element: Element, valid: Collection[str], what: str) -> None:
    for name in element.attributes:
        if name not in valid and ":" not in name and name != "xmlns":
            raise element.error(f"{name} does not speak of {what}", f"remove {name}")


def _require_with(element: Element, name: str, other: str, has_other: bool) -> None:
    if name in element.attributes and not has_other:
        raise element.error(f"{name} is given without {other}", f"give {other} too, or remove {name}")
