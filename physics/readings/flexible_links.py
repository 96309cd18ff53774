"""Deflection of flexible links: motion of their far ends, and the energy in the springs between their elements."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.compliance.rigid_elements import element_names, far_end, spring_names
from grouser.physics.description.data.compliance import FlexibleLink
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.rotation import matrix, quaternion_from_rpy
from grouser.physics.model.names import Names
from grouser.physics.readings.measurements import FlexibleLinkState


class Beam(NamedTuple):
    """A flexible link among the links of a simulation.

    Attributes:
        ends: numbers of its first element, whose frame is the link's, and of its last.
        axes: of the elastic frame in the frames of both, as columns, (3, 3).
        start: of the elastic axis in the frame of the first [m], (3,).
        tip: end of the axis in the frame of the last [m], (3,).
        position_index: of the springs' angles in q.
        stiffness: of these springs [N m/rad].
    """

    ends: np.ndarray
    axes: np.ndarray
    start: np.ndarray
    tip: np.ndarray
    position_index: np.ndarray
    stiffness: np.ndarray


def make_beam(flexible: FlexibleLink, divided: Machine, names: Names) -> Beam:
    """Finds a flexible link in a machine that has been divided into elements."""
    elements, springs = element_names(flexible), spring_names(flexible)
    stiffness = {compliance.joint: compliance.axial_stiffness for compliance in divided.compliant_joints}
    return Beam(
        np.array([names.link_index(elements[0]), names.link_index(elements[-1])], dtype=np.int64),
        matrix(quaternion_from_rpy(*flexible.rpy)),
        np.array(flexible.xyz),
        far_end(flexible),
        np.array([names.joints[spring].q for spring in springs], dtype=np.int64),
        np.array([stiffness[spring] for spring in springs], dtype=float),
    )


def flexible_link_state(beam: Beam, rotation: np.ndarray, position: np.ndarray, q: np.ndarray) -> FlexibleLinkState:
    """Deflection of a flexible link.

    Args:
        beam: the link.
        rotation, position: of the frames of its two ends in the world, (2, 3, 3) and (2, 3) [m].
        q: positions of all joints.
    """
    undeformed = rotation[0] @ beam.axes
    tip = position[1] + rotation[1] @ beam.tip - position[0]
    _, y, z = tip @ undeformed - beam.start @ beam.axes
    turned = undeformed.T @ rotation[1] @ beam.axes
    # 4 w x and 2 (w2 - x2) of this turn as a quaternion: twice the angle atan(x / w)
    twist = math.atan2(turned[2, 1] - turned[1, 2], turned[1, 1] + turned[2, 2])
    return FlexibleLinkState(float(y), float(z), twist, float(0.5 * beam.stiffness @ q[beam.position_index] ** 2))
