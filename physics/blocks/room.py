"""Deformable blocks in the steps of a machine.

Before each step the blocks make steps of their own. The links of the machine are driven blocks among them, which move
on with the velocities at the beginning of the step and get the impulses of the others (`multibody.impulse_exchange`).
Blocks at rest sleep (`sleeping`).
"""

from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base.accounts import AccountView, Ledger
from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.labels import ANEW
from grouser.physics.base.phases import NOTHING
from grouser.physics.base.refusal import SMOOTH, Refused, present
from grouser.physics.base.spatial import cross, quaternion_from_matrix, rotated
from grouser.physics.blocks import system as arrays
from grouser.physics.blocks.building import make_workspace as make_block_workspace
from grouser.physics.blocks.motion import advance as make_steps
from grouser.physics.blocks.sleeping import count_rest, wake
from grouser.physics.multibody.impulse_exchange import add_work, apply_impulses, read_work


class System(NamedTuple):
    """Blocks, ground, obstacles and links: the free blocks come first, the shapes of moving links last.

    Attributes:
        blocks: all of them; ground, obstacles and links are driven.
        start: the blocks at the start.
        free: number of blocks that move by themselves.
        first_link: first shape of a moving link.
        row: of the exchange of impulses for each shape of a link, (links,).
        body: of the machine for each row, (rows,).
        steps, rubble_steps: of the blocks in one of the machine while there are bonds, and without.
        rest_steps: steps of the machine after which a cluster at rest sleeps; 0: never.
        rest_speed: below which a block is at rest [m/s].
    """

    blocks: arrays.System
    start: arrays.State
    free: int
    first_link: int
    row: np.ndarray
    body: np.ndarray
    steps: int
    rubble_steps: int
    rest_steps: int
    rest_speed: float


class State(NamedTuple):
    """Blocks, and accounts.

    Attributes:
        blocks: all that a restart of the blocks needs.
        still: steps of the machine for which each block's cluster has been at rest, (free,).
        bounds: lower and upper corner of each block when it was last awake [m], (free, 6).
        borne: load on each block when it was last awake, as of `blocks.system.Workspace` [N, N m], (free, 6).
        work: of the blocks on each row's body since the accounts were opened [J], (rows,).
    """

    blocks: arrays.State
    still: np.ndarray
    bounds: np.ndarray
    borne: np.ndarray
    work: np.ndarray


LABELS: Any = State(arrays.State(*[ANEW] * len(arrays.State._fields)), ANEW, ANEW, ANEW, ANEW)


class Workspace(NamedTuple):
    """Buffers of a step.

    Attributes:
        blocks: of the blocks.
        moved: whether the blocks have made the steps before the next one of the machine, (1,).
        diverged: whether the velocity of a block is no longer finite, (1,).
        cluster: first block found of each block's cluster that is awake, -1 for those that sleep, (free,).
        rested: steps for which a cluster was at rest, by that block; -1 where a link is near or a block moves, (free,).
        queue: blocks of a cluster, (free,).
        speed: largest one of the points of each block [m/s], (blocks,).
        impulse, stiffening, stiffest: of the exchange.
    """

    blocks: arrays.Workspace
    moved: np.ndarray
    diverged: np.ndarray
    cluster: np.ndarray
    rested: np.ndarray
    queue: np.ndarray
    speed: np.ndarray
    impulse: np.ndarray
    stiffening: np.ndarray
    stiffest: np.ndarray


def make_state(system: System) -> State:
    """The blocks at the start."""
    start = arrays.State(*(array.copy() for array in system.start))
    still = np.zeros(system.free, dtype=np.int64)
    bounds, borne = np.zeros((2, system.free, 6))
    return State(start, still, bounds, borne, np.zeros(len(system.body)))


def make_workspace(system: System) -> Workspace:
    """Buffers."""
    rows = len(system.body)
    return Workspace(
        blocks=make_block_workspace(system.blocks, system.start),
        moved=np.zeros(1, dtype=np.bool_),
        diverged=np.zeros(1, dtype=np.bool_),
        cluster=np.full(system.free, -1),
        rested=np.zeros(system.free, dtype=np.int64),
        queue=np.zeros(system.free, dtype=np.int64),
        speed=np.zeros(len(system.blocks.bodies.mass)),
        impulse=np.zeros((rows, 6)),
        stiffening=np.zeros(rows),
        stiffest=np.zeros(2),
    )


def acts(system: System) -> bool:
    """Whether there are blocks."""
    return system.free > 0


