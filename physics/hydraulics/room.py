"""Hydraulic circuits in a step: their actuators are rows, and the oil is integrated over the step before the solver."""

from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base.accounts import AccountView, Ledger
from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.labels import ACTUATOR, ANEW, LINE, PUMP, VALVE
from grouser.physics.base.refusal import SMOOTH, Refused, present
from grouser.physics.constraints.rows import close_row
from grouser.physics.constraints.work import account_actuator_rows
from grouser.physics.hydraulics.circuit import ENERGY_ACCOUNTS, ActuatorGeometry
from grouser.physics.hydraulics.cylinder import Prediction, make_prediction
from grouser.physics.hydraulics.faults import take_faults
from grouser.physics.hydraulics.network import HydraulicNetwork
from grouser.physics.hydraulics.piston_rows import (
    commit_pistons,
    give_rows_their_law,
    lock_pistons,
    measure_loads,
    open_piston_rows,
    turn_pistons,
)
from grouser.physics.hydraulics.trials import NetworkWorkspace, make_network_workspace


class System(NamedTuple):
    """Actuators in the mechanism, and the circuits that drive them."""

    geometry: ActuatorGeometry
    network: HydraulicNetwork


class State(NamedTuple):
    """What a restart needs.

    Attributes:
        pressure: of each line of the hydraulic circuit [Pa, absolute], (lines,).
        piston: position of each cylinder's piston from its retracted end [m]; of motors not used.
        spool: position [-] and velocity [1/s] of each valve's spool, and its command behind the hysteresis [-],
            (valves, 3).
        swash: of each displacement pump [-].
        account: energy account of each cylinder and motor since the start [J], (actuators, accounts).
        passage_loss: throttled by each passage of the circuit [J], (passages,).
        pump_work: of each displacement pump on the oil [J], (pumps,).
        line_gain: taken up by the oil of each line, its walls and its accumulator [J], (lines,).
        line_supply: given by each line of constant pressure [J], (lines,).
        work: on the machine by each cylinder or motor [J].
    """

    pressure: np.ndarray
    piston: np.ndarray
    spool: np.ndarray
    swash: np.ndarray
    account: np.ndarray
    passage_loss: np.ndarray
    pump_work: np.ndarray
    line_gain: np.ndarray
    line_supply: np.ndarray
    work: np.ndarray


LABELS: Any = State(
    pressure=LINE,
    piston=ACTUATOR,
    spool=VALVE,
    swash=PUMP,
    account=ANEW,
    passage_loss=ANEW,
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
        brake: of each actuator, whether it is engaged.
        lock: of each actuator, impulse per speed of the damper that locks it [kg]; 0 while its row acts.
        turning: of each actuator, dJ/dt v of its row [m/s2].
        valve_command: spool commands of this step.
        direction: buffer, (3,).
    """

    prediction: Prediction
    network: NetworkWorkspace
    length: np.ndarray
    brake: np.ndarray
    lock: np.ndarray
    turning: np.ndarray
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
        account=np.zeros((actuators, ENERGY_ACCOUNTS)),
        passage_loss=np.zeros(len(network.origin)),
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
        turning=np.zeros(actuators),
        valve_command=np.zeros(valves),
        direction=np.zeros(3),
    )


def acts(system: System) -> bool:
    """Whether there are actuators, or oil that moves without them."""
    return bool(len(system.geometry.valve) or len(system.geometry.flow_gain) or len(system.network.volume))


def refused(system: System) -> Refused:
    """Valves close, and pistons reach the ends of their stroke."""
    return present({"hydraulic cylinders": len(system.geometry.valve) > 0}, SMOOTH)


@kernel
def apply_forces(context: Context):
    """Takes commands and faults over, opens the actuators' rows, and locks the cylinders whose brake holds."""
    system, state, motion = context.system, context.state, context.workspace.multibody
    own, work, rows = system.hydraulics, context.workspace.hydraulics, context.workspace.constraints.rows
    take_faults(context.command, work.network.faults)
    _set_brakes(own.geometry, state.hydraulics, context.command, work)
    open_piston_rows(
        *(system.multibody, own.geometry, motion.kinematics, system.joints.laws.rate_index.shape[0]),
        *(state.constraints.row_impulse, work.direction, rows, work.length),
    )
    turn_pistons(system.multibody, own.geometry, motion.kinematics, motion.motion, work.direction, work.turning)
    lock_pistons(
        *(own.geometry, own.network, state.hydraulics, state.v, work.brake, system.settings.step),
        *(rows, motion.mass, motion.force, work.lock),
    )


@inlined
def _set_brakes(geometry, state, command, work):
    """Commands of the valves, and the holding brakes that are engaged."""
    for valve in range(geometry.flow_gain.shape[0]):
        stopped = command.emergency_stop[geometry.valve_member[valve]]
        work.valve_command[valve] = 0.0 if stopped else command.valve[valve]
    for a in range(geometry.valve.shape[0]):
        # the brake lets go once the spool has opened its supply edge
        valve = geometry.valve[a]
        closed = valve >= 0 and abs(state.spool[valve, 0]) <= geometry.supply_overlap[valve]
        stopped = command.emergency_stop[geometry.member[a]]
        work.brake[a] = geometry.holding_force[a] > 0.0 and (stopped or closed)


@kernel
def open_rows(context: Context):
    """Half-solves the actuators' rows."""
    model, rows = context.system.multibody, context.workspace.constraints.rows
    for r in range(context.system.hydraulics.geometry.valve.shape[0]):
        close_row(rows, r, model.pattern_start, model.pattern, context.workspace.multibody.factor)


@kernel
def predict(context: Context):
    """What the actuators move."""
    system, work, motion = context.system.hydraulics, context.workspace.hydraulics, context.workspace.multibody
    measure_loads(
        *(system.geometry, system.network, work.brake, work.lock, motion.u_start, motion.u),
        *(context.system.settings.step, context.workspace.constraints.rows, work.network),
    )


@kernel
def set_row_laws(context: Context):
    """Gives the actuators' rows the law that follows from their oil."""
    settings, work = context.system.settings, context.workspace.hydraulics
    give_rows_their_law(
        *(context.system.hydraulics.network, context.state.hydraulics, settings.scheme, work.lock, work.turning),
        *(settings.step, context.workspace.constraints.rows, work.network, work.prediction),
    )


@kernel
def commit(context: Context):
    """Takes the velocities found back into the oil."""
    system, settings = context.system.hydraulics, context.system.settings
    work = context.workspace.hydraulics
    commit_pistons(
        *(system.network, context.state.hydraulics, settings.scheme, work.lock, context.workspace.multibody.u),
        *(settings.step, work.length, system.geometry.retracted_length),
        *(context.workspace.constraints.rows, work.network, work.prediction),
    )


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
