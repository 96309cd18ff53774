"""Shovels in soft ground in the steps of a machine.

At its start a step cuts the soil between the poses of each plate at the starts of the last step and of this one, loads,
pushes, spills and lets soil slide. What the shovels carry joins the inertia of their bodies. Then the limits of what
holds each shovel are found (`resistance`), which become rows of the solver.
"""

from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base.accounts import AccountView, Ledger
from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.labels import ANEW, SHOVEL, WHOLE
from grouser.physics.base.phases import MORE_TILES, NOTHING
from grouser.physics.base.refusal import SMOOTH, Refused, present
from grouser.physics.constraints.rows import Rows, close_row, dot, hold_against, open_row
from grouser.physics.digging.bulk import BULK, MASS
from grouser.physics.digging.carried import CARRIED, centre_of, momentum_of
from grouser.physics.digging.closing import closure_of
from grouser.physics.digging.cutting import CUT as CUT_FOUND
from grouser.physics.digging.flight import LOT, LOTS, fall
from grouser.physics.digging.flight import MASS as LOT_MASS
from grouser.physics.digging.moving import (
    add_momentum,
    carry,
    catch_all,
    dig_by_motion,
    follow_clearance,
    ground_of,
    last_pose,
    place_plate,
    tool_of,
)
from grouser.physics.digging.plate import POSE
from grouser.physics.digging.resistance import (
    CUT,
    PENETRATE,
    SIDE,
    WAYS,
    Resistance,
    make_resistance,
    measure_resistance,
)
from grouser.physics.digging.step import tiles_of_tool
from grouser.physics.digging.tools import STRIPS, Tools
from grouser.physics.multibody.body_wrench import add_wrench, find_twist, power_of_wrench
from grouser.physics.multibody.jacobian import block_of, wrench_row
from grouser.physics.soil.relaxation import (
    HALF_THICKNESS,
    PLATE,
    RelaxationWorkspace,
    count_restless,
    make_relaxation_workspace,
    relax_soil,
    tiles_of_slides,
)

# Columns of the accounts: the ways of `resistance`, then what the shovel carries.
CARRYING = WAYS
WORKS = WAYS + 1
# A shovel that is slower than this against the soil is held by it: above the rounding of a solution [m/s].
_RESTS = 1e-9


class State(NamedTuple):
    """State of the shovels.

    Attributes:
        pose: of each plate at the start of the last step, (tools, POSE); zeros before the first.
        bulk: solid mass [kg] and loose volume [m3] that each carries, (tools, BULK).
        carried: the same as mass on its body, as of `carried`, (tools, CARRIED).
        air, air_count: soil that has left each and not landed, (tools, LOTS, LOT) and (tools,).
        travel: of each against CUT and PENETRATE [m], (tools, 2).
        clearance: way that each can move without touching the ground; not above 0: unknown [m], (tools,).
        failure: planes of failure of each strip, 0 for none [rad], (tools, STRIPS, 2).
        taken: solid mass that each has loaded, caught and spilled since the accounts were opened [kg], (tools, 3).
        work: of soil on each since then [J], (tools, WORKS).
        crumbs: solid mass that each has cut and that is no lump yet, where soil becomes lumps [kg], (tools,).
        formed: number of lumps that each has made, (tools,).
        departed: solid mass of soil that machines took along when they were removed [kg], (1,).
    """

    pose: np.ndarray
    bulk: np.ndarray
    carried: np.ndarray
    air: np.ndarray
    air_count: np.ndarray
    travel: np.ndarray
    clearance: np.ndarray
    failure: np.ndarray
    taken: np.ndarray
    work: np.ndarray
    crumbs: np.ndarray
    formed: np.ndarray
    departed: np.ndarray


LABELS: Any = State(
    pose=SHOVEL,
    bulk=SHOVEL,
    carried=SHOVEL,
    air=SHOVEL,
    air_count=SHOVEL,
    travel=SHOVEL,
    clearance=SHOVEL,
    failure=SHOVEL,
    taken=ANEW,
    work=ANEW,
    crumbs=SHOVEL,
    formed=SHOVEL,
    departed=WHOLE,
)


