"""A tool that is led through soft ground on a known path, from Python."""

import math
import warnings
from dataclasses import dataclass

import numpy as np

from grouser.physics.base.checks import require_range, require_size, require_type
from grouser.physics.base.errors import ParameterError
from grouser.physics.base.kernel import kernel
from grouser.physics.digging.bulk import centre_at, held_at
from grouser.physics.digging.cutting import ADVANCE, CUT, DEPTH_IN_ROCK, MASS
from grouser.physics.digging.flight import LOT, fall
from grouser.physics.digging.holding import Holding, no_holding
from grouser.physics.digging.plate import POSE, rake
from grouser.physics.digging.step import Load, Tool, ToolWorkspace, dig, make_load, tiles_of_tool
from grouser.physics.soil.bed import SoilBed
from grouser.physics.soil.ground import SoftGround
from grouser.physics.soil.relaxation import PLATE, RelaxationWorkspace, relax_soil, tiles_of_slides
from grouser.physics.soil.tiles import SoilState

# Columns of the record: cut so far, carried, in the air [kg].
CUT_MASS, CARRIED, FALLING = range(3)
_RECORD = 3
_LENGTH_MAX = 1e4


@dataclass(frozen=True)
class DiggingTool:
    """A bucket or a blade.

    Attributes:
        width: of the cutting edge [m].
        opening: from the cutting edge to the top edge [m].
        holding: what it holds over the rake of its plate; None for a blade.
    """

    width: float
    opening: float
    holding: Holding | None = None

    def __post_init__(self) -> None:
        require_size("width", self.width)
        require_size("opening", self.opening)
        require_type("holding", self.holding, (Holding, type(None)), "a Holding, as `make_holding` makes it, or None")


