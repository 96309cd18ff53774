"""Tracks with sprung wheels: the belt's path around wheels that move, its tension on them, and the pads that they bear.

The belt follows its wheels in the order in which it touches them with all joints at zero. A wheel that moves by c
moves the belt across itself: on an arc by c . n, on a span as a straight line between its wheels. Along itself the belt
moves by the sprocket alone. By virtual work, a force on a pad therefore acts on the body that carries the track, on the
sprocket, and with its part out of the path on the two wheels before and behind it, by the rule of the lever.
"""

import math
from typing import TYPE_CHECKING

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.multibody.jacobian import wrench_row
from grouser.physics.tracks.belts import (
    BELT_X,
    BELT_Y,
    BELT_Z,
    MOTION,
    OUT_AHEAD,
    OUT_UP,
    SHARE,
    Tracks,
    TrackWorkspace,
    X,
    Y,
    Z,
)
from grouser.physics.tracks.running_wheels import WHEEL_MOTION

if TYPE_CHECKING:
    from grouser.physics.model.multibody import MultibodyModel
    from grouser.physics.multibody.kinematics import Kinematics

# Spans shorter than this count as this long [m], and wheels nearer to each other [m].
_SHORTEST = 1e-6
# Sharpest bend inward, of half its angle, at which the belt's spans still meet [rad].
_SHARPEST = 1.2
# Below this turn a span is straight [rad].
_STRAIGHT = 1e-9


@inlined
def is_sprung(tracks: Tracks, t):
    """Whether a track has sprung wheels."""
    return tracks.wheels.rows[t] > MOTION


@kernel
def lay_moving_path(tracks: Tracks, t, kinematics: "Kinematics", work: TrackWorkspace):
    """Lays the belt around the wheels where they are now.

    Args:
        tracks, t: a track with sprung wheels.
        kinematics: filled for the current state.
        work: placed; `path` and `wheels` are filled.
    """
    wheels, at = tracks.wheels, work.wheels
    first, end = wheels.start[t], wheels.start[t + 1]
    _place_wheels(tracks, t, kinematics, work)
    for w in range(first, end):
        _find_tangent(wheels.radius, at.centre, w, w + 1 if w + 1 < end else first, at.normal, at.chord)
    for w in range(first, end):
        before = w - 1 if w > first else end - 1
        turn = _turn(at.normal, before, w)
        # where the belt bends inward its spans meet before they come to the wheel
        at.cut[w] = wheels.radius[w] * math.tan(min(-0.5 * turn, _SHARPEST)) if turn < 0.0 else 0.0
    segment, along = tracks.segment_start[t], 0.0
    for w in range(first, end):
        before, behind = w - 1 if w > first else end - 1, w + 1 if w + 1 < end else first
        radius, turn = wheels.radius[w], max(_turn(at.normal, before, w), 0.0)
        ix, iz, ox, oz = at.normal[before, 0], at.normal[before, 1], at.normal[w, 0], at.normal[w, 1]
        x, z = at.centre[w, 0], at.centre[w, 1]
        along = _enter(work, segment, along, radius * turn, x + radius * ix, z + radius * iz, iz, -ix, radius)
        length = max(at.chord[w] - at.cut[w] - at.cut[behind], 0.0)
        x, z = x + radius * ox + at.cut[w] * oz, z + radius * oz - at.cut[w] * ox
        # the upper run hangs down
        curvature = wheels.sag[t] * oz
        half = math.asin(min(0.5 * curvature * length, 1.0)) if oz > 0.0 else 0.0
        if half > _STRAIGHT:
            c, s = math.cos(half), math.sin(half)
            tx, tz = c * oz - s * ox, -c * ox - s * oz
            along = _enter(work, segment + 1, along, 2.0 * half / curvature, x, z, tx, tz, -1.0 / curvature)
        else:
            along = _enter(work, segment + 1, along, length, x, z, oz, -ox, 0.0)
        segment += 2
    stretch = wheels.stiffness[t] * (along - wheels.nominal[t])
    at.tension[t] = max(tracks.pretension[t] + stretch, 0.0)


