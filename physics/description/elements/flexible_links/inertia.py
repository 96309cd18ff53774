"""Mass properties of a flexible link from its sections and density, and whether its `<inertial>` agrees with them."""

import numpy as np

from grouser.physics.description.data.compliance import FlexibleLink
from grouser.physics.description.data.mechanism import Inertial
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import matrix, quaternion_from_rpy
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.inertial import inertia_matrix

# Largest difference, as a share of mass, length and moments.
AGREEMENT = 0.01


def sections_inertial(flexible: FlexibleLink) -> Inertial:
    """Mass properties of a link with sections, at its density."""
    ends = flexible.smooth_pieces
    half, middle = 0.5 * np.diff(ends), 0.5 * (ends[:-1] + ends[1:])
    # a piece has linear properties, and the moment of inertia their product with x2: two points integrate it exactly
    x = (middle[:, None] + half[:, None] * np.array([-1.0, 1.0]) / np.sqrt(3.0)).ravel()
    weight = flexible.density * np.repeat(half, 2)
    area, about_y, about_z, _ = flexible.sections_at(x).T
    mass = float(weight @ area)
    centre = float(weight @ (area * x)) / mass
    across = float(weight @ (area * (x - centre) ** 2))
    share = 1.0 if flexible.rotary_inertia else 0.0
    moments = weight @ (about_y + about_z), across + share * weight @ about_y, across + share * weight @ about_z
    turn = quaternion_from_rpy(*flexible.rpy)
    px, py, pz = (np.array(flexible.xyz) + centre * matrix(turn)[:, 0]).tolist()
    return Inertial(
        Pose((px, py, pz), turn), mass, (float(moments[0]), 0.0, 0.0, float(moments[1]), 0.0, float(moments[2]))
    )


def check_agreement(element: Element, flexible: FlexibleLink, given: Inertial) -> None:
    """Refuses an inertial that disagrees with density and sections.

    Raises:
        MachineError: it does.
    """
    own = sections_inertial(flexible)
    remedy = f"correct one of them, or leave out the <inertial> of link '{flexible.link}'"
    if abs(given.mass - own.mass) > AGREEMENT * own.mass:
        raise element.error(
            f"link '{flexible.link}' has a mass of {given.mass:g} kg, and density and sections give {own.mass:.6g} kg; "
            f"valid: within {100 * AGREEMENT:g} %",
            remedy,
        )
    away = np.array(given.pose.position) - np.array(own.pose.position)
    if np.linalg.norm(away) > AGREEMENT * flexible.length:
        raise element.error(
            f"link '{flexible.link}' has its centre of mass at {_text(given.pose.position)} m, and density and "
            f"sections give {_text(own.pose.position)} m; valid: within {AGREEMENT * flexible.length:g} m",
            remedy,
        )
    axes = matrix(own.pose.quaternion)
    turned = axes.T @ matrix(given.pose.quaternion)
    inertia, expected = turned @ inertia_matrix(given) @ turned.T, inertia_matrix(own)
    moments = np.diag(expected)
    largest = np.sqrt(np.outer(moments, moments))
    if (np.abs(inertia - expected) > AGREEMENT * largest).any():
        raise element.error(
            f"link '{flexible.link}' has the moments of inertia {_text(np.diag(inertia))} kg m2 about the axes of the "
            f"elastic frame, and density and sections give {_text(moments)} kg m2; valid: within "
            f"{100 * AGREEMENT:g} %, and products of inertia below that",
            remedy,
        )


def _text(values) -> str:
    return " ".join(f"{value:.6g}" for value in values)
