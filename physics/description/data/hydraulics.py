"""Hydraulic elements, their oil and the lines between them. SI units."""

from dataclasses import dataclass

import numpy as np

from grouser.physics.description.data.pose import Vector3

# Default drop below which the flow over metering edges is laminar [Pa].
LAMINAR_DROP = 1e3


@dataclass(frozen=True)
class Fluid:
    """Hydraulic oil with the air in it.

    Attributes:
        density: [kg/m3].
        bulk_modulus: of the oil without free air [Pa].
        kinematic_viscosity: at 313.15 K [m2/s].
        viscosity_slope: share by which the viscosity falls per kelvin; it is exponential in the temperature [1/K].
        temperature: of all the oil [K].
        entrained_air: volume of the free air at 1e5 Pa as a share of the oil's [-].
        dissolved_air: the same of the air that comes free below the saturation pressure [-].
        saturation_pressure: absolute [Pa].
        vapour_pressure: absolute, below every pressure [Pa].
    """

    density: float = 850.0
    bulk_modulus: float = 1.4e9
    kinematic_viscosity: float = 46e-6
    viscosity_slope: float = 0.03
    temperature: float = 313.15
    entrained_air: float = 0.0
    dissolved_air: float = 0.0
    saturation_pressure: float = 3e4
    vapour_pressure: float = 0.0


@dataclass(frozen=True)
class Line:
    """A hydraulic line with a volume of its own, in addition to the volumes of the elements connected to it.

    All oil in a line has one pressure. Ports refer to lines by name; a line without a `Line` has no volume of its own.

    Attributes:
        volume: [m3].
        expansion: rise of pressure per relative growth of that volume [Pa]; infinite for rigid walls.
        start_pressure: at the start [Pa, absolute]; None for the tank's.
    """

    name: str
    volume: float
    expansion: float = np.inf
    start_pressure: float | None = None


@dataclass(frozen=True)
class Tank:
    """A line of constant pressure [Pa, absolute]."""

    name: str = "tank"
    pressure: float = 1e5


@dataclass(frozen=True)
class Pump:
    """A supply of constant pressure, or a displacement pump on a shaft of constant speed.

    A supply has `supply_pressure`; everything from `displacement` on is None. A displacement pump has `displacement`;
    `supply_pressure` is None, as are the numbers that its control does not use.

    Attributes:
        supply_pressure: at which the outlet is held [Pa, absolute].
        tank_pressure: of the tank of a machine that gives no `Tank` [Pa, absolute].
        outlet: line that it feeds.
        inlet: line that it draws from; "" for a supply.
        sense: line whose pressure a load-sensing control adds its margin to; "" for none.
        displacement: at full stroke [m3/rad].
        speed: of the shaft [rad/s].
        control: fixed, pressure or load_sensing; "" for a supply.
        setting: outlet pressure at which the pressure control, or the one beside load sensing, has cut the flow off
            [Pa, absolute].
        margin: pressure of the outlet above the sensed pressure [Pa].
        regulation_range: rise of pressure over which a control goes from full to no displacement [Pa].
        response_time: of the displacement [s].
        power_limit: hydraulic power above which the displacement is reduced [W]; 0: none.
        minimum_stroke: least displacement as a share of the largest [-].
        leakage: from outlet to inlet [m3/(s Pa)].
        torque_loss: torque at the shaft in addition to the hydraulic torque [N m].
    """

    name: str
    supply_pressure: float | None = None
    tank_pressure: float = 1e5
    outlet: str = "supply"
    inlet: str = ""
    sense: str = ""
    displacement: float | None = None
    speed: float | None = None
    control: str = ""
    setting: float | None = None
    margin: float | None = None
    regulation_range: float | None = None
    response_time: float | None = None
    power_limit: float | None = None
    minimum_stroke: float | None = None
    leakage: float | None = None
    torque_loss: float | None = None