class Workspace(NamedTuple):
    """Buffers of a step.

    Attributes:
        pose: of each plate at the start of the step, (tools, POSE).
        lip: unit vector in which each edge points, world axes, (tools, 3).
        plates: of all shovels, as of `relax_soil`, (tools, PLATE).
        lot, cut: of `dig`.
        furthest: greatest of what `cut_soil` found for each shovel in all steps, (tools, CUT_FOUND).
        slides: buffers of `relax_soil`.
        resistance: what holds the shovels.
        row: row of each way, -1 for none, (tools, WAYS).
        force: of each way in the last step [N], (tools, WAYS).
        closure: share to which others close the opening of each, (tools,).
        inertia: part of that of CUT by the inertia of the wedge [N], (tools,).
        acting: whether soil holds each, is in it, or came or went, (tools,).
        given: impulse of soil that came, went or shifted on each body, and its moment about the origin, (tools, 6).
        gained: momentum that came with caught soil, (6,).
        twist, end_twist: of a body, (6,).
    """

    pose: np.ndarray
    lip: np.ndarray
    plates: np.ndarray
    lot: np.ndarray
    cut: np.ndarray
    furthest: np.ndarray
    slides: RelaxationWorkspace
    resistance: Resistance
    row: np.ndarray
    force: np.ndarray
    closure: np.ndarray
    inertia: np.ndarray
    acting: np.ndarray
    given: np.ndarray
    gained: np.ndarray
    twist: np.ndarray
    end_twist: np.ndarray


def make_state(tools: Tools) -> State:
    """Empty shovels."""
    count = len(tools.body)
    return State(
        pose=np.zeros((count, POSE)),
        bulk=np.zeros((count, BULK)),
        carried=np.zeros((count, CARRIED)),
        air=np.zeros((count, LOTS, LOT)),
        air_count=np.zeros(count, dtype=np.int64),
        travel=np.zeros((count, 2)),
        clearance=np.zeros(count),
        failure=np.zeros((count, STRIPS, 2)),
        taken=np.zeros((count, 3)),
        work=np.zeros((count, WORKS)),
        crumbs=np.zeros(count),
        formed=np.zeros(count, dtype=np.int64),
        departed=np.zeros(1),
    )


def mass_by_shovel(state: State) -> tuple[np.ndarray, np.ndarray]:
    """Solid mass that each shovel carries, and of its soil that is in the air or no lump yet [kg], (tools,) each."""
    in_air = np.arange(LOTS) < state.air_count[:, np.newaxis]
    return state.bulk[:, MASS].copy(), np.where(in_air, state.air[:, :, LOT_MASS], 0.0).sum(axis=1) + state.crumbs


def make_workspace(tools: Tools) -> Workspace:
    """Buffers of the right sizes."""
    count = len(tools.body)
    return Workspace(
        pose=np.zeros((count, POSE)),
        lip=np.zeros((count, 3)),
        plates=np.zeros((count, PLATE)),
        lot=np.zeros(LOT),
        cut=np.zeros(CUT_FOUND),
        furthest=np.zeros((count, CUT_FOUND)),
        slides=make_relaxation_workspace(),
        resistance=make_resistance(count),
        row=np.full((count, WAYS), -1, dtype=np.int64),
        force=np.zeros((count, WAYS)),
        closure=np.zeros(count),
        inertia=np.zeros(count),
        acting=np.zeros(count, dtype=np.bool_),
        given=np.zeros((count, 6)),
        gained=np.zeros(6),
        twist=np.zeros(6),
        end_twist=np.zeros(6),
    )


def acts(tools: Tools) -> bool:
    """Whether there are shovels on soft ground."""
    return len(tools.body) > 0


def refused(tools: Tools) -> Refused:
    """Refused by smooth integrators: soil fails."""
    return present({"shovels on soil": acts(tools)}, SMOOTH)


# --- the soil -------------------------------------------------------------------------------------------------------


@kernel
def request(context: Context):
    """Requests larger arrays when a step might open more tiles than they can hold."""
    tools, state, ground = context.system.digging, context.state, ground_of(context)
    tiles = context.system.soil.tiles[0] + tiles_of_slides(state.soil)
    for t in range(tools.body.shape[0]):
        place_plate(context, t)
        pose = context.workspace.digging.pose[t]
        tiles += tiles_of_tool(ground, tool_of(tools, t), last_pose(context, ground, t), pose)
        # lots land in different places
        tiles += 4 * state.digging.air_count[t]
    return MORE_TILES if state.soil.tile_count[0] + tiles > state.soil.tile_place.shape[0] else NOTHING


