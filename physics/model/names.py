"""Names of the indices of the arrays of a multibody system."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True)
class JointCoordinate:
    """A joint with one coordinate: its body, its index in q and in v, and its relation to them."""

    body: int
    q: int
    v: int
    multiplier: float
    offset: float


class FrameOfJoint(NamedTuple):
    """A joint's frame, z along the axis, in the frame of body `parent` (-1: the world), and the body that it moves."""

    body: int
    parent: int
    rotation: np.ndarray
    position: np.ndarray


@dataclass(frozen=True, eq=False)
class Names:
    """Names of the indices of a MultibodyModel.

    Attributes:
        joints: joints with one coordinate (mimicking ones too) -> JointCoordinate, in the order of the file.
        axes: axis of a spherical joint, "joint/x" and so on -> JointCoordinate; its q is the first of the joint's
            quaternion.
        compliance: compliant joint -> elastic direction (0 to 2 translation along, 3 to 5 rotation about x, y, z) ->
            index in q and in v of its coordinate.
        frames: joint with a body of its own, or with compliance -> its frame.
        links: link names in the order of the file.
        link_body: body of each link (-1: the world).
        link_rotation, link_position: link frame in its body's frame, (links, 3, 3) and (links, 3) [m].
        body_joint: name of the joint that moves each body.
        position_joint, rate_joint: name of the joint that each position and each coordinate rate belongs to.
    """

    joints: dict[str, JointCoordinate]
    axes: dict[str, JointCoordinate]
    compliance: dict[str, dict[int, tuple[int, int]]]
    frames: dict[str, "FrameOfJoint"]
    links: tuple[str, ...]
    link_body: np.ndarray
    link_rotation: np.ndarray
    link_position: np.ndarray
    body_joint: tuple[str, ...]
    position_joint: tuple[str, ...]
    rate_joint: tuple[str, ...]

    def link_index(self, name: str) -> int:
        """Index of a link by its name."""
        return self.links.index(name)