@dataclass(frozen=True)
class ReliefValve:
    """A relief valve: it opens when its inlet pressure rises above its outlet pressure by a setting.

    Attributes:
        inlet, outlet: lines.
        pressure: of the inlet above the outlet at which it opens [Pa].
        rated_flow: at `rated_rise` above that pressure [m3/s].
        rated_rise: [Pa].
    """

    name: str
    inlet: str
    pressure: float
    rated_flow: float
    outlet: str = "tank"
    rated_rise: float = 1e6


@dataclass(frozen=True)
class CheckValve:
    """A check valve, pilot-operated if it has a pilot line.

    Attributes:
        inlet, outlet: lines; free flow from inlet to outlet.
        rated_flow: at a drop of `rated_drop` [m3/s].
        pilot: line whose pressure opens it against its blocking direction; "" for none.
        cracking_pressure: drop at which it opens [Pa].
        rated_drop: [Pa].
        pilot_ratio: area of the pilot's piston over that of the seat [-].
    """

    name: str
    inlet: str
    outlet: str
    rated_flow: float
    pilot: str = ""
    cracking_pressure: float = 5e4
    rated_drop: float = 5e5
    pilot_ratio: float = 3.0


@dataclass(frozen=True)
class CounterbalanceValve:
    """A counterbalance valve: free flow to the load; from the load a pilot-assisted relief valve.

    Attributes:
        load, valve: lines on the load side and on the side of the directional valve.
        pilot: line whose pressure helps to open it.
        pressure: of the load at which it opens without pilot [Pa].
        rated_flow: from the load at `rated_rise` above opening, and to the load at a drop of `rated_drop` [m3/s].
        pilot_ratio: area on which the pilot pressure acts over that on which the load pressure acts [-].
        rated_rise: [Pa].
        cracking_pressure: drop at which the free-flow path to the load opens [Pa].
        rated_drop: [Pa].
    """

    name: str
    load: str
    valve: str
    pilot: str
    pressure: float
    rated_flow: float
    pilot_ratio: float = 3.0
    rated_rise: float = 1e6
    cracking_pressure: float = 5e4
    rated_drop: float = 5e5


@dataclass(frozen=True)
class ReducingValve:
    """A pressure-reducing valve: it closes when its outlet pressure reaches its setting.

    Attributes:
        inlet, outlet: lines.
        pressure: of the outlet at which it is closed [Pa, absolute].
        rated_flow: when open, at a drop of `rated_drop` [m3/s].
        range: rise of the outlet pressure from fully open to closed [Pa].
        rated_drop: [Pa].
    """

    name: str
    inlet: str
    outlet: str
    pressure: float
    rated_flow: float
    range: float = 2e5
    rated_drop: float = 5e5


@dataclass(frozen=True)
class ShuttleValve:
    """A shuttle valve: it connects its outlet with the line of higher pressure, of two.

    Attributes:
        a, b, outlet: lines.
        rated_flow: at a drop of `rated_drop` [m3/s].
        rated_drop: [Pa].
    """

    name: str
    a: str
    b: str
    outlet: str
    rated_flow: float = 1e-4
    rated_drop: float = 5e5


@dataclass(frozen=True)
class Orifice:
    """A restriction: turbulent with a diameter, laminar with a resistance; the other one is None.

    Attributes:
        inlet, outlet: lines.
        diameter: [m].
        discharge_coefficient: of turbulent flow [-].
        resistance: drop per flow at 313.15 K, proportional to the viscosity [Pa s/m3].
    """

    name: str
    inlet: str
    outlet: str
    diameter: float | None = None
    discharge_coefficient: float = 0.7
    resistance: float | None = None


@dataclass(frozen=True)
class Compensator:
    """A pressure compensator: it keeps the drop over the metering edge downstream of it constant by throttling.

    Attributes:
        inlet, outlet: lines; the metering edge draws from the outlet.
        load: line downstream of the metering edge, whose pressure is sensed.
        margin: of the outlet above the load at which it is closed [Pa].
        rated_flow: when open, at a drop of `rated_drop` [m3/s].
        range: rise of that difference from fully open to closed [Pa].
        rated_drop: [Pa].
    """

    name: str
    inlet: str
    outlet: str
    load: str
    margin: float
    rated_flow: float
    range: float = 1e5
    rated_drop: float = 5e5


