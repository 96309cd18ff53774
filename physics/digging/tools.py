"""Shovels of a machine as constant arrays."""

import itertools
import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.lumps import LUMP_RADIUS, SOLID_SHARE
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.shovel import Shovel
from grouser.physics.description.data.world import World
from grouser.physics.digging.capacity import profile_area
from grouser.physics.digging.holding import make_closed_holding, make_holding, no_holding
from grouser.physics.model.names import Names

# Strips of an edge are as wide as cells, but there are no more than this.
STRIPS = 64
# A tool is at most so many cells wide and high: soil is moved over the square of it.
LARGEST = 512
# Where soil becomes lumps, a shovel holds at most so many of them, and is at least so many of them high and wide.
MOST_LUMPS, LEAST_LUMPS = 20_000, 3
# Columns of a point of a surface: places up the plate, along the edge and below the plate [m]; unit normal of the
# surface in the same axes, outwards; its area [m2]; which of the corners it belongs to.
UP, ACROSS, BELOW, NORMAL_UP, NORMAL_ACROSS, NORMAL_BELOW, AREA, CORNER = range(8)
POINT = 8
# A surface has a corner for each half across and for each half up the plate.
CORNERS = 4


class Tools(NamedTuple):
    """Shovels; none on rigid ground.

    Attributes:
        body: of each, (tools,).
        edge: middle of the cutting edge in the body frame [m], (tools, 3).
        along, up, lip: unit vectors in the body frame: along the edge, to the left of where soil is cut; up the plate;
            and in which the edge penetrates, (tools, 3).
        width, opening: of the plate [m].
        thickness, teeth, tooth_side, tooth_length: of the edge [m], number of teeth, and of these [m].
        side: length of the sides that soil holds against motion along the edge [m].
        friction: angle of friction between plate and soil [rad]; NaN: 2/3 of the soil's.
        adhesion: [Pa].
        reach: of all points from the middle of the edge [m].
        extent: least and greatest place along the plate and greatest depth below it [m], (tools, 3).
        strips: of the edge.
        carries: whether it is a bucket.
        holds, centre: what it holds, as of `Holding`.
        closed_holds, closed_centre: the same of one whose opening another one closes.
        point_start: first point of the surfaces of each tool, and the number of all, (tools + 1,).
        point: of the backs and sides, as far apart as cells, (points, POINT).
    """

    body: np.ndarray
    edge: np.ndarray
    along: np.ndarray
    up: np.ndarray
    lip: np.ndarray
    width: np.ndarray
    opening: np.ndarray
    thickness: np.ndarray
    teeth: np.ndarray
    tooth_side: np.ndarray
    tooth_length: np.ndarray
    side: np.ndarray
    friction: np.ndarray
    adhesion: np.ndarray
    reach: np.ndarray
    extent: np.ndarray
    strips: np.ndarray
    carries: np.ndarray
    holds: np.ndarray
    centre: np.ndarray
    closed_holds: np.ndarray
    closed_centre: np.ndarray
    point_start: np.ndarray
    point: np.ndarray


def check_tools(machine: Machine, world: World) -> tuple[str, ...]:
    """Checks the size of shovels over that of cells and lumps; warns of strips that are wider than cells.

    Raises:
        ParameterError: a shovel that is wider or higher than `LARGEST` cells, or one that is too large or too small for
            the lumps of the soil.
    """
    if world.soil is None:
        return ()
    cell, warnings = world.soil.cell, []
    for shovel in machine.shovels:
        size = max(shovel.width, shovel.opening)
        if size > LARGEST * cell:
            raise ParameterError(
                "cell",
                cell,
                f'at least {size / LARGEST:.3g} m for shovel "{shovel.name}" of {size:.4g} m, which is to be within '
                f"{LARGEST} cells",
            )
        if world.soil.soils[0].lumps:
            _check_lumps(shovel, cell)
        if shovel.width > (STRIPS + 0.5) * cell:
            warnings.append(
                f'shovel "{shovel.name}" is {shovel.width / cell:.0f} cells wide: each of its {STRIPS} strips sees one '
                f"row of cells; {shovel.width / STRIPS:.3g} m is a cell as wide as a strip"
            )
    return tuple(warnings)


