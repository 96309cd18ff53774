"""Footprint of a wheel: the cells that it presses, by the height of its lower side above each."""

import math
from typing import TYPE_CHECKING

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.contact.terrain import Terrain, type_at
from grouser.physics.soil.laws import pressure_stiffness, sinkage_exponent, sinkage_growth
from grouser.physics.soil.tiles import (
    LEVEL,
    SHEAR_X,
    SHEAR_Y,
    SINKAGE,
    SURFACE,
    TYPE,
    SoilState,
    natural_level,
    open_window,
)
from grouser.physics.soil.wheels import (
    AREA,
    CELLS,
    DEFORMABLE,
    DEPTH,
    MARGIN,
    NORMAL_X,
    NORMAL_Y,
    NORMAL_Z,
    SHADED,
    STIFFNESS,
    TURN,
    Wheels,
    WheelWorkspace,
    X,
    Y,
    Z,
)

if TYPE_CHECKING:
    from grouser.physics.multibody.kinematics import Kinematics

# A wheel that leans by more than this also presses with its flat side, sine of the angle to the vertical [-].
_LEANING = 0.3
# Least vertical component of the surface normal in forces of the wheel's surface [-].
STEEPEST = 0.2
# Iterations that find the radius at the angle of contact.
_PROFILE_ROUNDS = 2
# Shear is also cleared within this distance beside a wheel, in cells.
_NEAR = 1.5
# There is no ground farther than this from the world's origin [m].
_FARTHEST = 1e7


def _arctangent():
    """Coefficients of atan(t) / (2 pi t) over t^2 from 0 to 1, the highest power first; exact to 1e-8."""
    nodes = np.polynomial.chebyshev.Chebyshev.interpolate(
        lambda q: np.arctan(np.sqrt(q)) / (2.0 * math.pi * np.sqrt(q)), 7, domain=[0.0, 1.0]
    )
    return nodes.convert(kind=np.polynomial.Polynomial).coef[::-1].copy()


_ARCTANGENT = _arctangent()


@kernel
def place_wheel(wheels: Wheels, w, terrain: Terrain, kinematics: "Kinematics", work: WheelWorkspace):
    """Sets position, axes and ground frame of a wheel; returns whether its position is finite."""
    body = wheels.body[w]
    r, centre, axis, mark = kinematics.rotation[body], work.centre[w], work.axis[w], work.mark[w]
    for k in range(3):
        centre[k] = kinematics.position[body, k]
        axis[k] = mark[k] = 0.0
        for m in range(3):
            centre[k] += r[k, m] * wheels.position[w, m]
            axis[k] += r[k, m] * wheels.axis[w, m]
            mark[k] += r[k, m] * wheels.mark[w, m]
    x, y = kinematics.origin[0] + centre[0], kinematics.origin[1] + centre[1]
    if not (abs(x) < _FARTHEST and abs(y) < _FARTHEST):
        return False
    work.level[w] = _fill_ground_frame(terrain, x, y, axis, wheels.radius[w], work.frame[w])
    return True


@inlined
def _fill_ground_frame(terrain: Terrain, x, y, axis, radius, frame):
    """Fills the frame of a wheel on the natural ground (ahead, to the left, up); returns the ground's height [m].

    The ground is a plane through four points half a radius around: smaller unevenness does not tilt the frame.
    """
    reach = 0.5 * radius
    east, west = natural_level(terrain, x + reach, y), natural_level(terrain, x - reach, y)
    north, south = natural_level(terrain, x, y + reach), natural_level(terrain, x, y - reach)
    along, across = (west - east) / (2.0 * reach), (south - north) / (2.0 * reach)
    nz = 1.0 / math.sqrt(1.0 + along * along + across * across)
    nx, ny = along * nz, across * nz
    fx, fy, fz = axis[1] * nz - axis[2] * ny, axis[2] * nx - axis[0] * nz, axis[0] * ny - axis[1] * nx
    length = math.sqrt(fx * fx + fy * fy + fz * fz)
    if length < 1e-6:
        # a wheel on its side has no direction ahead: any will do
        fx, fy, fz, length = nz, 0.0, -nx, math.sqrt(nz * nz + nx * nx)
    fx, fy, fz = fx / length, fy / length, fz / length
    frame[0, 0], frame[0, 1], frame[0, 2] = fx, fy, fz
    frame[1, 0], frame[1, 1], frame[1, 2] = ny * fz - nz * fy, nz * fx - nx * fz, nx * fy - ny * fx
    frame[2, 0], frame[2, 1], frame[2, 2] = nx, ny, nz
    return 0.25 * (east + west + north + south)