@dataclass(frozen=True)
class DirectionalValve:
    """A proportional 4/3 directional valve; its spool is a second-order or first-order lag.

    Attributes:
        discharge_coefficient: of the metering edges [-].
        spool_diameter: [m]; None if there is a rated flow.
        spool_travel: opening at full spool position [m]; None if there is a rated flow.
        supply_overlap: positive overlap of the supply edges, as a share of the travel [-].
        tank_underlap: negative overlap of the tank edges, as a share of the travel [-]; below zero the edges close at
            neutral.
        gain: spool position per unit of command [-].
        natural_frequency: [rad/s].
        damping_ratio: [-].
        supply, tank, a, b: lines; a positive spool joins supply with a, and b with tank.
        sense: load-sensing line: it has the pressure of the fed one of a and b, of the tank at neutral; "" for none.
        centre: connection of the supply at neutral: closed, open (to a, b and tank) or tandem (to tank).
        supply_a_overlap, supply_b_overlap, tank_a_underlap, tank_b_underlap: of the single edges [-]; the loader fills
            in `supply_overlap` and `tank_underlap` where the file gives none.
        rate_limit: fastest change of the spool position [1/s]; 0: none.
        hysteresis: full width of the backlash between command and spool, as a share of the full command [-].
        dead_band: of the command, to either side of zero [-].
        rated_flow, rated_drop: flow over a fully open edge [m3/s], and its drop [Pa]; `rated_flow` is None if
            spool_diameter and spool_travel give the size.
        transition_drop: drop over an edge below which its flow is laminar [Pa].
        transition: smooth, or linear: flow proportional to the drop below `transition_drop`.
        time_constant: of a spool of first order [s]; None for one of second order.
    """

    name: str
    discharge_coefficient: float
    spool_diameter: float | None
    spool_travel: float | None
    supply_overlap: float
    tank_underlap: float
    gain: float
    natural_frequency: float
    damping_ratio: float
    supply: str = "supply"
    tank: str = "tank"
    a: str = ""
    b: str = ""
    sense: str = ""
    centre: str = "closed"
    supply_a_overlap: float | None = None
    supply_b_overlap: float | None = None
    tank_a_underlap: float | None = None
    tank_b_underlap: float | None = None
    rate_limit: float = 0.0
    hysteresis: float = 0.0
    dead_band: float = 0.0
    rated_flow: float | None = None
    rated_drop: float = 35e5
    transition_drop: float = 1e3
    transition: str = "smooth"
    time_constant: float | None = None


@dataclass(frozen=True)
class Attachment:
    """A point fixed to a link: position in the link frame [m]."""

    link: str
    xyz: Vector3


