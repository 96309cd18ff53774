"""What the motion of shovels does to soil, and what soil in them does to their bodies, in a step of a machine."""

from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import inlined
from grouser.physics.digging.bulk import CAUGHT, LOADED, MASS, SPILLED
from grouser.physics.digging.carried import add_inertia, momentum_of, place_load
from grouser.physics.digging.catching import catch
from grouser.physics.digging.clearance import FORGOTTEN, OFTEN, clearance_of, way_of
from grouser.physics.digging.closing import room_of
from grouser.physics.digging.cutting import MASS as CUT_MASS
from grouser.physics.digging.cutting import cut_soil
from grouser.physics.digging.flight import VELOCITY_X, VELOCITY_Y, VELOCITY_Z
from grouser.physics.digging.flight import X as LOT_X
from grouser.physics.digging.flight import Y as LOT_Y
from grouser.physics.digging.flight import Z as LOT_Z
from grouser.physics.digging.plate import ALONG_X, UP_X, X, rake
from grouser.physics.digging.step import Load, Tool, ToolWorkspace, dig, fill_plate
from grouser.physics.digging.tools import Tools
from grouser.physics.multibody.body_wrench import find_twist
from grouser.physics.soil.ground import SoftGround
from grouser.physics.soil.relaxation import count_restless
from grouser.physics.soil.strata import loose_density

# A shovel that is further from its last pose than this many cells was placed there: it cuts nothing on the way.
_PLACED = 8.0


@inlined
def ground_of(context: Context):
    """Soft ground as `soil` gets it."""
    system = context.system
    return SoftGround(system.soil.soils, system.contact.terrain, system.soil.cell[0], -system.multibody.gravity[2])


@inlined
def tool_of(tools: Tools, t):
    """Shovel t as `dig` gets it."""
    return Tool(tools.width[t], tools.opening[t])


@inlined
def place_plate(context: Context, t):
    """Pose of a plate, and where its edge points, at the start of the step."""
    tools, motion, work = context.system.digging, context.workspace.multibody.kinematics, context.workspace.digging
    i, pose, lip = tools.body[t], work.pose[t], work.lip[t]
    for k in range(3):
        # a body that does not move is in the frame of the world
        at, along, up, points = tools.edge[t, k], tools.along[t, k], tools.up[t, k], tools.lip[t, k]
        if i >= 0:
            turn = motion.rotation[i, k]
            at = motion.origin[k] + motion.position[i, k]
            along = up = points = 0.0
            for m in range(3):
                at += turn[m] * tools.edge[t, m]
                along += turn[m] * tools.along[t, m]
                up += turn[m] * tools.up[t, m]
                points += turn[m] * tools.lip[t, m]
        pose[X + k], pose[ALONG_X + k], pose[UP_X + k], lip[k] = at, along, up, points


@inlined
def last_pose(context: Context, ground: SoftGround, t):
    """The pose of a plate at the start of the last step; of a shovel that has just been placed, that of this one."""
    placed = _is_placed(context, ground, t)
    return context.workspace.digging.pose[t] if placed else context.state.digging.pose[t]


@inlined
def _is_placed(context: Context, ground: SoftGround, t):
    """Whether a shovel has not come from its last pose by its motion."""
    now, last = context.workspace.digging.pose[t], context.state.digging.pose[t]
    way, turned = 0.0, 0.0
    for k in range(3):
        way += (now[X + k] - last[X + k]) ** 2
        turned += now[UP_X + k] * last[UP_X + k]
    return way > (_PLACED * ground.spacing) ** 2 or turned <= 0.0


@inlined
def carry(context: Context, t):
    """Adds what a shovel carries to the inertia of its body, and takes its momentum off the impulse on the body."""
    tools, state, work = context.system.digging, context.state, context.workspace.digging
    motion, body, carried = context.workspace.multibody.kinematics, tools.body[t], state.digging.carried[t]
    place_load(tools, t, work.pose[t], work.closure[t], state.digging.bulk[t], carried)
    if body >= 0:
        find_twist(context.system.multibody, motion.column, body, state.v, work.twist)
        add_momentum(context, t, -1.0)
        add_inertia(carried, motion.rotation, motion.position, body, motion.inertia)


