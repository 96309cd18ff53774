"""One step of the simulation, as its equations run."""

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from grouser.physics.constraints.contact_rows import ContactRows, build_contact_rows, make_contact_rows
from grouser.physics.constraints.impulses import dot, solve_positions, solve_rows, warm_start
from grouser.physics.constraints.joint_rows import JointLaws, build_joint_rows
from grouser.physics.constraints.piston_rows import (
    lock_pistons,
    open_piston_rows,
    predict_pistons,
    settle_pistons,
)
from grouser.physics.constraints.rows import Rows, close_row, make_rows
from grouser.physics.contact.candidates import ContactCandidates
from grouser.physics.contact.detection import Contacts, detect_contacts, make_contacts
from grouser.physics.hydraulics.circuit import Circuit
from grouser.physics.hydraulics.cylinder import Prediction, make_prediction
from grouser.physics.kernel import inlined, kernel
from grouser.physics.model import Model
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.factorisation import factorise, multiply, solve, solve_transposed
from grouser.physics.multibody.free_body import carry_momentum, release_gyroscopic_force
from grouser.physics.multibody.integration import integrate_positions
from grouser.physics.multibody.kinematics import Kinematics, make_kinematics, update_kinematics
from grouser.physics.multibody.newton_euler import inverse_dynamics

# A joint that moves faster than this multiple of the solver's tolerance slides.
_SLIDING = 10.0
# Sweeps of the position pass; what is left of an error is corrected in the next step.
_POSITION_SWEEPS = 20


class Settings(NamedTuple):
    """How steps are made.

    Attributes:
        step: [s].
        scheme: of the hydraulics (`hydraulics.cylinder.SCHEMES`).
        tolerance: of the impulses: largest change of a row's speed in the last sweep [m/s or rad/s].
        most_sweeps: limit of the sweeps.
    """

    step: float
    scheme: int
    tolerance: float
    most_sweeps: int


class System(NamedTuple):
    """All that does not change."""

    model: Model
    candidates: ContactCandidates
    laws: JointLaws
    circuit: Circuit
    settings: Settings


class Workspace(NamedTuple):
    """All that a step fills anew.

    Attributes:
        kinematics, contacts, rows, contact_rows, prediction: see there.
        composite, wrench, motion: buffers of the dynamics, (bodies, ...).
        factor: of the mass matrix, (coordinates, coordinates).
        still: zeros, (coordinates,).
        force, u_start, u, displacement: buffers, (coordinates,).
        effort: of effort drives in the last step, (coordinates,) [N or N m].
        row_shift, contact_shift: impulses of the position pass.
        length: of each cylinder [m].
        brake: of each cylinder, whether it is engaged.
        lock: of each cylinder, impulse per speed of the damper that locks it [kg]; 0 while its row acts.
        valve_command: spool commands of this step.
        direction: buffer, (3,).
        sweeps: of the last step, most since cleared, (2,).
        residual: of the last step, largest since cleared [m/s or rad/s], (2,).
    """

    kinematics: Kinematics
    contacts: Contacts
    rows: Rows
    contact_rows: ContactRows
    prediction: Prediction
    composite: np.ndarray
    wrench: np.ndarray
    motion: np.ndarray
    factor: np.ndarray
    still: np.ndarray
    force: np.ndarray
    effort: np.ndarray
    u_start: np.ndarray
    u: np.ndarray
    displacement: np.ndarray
    row_shift: np.ndarray
    contact_shift: np.ndarray
    length: np.ndarray
    brake: np.ndarray
    lock: np.ndarray
    valve_command: np.ndarray
    direction: np.ndarray
    sweeps: np.ndarray
    residual: np.ndarray


