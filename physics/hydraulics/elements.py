"""Construction of the network from a description's elements: volumes, flow elements, pumps and actuators.

Each method of `_Elements` states its element's equation. d is the pressure drop between its lines, the flow Q is
positive in the direction of the drop, s is an opening between 0 and 1, and root(d) = d / (d^2 + e^2)^(1/4) is the
turbulent law of `flows.flow_per_opening`. A book cited by its author is Merritt, Hydraulic Control Systems (1967),
Manring and Fales, Hydraulic Control Systems (2nd edition, 2019), or Jelali and Kroll, Hydraulic Servo-systems (2003).
"""

import math
from collections.abc import Callable
from itertools import count
from typing import Any

from grouser.physics.base.errors import MachineError
from grouser.physics.description.data.hydraulics import (
    CheckValve,
    Compensator,
    CounterbalanceValve,
    DirectionalValve,
    Fluid,
    Hose,
    HydraulicCylinder,
    HydraulicMotor,
    Orifice,
    Pump,
    ReducingValve,
    ReliefValve,
    ShuttleValve,
    edge_overlaps,
    valve_lines,
)
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.elements.hydraulics.circuit import (
    PORTS,
    circuit_lines,
    constant_pressures,
    home_pressure,
)
from grouser.physics.hydraulics.actuator_geometry import flow_gain, piston_area, rod_side_area
from grouser.physics.hydraulics.faults import leaks
from grouser.physics.hydraulics.network import (
    FAULT,
    FIXED,
    LOAD_SENSING,
    NO_FLOW_ELEMENT,
    POSITION,
    PRESSURE,
    PRESSURES,
    SPOOL,
    SPOOL_EITHER_WAY,
    HydraulicNetwork,
    NetworkBuilder,
)
from grouser.physics.hydraulics.oil import Oil, make_oil

# Line of the open side of a single-acting cylinder.
_AIR = "(air)"
_AIR_PRESSURE = 1e5
_CONTROLS = {"fixed": FIXED, "pressure": PRESSURE, "load_sensing": LOAD_SENSING}
# A check valve opens from its cracking to its rated drop, over at least this share of the latter.
_LEAST_RANGE = 0.1
# Flow gain of a directional valve's signal edges, as a share of that of its metering edges.
_SIGNAL = 0.05
# Share of the travel over which the centre's flow path closes while the supply edges open.
_CROSSING = 0.1
# A shuttle valve's flow paths are fully open at this share of its rated drop. In the middle position they are open by
# the second share: less than the least signal to transmit, but enough to relieve the outlet.
_SHUTTLE = 0.1
_SHUTTLE_MIDDLE = 0.005
# Area of a cushioned cylinder's main port, as a share of the piston's area.
_PORT = 0.1
# Discharge coefficient of a tear.
_TEAR = 0.7