@inlined
def _place_wheels(tracks: Tracks, t, kinematics: "Kinematics", work: TrackWorkspace):
    """Fills the centres of the wheels, and how far the farthest is from its place."""
    wheels, at, frame = tracks.wheels, work.wheels, work.frame[t]
    farthest = 0.0
    for w in range(wheels.start[t], wheels.start[t + 1]):
        if wheels.row[w] < 0:
            at.centre[w, 0], at.centre[w, 1] = wheels.centre[w, 0], wheels.centre[w, 1]
            continue
        x, y, z = _axle(wheels.body, wheels.place, w, kinematics)
        x, y, z = (
            x - work.centre[t, 0] - work.plane[t, 0],
            y - work.centre[t, 1] - work.plane[t, 1],
            z - work.centre[t, 2] - work.plane[t, 2],
        )
        at.centre[w, 0] = frame[0, 0] * x + frame[0, 1] * y + frame[0, 2] * z
        at.centre[w, 1] = frame[2, 0] * x + frame[2, 1] * y + frame[2, 2] * z
        farthest = max(
            farthest, abs(at.centre[w, 0] - wheels.centre[w, 0]) + abs(at.centre[w, 1] - wheels.centre[w, 1])
        )
    at.moved[t] = farthest


@inlined
def _axle(body, place, w, kinematics: "Kinematics"):
    """Place of a wheel's axle from the kinematics' origin, world axes [m]."""
    b = body[w]
    turn, x, y, z = kinematics.rotation[b], place[w, 0], place[w, 1], place[w, 2]
    return (
        kinematics.position[b, 0] + turn[0, 0] * x + turn[0, 1] * y + turn[0, 2] * z,
        kinematics.position[b, 1] + turn[1, 0] * x + turn[1, 1] * y + turn[1, 2] * z,
        kinematics.position[b, 2] + turn[2, 0] * x + turn[2, 1] * y + turn[2, 2] * z,
    )


@inlined
def _find_tangent(radius, centre, w, behind, normal, chord):
    """Fills the normal and the length of the common tangent of a wheel and the one behind it."""
    x, z = centre[behind, 0] - centre[w, 0], centre[behind, 1] - centre[w, 1]
    less = radius[w] - radius[behind]
    distance = max(math.sqrt(x * x + z * z), abs(less) + _SHORTEST)
    length = math.sqrt(distance * distance - less * less)
    # the supports c . n + r of both wheels are equal
    a, b = less / (distance * distance), length / (distance * distance)
    normal[w, 0], normal[w, 1] = a * x - b * z, a * z + b * x
    chord[w] = length


@inlined
def _turn(normal, before, w):
    """Angle of the belt around a wheel [rad]; negative where it bends inward."""
    cross = normal[before, 0] * normal[w, 1] - normal[before, 1] * normal[w, 0]
    turn = math.atan2(-cross, normal[before, 0] * normal[w, 0] + normal[before, 1] * normal[w, 1])
    return turn + 2.0 * math.pi if turn < -0.5 * math.pi else turn


@inlined
def _enter(work: TrackWorkspace, segment, start, length, x, z, ahead, up, radius):
    """Enters a segment of the path; returns where it ends."""
    path = work.path
    path.start[segment], path.length[segment], path.radius[segment] = start, length, radius
    path.point[segment, 0], path.point[segment, 1] = x, z
    path.direction[segment, 0], path.direction[segment, 1] = ahead, up
    return start + length


