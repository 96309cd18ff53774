"""Contacts of the candidates with the ground plane."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.contact.candidates import ContactCandidates
from grouser.physics.kernel import kernel

# A candidate is handed to the solver while it is closer than this, or will be within two steps [m].
CONTACT_MARGIN = 2e-3


class Contacts(NamedTuple):
    """Contacts of the current step; the first `count[0]` rows hold.

    Attributes:
        count: number of contacts, (1,).
        candidate: index of the candidate.
        point: point of the shape nearest to the ground, from the kinematics' origin, world axes [m], (contacts, 3).
        normal: unit normal from the ground to the machine, (contacts, 3).
        gap: distance along the normal, negative when penetrating [m].
        impulse: what the ground gave in this step, world axes [N s], (contacts, 3).
    """

    count: np.ndarray
    candidate: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    impulse: np.ndarray


def make_contacts(candidates: ContactCandidates) -> Contacts:
    """Room for every candidate to touch at once."""
    most = len(candidates.body)
    return Contacts(
        np.zeros(1, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros((most, 3)),
        np.zeros((most, 3)),
        np.zeros(most),
        np.zeros((most, 3)),
    )


@kernel
def detect_contacts(candidates, kinematics, step, contacts):
    """Fills `contacts` with the candidates that touch the ground or may do so within two steps.

    Args:
        candidates: the points and the ground.
        kinematics: filled for the current state.
        step: [s].
        contacts: result.
    """
    normal, rotation, position, twist = (
        candidates.ground_normal,
        kinematics.rotation,
        kinematics.position,
        kinematics.twist,
    )
    nx, ny, nz = normal[0], normal[1], normal[2]
    level = 0.0
    for k in range(3):
        level += normal[k] * (candidates.ground_point[k] - kinematics.origin[k])
    count = 0
    for c in range(candidates.body.shape[0]):
        i = candidates.body[c]
        r = rotation[i]
        lx, ly, lz = candidates.point[c, 0], candidates.point[c, 1], candidates.point[c, 2]
        x = position[i, 0] + r[0, 0] * lx + r[0, 1] * ly + r[0, 2] * lz
        y = position[i, 1] + r[1, 0] * lx + r[1, 1] * ly + r[1, 2] * lz
        z = position[i, 2] + r[2, 0] * lx + r[2, 1] * ly + r[2, 2] * lz
        dx, dy, dz = _way_down(candidates.axis[c], r, nx, ny, nz)
        x += candidates.radius[c] * dx
        y += candidates.radius[c] * dy
        z += candidates.radius[c] * dz
        gap = nx * x + ny * y + nz * z - level
        vx = twist[i, 0] + twist[i, 4] * z - twist[i, 5] * y
        vy = twist[i, 1] + twist[i, 5] * x - twist[i, 3] * z
        vz = twist[i, 2] + twist[i, 3] * y - twist[i, 4] * x
        approach = nx * vx + ny * vy + nz * vz
        if gap < CONTACT_MARGIN or gap + 2.0 * step * approach < 0.0:
            contacts.candidate[count] = c
            contacts.point[count, 0], contacts.point[count, 1], contacts.point[count, 2] = x, y, z
            contacts.normal[count, 0], contacts.normal[count, 1], contacts.normal[count, 2] = nx, ny, nz
            contacts.gap[count] = gap
            count += 1
    contacts.count[0] = count


@kernel
def _way_down(axis, r, nx, ny, nz):
    """Unit vector from the centre of a sphere, or of a rim with `axis`, to its point nearest to the ground."""
    if axis[0] == 0.0 and axis[1] == 0.0 and axis[2] == 0.0:
        return -nx, -ny, -nz
    ax = r[0, 0] * axis[0] + r[0, 1] * axis[1] + r[0, 2] * axis[2]
    ay = r[1, 0] * axis[0] + r[1, 1] * axis[1] + r[1, 2] * axis[2]
    az = r[2, 0] * axis[0] + r[2, 1] * axis[1] + r[2, 2] * axis[2]
    along = nx * ax + ny * ay + nz * az
    dx, dy, dz = along * ax - nx, along * ay - ny, along * az - nz
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    if length < 1e-9:
        return 0.0, 0.0, 0.0
    return dx / length, dy / length, dz / length
