"""Elastic links as a whole: what their stations add to the equations of motion, without a body for each.

In the axes of the link, a station with the shapes t_a and r_a is displaced from its place x to

    r = x + (1 - c s) d - 1/2 s e,    d = sum q_a t_a,  s = q^T H q,

and moves at dr/dq_a = (1 - c s) t_a - (H q)_a g with g = e + 2 c d. With the acceleration A of the link's frame and
its rates w and w', the force on the mass m is

    f = m (A + w' x r + w x (w x r + 2 dr/dt) + d2r/dt2),

and the forces along the coordinates are dr/dq_a . f. A station with rotary inertia J turns by the rotation vector sum
q_a r_a; its moment is J W' + W x J W of its angular velocity W. Sums over the stations make the wrench on the link's
frame, the inertia of the bent link, and its coupling with the coordinates (`docs/flexible_links.md`).
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.base.spatial import (
    cross,
    cross_polynomial,
    rotated,
    rotated_back,
    turning_bias,
    turning_coefficients,
)

if TYPE_CHECKING:
    from grouser.physics.model.elastic_links import ElasticLinks
    from grouser.physics.model.multibody import MultibodyModel
    from grouser.physics.multibody.mass import MassMatrix
    from grouser.physics.multibody.spans import Span


class ElasticMotion(NamedTuple):
    """Motion of all elastic links; vectors are in the axes of the link, rows are those of `ElasticLinks`.

    Attributes:
        rotation, position: world from link, and its origin from that of the kinematics, world axes, (links, 3, 3) and
            (links, 3) [m].
        inertia: of each bent link about the kinematics' origin, world axes, (links, 10), in the order of `spatial`.
        place: r, (stations, 3) [m].
        deflection: d, (stations, 3) [m].
        kept: 1 - c s, (stations,).
        pull: g, (stations, 3).
        slope: H q, (rows,).
        turn: rotation vector, (stations, 3) [rad].
        turning: angular velocity per unit of each rate; of links that turn about one axis their shape, (3, rows).
        station_inertia: rotary inertia in the axes of the link, (stations, 6) [kg m2].
        velocity, acceleration: dr/dt, and d2r/dt2 at constant rates, (stations, 3) [m/s, m/s2].
        spin, spin_change: angular velocity in the link, and its change at constant rates, (stations, 3).
        column: buffer: dr/dq_a of one station, (3, coordinates of the largest link) [m].
        momentum: buffer: linear and angular momentum about the link's origin per unit of each rate, (coordinates of the
            largest link, 6).
    """

    rotation: np.ndarray
    position: np.ndarray
    inertia: np.ndarray
    place: np.ndarray
    deflection: np.ndarray
    kept: np.ndarray
    pull: np.ndarray
    slope: np.ndarray
    turn: np.ndarray
    turning: np.ndarray
    station_inertia: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    spin: np.ndarray
    spin_change: np.ndarray
    column: np.ndarray
    momentum: np.ndarray


def make_elastic_motion(links: "ElasticLinks") -> ElasticMotion:
    """Zeroed arrays of the right sizes."""
    count, stations, rows = len(links.body), len(links.mass), links.shape.shape[1]
    largest = int(np.max(links.size, initial=0))
    vectors = ("place", "deflection", "pull", "turn", "velocity", "acceleration", "spin", "spin_change")
    return ElasticMotion(
        rotation=np.zeros((count, 3, 3)),
        position=np.zeros((count, 3)),
        inertia=np.zeros((count, 10)),
        kept=np.zeros(stations),
        slope=np.zeros(rows),
        turning=links.shape[3:].copy(),
        station_inertia=np.zeros((stations, 6)),
        column=np.zeros((3, largest)),
        momentum=np.zeros((largest, 6)),
        **{name: np.zeros((stations, 3)) for name in vectors},
    )


@inlined
def is_link_in(links: "ElasticLinks", link, span: "Span"):
    """Whether a span has the coordinates of an elastic link."""
    return span.rate <= links.rate[link] < span.rate_end


@kernel
def place_elastic_link(links: "ElasticLinks", link, q, motion: ElasticMotion):
    """Places and columns of the stations, and the inertia of the bent link.

    Args:
        links: the elastic links.
        link: one of them.
        q: positions.
        motion: result; `rotation` and `position` of the link are given.
    """
    link = np.uintp(link)
    shape, shortening, slope, turning = links.shape, links.shortening, motion.slope, motion.turning
    moved, at, count = links.moved[link], links.q[link], links.size[link]
    bent, bent_end = links.bent[link, 0], links.bent[link, 1]
    hinge = _hinge(moved)
    mass = hx = hy = hz = xx = xy = xz = yy = yz = zz = 0.0
    straight, axes, contraction, masses, inertias = (
        links.place,
        links.axis,
        links.contraction,
        links.mass,
        links.inertia,
    )
    places, deflections, shares, pulls, turns = motion.place, motion.deflection, motion.kept, motion.pull, motion.turn
    for p in range(links.station_start[link], links.station_start[link + np.uintp(1)]):
        row = links.row_start[link] + (p - links.station_start[link]) * count
        dx = _along(shape, 0, moved, row, q, at)
        dy = _along(shape, 1, moved, row, q, at)
        dz = _along(shape, 2, moved, row, q, at)
        square, entry = 0.0, links.shortening_start[p]
        for a in range(bent, bent_end):
            total = 0.0
            for b in range(bent, bent_end):
                total += shortening[entry] * q[at + b]
                entry += np.uintp(1)
            slope[row + a] = total
            square += total * q[at + a]
        lost, half = contraction[p], 0.5 * square
        kept = 1.0 - lost * square
        ex, ey, ez = axes[p, 0], axes[p, 1], axes[p, 2]
        x = straight[p, 0] + kept * dx - half * ex
        y = straight[p, 1] + kept * dy - half * ey
        z = straight[p, 2] + kept * dz - half * ez
        shares[p] = kept
        deflections[p, 0], deflections[p, 1], deflections[p, 2] = dx, dy, dz
        pulls[p, 0], pulls[p, 1] = ex + 2.0 * lost * dx, ey + 2.0 * lost * dy
        pulls[p, 2] = ez + 2.0 * lost * dz
        places[p, 0], places[p, 1], places[p, 2] = x, y, z
        m = masses[p]
        mass += m
        hx, hy, hz = hx + m * x, hy + m * y, hz + m * z
        xx, yy, zz = xx + m * (y * y + z * z), yy + m * (x * x + z * z), zz + m * (x * x + y * y)
        xy, xz, yz = xy - m * x * y, xz - m * x * z, yz - m * y * z
        if links.turns[link]:
            rx = _along(shape, 3, moved, row, q, at)
            ry = _along(shape, 4, moved, row, q, at)
            rz = _along(shape, 5, moved, row, q, at)
            turns[p, 0], turns[p, 1], turns[p, 2] = rx, ry, rz
            angle_square = rx * rx + ry * ry + rz * rz
            second, third = turning_coefficients(angle_square)
            s = motion.station_inertia[p]
            if hinge < 3:
                sine, cosine = (1.0 - third * angle_square) * (rx + ry + rz), 1.0 - second * angle_square
                _turn_about_axis(inertias[p], hinge, cosine, sine, s)
            else:
                t00, t01, t02, t10, t11, t12, t20, t21, t22 = cross_polynomial(rx, ry, rz, second, third)
                for a in range(row + links.turned[link, 0], row + links.turned[link, 1]):
                    ux, uy, uz = shape[3, a], shape[4, a], shape[5, a]
                    turning[0, a] = t00 * ux + t01 * uy + t02 * uz
                    turning[1, a] = t10 * ux + t11 * uy + t12 * uz
                    turning[2, a] = t20 * ux + t21 * uy + t22 * uz
                s[0], s[1], s[2], s[3], s[4], s[5] = turned_inertia(
                    inertias[p], *cross_polynomial(rx, ry, rz, 1.0 - third * angle_square, second)
                )
            xx, xy, xz, yy, yz, zz = xx + s[0], xy + s[1], xz + s[2], yy + s[3], yz + s[4], zz + s[5]
    _write_inertia(motion, link, mass, hx, hy, hz, xx, xy, xz, yy, yz, zz)


@inlined
def _hinge(moved):
    """The only axis of a link that its stations turn about, 0 to 2; 3 if there is none, or more.

    About one axis, the angular velocity is the change of the rotation vector: `turning` is the shape itself.
    """
    axis, axes = np.uintp(3), 0
    for k in range(np.uintp(3)):
        if moved[np.uintp(3) + k, 1] > moved[np.uintp(3) + k, 0]:
            axis, axes = k, axes + 1
    return axis if axes == 1 else np.uintp(3)


@inlined
def _turn_about_axis(s, axis, c, w, result):
    """An inertia xx xy xz yy yz zz, turned about an axis by the angle of a cosine c and a sine w."""
    xx, xy, xz, yy, yz, zz = s[0], s[1], s[2], s[3], s[4], s[5]
    if axis == 0:
        result[0], result[1], result[2] = xx, c * xy - w * xz, w * xy + c * xz
        cross = 2.0 * c * w * yz
        result[3], result[5] = c * c * yy + w * w * zz - cross, w * w * yy + c * c * zz + cross
        result[4] = c * w * (yy - zz) + (c * c - w * w) * yz
    elif axis == 1:
        result[3], result[4], result[1] = yy, c * yz - w * xy, w * yz + c * xy
        cross = 2.0 * c * w * xz
        result[5], result[0] = c * c * zz + w * w * xx - cross, w * w * zz + c * c * xx + cross
        result[2] = c * w * (zz - xx) + (c * c - w * w) * xz
    else:
        result[5], result[2], result[4] = zz, c * xz - w * yz, w * xz + c * yz
        cross = 2.0 * c * w * xy
        result[0], result[3] = c * c * xx + w * w * yy - cross, w * w * xx + c * c * yy + cross
        result[1] = c * w * (xx - yy) + (c * c - w * w) * xy


@inlined
def _along(shape, k, moved, row, amount, at):
    """Component k of the sum of the shapes of a station, each times the amount of its coordinate."""
    total = 0.0
    for a in range(moved[k, 0], moved[k, 1]):
        total += shape[k, row + a] * amount[at + a]
    return total


@inlined
def _write_inertia(motion: ElasticMotion, link, mass, hx, hy, hz, xx, xy, xz, yy, yz, zz):
    """Inertia about the kinematics' origin in world axes, from that about the link's origin in its axes."""
    r, o, result, given = motion.rotation[link], motion.position[link], motion.inertia[link], motion.inertia[link]
    ox, oy, oz = o[0], o[1], o[2]
    given[0], given[1], given[2], given[3], given[4], given[5] = xx, xy, xz, yy, yz, zz
    i0, i1, i2, i3, i4, i5 = turned_inertia(
        given, r[0, 0], r[0, 1], r[0, 2], r[1, 0], r[1, 1], r[1, 2], r[2, 0], r[2, 1], r[2, 2]
    )
    gx, gy, gz = rotated(r, hx, hy, hz)
    # sum m (|o + y|^2 - (o + y)(o + y)^T) with g = sum m y
    along = 2.0 * (ox * gx + oy * gy + oz * gz) + mass * (ox * ox + oy * oy + oz * oz)
    result[0] = i0 + along - 2.0 * ox * gx - mass * ox * ox
    result[1] = i1 - ox * gy - oy * gx - mass * ox * oy
    result[2] = i2 - ox * gz - oz * gx - mass * ox * oz
    result[3] = i3 + along - 2.0 * oy * gy - mass * oy * oy
    result[4] = i4 - oy * gz - oz * gy - mass * oy * oz
    result[5] = i5 + along - 2.0 * oz * gz - mass * oz * oz
    result[6], result[7], result[8] = gx + mass * ox, gy + mass * oy, gz + mass * oz
    result[9] = mass


@kernel
def turned_inertia(s, r00, r01, r02, r10, r11, r12, r20, r21, r22):
    """R I R^T of an inertia xx xy xz yy yz zz."""
    a0, a1 = r00 * s[0] + r01 * s[1] + r02 * s[2], r00 * s[1] + r01 * s[3] + r02 * s[4]
    a2 = r00 * s[2] + r01 * s[4] + r02 * s[5]
    b0, b1 = r10 * s[0] + r11 * s[1] + r12 * s[2], r10 * s[1] + r11 * s[3] + r12 * s[4]
    b2 = r10 * s[2] + r11 * s[4] + r12 * s[5]
    c0, c1 = r20 * s[0] + r21 * s[1] + r22 * s[2], r20 * s[1] + r21 * s[3] + r22 * s[4]
    c2 = r20 * s[2] + r21 * s[4] + r22 * s[5]
    return (
        a0 * r00 + a1 * r01 + a2 * r02,
        a0 * r10 + a1 * r11 + a2 * r12,
        a0 * r20 + a1 * r21 + a2 * r22,
        b0 * r10 + b1 * r11 + b2 * r12,
        b0 * r20 + b1 * r21 + b2 * r22,
        c0 * r20 + c1 * r21 + c2 * r22,
    )


@kernel
def move_elastic_link(links: "ElasticLinks", link, v, motion: ElasticMotion):
    """Velocities of the stations in the link, and their accelerations at constant rates.

    Args:
        links: the elastic links.
        link: one of them.
        v: coordinate rates.
        motion: with places; `velocity`, `acceleration`, `spin` and `spin_change` are results.
    """
    link = np.uintp(link)
    shape, shortening, slope = links.shape, links.shortening, motion.slope
    moved, at, count = links.moved[link], links.rate[link], links.size[link]
    bent, bent_end, hinge = links.bent[link, 0], links.bent[link, 1], _hinge(moved)
    shares, pulls, velocity, acceleration, turning = (
        motion.kept,
        motion.pull,
        motion.velocity,
        motion.acceleration,
        motion.turning,
    )
    for p in range(links.station_start[link], links.station_start[link + np.uintp(1)]):
        row = links.row_start[link] + (p - links.station_start[link]) * count
        tx = _along(shape, 0, moved, row, v, at)
        ty = _along(shape, 1, moved, row, v, at)
        tz = _along(shape, 2, moved, row, v, at)
        sliding, square, entry = 0.0, 0.0, links.shortening_start[p]
        for a in range(bent, bent_end):
            total = 0.0
            for b in range(bent, bent_end):
                total += shortening[entry] * v[at + b]
                entry += np.uintp(1)
            square += total * v[at + a]
            sliding += slope[row + a] * v[at + a]
        kept, across = shares[p], 4.0 * links.contraction[p] * sliding
        gx, gy, gz = pulls[p, 0], pulls[p, 1], pulls[p, 2]
        velocity[p, 0] = kept * tx - sliding * gx
        velocity[p, 1] = kept * ty - sliding * gy
        velocity[p, 2] = kept * tz - sliding * gz
        acceleration[p, 0] = -square * gx - across * tx
        acceleration[p, 1] = -square * gy - across * ty
        acceleration[p, 2] = -square * gz - across * tz
        if links.turns[link]:
            turn, spin = motion.turn[p], motion.spin[p]
            ux = _along(shape, 3, moved, row, v, at)
            uy = _along(shape, 4, moved, row, v, at)
            uz = _along(shape, 5, moved, row, v, at)
            if hinge < 3:
                spin[0], spin[1], spin[2] = ux, uy, uz
                continue
            wx = wy = wz = 0.0
            for a in range(links.turned[link, 0], links.turned[link, 1]):
                wx += turning[0, row + a] * v[at + a]
                wy += turning[1, row + a] * v[at + a]
                wz += turning[2, row + a] * v[at + a]
            spin[0], spin[1], spin[2] = wx, wy, wz
            wx, wy, wz = turning_bias(turn[0], turn[1], turn[2], ux, uy, uz)
            motion.spin_change[p, 0], motion.spin_change[p, 1], motion.spin_change[p, 2] = wx, wy, wz


@kernel
def add_elastic_forces(links: "ElasticLinks", link, frame_twist, frame_motion, change, motion: ElasticMotion, force):
    """Forces that the stations need for an acceleration.

    Args:
        links: the elastic links.
        link: one of them.
        frame_twist: of the body that carries it, 6 numbers.
        frame_motion: spatial acceleration of this body, with that against gravity, 6 numbers.
        change: acceleration of the coordinates, (coordinates,).
        motion: of the link.
        force: along the coordinates, changed, (coordinates,).

    Returns:
        Wrench about the kinematics' origin, world axes: fx, fy, fz, mx, my, mz.
    """
    link = np.uintp(link)
    shape, slope, turning = links.shape, motion.slope, motion.turning
    moved, at, count = links.moved[link], links.rate[link], links.size[link]
    bent, bent_end = links.bent[link, 0], links.bent[link, 1]
    turned, turned_end = links.turned[link, 0], links.turned[link, 1]
    vx, vy, vz, wx, wy, wz = frame_twist
    ax, ay, az, bx, by, bz = frame_motion
    turn, o = motion.rotation[link], motion.position[link]
    # classical acceleration of the link's origin
    sx, sy, sz = cross(wx, wy, wz, o[0], o[1], o[2])
    sx, sy, sz = cross(wx, wy, wz, vx + sx, vy + sy, vz + sz)
    ux, uy, uz = cross(bx, by, bz, o[0], o[1], o[2])
    ax, ay, az = rotated_back(turn, ax + ux + sx, ay + uy + sy, az + uz + sz)
    wx, wy, wz = rotated_back(turn, wx, wy, wz)
    bx, by, bz = rotated_back(turn, bx, by, bz)
    hinge = _hinge(moved)
    moves = False
    for d in range(at, at + count):
        moves = moves or change[d] != 0.0
    fx = fy = fz = nx = ny = nz = 0.0
    places, shares, pulls, velocity, acceleration = (
        motion.place,
        motion.kept,
        motion.pull,
        motion.velocity,
        motion.acceleration,
    )
    for p in range(links.station_start[link], links.station_start[link + np.uintp(1)]):
        row = links.row_start[link] + (p - links.station_start[link]) * count
        m, kept = links.mass[p], shares[p]
        x, y, z = places[p, 0], places[p, 1], places[p, 2]
        gx, gy, gz = pulls[p, 0], pulls[p, 1], pulls[p, 2]
        sx, sy, sz = cross(wx, wy, wz, x, y, z)
        sx, sy, sz = cross(
            *(wx, wy, wz),
            *(sx + 2.0 * velocity[p, 0], sy + 2.0 * velocity[p, 1], sz + 2.0 * velocity[p, 2]),
        )
        ux, uy, uz = cross(bx, by, bz, x, y, z)
        px = ax + ux + sx + acceleration[p, 0]
        py = ay + uy + sy + acceleration[p, 1]
        pz = az + uz + sz + acceleration[p, 2]
        if moves:
            sliding = 0.0
            for a in range(bent, bent_end):
                sliding += slope[row + a] * change[at + a]
            px += kept * _along(shape, 0, moved, row, change, at) - sliding * gx
            py += kept * _along(shape, 1, moved, row, change, at) - sliding * gy
            pz += kept * _along(shape, 2, moved, row, change, at) - sliding * gz
        px, py, pz = m * px, m * py, m * pz
        fx, fy, fz = fx + px, fy + py, fz + pz
        ux, uy, uz = cross(x, y, z, px, py, pz)
        nx, ny, nz = nx + ux, ny + uy, nz + uz
        _give(shape, 0, moved, row, kept * px, force, at)
        _give(shape, 1, moved, row, kept * py, force, at)
        _give(shape, 2, moved, row, kept * pz, force, at)
        pulled = gx * px + gy * py + gz * pz
        for a in range(bent, bent_end):
            force[at + a] -= slope[row + a] * pulled
        if links.turns[link]:
            spin, spun, inertia = motion.spin[p], motion.spin_change[p], motion.station_inertia[p]
            sx, sy, sz = cross(wx, wy, wz, spin[0], spin[1], spin[2])
            sx, sy, sz = bx + sx + spun[0], by + sy + spun[1], bz + sz + spun[2]
            if moves and hinge < 3:
                sx += _along(shape, 3, moved, row, change, at)
                sy += _along(shape, 4, moved, row, change, at)
                sz += _along(shape, 5, moved, row, change, at)
            elif moves:
                for a in range(turned, turned_end):
                    sx += turning[0, row + a] * change[at + a]
                    sy += turning[1, row + a] * change[at + a]
                    sz += turning[2, row + a] * change[at + a]
            ux, uy, uz = wx + spin[0], wy + spin[1], wz + spin[2]
            mx, my, mz = inertia_times(inertia, ux, uy, uz)
            mx, my, mz = cross(ux, uy, uz, mx, my, mz)
            sx, sy, sz = inertia_times(inertia, sx, sy, sz)
            mx, my, mz = mx + sx, my + sy, mz + sz
            nx, ny, nz = nx + mx, ny + my, nz + mz
            if hinge < 3:
                _give(shape, 3, moved, row, mx, force, at)
                _give(shape, 4, moved, row, my, force, at)
                _give(shape, 5, moved, row, mz, force, at)
                continue
            for a in range(turned, turned_end):
                force[at + a] += turning[0, row + a] * mx + turning[1, row + a] * my + turning[2, row + a] * mz
    return about_origin(turn, o, fx, fy, fz, nx, ny, nz)


@inlined
def _give(shape, k, moved, row, amount, result, at):
    """Adds to the result of each coordinate an amount times component k of its shape at a station."""
    for a in range(moved[k, 0], moved[k, 1]):
        result[at + a] += shape[k, row + a] * amount


@kernel
def inertia_times(s, x, y, z):
    """The inertia xx xy xz yy yz zz times a vector."""
    return s[0] * x + s[1] * y + s[2] * z, s[1] * x + s[3] * y + s[4] * z, s[2] * x + s[4] * y + s[5] * z


@kernel
def about_origin(turn, o, fx, fy, fz, nx, ny, nz):
    """A wrench about the kinematics' origin in world axes, from that about a link's origin in the axes of the link."""
    fx, fy, fz = rotated(turn, fx, fy, fz)
    nx, ny, nz = rotated(turn, nx, ny, nz)
    sx, sy, sz = cross(o[0], o[1], o[2], fx, fy, fz)
    return fx, fy, fz, nx + sx, ny + sy, nz + sz


@kernel
def couple_elastic_link(model: "MultibodyModel", link, column, motion: ElasticMotion, mass: "MassMatrix"):
    """Adds the rows of a link's coordinates to the mass matrix.

    Args:
        model: the multibody system.
        link: the elastic link.
        column: twists of the columns of the bodies.
        motion: of the link.
        mass: changed.
    """
    links, link = model.elastic, np.uintp(link)
    at, momentum, turn, o = links.rate[link], motion.momentum, motion.rotation[link], motion.position[link]
    first = np.uintp(model.rate_first[at])
    _add_modal_mass(links, link, at, at - first, motion, mass)
    for a in range(links.size[link]):
        row = at + a
        f0, f1, f2, f3, f4, f5 = about_origin(turn, o, *momentum_of(momentum, a))
        body = links.body[link]
        while body >= 0:
            for c in range(np.uintp(model.column_start[body]), np.uintp(model.column_start[body + 1])):
                other = np.uintp(model.column_rate[c])
                coupling = column[c, 0] * f0 + column[c, 1] * f1 + column[c, 2] * f2
                coupling += column[c, 3] * f3 + column[c, 4] * f4 + column[c, 5] * f5
                if other < row:
                    mass.lower[row, other - first] += coupling
                else:
                    mass.lower[other, row - first] += coupling
            body = model.body_parent[body]


@inlined
def momentum_of(momentum, a):
    """Row a as six numbers."""
    return momentum[a, 0], momentum[a, 1], momentum[a, 2], momentum[a, 3], momentum[a, 4], momentum[a, 5]


@inlined
def _add_modal_mass(links: "ElasticLinks", link, at, place, motion: ElasticMotion, mass: "MassMatrix"):
    """Adds the entries between the coordinates of a link, and finds their momenta per unit of each rate.

    Args:
        links: the elastic links.
        link: one of them.
        at: its first coordinate.
        place: place of this coordinate in the rows of the mass matrix.
        motion: of the link; `momentum` is a result.
        mass: changed.
    """
    shape, slope, turning, own, momentum = links.shape, motion.slope, motion.turning, motion.column, motion.momentum
    moved, count, lower, diagonal = links.moved[link], links.size[link], mass.lower, mass.diagonal
    bent, bent_end = links.bent[link, 0], links.bent[link, 1]
    turned, turned_end = links.turned[link, 0], links.turned[link, 1]
    for a in range(count):
        for k in range(6):
            momentum[a, k] = 0.0
    for p in range(links.station_start[link], links.station_start[link + np.uintp(1)]):
        row = links.row_start[link] + (p - links.station_start[link]) * count
        m, kept = links.mass[p], motion.kept[p]
        x, y, z = motion.place[p, 0], motion.place[p, 1], motion.place[p, 2]
        for k in range(np.uintp(3)):
            pull, first, last = motion.pull[p, k], moved[k, 0], moved[k, 1]
            if pull != 0.0 and bent_end > bent:
                first, last = (min(first, bent), max(last, bent_end)) if last > first else (bent, bent_end)
            for a in range(first, last):
                own[k, a] = 0.0
            for a in range(moved[k, 0], moved[k, 1]):
                own[k, a] = kept * shape[k, row + a]
            if pull != 0.0:
                for a in range(bent, bent_end):
                    own[k, a] -= slope[row + a] * pull
            for a in range(first, last):
                amount = m * own[k, a]
                for b in range(first, a):
                    lower[at + a, place + b] += amount * own[k, b]
                diagonal[at + a] += amount * own[k, a]
                momentum[a, k] += amount
                if k == 0:
                    momentum[a, 4] += z * amount
                    momentum[a, 5] -= y * amount
                elif k == 1:
                    momentum[a, 3] -= z * amount
                    momentum[a, 5] += x * amount
                else:
                    momentum[a, 3] += y * amount
                    momentum[a, 4] -= x * amount
        if links.turns[link]:
            inertia = motion.station_inertia[p]
            for a in range(turned, turned_end):
                c = row + a
                lx, ly, lz = inertia_times(inertia, turning[0, c], turning[1, c], turning[2, c])
                for b in range(turned, a):
                    d = row + b
                    lower[at + a, place + b] += lx * turning[0, d] + ly * turning[1, d] + lz * turning[2, d]
                diagonal[at + a] += lx * turning[0, c] + ly * turning[1, c] + lz * turning[2, c]
                momentum[a, 3] += lx
                momentum[a, 4] += ly
                momentum[a, 5] += lz


@kernel
def elastic_momentum(links: "ElasticLinks", link, v, motion: ElasticMotion):
    """Linear momentum of a link's stations by the rates of its coordinates, world axes [kg m/s].

    Args:
        links: the elastic links.
        link: one of them.
        v: coordinate rates.
        motion: of the link, with places.
    """
    link = np.uintp(link)
    shape, slope = links.shape, motion.slope
    moved, at, count = links.moved[link], links.rate[link], links.size[link]
    px = py = pz = 0.0
    for p in range(links.station_start[link], links.station_start[link + np.uintp(1)]):
        row = links.row_start[link] + (p - links.station_start[link]) * count
        m, kept, sliding = links.mass[p], motion.kept[p], 0.0
        for a in range(links.bent[link, 0], links.bent[link, 1]):
            sliding += slope[row + a] * v[at + a]
        px += m * (kept * _along(shape, 0, moved, row, v, at) - sliding * motion.pull[p, 0])
        py += m * (kept * _along(shape, 1, moved, row, v, at) - sliding * motion.pull[p, 1])
        pz += m * (kept * _along(shape, 2, moved, row, v, at) - sliding * motion.pull[p, 2])
    return rotated(motion.rotation[link], px, py, pz)