def _check_lumps(shovel: Shovel, cell: float) -> None:
    """Refuses cells whose lumps are too small or too large for a shovel."""
    size, lump = min(shovel.width, shovel.opening), 2.0 * LUMP_RADIUS * cell
    if size < LEAST_LUMPS * lump:
        raise ParameterError(
            "cell",
            cell,
            f'at most {size / (LEAST_LUMPS * 2.0 * LUMP_RADIUS):.3g} m for shovel "{shovel.name}" of {size:.4g} m: its '
            f"soil becomes lumps of {lump:.3g} m, of which {LEAST_LUMPS} must fit; or lumps: false",
        )
    # a blade pushes about half of a cube of its height a width
    area = abs(profile_area(shovel.profile)) if shovel.profile else 0.5 * shovel.opening**2
    room = SOLID_SHARE * area * shovel.width
    count = room / (math.pi / 6.0 * lump**3)
    if count > MOST_LUMPS:
        least = cell * (count / MOST_LUMPS) ** (1.0 / 3.0)
        raise ParameterError(
            "cell",
            cell,
            f'at least {least:.3g} m for shovel "{shovel.name}": its soil becomes lumps, and {count:.0f} of {lump:.3g} '
            f"m fill it, more than {MOST_LUMPS}; or lumps: false",
        )


def make_tools(machine: Machine, names: Names, world: World) -> Tools:
    """The machine's shovels; none on rigid ground.

    What a bucket holds is at the angle of repose of the world's first soil.
    """
    ground = world.soil
    found = machine.shovels if ground is not None else ()
    axes = [_axes(shovel, names) for shovel in found]
    repose = ground.soils[0].repose_angle if ground is not None else 0.0
    holdings = [make_holding(one.profile, one.width, repose) if one.profile else no_holding() for one in found]
    closed = [make_closed_holding(one.profile, one.width) if one.profile else no_holding() for one in found]
    points = [_points(shovel, ground.cell) for shovel in found if ground]
    empty = no_holding()

    def vectors(k: int) -> np.ndarray:
        return np.array([one[k] for one in axes]).reshape(-1, 3)

    def numbers(*values: float) -> np.ndarray:
        return np.array(values, dtype=float)

    tools = Tools(
        body=np.array([names.link_body[names.link_index(one.link)] for one in found], dtype=np.int64),
        edge=vectors(0),
        along=vectors(1),
        up=vectors(2),
        lip=vectors(3),
        width=numbers(*(one.width for one in found)),
        opening=numbers(*(one.opening for one in found)),
        thickness=numbers(*(one.edge_thickness for one in found)),
        teeth=np.array([one.teeth for one in found], dtype=np.int64),
        tooth_side=numbers(*(one.tooth_side for one in found)),
        tooth_length=numbers(*(one.tooth_length for one in found)),
        side=numbers(*(one.opening if one.side_plates else one.edge_thickness for one in found)),
        friction=numbers(*(_angle(one.soil_friction) for one in found)),
        adhesion=numbers(*(one.adhesion for one in found)),
        reach=numbers(*(math.hypot(0.5 * one.width, *np.abs(_extent(one))) for one in found)),
        extent=np.array([_extent(one) for one in found]).reshape(-1, 3),
        strips=np.array([_strips(one.width, ground.cell) for one in found if ground], dtype=np.int64),
        carries=np.array([bool(one.profile) for one in found], dtype=np.bool_),
        holds=np.array([one.volume for one in holdings]).reshape(-1, *empty.volume.shape),
        centre=np.array([one.centre for one in holdings]).reshape(-1, *empty.centre.shape),
        closed_holds=np.array([one.volume for one in closed]).reshape(-1, *empty.volume.shape),
        closed_centre=np.array([one.centre for one in closed]).reshape(-1, *empty.centre.shape),
        point_start=np.concatenate([[0], np.cumsum([len(some) for some in points])]).astype(np.int64),
        point=np.concatenate([np.zeros((0, POINT)), *points]),
    )
    for array in tools:
        array.flags.writeable = False
    return tools


