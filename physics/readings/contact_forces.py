"""Contacts of the last step; forces of contacts and soil on links."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from grouser.physics.base.spatial import cross_product, cross_products
from grouser.physics.description.data.soil import Wheel
from grouser.physics.integrators.context import State, System, Workspace
from grouser.physics.model.names import Names
from grouser.physics.readings.measurements import Contact


class _Contacts(NamedTuple):
    """Contacts of the last step and of sleeping bodies, in world axes.

    Attributes:
        shape, other_shape: index into the shapes, -1 for the ground.
        point, normal: in the pose at the start of the step [m]; the normal points to the first shape.
        force: on it [N].
        moment: on it by the resistance against rotation [N m].
        gap: [m].
    """

    shape: np.ndarray
    other_shape: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    force: np.ndarray
    moment: np.ndarray
    gap: np.ndarray


def contact_records(
    state: State, workspace: Workspace, system: System, own: np.ndarray, names: Sequence[str]
) -> list[Contact]:
    """Contacts of some shapes, from their side, in the pose at the start of the step.

    Args:
        state, workspace, system: after the last step.
        own: whether each shape is one of them, the ground last, (shapes + 1,).
        names: of all shapes, the ground last.
    """
    if not any_contact(state, workspace):
        return []
    found = _all_contacts(system, state, workspace)
    shape, other = found.shape, found.other_shape
    rows = np.flatnonzero(own[shape] | own[other])
    swapped = ~own[shape[rows]]
    side = np.where(swapped, -1.0, 1.0)[:, np.newaxis]
    columns = (
        [names[s] for s in np.where(swapped, other[rows], shape[rows])],
        [names[s] for s in np.where(swapped, shape[rows], other[rows])],
        found.point[rows],
        side * found.normal[rows],
        side * found.force[rows],
        (-found.gap[rows]).tolist(),
    )
    return [Contact(*row) for row in zip(*columns, strict=True)]


def contact_wrenches(
    system: System,
    state: State,
    workspace: Workspace,
    frames: tuple[np.ndarray, np.ndarray],
    wanted: np.ndarray,
    others: np.ndarray | None = None,
) -> np.ndarray:
    """Force [N] and moment [N m] of contacts on some links, each at its origin in its frame, (links, 6).

    Args:
        system, state, workspace: after the last step.
        frames: rotations and positions of all link frames in the world, (links, 3, 3) and (links, 3) [m].
        wanted: whether each link is one of them, (links,); the others have zeros.
        others: whether contacts with each shape count, the ground last, (shapes + 1,); None: all do.
    """
    rotation, position = frames
    if not any_contact(state, workspace):
        return np.zeros((len(position), 6))
    found, shapes = _all_contacts(system, state, workspace), system.contact.shapes
    wrench = np.zeros((len(position), 2, 3))
    for shape, other, sign in ((found.shape, found.other_shape, 1.0), (found.other_shape, found.shape, -1.0)):
        every = np.where(shape >= 0, shapes.link[shape], -1)
        on = np.flatnonzero((every >= 0) & wanted[every] & (True if others is None else others[other]))
        link, force = every[on], found.force[on]
        moment = cross_products(found.point[on] - position[link], force) + found.moment[on]
        np.add.at(wrench, link, sign * np.stack([force, moment], axis=1))
    # For row vectors, v @ R is the product of R's transpose and v.
    return (wrench @ rotation).reshape(-1, 6)


def any_contact(state: State, workspace: Workspace) -> bool:
    """Whether there is any contact, of the last step or at rest."""
    return bool(workspace.contact.contacts.count[0] or state.sleeping.contacts.memory.count[0])


def touches_any(state: State, workspace: Workspace, others: np.ndarray) -> bool:
    """Whether any contact is one with some shapes, as in `contact_wrenches`: quick, as most often there is none."""
    stepped, laid = workspace.contact.contacts, state.sleeping.contacts
    parts = (stepped, int(stepped.count[0])), (laid, int(laid.memory.count[0]))
    return any(others[part.shape[:count]].any() or others[part.other_shape[:count]].any() for part, count in parts)


def _all_contacts(system: System, state: State, workspace: Workspace) -> _Contacts:
    """The contacts of the step, and after them those that rest."""
    found, rows, kinematics = workspace.contact.contacts, workspace.contact.rows, workspace.multibody.kinematics
    count, step = int(found.count[0]), system.settings.step
    resists = (rows.spinning[:count] > 0.0) | (rows.rolling[:count] > 0.0)
    stepped = _Contacts(
        found.shape[:count],
        found.other_shape[:count],
        kinematics.origin + found.point[:count],
        found.normal[:count],
        found.impulse[:count] / step,
        np.einsum("ck,ckm->cm", rows.moment[:count], rows.frame[:count]) * resists[:, None] / step,
        found.gap[:count],
    )
    laid = state.sleeping.contacts
    some = slice(0, int(laid.memory.count[0]))
    body = system.contact.shapes.body[laid.shape[some]]
    turned = np.einsum("ckm,cm->ck", kinematics.rotation[body], laid.memory.anchor[some])
    resting = _Contacts(
        laid.shape[some],
        laid.other_shape[some],
        kinematics.origin + kinematics.position[body] + turned,
        laid.normal[some],
        laid.memory.impulse[some] / step,
        laid.memory.moment[some] / step,
        laid.gap[some],
    )
    return _Contacts(*map(np.concatenate, zip(stepped, resting, strict=True)))


def soil_wrenches(
    wheels: Sequence[Wheel], names: Names, workspace: Workspace, frames: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Force and moment of the soil under each wheel, as `contact_wrenches`, in the order of the workspace's wheels."""
    rotation, position = frames
    wrench = np.zeros((len(position), 2, 3))
    for wheel, pushed, centre in zip(wheels, workspace.soil.wrench, workspace.soil.centre, strict=True):
        link = names.link_index(wheel.link)
        force, moment = np.split(pushed, 2)
        place = workspace.multibody.kinematics.origin + centre - position[link]
        wrench[link] += force, moment + cross_product(place, force)
    return (wrench @ rotation).reshape(-1, 6)
