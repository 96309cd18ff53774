"""Cylinders, hydraulic motors and pumps in the last step: arrays -> records."""

import numpy as np

from grouser.physics.hydraulics.network import NO_FLOW_ELEMENT
from grouser.physics.integrators.context import State, System, Workspace
from grouser.physics.model.command import Command
from grouser.physics.readings.measurements import (
    CylinderEnergy,
    CylinderPressure,
    CylinderState,
    HydraulicMotorState,
    PumpState,
)


def cylinder_pressure(system: System, state: State, command: Command, c: int) -> CylinderPressure:
    """Pressures of a cylinder as its sensors show them."""
    pressures = _actuator_pressures(system, state, c) + command.sensor_offset[c]
    return CylinderPressure(*pressures.tolist())


def cylinder_state(
    system: System, state: State, command: Command, workspace: Workspace, c: int, flow: np.ndarray
) -> CylinderState:
    """A cylinder with its valve, given the flows into its piston side and rod side [m3/s], (2,)."""
    pressures = cylinder_pressure(system, state, command, c)
    velocity, force = _motion(system, workspace, c)
    return CylinderState(
        position=float(state.hydraulics.piston[c]),
        velocity=velocity,
        pressure_piston_side=pressures.piston_side,
        pressure_rod_side=pressures.rod_side,
        flow_piston_side=float(flow[0]),
        flow_rod_side=float(flow[1]),
        spool_position=_spool_position(system, state, c),
        force=force,
        power=float(workspace.hydraulics.prediction.supply_power[c]),
        brake_engaged=bool(workspace.hydraulics.brake[c]),
    )


def cylinder_energy(state: State, c: int) -> CylinderEnergy:
    """Energy account of a cylinder."""
    return CylinderEnergy(*state.hydraulics.account[c].tolist())


def cylinder_trace(workspace: Workspace, c: int) -> np.ndarray:
    """Sub-steps of a cylinder in the last step, (sub-steps, 6): see `hydraulics.prediction.Prediction.trace`."""
    prediction = workspace.hydraulics.prediction
    return np.array(prediction.trace[c, : prediction.trace_length[c]])


def hydraulic_motor_state(
    system: System, state: State, workspace: Workspace, a: int, position: float, flow: np.ndarray
) -> HydraulicMotorState:
    """A hydraulic motor, by its number among the actuators, with the position of its joint and its flows, (2,)."""
    pressures = _actuator_pressures(system, state, a)
    velocity, torque = _motion(system, workspace, a)
    return HydraulicMotorState(
        position=position,
        velocity=velocity,
        pressure_a=float(pressures[0]),
        pressure_b=float(pressures[1]),
        flow_a=float(flow[0]),
        flow_b=float(flow[1]),
        spool_position=_spool_position(system, state, a),
        torque=torque,
        power=torque * velocity,
        brake_engaged=bool(workspace.hydraulics.brake[a]),
    )


def pump_state(system: System, state: State, command: Command, workspace: Workspace, p: int) -> PumpState:
    """A displacement pump."""
    network, accounts, step = (
        system.hydraulics.network,
        workspace.hydraulics.network.step_accounts,
        system.settings.step,
    )
    leaked = accounts.passed[network.leak[p]] if network.leak[p] != NO_FLOW_ELEMENT else 0.0
    lost = 0.0 if command.stopped_pump[p] else network.torque_loss[p] * network.speed[p]
    return PumpState(
        swash=float(state.hydraulics.swash[p]),
        flow=float(accounts.delivered[p] - leaked) / step,
        pressure=float(state.hydraulics.pressure[network.outlet[p]]),
        shaft_power=float(accounts.pump_work[p] / step + lost),
    )


def _actuator_pressures(system: System, state: State, a: int) -> np.ndarray:
    """Pressures of a cylinder's piston side and rod side, or of both sides of a motor [Pa], (2,)."""
    network = system.hydraulics.network
    return state.hydraulics.pressure[[network.line_a[a], network.line_b[a]]]


def _spool_position(system: System, state: State, a: int) -> float:
    """Spool position of an actuator's valve [-]; 0 without one."""
    valve = system.hydraulics.geometry.valve[a]
    return float(state.hydraulics.spool[valve, 0]) if valve >= 0 else 0.0


def _motion(system: System, workspace: Workspace, a: int) -> tuple[float, float]:
    """Speed and force of an actuator along its row in the last step, zero without one; these rows come first."""
    if workspace.constraints.rows.count[0] == 0:
        return 0.0, 0.0
    return float(workspace.constraints.rows.whitened_jacobian[a] @ workspace.multibody.u), float(
        workspace.constraints.rows.impulse[a]
    ) / system.settings.step
