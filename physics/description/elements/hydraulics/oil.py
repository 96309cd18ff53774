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
        positive("bulk_modulus", "Pa", "stiffness of the oil without free air, with its hoses", default=1.4e9),
        positive("kinematic_viscosity", "m2/s", "at 313.15 K", default=46e-6),
        non_negative(
            "viscosity_slope", "1/K", "share by which the viscosity falls per kelvin", default=0.03, maximum=1.0
        ),
        positive("temperature", "K", "of all the oil", default=313.15, maximum=1e3),
        non_negative(
            "entrained_air", "-", "free air at 1e5 Pa, as a share of the oil's volume", default=0.0, maximum=1.0
        ),
        non_negative(
            "dissolved_air",
            "-",
            "air that comes free below the saturation pressure, at 1e5 Pa, as a share of the oil's volume",
            default=0.0,
            maximum=1.0,
        ),
        positive("saturation_pressure", "Pa", "absolute; above the vapour pressure", default=3e4),
        non_negative("vapour_pressure", "Pa", "absolute; every pressure stays above it", default=0.0),
    ),
    Fluid,
    field="fluid",
    single=True,
)
LINE = ElementKind(
    "line",
    "Oil of one pressure. Ports of other elements name lines, which need no `<line>`; it gives one a volume of its "
    "own, walls that yield and a pressure to start with, and lets a line end.",
    (
        name_of("its name, as ports give it"),
        positive("volume", "m3", "of its oil, beside that of what is connected to it"),
        positive(
            "expansion",
            "Pa",
            "rise of pressure per relative growth of this volume",
            default=np.inf,
            default_text="rigid",
        ),
        positive("start_pressure", "Pa", "absolute; at the start", default_text="the tank's"),
    ),
    Line,
    field="lines",
    unique="name",
)
TANK = ElementKind(
    "tank",
    "A line of constant pressure. Where there is no `<tank>`, the line `tank` is one of the pump's tank_pressure.",
    (
        name_of("its name, as ports give it", default="tank"),
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
        positive("volume", "m3", "of the gas when no oil is in it"),
        positive("precharge", "Pa", "absolute; pressure of the gas then"),
        Attribute(
            "polytropic_index",
            Kind.NUMBER,
            "-",
            "1: slow enough to stay at its temperature; 1.4: too fast for heat to pass",
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
    "A hose or pipe: half of its oil belongs to either line, and laminar friction is between them.",
    (
        name_of("its name"),
        port("inlet", "one line"),
        port("outlet", "the other line"),
        positive("length", "m", "inside"),
        positive("diameter", "m", "inside"),
        positive("expansion", "Pa", "rise of pressure per relative growth of it", default=np.inf, default_text="rigid"),
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
