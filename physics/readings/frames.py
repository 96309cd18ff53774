"""Frames and poses of bodies and links in the world."""

import numpy as np

from grouser.physics.base import spatial
from grouser.physics.base.packed import Packed
from grouser.physics.model.names import Names
from grouser.physics.multibody.kinematics import Kinematics


def body_frames(kinematics: Kinematics | Packed) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (bodies + 1, 3, 3) and positions (bodies + 1, 3) [m] in the world; the last is the world's, body -1."""
    rotation = np.concatenate([kinematics.rotation, np.eye(3)[np.newaxis]])
    return rotation, np.concatenate([kinematics.origin + kinematics.position, np.zeros((1, 3))])


def link_frames(
    names: Names, kinematics: Kinematics | Packed, links: np.ndarray | slice = slice(None)
) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (links, 3, 3) and positions (links, 3) [m] of all link frames, or of some, in the world."""
    turn, place = (frames[names.link_body[links]] for frames in body_frames(kinematics))
    rotation, position = names.link_rotation[links], names.link_position[links]
    return turn @ rotation, place + np.einsum("lij,lj->li", turn, position)


def link_poses(names: Names, kinematics: Kinematics | Packed, links: np.ndarray) -> np.ndarray:
    """Position [m] and quaternion (x, y, z, w) of some link frames in the world, (links, 7)."""
    rotation, position = link_frames(names, kinematics, links)
    poses = np.empty((len(position), 7))
    poses[:, :3] = position
    spatial.quaternions_from_matrices(rotation, poses[:, 3:])
    return poses
