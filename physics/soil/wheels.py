"""Wheels on soft ground: constant arrays, and buffers of a step."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.soil import LEVELS, Wheel
from grouser.physics.description.data.world import World
from grouser.physics.description.urdf.wheel_profile import mark_of
from grouser.physics.model.names import Names
from grouser.physics.soil.laws import Soils, make_soils
from grouser.physics.soil.tiles import tiles_of_window

CELLS, STRESS, DEFORMABLE = range(3)
_BY_NAME = dict(zip(LEVELS, (CELLS, STRESS, DEFORMABLE), strict=True))
# Rows of `WheelWorkspace.touch`: position from the wheel's centre, world axes [m]; unit normal of the wheel's surface,
# inwards; area of that surface [m2]; depth below the cell's level [m]; stiffness K of the soil under its patch;
# angle around the wheel from its mark, in turns.
X, Y, Z, NORMAL_X, NORMAL_Y, NORMAL_Z, AREA, DEPTH, STIFFNESS, TURN = range(10)
TOUCH = 10
# Labels of cells: around the touched ones; under the wheel and pressed before, but separated.
RIM, SHADED = -1, -2
# Cells around a wheel within which displaced soil slides.
MARGIN = 6
# Least number of angular steps of an uneven wheel's profile.
_ANGLES = 8192
# Measured quantities of a wheel's contact with soil; columns of `WheelWorkspace.figure`.
FIGURES = (
    "sinkage",
    "entry_angle",
    "exit_angle",
    "normal_force",
    "thrust",
    "resistance",
    "side_force",
    "torque",
    "slip_ratio",
    "slip_angle",
    "peak_pressure",
    "peak_shear",
)
SINKAGE_OF_WHEEL, ENTRY, EXIT, NORMAL, THRUST, RESISTANCE, SIDE, TORQUE = range(8)
SLIP, SLIP_ANGLE, PEAK_PRESSURE, PEAK_SHEAR = range(8, len(FIGURES))
# Columns of `SoilState.wheel_elastic`.
OF_PRESSURE, OF_SHEAR, REBOUND = range(3)


class Wheels(NamedTuple):
    """Wheels that may contact soil; none on rigid ground.

    Attributes:
        soils: of the world.
        cell: spacing of the soil's cells [m], (1,).
        bulldozing: whether displaced soil is deposited beside the wheel, (1,).
        body: of each wheel, (wheels,).
        position, axis: centre [m] and unit axis in the body frame, (wheels, 3).
        radius, half_width: without grousers [m].
        reach: greatest radius [m].
        level: CELLS, STRESS or DEFORMABLE.
        mark: direction normal to the axis at which angles around the wheel are zero, body frame, (wheels, 3).
        uneven: whether the radius changes around a wheel or across it.
        outline: number of angles and of lateral positions of each wheel's profile, (wheels, 2).
        profile: radius at equal steps of the angle from the mark and across [m], (wheels, most angles, most positions);
            not used for even wheels.
        grouser_height: [m].
        friction: coefficient between its surface and the soil [-].
        side: cells per side of the largest window of a wheel, (1,).
        tiles: most tiles that a step may open, under tracks and shovels as well; above 0 under grains, (1,).
    """

    soils: Soils
    cell: np.ndarray
    bulldozing: np.ndarray
    body: np.ndarray
    position: np.ndarray
    axis: np.ndarray
    radius: np.ndarray
    half_width: np.ndarray
    reach: np.ndarray
    level: np.ndarray
    mark: np.ndarray
    uneven: np.ndarray
    outline: np.ndarray
    profile: np.ndarray
    grouser_height: np.ndarray
    friction: np.ndarray
    side: np.ndarray
    tiles: np.ndarray


class WheelWorkspace(NamedTuple):
    """Buffers of a step, of each wheel.

    Attributes:
        centre, axis: from the kinematics' origin [m], and unit axis, world axes, (wheels, 3).
        mark: direction normal to the axis at which angles around the wheel are zero, world axes, (wheels, 3).
        frame: ahead, to the left and up from the natural ground, world axes, (wheels, 3, 3).
        twist: velocity of the centre [m/s] and angular velocity [rad/s], world axes, (wheels, 6).
        window: first cell along x and y, number of cells along x and y; first and last row, first and last column of
            touched or shaded cells; (wheels, 8).
        place: index of each cell of the window in `SoilState.soil_cell`, (wheels, cells).
        label: of each cell of the window: number + 1 of a touched one, RIM, SHADED or 0, (wheels, cells).
        touched: number of cells that the wheel touches or may touch within the step, (wheels,).
        spot: index of each touched cell in the window, (wheels, cells).
        soil: of each touched cell, (wheels, cells).
        patch: first touched cell of the patch of each, (wheels, cells).
        touch: X to TURN of each touched cell, (wheels, TOUCH, cells).
        rim: cells of a window around the touched ones, (cells,).
        surface, change, steepest: of the cells of a window, height and its change [m], tangent of repose [-], (cells,).
        flows: excess height of the next cells in row and column over a cell of the window [m], (2, cells).
        patch_sum: area and moments of a patch, at its first cell, (6, cells).
        jacobian, pushed: Jacobian of the twist, and step times slope times Jacobian, (6, coordinates).
        axes: unit vectors of the world, (3, 3).
        end_twist: as `twist`, at the end of the step, (6,).
        flow: displaced soil, see `contact.commit_cells`, (5,).
        level: height of the natural ground under each wheel [m], (wheels,).
        entry: coordinates that move a wheel, (coordinates,).
        slope: force per velocity of the centre's twist, (wheels, 6, 6).
        wrench: force [N] and moment about the centre [N m], world axes, at `twist` and, after the step, at its end,
            (wheels, 6).
        figure: measurements of the last step, (wheels, FIGURES).
        greatest_pressure, greatest_sinkage: on each soil so far, [Pa] and over the wheel's diameter [-], (soils,).
    """

    centre: np.ndarray
    axis: np.ndarray
    mark: np.ndarray
    frame: np.ndarray
    twist: np.ndarray
    window: np.ndarray
    place: np.ndarray
    label: np.ndarray
    touched: np.ndarray
    spot: np.ndarray
    soil: np.ndarray
    patch: np.ndarray
    touch: np.ndarray
    rim: np.ndarray
    surface: np.ndarray
    change: np.ndarray
    steepest: np.ndarray
    flows: np.ndarray
    patch_sum: np.ndarray
    jacobian: np.ndarray
    pushed: np.ndarray
    axes: np.ndarray
    end_twist: np.ndarray
    flow: np.ndarray
    level: np.ndarray
    entry: np.ndarray
    slope: np.ndarray
    wrench: np.ndarray
    figure: np.ndarray
    greatest_pressure: np.ndarray
    greatest_sinkage: np.ndarray


def make_wheels(machine: Machine, names: Names, world: World) -> Wheels:
    """The machine's wheels; none on rigid ground."""
    ground = world.soil
    found = machine.wheels if ground is not None else ()
    body, place, axes, marks = [], [], [], []
    for wheel in found:
        link = names.link_index(wheel.link)
        turn = names.link_rotation[link]
        axis = turn @ np.array(wheel.axis)
        body.append(names.link_body[link])
        place.append(names.link_position[link] + turn @ np.array(wheel.position))
        axes.append(axis)
        marks.append(turn @ mark_of(wheel.axis))
    cell = ground.cell if ground else 1.0
    reach = np.array([_reach(wheel) for wheel in found])
    half_width = np.array([0.5 * wheel.width for wheel in found])
    side = int(2.0 * np.max(np.hypot(reach, half_width), initial=0.0) / cell) + 2 * MARGIN + 4
    level = [_BY_NAME[wheel.level or ground.level] for wheel in found if ground]
    profiles = [_profile(wheel, cell) for wheel in found]
    shape = tuple(np.max([profile.shape for profile in profiles], axis=0, initial=1)) if found else (1, 1)
    wheels = Wheels(
        soils=make_soils(ground.soils if ground else ()),
        cell=np.array([cell]),
        bulldozing=np.array([ground is not None and ground.bulldozing]),
        body=np.array(body, dtype=np.int64),
        position=np.array(place).reshape(-1, 3),
        axis=np.array(axes).reshape(-1, 3),
        radius=np.array([wheel.radius for wheel in found]),
        half_width=half_width,
        reach=reach,
        level=np.array(level, dtype=np.int64),
        mark=np.array(marks).reshape(-1, 3),
        uneven=np.array([profile.size > 1 for profile in profiles], dtype=np.bool_),
        outline=np.array([profile.shape for profile in profiles], dtype=np.int64).reshape(-1, 2),
        profile=np.array([_padded(profile, shape) for profile in profiles]).reshape(-1, *shape),
        friction=np.array([wheel.friction for wheel in found]),
        grouser_height=np.array([wheel.grouser_height for wheel in found]),
        side=np.array([side]),
        tiles=np.array([len(found) * tiles_of_window(side) + _tiles_of_others(machine, world)]),
    )
    for array in (*wheels.soils, *wheels[1:]):
        array.flags.writeable = False
    return wheels


