"""A hydraulic cylinder in the browser: barrel and rod."""

from collections.abc import Mapping

import numpy as np
import viser

from grouser.nodes.viewer.shapes import wxyz
from grouser.physics.description.data.hydraulics import Attachment, HydraulicCylinder
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import compose
from grouser.runtime.joint_frames import turn_from_z

BARREL_COLOUR = (60, 64, 70)
ROD_COLOUR = (200, 204, 210)
WALL = 0.12  # thickness of the barrel's wall, as a share of the bore
EYE = 0.5  # share of the length beyond the stroke that the barrel leaves free for the rod's eye


class CylinderView:
    """Draws a cylinder between two moving points.

    Both parts have constant lengths: the rod is as long as the retracted cylinder, so that its end stays in the barrel.

    Args:
        scene: where it is drawn.
        cylinder: its size and where it is attached.
    """

    def __init__(self, scene: viser.SceneApi, cylinder: HydraulicCylinder) -> None:
        self._barrel, self._rod = cylinder.barrel, cylinder.rod
        spare = max(0.0, cylinder.retracted_length - cylinder.stroke)
        self._barrel_length = cylinder.retracted_length - EYE * spare
        self._rod_length = cylinder.retracted_length
        self._ends: np.ndarray = np.zeros((2, 3))
        name = f"/cylinders/{cylinder.name.replace('/', '|')}"
        self._barrel_handle = scene.add_cylinder(
            f"{name}/barrel",
            radius=(0.5 + WALL) * cylinder.bore,
            height=self._barrel_length,
            color=BARREL_COLOUR,
            visible=False,
        )
        self._rod_handle = scene.add_cylinder(
            f"{name}/rod",
            radius=0.5 * cylinder.rod_diameter,
            height=self._rod_length,
            color=ROD_COLOUR,
            visible=False,
        )

    def stretch(self, poses: Mapping[str, Pose]) -> None:
        """Moves it to its attachments, if they have moved.

        Args:
            poses: of the links in the world.
        """
        ends = np.array([_place(end, poses) for end in (self._barrel, self._rod)])
        if np.array_equal(ends, self._ends):
            return
        self._ends = ends
        length = float(np.linalg.norm(ends[1] - ends[0]))
        if length == 0.0:  # before the poses of its links are known
            return
        along = (ends[1] - ends[0]) / length
        turn = wxyz(Pose(quaternion=turn_from_z((along[0], along[1], along[2]))))
        for handle, middle in (
            (self._barrel_handle, ends[0] + 0.5 * self._barrel_length * along),
            (self._rod_handle, ends[1] - 0.5 * self._rod_length * along),
        ):
            handle.position = middle
            handle.wxyz = turn
            handle.visible = True

    def remove(self) -> None:
        """Removes it from the scene."""
        self._barrel_handle.remove()
        self._rod_handle.remove()


def _place(end: Attachment, poses: Mapping[str, Pose]) -> tuple[float, float, float]:
    """An attachment in the world [m]."""
    return compose(poses[end.link], Pose(end.xyz)).position