def make_workspace(system: System) -> Workspace:
    """Buffers for a system."""
    bodies, coordinates = len(system.model.body_parent), len(system.model.rate_damping)
    cylinders, candidates = len(system.circuit.valve), len(system.candidates.body)
    rows = len(system.laws.rate_index) + cylinders
    return Workspace(
        kinematics=make_kinematics(system.model),
        contacts=make_contacts(system.candidates),
        rows=make_rows(rows, coordinates),
        contact_rows=make_contact_rows(candidates, coordinates),
        prediction=make_prediction(system.circuit, system.settings.step),
        composite=np.zeros((bodies, 10)),
        wrench=np.zeros((bodies, 6)),
        motion=np.zeros((bodies, 6)),
        factor=np.zeros((coordinates, coordinates)),
        still=np.zeros(coordinates),
        force=np.zeros(coordinates),
        effort=np.zeros(coordinates),
        u_start=np.zeros(coordinates),
        u=np.zeros(coordinates),
        displacement=np.zeros(coordinates),
        row_shift=np.zeros(rows),
        contact_shift=np.zeros(candidates),
        length=np.zeros(cylinders),
        brake=np.zeros(cylinders, dtype=np.bool_),
        lock=np.zeros(cylinders),
        valve_command=np.zeros(len(system.circuit.flow_gain)),
        direction=np.zeros(3),
        sweeps=np.zeros(2, dtype=np.int64),
        residual=np.zeros(2),
    )


@partial(kernel, nogil=True)
def run_steps(count, system, state, command, workspace):
    """Makes `count` steps, or stops after the first that leaves the finite numbers.

    Returns:
        Number of steps that ended well.
    """
    for done in range(count):
        make_step(system, state, command, workspace)
        state.step_count[0] += 1
        if not _finite(state):
            return done
    return count


@inlined
def make_step(system, state, command, workspace):
    """One step: forces, rows, impulses, positions."""
    model, settings, kinematics = system.model, system.settings, workspace.kinematics
    step, factor, u_start, u = settings.step, workspace.factor, workspace.u_start, workspace.u
    start, pattern = model.pattern_start, model.pattern

    update_kinematics(model, state.q, state.v, kinematics)
    detect_contacts(system.candidates, kinematics, step, workspace.contacts)

    mass_matrix(model, kinematics, workspace.composite, factor)
    _add_implicit_terms(model, step, factor)
    _set_brakes(system.circuit, state, command, workspace)
    workspace.rows.count[0] = 0
    open_piston_rows(
        model,
        system.circuit,
        kinematics,
        system.laws.rate_index.shape[0],
        state.row_impulse,
        workspace.direction,
        workspace.rows,
        workspace.length,
    )
    lock_pistons(system.circuit, state, workspace.brake, step, workspace.rows, factor, workspace.lock)
    factorise(start, pattern, factor)
    inverse_dynamics(model, kinematics, workspace.still, workspace.wrench, workspace.motion, workspace.force)
    release_gyroscopic_force(model, kinematics, workspace.force)
    _applied_force(model, system.circuit, state, workspace, step)
    multiply(start, pattern, factor, state.v, u_start)
    _build_rows(system, state, command, workspace)

    for d in range(u.shape[0]):
        workspace.force[d] += workspace.effort[d]
    solve_transposed(start, pattern, factor, workspace.force)
    for d in range(u.shape[0]):
        u[d] = u_start[d] + step * workspace.force[d]
    warm_start(workspace.rows, workspace.contact_rows, u)
    predict_pistons(
        system.circuit,
        state,
        settings.scheme,
        workspace.valve_command,
        workspace.brake,
        workspace.lock,
        u_start,
        u,
        step,
        workspace.rows,
        workspace.prediction,
    )
    sweeps, residual = solve_rows(workspace.rows, workspace.contact_rows, u, settings.tolerance, settings.most_sweeps)
    settle_pistons(
        system.circuit,
        state,
        settings.scheme,
        workspace.lock,
        u,
        step,
        workspace.length,
        workspace.rows,
        workspace.prediction,
    )
    _remember(workspace, state, sweeps, residual, len(system.laws.rate_index), settings.tolerance)
    _move(model, state, workspace, settings)


@kernel
def _add_implicit_terms(model, step, mass):
    """Adds what makes the coordinates' own dampers and springs implicit, M + h D + h^2 K."""
    for d in range(mass.shape[0]):
        mass[d, d] += step * model.rate_damping[d]
    for k in range(model.spring_rate.shape[0]):
        d = model.spring_rate[k]
        mass[d, d] += step * step * model.spring_stiffness[k]


@inlined
def _set_brakes(circuit, state, command, workspace):
    """Commands of the valves, and the holding brakes that are engaged."""
    stopped = command.emergency_stop[0]
    for valve in range(circuit.flow_gain.shape[0]):
        workspace.valve_command[valve] = 0.0 if stopped else command.valve[valve]
    for c in range(circuit.valve.shape[0]):
        # the brake lets go once the spool has opened its supply edge
        closed = abs(state.spool[circuit.valve[c], 0]) <= circuit.supply_overlap[circuit.valve[c]]
        workspace.brake[c] = circuit.holding_force[c] > 0.0 and (stopped or closed)


