"""Arrays of directional valves, and of the attachment of cylinders and motors to the mechanism."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.description.data.hydraulics import DirectionalValve, Fluid, HydraulicCylinder
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.elements.hydraulics.circuit import feeding_valve
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.model.names import Names

# Columns of the energy account of a cylinder [J].
SUPPLIED, RETURNED, THROTTLED, COMPRESSED, VISCOUS_LOSS, FRICTION_LOSS, STOP_LOSS, PISTON_WORK, OIL_WORK = range(9)
ENERGY_ACCOUNTS = 9


class ActuatorGeometry(NamedTuple):
    """Valves, and actuators: the cylinders, then the motors.

    Attributes:
        supply_pressure, tank_pressure: of a machine on constant pressures [Pa], (1,).
        flow_gain: K_q of each valve [m3/s/sqrt(Pa)] at full spool.
        transition: pressure drop below which the flow is laminar [Pa].
        linear: whether the laminar flow is proportional to the drop; otherwise the two laws blend smoothly.
        supply_overlap, tank_underlap: c1, c2 [-].
        spool_gain, spool_frequency, spool_damping: K_v [-], w_v [rad/s], D_v [-]; a first-order spool has infinite
            damping, and the inverse of its time constant as frequency.
        spool_rate: greatest speed [1/s]; infinite for no limit.
        hysteresis, dead_band: of the command [-].
        valve_member, member: number of the machine that each valve and each actuator belongs to, 0 where there is one
            (`Machine.member_of`).
        valve: that feeds each actuator and, in neutral, engages its brake; -1 for none.
        lone_rate: index in v of the only coordinate that it drives, if no other body shares it; else -1.
        holding_force: of the holding brake [N or N m]; 0 without one.
        barrel_body, rod_body: bodies that each cylinder is attached to.
        motor_rate: index in v of the coordinate that each motor drives.
        barrel_point, rod_point: attachments in the body frames [m], (cylinders, 3).
        retracted_length: distance between the attachments of each cylinder at the start of its stroke [m].
    """

    supply_pressure: np.ndarray
    tank_pressure: np.ndarray
    flow_gain: np.ndarray
    transition: np.ndarray
    linear: np.ndarray
    supply_overlap: np.ndarray
    tank_underlap: np.ndarray
    spool_gain: np.ndarray
    spool_frequency: np.ndarray
    spool_damping: np.ndarray
    spool_rate: np.ndarray
    hysteresis: np.ndarray
    dead_band: np.ndarray
    valve_member: np.ndarray
    member: np.ndarray
    valve: np.ndarray
    lone_rate: np.ndarray
    holding_force: np.ndarray
    barrel_body: np.ndarray
    rod_body: np.ndarray
    motor_rate: np.ndarray
    barrel_point: np.ndarray
    rod_point: np.ndarray
    retracted_length: np.ndarray


def make_actuator_geometry(machine: Machine, names: Names, model: MultibodyModel) -> ActuatorGeometry:
    """Arrays of the machine's hydraulics; empty arrays when it has none."""
    fluid = machine.fluid or Fluid()
    supply = next((pump.supply_pressure for pump in machine.pumps if pump.supply_pressure is not None), 1e5)
    tank = machine.pumps[0].tank_pressure if machine.pumps else 1e5
    valves, cylinders, motors = machine.valves, machine.cylinders, machine.hydraulic_motors
    valve_number = {None: -1} | {valve.name: number for number, valve in enumerate(valves)}
    rates = [names.joints[motor.joint].v for motor in motors]
    barrels = [_attachment(names, cylinder.barrel) for cylinder in cylinders]
    rods = [_attachment(names, cylinder.rod) for cylinder in cylinders]
    geometry = ActuatorGeometry(
        supply_pressure=_reals([supply]),
        tank_pressure=_reals([tank]),
        flow_gain=_reals([flow_gain(v, fluid.density) for v in valves]),
        transition=_reals([v.transition_drop for v in valves]),
        linear=np.array([v.transition == "linear" for v in valves], dtype=np.bool_),
        supply_overlap=_reals([v.supply_overlap for v in valves]),
        tank_underlap=_reals([v.tank_underlap for v in valves]),
        spool_gain=_reals([v.gain for v in valves]),
        spool_frequency=_reals(
            [v.natural_frequency if v.time_constant is None else 1 / v.time_constant for v in valves]
        ),
        spool_damping=_reals([v.damping_ratio if v.time_constant is None else math.inf for v in valves]),
        spool_rate=_reals([v.rate_limit or math.inf for v in valves]),
        hysteresis=_reals([v.hysteresis for v in valves]),
        dead_band=_reals([v.dead_band for v in valves]),
        valve_member=np.array([machine.member_of(v.name) for v in valves], dtype=np.int64),
        member=np.array(
            [*(machine.member_of(c.name) for c in cylinders), *(machine.member_of(m.name) for m in motors)],
            dtype=np.int64,
        ),
        valve=np.array(
            [
                *(valve_number[feeding_valve(machine, (c.piston_side, c.rod_side))] for c in cylinders),
                *(valve_number[feeding_valve(machine, (m.a, m.b))] for m in motors),
            ],
            dtype=np.int64,
        ),
        lone_rate=np.array(
            [
                *(_lone_rate(model, barrel, rod) for (barrel, _), (rod, _) in zip(barrels, rods, strict=True)),
                *(rate if np.count_nonzero(model.column_rate == rate) == 1 else -1 for rate in rates),
            ],
            dtype=np.int64,
        ),
        holding_force=_reals(
            [
                *(c.holding_force if c.holding_brake else 0.0 for c in cylinders),
                *(m.holding_torque if m.holding_brake else 0.0 for m in motors),
            ]
        ),
        motor_rate=np.array(rates, dtype=np.int64),
        barrel_body=np.array([body for body, _ in barrels], dtype=np.int64),
        rod_body=np.array([body for body, _ in rods], dtype=np.int64),
        barrel_point=_reals([point for _, point in barrels]).reshape(-1, 3),
        rod_point=_reals([point for _, point in rods]).reshape(-1, 3),
        retracted_length=_reals([c.retracted_length for c in cylinders]),
    )
    for array in geometry:
        array.flags.writeable = False
    return geometry