def make_network(machine: Machine) -> tuple[HydraulicNetwork, tuple[str, ...], tuple[tuple[str, str], ...]]:
    """The machine's network, cylinders before motors; names of its lines; owner of each flow element.

    An owner is an element as field of `Machine` and name.

    Raises:
        MachineError: two accumulators on one line.
    """
    fluid, constant = machine.fluid or Fluid(), constant_pressures(machine)
    oil = make_oil(fluid)
    elements = _Elements(fluid, oil, NetworkBuilder(oil, constant | {_AIR: _AIR_PRESSURE}), machine)
    for name in circuit_lines(machine):
        elements.begin_element("lines", name)
        elements.builder.line(name)
    for line in machine.lines:
        elements.builder.add_volume(line.name, line.volume, line.volume / line.expansion)
        if line.start_pressure is not None:
            elements.builder.set_start(line.name, line.start_pressure)
    numbered: dict[str, Callable[[int, Any], None]] = {
        "valves": elements.directional_valve,
        "cylinders": elements.cylinder,
    }
    simple: dict[str, Callable[[Any], None]] = {
        "hydraulic_motors": elements.motor,
        "pumps": elements.pump,
        "relief_valves": elements.relief_valve,
        "check_valves": elements.check_valve,
        "counterbalance_valves": elements.counterbalance_valve,
        "reducing_valves": elements.reducing_valve,
        "shuttle_valves": elements.shuttle_valve,
        "orifices": elements.orifice,
        "compensators": elements.compensator,
        "hoses": elements.hose,
    }
    for field, add_numbered in numbered.items():
        for number, part in enumerate(getattr(machine, field)):
            elements.begin_element(field, part.name)
            add_numbered(number, part)
    for field, add in simple.items():
        for part in getattr(machine, field):
            elements.begin_element(field, part.name)
            add(part)
    # an accumulator's gas follows p V^n = p_0 V_0^n (Jelali and Kroll); its oil is V_0 - V once p is above p_0
    loaded: set[str] = set()
    for gas in machine.accumulators:
        if gas.port in loaded:
            raise MachineError(
                f"accumulator '{gas.name}' is on line '{gas.port}', which has one already",
                file=machine.file,
                remedy="make one of the two, or put a hose between them",
            )
        loaded.add(gas.port)
        elements.builder.add_gas(gas.port, gas.volume, gas.precharge, gas.polytropic_index)
    elements.leaks(machine)
    builder = elements.builder
    return builder.build(len(machine.valves)), builder.lines, tuple(builder.flow_element_owners)


def beyond_published_schemes(machine: Machine) -> str:
    """Finds an element that the published schemes do not cover.

    They cover cylinders, each on its own valve between constant pressures.

    Returns:
        The name of the first such element; empty without one.
    """
    machines = [member.machine for member in machine.members]
    hydraulic = [one for one in machines if any(getattr(one, field) for field in PORTS)]
    for kind in (
        hydraulic[1:],
        *[getattr(machine, field) for field in PORTS if field not in ("pumps", "valves", "cylinders")],
        [pump for pump in machine.pumps if pump.displacement is not None],
        [valve for valve in machine.valves if _is_extended_valve(valve)],
        [cylinder for cylinder in machine.cylinders if _is_extended_cylinder(machine, cylinder)],
    ):
        for element in kind:
            return element.name
    return ""


def _is_extended_valve(valve: DirectionalValve) -> bool:
    edges = {valve.supply_a_overlap, valve.supply_b_overlap, None, valve.supply_overlap}
    edges |= {valve.tank_a_underlap, valve.tank_b_underlap} - {valve.tank_underlap}
    extras = valve.rate_limit, valve.hysteresis, valve.dead_band, valve.sense, valve.centre != "closed"
    return any(extras) or len(edges) > 2


def _is_extended_cylinder(machine: Machine, cylinder: HydraulicCylinder) -> bool:
    sharing = [other for other in machine.cylinders if other.piston_side == cylinder.piston_side]
    static = cylinder.dry_friction if cylinder.static_friction is None else cylinder.static_friction
    extras = cylinder.leakage, cylinder.rod_leakage, cylinder.cushion_length, static > cylinder.dry_friction
    return cylinder.valve is None or len(sharing) > 1 or any(extras)


