"""One step of the simulation, as its equations run."""

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.compliance.coordinates import engage_coordinates
from grouser.physics.compliance.loop_rows import (
    PairRows,
    engage_pairs,
    make_pair_rows,
    pull_pairs_together,
    settle_pairs,
)
from grouser.physics.compliance.loops import Pairs
from grouser.physics.compliance.springs import AxialLaws, hysteresis_after
from grouser.physics.constraints.impulses import solve_positions, solve_rows, warm_start
from grouser.physics.constraints.rows import Rows, close_row, make_rows, spring_impulse
from grouser.physics.constraints.subspace import Subspace, make_subspace
from grouser.physics.constraints.work import (
    account_contacts,
    account_dampers,
    account_drives,
    account_frictions,
    account_pairs,
    account_rows,
    account_springs,
)
from grouser.physics.contact.collide import (
    Collision,
    ContactWorkspace,
    convex_pairs_due,
    detect_contacts,
    make_contact_workspace,
    make_contacts,
    slot_count,
)
from grouser.physics.contact.contacts import Contacts
from grouser.physics.contact.restitution import temper_bounces
from grouser.physics.contact.rows import ContactRows, build_contact_rows, make_contact_rows
from grouser.physics.drives.electric import SIZE
from grouser.physics.drives.servo import Drives
from grouser.physics.drives.springs import aim_drives, engage_drives, replace_drives, settle_drives
from grouser.physics.friction.joints import (
    HELD,
    JointFrictions,
    begin_frictions,
    engage_frictions,
    make_joint_frictions,
    release_frictions,
    settle_frictions,
    switch_frictions,
)
from grouser.physics.hydraulics.circuit import Circuit
from grouser.physics.hydraulics.cylinder import Prediction, make_prediction
from grouser.physics.hydraulics.faults import take_faults
from grouser.physics.hydraulics.network import Network
from grouser.physics.hydraulics.piston_rows import (
    lock_pistons,
    open_piston_rows,
    predict_pistons,
    settle_pistons,
    turn_pistons,
)
from grouser.physics.hydraulics.trials import NetworkWorkspace, make_network_workspace
from grouser.physics.integrators.context import State
from grouser.physics.joints.laws import JointLaws
from grouser.physics.joints.rows import build_joint_rows
from grouser.physics.model.command import Command
from grouser.physics.model.multibody import Model
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.discrete_momentum import DiscreteMotion, make_discrete_motion
from grouser.physics.multibody.factorisation import copy_lower, factorise, multiply, solve, solve_transposed
from grouser.physics.multibody.free_body import carry_momentum, release_gyroscopic_force
from grouser.physics.multibody.integration import integrate_positions
from grouser.physics.multibody.kinematics import Kinematics, make_kinematics, update_kinematics
from grouser.physics.multibody.newton_euler import inverse_dynamics
from grouser.physics.soil.coupling import engage_wheels, settle_wheels, tiles_short
from grouser.physics.soil.wheels import Wheels, WheelWorkspace, make_wheel_workspace

SEMI_IMPLICIT_EULER, IMPLICIT_MIDPOINT, VARIATIONAL = range(3)
INTEGRATORS = {
    "semi_implicit": SEMI_IMPLICIT_EULER,
    "implicit_midpoint": IMPLICIT_MIDPOINT,
    "variational": VARIATIONAL,
}
# What a step may ask for before it is made.
NOTHING, CONVEX_PAIRS, MORE_TILES = range(3)
# Sweeps of the position pass; what is left of an error is corrected in the next step.
_POSITION_SWEEPS = 20
# Rounds in which a step of the variational integrator has to settle.
_MOST_ROUNDS = 30


class Settings(NamedTuple):
    """How steps are made.

    Attributes:
        step: [s].
        scheme: of the hydraulics (`hydraulics.cylinder.SCHEMES`).
        tolerance: of the impulses: largest change of a row's speed in the last sweep, and in all that would follow it
            [m/s or rad/s].
        most_sweeps: limit of the sweeps.
        integrator: of the motion (`INTEGRATORS`).
    """

    step: float
    scheme: int
    tolerance: float
    most_sweeps: int
    integrator: int


class System(NamedTuple):
    """All that does not change."""

    model: Model
    collision: Collision
    laws: JointLaws
    drives: Drives
    axial: AxialLaws
    pairs: Pairs
    circuit: Circuit
    network: Network
    wheels: Wheels
    settings: Settings


