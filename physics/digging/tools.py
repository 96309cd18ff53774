"""Shovels of a machine as constant arrays."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.shovel import Shovel
from grouser.physics.description.data.world import World
from grouser.physics.digging.holding import make_holding, no_holding
from grouser.physics.model.names import Names

# Strips of an edge are as wide as cells, but there are no more than this.
STRIPS = 64
# Columns of a panel of a back: place of its middle along the plate and depth below the plate, its outward
# normal in the same axes, and its length.
PLACE, BELOW, NORMAL_UP, NORMAL_BELOW, LENGTH = range(5)
PANEL = 5


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
        panel_start: first panel of each tool, and the number of all, (tools + 1,).
        panel: of the backs, (panels, PANEL).
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
    panel_start: np.ndarray
    panel: np.ndarray


def make_tools(machine: Machine, names: Names, world: World) -> Tools:
    """The machine's shovels; none on rigid ground.

    What a bucket holds is at the angle of repose of the world's first soil.
    """
    ground = world.soil
    found = machine.shovels if ground is not None else ()
    axes = [_axes(shovel, names) for shovel in found]
    repose = ground.soils[0].repose_angle if ground is not None else 0.0
    holdings = [make_holding(one.profile, one.width, repose) if one.profile else no_holding() for one in found]
    panels = [_panels(shovel) for shovel in found]
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
        panel_start=np.concatenate([[0], np.cumsum([len(some) for some in panels])]).astype(np.int64),
        panel=np.concatenate([np.zeros((0, PANEL)), *panels]),
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


def _panels(shovel: Shovel) -> np.ndarray:
    """Panels between the points of a profile; that behind the plate of a blade."""
    points = np.array(shovel.profile or ((0.0, 0.0), (shovel.opening, 0.0)))
    step = np.diff(points, axis=0)
    length = np.linalg.norm(step, axis=1)
    middle = 0.5 * (points[:-1] + points[1:])
    return np.column_stack([middle, -step[:, 1] / length, step[:, 0] / length, length])[length > 0.0]
