"""Records of tracks on the ground, and the forces on the links that carry them."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from grouser.physics.base.spatial import cross_product
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.track import Track
from grouser.physics.integrators.context import Workspace
from grouser.physics.model.names import Names
from grouser.physics.readings.measurements import TrackState
from grouser.physics.soil.memory import shown_slip
from grouser.physics.tracks.belts import FIGURES, TOUCHING, Tracks, TrackWorkspace
from grouser.physics.tracks.running_wheels import sprung_force, sprung_wheels

# Sine of the slope across a track from which on it lies on its side.
_LYING = 0.7
# A track that turns more slowly has no centre of rotation [rad/s].
_STRAIGHT = 1e-6


def track_state(figure: np.ndarray | None, jumped: float = 0.0, thrown: bool = False) -> TrackState:
    """State of a track.

    Args:
        figure: a row of `TrackWorkspace.figure`; None without a ground.
        jumped: teeth over which the belt has jumped.
        thrown: whether the belt is off its wheels.
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
        jumped_teeth=jumped,
        thrown=thrown,
    )


def lying_on_soil(tracks: Sequence[Track], work: TrackWorkspace, warned: set[str]) -> Iterator[str]:
    """Warnings of tracks that lie on their sides on soft soil, where they touch with the edges of shoes alone, once.

    Args:
        tracks: of the machine.
        work: of the last step.
        warned: names that have been warned of, changed.
    """
    for track, listed, soils, frame, figure in zip(
        tracks, work.listed, work.soil, work.frame, work.figure, strict=False
    ):
        lies = abs(frame[1, 2]) > _LYING and figure[TOUCHING] > 0.0 and soils[:listed].max() >= 0
        name = f'track "{track.name}"'
        if lies and name not in warned:
            warned.add(name)
            yield (
                f"{name} lies on its side on soft soil: the edges of its shoes alone carry it, so that it sinks deeper "
                "than on its flank and may roll"
            )


def track_wrenches(
    machine: Machine, names: Names, tracks: Tracks, workspace: Workspace, frames: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Force and moment of the ground under the shoes on each link, as `contact_wrenches`, (links, 6).

    They act on the link that carries the track, less what acts on the suspensions of its wheels, with the belt's
    tension; the belt passes their share along it on to the sprocket.
    """
    rotation, position = frames
    wrench = np.zeros((len(position), 2, 3))
    carriers: dict[str, str] = {joint.name: joint.parent for joint in machine.joints}
    links: Sequence[str] = [carriers[track.sprocket] for track in machine.tracks]
    work, origin = workspace.tracks, workspace.multibody.kinematics.origin
    for name, pushed, centre in zip(links, work.wrench, work.centre, strict=False):
        link = names.link_index(name)
        _push(wrench, position, link, pushed[:3], origin + centre, pushed[3:6])
    wheels = tracks.wheels
    for t, wheel in sprung_wheels(tracks):
        link, holder = names.link_index(links[t]), wheels.link[wheel]
        force = sprung_force(tracks, work, t, wheel)
        place = names.link_rotation[holder].T @ (wheels.place[wheel] - names.link_position[holder])
        at = position[holder] + rotation[holder] @ place
        _push(wrench, position, holder, force, at)
        _push(wrench, position, link, -force, at)
    return (wrench @ rotation).reshape(-1, 6)


def _push(wrench, position, link, force, at, moment=0.0):
    """Adds a force at a place of the world, and a moment, to those on a link."""
    wrench[link] += force, moment + cross_product(at - position[link], force)