class Workspace(NamedTuple):
    """All that a step fills anew.

    Attributes:
        kinematics, detection, contacts, rows, contact_rows, subspace, pair_rows, prediction, wheels, frictions: see
            there.
        composite, wrench, motion: buffers of the dynamics, (bodies, ...).
        mass: lower triangle of the mass matrix with all that acts implicitly but the servo drives, (coordinates,
            coordinates).
        factor: of it with the drives that are within their limit, (coordinates, coordinates).
        still: zeros, (coordinates,).
        velocity_start, velocity, velocity_mean: rates at the start and at the end of the last step, and their mean, in
            the poses of its start.
        force, u_start, u_before, u, displacement: buffers, (coordinates,); u_before is u without the rows.
        q_middle, deflection_start: coordinates amid a step, and deflections of the loop joints at its start,
            (pairs, 6), of the midpoint rule.
        discrete: of the variational integrator, which tells in `unsettled`, too, what did not settle.
        effort: of effort drives in the last step, (coordinates,) [N or N m].
        drive_spring, axial_spring: conductance and target of each joint law's drive and of each axial law; of a drive
            its greatest impulse, too, (laws, 3) and (laws, 2).
        drive_buffer: of one drive, (5, SIZE).
        drive_place: of each joint law, where its drive's spring is (`constraints.joint_rows`).
        row_shift, contact_shift: impulses of the position pass.
        length: of each cylinder [m].
        brake: of each cylinder, whether it is engaged.
        lock: of each cylinder, impulse per speed of the damper that locks it [kg]; 0 while its row acts.
        turning: of each cylinder, dJ/dt v of its row [m/s2].
        valve_command: spool commands of this step.
        direction: buffer, (3,).
        sweeps: of the last step, most since cleared, (2,).
        residual: of the last step, largest since cleared [m/s or rad/s], (2,).
        unsettled: number of the first step whose iteration did not settle, 0 for none, -1 when it has been told; the
            coordinate rate that changed most in its last round; how many such steps there were, (3,).
    """

    kinematics: Kinematics
    detection: ContactWorkspace
    contacts: Contacts
    rows: Rows
    contact_rows: ContactRows
    subspace: Subspace
    pair_rows: PairRows
    prediction: Prediction
    network: NetworkWorkspace
    wheels: WheelWorkspace
    frictions: JointFrictions
    composite: np.ndarray
    wrench: np.ndarray
    motion: np.ndarray
    mass: np.ndarray
    factor: np.ndarray
    still: np.ndarray
    force: np.ndarray
    u_start: np.ndarray
    u_before: np.ndarray
    u: np.ndarray
    velocity_start: np.ndarray
    velocity: np.ndarray
    velocity_mean: np.ndarray
    displacement: np.ndarray
    q_middle: np.ndarray
    deflection_start: np.ndarray
    unsettled: np.ndarray
    discrete: DiscreteMotion
    effort: np.ndarray
    drive_spring: np.ndarray
    drive_buffer: np.ndarray
    axial_spring: np.ndarray
    drive_place: np.ndarray
    row_shift: np.ndarray
    contact_shift: np.ndarray
    length: np.ndarray
    brake: np.ndarray
    lock: np.ndarray
    turning: np.ndarray
    valve_command: np.ndarray
    direction: np.ndarray
    sweeps: np.ndarray
    residual: np.ndarray


class Machinery(NamedTuple):
    """All that a step reads and writes."""

    system: System
    state: State
    command: Command
    workspace: Workspace