@kernel
def detect(context: Context):
    """Moves soil by the motion of the last step, and finds what holds the shovels in this one."""
    tools, state, work = context.system.digging, context.state, context.workspace.digging
    ground, step, motion = ground_of(context), context.system.settings.step, context.workspace.multibody
    work.given[:] = 0.0
    follow_clearance(context, ground)
    for t in range(tools.body.shape[0]):
        work.plates[t, HALF_THICKNESS] = 0.0
        work.closure[t] = closure_of(tools, t, work.pose, work.resistance.depth, ground.spacing)
        if state.digging.clearance[t] <= 0.0 or state.digging.bulk[t, MASS] > 0.0:
            find_twist(context.system.multibody, motion.kinematics.column, tools.body[t], state.v, work.twist)
            add_momentum(context, t, 1.0)
            dig_by_motion(context, ground, t)
    for t in range(tools.body.shape[0]):
        count = state.digging.air_count[t : t + 1]
        if count[0] > 0:
            catch_all(context, ground, t)
            fall(ground, step, state.digging.air[t], count, state.soil)
    if count_restless(state.soil) > 0:
        relax_soil(ground, work.plates, state.soil, work.slides)
    for t in range(tools.body.shape[0]):
        if state.digging.bulk[t, MASS] > 0.0 or state.digging.carried[t, 0] > 0.0:
            carry(context, t)
        if state.digging.clearance[t] > 0.0:
            work.resistance.limit[t, :] = 0.0
            work.resistance.mass[t] = work.resistance.depth[t] = 0.0
        else:
            find_twist(context.system.multibody, motion.kinematics.column, tools.body[t], state.v, work.twist)
            measure_resistance(
                *(ground, tools, t, work.pose[t], motion.kinematics.origin, work.twist, work.lip[t]),
                *(state.digging.travel[t], state.digging.failure[t], state.soil, work.resistance),
            )
        work.acting[t] = tools.body[t] >= 0 and _is_acting(context, t)
        for k in range(POSE):
            state.digging.pose[t, k] = work.pose[t, k]


@inlined
def _is_acting(context: Context, t):
    """Whether soil holds a shovel, is in it, or came or went."""
    work = context.workspace.digging
    acting = context.state.digging.carried[t, 0] > 0.0
    for way in range(WAYS):
        acting = acting or work.resistance.limit[t, way] > 0.0
    for k in range(6):
        acting = acting or work.given[t, k] != 0.0
    return acting


# --- the machine ----------------------------------------------------------------------------------------------------


@kernel
def apply_forces(context: Context):
    """Adds the impulses of soil that came, went or shifted to the force."""
    tools, motion, work = context.system.digging, context.workspace.multibody, context.workspace.digging
    step = context.system.settings.step
    for t in range(tools.body.shape[0]):
        if work.acting[t]:
            motion.touched[tools.body[t]] = True
            wrench = _given_wrench(work, t, step)
            add_wrench(context.system.multibody, motion.kinematics.column, tools.body[t], wrench, motion.force)


@inlined
def _given_wrench(work: Workspace, t, step):
    """Mean wrench of the impulse on the body of a shovel over the step."""
    given = work.given[t]
    return (given[0] / step, given[1] / step, given[2] / step, given[3] / step, given[4] / step, given[5] / step)


@kernel
def open_rows(context: Context):
    """Opens a row for each way in which soil can hold a shovel."""
    tools, model, step = context.system.digging, context.system.multibody, context.system.settings.step
    work, motion, rows = context.workspace.digging, context.workspace.multibody, context.workspace.constraints.rows
    stored = context.state.constraints.row_impulse
    first_slot = stored.shape[0] - WAYS * tools.body.shape[0]
    for t in range(tools.body.shape[0]):
        body = tools.body[t]
        first, last = block_of(model, body)
        for way in range(WAYS):
            limit = step * work.resistance.limit[t, way]
            mass = work.resistance.mass[t] if way == CUT else 0.0
            work.row[t, way] = -1
            if body < 0 or (limit <= 0.0 and mass <= 0.0):
                continue
            slot = first_slot + WAYS * t + way
            remembered = stored[slot]
            impulse = min(max(remembered, -limit if way == SIDE else 0.0), limit)
            r = open_row(rows, slot, impulse, first, last)
            unit = work.resistance.wrench[t, way]
            wrench_row(
                *(model.body_parent, model.column_start, model.column_rate, motion.kinematics.column, body, -1),
                *(unit[0], unit[1], unit[2], unit[3], unit[4], unit[5], rows.jacobian, r),
            )
            close_row(rows, r, model, motion.factor)
            if way == SIDE:
                rows.hold_bound[r] = limit
            else:
                hold_against(rows, r, limit, mass, min(_speed_along(rows, r, context.state.v), 0.0))
            work.row[t, way] = r


@inlined
def _speed_along(rows: Rows, r, velocity):
    """Speed along row r at rates of the coordinates."""
    total = 0.0
    for d in range(rows.first[r], rows.last[r]):
        total += rows.jacobian[r, d] * velocity[d]
    return total


