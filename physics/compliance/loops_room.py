"""Phases of the loop joints: strong dampers and springs in the mass matrix."""

from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base.accounts import AccountView, Ledger
from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import kernel
from grouser.physics.base.labels import ANEW
from grouser.physics.base.refusal import SMOOTH_TREES, Refused, present
from grouser.physics.compliance.loop_rows import (
    LoopRows,
    apply_loop_forces,
    commit_loop_impulses,
    correct_loop_positions,
    make_loop_rows,
)
from grouser.physics.compliance.loops import LoopConstraints
from grouser.physics.constraints.work import account_loops
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.factorisation import solve_transposed
from grouser.physics.multibody.free_body import hold_precession
from grouser.physics.multibody.free_flight import mark_bridge


class State(NamedTuple):
    """What a restart needs.

    Attributes:
        work: of each loop joint on the machine [J].
    """

    work: np.ndarray


LABELS: Any = State(work=ANEW)


class Workspace(NamedTuple):
    """Buffers of a step.

    Attributes:
        rows: one for each direction in which a loop joint acts.
        deflection_start: of the loop joints at the start of a step of the midpoint rule, (loop joints, 6).
    """

    rows: LoopRows
    deflection_start: np.ndarray


def make_state(loops: LoopConstraints) -> State:
    """Empty accounts."""
    return State(np.zeros(len(loops.axis)))


def make_workspace(loops: LoopConstraints, model: MultibodyModel) -> Workspace:
    """Buffers of the right sizes."""
    return Workspace(make_loop_rows(loops, len(model.rate_damping)), np.zeros((len(loops.axis), 6)))


def acts(loops: LoopConstraints) -> bool:
    """Whether there are loop joints."""
    return len(loops.axis) > 0


def refused(loops: LoopConstraints) -> Refused:
    """Refused by integrators for trees: loop joints close loops."""
    return present({"loop joints": len(loops.axis) > 0}, SMOOTH_TREES)


@kernel
def apply_forces(context: Context):
    """Measures the loop joints, and adds them to mass matrix and force."""
    system, motion = context.system, context.workspace.multibody
    apply_loop_forces(
        *(system.multibody, system.loops, motion.kinematics, motion.motion, context.state.v, system.settings.step),
        *(context.workspace.loops.rows, motion.mass, motion.force),
    )


@kernel
def commit(context: Context):
    """Stores the impulses of the loop joints."""
    rows, loops, motion = context.workspace.loops.rows, context.system.loops, context.workspace.multibody
    rows.impulse[:] = 0.0
    commit_loop_impulses(loops, motion.velocity, 1.0, rows)
    for p in range(loops.child_body.shape[0]):
        mark_bridge(context.system.multibody, loops.child_body[p], loops.parent_body[p], motion.touched)


@kernel
def account(context: Context):
    """Adds the work of the loop joints."""
    loops, rows = context.system.loops, context.workspace.loops.rows
    mean = context.workspace.multibody.velocity_mean
    account_loops(
        loops.row_loop, loops.rate_start, loops.rate, rows.impulse, rows.motion.jacobian, mean, context.state.loops.work
    )


@kernel
def correct(context: Context):
    """Closes the gaps of rigid loop joints within the step."""
    system, motion = context.system, context.workspace.multibody
    model, rows = system.multibody, context.workspace.loops.rows
    for p in range(system.loops.child_body.shape[0]):
        # the loop joint's moment acts within the step: what a free body would do is no guide
        hold_precession(model, system.loops.child_body[p], motion.precession)
        hold_precession(model, system.loops.parent_body[p], motion.precession)
    correct_loop_positions(system.loops, rows, system.settings.step, motion.displacement)
    solve_transposed(model, motion.factor, motion.displacement)


def open_accounts(view: AccountView) -> None:
    """Springs of loop joints owe what they hold."""
    view.state.loops.work[:] = -view.loop_energy


def read_accounts(view: AccountView, ledger: Ledger) -> None:
    """Losses in loop joints."""
    works = zip(ledger.owners.loop_joint, view.state.loops.work, view.loop_energy, strict=True)
    for name, work, held in works:
        ledger.add_loss(f"loop joint {name}", -work - held)