class DugGround:
    """Soft ground with one tool in it.

    Args:
        bed: the ground.
        tool: the tool, empty.
        step: of time [s].

    Attributes:
        warnings: messages on what was beyond the model, each also a `RuntimeWarning`, once.
    """

    def __init__(self, bed: SoilBed, tool: DiggingTool, step: float = 0.001):
        self.bed, self.tool = bed, tool
        self.step_size = require_range("step", step, 1e-6, 0.1, "s")
        self.load = make_load()
        self.warnings: list[str] = []
        self._holding = tool.holding or no_holding()
        self._tool = Tool(float(tool.width), float(tool.opening))
        self._plates = np.zeros((1, PLATE))
        self._work = ToolWorkspace(self._plates[0], np.zeros(LOT), np.zeros(CUT))

    @property
    def carried_mass(self) -> float:
        """Solid mass in the tool [kg]."""
        return float(self.load.bulk[0])

    @property
    def carried_volume(self) -> float:
        """Loose volume in the tool [m3]."""
        return float(self.load.bulk[1])

    def carried_centre(self, pose: np.ndarray) -> np.ndarray:
        """Centre of the soil in the tool at a pose of its plate, in the world, (3,); of none, the lowest place [m]."""
        ahead = np.array([pose[4], -pose[3], 0.0])
        rake = math.atan2(pose[8], -(pose[6:9] @ ahead))
        holds = float(held_at(self._holding.volume, rake))
        fill = self.carried_volume / holds if holds > 0.0 else 1.0
        along, below = (float(centre_at(self._holding.centre, rake, fill, k)) for k in range(2))
        return pose[:3] + along * pose[6:9] - below * np.cross(pose[3:6], pose[6:9])

    @property
    def falling_mass(self) -> float:
        """Solid mass in the air [kg]."""
        return float(self.load.air[: int(self.load.air_count[0]), 0].sum())

    @property
    def mass(self) -> float:
        """Solid mass of ground, tool and air, above the natural ground [kg]: zero unless soil was added or removed."""
        return self.bed.mass + self.carried_mass + self.falling_mass

    def follow(self, path: np.ndarray) -> np.ndarray:
        """Leads the tool along poses of its plate, one a step.

        Args:
            path: as of `plate`, from the pose at the start, (steps + 1, POSE).

        Returns:
            After each step: mass cut since the start of the path, mass carried and mass in the air [kg], (steps, 3).

        Raises:
            ParameterError: a path that is not finite or not of unit vectors.
        """
        path = self._check(path)
        steps, record, furthest = len(path) - 1, np.zeros((len(path) - 1, _RECORD)), np.zeros(CUT)
        made, bed = 0, self.bed
        while made < steps:
            tiles = tiles_of_tool(bed.ground, self._tool, path[made], path[made + 1])
            bed.reserve(tiles_of_slides(bed.state) + tiles)
            made += _follow(
                *(bed.ground, self._tool, self._holding.volume, self.step_size, path[made:], bed.state, self.load),
                *(self._work, bed.buffers, self._plates, furthest, record[made:]),
            )
        record[:, CUT_MASS] = np.cumsum(record[:, CUT_MASS])
        self._warn(furthest)
        return record

    def rest(self, pose: np.ndarray, most: int = 100_000) -> int:
        """Holds the tool until soil and air rest, for at most so many steps; returns their number."""
        steps = 0
        while steps < most and not (self.bed.at_rest and self.load.air_count[0] == 0 and steps > 0):
            part = min(100, most - steps)
            self.follow(np.tile(pose, (part + 1, 1)))
            steps += part
        return steps

    def _check(self, path: np.ndarray) -> np.ndarray:
        poses = np.array(path, dtype=float)
        if poses.ndim != 2 or poses.shape[1] != POSE or len(poses) < 2:
            raise ParameterError("path", np.shape(path), f"an array of at least two rows of {POSE} numbers")
        if not np.isfinite(poses).all() or np.abs(poses[:, :3]).max() > _LENGTH_MAX:
            raise ParameterError("path", float(np.abs(poses).max()), f"finite numbers, places within {_LENGTH_MAX:g} m")
        along, up = poses[:, 3:6], poses[:, 6:9]
        off = max(
            np.abs(np.linalg.norm(along, axis=1) - 1.0).max(),
            np.abs(np.linalg.norm(up, axis=1) - 1.0).max(),
            np.abs((along * up).sum(axis=1)).max(),
        )
        if off > 1e-6:
            raise ParameterError("path", off, "unit vectors along the edge and up the plate, normal to each other")
        return poses

    def _warn(self, furthest: np.ndarray) -> None:
        """Says what was beyond the model."""
        if furthest[ADVANCE] > 1.0:
            speed = self.bed.spacing / self.step_size
            self._say(f"the tool is faster than a cell a step, {speed:.3g} m/s: slides lag behind it")
        if furthest[DEPTH_IN_ROCK] > 0.0:
            self._say("the tool went through rigid ground, of which nothing is cut")

    def _say(self, message: str) -> None:
        if message not in self.warnings:
            self.warnings.append(message)
            warnings.warn(message, RuntimeWarning, stacklevel=4)


def upright_pose(x: float, z: float, rake: float, y: float = 0.0) -> np.ndarray:
    """Pose of a plate that cuts towards x: middle of its edge [m], and rake from the ground behind it [rad]."""
    return np.array([x, y, z, 0.0, 1.0, 0.0, -math.cos(rake), 0.0, math.sin(rake)])


@kernel
def _follow(
    ground: SoftGround,
    tool: Tool,
    holds,
    step,
    path,
    state: SoilState,
    load: Load,
    work: ToolWorkspace,
    buffers: RelaxationWorkspace,
    plates,
    furthest,
    record,
):
    """Steps along a path until it ends, or more tiles might be needed than there are; returns the number of steps."""
    for made in range(path.shape[0] - 1):
        tiles = tiles_of_slides(state) + tiles_of_tool(ground, tool, path[made], path[made + 1])
        if state.tile_count[0] + tiles > state.tile_place.shape[0]:
            return made
        room = held_at(holds, rake(path[made + 1]))
        dig(ground, tool, room, step, path[made], path[made + 1], state, load, work)
        fall(ground, step, load.air, load.air_count, state)
        relax_soil(ground, plates, state, buffers)
        for k in range(furthest.shape[0]):
            furthest[k] = max(furthest[k], work.cut[k])
        record[made, CUT_MASS], record[made, CARRIED], record[made, FALLING] = work.cut[MASS], load.bulk[0], 0.0
        for n in range(load.air_count[0]):
            record[made, FALLING] += load.air[n, 0]
    return path.shape[0] - 1