def flow_gain(valve: DirectionalValve, density: float) -> float:
    """K_q of a valve's edges at full spool, Cd pi d x sqrt(2 / rho) or from its rated flow [m3/s/sqrt(Pa)]."""
    if valve.rated_flow is not None:
        return valve.rated_flow / math.sqrt(valve.rated_drop)
    assert valve.spool_diameter is not None and valve.spool_travel is not None, "checked when the machine was read"
    area = math.pi * valve.spool_diameter * valve.spool_travel
    return valve.discharge_coefficient * area * math.sqrt(2.0 / density)


def piston_area(cylinder: HydraulicCylinder) -> float:
    """S_A, area of the piston [m2]."""
    return math.pi / 4.0 * cylinder.bore**2


def rod_side_area(cylinder: HydraulicCylinder) -> float:
    """S_B, area of the ring around the rod [m2]."""
    return math.pi / 4.0 * (cylinder.bore**2 - cylinder.rod_diameter**2)


def _reals(values):
    return np.array(values, dtype=float)


def _attachment(names: Names, attachment):
    """Body of an attachment, and its point in the body frame."""
    link = names.link_index(attachment.link)
    point = names.link_position[link] + names.link_rotation[link] @ np.array(attachment.xyz)
    return names.link_body[link], point


def _lone_rate(model: MultibodyModel, barrel: int, rod: int) -> int:
    """Index of the only coordinate rate between two neighbouring bodies, if no other body shares it; else -1."""
    child, parent = max(barrel, rod), min(barrel, rod)
    if model.body_parent[child] != parent or model.column_start[child + 1] - model.column_start[child] != 1:
        return -1
    rate = model.column_rate[model.column_start[child]]
    return int(rate) if np.count_nonzero(model.column_rate == rate) == 1 else -1
