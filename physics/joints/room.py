"""Phases of servo drives, dry friction and limits along the coordinates of joints."""

from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base.accounts import AccountView, Ledger
from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.labels import ANEW, DRIVE, LAW
from grouser.physics.base.refusal import SMOOTH, Refused, present
from grouser.physics.constraints.diagnostics import record_nonconvergence
from grouser.physics.constraints.work import (
    DRIVE as DRIVE_WORK,
)
from grouser.physics.constraints.work import (
    FRICTION,
    LIMIT,
    account_bristles,
    account_drives,
    account_joint_rows,
)
from grouser.physics.drives.brakes import brake_drives
from grouser.physics.drives.electric import KEPT, SIZE
from grouser.physics.drives.modes import EFFORT
from grouser.physics.drives.servo import Drives
from grouser.physics.drives.springs import add_drive_springs, commit_drives, linearise_drives, move_drive_springs
from grouser.physics.friction.joints import (
    HELD,
    JointFrictions,
    add_frictions,
    begin_attempt,
    begin_frictions,
    bristle_energy,
    commit_frictions,
    make_joint_frictions,
    release_frictions,
    update_friction_levels,
)
from grouser.physics.joints.laws import JointLaws
from grouser.physics.joints.rows import open_joint_rows
from grouser.physics.multibody.factorisation import multiply


class System(NamedTuple):
    """Laws along the coordinates of joints, and the drives."""

    laws: JointLaws
    drives: Drives


class State(NamedTuple):
    """What a restart needs. Sticking is not stored: zero speed implies it.

    Attributes:
        bristle: deflection of the bristles of each joint law [m or rad].
        drive_memory: internal state of each servo drive (`drives.servo`, `drives.electric`), (drives, KEPT).
        work: of each joint law's drive, dry friction and limits on the machine [J], (laws, 3).
    """

    bristle: np.ndarray
    drive_memory: np.ndarray
    work: np.ndarray


LABELS: Any = State(bristle=LAW, drive_memory=DRIVE, work=ANEW)


class Workspace(NamedTuple):
    """Buffers of a step.

    Attributes:
        frictions: dry friction of the step.
        effort: explicit effort of the drives in the last step, (coordinates,) [N or N m].
        drive_spring: conductance, target and greatest impulse of each joint law's drive, (laws, 3).
        drive_place: of the spring of each joint law's drive: mass matrix or row (`drives.springs`).
        drive_buffer: of one drive, (5, SIZE).
    """

    frictions: JointFrictions
    effort: np.ndarray
    drive_spring: np.ndarray
    drive_place: np.ndarray
    drive_buffer: np.ndarray


def make_state(system: System) -> State:
    """Relaxed bristles, drives in their initial state, empty accounts."""
    laws = len(system.laws.rate_index)
    return State(np.zeros(laws), np.zeros((len(system.drives.mode), KEPT)), np.zeros((laws, 3)))


def make_workspace(system: System, coordinates: int) -> Workspace:
    """Buffers of the right sizes."""
    laws = len(system.laws.rate_index)
    return Workspace(
        frictions=make_joint_frictions(laws),
        effort=np.zeros(coordinates),
        drive_spring=np.zeros((laws, 3)),
        drive_place=np.zeros(laws, dtype=np.int64),
        drive_buffer=np.zeros((5, SIZE)),
    )


def acts(system: System) -> bool:
    """Whether there are joint laws."""
    return len(system.laws.rate_index) > 0


def refused(system: System) -> Refused:
    """Refused by smooth integrators: dry friction, limits, and saturating drives are not smooth."""
    laws, drives = system.laws, system.drives
    things = {
        "dry friction of a joint": bool((laws.static > 0.0).any()),
        "limits of a joint": bool((np.isfinite(laws.lower) | np.isfinite(laws.upper)).any()),
        "a drive that is not commanded by effort": bool((drives.mode != EFFORT).any()),
        "a drive with a motor": bool((drives.electric >= 0).any() or (drives.warming > 0.0).any()),
    }
    return present(things, SMOOTH)


@kernel
def apply_forces(context: Context):
    """Linearises the drives, and finds the joints that stick."""
    system, state, command = context.system.joints, context.state, context.command
    work, motion = context.workspace.joints, context.workspace.multibody
    linearise_drives(
        *(system.laws, system.drives, state.q, state.v, context.system.settings.step, command),
        *(state.joints.drive_memory, motion.mass, motion.force),
        *(work.drive_spring, work.drive_place, work.effort, work.drive_buffer),
    )
    brake_drives(system.laws, system.drives, state.v, command, work.frictions.brake)
    begin_frictions(system.laws, state.q, state.v, motion.mass, work.frictions)


@kernel
def assemble(context: Context):
    """Adds the drives that are within their limit, and dry friction, to mass matrix and force."""
    laws, state, step = context.system.joints.laws, context.state, context.system.settings.step
    work, motion = context.workspace.joints, context.workspace.multibody
    begin_attempt(laws, context.system.multibody.rate_first, context.workspace.constraints.islands, work.frictions)
    add_drive_springs(
        laws, state.v, step, work.drive_spring, work.drive_place, work.frictions.grip, motion.factor, motion.u
    )
    add_frictions(laws, state.v, state.joints.bristle, step, work.frictions, motion.factor, motion.u)


@kernel
def open_rows(context: Context):
    """Opens the rows of limits, of sliding friction, and of drives at their limit."""
    system, state, work = context.system, context.state, context.workspace.joints
    open_joint_rows(
        *(system.multibody, system.joints.laws, state.q, state.v, context.workspace.multibody.factor),
        *(system.settings.step, work.frictions, state.constraints.row_impulse, work.drive_spring, work.drive_place),
        context.workspace.constraints.rows,
    )
    context.workspace.constraints.rows.joint_end[0] = context.workspace.constraints.rows.count[0]


