"""Phases of the hydraulics: actuators are rows, and the oil is integrated over the step before the solver."""

from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base.accounts import AccountView, Ledger
from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.labels import ACTUATOR, ANEW, LINE, PUMP, VALVE
from grouser.physics.base.refusal import SMOOTH, Refused, present
from grouser.physics.constraints.rows import close_row
from grouser.physics.constraints.work import account_actuator_rows
from grouser.physics.hydraulics.actuator_geometry import ENERGY_ACCOUNTS, ActuatorGeometry
from grouser.physics.hydraulics.faults import take_faults
from grouser.physics.hydraulics.network import HydraulicNetwork
from grouser.physics.hydraulics.piston_rows import (
    commit_pistons,
    lock_pistons,
    measure_jacobian_rates,
    measure_loads,
    open_piston_rows,
    set_piston_row_laws,
)
from grouser.physics.hydraulics.prediction import Prediction, make_prediction
from grouser.physics.hydraulics.state import State
from grouser.physics.hydraulics.trials import NetworkWorkspace, make_network_workspace
from grouser.physics.multibody.free_flight import mark_bridge


class System(NamedTuple):
    """Geometry of the actuators in the mechanism, and the network of their circuits."""

    geometry: ActuatorGeometry
    network: HydraulicNetwork


LABELS: Any = State(
    pressure=LINE,
    piston=ACTUATOR,
    spool=VALVE,
    swash=PUMP,
    first_share=PUMP,
    account=ANEW,
    flow_element_loss=ANEW,
    pump_work=ANEW,
    line_gain=ANEW,
    line_supply=ANEW,
    work=ANEW,
)


class Workspace(NamedTuple):
    """Buffers of a step.

    Attributes:
        prediction: of the actuators at the end of the step.
        network: of the circuits.
        length: of each cylinder [m].
        brake: whether the brake of each actuator is engaged.
        lock: impulse per speed of the damper that locks each actuator [kg]; 0 while its row acts.
        jacobian_rate: dJ/dt v of the row of each actuator [m/s2].
        valve_command: spool commands of this step.
        direction: unit vector of each cylinder from barrel to rod, (actuators, 3).
    """

    prediction: Prediction
    network: NetworkWorkspace
    length: np.ndarray
    brake: np.ndarray
    lock: np.ndarray
    jacobian_rate: np.ndarray
    valve_command: np.ndarray
    direction: np.ndarray


def make_state(system: System) -> State:
    """No pressure in the lines, pistons retracted, empty accounts."""
    network, actuators = system.network, len(system.geometry.valve)
    lines, pumps = len(network.volume), len(network.outlet)
    return State(
        pressure=np.zeros(lines),
        piston=np.zeros(actuators),
        spool=np.zeros((len(system.geometry.flow_gain), 3)),
        swash=np.zeros(pumps),
        first_share=np.ones(pumps),
        account=np.zeros((actuators, ENERGY_ACCOUNTS)),
        flow_element_loss=np.zeros(len(network.origin)),
        pump_work=np.zeros(pumps),
        line_gain=np.zeros(lines),
        line_supply=np.zeros(lines),
        work=np.zeros(actuators),
    )


def make_workspace(system: System, step: float) -> Workspace:
    """Buffers of the right sizes for steps of this length [s]."""
    actuators, valves = len(system.geometry.valve), len(system.geometry.flow_gain)
    return Workspace(
        prediction=make_prediction(system.geometry, step),
        network=make_network_workspace(system.network, valves),
        length=np.zeros(actuators),
        brake=np.zeros(actuators, dtype=np.bool_),
        lock=np.zeros(actuators),
        jacobian_rate=np.zeros(actuators),
        valve_command=np.zeros(valves),
        direction=np.zeros((actuators, 3)),
    )


def acts(system: System) -> bool:
    """Whether there are actuators, valves or lines."""
    return bool(len(system.geometry.valve) or len(system.geometry.flow_gain) or len(system.network.volume))


def refused(system: System) -> Refused:
    """Refused by smooth integrators: closing valves and stroke ends are not smooth."""
    return present({"hydraulic cylinders": len(system.geometry.valve) > 0}, SMOOTH)