def make_workspace(system: System) -> Workspace:
    """Buffers for a system."""
    bodies, coordinates = len(system.model.body_parent), len(system.model.rate_damping)
    actuators, slots, laws = len(system.circuit.valve), slot_count(system.collision), len(system.laws.rate_index)
    return Workspace(
        kinematics=make_kinematics(system.model),
        detection=make_contact_workspace(system.collision),
        contacts=make_contacts(system.collision),
        rows=make_rows(laws + actuators, coordinates),
        contact_rows=make_contact_rows(slots, coordinates),
        subspace=make_subspace(laws + actuators, slots, coordinates),
        pair_rows=make_pair_rows(system.pairs, coordinates),
        prediction=make_prediction(system.circuit, system.settings.step),
        network=make_network_workspace(system.network, len(system.circuit.flow_gain)),
        wheels=make_wheel_workspace(system.wheels, coordinates),
        frictions=make_joint_frictions(laws),
        composite=np.zeros((bodies, 10)),
        wrench=np.zeros((bodies, 6)),
        motion=np.zeros((bodies, 6)),
        mass=np.zeros((coordinates, coordinates)),
        factor=np.zeros((coordinates, coordinates)),
        still=np.zeros(coordinates),
        force=np.zeros(coordinates),
        u_start=np.zeros(coordinates),
        u_before=np.zeros(coordinates),
        u=np.zeros(coordinates),
        velocity_start=np.zeros(coordinates),
        velocity=np.zeros(coordinates),
        velocity_mean=np.zeros(coordinates),
        displacement=np.zeros(coordinates),
        q_middle=np.zeros(len(system.model.q_initial)),
        deflection_start=np.zeros((len(system.pairs.axis), 6)),
        unsettled=np.zeros(3, dtype=np.int64),
        discrete=make_discrete_motion(system.model, _MOST_ROUNDS),
        effort=np.zeros(coordinates),
        drive_spring=np.zeros((laws, 3)),
        drive_buffer=np.zeros((5, SIZE)),
        axial_spring=np.zeros((len(system.axial.rate_index), 2)),
        drive_place=np.zeros(laws, dtype=np.int64),
        row_shift=np.zeros(laws + actuators),
        contact_shift=np.zeros(slots),
        length=np.zeros(actuators),
        brake=np.zeros(actuators, dtype=np.bool_),
        lock=np.zeros(actuators),
        turning=np.zeros(actuators),
        valve_command=np.zeros(len(system.circuit.flow_gain)),
        direction=np.zeros(3),
        sweeps=np.zeros(2, dtype=np.int64),
        residual=np.zeros(2),
    )


@partial(kernel, nogil=True)
def run_steps(count, answered, machinery):
    """Makes `count` steps, or stops after the first that leaves the finite numbers, or before one that has to ask.

    A step asks about pairs of convex solids that may touch, which `contact.convex.ConvexNarrowPhase` answers, or for
    room for soft ground (`soil.tiles.with_capacity`); the next call goes on.

    Args:
        count: number of steps.
        answered: whether the pairs that are due for the first step have been answered.
        machinery: the simulation's, packed (`Machinery`, `packed.Packed`).

    Returns:
        Number of steps that ended well, and what the next one asks for: NOTHING, CONVEX_PAIRS or MORE_TILES.
    """
    system, state, command, workspace = machinery.system, machinery.state, machinery.command, machinery.workspace
    model, kinematics = system.model, workspace.kinematics
    for done in range(count):
        if system.wheels.body.shape[0] > 0 and tiles_short(system.wheels, state):
            return done, MORE_TILES
        if not (answered and done == 0):
            update_kinematics(model, state.q, state.v, kinematics)
            if convex_pairs_due(system.collision, kinematics, system.settings.step, workspace.detection) > 0:
                return done, CONVEX_PAIRS
        make_step(system, state, command, workspace)
        state.step_count[0] += 1
        if not is_finite(state):
            return done, NOTHING
    return count, NOTHING


