"""Fluid, lines, tanks, accumulators and hoses."""

import numpy as np

from grouser.physics.description.data.hydraulics import Accumulator, Fluid, Hose, Line, Tank
from grouser.physics.description.table.attributes import (
    Attribute,
    ElementKind,
    Kind,
    name_of,
    non_negative,
    port,
    positive,
)
from grouser.physics.description.table.family import Entry, Scope

FLUID = ElementKind(
    "fluid",
    "The hydraulic oil.",
    (
        positive("density", "kg/m3", "mass density", default=850.0),
        positive("bulk_modulus", "Pa", "of the oil without free air, including hoses", default=1.4e9),
        positive("kinematic_viscosity", "m2/s", "at 313.15 K", default=46e-6),
        non_negative("viscosity_slope", "1/K", "relative fall of the viscosity per kelvin", default=0.03, maximum=1.0),
        positive("temperature", "K", "of all the oil", default=313.15, maximum=1e3),
        non_negative(
            "entrained_air", "-", "free air at 1e5 Pa, as a share of the oil's volume", default=0.0, maximum=1.0
        ),
        non_negative(
            "dissolved_air",
            "-",
            "air released below the saturation pressure, at 1e5 Pa, as a share of the oil's volume",
            default=0.0,
            maximum=1.0,
        ),
        positive("saturation_pressure", "Pa", "absolute; above the vapour pressure", default=3e4),
        non_negative("vapour_pressure", "Pa", "absolute; lower bound of all pressures", default=0.0),
    ),
    Fluid,
    field="fluid",
    single=True,
)
LINE = ElementKind(
    "line",
    "A hydraulic line: oil of one pressure. Ports refer to lines by name; a line needs no `<line>`. With it a line has "
    "a volume of its own, elastic walls and an initial pressure, and may have one port only.",
    (
        name_of("name for ports"),
        positive("volume", "m3", "of its oil, in addition to the volumes of connected elements"),
        positive(
            "expansion",
            "Pa",
            "rise of pressure per relative growth of this volume",
            default=np.inf,
            default_text="rigid",
        ),
        positive("start_pressure", "Pa", "absolute; initial pressure", default_text="the tank's"),
    ),
    Line,
    field="lines",
    unique="name",
)
TANK = ElementKind(
    "tank",
    "A line of constant pressure. Without any `<tank>`, the line `tank` has the tank_pressure of the pump.",
    (
        name_of("name for ports", default="tank"),
        positive("pressure", "Pa", "absolute", default=1e5),
    ),
    Tank,
    field="tanks",
    unique="name",
)
ACCUMULATOR = ElementKind(
    "accumulator",
    "A gas-filled accumulator.",
    (
        name_of("its name"),
        port("port", "line that fills and empties it"),
        positive("volume", "m3", "of the gas without oil"),
        positive("precharge", "Pa", "absolute; gas pressure without oil"),
        Attribute(
            "polytropic_index",
            Kind.NUMBER,
            "-",
            "1: isothermal (slow); 1.4: adiabatic (fast)",
            default=1.25,
            minimum=1.0,
            maximum=2.0,
        ),
    ),
    Accumulator,
    field="accumulators",
    unique="name",
)
HOSE = ElementKind(
    "hose",
    "A hose or pipe: each of its two lines has half of its oil; laminar friction acts between them.",
    (
        name_of("its name"),
        port("inlet", "one line"),
        port("outlet", "the other line"),
        positive("length", "m", "of the hose"),
        positive("diameter", "m", "inner diameter"),
        positive(
            "expansion",
            "Pa",
            "rise of pressure per relative growth of its volume",
            default=np.inf,
            default_text="rigid",
        ),
    ),
    Hose,
    field="hoses",
    unique="name",
)


def complete_fluid(entry: Entry, _scope: Scope) -> Fluid:
    """Checks that the saturation pressure of the oil is above its vapour pressure.

    Raises:
        MachineError: it is not.
    """
    fluid = entry.value
    if fluid.vapour_pressure >= fluid.saturation_pressure:
        raise entry.element.error(
            f"vapour_pressure = {fluid.vapour_pressure:g} Pa is not below "
            f"saturation_pressure = {fluid.saturation_pressure:g} Pa"
        )
    return fluid
