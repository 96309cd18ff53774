"""Where a machine is and how large: what the cameras point at."""

from collections.abc import Callable

import numpy as np

from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import matrix

LARGEST = 3.0  # extent with a part that cannot move, over the extent of what can: a rail, a ground plate is left out
_UNKNOWN = np.array([[-0.5, -0.5, -0.5], [0.5, 0.5, 0.5]])

Corners = np.ndarray  # lowest and highest coordinates [m], shape (2, 3)


class Extent:
    """Boxes around the shapes of a machine, in the frames of their links."""

    def __init__(self) -> None:
        self._moving: list[tuple[str, np.ndarray]] = []
        self._held: list[tuple[str, np.ndarray]] = []

    def add(self, link: str, pose: Pose, corners: Corners, moves: bool) -> None:
        """Adds a shape.

        Args:
            link: that it belongs to.
            pose: of the shape in the frame of the link.
            corners: of the shape in its own frame.
            moves: whether the link can move in the world.
        """
        choice = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1)
        box = np.stack([corners[choice[axis], axis] for axis in range(3)], axis=1)
        (self._moving if moves else self._held).append((link, _placed(pose, box)))

    def corners(self, pose: Callable[[str], Pose]) -> Corners:
        """The machine in the world: what can move, and what else is not much larger; 1 m around the origin if empty.

        Args:
            pose: of a link in the world.
        """
        moving = _around([_placed(pose(link), box) for link, box in self._moving])
        if moving is None:
            return _UNKNOWN
        wider = [_around([moving, _placed(pose(link), box)]) for link, box in self._held]
        most = LARGEST * np.linalg.norm(np.ptp(moving, axis=0))
        near = [corners for corners in wider if corners is not None and np.linalg.norm(np.ptp(corners, axis=0)) <= most]
        around = _around([moving, *near])
        assert around is not None
        return around


def _placed(pose: Pose, points: np.ndarray) -> np.ndarray:
    return points @ matrix(pose.quaternion).T + pose.position


def _around(parts: list[np.ndarray]) -> Corners | None:
    if not parts:
        return None
    points = np.concatenate(parts)
    return np.stack([points.min(axis=0), points.max(axis=0)])