def _angle(friction: float | None) -> float:
    return math.nan if friction is None else math.atan(friction)


def _extent(shovel: Shovel) -> tuple[float, float, float]:
    """Least and greatest place along the plate, and greatest depth below it [m]."""
    places = [0.0, shovel.opening, *(place for place, _ in shovel.profile)]
    return min(places), max(places), max((below for _, below in shovel.profile), default=0.0)


def _strips(width: float, cell: float) -> int:
    return min(max(round(width / cell), 1), STRIPS)


def _axes(shovel: Shovel, names: Names) -> tuple[np.ndarray, ...]:
    """Middle of the edge and unit vectors along, up and of the lip, in the body frame."""
    ends, top = np.array(shovel.cutting_edge), np.array(shovel.top_edge).mean(axis=0)
    edge, along = ends.mean(axis=0), ends[1] - ends[0]
    along /= np.linalg.norm(along)
    up = top - edge
    up -= (up @ along) * along
    up /= np.linalg.norm(up)
    ahead = np.array(shovel.cutting_direction)
    if np.cross(along, up) @ ahead < 0.0:
        along = -along
    link = names.link_index(shovel.link)
    turn = names.link_rotation[link]
    lip = ahead if shovel.profile else -up
    return names.link_position[link] + turn @ edge, turn @ along, turn @ up, turn @ lip


def _points(shovel: Shovel, cell: float) -> np.ndarray:
    """Points of the back, between the points of the profile, or behind the plate of a blade; and of side plates."""
    profile = np.array(shovel.profile or ((0.0, 0.0), (shovel.opening, 0.0)))
    columns = _steps(-0.5 * shovel.width, 0.5 * shovel.width, cell)
    found = []
    for begin, end in itertools.pairwise(profile):
        length = float(np.linalg.norm(end - begin))
        if length == 0.0:
            continue
        (along, down), shares = (end - begin) / length, _steps(0.0, 1.0, cell / length)
        places, across = (axis.ravel() for axis in np.meshgrid(shares, columns, indexing="ij"))
        up, below = (begin[:, np.newaxis] + (end - begin)[:, np.newaxis] * places).tolist()
        area = length * shovel.width / len(places)
        found.append(_surface(shovel, np.array(up), across, np.array(below), (-down, 0.0, along), area))
    if shovel.profile and shovel.side_plates:
        up, below = _inside(profile, cell)
        for side in (-1.0, 1.0):
            area = abs(profile_area(profile.tolist())) / max(len(up), 1)
            across = np.full(len(up), 0.5 * side * shovel.width)
            found.append(_surface(shovel, up, across, below, (0.0, side, 0.0), area))
    return np.concatenate(found)


def _surface(
    shovel: Shovel, up: np.ndarray, across: np.ndarray, below: np.ndarray, normal: tuple[float, ...], area: float
) -> np.ndarray:
    """Rows of points with a common normal and area."""
    corner = 2.0 * (up > 0.5 * shovel.opening) + (across > 0.0)
    return np.column_stack([up, across, below, *(np.full(len(up), one) for one in (*normal, area)), corner])


def _steps(begin: float, end: float, most: float) -> np.ndarray:
    """Middles of equal parts of a range, none longer than a cell."""
    count = max(math.ceil((end - begin) / most - 1e-9), 1)
    return begin + (end - begin) * (np.arange(count) + 0.5) / count


def _inside(profile: np.ndarray, cell: float) -> tuple[np.ndarray, np.ndarray]:
    """Points of a grid within a profile: places up the plate and below it."""
    (left, low), (right, high) = profile.min(axis=0), profile.max(axis=0)
    x, y = (axis.ravel() for axis in np.meshgrid(_steps(left, right, cell), _steps(low, high, cell), indexing="ij"))
    inside = np.zeros(len(x), dtype=np.bool_)
    for (x0, y0), (x1, y1) in zip(profile, np.roll(profile, -1, axis=0), strict=True):
        if y0 != y1:
            crosses = ((y0 > y) != (y1 > y)) & (x < x0 + (y - y0) / (y1 - y0) * (x1 - x0))
            inside ^= crosses
    return x[inside], y[inside]
