"""Deflection of flexible links: motion of their far ends, and their strain energy."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from grouser.physics.description.data.compliance import FlexibleLink
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.rotation import matrix, quaternion_from_rpy
from grouser.physics.flexible_links.rigid_elements import element_names, far_end, spring_names
from grouser.physics.flexible_links.stationed import modal_beam
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.model.names import Names
from grouser.physics.readings.measurements import FlexibleLinkState

# Share of the length that the end of a flexible link with modes may be bent.
LARGEST_DEFLECTION = 1.0 / 3.0


class Chain(NamedTuple):
    """A flexible link of rigid elements among the links of a simulation.

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


class Modes(NamedTuple):
    """A flexible link with vibration modes as its coordinates.

    Attributes:
        ends: number of its link, twice.
        position_index: of its coordinates in q, (n,).
        stiffness: of these coordinates.
        deflection: displacement along y and z of the end of the axis per unit of each coordinate [m], (2, n).
        rotation: rotation vector of the section there, in the elastic frame [rad], (3, n).
        contraction: c H, by which q^T c H q is the share of the deflection that is lost (`ElasticShape`), (n, n).
    """

    ends: np.ndarray
    position_index: np.ndarray
    stiffness: np.ndarray
    deflection: np.ndarray
    rotation: np.ndarray
    contraction: np.ndarray

    def bent(self, q: np.ndarray) -> np.ndarray:
        """Deflection of the end along y and z [m], (2,), at the positions of all joints."""
        own = q[self.position_index]
        return (1.0 - own @ self.contraction @ own) * (self.deflection @ own)


Beam = Chain | Modes


def make_beam(flexible: FlexibleLink, divided: Machine, model: MultibodyModel, names: Names) -> Beam:
    """Finds a flexible link in a machine whose flexible links are divided."""
    link = names.link_index(flexible.link)
    if flexible.discretisation != "rigid_elements":
        beam, end = modal_beam(flexible), np.array([flexible.length])
        first = names.rate_joint.index(f"{flexible.link}.{beam.modes[0].kind}_{beam.modes[0].number}")
        number = int(np.flatnonzero(model.spring_rate == first)[0])
        index = model.spring_position[number] + np.arange(len(beam.modes))
        contraction = beam.contraction(end)[0] * beam.shortening(end)[0]
        bent = beam.translation(end)[0].T[1:], beam.rotation(end)[0].T, contraction
        return Modes(np.array([link, link], dtype=np.int64), index, beam.frequencies**2, *bent)
    elements, springs = element_names(flexible), spring_names(flexible)
    stiffness = {compliance.joint: compliance.axial_stiffness for compliance in divided.compliant_joints}
    return Chain(
        np.array([link, names.link_index(elements[-1])], dtype=np.int64),
        matrix(quaternion_from_rpy(*flexible.rpy)),
        np.array(flexible.xyz),
        far_end(flexible),
        np.array([names.joints[spring].q for spring in springs], dtype=np.int64),
        np.array([stiffness[spring] for spring in springs], dtype=float),
    )


def bent_too_far(machine: Machine, beams: Sequence[Beam], q: np.ndarray, warned: set[str]) -> Iterator[str]:
    """A warning for each flexible link that has left the range of its equations since it was last looked at.

    Args:
        machine: as described.
        beams: its flexible links.
        q: positions of all joints.
        warned: links that have been told of; changed.
    """
    for flexible, beam in zip(machine.flexible_links, beams, strict=True):
        if isinstance(beam, Chain) or flexible.link in warned:
            continue
        deflection = math.hypot(*beam.bent(q))
        if deflection > LARGEST_DEFLECTION * flexible.length:
            warned.add(flexible.link)
            yield (
                f'the flexible link "{flexible.link}" is bent by {deflection:.3g} m at its end, more than a third of '
                f"its length of {flexible.length:.3g} m: its equations hold for small bending (to third order); "
                "rigid_elements have no such limit"
            )


def flexible_link_state(beam: Beam, rotation: np.ndarray, position: np.ndarray, q: np.ndarray) -> FlexibleLinkState:
    """Deflection of a flexible link.

    Args:
        beam: the link.
        rotation, position: of the frames of its two ends in the world, (2, 3, 3) and (2, 3) [m].
        q: positions of all joints.
    """
    energy = float(0.5 * beam.stiffness @ q[beam.position_index] ** 2)
    if isinstance(beam, Modes):
        y, z = beam.bent(q)
        turn = beam.rotation @ q[beam.position_index]
        half = 0.5 * float(np.linalg.norm(turn))
        # of the turn's quaternion: twice the angle atan(x / w)
        twist = 2.0 * math.atan2(math.sin(half) * turn[0], math.cos(half) * 2.0 * half) if half > 0.0 else 0.0
        return FlexibleLinkState(float(y), float(z), twist, energy)
    undeformed = rotation[0] @ beam.axes
    tip = position[1] + rotation[1] @ beam.tip - position[0]
    _, y, z = tip @ undeformed - beam.start @ beam.axes
    turned = undeformed.T @ rotation[1] @ beam.axes
    # 4 w x and 2 (w2 - x2) of this turn as a quaternion: twice the angle atan(x / w)
    twist = math.atan2(turned[2, 1] - turned[1, 2], turned[1, 1] + turned[2, 2])
    return FlexibleLinkState(float(y), float(z), twist, energy)