@kernel
def find_cells(wheels: Wheels, w, terrain: Terrain, origin, state: SoilState, step: float, work: WheelWorkspace):
    """Lists the cells that a wheel touches, or may touch within the step.

    Args:
        wheels, w: the wheel.
        terrain: natural ground.
        origin: of the kinematics [m].
        state: of the soil; tiles are opened.
        step: [s].
        work: placed; `window`, `place`, `label`, `touched`, `spot`, `soil` and `touch` are filled.
    """
    cell, reach, half_width = wheels.cell[0], wheels.reach[w], wheels.half_width[w]
    ax, ay, az = work.axis[w, 0], work.axis[w, 1], work.axis[w, 2]
    cx, cy, cz = origin[0] + work.centre[w, 0], origin[1] + work.centre[w, 1], origin[2] + work.centre[w, 2]
    work.touched[w] = 0
    if cz - extent(reach, half_width, az) > _highest_near(terrain, cx, cy) + 2.0 * reach:
        work.window[w, 2] = 0
        return
    ex, ey = extent(reach, half_width, ax), extent(reach, half_width, ay)
    margin = MARGIN if wheels.level[w] == DEFORMABLE and wheels.bulldozing[0] else 0
    i_first, j_first = int(math.floor((cx - ex) / cell)), int(math.floor((cy - ey) / cell))
    rows, columns = int(math.ceil((cx + ex) / cell)) - i_first + 1, int(math.ceil((cy + ey) / cell)) - j_first + 1
    i_first, j_first, rows, columns = i_first - margin, j_first - margin, rows + 2 * margin, columns + 2 * margin
    window, label = work.window[w], work.label[w]
    for at in range(rows * columns):
        label[at] = 0
    window[0], window[1], window[2], window[3] = i_first, j_first, rows, columns
    place, touch, spot, soil = work.place[w], work.touch[w], work.spot[w], work.soil[w]
    open_window(terrain, cell, state, i_first, j_first, rows, columns, place)
    twist, layers, found = work.twist[w], state.soil_cell, 0
    plain = not wheels.uneven[w]
    # a cell is listed if the wheel's lower side is below its surface by the end of the step
    fastest = reach * math.sqrt(twist[3] ** 2 + twist[4] ** 2 + twist[5] ** 2) + math.sqrt(
        twist[0] ** 2 + twist[1] ** 2 + twist[2] ** 2
    )
    ahead = step * fastest / STEEPEST
    top, bottom, left, right = rows, 0, columns, 0
    middle = type_at(terrain, cx, cy)
    along, across = -work.frame[w, 2, 0] / work.frame[w, 2, 2], -work.frame[w, 2, 1] / work.frame[w, 2, 2]
    for i in range(margin, rows - margin):
        middle_x = (i_first + i) * cell - cx
        for j in range(margin, columns - margin):
            middle_y = (j_first + j) * cell - cy
            dx, dy = _scattered(i_first + i, j_first + j, cell)
            px, py = middle_x + dx, middle_y + dy
            z, of_side, beyond = _lower_side(px, py, middle_x, middle_y, ax, ay, az, reach, half_width)
            if beyond >= _NEAR * cell:
                continue
            here = i * columns + j
            at = place[here]
            k, rigid = int(layers[at + TYPE]), False
            if k < 0 and middle >= 0:
                # beside soil, rigid ground is soil that does not yield
                k, rigid = middle, True
            level = layers[at + LEVEL] + along * dx + across * dy - cz
            depth = even_depth = level - z
            if k >= 0 and beyond < 0.5 * cell and depth + ahead > 0.0:
                radius = reach
                if not plain and not of_side:
                    radius, z = _on_profile(wheels, w, work, px, py, z)
                    depth = level - z
                nx, ny, nz = _inward(px, py, z, ax, ay, az, radius, of_side)
                steep = max(nz, STEEPEST)
                rate = -(
                    nx * (twist[0] + twist[4] * z - twist[5] * py)
                    + ny * (twist[1] + twist[5] * px - twist[3] * z)
                    + nz * (twist[2] + twist[3] * py - twist[4] * px)
                )
                stays = layers[at + LEVEL] - layers[at + SURFACE]
                if depth + step * rate / steep > stays:
                    touch[X, found], touch[Y, found], touch[Z, found] = px, py, z
                    touch[NORMAL_X, found], touch[NORMAL_Y, found], touch[NORMAL_Z, found] = nx, ny, nz
                    touch[AREA, found] = min(0.5 - beyond / cell, 1.0) * cell * cell / steep
                    touch[DEPTH, found] = depth
                    touch[STIFFNESS, found] = math.inf if rigid else 0.0
                    touch[TURN, found] = -1.0
                    if wheels.level[w] == CELLS and not of_side:
                        touch[TURN, found] = angle_around(work.axis[w], work.mark[w], px, py, z)
                    spot[found], soil[found] = here, k
                    found += 1
                    top, bottom, left, right = min(top, i), max(bottom, i), min(left, j), max(right, j)
                    continue
            # separated: its shear is cleared; between grousers the soil moves with the wheel
            if even_depth <= layers[at + LEVEL] - layers[at + SURFACE] or beyond >= 0.5 * cell:
                layers[at + SHEAR_X] = layers[at + SHEAR_Y] = 0.0
            if beyond < 0.5 * cell and layers[at + SINKAGE] > 0.0:
                label[here] = SHADED
                top, bottom, left, right = min(top, i), max(bottom, i), min(left, j), max(right, j)
    work.touched[w] = found
    window[4], window[5], window[6], window[7] = top, bottom, left, right