@kernel
def fill_wheel_rows(tracks: Tracks, t, model: "MultibodyModel", kinematics: "Kinematics", work: TrackWorkspace):
    """Fills the rows of the Jacobian that are of a track's sprung wheels; they must have been cleared."""
    wheels, frame, rows = tracks.wheels, work.frame[t], work.jacobian[t]
    parent, start, rate, column = model.body_parent, model.column_start, model.column_rate, kinematics.column
    done = MOTION
    for w in range(wheels.start[t], wheels.start[t + 1]):
        if wheels.row[w] != done:
            continue
        done += WHEEL_MOTION
        x, y, z = _axle(wheels.body, wheels.place, w, kinematics)
        for k in range(WHEEL_MOTION):
            ax, ay, az = frame[2 * k, 0], frame[2 * k, 1], frame[2 * k, 2]
            wrench_row(
                *(parent, start, rate, column, wheels.body[w], tracks.body[t], ax, ay, az),
                *(y * az - z * ay, z * ax - x * az, x * ay - y * ax, rows, wheels.row[w] + k),
            )


@kernel
def pull_wheels(tracks: Tracks, t, step: float, work: TrackWorkspace):
    """Adds the belt's tension on its sprung wheels to the force of a track, with its slope.

    The mean tension T acts on each wheel by T (t_behind - t_before) with the directions t of the belt, and resists what
    turns its spans (T over their length) and what lengthens it (its stiffness).

    Args:
        tracks, t: a track with sprung wheels.
        step: h [s].
        work: laid, with the motion; `wrench`, `slope` are changed, `wheels.lengthening` and `wheels.pull` filled.
    """
    wheels, at, motion = tracks.wheels, work.wheels, work.motion[t]
    wrench, slope, longer, pull = work.wrench[t], work.slope[t], at.lengthening[t], at.pull[t]
    first, end, rows, tension = wheels.start[t], wheels.start[t + 1], wheels.rows[t], at.tension[t]
    for k in range(MOTION, rows):
        longer[k] = pull[k] = 0.0
    for w in range(first, end):
        behind = w + 1 if w + 1 < end else first
        a, b = wheels.row[w], wheels.row[behind]
        nx, nz = at.normal[w, 0], at.normal[w, 1]
        # the tangent (n_z, -n_x) points from the wheel to the next
        if a >= 0:
            longer[a] -= nz
            longer[a + 1] += nx
        if b >= 0:
            longer[b] += nz
            longer[b + 1] -= nx
        stiffness = step * tension / max(at.chord[w], _SHORTEST)
        across = 0.0
        if a >= 0:
            across -= nx * motion[a] + nz * motion[a + 1]
        if b >= 0:
            across += nx * motion[b] + nz * motion[b + 1]
        if a >= 0:
            _add_pair(wrench, slope, a, a, nx, nz, stiffness, stiffness * across)
        if b >= 0:
            _add_pair(wrench, slope, b, b, nx, nz, stiffness, -stiffness * across)
        if a >= 0 and b >= 0 and a != b:
            _add_pair(wrench, slope, max(a, b), min(a, b), nx, nz, -stiffness, 0.0)
    growth = 0.0
    for k in range(MOTION, rows):
        growth += longer[k] * motion[k]
    stiffness = step * wheels.stiffness[t] if tension > 0.0 else 0.0
    for k in range(MOTION, rows):
        pull[k] = -tension * longer[k]
        wrench[k] += pull[k] - stiffness * growth * longer[k]
        for m in range(MOTION, k + 1):
            slope[k, m] += stiffness * longer[k] * longer[m]


@inlined
def _add_pair(wrench, slope, a, b, nx, nz, stiffness, force):
    """Adds a force along a normal to the wheel of row a, and its resistance to that of row b <= a."""
    wrench[a] += force * nx
    wrench[a + 1] += force * nz
    slope[a, b] += stiffness * nx * nx
    slope[a + 1, b] += stiffness * nz * nx
    slope[a + 1, b + 1] += stiffness * nz * nz
    if a != b:
        slope[a, b + 1] += stiffness * nx * nz


@inlined
def pull_power(tracks: Tracks, t, end, work: TrackWorkspace):
    """Mean power in the step of the belt's tension on its wheels, with the motion at its end [W]."""
    power, motion, pull = 0.0, work.motion[t], work.wheels.pull[t]
    for k in range(MOTION, tracks.wheels.rows[t]):
        power += 0.5 * pull[k] * (motion[k] + end[k])
    return power