@inlined
def make_step(system, state, command, workspace):
    """One step, with the kinematics filled: forces, rows, impulses, positions."""
    model, settings, kinematics = system.model, system.settings, workspace.kinematics
    step, force, u = settings.step, workspace.force, workspace.u

    detect_contacts(
        system.collision,
        kinematics,
        step,
        state.contact_anchor,
        state.contact_impulse,
        workspace.detection,
        workspace.contacts,
    )
    mass_matrix(model, kinematics, workspace.composite, workspace.mass)
    inverse_dynamics(model, kinematics, workspace.still, workspace.wrench, workspace.motion, force)
    release_gyroscopic_force(model, kinematics, workspace.motion, force)
    for d in range(force.shape[0]):
        force[d] = -force[d]
        workspace.velocity_start[d] = state.v[d]
    _engage(system, state, command, workspace)
    sweeps, residual, first, searching = 0, 0.0, True, True
    while searching:
        _set_out(system, state, workspace)
        if first:
            # it changes the state: once a step
            first = False
            predict_pistons(
                system.circuit,
                system.network,
                state,
                settings.scheme,
                workspace.valve_command,
                workspace.brake,
                workspace.lock,
                workspace.turning,
                workspace.u_start,
                u,
                step,
                workspace.rows,
                workspace.network,
                workspace.prediction,
            )
        more, residual = _find_impulses(system, workspace)
        sweeps += more
        searching = replace_drives(
            system.laws,
            workspace.velocity,
            u,
            workspace.drive_spring,
            workspace.drive_place,
            system.circuit.valve.shape[0],
            workspace.rows,
        )
        released = release_frictions(
            system.laws,
            state.bristle,
            workspace.velocity,
            step,
            workspace.frictions,
        )
        searching = searching or released
    rested = settle_frictions(
        system.laws,
        u,
        step,
        settings.tolerance,
        system.circuit.valve.shape[0],
        workspace.frictions,
        workspace.rows,
        workspace.velocity,
        state.bristle,
    )
    lost = workspace.frictions.unsettled[0]
    if lost >= 0:
        note_unsettled(state, system.laws.rate_index[lost], workspace)
    if rested:
        multiply(model.pattern_start, model.pattern, workspace.factor, workspace.velocity, u)
    settle_pistons(
        system.network,
        state,
        settings.scheme,
        workspace.lock,
        u,
        step,
        workspace.length,
        system.circuit.retracted_length,
        workspace.rows,
        workspace.network,
        workspace.prediction,
    )
    if system.pairs.axis.shape[0] > 0:
        workspace.pair_rows.impulse[:] = 0.0
        settle_pairs(workspace.velocity, 1.0, workspace.pair_rows)
    if system.wheels.body.shape[0] > 0:
        settle_wheels(
            system.wheels,
            model,
            system.collision.terrain,
            kinematics,
            workspace.velocity,
            step,
            state,
            workspace.wheels,
        )
    settle_drives(
        system.laws,
        system.drives,
        state.q,
        workspace.velocity,
        step,
        command,
        workspace.drive_spring,
        workspace.effort,
        state.drive_memory,
        workspace.drive_buffer,
    )
    _account(system, state, workspace)
    _remember(system, state, workspace, sweeps, residual)
    _move(system, state, workspace)


@inlined
def note_unsettled(state, rate, workspace):
    """Counts a step whose iteration did not settle, by this coordinate rate."""
    workspace.unsettled[2] += 1
    if workspace.unsettled[0] == 0:
        workspace.unsettled[0], workspace.unsettled[1] = state.step_count[0] + 1, rate


@inlined
def _engage(system, state, command, workspace):
    """Puts into the mass matrix and the force all that acts along coordinates, in pairs and in locked cylinders.

    But the springs of servo drives and dry friction, which follow in `_set_out`.
    """
    model, step, mass, force = system.model, system.settings.step, workspace.mass, workspace.force
    engage_coordinates(
        model, system.axial, state.q, state.v, state.hysteresis, step, mass, force, workspace.axial_spring
    )
    aim_drives(
        system.laws,
        system.drives,
        state.q,
        state.v,
        step,
        command,
        state.drive_memory,
        mass,
        force,
        workspace.drive_spring,
        workspace.drive_place,
        workspace.effort,
        workspace.drive_buffer,
    )
    begin_frictions(
        system.laws,
        system.drives,
        state.q,
        state.v,
        command.emergency_stop,
        mass,
        workspace.frictions,
    )
    if system.pairs.axis.shape[0] > 0:
        engage_pairs(
            model,
            system.pairs,
            workspace.kinematics,
            workspace.motion,
            state.v,
            step,
            workspace.pair_rows,
            mass,
            force,
        )
    if system.wheels.body.shape[0] > 0:
        engage_wheels(
            system.wheels,
            model,
            system.collision.terrain,
            workspace.kinematics,
            state,
            step,
            workspace.wheels,
            mass,
            force,
        )
    take_faults(command, workspace.network.faults)
    _set_brakes(system.circuit, state, command, workspace)
    workspace.rows.count[0] = 0
    open_piston_rows(
        model,
        system.circuit,
        workspace.kinematics,
        system.laws.rate_index.shape[0],
        state.row_impulse,
        workspace.direction,
        workspace.rows,
        workspace.length,
    )
    turn_pistons(model, system.circuit, workspace.kinematics, workspace.motion, workspace.direction, workspace.turning)
    lock_pistons(
        system.circuit, system.network, state, workspace.brake, step, workspace.rows, mass, force, workspace.lock
    )


@inlined
def _set_brakes(circuit, state, command, workspace):
    """Commands of the valves, and the holding brakes that are engaged."""
    for valve in range(circuit.flow_gain.shape[0]):
        stopped = command.emergency_stop[circuit.valve_member[valve]]
        workspace.valve_command[valve] = 0.0 if stopped else command.valve[valve]
    for c in range(circuit.valve.shape[0]):
        # the brake lets go once the spool has opened its supply edge
        valve = circuit.valve[c]
        closed = valve >= 0 and abs(state.spool[valve, 0]) <= circuit.supply_overlap[valve]
        stopped = command.emergency_stop[circuit.member[c]]
        workspace.brake[c] = circuit.holding_force[c] > 0.0 and (stopped or closed)