@kernel
def adjust(context: Context):
    """Updates the friction levels of sliding joints to their speeds."""
    system, motion, settings = context.system, context.workspace.multibody, context.system.settings
    solver = context.workspace.constraints
    update_friction_levels(
        *(system.joints.laws, motion.velocity_start, motion.velocity, motion.u, settings.step, settings.tolerance),
        *(system.hydraulics.geometry.valve.shape[0], context.workspace.joints.frictions),
        *(solver.rows, solver.islands),
    )


@kernel
def revise(context: Context):
    """Moves springs of drives between mass matrix and rows, and releases joints beyond their static friction."""
    system, motion, work = context.system, context.workspace.multibody, context.workspace.joints
    laws, solver, rate_first = system.joints.laws, context.workspace.constraints, system.multibody.rate_first
    moved = move_drive_springs(
        *(laws, motion.velocity, motion.u, work.drive_spring, work.drive_place, rate_first),
        *(system.hydraulics.geometry.valve.shape[0], solver.rows, solver.islands),
    )
    released = release_frictions(
        *(laws, context.state.joints.bristle, motion.velocity, system.settings.step, rate_first, solver.islands),
        work.frictions,
    )
    return 1 if moved or released else 0


@kernel
def commit(context: Context):
    """Sets held joints to rest, and advances bristles and drives."""
    system, state, settings = context.system.joints, context.state, context.system.settings
    work, motion, model = context.workspace.joints, context.workspace.multibody, context.system.multibody
    rested = commit_frictions(
        *(system.laws, motion.u, settings.step, settings.tolerance),
        *(context.system.hydraulics.geometry.valve.shape[0], work.frictions, context.workspace.constraints.rows),
        *(motion.velocity, state.joints.bristle),
    )
    lost = work.frictions.unsettled[0]
    if lost >= 0:
        record_nonconvergence(state, system.laws.rate_index[lost], context.workspace.constraints)
    if rested:
        _whiten_rested(model, system.laws, work.frictions, motion, context.workspace.constraints.whitened)
    commit_drives(
        *(system.laws, system.drives, state.q, motion.velocity, settings.step, context.command),
        *(work.drive_spring, work.effort, state.joints.drive_memory, work.drive_buffer),
    )


@inlined
def _whiten_rested(model, laws, frictions: JointFrictions, motion, whitened):
    """Whitens the velocity in the blocks with joints that came to rest; `whitened` is a buffer."""
    multiply(model, motion.factor, motion.velocity, whitened)
    for law in range(laws.rate_index.shape[0]):
        if frictions.rested[law]:
            rate = laws.rate_index[law]
            for d in range(model.rate_first[rate], model.rate_last[rate]):
                motion.u[d] = whitened[d]


@kernel
def account(context: Context):
    """Adds the work of drives, dry friction and limits, and stores the holding impulses of stuck joints."""
    laws, step, work = context.system.joints.laws, context.system.settings.step, context.workspace.joints
    end, mean = context.workspace.multibody.velocity, context.workspace.multibody.velocity_mean
    account = context.state.joints.work
    account_drives(laws, step, work.effort, work.drive_spring, end, mean, account)
    account_bristles(laws.rate_index, work.frictions.impulse, mean, account)
    first = context.system.hydraulics.geometry.valve.shape[0]
    account_joint_rows(context.workspace.constraints.rows, first, laws.rate_index, end, mean, account)
    for law in range(laws.rate_index.shape[0]):
        if work.frictions.grip[law] == HELD:
            context.state.constraints.row_impulse[law] = work.frictions.impulse[law]


@kernel
def hold(context: Context):
    """Sets the displacement of stuck joints to zero."""
    laws, grip = context.system.joints.laws, context.workspace.joints.frictions.grip
    for law in range(laws.rate_index.shape[0]):
        if grip[law] == HELD:
            context.workspace.multibody.displacement[laws.rate_index[law]] = 0.0


def open_accounts(view: AccountView) -> None:
    """Bristles owe what they hold."""
    laws, state = view.system.joints.laws, view.state.joints
    state.work[...] = 0.0
    state.work[:, FRICTION] = -bristle_energy(laws.bristle_stiffness, state.bristle)


def read_accounts(view: AccountView, ledger: Ledger) -> None:
    """Work of the drives; losses in dry friction and at limits."""
    laws, state, names = view.system.joints.laws, view.state.joints, ledger.owners
    for law, drive in enumerate(laws.drive):
        if drive >= 0:
            ledger.add_work(names.drive[drive], state.work[law, DRIVE_WORK])
    held = bristle_energy(laws.bristle_stiffness, state.bristle)
    for law, rate in enumerate(laws.rate_index):
        lost, left, at_limit = -state.work[law, FRICTION] - held[law], 1.0, -state.work[law, LIMIT]
        if np.isinf(laws.lower[law]) and np.isinf(laws.upper[law]):
            # rounding errors of the friction, where there is no limit
            lost, at_limit = lost + at_limit, 0.0
        for belt, torque in names.belts.get(rate, ()):
            # kinetic levels add up, and share the loss of their sum
            share = torque / laws.kinetic[law]
            left -= share
            ledger.add_loss(f"friction of belt {belt}", share * lost)
        ledger.add_loss(f"friction of {names.rate[rate]}", left * lost)
        ledger.add_loss(f"limits of {names.rate[rate]}", at_limit)
