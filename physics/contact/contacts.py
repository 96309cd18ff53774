"""The contacts of a step as arrays."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.contact.slots import Memory, claim_slots

if TYPE_CHECKING:
    from grouser.physics.contact.collide import ContactWorkspace
    from grouser.physics.multibody.kinematics import Kinematics

# A point becomes a contact while its gap is smaller than this, or will close within two steps [m].
CONTACT_MARGIN = 2e-3
# A contact continues one of the last step within this distance on its body, as a share of the shape's size [-].
SAME_PLACE = 0.1


class Contacts(NamedTuple):
    """Contacts of the current step; the first `count[0]` rows are valid.

    Attributes:
        count: number of contacts, (1,).
        slot: index of the stored impulse between steps.
        body: body at the tip of the normal.
        other: body at the base of the normal, -1 for the world.
        shape: of `body`, index into the shapes.
        other_shape: of `other`, -1 for the ground.
        law: index into the laws.
        point: on the surface of `body`, from the kinematics' origin, world axes [m], (contacts, 3).
        normal: unit normal from `other` to `body`, (contacts, 3).
        gap: distance along the normal, negative when penetrating [m].
        anchor: the point in the frame of `body` [m], (contacts, 3).
        impulse: on `body` by `other` in this step, world axes [N s], (contacts, 3).
    """

    count: np.ndarray
    slot: np.ndarray
    body: np.ndarray
    other: np.ndarray
    shape: np.ndarray
    other_shape: np.ndarray
    law: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    anchor: np.ndarray
    impulse: np.ndarray


def allocate_contacts(most: int) -> Contacts:
    """Arrays for `most` contacts."""
    return Contacts(
        count=np.zeros(1, dtype=np.int64),
        slot=np.zeros(most, dtype=np.int64),
        body=np.zeros(most, dtype=np.int64),
        other=np.zeros(most, dtype=np.int64),
        shape=np.zeros(most, dtype=np.int64),
        other_shape=np.zeros(most, dtype=np.int64),
        law=np.zeros(most, dtype=np.int64),
        point=np.zeros((most, 3)),
        normal=np.zeros((most, 3)),
        gap=np.zeros(most),
        anchor=np.zeros((most, 3)),
        impulse=np.zeros((most, 3)),
    )


@inlined
def add_contact(
    contacts: Contacts, kinematics: "Kinematics", slot, body, other, shape, other_shape, law, x, y, z, nx, ny, nz, gap
):
    """Appends one contact."""
    c = contacts.count[0]
    contacts.slot[c], contacts.law[c] = slot, law
    contacts.body[c], contacts.other[c] = body, other
    contacts.shape[c], contacts.other_shape[c] = shape, other_shape
    contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2] = x, y, z
    contacts.normal[c, 0], contacts.normal[c, 1], contacts.normal[c, 2] = nx, ny, nz
    contacts.gap[c] = gap
    r = kinematics.rotation[body]
    x -= kinematics.position[body, 0]
    y -= kinematics.position[body, 1]
    z -= kinematics.position[body, 2]
    for k in range(3):
        contacts.anchor[c, k] = r[0, k] * x + r[1, k] * y + r[2, k] * z
    contacts.count[0] = c + 1


@inlined
def add_found(
    number,
    contacts: Contacts,
    kinematics: "Kinematics",
    step: float,
    workspace: "ContactWorkspace",
    memory: Memory,
    first,
    slots,
    size,
    body,
    other,
    shape,
    other_shape,
    law,
):
    """Appends the rows of `workspace.found` that touch or may do so within two steps.

    Args:
        number: number of rows; each is point, normal and gap.
        contacts: result.
        kinematics: filled for the current state.
        step: [s].
        workspace: holds the rows, and the slot of each where it is fixed (else -1).
        memory: the contacts of the last step.
        first, slots: the slots of this pair of shapes.
        size: of the smaller shape [m].
        body, other, shape, other_shape, law: see `Contacts`.
    """
    found, started = workspace.found, contacts.count[0]
    for k in range(number):
        x, y, z = found[k, 0], found[k, 1], found[k, 2]
        nx, ny, nz, gap = found[k, 3], found[k, 4], found[k, 5], found[k, 6]
        speed = normal_speed(kinematics.twist, body, other, x, y, z, nx, ny, nz)
        if gap < CONTACT_MARGIN or gap + 2.0 * step * speed < 0.0:
            slot = workspace.found_slot[k]
            add_contact(contacts, kinematics, slot, body, other, shape, other_shape, law, x, y, z, nx, ny, nz, gap)
    count = contacts.count[0] - started
    if count > 0 and contacts.slot[started] < 0:
        claim_slots(
            first,
            slots,
            count,
            contacts.anchor[started:],
            SAME_PLACE * size,
            memory,
            workspace.claimed,
            contacts.slot[started:],
        )


@kernel
def normal_speed(twist, body, other, x, y, z, nx, ny, nz):
    """Normal speed of a point of `body` relative to `other` (-1: the world) [m/s]; negative when approaching."""
    vx = twist[body, 0] + twist[body, 4] * z - twist[body, 5] * y
    vy = twist[body, 1] + twist[body, 5] * x - twist[body, 3] * z
    vz = twist[body, 2] + twist[body, 3] * y - twist[body, 4] * x
    if other >= 0:
        vx -= twist[other, 0] + twist[other, 4] * z - twist[other, 5] * y
        vy -= twist[other, 1] + twist[other, 5] * x - twist[other, 3] * z
        vz -= twist[other, 2] + twist[other, 3] * y - twist[other, 4] * x
    return nx * vx + ny * vy + nz * vz