@dataclass(frozen=True)
class HydraulicCylinder:
    """A cylinder between two points of the machine.

    Attributes:
        valve: name of the directional valve that feeds it; None if its lines are named. A positive spool position
            feeds the piston side and extends it.
        bore, rod_diameter, stroke: [m].
        retracted_length: distance between the attachments at zero stroke [m].
        piston_mass: piston with rod [kg].
        viscous_friction: [N s/m].
        dry_friction: in motion [N].
        dead_volume_piston_side, dead_volume_rod_side: oil left at the end of the stroke, including hoses [m3]; 0 for an
            open side.
        holding_brake: locks the cylinder at neutral and on emergency stop.
        holding_force: largest force of the brake [N].
        barrel, rod: attachments.
        piston_side, rod_side: lines; "" for a side that is open to the air.
        leakage: across the piston [m3/(s Pa)].
        rod_leakage: from the rod side past the rod to the tank [m3/(s Pa)].
        static_friction: at standstill, at least `dry_friction` [N]; the loader fills it in.
        stribeck_speed: speed scale of the fall from the static to the dry level [m/s].
        cushion_length: part of the stroke at each end in which oil leaves through a throttle [m]; 0: none.
        cushion_diameter: of that throttle [m].
        barrel_modulus: rise of pressure per relative growth of its chambers without their dead volumes [Pa]; infinite
            for rigid walls.
        buffer_length: part of the stroke at each end in which a spring and damper act [m]; 0: none.
        buffer_stiffness, buffer_damping: of the buffer [N/m, N s/m].
    """

    name: str
    valve: str | None
    bore: float
    rod_diameter: float
    stroke: float
    retracted_length: float
    piston_mass: float
    viscous_friction: float
    dry_friction: float
    dead_volume_piston_side: float
    dead_volume_rod_side: float
    holding_brake: bool
    holding_force: float
    barrel: Attachment
    rod: Attachment
    piston_side: str = ""
    rod_side: str = ""
    leakage: float = 0.0
    rod_leakage: float = 0.0
    static_friction: float | None = None
    stribeck_speed: float = 0.01
    cushion_length: float = 0.0
    cushion_diameter: float = 0.0
    barrel_modulus: float = np.inf
    buffer_length: float = 0.0
    buffer_stiffness: float = 0.0
    buffer_damping: float = 0.0


@dataclass(frozen=True)
class HydraulicMotor:
    """A hydraulic motor or rotary actuator on a joint; a higher pressure at a than at b drives it forward.

    Attributes:
        joint: revolute, continuous or prismatic.
        a, b: lines.
        displacement: per unit of the joint's coordinate, gear included [m3/rad or m3/m].
        dead_volume: oil on each side [m3].
        drain: line of the case drain.
        leakage: from a to b [m3/(s Pa)].
        drain_leakage: from each side to the drain [m3/(s Pa)].
        viscous_friction: at the joint [N m s/rad or N s/m].
        dry_friction: at the joint [N m or N].
        holding_brake: locks the joint at neutral and on emergency stop.
        holding_torque: largest effort of the brake, at the joint [N m or N].
    """

    name: str
    joint: str
    a: str
    b: str
    displacement: float
    dead_volume: float
    drain: str = "tank"
    leakage: float = 0.0
    drain_leakage: float = 0.0
    viscous_friction: float = 0.0
    dry_friction: float = 0.0
    holding_brake: bool = False
    holding_torque: float = 1e6


@dataclass(frozen=True)
class Accumulator:
    """A gas-filled accumulator.

    Attributes:
        port: line.
        volume: of the gas without oil [m3].
        precharge: gas pressure without oil [Pa, absolute].
        polytropic_index: pressure times volume to this power is constant [-].
    """

    name: str
    port: str
    volume: float
    precharge: float
    polytropic_index: float = 1.25


@dataclass(frozen=True)
class Hose:
    """A hose: each line has half of its oil; laminar friction acts between the two.

    Attributes:
        inlet, outlet: lines.
        length, diameter: inside [m].
        expansion: rise of pressure per relative growth of its volume [Pa]; inf for a rigid pipe.
    """

    name: str
    inlet: str
    outlet: str
    length: float
    diameter: float
    expansion: float = np.inf


def valve_lines(valve: DirectionalValve) -> tuple[str, str]:
    """Returns the lines a and b of a directional valve; their default names are ``<valve>.a`` and ``<valve>.b``."""
    return valve.a or f"{valve.name}.a", valve.b or f"{valve.name}.b"


def edge_overlaps(valve: DirectionalValve) -> tuple[float, float, float, float]:
    """Returns the overlaps of a valve's edges from supply to a and b, and their underlaps from a and b to tank."""

    def of_edge(own: float | None, common: float) -> float:
        return common if own is None else own

    return (
        of_edge(valve.supply_a_overlap, valve.supply_overlap),
        of_edge(valve.supply_b_overlap, valve.supply_overlap),
        of_edge(valve.tank_a_underlap, valve.tank_underlap),
        of_edge(valve.tank_b_underlap, valve.tank_underlap),
    )