def make_wheel_workspace(wheels: Wheels, coordinates: int) -> WheelWorkspace:
    """Buffers of the right sizes."""
    count = len(wheels.body)
    cells = int(wheels.side[0]) ** 2 if count else 0
    return WheelWorkspace(
        centre=np.zeros((count, 3)),
        axis=np.zeros((count, 3)),
        mark=np.zeros((count, 3)),
        frame=np.zeros((count, 3, 3)),
        twist=np.zeros((count, 6)),
        window=np.zeros((count, 8), dtype=np.int64),
        place=np.zeros((count, cells), dtype=np.int64),
        label=np.zeros((count, cells), dtype=np.int64),
        touched=np.zeros(count, dtype=np.int64),
        spot=np.zeros((count, cells), dtype=np.int64),
        soil=np.zeros((count, cells), dtype=np.int64),
        patch=np.zeros((count, cells), dtype=np.int64),
        touch=np.zeros((count, TOUCH, cells)),
        rim=np.zeros(cells, dtype=np.int64),
        surface=np.zeros(cells),
        change=np.zeros(cells),
        steepest=np.zeros(cells),
        flows=np.zeros((2, cells)),
        patch_sum=np.zeros((6, cells)),
        jacobian=np.zeros((6, coordinates)),
        pushed=np.zeros((6, coordinates)),
        axes=np.eye(3),
        end_twist=np.zeros(6),
        flow=np.zeros(5),
        level=np.zeros(count),
        entry=np.zeros(coordinates, dtype=np.int64),
        slope=np.zeros((count, 6, 6)),
        wrench=np.zeros((count, 6)),
        figure=np.zeros((count, len(FIGURES))),
        greatest_pressure=np.zeros(len(wheels.soils.exponent)),
        greatest_sinkage=np.zeros(len(wheels.soils.exponent)),
    )