def refused(system: System) -> Refused:
    """Refused by smooth integrators: contacts of blocks begin and end."""
    return present({"blocks": acts(system)}, SMOOTH)


# --- the step -------------------------------------------------------------------------------------------------------


@kernel
def request(context: Context):
    """Moves the blocks on by a step of the machine."""
    own, state, work = context.system.blocks, context.state.blocks, context.workspace.blocks
    if work.moved[0]:
        return NOTHING
    step = context.system.settings.step
    place_links(own, state.blocks, context.workspace.multibody.kinematics)
    work.impulse[:] = 0.0
    work.stiffening[:] = 0.0
    if wake(own, state, work, step):
        steps = own.rubble_steps
        for joint in range(state.blocks.live.shape[0]):
            if state.blocks.live[joint]:
                steps = own.steps
                break
        state.blocks.impulse[:] = 0.0
        work.blocks.stiffening[:] = 0.0
        make_steps(own.blocks, state.blocks, work.blocks, step / steps, steps)
        _gather(own, state.blocks, work, context.workspace.multibody.kinematics)
        work.diverged[0] = not count_rest(own, state, work)
    work.moved[0] = True
    return NOTHING


@kernel
def place_links(own: System, state, kinematics):
    """Moves the driven blocks of links to the bodies, and gives them their velocities.

    Args:
        own: system.
        state: of the blocks, changed.
        kinematics: of the bodies.
    """
    origin, start = kinematics.origin, own.blocks.bodies.start
    for link in range(own.row.shape[0]):
        block, i = own.first_link + link, own.body[own.row[link]]
        centre, twist, turn = start[block], kinematics.twist[i], kinematics.rotation[i]
        rx, ry, rz = rotated(turn, centre[0], centre[1], centre[2])
        at = kinematics.position[i]
        rx, ry, rz = rx + at[0], ry + at[1], rz + at[2]
        moved, quaternion = state.displacement[block], state.quaternion[block]
        moved[0], moved[1], moved[2] = (
            origin[0] + rx - centre[0],
            origin[1] + ry - centre[1],
            origin[2] + rz - centre[2],
        )
        quaternion[0], quaternion[1], quaternion[2], quaternion[3] = quaternion_from_matrix(turn)
        vx, vy, vz = cross(twist[3], twist[4], twist[5], rx, ry, rz)
        velocity, spin = state.velocity[block], state.angular_velocity[block]
        velocity[0], velocity[1], velocity[2] = twist[0] + vx, twist[1] + vy, twist[2] + vz
        spin[0], spin[1], spin[2] = twist[3], twist[4], twist[5]


@inlined
def _gather(own, state, work, kinematics):
    """Sums the impulses on the shapes of each body, about the body's origin."""
    for link in range(own.row.shape[0]):
        block, row = own.first_link + link, own.row[link]
        impulse, start, body = state.impulse[block], own.blocks.bodies.start[block], own.body[row]
        at, origin = kinematics.position[body], kinematics.origin
        lx, ly, lz = start[0] - origin[0] - at[0], start[1] - origin[1] - at[1], start[2] - origin[2] - at[2]
        moment = cross(lx, ly, lz, impulse[0], impulse[1], impulse[2])
        for axis in range(3):
            work.impulse[row, axis] += impulse[axis]
            work.impulse[row, 3 + axis] += impulse[3 + axis] + moment[axis]
        work.stiffening[row] += work.blocks.stiffening[block]


@kernel
def apply_forces(context: Context):
    """Adds the impulses of the blocks to the force."""
    own, work = context.system.blocks, context.workspace.blocks
    apply_impulses(context, own.body, work.impulse, work.stiffening, work.stiffest)
    work.moved[0] = False


@kernel
def account(context: Context):
    """Adds the work of the blocks on the bodies."""
    own, work = context.system.blocks, context.workspace.blocks
    add_work(context, own.body, work.impulse, work.stiffening, context.state.blocks.work)


# --- outside of the step --------------------------------------------------------------------------------------------


def open_accounts(view: AccountView) -> None:
    """No work yet."""
    view.state.blocks.work[...] = 0.0


def read_accounts(view: AccountView, ledger: Ledger) -> None:
    """Work of the blocks on each body, by the name of its first link."""
    read_work(view, ledger, "blocks", view.system.blocks.body, view.state.blocks.work)


def clear_outputs(work: Workspace) -> None:
    """Forgets the last step, and one that has begun."""
    work.moved[0] = work.diverged[0] = False
    for output in (work.impulse, work.stiffening, work.stiffest, work.blocks.spring_energy, work.blocks.load):
        output[:] = 0.0
