"""Contacts of the last step; forces of contacts and soil on links."""

from collections.abc import Sequence

import numpy as np

from grouser.physics.description.data.soil import Wheel
from grouser.physics.integrators.context import System, Workspace
from grouser.physics.model.multibody import Names
from grouser.physics.readings.measurements import Contact


def contact_records(workspace: Workspace, own: np.ndarray, names: Sequence[str], step: float) -> list[Contact]:
    """Contacts of some shapes, from their side, in the pose at the start of the step.

    Args:
        workspace: of the last step.
        own: whether each shape is one of them, the ground last, (shapes + 1,).
        names: of all shapes, the ground last.
        step: its length [s].
    """
    found, count = workspace.contact.contacts, workspace.contact.contacts.count[0]
    shape, other = found.shape[:count], found.other_shape[:count]
    rows = np.flatnonzero(own[shape] | own[other])
    swapped = ~own[shape[rows]]
    side = np.where(swapped, -1.0, 1.0)[:, np.newaxis]
    columns = (
        [names[s] for s in np.where(swapped, other[rows], shape[rows])],
        [names[s] for s in np.where(swapped, shape[rows], other[rows])],
        workspace.multibody.kinematics.origin + found.point[rows],
        side * found.normal[rows],
        side * found.impulse[rows] / step,
        (-found.gap[rows]).tolist(),
    )
    return [Contact(*row) for row in zip(*columns, strict=True)]


def contact_wrenches(
    system: System, workspace: Workspace, frames: tuple[np.ndarray, np.ndarray], wanted: np.ndarray
) -> np.ndarray:
    """Force [N] and moment [N m] of all contacts on some links, each at its origin in its frame, (links, 6).

    Args:
        system, workspace: of the last step.
        frames: rotations and positions of all link frames in the world, (links, 3, 3) and (links, 3) [m].
        wanted: whether each link is one of them, (links,); the others have zeros.
    """
    found, rows, shapes = workspace.contact.contacts, workspace.contact.rows, system.contact.shapes
    count, step = found.count[0], system.settings.step
    rotation, position = frames
    wrench = np.zeros((len(position), 2, 3))
    for shape, sign in ((found.shape[:count], 1.0), (found.other_shape[:count], -1.0)):
        every = np.where(shape >= 0, shapes.link[shape], -1)
        on = np.flatnonzero((every >= 0) & wanted[every])
        link, force = every[on], found.impulse[on] / step
        resists = (rows.spinning[on] > 0.0) | (rows.rolling[on] > 0.0)
        turning = np.einsum("ck,ckm->cm", rows.moment[on], rows.frame[on]) * resists[:, None] / step
        place = workspace.multibody.kinematics.origin + found.point[on] - position[link]
        np.add.at(wrench, link, sign * np.stack([force, np.cross(place, force) + turning], axis=1))
    # For row vectors, v @ R is the product of R's transpose and v.
    return (wrench @ rotation).reshape(-1, 6)


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
        wrench[link] += force, moment + np.cross(place, force)
    return (wrench @ rotation).reshape(-1, 6)
