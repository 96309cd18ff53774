"""What the ``<grouser>`` element may say of hydraulics: rows of the table in `extension_schema`."""

import numpy as np

from grouser.physics.description.data.hydraulics import (
    Accumulator,
    CheckValve,
    Compensator,
    CounterbalanceValve,
    DirectionalValve,
    Fluid,
    Hose,
    HydraulicCylinder,
    HydraulicMotor,
    Line,
    Orifice,
    Pump,
    ReducingValve,
    ReliefValve,
    ShuttleValve,
    Tank,
)
from grouser.physics.description.table.attributes import (
    Attribute,
    ElementKind,
    Kind,
    attachment,
    choice,
    joint,
    name_of,
    non_negative,
    port,
    positive,
)

# Drop below which metering edges are laminar unless they say otherwise [Pa].
LAMINAR_DROP = 1e3
# Of a displacement pump, where its control has a use for the number.
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


def _pump_default(name: str) -> str:
    return f"{PUMP_DEFAULTS[name]:g}"


def _rated_flow(where: str, **more) -> Attribute:
    return positive("rated_flow", "m3/s", where, **more)


def _rated_drop() -> Attribute:
    return positive("rated_drop", "Pa", "drop of pressure that rated_flow takes", default=5e5)


def _cracking_pressure(where: str) -> Attribute:
    return non_negative("cracking_pressure", "Pa", where, default=5e4)


def _pilot_ratio(where: str) -> Attribute:
    return positive("pilot_ratio", "-", where, default=3.0, maximum=1e3)


def _tank_edge(name: str, description: str, **more) -> Attribute:
    return Attribute(name, Kind.NUMBER, "-", description, minimum=-0.99, maximum=1.0, **more)


