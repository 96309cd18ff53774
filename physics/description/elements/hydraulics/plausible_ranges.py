"""Plausible ranges of hydraulic quantities, and the units of catalogues that they are written in by mistake.

Largest parts there are: cylinders of 1.5 m bore and 20 m stroke, pumps of 1 l/rev, valves of 0.1 m3/s, piston
accumulators of 3 m3. The ranges go beyond them.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

from grouser.physics.description.table.attributes import ElementKind
from grouser.physics.description.table.plausible import PlausibleRange

_MILLIMETRES = (("mm", 1e-3),)
_PRESSURES = (("bar", 1e5), ("MPa", 1e6))
_LITRES = (("l", 1e-3), ("cm3", 1e-6))
_PER_MINUTE = 1e-3 / 60.0
_DIAMETER = PlausibleRange(1e-5, 3.0, _MILLIMETRES)
_OPENING = PlausibleRange(1e-6, 0.5, _MILLIMETRES)
_TRAVEL = PlausibleRange(1e-4, 50.0, _MILLIMETRES)
# Settings of valves, controls and gas; drops; and pressures near a vacuum.
_SETTING = PlausibleRange(1e3, 5e8, _PRESSURES)
_DROP = PlausibleRange(1e2, 1e8, _PRESSURES[:1])
_ABSOLUTE = PlausibleRange(10.0, 1e8, _PRESSURES[:1])
_MODULUS = PlausibleRange(1e6, 1e11, (("bar", 1e5), ("MPa", 1e6), ("GPa", 1e9)))
# A valve of 1 m3/s is a way to leave its drop out.
_FLOW = PlausibleRange(1e-7, 2.0, (("l/min", _PER_MINUTE),))
_DEAD_VOLUME = PlausibleRange(1e-8, 1.0, _LITRES)
_VOLUME = PlausibleRange(1e-8, 5.0, _LITRES)
_LEAKAGE = PlausibleRange(1e-18, 1e-7, (("l/min per bar", _PER_MINUTE / 1e5),))
_DISPLACEMENT = PlausibleRange(1e-8, 0.01, (("cm3/rev", 0.5e-6 / math.pi),))
# With the gear of its joint, or of a cylinder without rod, per metre.
_GEARED_DISPLACEMENT = PlausibleRange(1e-8, 2.0, (("cm3/rev", 0.5e-6 / math.pi),))

_RANGES: Mapping[str, Mapping[str, PlausibleRange]] = {
    "fluid": {
        "density": PlausibleRange(200.0, 5e3, (("kg/l", 1e3),)),
        "bulk_modulus": _MODULUS,
        "kinematic_viscosity": PlausibleRange(1e-8, 0.1, (("mm2/s", 1e-6),)),
    },
    "line": {"volume": _VOLUME, "expansion": _MODULUS, "start_pressure": _ABSOLUTE},
    "tank": {"pressure": _ABSOLUTE},
    "pump": {
        "supply_pressure": _SETTING,
        "tank_pressure": _ABSOLUTE,
        "displacement": _DISPLACEMENT,
        "speed": PlausibleRange(1e-3, 700.0, (("rpm", math.pi / 30.0),)),
        "setting": _SETTING,
        "margin": _SETTING,
        "regulation_range": _DROP,
        "power_limit": PlausibleRange(100.0, 1e7, (("kW", 1e3),)),
        "leakage": _LEAKAGE,
    },
    "directional_valve": {
        "spool_diameter": _OPENING,
        "spool_travel": _OPENING,
        "rated_flow": _FLOW,
        "rated_drop": _SETTING,
    },
    "relief_valve": {"pressure": _SETTING, "rated_flow": _FLOW, "rated_rise": _SETTING},
    "check_valve": {"cracking_pressure": _DROP, "rated_flow": _FLOW, "rated_drop": _SETTING},
    "counterbalance_valve": {
        "pressure": _SETTING,
        "rated_flow": _FLOW,
        "rated_rise": _SETTING,
        "cracking_pressure": _DROP,
        "rated_drop": _SETTING,
    },
    "reducing_valve": {"pressure": _SETTING, "range": _DROP, "rated_flow": _FLOW, "rated_drop": _SETTING},
    "shuttle_valve": {"rated_flow": _FLOW, "rated_drop": _SETTING},
    "orifice": {"diameter": _OPENING},
    "compensator": {"margin": _SETTING, "range": _DROP, "rated_flow": _FLOW, "rated_drop": _SETTING},
    "cylinder": {
        "bore": _DIAMETER,
        "rod_diameter": _DIAMETER,
        "stroke": _TRAVEL,
        "retracted_length": _TRAVEL,
        "dead_volume_piston_side": _DEAD_VOLUME,
        "dead_volume_rod_side": _DEAD_VOLUME,
        "leakage": _LEAKAGE,
        "rod_leakage": _LEAKAGE,
        "cushion_length": PlausibleRange(1e-5, 2.0, _MILLIMETRES),
        "cushion_diameter": _OPENING,
        "barrel_modulus": _MODULUS,
        "buffer_length": PlausibleRange(1e-5, 2.0, _MILLIMETRES),
    },
    "hydraulic_motor": {
        "displacement": _GEARED_DISPLACEMENT,
        "dead_volume": _DEAD_VOLUME,
        "leakage": _LEAKAGE,
        "drain_leakage": _LEAKAGE,
    },
    "accumulator": {"volume": _VOLUME, "precharge": _SETTING},
    "hose": {"length": PlausibleRange(1e-3, 200.0, _MILLIMETRES), "diameter": _OPENING, "expansion": _MODULUS},
}


def with_plausible_ranges(kind: ElementKind) -> ElementKind:
    """Returns a kind of element whose attributes have their plausible ranges."""
    ranges = _RANGES[kind.tag]
    attributes = tuple(replace(attribute, plausible=ranges.get(attribute.name)) for attribute in kind.attributes)
    return replace(kind, attributes=attributes)
