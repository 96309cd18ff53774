"""Mass, centre of mass and inertia of the links of a body."""

from functools import lru_cache

import numpy as np

from grouser.physics.base import spatial
from grouser.physics.description.data.mechanism import Inertial

# Number of links whose inertias are kept, for other machines that have the same.
_KEPT = 4096


class LumpedInertia:
    """Mass, centre of mass and inertia of all links of a body, in the body frame."""

    def __init__(self):
        self.mass = 0.0
        self.com = np.zeros(3)
        self.about_com = np.zeros((3, 3))

    def add(self, inertial: Inertial, rotation: np.ndarray, position: np.ndarray):
        """Adds a link's inertial; rotation and position give the link frame in the body frame."""
        if inertial.mass == 0.0 and not any(inertial.inertia):
            return
        if self.mass == 0.0 and not self.about_com.any():
            first = _first_of_body(inertial, rotation.tobytes(), position.tobytes())
            self.mass, self.com, self.about_com = first.mass, first.com, first.about_com
        else:
            self._add(inertial, rotation, position)

    def _add(self, inertial: Inertial, rotation: np.ndarray, position: np.ndarray):
        axes = rotation @ spatial.matrix(inertial.pose.quaternion)
        com = position + rotation @ np.array(inertial.pose.position)
        xx, xy, xz, yy, yz, zz = inertial.inertia
        about = axes @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ axes.T
        total = self.mass + inertial.mass
        middle = self.com if total == 0.0 else (self.mass * self.com + inertial.mass * com) / total
        self.about_com = _shifted(self.about_com, self.mass, self.com - middle) + _shifted(
            about, inertial.mass, com - middle
        )
        self.mass, self.com = total, middle

    def packed(self):
        i = self.about_com
        return [i[0, 0], i[0, 1], i[0, 2], i[1, 1], i[1, 2], i[2, 2]]


@lru_cache(maxsize=_KEPT)
def _first_of_body(inertial: Inertial, rotation: bytes, position: bytes) -> LumpedInertia:
    """The inertia of a body with one link; rotation and position as of `LumpedInertia.add`."""
    lump = LumpedInertia()
    lump._add(inertial, np.frombuffer(rotation).reshape(3, 3), np.frombuffer(position))
    return lump


def _shifted(about_com, mass, offset):
    """Inertia about a point at -offset from the centre of mass (Steiner)."""
    return about_com + mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))
