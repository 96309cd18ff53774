"""Phases of tracks on the ground."""

from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base.accounts import AccountView, Ledger
from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import kernel
from grouser.physics.base.labels import ANEW, PAD, TRACK
from grouser.physics.base.refusal import SMOOTH, Refused, present
from grouser.physics.tracks.belts import BELT_WORK, PAD_WORK, SHEAR_WORK, SOIL_WORK, WORKS, Tracks
from grouser.physics.tracks.coupling import apply_track_forces, commit_tracks


class State(NamedTuple):
    """State of the tracks.

    Attributes:
        shear: of the ground under each pad, along the world's x and y [-], and length that touches [m], (pads, 3).
        work: on each track: PAD_WORK, SOIL_WORK, SHEAR_WORK, BELT_WORK [J], (tracks, WORKS).
        travel: way of each belt over its wheels beyond that by its sprocket [m], (tracks,).
        loose: way that the sprocket turns over until its teeth hold the belt again [m]; infinite of a belt that is
            thrown, (tracks,).
        jumped: teeth over which the belt has jumped, (tracks,).
    """

    shear: np.ndarray
    work: np.ndarray
    travel: np.ndarray
    loose: np.ndarray
    jumped: np.ndarray


LABELS: Any = State(shear=PAD, work=ANEW, travel=TRACK, loose=TRACK, jumped=TRACK)


def make_state(tracks: Tracks) -> State:
    """Tracks that have not moved."""
    count = len(tracks.body)
    pads = int(tracks.pad_start[-1])
    return State(np.zeros((pads, 3)), np.zeros((count, WORKS)), np.zeros(count), np.zeros(count), np.zeros(count))


def acts(tracks: Tracks) -> bool:
    """Whether there are tracks on the ground."""
    return len(tracks.body) > 0


def refused(tracks: Tracks) -> Refused:
    """Refused by smooth integrators: the shoes separate from the ground."""
    return present({"tracks": len(tracks.body) > 0}, SMOOTH)


@kernel
def apply_forces(context: Context):
    """Adds the ground's forces on every track at the predicted motion."""
    system, state, motion = context.system, context.state, context.workspace.multibody
    apply_track_forces(
        *(system.tracks, system.soil, system.multibody, system.contact.terrain, motion.kinematics, state.q, state.v),
        *(state.tracks, state.soil, system.settings.step, context.workspace.tracks, motion.mass, motion.force),
    )


@kernel
def commit(context: Context):
    """Advances the tracks and the soil by the motion of the step."""
    system, state, motion = context.system, context.state, context.workspace.multibody
    commit_tracks(
        *(system.tracks, system.soil, system.multibody, system.contact.terrain, motion.kinematics, motion.velocity),
        *(system.settings.step, state.tracks, state.soil, context.workspace.tracks),
    )
    for t in range(system.tracks.body.shape[0]):
        if context.workspace.tracks.listed[t] > 0 and system.tracks.body[t] >= 0:
            motion.touched[system.tracks.body[t]] = True


def open_accounts(view: AccountView) -> None:
    """No work yet."""
    view.state.tracks.work[...] = 0.0


def read_accounts(view: AccountView, ledger: Ledger) -> None:
    """Losses in pads, soil and shear of each track, and what sprung wheels have given to the tensioner of its belt."""
    for name, work in zip(ledger.owners.track, view.state.tracks.work, strict=False):
        ledger.add_loss(f"pads of track {name}", -work[PAD_WORK])
        ledger.add_loss(f"soil pressed by track {name}", -work[SOIL_WORK])
        ledger.add_loss(f"shear under track {name}", -work[SHEAR_WORK])
        ledger.add_loss(f"tensioner of track {name}", -work[BELT_WORK])