@inlined
def extent(reach, half_width, a):
    """Half of the extent of a cylinder whose axis has the component `a` along the direction [m]."""
    return reach * math.sqrt(max(1.0 - a * a, 0.0)) + half_width * abs(a)


@inlined
def _highest_near(terrain: Terrain, x, y):
    """Upper bound of the natural ground's height near x, y [m]."""
    return terrain.highest[0] if terrain.heights.shape[0] > 0 else natural_level(terrain, x, y)


@inlined
def _scattered(i, j, cell):
    """Sample point of the wheel's height in cell (i, j), from its centre [m].

    Aligned sample points enter contact at once and cause force ripple; scattered ones do not. Any regular pattern has
    headings at which its points line up again: of many tried, these two numbers give the least ripple at the worst of
    180 headings.
    """
    u, v = i * 0.804602 + j * 0.322972, j * 0.804602 - i * 0.322972
    return cell * (u - np.floor(u) - 0.5), cell * (v - np.floor(v) - 0.5)


@inlined
def _lower_side(px, py, middle_x, middle_y, ax, ay, az, radius, half_width):
    """Height at which the vertical line through px, py enters a cylinder about the origin from below.

    Args:
        px, py: [m].
        middle_x, middle_y: centre of the cell [m].
        ax, ay, az: unit axis.
        radius, half_width: [m].

    Returns:
        Height [m]; whether it enters through the flat side, as it may where the wheel leans; and how far the middle of
        the cell is beyond the border of that side, or beside the rim, negative inside [m], infinite where the line
        misses the wheel.
    """
    d = px * ax + py * ay
    square = max(1.0 - az * az, 1e-12)
    b = -az * d
    discriminant = b * b - square * (px * px + py * py - d * d - radius * radius)
    low = (-b - math.sqrt(discriminant)) / square if discriminant > 0.0 else -math.inf
    if abs(az) > _LEANING:
        along = -half_width if az > 0.0 else half_width
        z = (along - d) / az
        if z > low:
            out = math.sqrt(max(middle_x * middle_x + middle_y * middle_y + z * z - along * along, 0.0))
            return z, True, out - radius
    if discriminant > 0.0:
        return low, False, abs(middle_x * ax + middle_y * ay + az * low) - half_width
    return low, False, math.inf


@inlined
def _inward(px, py, z, ax, ay, az, radius, of_side):
    """Unit normal of a wheel's surface, inwards: towards the axis, or along it from the flat side."""
    if of_side:
        side = 1.0 if az > 0.0 else -1.0
        return side * ax, side * ay, side * az
    s = px * ax + py * ay + z * az
    return (s * ax - px) / radius, (s * ay - py) / radius, (s * az - z) / radius


@kernel
def angle_around(axis, mark, x, y, z):
    """Angle of a point around the axis from the mark, 0 to 1 turn, to 1e-8."""
    # the third direction of the wheel is axis x mark
    sx = axis[1] * mark[2] - axis[2] * mark[1]
    sy = axis[2] * mark[0] - axis[0] * mark[2]
    sz = axis[0] * mark[1] - axis[1] * mark[0]
    s, c = x * sx + y * sy + z * sz, x * mark[0] + y * mark[1] + z * mark[2]
    # reduced to one octant, 0 to 45 degrees
    low, high = min(abs(s), abs(c)), max(abs(s), abs(c))
    t = low / high if high > 0.0 else 0.0
    q = t * t
    series = 0.0
    for k in range(len(_ARCTANGENT)):
        series = series * q + _ARCTANGENT[k]
    turn = t * series
    turn = turn if abs(s) <= abs(c) else 0.25 - turn
    turn = turn if c >= 0.0 else 0.5 - turn
    return turn if s >= 0.0 else 1.0 - turn


