"""Records of tracks on the ground, and the forces on the links that carry them."""

import math
from collections.abc import Sequence

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.integrators.context import Workspace
from grouser.physics.model.multibody import Names
from grouser.physics.readings.measurements import TrackState
from grouser.physics.soil.memory import shown_slip
from grouser.physics.tracks.belts import FIGURES, MOTION

# A track that turns more slowly has no centre of rotation [rad/s].
_STRAIGHT = 1e-6


def track_state(figure: np.ndarray | None) -> TrackState:
    """State of a track.

    Args:
        figure: a row of `TrackWorkspace.figure`; None without a ground.
    """
    values = np.zeros(len(FIGURES)) if figure is None else figure
    found = dict(zip(FIGURES, values.tolist(), strict=True))
    belt, speed, aside, yaw = (found[name] for name in ("belt_speed", "ground_speed", "side_speed", "yaw_rate"))
    ratio, angle = shown_slip(belt, speed, aside)
    turns = abs(yaw) > _STRAIGHT
    return TrackState(
        belt_speed=belt,
        speed=speed,
        side_speed=aside,
        yaw_rate=yaw,
        slip_ratio=ratio,
        slip_angle=angle,
        rotation_centre=(-aside / yaw, (speed - belt) / yaw) if turns else (math.nan, math.nan),
        normal_force=found["normal_force"],
        thrust=found["thrust"],
        resistance=found["resistance"],
        drawbar_pull=found["thrust"] - found["resistance"],
        side_force=found["side_force"],
        sinkage=found["sinkage"],
        peak_pressure=found["peak_pressure"],
        tight_tension=found["tight_tension"],
        slack_tension=found["slack_tension"],
        shoes_in_contact=found["shoes_in_contact"],
    )


def track_wrenches(
    machine: Machine, names: Names, workspace: Workspace, frames: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Force and moment of the ground under the shoes on each link, as `contact_wrenches`, (links, 6).

    They act on the link that carries the track; the belt passes their share along it on to the sprocket.
    """
    rotation, position = frames
    wrench = np.zeros((len(position), 2, 3))
    carriers: dict[str, str] = {joint.name: joint.parent for joint in machine.joints}
    links: Sequence[str] = [carriers[track.sprocket] for track in machine.tracks]
    work = workspace.tracks
    for name, pushed, centre in zip(links, work.wrench[:, : MOTION - 1], work.centre, strict=False):
        link = names.link_index(name)
        force, moment = np.split(pushed, 2)
        place = workspace.multibody.kinematics.origin + centre - position[link]
        wrench[link] += force, moment + np.cross(place, force)
    return (wrench @ rotation).reshape(-1, 6)