@kernel
def apply_forces(context: Context):
    """Copies commands and faults, opens the actuators' rows, and locks the cylinders whose brake holds."""
    system, state, motion = context.system, context.state, context.workspace.multibody
    own, work, rows = system.hydraulics, context.workspace.hydraulics, context.workspace.constraints.rows
    take_faults(context.command, work.network.faults)
    _set_brakes(own.geometry, state.hydraulics, context.command, work)
    open_piston_rows(
        *(system.multibody, own.geometry, motion.kinematics, system.joints.laws.rate_index.shape[0]),
        *(state.constraints.row_impulse, work.direction, rows, work.length),
    )
    measure_jacobian_rates(
        *(system.multibody, own.geometry, motion.kinematics, motion.motion),
        *(work.direction, work.length, work.jacobian_rate),
    )
    lock_pistons(
        *(own.geometry, own.network, state.hydraulics, state.v, work.brake, system.settings.step),
        *(rows, motion.mass, motion.force, work.lock),
    )


@inlined
def _set_brakes(geometry: ActuatorGeometry, state: State, command, work):
    """Sets the commands of the valves, and which holding brakes are engaged."""
    for valve in range(geometry.flow_gain.shape[0]):
        stopped = command.emergency_stop[geometry.valve_member[valve]]
        work.valve_command[valve] = 0.0 if stopped else command.valve[valve]
    for a in range(geometry.valve.shape[0]):
        # the brake releases once the spool has opened its supply edge
        valve = geometry.valve[a]
        closed = valve >= 0 and abs(state.spool[valve, 0]) <= geometry.supply_overlap[valve]
        stopped = command.emergency_stop[geometry.member[a]]
        work.brake[a] = geometry.holding_force[a] > 0.0 and (stopped or closed)


@kernel
def open_rows(context: Context):
    """Half-solves the actuators' rows."""
    model, rows = context.system.multibody, context.workspace.constraints.rows
    for r in range(context.system.hydraulics.geometry.valve.shape[0]):
        close_row(rows, r, model, context.workspace.multibody.factor)


@kernel
def predict(context: Context):
    """Measures the loads of the actuators."""
    system, work, motion = context.system.hydraulics, context.workspace.hydraulics, context.workspace.multibody
    measure_loads(
        *(system.geometry, system.network, work.brake, work.lock, motion.u_start, motion.u),
        *(context.system.settings.step, context.workspace.constraints.rows, work.network),
    )


@kernel
def set_row_laws(context: Context):
    """Sets the laws of the actuators' rows from the prediction of their oil."""
    settings, work = context.system.settings, context.workspace.hydraulics
    set_piston_row_laws(
        *(context.system.hydraulics.network, context.state.hydraulics, settings.scheme, work.lock, work.jacobian_rate),
        *(settings.step, context.workspace.constraints.rows, work.network, work.prediction),
    )


@kernel
def commit(context: Context):
    """Commits the solved velocities to pistons and oil."""
    system, settings = context.system.hydraulics, context.system.settings
    work, motion, geometry = (
        context.workspace.hydraulics,
        context.workspace.multibody,
        context.system.hydraulics.geometry,
    )
    commit_pistons(
        *(system.network, context.state.hydraulics, settings.scheme, work.lock, motion.u),
        *(work.jacobian_rate, settings.step, work.length, geometry.retracted_length),
        *(context.workspace.constraints.rows, work.network, work.prediction),
    )
    for c in range(geometry.barrel_body.shape[0]):
        mark_bridge(context.system.multibody, geometry.barrel_body[c], geometry.rod_body[c], motion.touched)


@kernel
def account(context: Context):
    """Adds the work of the actuators on the machine."""
    rows, count = context.workspace.constraints.rows, context.system.hydraulics.geometry.valve.shape[0]
    account_actuator_rows(rows, count, context.workspace.multibody.velocity_mean, context.state.hydraulics.work)


def open_accounts(view: AccountView) -> None:
    """No work yet."""
    view.state.hydraulics.work[...] = 0.0


def read_accounts(view: AccountView, ledger: Ledger) -> None:
    """Work of cylinders and motors on the mechanism; what happens in the oil is another balance."""
    for name, work in zip(ledger.owners.actuator, view.state.hydraulics.work, strict=True):
        ledger.add_work(name, work)