@inlined
def bear(tracks: Tracks, t, segment, at, ahead, up, n, work: TrackWorkspace):
    """Fills in which wheels bear pad n, at a place on a segment of the path with the normal (ahead, up) out of it."""
    wheels, touch = tracks.wheels, work.touch[t]
    number = segment - tracks.segment_start[t]
    w, first, end = wheels.start[t] + number // 2, wheels.start[t], wheels.start[t + 1]
    touch[OUT_AHEAD, n], touch[OUT_UP, n], touch[SHARE, n] = ahead, up, 0.0
    work.bearer[t, 0, n], work.bearer[t, 1, n] = wheels.row[w], -1
    if number % 2 == 1:
        work.bearer[t, 1, n] = wheels.row[w + 1 if w + 1 < end else first]
        touch[SHARE, n] = min((at - work.path.start[segment]) / max(work.path.length[segment], _SHORTEST), 1.0)


@inlined
def borne_speed(work: TrackWorkspace, t, n, motion):
    """Velocity out of the path by which the wheels move pad n, world axes [m/s]."""
    touch, frame, speed = work.touch[t], work.frame[t], 0.0
    ahead, up, share = touch[OUT_AHEAD, n], touch[OUT_UP, n], touch[SHARE, n]
    a, b = work.bearer[t, 0, n], work.bearer[t, 1, n]
    if a >= 0:
        speed += (1.0 - share) * (ahead * motion[a] + up * motion[a + 1])
    if b >= 0:
        speed += share * (ahead * motion[b] + up * motion[b + 1])
    ahead, up = speed * ahead, speed * up
    return (
        ahead * frame[0, 0] + up * frame[2, 0],
        ahead * frame[0, 1] + up * frame[2, 1],
        ahead * frame[0, 2] + up * frame[2, 2],
    )


@kernel
def bear_force(work: TrackWorkspace, t, n, fx, fy, fz, xx, yx, yy, zx, zy, zz):
    """Adds the force on pad n and its resistance, a symmetric matrix, to those on the wheels that bear it."""
    touch, frame, wrench, slope = work.touch[t], work.frame[t], work.wrench[t], work.slope[t]
    ahead, up, share = touch[OUT_AHEAD, n], touch[OUT_UP, n], touch[SHARE, n]
    nx, ny, nz = (
        ahead * frame[0, 0] + up * frame[2, 0],
        ahead * frame[0, 1] + up * frame[2, 1],
        ahead * frame[0, 2] + up * frame[2, 2],
    )
    # resistance to a motion out of the path, and of that motion itself
    rx, ry, rz = xx * nx + yx * ny + zx * nz, yx * nx + yy * ny + zy * nz, zx * nx + zy * ny + zz * nz
    own, force = nx * rx + ny * ry + nz * rz, nx * fx + ny * fy + nz * fz
    x, y, z = touch[X, n], touch[Y, n], touch[Z, n]
    belt = touch[BELT_X, n] * rx + touch[BELT_Y, n] * ry + touch[BELT_Z, n] * rz
    for i in range(2):
        a, by = work.bearer[t, i, n], share if i == 1 else 1.0 - share
        if a < 0:
            continue
        for k in range(WHEEL_MOTION):
            lever = by * (ahead if k == 0 else up)
            row = slope[a + k]
            wrench[a + k] += lever * force
            row[0] += lever * rx
            row[1] += lever * ry
            row[2] += lever * rz
            row[3] += lever * (y * rz - z * ry)
            row[4] += lever * (z * rx - x * rz)
            row[5] += lever * (x * ry - y * rx)
            row[6] += lever * belt
            for j in range(2):
                b, other = work.bearer[t, j, n], share if j == 1 else 1.0 - share
                if b < 0 or b > a or (b == a and j != i):
                    continue
                for m in range(WHEEL_MOTION if b < a else k + 1):
                    row[b + m] += lever * other * (ahead if m == 0 else up) * own
