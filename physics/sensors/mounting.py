"""The place of a sensor on a machine."""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.description.data.rotation import matrix, quaternion_from_rpy
from grouser.physics.description.data.sensors import Sensor
from grouser.physics.model.names import Names
from grouser.physics.multibody.kinematics import Kinematics


class Mounting(NamedTuple):
    """Where a sensor is.

    Attributes:
        link: index of the link that carries it.
        body: body of this link, -1 for the world.
        rotation, position: of its frame in the body's, (3, 3) and (3,) [m].
    """

    link: int
    body: int
    rotation: np.ndarray
    position: np.ndarray

    def pose(self, kinematics: Kinematics | Packed) -> tuple[np.ndarray, np.ndarray]:
        """Rotation of its frame in the world, (3, 3), and origin from the kinematics' origin [m], (3,)."""
        if self.body < 0:
            return self.rotation, self.position - kinematics.origin
        turn = kinematics.rotation[self.body]
        return turn @ self.rotation, kinematics.position[self.body] + turn @ self.position


def mounting_of(sensor: Sensor, carrier: str, names: Names) -> Mounting:
    """The place of a sensor on a machine.

    Args:
        sensor: its description.
        carrier: the link that carries it.
        names: of the machine's links.
    """
    link = names.link_index(carrier)
    turn = names.link_rotation[link]
    rotation, position = turn @ matrix(quaternion_from_rpy(*sensor.rpy)), names.link_position[link] + turn @ sensor.xyz
    return Mounting(link, int(names.link_body[link]), rotation, position)