HYDRAULIC_ELEMENTS: tuple[ElementKind, ...] = (
    ElementKind(
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
    ),
    ElementKind(
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
    ),
    ElementKind(
        "tank",
        "A line of constant pressure. Where there is no `<tank>`, the line `tank` is one of the pump's tank_pressure.",
        (
            name_of("its name, as ports give it", default="tank"),
            positive("pressure", "Pa", "absolute", default=1e5),
        ),
        Tank,
        field="tanks",
        unique="name",
    ),
    ElementKind(
        "pump",
        "A supply of constant pressure, when it has a supply_pressure; a pump on a shaft of constant speed, when it "
        "has a displacement. An attribute of another kind of pump is refused.",
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
            positive("displacement", "m3/rad", "largest", default_text="none: it has a supply_pressure"),
            port("inlet", f"{_NO_SUPPLY}: line that it draws from", default="", default_text="tank"),
            positive("speed", "rad/s", f"{_NO_SUPPLY}: of its shaft; required", default_text="none"),
            choice(
                "control",
                f"{_NO_SUPPLY}: what its displacement follows",
                ("fixed", "pressure", "load_sensing"),
                default="",
                default_text="fixed",
            ),
            port("sense", "of load_sensing: line whose pressure it follows; required", default="", default_text="none"),
            positive(
                "setting",
                "Pa",
                f"{_VARIABLE}: absolute; outlet pressure that leaves no displacement; required",
                default_text="none",
            ),
            positive(
                "margin",
                "Pa",
                "of load_sensing: of the outlet above the sensed line",
                default_text=_pump_default("margin"),
            ),
            positive(
                "regulation_range",
                "Pa",
                f"{_VARIABLE}: rise of pressure that takes it from full to no displacement",
                default_text=_pump_default("regulation_range"),
            ),
            positive(
                "response_time",
                "s",
                f"{_VARIABLE}: of the displacement",
                default_text=_pump_default("response_time"),
            ),
            non_negative(
                "power_limit",
                "W",
                f"{_VARIABLE}: hydraulic power from which on displacement is taken back; 0: none",
                default_text=_pump_default("power_limit"),
            ),
            non_negative(
                "minimum_stroke",
                "-",
                f"{_VARIABLE}: least share of the displacement",
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
                f"{_NO_SUPPLY}: at the shaft, beside the hydraulic torque",
                default_text=_pump_default("torque_loss"),
            ),
        ),
        Pump,
        field="pumps",
        unique="name",
    ),
    ElementKind(
        "directional_valve",
        "A proportional 4/3 valve; a positive command feeds a, which extends its cylinder. Its size is given by its "
        "spool, or by a rated flow; its spool is of second order, or of first where it has a time_constant.",
        (
            name_of("its name, and the name of its command"),
            port("supply", "line that it draws from", default="supply"),
            port("tank", "line that it returns to", default="tank"),
            port("a", "line that a positive command feeds", default="", default_text="`<name>.a`"),
            port("b", "line that a negative command feeds", default="", default_text="`<name>.b`"),
            port(
                "sense",
                "line that gets the pressure of a or b, whichever is fed, and the tank's at neutral",
                default="",
                default_text="none",
            ),
            choice(
                "centre",
                "where the supply goes at neutral: nowhere, to a, b and tank, or to tank",
                ("closed", "open", "tandem"),
                default="closed",
            ),
            positive("discharge_coefficient", "-", "of the metering edges", default=0.62, maximum=1.0),
            positive(
                "spool_diameter", "m", "diameter whose circumference opens", default_text="none: it has a rated_flow"
            ),
            positive("spool_travel", "m", "opening at full spool", default_text="none: it has a rated_flow"),
            positive(
                "rated_flow",
                "m3/s",
                "over one edge that is open by the whole travel, at rated_drop",
                default_text="none: it has a spool_diameter",
            ),
            positive("rated_drop", "Pa", "drop over one edge that rated_flow takes", default=35e5),
            positive(
                "transition_drop", "Pa", "drop over an edge below which its flow becomes laminar", default=LAMINAR_DROP
            ),
            choice(
                "transition",
                "whether it becomes so smoothly, or is proportional to the drop from there on",
                ("smooth", "linear"),
                default="smooth",
            ),
            non_negative(
                "supply_overlap",
                "-",
                "positive overlap of the supply edges, share of the travel",
                default=0.05,
                maximum=0.99,
            ),
            _tank_edge(
                "tank_underlap",
                "negative overlap of the tank edges, share of the travel; below zero the edges close at neutral",
                default=0.05,
            ),
            non_negative(
                "supply_a_overlap",
                "-",
                "the same of the edge from supply to a",
                maximum=0.99,
                default_text="supply_overlap",
            ),
            non_negative(
                "supply_b_overlap",
                "-",
                "the same of the edge from supply to b",
                maximum=0.99,
                default_text="supply_overlap",
            ),
            _tank_edge("tank_a_underlap", "the same of the edge from a to tank", default_text="tank_underlap"),
            _tank_edge("tank_b_underlap", "the same of the edge from b to tank", default_text="tank_underlap"),
            positive("gain", "-", "spool position per unit of command", default=1.0),
            positive("natural_frequency", "rad/s", "of a second-order spool", default=120.0),
            non_negative("damping_ratio", "-", "of a second-order spool", default=1.0),
            positive("time_constant", "s", "of a first-order spool", default_text="none: it is of second order"),
            non_negative("rate_limit", "1/s", "fastest change of the spool's position; 0: none", default=0.0),
            non_negative(
                "hysteresis",
                "-",
                "full width of the gap between command and spool, share of the full command",
                default=0.0,
                maximum=0.99,
            ),
            non_negative(
                "dead_band", "-", "commands to either side of zero that do nothing", default=0.0, maximum=0.99
            ),
        ),
        DirectionalValve,
        field="valves",
        unique="name",
    ),
    ElementKind(
        "relief_valve",
        "A valve that opens by the pressure before it.",
        (
            name_of("its name"),
            port("inlet", "line whose pressure it limits"),
            port("outlet", "line that it opens to", default="tank"),
            positive("pressure", "Pa", "of the inlet above the outlet at which it opens"),
            _rated_flow("at rated_rise above that pressure"),
            positive("rated_rise", "Pa", "rise above the opening pressure that rated_flow takes", default=1e6),
        ),
        ReliefValve,
        field="relief_valves",
        unique="name",
    ),
    ElementKind(
        "check_valve",
        "A valve that opens one way; with a pilot, the pilot's pressure opens it the other way too.",
        (
            name_of("its name"),
            port("inlet", "line that it lets oil from"),
            port("outlet", "line that it lets oil to"),
            port("pilot", "line whose pressure opens it backwards", default="", default_text="none"),
            _cracking_pressure("drop at which it opens"),
            _rated_flow("when open, at rated_drop"),
            _rated_drop(),
            _pilot_ratio("area of the pilot's piston over that of the seat"),
        ),
        CheckValve,
        field="check_valves",
        unique="name",
    ),
    ElementKind(
        "counterbalance_valve",
        "A load-holding valve: free towards the load; back from it a relief valve that a pilot helps to open.",
        (
            name_of("its name"),
            port("load", "line of the actuator"),
            port("valve", "line of the directional valve"),
            port("pilot", "line whose pressure helps to open it: as a rule the other side's"),
            positive("pressure", "Pa", "of the load at which it opens without pilot"),
            _pilot_ratio("area on which the pilot acts over that on which the load does"),
            _rated_flow("from the load at rated_rise above opening; to the load at rated_drop"),
            positive("rated_rise", "Pa", "rise above opening that rated_flow takes", default=1e6),
            _cracking_pressure("drop at which the way to the load opens"),
            _rated_drop(),
        ),
        CounterbalanceValve,
        field="counterbalance_valves",
        unique="name",
    ),
    ElementKind(
        "reducing_valve",
        "A valve that closes when the pressure behind it reaches its setting.",
        (
            name_of("its name"),
            port("inlet", "line that it draws from"),
            port("outlet", "line whose pressure it limits"),
            positive("pressure", "Pa", "absolute; of the outlet at which it is closed"),
            positive("range", "Pa", "rise of the outlet's pressure that takes it from open to closed", default=2e5),
            _rated_flow("when open, at rated_drop"),
            _rated_drop(),
        ),
        ReducingValve,
        field="reducing_valves",
        unique="name",
    ),
    ElementKind(
        "shuttle_valve",
        "A valve that joins its outlet with whichever of two lines has the higher pressure.",
        (
            name_of("its name"),
            port("a", "one line"),
            port("b", "the other line"),
            port("outlet", "line that gets the higher pressure"),
            _rated_flow("at rated_drop", default=1e-4),
            _rated_drop(),
        ),
        ShuttleValve,
        field="shuttle_valves",
        unique="name",
    ),
    ElementKind(
        "orifice",
        "A restriction: turbulent when it has a diameter, laminar when it has a resistance.",
        (
            name_of("its name"),
            port("inlet", "one line"),
            port("outlet", "the other line"),
            positive("diameter", "m", "of a turbulent one", default_text="none: it has a resistance"),
            positive(
                "discharge_coefficient", "-", "of a turbulent one; laminar at small drops", default=0.7, maximum=1.0
            ),
            positive(
                "resistance",
                "Pa s/m3",
                "of a laminar one: drop per flow at 313.15 K, which goes with the viscosity",
                default_text="none: it has a diameter",
            ),
        ),
        Orifice,
        field="orifices",
        unique="name",
    ),
    ElementKind(
        "compensator",
        "A pressure compensator: it closes when the drop over the metering edge that it feeds reaches its margin.",
        (
            name_of("its name"),
            port("inlet", "line that it draws from"),
            port("outlet", "line that the metering edge draws from"),
            port("load", "line behind the metering edge, whose pressure is sensed"),
            positive("margin", "Pa", "of the outlet above the load at which it is closed"),
            positive("range", "Pa", "rise of that difference that takes it from open to closed", default=1e5),
            _rated_flow("when open, at rated_drop"),
            _rated_drop(),
        ),
        Compensator,
        field="compensators",
        unique="name",
    ),
    ElementKind(
        "cylinder",
        "A cylinder between two points of the machine. A valve feeds it, or its sides name lines; a side that names "
        "none is open to the air. Several cylinders may share a valve or a line.",
        (
            name_of("its name"),
            Attribute(
                "valve",
                Kind.VALVE,
                "-",
                "directional valve whose a feeds the piston side and b the rod side",
                default_text="none: its sides name lines",
            ),
            port(
                "piston_side",
                "line of the side without rod",
                default="",
                default_text="the valve's a, or the air",
            ),
            port("rod_side", "line of the side with the rod", default="", default_text="the valve's b, or the air"),
            positive("bore", "m", "diameter of the piston"),
            positive("rod_diameter", "m", "diameter of the rod; below the bore"),
            positive("stroke", "m", "travel of the piston"),
            positive("retracted_length", "m", "distance of the two attachments at zero stroke"),
            non_negative("piston_mass", "kg", "piston and rod; 0 of one that does not count"),
            non_negative("viscous_friction", "N s/m", "of the seals", default=0.0),
            non_negative("dry_friction", "N", "of the seals, in motion", default=0.0),
            non_negative("static_friction", "N", "of the seals, at standstill", default_text="dry_friction"),
            positive(
                "stribeck_speed",
                "m/s",
                "at which friction has fallen towards dry_friction",
                default=0.01,
            ),
            non_negative(
                "dead_volume_piston_side",
                "m3",
                "oil left when fully retracted, with the hose; 0 only on a line that has oil of its own",
                default_text="required, but of an open side",
            ),
            non_negative(
                "dead_volume_rod_side",
                "m3",
                "oil left when fully extended, with the hose; 0 only on a line that has oil of its own",
                default_text="required, but of an open side",
            ),
            non_negative("leakage", "m3/(s Pa)", "across the piston", default=0.0),
            non_negative("rod_leakage", "m3/(s Pa)", "from the rod side past the rod to the tank", default=0.0),
            non_negative(
                "cushion_length", "m", "of each end, over which oil leaves through a throttle; 0: none", default=0.0
            ),
            non_negative("cushion_diameter", "m", "of that throttle; goes with cushion_length", default=0.0),
            positive(
                "barrel_modulus",
                "Pa",
                "rise of pressure per relative growth of its chambers, dead volumes left out",
                default=np.inf,
                default_text="rigid",
            ),
            non_negative(
                "buffer_length", "m", "of a spring with damper at each end of the stroke; 0: none", default=0.0
            ),
            non_negative("buffer_stiffness", "N/m", "of these springs; goes with buffer_length", default=0.0),
            non_negative("buffer_damping", "N s/m", "of these dampers; goes with buffer_length", default=0.0),
            Attribute(
                "holding_brake", Kind.BOOLEAN, "-", "locks the cylinder at neutral and on emergency stop", default=False
            ),
            positive("holding_force", "N", "what the brake holds", default=1e6),
        ),
        HydraulicCylinder,
        field="cylinders",
        unique="name",
        parts=(
            attachment("barrel", "where the barrel is attached"),
            attachment("rod", "where the rod's eye is attached"),
        ),
    ),
    ElementKind(
        "hydraulic_motor",
        "A motor or rotary actuator that drives a joint of the machine; pressure at a drives it forward.",
        (
            name_of("its name"),
            joint("revolute, continuous or prismatic joint that mimics no other"),
            port("a", "line that drives it forward"),
            port("b", "line that drives it backward"),
            port("drain", "line that takes the leakage of the housing", default="tank"),
            positive("displacement", "m3/rad or m3/m", "per unit of the joint's coordinate, gear included"),
            positive("dead_volume", "m3", "oil on each side, with the hose"),
            non_negative("leakage", "m3/(s Pa)", "from a to b", default=0.0),
            non_negative("drain_leakage", "m3/(s Pa)", "from each side to the drain", default=0.0),
            non_negative("viscous_friction", "N m s/rad or N s/m", "at the joint", default=0.0),
            non_negative("dry_friction", "N m or N", "at the joint", default=0.0),
            Attribute(
                "holding_brake", Kind.BOOLEAN, "-", "locks the joint at neutral and on emergency stop", default=False
            ),
            positive("holding_torque", "N m or N", "what the brake holds, at the joint", default=1e6),
        ),
        HydraulicMotor,
        field="hydraulic_motors",
        unique="name",
    ),
    ElementKind(
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
    ),
    ElementKind(
        "hose",
        "A hose or pipe: half of its oil belongs to either line, and laminar friction is between them.",
        (
            name_of("its name"),
            port("inlet", "one line"),
            port("outlet", "the other line"),
            positive("length", "m", "inside"),
            positive("diameter", "m", "inside"),
            positive(
                "expansion", "Pa", "rise of pressure per relative growth of it", default=np.inf, default_text="rigid"
            ),
        ),
        Hose,
        field="hoses",
        unique="name",
    ),
)