class _Elements:
    """One method for each kind of element."""

    def __init__(self, fluid: Fluid, oil: Oil, builder: NetworkBuilder, machine: Machine):
        self.builder = builder
        self._machine = machine
        self._oil = oil
        self._chambers: list[tuple[str, str]] = []
        self._reliefs = count()
        # laminar flows are given at the reference temperature
        self._thinner = oil.density * fluid.kinematic_viscosity / oil.viscosity

    def begin_element(self, field: str, name: str) -> None:
        """Sets the element, or line, to which the following additions belong, and with it the tank of its machine."""
        self.builder.element = field, name
        self._tank, self.builder.start = home_pressure(self._machine, name) or (_AIR, _AIR_PRESSURE)

    def _gain(self, area, discharge_coefficient):
        """Turbulent flow per root of pressure through an area, Cd A sqrt(2 / rho) (Merritt, chapter 3)."""
        return discharge_coefficient * area * math.sqrt(2.0 / self._oil.density)

    def pump(self, pump: Pump) -> None:
        """Q = D w s - G (p_out - p_in), with a shaft power of w (D s (p_out - p_in) + T_loss).

        D: displacement, w: speed, G: leakage, T_loss: loss of torque (Merritt, chapter 4). The swash s follows
        its control (`flows.swash_setpoint`) with a time constant, t ds/dt = s_wanted - s (Manring and Fales, of
        pumps with variable displacement). A supply is a line of constant pressure.
        """
        if pump.displacement is None:
            self.builder.add_supply(pump.outlet, self._tank)
            return
        leak = NO_FLOW_ELEMENT
        if pump.leakage:
            leak = self.builder.add_flow_element(pump.outlet, pump.inlet, laminar=pump.leakage * self._thinner)
        self.builder.add_pump(
            pump.outlet,
            pump.inlet,
            pump.sense,
            displacement=pump.displacement,
            speed=pump.speed or 0.0,
            control=_CONTROLS[pump.control],
            setting=pump.setting or 0.0,
            margin=pump.margin or 0.0,
            range=pump.regulation_range or 1.0,
            response=pump.response_time or 0.0,
            power=pump.power_limit or math.inf,
            least_swash=pump.minimum_stroke or 0.0,
            torque_loss=pump.torque_loss or 0.0,
            leak=leak,
        )

    def directional_valve(self, number: int, valve: DirectionalValve) -> None:
        """Four edges of Q = K s root(drop), K = Cd pi d x_v sqrt(2 / rho) or from a rated flow; s follows the spool x.

        s = max(x - c_sa, 0) from supply to a, max(c_ta - x, 0) from a to tank, max(-x - c_sb, 0) from supply to b and
        max(c_tb + x, 0) from b to tank, with overlaps c_s and underlaps c_t (Merritt, chapter 5; (3) and (4) of
        Strashnov and Mironenko). An open centre turns the overlaps of the supply edges into underlaps; a tandem centre
        adds a flow path from supply to tank that closes while they open, s = max(c - |x|, 0). Small edges connect the
        sense line to the supplied side, and to the tank at neutral.
        """
        gain, linear = flow_gain(valve, self._oil.density), valve.transition == "linear"
        a, b = valve_lines(valve)
        supply_a, supply_b, tank_a, tank_b = edge_overlaps(valve)
        if valve.centre == "open":
            supply_a, supply_b = -abs(supply_a), -abs(supply_b)
        for origin, end, opening, slope in (
            (valve.supply, a, -supply_a, 1.0),
            (a, valve.tank, tank_a, -1.0),
            (valve.supply, b, -supply_b, -1.0),
            (b, valve.tank, tank_b, 1.0),
        ):
            self.builder.add_flow_element(
                *(origin, end, gain),
                transition=valve.transition_drop,
                linear=linear,
                kind=SPOOL,
                source=number,
                opening=opening,
                slope=slope,
            )
        if valve.centre == "tandem":
            closes = max(supply_a, supply_b, 0.0) + _CROSSING
            self.builder.add_flow_element(
                valve.supply, valve.tank, gain, kind=SPOOL_EITHER_WAY, source=number, opening=closes, slope=1.0
            )
        if valve.sense:
            signal = _SIGNAL * gain
            for origin, overlap, slope in ((a, supply_a, 1.0), (b, supply_b, -1.0)):
                self.builder.add_flow_element(
                    origin, valve.sense, signal, kind=SPOOL, source=number, opening=-max(overlap, 0.0), slope=slope
                )
            neutral = max(min(supply_a, supply_b), _CROSSING)
            self.builder.add_flow_element(
                valve.sense, valve.tank, signal, kind=SPOOL_EITHER_WAY, source=number, opening=neutral, slope=1.0
            )

    def cylinder(self, number: int, cylinder: HydraulicCylinder) -> None:
        """V_A = V_A0 + S_A x, V_B = V_B0 + S_B (l - x), m dv/dt = S_A p_A - S_B p_B - F_f + load (Merritt, chapter 6).

        F_f = k v + (F_d + (F_s - F_d) exp(-(v / v_s)^2)) sgn v, sticking up to F_s at rest (Stribeck;
        Armstrong-Helouvry et al., Automatica 30, 1994). Leakages are G (p_A - p_B) and
        G_r (p_B - p_tank). A cushion connects its chamber to the port by a throttle, by a main flow path that closes in
        proportion to the remaining stroke, s = min(x / l_c, 1), and by a check valve towards the chamber.
        """
        a, b = cylinder.piston_side or _AIR, cylinder.rod_side or _AIR
        areas = piston_area(cylinder), rod_side_area(cylinder)
        chambers = [a, b]
        if cylinder.cushion_length > 0.0:
            for side, port in enumerate((a, b)):
                if port == _AIR:
                    continue
                chamber = f"{cylinder.name}.{('piston', 'rod')[side]}_chamber"
                chambers[side] = chamber
                wide = self._gain(_PORT * areas[side], 0.7)
                # fully open outside the cushion
                length = cylinder.cushion_length
                opening, slope = ((0.0, 1.0 / length), (cylinder.stroke / length, -1.0 / length))[side]
                self.builder.add_flow_element(
                    chamber,
                    port,
                    wide,
                    kind=POSITION,
                    source=number,
                    opening=opening,
                    slope=slope,
                )
                throttle = self._gain(math.pi / 4.0 * cylinder.cushion_diameter**2, 0.7)
                self.builder.add_flow_element(chamber, port, throttle)
                self._check(port, chamber, wide * math.sqrt(5e5), 5e4, 5e5)
        for line, volume in zip(
            chambers, (cylinder.dead_volume_piston_side, cylinder.dead_volume_rod_side), strict=True
        ):
            self.builder.add_volume(line, volume)
        static = cylinder.dry_friction if cylinder.static_friction is None else cylinder.static_friction
        self._chambers.append((chambers[0], chambers[1]))
        self.builder.add_actuator(
            chambers[0],
            chambers[1],
            area_a=areas[0],
            area_b=areas[1],
            stroke=cylinder.stroke,
            mass=cylinder.piston_mass,
            viscous=cylinder.viscous_friction,
            dry=cylinder.dry_friction,
            static=static,
            stribeck=cylinder.stribeck_speed,
            wall=1.0 / cylinder.barrel_modulus,
            buffer=cylinder.buffer_length,
            buffer_stiffness=cylinder.buffer_stiffness,
            buffer_damping=cylinder.buffer_damping,
        )
        if cylinder.leakage > 0.0:
            self.builder.add_flow_element(chambers[0], chambers[1], laminar=cylinder.leakage * self._thinner)
        if cylinder.rod_leakage > 0.0:
            self.builder.add_flow_element(chambers[1], self._tank, laminar=cylinder.rod_leakage * self._thinner)

    def motor(self, motor: HydraulicMotor) -> None:
        """T = D (p_a - p_b) - k w - T_f sgn w, with the flow D w into a; leakages G (p_a - p_b), G_d (p - p_drain).

        D: displacement, w: speed of the joint (Merritt, chapter 4).
        """
        self._chambers.append((motor.a, motor.b))
        self.builder.add_actuator(
            motor.a,
            motor.b,
            area_a=motor.displacement,
            area_b=motor.displacement,
            stroke=math.inf,
            mass=0.0,
            viscous=motor.viscous_friction,
            dry=motor.dry_friction,
            static=motor.dry_friction,
            stribeck=1.0,
            wall=0.0,
            buffer=0.0,
            buffer_stiffness=0.0,
            buffer_damping=0.0,
        )
        for line in (motor.a, motor.b):
            self.builder.add_volume(line, motor.dead_volume)
            if motor.drain_leakage > 0.0:
                self.builder.add_flow_element(line, motor.drain, laminar=motor.drain_leakage * self._thinner)
        if motor.leakage > 0.0:
            self.builder.add_flow_element(motor.a, motor.b, laminar=motor.leakage * self._thinner)

    def relief_valve(self, valve: ReliefValve) -> None:
        """Opens when p_in - p_out exceeds its setting: see `_relief`."""
        self._relief(
            valve.inlet, valve.outlet, valve.pressure, valve.rated_flow, valve.rated_rise, {valve.outlet: -1.0}
        )

    def _relief(self, inlet, outlet, pressure, rated_flow, rated_rise, pilot_ratios):
        """Q = Q_r s root(d) / sqrt(p_s + r), s = (p_in + sum of ratios times pilot pressures - p_s) / r.

        p_s: setting, r: rated rise, the pressure range of the spring (Merritt, of single-stage relief valves); at the
        setting plus r the valve is fully open with its rated flow Q_r.
        """
        pilots = {inlet: 1.0 / rated_rise}
        for line, ratio in pilot_ratios.items():
            pilots[line] = pilots.get(line, 0.0) + ratio / rated_rise
        self.builder.add_flow_element(
            inlet,
            outlet,
            rated_flow / math.sqrt(pressure + rated_rise),
            kind=PRESSURES,
            source=next(self._reliefs),
            opening=-pressure / rated_rise,
            slope=1.0 / rated_rise,
            pilots=pilots,
        )

    def _check(self, inlet, outlet, rated_flow, cracking, rated_drop):
        """Q = Q_r s root(d) / sqrt(d_r), s = (d - d_c) / (d_r - d_c): from the cracking drop to the rated one."""
        span = max(rated_drop - cracking, _LEAST_RANGE * rated_drop)
        self.builder.add_flow_element(
            inlet,
            outlet,
            rated_flow / math.sqrt(rated_drop),
            kind=PRESSURES,
            opening=-cracking / span,
            pilots={inlet: 1.0 / span, outlet: -1.0 / span},
        )

    def check_valve(self, valve: CheckValve) -> None:
        """Free flow from inlet to outlet: see `_check`; reverse by a pilot x, s = (R (p_x - p_in) - d - d_c) / d_r.

        d = p_out - p_in closes it; R: area of the pilot's piston over that of the seat.
        """
        self._check(valve.inlet, valve.outlet, valve.rated_flow, valve.cracking_pressure, valve.rated_drop)
        if valve.pilot:
            span, ratio = valve.rated_drop, valve.pilot_ratio
            # the pilot piston acts against the inlet pressure and lifts the poppet, which the outlet pressure closes
            weights = {valve.pilot: ratio / span, valve.inlet: (1.0 - ratio) / span, valve.outlet: -1.0 / span}
            self.builder.add_flow_element(
                valve.outlet,
                valve.inlet,
                valve.rated_flow / math.sqrt(valve.rated_drop),
                kind=PRESSURES,
                opening=-valve.cracking_pressure / span,
                pilots=weights,
            )

    def counterbalance_valve(self, valve: CounterbalanceValve) -> None:
        """Free flow to the load: see `_check`; reverse flow with s = (p_load + R p_pilot - p_s) / r, see `_relief`.

        R: pilot ratio. The spring chamber is vented: the pressure downstream has no effect.
        """
        self._check(valve.valve, valve.load, valve.rated_flow, valve.cracking_pressure, valve.rated_drop)
        pilot_ratios = {valve.pilot: valve.pilot_ratio}
        self._relief(valve.load, valve.valve, valve.pressure, valve.rated_flow, valve.rated_rise, pilot_ratios)

    def reducing_valve(self, valve: ReducingValve) -> None:
        """Q = Q_r s root(d) / sqrt(d_r), s = (p_s - p_out) / r: closed at the setting p_s, open a range r below it."""
        self.builder.add_flow_element(
            valve.inlet,
            valve.outlet,
            valve.rated_flow / math.sqrt(valve.rated_drop),
            kind=PRESSURES,
            opening=valve.pressure / valve.range,
            pilots={valve.outlet: -1.0 / valve.range},
        )

    def shuttle_valve(self, valve: ShuttleValve) -> None:
        """Q = Q_r (s_a + c_a) / 2 root(d) / sqrt(d_r) from a, s_a = 0.005 + (p_a - p_b) / r, c_a = (p_a - p_o) / r.

        d = p_a - p_o, r: a tenth of the rated drop d_r; from b likewise. s connects the higher side to the outlet in
        both directions; c fills the outlet from both sides like a check valve, also at equal pressures.
        """
        span, gain = _SHUTTLE * valve.rated_drop, 0.5 * valve.rated_flow / math.sqrt(valve.rated_drop)
        for inlet, other in ((valve.a, valve.b), (valve.b, valve.a)):
            for opening, below in ((_SHUTTLE_MIDDLE, other), (0.0, valve.outlet)):
                self.builder.add_flow_element(
                    inlet,
                    valve.outlet,
                    gain,
                    kind=PRESSURES,
                    opening=opening,
                    pilots={inlet: 1.0 / span, below: -1.0 / span},
                )

    def orifice(self, orifice: Orifice) -> None:
        """Q = Cd pi d^2 / 4 sqrt(2 / rho) root(drop), or Q = drop / R, with R in proportion to the viscosity (Merritt,
        chapter 3).
        """
        if orifice.diameter is not None:
            gain = self._gain(math.pi / 4.0 * orifice.diameter**2, orifice.discharge_coefficient)
            self.builder.add_flow_element(orifice.inlet, orifice.outlet, gain)
        else:
            assert orifice.resistance is not None, "checked when the machine was read"
            self.builder.add_flow_element(orifice.inlet, orifice.outlet, laminar=self._thinner / orifice.resistance)

    def compensator(self, valve: Compensator) -> None:
        """Q = Q_r s root(d) / sqrt(d_r), s = (m - (p_out - p_load)) / r.

        Closed at the margin m of the metering edge downstream; r: pressure range of its spring (Manring and Fales, of
        pressure-compensated flow control).
        """
        self.builder.add_flow_element(
            valve.inlet,
            valve.outlet,
            valve.rated_flow / math.sqrt(valve.rated_drop),
            kind=PRESSURES,
            opening=valve.margin / valve.range,
            pilots={valve.outlet: -1.0 / valve.range, valve.load: 1.0 / valve.range},
        )

    def hose(self, hose: Hose) -> None:
        """Q = pi D^4 / (128 mu L) drop (Hagen and Poiseuille; Merritt, chapter 3), with half of its volume at each end.

        The wall's compliance is V / E, E: expansion, so that 1/beta_eff = 1/beta + 1/E (Merritt, chapter 2).
        """
        volume = math.pi / 4.0 * hose.diameter**2 * hose.length
        for line in (hose.inlet, hose.outlet):
            self.builder.add_volume(line, 0.5 * volume, 0.5 * volume / hose.expansion)
        laminar = math.pi * hose.diameter**4 / (128.0 * self._oil.viscosity * hose.length)
        self.builder.add_flow_element(hose.inlet, hose.outlet, laminar=laminar)

    def leaks(self, machine: Machine) -> None:
        """Adds the leaks, after all other flow elements."""
        chambers = iter(self._chambers)
        for number, leak in enumerate(leaks(machine)):
            self.builder.element = leak.field, leak.component
            if leak.line:
                self.builder.add_flow_element(leak.line, _AIR, self._gain(1.0, _TEAR), kind=FAULT, source=number)
            else:
                self.builder.add_flow_element(*next(chambers), laminar=self._thinner, kind=FAULT, source=number)