def _tiles_of_others(machine: Machine, world: World) -> int:
    """Most tiles that the tracks may open in a step, under pads near the ground, and shovels at rest; 1 for grains."""
    ground = world.soil
    if ground is None:
        return 0
    lengths = [track.longest for track in machine.tracks]
    lengths += [max(shovel.width, shovel.opening) for shovel in machine.shovels]
    most = sum(tiles_of_window(int(length / ground.cell) + 2) for length in lengths)
    return max(most, 1 if world.grains else 0)


def _reach(wheel: Wheel) -> float:
    """Greatest radius [m]."""
    return wheel.radius + wheel.grouser_height if wheel.profile is None else float(wheel.profile.max())


def _profile(wheel: Wheel, cell: float) -> np.ndarray:
    """Radius at equal steps of the angle, and across, averaged over the arc of a cell [m]; one number when even.

    Cells do not resolve smaller detail: thinner grousers count with their mean. Where cells do not resolve the gaps
    between grousers, the soil in the gaps moves with the wheel, which has the radius of its tips.
    """
    if grousers_merge(wheel, cell):
        return np.full((1, 1), wheel.radius + wheel.grouser_height)
    outline = wheel.profile if wheel.profile is not None else _grousers(wheel)
    if outline.size == 1:
        return outline
    outline = np.repeat(outline, -(-_ANGLES // len(outline)), axis=0)
    arc = min(max(int(round(len(outline) * cell / (2.0 * math.pi * outline.max()))), 1), len(outline))
    around = np.concatenate([outline, outline, outline])
    start = len(outline) - arc // 2
    total = np.cumsum(around, axis=0)
    return (total[start + arc - 1 :][: len(outline)] - total[start - 1 :][: len(outline)]) / arc


def _padded(profile: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A profile, padded to a shape."""
    room = np.zeros(shape)
    room[: profile.shape[0], : profile.shape[1]] = profile
    return room


def grousers_merge(wheel: Wheel, cell: float) -> bool:
    """Whether cells of this size [m] do not resolve the grousers: fewer than two cells per spacing."""
    return wheel.profile is None and wheel.grousers * 2.0 * cell > 2.0 * math.pi * wheel.radius


def _grousers(wheel: Wheel) -> np.ndarray:
    """Radius of a wheel with grousers, at equal steps of the angle [m]."""
    if wheel.grousers == 0:
        return np.full((1, 1), wheel.radius)
    tip = wheel.radius + wheel.grouser_height
    share = wheel.grousers * wheel.grouser_thickness / (2.0 * math.pi * tip)
    of_spacing = (wheel.grousers * (np.arange(_ANGLES) + 0.5) / _ANGLES) % 1.0
    return np.where(np.abs(of_spacing - 0.5) < 0.5 * share, tip, wheel.radius)[:, np.newaxis]
