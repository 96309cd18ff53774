"""Pushes: constant forces and moments on links, given from outside."""

from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base.accounts import AccountView, Ledger
from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.labels import ANEW
from grouser.physics.multibody.body_wrench import add_wrench, power_of_wrench


class System(NamedTuple):
    """What can be pushed.

    Attributes:
        body: of each link, -1 for those of the world, (links,).
    """

    body: np.ndarray


class State(NamedTuple):
    """Accounts of pushes.

    Attributes:
        work: of the push on each link since the accounts were opened [J], (links,).
    """

    work: np.ndarray


LABELS: Any = State(work=ANEW)


class Workspace(NamedTuple):
    """Buffers of a step.

    Attributes:
        wrench: force and moment about the origin on each link, world axes, 0 of those not pushed [N, N m], (links, 6).
    """

    wrench: np.ndarray


def make_state(system: System) -> State:
    """No work yet."""
    return State(np.zeros(len(system.body)))


def make_workspace(system: System) -> Workspace:
    """Buffers of the right sizes."""
    return Workspace(np.zeros((len(system.body), 6)))


def acts(system: System) -> bool:
    """Whether there is a link that moves."""
    return bool((system.body >= 0).any())


@kernel
def apply_forces(context: Context):
    """Adds the pushes to the force: on the coordinates that move a link, along their columns."""
    model, motion, push = context.system.multibody, context.workspace.multibody, context.command.push
    for link in range(context.system.pushing.body.shape[0]):
        if not _is_pushed(context, link):
            context.workspace.pushing.wrench[link, :] = 0.0
            continue
        body = context.system.pushing.body[link]
        wrench = context.workspace.pushing.wrench[link]
        _find_wrench(motion.kinematics, body, push[link], wrench)
        motion.touched[body] = True
        add_wrench(model, motion.kinematics.column, body, wrench, motion.force)


@kernel
def account(context: Context):
    """Adds the work of the pushes along the mean rates."""
    model, motion, step = context.system.multibody, context.workspace.multibody, context.system.settings.step
    for link in range(context.system.pushing.body.shape[0]):
        if not _is_pushed(context, link):
            continue
        body, wrench = context.system.pushing.body[link], context.workspace.pushing.wrench[link]
        power = power_of_wrench(model, motion.kinematics.column, body, wrench, motion.velocity_mean)
        context.state.pushing.work[link] += step * power


@inlined
def _is_pushed(context, link):
    """Whether a link is pushed and takes part in the step."""
    body, asleep_with = context.system.pushing.body[link], context.state.sleeping.asleep_with
    return context.command.pushed[link] and body >= 0 and (body >= asleep_with.shape[0] or asleep_with[body] < 0)


@inlined
def _find_wrench(kinematics, body, push, wrench):
    """Moves a push (force, moment, and its place in the body's frame) to the origin."""
    fx, fy, fz = push[0], push[1], push[2]
    turn, at = kinematics.rotation[body], kinematics.position[body]
    x = at[0] + turn[0, 0] * push[6] + turn[0, 1] * push[7] + turn[0, 2] * push[8]
    y = at[1] + turn[1, 0] * push[6] + turn[1, 1] * push[7] + turn[1, 2] * push[8]
    z = at[2] + turn[2, 0] * push[6] + turn[2, 1] * push[7] + turn[2, 2] * push[8]
    wrench[0], wrench[1], wrench[2] = fx, fy, fz
    wrench[3] = push[3] + y * fz - z * fy
    wrench[4] = push[4] + z * fx - x * fz
    wrench[5] = push[5] + x * fy - y * fx


def open_accounts(view: AccountView) -> None:
    """No work yet."""
    view.state.pushing.work[...] = 0.0


def read_accounts(view: AccountView, ledger: Ledger) -> None:
    """Work of the push on each link."""
    for link, work in zip(ledger.owners.link, view.state.pushing.work, strict=True):
        ledger.add_work(f"push on {link}", work)