@inlined
def _applied_force(model, circuit, state, workspace, step):
    """Turns the bias force into the force that acts, with dampers, elastic springs and locks at the old speed."""
    force = workspace.force
    for d in range(force.shape[0]):
        force[d] = -force[d] - model.rate_damping[d] * state.v[d]
    for k in range(model.spring_rate.shape[0]):
        d = model.spring_rate[k]
        force[d] -= model.spring_stiffness[k] * (state.q[model.spring_position[k]] + step * state.v[d])
    for c in range(circuit.valve.shape[0]):
        if workspace.lock[c] > 0.0:
            d = circuit.lone_rate[c]
            lever = workspace.rows.jacobian[c, d]
            force[d] -= workspace.lock[c] * lever * lever / step * state.v[d]


@inlined
def _build_rows(system, state, command, workspace):
    """Half-solves the cylinders' rows and opens those of joints and contacts."""
    model, rows = system.model, workspace.rows
    step = system.settings.step
    for r in range(rows.count[0]):
        close_row(rows, r, model.pattern_start, model.pattern, workspace.factor)
    build_joint_rows(
        model,
        system.laws,
        state.q,
        state.v,
        workspace.factor,
        step,
        command.drive,
        command.emergency_stop[0],
        state.sliding,
        state.row_impulse,
        rows,
        workspace.effort,
    )
    build_contact_rows(
        model,
        system.candidates,
        workspace.contacts,
        workspace.kinematics,
        workspace.factor,
        workspace.u_start,
        step,
        state.contact_impulse,
        workspace.contact_rows,
    )


@inlined
def _remember(workspace, state, sweeps, residual, laws, tolerance):
    """Keeps the impulses for the next step's warm start, and the solver's figures."""
    rows, contact_rows, contacts = workspace.rows, workspace.contact_rows, workspace.contacts
    workspace.sweeps[0] = sweeps
    workspace.sweeps[1] = max(workspace.sweeps[1], sweeps)
    workspace.residual[0] = residual
    workspace.residual[1] = max(workspace.residual[1], residual)
    state.row_impulse[:] = 0.0
    for r in range(rows.count[0]):
        slot = rows.slot[r]
        state.row_impulse[slot] = rows.impulse[r]
        if slot < laws:
            state.sliding[slot] = abs(dot(rows.half[r], workspace.u) - rows.hold_speed[r]) > _SLIDING * tolerance
    state.contact_impulse[:] = 0.0
    for c in range(contacts.count[0]):
        for k in range(3):
            impulse = 0.0
            for m in range(3):
                impulse += contact_rows.impulse[3 * c + m] * contact_rows.frame[c, m, k]
            contacts.impulse[c, k] = impulse
            state.contact_impulse[contacts.candidate[c], k] = impulse


@inlined
def _move(model, state, workspace, settings):
    """Velocities from the solved u; positions with them, corrected by the position pass."""
    start, pattern, u, displacement = model.pattern_start, model.pattern, workspace.u, workspace.displacement
    for d in range(u.shape[0]):
        displacement[d] = u[d]
    solve_positions(
        workspace.rows,
        workspace.contact_rows,
        displacement,
        settings.tolerance,
        _POSITION_SWEEPS,
        workspace.row_shift,
        workspace.contact_shift,
    )
    for d in range(u.shape[0]):
        state.v[d] = u[d]
    solve(start, pattern, workspace.factor, state.v)
    solve(start, pattern, workspace.factor, displacement)
    integrate_positions(model, state.q, displacement, settings.step)
    carry_momentum(model, workspace.kinematics, displacement, settings.step, state.q, state.v)


@kernel
def _finite(state):
    """Whether positions, velocities and pressures are finite numbers."""
    for d in range(state.v.shape[0]):
        if not math.isfinite(state.v[d]):
            return False
    for d in range(state.q.shape[0]):
        if not math.isfinite(state.q[d]):
            return False
    for c in range(state.piston.shape[0]):
        if not math.isfinite(state.pressure[c, 0] + state.pressure[c, 1] + state.piston[c]):
            return False
    return True
