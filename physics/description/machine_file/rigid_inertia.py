"""Moments of inertia below zero: of links that are fixed to each other, only the sum counts."""

from collections.abc import Mapping, Sequence

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Inertial, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import compose, matrix
from grouser.physics.description.text.mending import Mendings
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.inertial import ROUNDING, inertia_matrix
from grouser.physics.description.urdf.placement import initial_positions, link_poses, rigid_lumps


def check_inertias(machine: Machine, elements: Mapping[str, Element]) -> list[str]:
    """Returns warnings of links with a moment of inertia below zero that the links fixed to them make up for.

    Args:
        machine: the machine.
        elements: of the links, by name.

    Raises:
        MachineError: a link, with those that are fixed to it, has a moment of inertia below zero.
    """
    negative = [link for link in machine.links if _least_moment(link) < 0.0]
    if not negative:
        return []
    mendings, lumps = Mendings(), rigid_lumps(machine)
    poses = link_poses(machine, initial_positions(machine))
    for link in negative:
        element = elements[link.name].required("inertial").required("inertia")
        together = [other for other in machine.links if lumps[other.name] == lumps[link.name]]
        if _is_negative(np.linalg.eigvalsh(_inertia_of(together, poses))):
            raise element.error(
                f"inertia of link '{link.name}' has the principal moment {_least_moment(link):g} kg m2; "
                "valid: none below zero",
                "check the signs, and that the products of inertia are not larger than the moments",
            )
        mendings.add(
            element,
            f"link '{link.name}' (principal moment {_least_moment(link):g} kg m2)",
            "has an inertia that no body has; it counts only together with the links that are fixed to it",
        )
    return mendings.warnings()


def _least_moment(link: Link) -> float:
    """The least principal moment if it is below zero by more than rounding, else 0."""
    if link.inertial is None:
        return 0.0
    moments = np.linalg.eigvalsh(inertia_matrix(link.inertial))
    return float(moments[0]) if _is_negative(moments) else 0.0


def _is_negative(moments: np.ndarray) -> bool:
    return bool(moments[0] < -ROUNDING * np.abs(moments).max())


def _inertia_of(links: Sequence[Link], poses: Mapping[str, Pose]) -> np.ndarray:
    """Inertia of links that are fixed to each other about their centre of mass, along the root link's axes."""
    bodies: list[tuple[Inertial, Pose]] = [
        (link.inertial, compose(poses[link.name], link.inertial.pose)) for link in links if link.inertial is not None
    ]
    mass = sum(inertial.mass for inertial, _ in bodies)
    moment = sum((inertial.mass * np.array(frame.position) for inertial, frame in bodies), np.zeros(3))
    centre = moment / mass if mass > 0.0 else moment
    total = np.zeros((3, 3))
    for inertial, frame in bodies:
        rotation, arm = matrix(frame.quaternion), np.array(frame.position) - centre
        total += rotation @ inertia_matrix(inertial) @ rotation.T
        total += inertial.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return total