@kernel
def commit(context: Context):
    """Notes forces, and how far each shovel has moved against what held it."""
    tools, state, step = context.system.digging, context.state.digging, context.system.settings.step
    work, motion, rows = context.workspace.digging, context.workspace.multibody, context.workspace.constraints.rows
    for t in range(tools.body.shape[0]):
        for way in range(WAYS):
            r = work.row[t, way]
            work.force[t, way] = rows.impulse[r] / step if r >= 0 else 0.0
        work.inertia[t] = _inertia(work, rows, t, motion.velocity)
        for way in (CUT, PENETRATE):
            state.travel[t, way] = _next_travel(context, t, way, motion.velocity)


@inlined
def _inertia(work: Workspace, rows: Rows, t, velocity):
    """Part of the force of CUT beyond that of a slow and steady motion; none where the soil holds the shovel [N]."""
    r = work.row[t, CUT]
    if r < 0 or not _speed_along(rows, r, velocity) < -_RESTS:
        return 0.0
    return work.force[t, CUT] - (work.resistance.limit[t, CUT] - work.resistance.momentum[t])


@inlined
def _next_travel(context: Context, t, way, velocity):
    """How far a shovel has moved against soil, within its depth: back where it turns back."""
    work, state, step = context.workspace.digging, context.state.digging, context.system.settings.step
    depth = work.resistance.depth[t]
    if work.row[t, way] < 0 and not depth > 0.0:
        return 0.0
    unit = work.resistance.wrench[t, way]
    find_twist(
        context.system.multibody,
        context.workspace.multibody.kinematics.column,
        context.system.digging.body[t],
        velocity,
        work.twist,
    )
    speed = dot(unit, work.twist)
    return min(max(state.travel[t, way] - step * speed, 0.0), depth)


@kernel
def account(context: Context):
    """Adds the work of soil on the shovels along the mean rates."""
    tools, model, step = context.system.digging, context.system.multibody, context.system.settings.step
    work, motion, rows = context.workspace.digging, context.workspace.multibody, context.workspace.constraints.rows
    column, velocity = motion.kinematics.column, motion.velocity_mean
    for t in range(tools.body.shape[0]):
        sums, body = context.state.digging.work[t], tools.body[t]
        for way in range(WAYS):
            r = work.row[t, way]
            if r >= 0:
                unit = work.resistance.wrench[t, way]
                along = (unit[0], unit[1], unit[2], unit[3], unit[4], unit[5])
                sums[way] += rows.impulse[r] * power_of_wrench(model, column, body, along, velocity)
        if work.acting[t]:
            sums[CARRYING] += step * power_of_wrench(model, column, body, _given_wrench(work, t, step), velocity)
            sums[CARRYING] += _work_of_load(context, t)


@inlined
def _work_of_load(context: Context, t):
    """Work on a body in a step by the inertia and the weight of what it carries [J]."""
    model, motion, work = context.system.multibody, context.workspace.multibody, context.workspace.digging
    kinematics, body, carried = motion.kinematics, context.system.digging.body[t], context.state.digging.carried[t]
    rotation, position, gravity = kinematics.rotation, kinematics.position, model.gravity
    find_twist(model, kinematics.column, body, motion.velocity_start, work.twist)
    find_twist(model, kinematics.column, body, motion.velocity, work.end_twist)
    before = momentum_of(carried, rotation, position, body, work.twist)
    after = momentum_of(carried, rotation, position, body, work.end_twist)
    x, y, z = centre_of(carried, rotation, position, body)
    total = 0.0
    for k in range(6):
        total += 0.5 * (before[k] * work.twist[k] - after[k] * work.end_twist[k])
        work.twist[k] = 0.5 * (work.twist[k] + work.end_twist[k])
    vx = work.twist[0] + work.twist[4] * z - work.twist[5] * y
    vy = work.twist[1] + work.twist[5] * x - work.twist[3] * z
    vz = work.twist[2] + work.twist[3] * y - work.twist[4] * x
    return total + context.system.settings.step * carried[0] * (gravity[0] * vx + gravity[1] * vy + gravity[2] * vz)


# --- outside of the step --------------------------------------------------------------------------------------------


def open_accounts(view: AccountView) -> None:
    """No work yet, and nothing moved."""
    view.state.digging.work[...] = 0.0
    view.state.digging.taken[...] = 0.0


def read_accounts(view: AccountView, ledger: Ledger) -> None:
    """Losses in the soil that each shovel cuts or presses; work of what it carries."""
    for name, work in zip(ledger.owners.shovel, view.state.digging.work, strict=False):
        ledger.add_loss(f"soil cut by {name}", -float(work[:WAYS].sum()))
        ledger.add_work(f"soil in {name}", work[CARRYING])