@kernel
def _on_profile(wheels: Wheels, w, work: WheelWorkspace, px, py, z):
    """Radius and height at which the vertical line meets a wheel with a profile."""
    profile, axis, mark = wheels.profile[w], work.axis[w], work.mark[w]
    angles, places = wheels.outline[w, 0], wheels.outline[w, 1]
    ax, ay, az = axis[0], axis[1], axis[2]
    d = px * ax + py * ay
    square, b, radius = max(1.0 - az * az, 1e-12), -az * d, 0.0
    for _ in range(_PROFILE_ROUNDS):
        across = (0.5 + 0.5 * (d + z * az) / wheels.half_width[w]) * places
        row = int(angle_around(axis, mark, px, py, z) * angles) % angles
        radius = profile[row, min(max(int(across), 0), places - 1)]
        root = math.sqrt(max(b * b - square * (px * px + py * py - d * d - radius * radius), 0.0))
        z = (-b - root) / square
    return radius, z


@kernel
def find_patches(wheels: Wheels, w, slip, work: WheelWorkspace):
    """Labels the touched cells in the window, and finds the soil's stiffness under each by the size of its patch.

    Touched cells that are neighbours, also diagonal ones, form a patch. Its width is b = 2 area / perimeter of the
    rectangle with the same moments: unlike a count of edges it does not depend on the grid's orientation.

    Args:
        wheels, w: the wheel.
        slip: remembered by the soil, for the exponent [-].
        work: with the touched cells; `label`, `patch` and their stiffness are filled.
    """
    count, columns = work.touched[w], work.window[w, 3]
    spot, label, patch, touch, total = work.spot[w], work.label[w], work.patch[w], work.touch[w], work.patch_sum
    for n in range(count):
        at = spot[n]
        label[at] = n + 1
        patch[n] = n
        for neighbour in (at - 1, at - columns - 1, at - columns, at - columns + 1):
            # preceding neighbours; at the border of the window they belong to another row, and are not touched
            if neighbour >= 0 and label[neighbour] > 0:
                one, other = _root(patch, label[neighbour] - 1), _root(patch, n)
                patch[max(one, other)] = min(one, other)
    for n in range(count):
        for k in range(6):
            total[k, n] = 0.0
    for n in range(count):
        first = _root(patch, n)
        patch[n] = first
        area, x, y = touch[AREA, n] * touch[NORMAL_Z, n], touch[X, n], touch[Y, n]
        total[0, first] += area
        total[1, first] += area * x
        total[2, first] += area * y
        total[3, first] += area * x * x
        total[4, first] += area * x * y
        total[5, first] += area * y * y
    square, soils, stiffness = wheels.cell[0] * wheels.cell[0] / 12.0, wheels.soils, 0.0
    of_patch = of_soil = -1
    for n in range(count):
        first, k = patch[n], work.soil[w, n]
        if first == n:
            area = total[0, n]
            x, y = total[1, n] / area, total[2, n] / area
            xx, xy, yy = total[3, n] / area - x * x, total[4, n] / area - x * y, total[5, n] / area - y * y
            middle, off = 0.5 * (xx + yy) + square, math.sqrt((0.5 * (xx - yy)) ** 2 + xy * xy)
            sides = math.sqrt(12.0 * (middle + off)) + math.sqrt(12.0 * max(middle - off, square))
            total[1, n] = area / sides
        if first != of_patch or k != of_soil:
            of_patch, of_soil = first, k
            exponent = sinkage_exponent(soils, k, slip)
            # a wheel's load is proportional to z^(n + 1/2): see `stress`
            softer = sinkage_growth(soils, k, slip) ** (exponent + 0.5)
            stiffness = pressure_stiffness(soils, k, total[1, first], exponent) / softer
        if touch[STIFFNESS, n] < math.inf:
            touch[STIFFNESS, n] = stiffness


@inlined
def _root(patch, n):
    """First cell of the patch that a cell belongs to."""
    while patch[n] != n:
        n = patch[n]
    return n