@inlined
def follow_clearance(context: Context, ground: SoftGround):
    """Takes off the clearance of each shovel what it has moved, and measures it anew now and then."""
    tools, state, work = context.system.digging, context.state, context.workspace.digging
    step, moves = state.step_count[0], count_restless(state.soil) > 0
    for t in range(tools.body.shape[0]):
        moves = moves or state.digging.air_count[t] > 0
    for t in range(tools.body.shape[0]):
        clearance, pose = state.digging.clearance, work.pose[t]
        clearance[t] -= way_of(tools, t, last_pose(context, ground, t), pose)
        if moves or step % FORGOTTEN == 0 or _is_placed(context, ground, t):
            clearance[t] = 0.0
        if clearance[t] <= 0.0 and step % OFTEN == 0 and not moves:
            clearance[t] = clearance_of(ground, tools, t, pose, state.soil)


@inlined
def dig_by_motion(context: Context, ground: SoftGround, t):
    """Cuts, loads, pushes and spills by the motion of a shovel; what is spilled takes its momentum along."""
    tools, state, work = context.system.digging, context.state.digging, context.workspace.digging
    origin, step = context.workspace.multibody.kinematics.origin, context.system.settings.step
    load = Load(state.bulk[t], state.air[t], state.air_count[t : t + 1])
    buffers = ToolWorkspace(work.plates[t], work.lot, work.cut)
    last = last_pose(context, ground, t)
    if context.system.granular.lumps.mass > 0.0:
        _crumble(context, ground, t, last)
        return
    pose = work.pose[t]
    room = room_of(tools, t, rake(pose), work.closure[t])
    loaded, spilled = dig(ground, tool_of(tools, t), room, step, last, pose, context.state.soil, load, buffers)
    state.taken[t, LOADED] += loaded
    state.taken[t, SPILLED] += spilled
    for k in range(work.cut.shape[0]):
        work.furthest[t, k] = max(work.furthest[t, k], work.cut[k])
    if spilled > 0.0:
        lot, given = work.lot, work.given[t]
        x, y, z = lot[LOT_X] - origin[0], lot[LOT_Y] - origin[1], lot[LOT_Z] - origin[2]
        px, py, pz = spilled * lot[VELOCITY_X], spilled * lot[VELOCITY_Y], spilled * lot[VELOCITY_Z]
        given[0] -= px
        given[1] -= py
        given[2] -= pz
        given[3] -= y * pz - z * py
        given[4] -= z * px - x * pz
        given[5] -= x * py - y * px


@inlined
def _crumble(context: Context, ground: SoftGround, t, last):
    """Cuts by the motion of a shovel; what is cut is to become lumps."""
    tools, state, work = context.system.digging, context.state, context.workspace.digging
    cut_soil(ground, tools.width[t], last, work.pose[t], state.soil, work.cut)
    state.digging.crumbs[t] += work.cut[CUT_MASS]
    state.digging.taken[t, LOADED] += work.cut[CUT_MASS]
    for k in range(work.cut.shape[0]):
        work.furthest[t, k] = max(work.furthest[t, k], work.cut[k])
    fill_plate(ground, tool_of(tools, t), work.pose[t], state.soil, work.plates[t])


@inlined
def catch_all(context: Context, ground: SoftGround, t):
    """Lets the other buckets catch what has left shovel t."""
    tools, state, work = context.system.digging, context.state.digging, context.workspace.digging
    origin, step = context.workspace.multibody.kinematics.origin, context.system.settings.step
    for c in range(tools.body.shape[0]):
        if c == t or not tools.carries[c]:
            continue
        work.gained[:] = 0.0
        before = state.bulk[c, MASS]
        catch(
            *(tools, c, last_pose(context, ground, c), work.pose[c], step, ground.gravity),
            *(loose_density(ground.soils, 0), state.air[t], state.air_count[t : t + 1], state.bulk[c], work.gained),
        )
        state.taken[c, CAUGHT] += state.bulk[c, MASS] - before
        gained, given = work.gained, work.given[c]
        for k in range(6):
            given[k] += gained[k]
        given[3] -= origin[1] * gained[2] - origin[2] * gained[1]
        given[4] -= origin[2] * gained[0] - origin[0] * gained[2]
        given[5] -= origin[0] * gained[1] - origin[1] * gained[0]


@inlined
def add_momentum(context: Context, t, sign):
    """Adds the momentum of what a shovel carries at its body's twist to the impulse on the body, times a sign."""
    body, carried = context.system.digging.body[t], context.state.digging.carried[t]
    if body >= 0 and carried[0] > 0.0:
        motion, given = context.workspace.multibody.kinematics, context.workspace.digging.given[t]
        momentum = momentum_of(carried, motion.rotation, motion.position, body, context.workspace.digging.twist)
        for k in range(6):
            given[k] += sign * momentum[k]