@inlined
def _set_out(system, state, workspace):
    """Factorises the mass matrix, with dry friction and the drives that are within their limit, and opens all rows.

    `u` is then half-solved, with the force and with the impulses of the last step.
    """
    model, step, u, factor = system.model, system.settings.step, workspace.u, workspace.factor
    start, pattern, frictions = model.pattern_start, model.pattern, workspace.frictions
    copy_lower(workspace.mass, factor)
    for d in range(u.shape[0]):
        u[d] = workspace.force[d]
    engage_drives(system.laws, state.v, step, workspace.drive_spring, workspace.drive_place, frictions.grip, factor, u)
    engage_frictions(system.laws, state.v, state.bristle, step, frictions, factor, u)
    stuck = factorise(start, pattern, factor)
    if stuck >= 0:
        # more stiffness than the digits hold beside the masses: the check at the end names the joint
        u[stuck] = math.nan
    multiply(start, pattern, factor, state.v, workspace.u_start)
    _build_rows(system, state, workspace)
    solve_transposed(start, pattern, factor, u)
    for d in range(u.shape[0]):
        u[d] = workspace.u_start[d] + step * u[d]
        workspace.u_before[d] = u[d]
    warm_start(workspace.rows, workspace.contact_rows, u)


@inlined
def _build_rows(system, state, workspace):
    """Half-solves the cylinders' rows and opens those of joints and contacts."""
    model, rows = system.model, workspace.rows
    step = system.settings.step
    rows.count[0] = system.circuit.valve.shape[0]
    for r in range(rows.count[0]):
        close_row(rows, r, model.pattern_start, model.pattern, workspace.factor)
    build_joint_rows(
        model,
        system.laws,
        state.q,
        state.v,
        workspace.factor,
        step,
        workspace.frictions,
        state.row_impulse,
        workspace.drive_spring,
        workspace.drive_place,
        rows,
    )
    build_contact_rows(
        model,
        system.collision,
        workspace.contacts,
        workspace.kinematics,
        workspace.factor,
        workspace.u_start,
        step,
        state.contact_impulse,
        state.contact_moment,
        workspace.contact_rows,
    )


@inlined
def _find_impulses(system, workspace):
    """Impulses of all rows, and the rates that they lead to; number of sweeps and residual."""
    model, settings, velocity = system.model, system.settings, workspace.velocity
    sweeps, residual, searching = 0, 0.0, True
    while searching:
        more, residual = solve_rows(
            workspace.rows,
            workspace.contact_rows,
            workspace.subspace,
            workspace.u,
            settings.tolerance,
            settings.most_sweeps,
        )
        sweeps += more
        for d in range(velocity.shape[0]):
            velocity[d] = workspace.u[d]
        solve(model.pattern_start, model.pattern, workspace.factor, velocity)
        tempered = temper_bounces(workspace.contact_rows, workspace.u_before, workspace.u)
        switched = switch_frictions(
            system.laws,
            workspace.velocity_start,
            velocity,
            workspace.u,
            settings.step,
            settings.tolerance,
            system.circuit.valve.shape[0],
            workspace.frictions,
            workspace.rows,
        )
        searching = tempered or switched
    return sweeps, residual


@inlined
def _account(system, state, workspace):
    """Adds the work of the step to the accounts."""
    end, mean = workspace.velocity, workspace.velocity_mean
    for d in range(mean.shape[0]):
        mean[d] = 0.5 * (workspace.velocity_start[d] + end[d])
    model, step, laws, rows = system.model, system.settings.step, system.laws, workspace.rows
    account_dampers(model.rate_damping, step, end, mean, state.rate_work)
    account_springs(
        model, system.axial, state.q, end, mean, step, step, workspace.axial_spring, state.rate_work, state.axial_work
    )
    account_drives(laws, step, workspace.effort, workspace.drive_spring, end, mean, state.law_work)
    pair_rows = workspace.pair_rows
    account_pairs(system.pairs.row_pair, pair_rows.impulse, pair_rows.motion.jacobian, mean, state.pair_work)
    account_frictions(laws.rate_index, workspace.frictions.impulse, mean, state.law_work)
    account_rows(rows, system.circuit.valve.shape[0], laws.rate_index, end, mean, state.law_work, state.cylinder_work)
    account_contacts(
        system.collision.laws,
        workspace.contacts,
        workspace.contact_rows,
        step,
        workspace.u_start,
        workspace.u,
        state.contact_work,
        state.contact_energy,
    )


@inlined
def _remember(system, state, workspace, sweeps, residual):
    """Keeps the impulses for the next step's warm start, and the solver's figures."""
    rows, laws = workspace.rows, system.laws
    workspace.sweeps[0] = sweeps
    workspace.sweeps[1] = max(workspace.sweeps[1], sweeps)
    workspace.residual[0] = residual
    workspace.residual[1] = max(workspace.residual[1], residual)
    state.row_impulse[:] = 0.0
    for r in range(rows.count[0]):
        slot = rows.slot[r]
        state.row_impulse[slot] = rows.impulse[r]
        if slot < laws.rate_index.shape[0]:
            state.row_impulse[slot] -= spring_impulse(rows, r, workspace.velocity[laws.rate_index[slot]])
    for law in range(laws.rate_index.shape[0]):
        if workspace.frictions.grip[law] == HELD:
            state.row_impulse[law] = workspace.frictions.impulse[law]
    for law in range(system.axial.rate_index.shape[0]):
        d = system.axial.rate_index[law]
        state.hysteresis[law] = hysteresis_after(
            system.axial, law, state.hysteresis[law], state.v[d], workspace.velocity[d], system.settings.step
        )
    _remember_contacts(state, workspace)


@inlined
def _remember_contacts(state, workspace):
    """Keeps the contacts' impulses by their slots, and forgets those of the step before."""
    contact_rows, contacts = workspace.contact_rows, workspace.contacts
    for c in range(state.contact_count[0]):
        slot = state.contact_slot[c]
        for k in range(3):
            state.contact_impulse[slot, k] = 0.0
            state.contact_moment[slot, k] = 0.0
    state.contact_count[0] = contacts.count[0]
    for c in range(contacts.count[0]):
        slot = contacts.slot[c]
        state.contact_slot[c] = slot
        resists = contact_rows.spinning[c] > 0.0 or contact_rows.rolling[c] > 0.0
        for k in range(3):
            impulse = moment = 0.0
            for m in range(3):
                impulse += contact_rows.impulse[c, m] * contact_rows.frame[c, m, k]
                moment += contact_rows.moment[c, m] * contact_rows.frame[c, m, k]
            contacts.impulse[c, k] = impulse
            state.contact_impulse[slot, k] = impulse
            state.contact_moment[slot, k] = moment if resists else 0.0
            state.contact_anchor[slot, k] = contacts.anchor[c, k]


@inlined
def _move(system, state, workspace):
    """The new velocities; positions with them, corrected by the position pass."""
    model, settings, u, displacement = system.model, system.settings, workspace.u, workspace.displacement
    start, pattern, factor = model.pattern_start, model.pattern, workspace.factor
    for d in range(u.shape[0]):
        displacement[d] = 0.0
    if system.pairs.axis.shape[0] > 0:
        pull_pairs_together(system.pairs, workspace.pair_rows, settings.step, displacement)
        solve_transposed(start, pattern, factor, displacement)
    for d in range(u.shape[0]):
        displacement[d] += u[d]
    solve_positions(
        workspace.rows,
        workspace.contact_rows,
        displacement,
        settings.tolerance,
        _POSITION_SWEEPS,
        workspace.row_shift,
        workspace.contact_shift,
    )
    solve(start, pattern, factor, displacement)
    for law in range(system.laws.rate_index.shape[0]):
        if workspace.frictions.grip[law] == HELD:
            displacement[system.laws.rate_index[law]] = 0.0
    for d in range(u.shape[0]):
        state.v[d] = workspace.velocity[d]
    integrate_positions(model, state.q, displacement, settings.step)
    carry_momentum(model, workspace.kinematics, displacement, settings.step, state.q, state.v)


@kernel
def is_finite(state):
    """Whether positions, velocities and pressures are finite numbers."""
    for d in range(state.v.shape[0]):
        if not math.isfinite(state.v[d]):
            return False
    for a in range(state.piston.shape[0]):
        if not math.isfinite(state.piston[a]):
            return False
    for line in range(state.pressure.shape[0]):
        if not math.isfinite(state.pressure[line]):
            return False
    for d in range(state.q.shape[0]):  # noqa: SIM110, a generator is nothing for a kernel
        if not math.isfinite(state.q[d]):
            return False
    return True
