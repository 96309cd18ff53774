"""All that a step reads and writes, nested by room, and the rooms that take part in a step."""

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base.entry import Schedule, address_of
from grouser.physics.base.labels import ANEW, POSITION, RATE, WHOLE
from grouser.physics.base.packed import Packed
from grouser.physics.base.phases import PHASES
from grouser.physics.base.refusal import Refused
from grouser.physics.blocks import room as blocks
from grouser.physics.compliance import loops_room, springs_room
from grouser.physics.compliance.loops import LoopConstraints
from grouser.physics.compliance.springs import JointSprings
from grouser.physics.constraints import room as constraints
from grouser.physics.contact import room as contact
from grouser.physics.contact import sleeping_room as sleeping
from grouser.physics.contact.collide import Collision, first_capacity
from grouser.physics.digging import room as digging
from grouser.physics.digging.resistance import WAYS
from grouser.physics.digging.tools import Tools
from grouser.physics.granular import room as granular
from grouser.physics.granular import soil_room as grains_on_soil
from grouser.physics.hydraulics import oil_room, plain_room, published_room
from grouser.physics.hydraulics import room as hydraulics
from grouser.physics.hydraulics.prediction import IMPLICIT
from grouser.physics.joints import room as joints
from grouser.physics.lumps import room as lumps
from grouser.physics.model.command import Command
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody import pushing_room as pushing
from grouser.physics.multibody import room as multibody
from grouser.physics.soil import room as soil
from grouser.physics.soil.tiles import SoilState
from grouser.physics.soil.wheels import Wheels, WheelWorkspace, make_wheel_workspace
from grouser.physics.tracks import room as tracks
from grouser.physics.tracks.belts import Tracks, TrackWorkspace, make_track_workspace

SEMI_IMPLICIT_EULER, IMPLICIT_MIDPOINT, VARIATIONAL = range(3)
INTEGRATORS = {
    "semi_implicit": SEMI_IMPLICIT_EULER,
    "implicit_midpoint": IMPLICIT_MIDPOINT,
    "variational": VARIATIONAL,
}


class Settings(NamedTuple):
    """Settings of the steps.

    Attributes:
        step: length of a step [s].
        scheme: of the hydraulics (`hydraulics.prediction.SCHEMES`).
        tolerance: of the impulses: largest change of a row's speed in the last sweep, and in all sweeps that would
            follow [m/s or rad/s].
        most_sweeps: limit of the sweeps and of Newton's iterations.
        integrator: of the motion (`INTEGRATORS`).
    """

    step: float
    scheme: int
    tolerance: float
    most_sweeps: int
    integrator: int


class System(NamedTuple):
    """All that is constant: settings, and read-only arrays of each room."""

    settings: Settings
    multibody: MultibodyModel
    pushing: pushing.System
    springs: JointSprings
    joints: joints.System
    loops: LoopConstraints
    soil: Wheels
    tracks: Tracks
    digging: Tools
    hydraulics: hydraulics.System
    contact: Collision
    sleeping: sleeping.System
    granular: granular.System
    blocks: blocks.System


class State(NamedTuple):
    """Exactly the data that a bit-exact restart needs, nothing derived.

    Attributes:
        step_count: steps since the start, (1,).
        q: positions, in the order of `MultibodyModel` [m, rad, unit quaternion].
        v: coordinate rates [m/s, rad/s].
        energy_start: kinetic, potential and elastic energy when the accounts of work were opened [J], (3,).
        multibody, pushing, springs, joints, loops, soil, tracks, digging, hydraulics, contact, sleeping, granular,
            blocks, constraints: states of the rooms.
    """

    step_count: np.ndarray
    q: np.ndarray
    v: np.ndarray
    energy_start: np.ndarray
    multibody: multibody.State
    pushing: pushing.State
    springs: springs_room.State
    joints: joints.State
    loops: loops_room.State
    soil: SoilState
    tracks: tracks.State
    digging: digging.State
    hydraulics: hydraulics.State
    contact: contact.State
    sleeping: sleeping.State
    granular: granular.State
    blocks: blocks.State
    constraints: constraints.State


# What the rows of each array belong to (`base.labels`).
LABELS: Any = State(
    step_count=WHOLE,
    q=POSITION,
    v=RATE,
    energy_start=ANEW,
    multibody=multibody.LABELS,
    pushing=pushing.LABELS,
    springs=springs_room.LABELS,
    joints=joints.LABELS,
    loops=loops_room.LABELS,
    soil=soil.LABELS,
    tracks=tracks.LABELS,
    digging=digging.LABELS,
    hydraulics=hydraulics.LABELS,
    contact=contact.LABELS,
    sleeping=sleeping.LABELS,
    granular=granular.LABELS,
    blocks=blocks.LABELS,
    constraints=constraints.LABELS,
)


class Workspace(NamedTuple):
    """Buffers of a step, room by room."""

    multibody: multibody.Workspace
    pushing: pushing.Workspace
    springs: springs_room.Workspace
    joints: joints.Workspace
    loops: loops_room.Workspace
    soil: WheelWorkspace
    tracks: TrackWorkspace
    digging: digging.Workspace
    hydraulics: hydraulics.Workspace
    contact: contact.Workspace
    sleeping: sleeping.Workspace
    granular: granular.Workspace
    blocks: blocks.Workspace
    constraints: constraints.Workspace


class StepContext(NamedTuple):
    """All that a step reads and writes."""

    system: System
    state: State
    command: Command
    workspace: Workspace
    schedule: Schedule


def make_state(system: System) -> State:
    """A state at rest in the initial positions, with no pressure in the hydraulic lines."""
    model = system.multibody
    return State(
        step_count=np.zeros(1, dtype=np.int64),
        q=np.array(model.q_initial),
        v=np.zeros(len(model.rate_damping)),
        energy_start=np.zeros(3),
        multibody=multibody.make_state(model),
        pushing=pushing.make_state(system.pushing),
        springs=springs_room.make_state(system.springs, model),
        joints=joints.make_state(system.joints),
        loops=loops_room.make_state(system.loops),
        soil=soil.make_state(system.soil),
        tracks=tracks.make_state(system.tracks),
        digging=digging.make_state(system.digging),
        hydraulics=hydraulics.make_state(system.hydraulics),
        contact=contact.make_state(system.contact),
        sleeping=sleeping.make_state(system.sleeping, first_capacity(system.contact).contacts),
        granular=granular.make_state(system.granular),
        blocks=blocks.make_state(system.blocks),
        constraints=constraints.make_state(_row_count(system), model.rate_first.shape[0]),
    )


def make_workspace(system: System) -> Workspace:
    """Buffers for a system."""
    model, coordinates = system.multibody, len(system.multibody.rate_damping)
    capacity = first_capacity(system.contact)
    return Workspace(
        multibody=multibody.make_workspace(model),
        pushing=pushing.make_workspace(system.pushing),
        springs=springs_room.make_workspace(system.springs),
        joints=joints.make_workspace(system.joints, coordinates),
        loops=loops_room.make_workspace(system.loops, model),
        soil=make_wheel_workspace(system.soil, coordinates),
        tracks=make_track_workspace(system.tracks, coordinates),
        digging=digging.make_workspace(system.digging),
        hydraulics=hydraulics.make_workspace(system.hydraulics, system.settings.step),
        contact=contact.make_workspace(system.contact, model, capacity),
        sleeping=sleeping.make_workspace(system.sleeping, model, capacity.contacts),
        granular=granular.make_workspace(system.granular),
        blocks=blocks.make_workspace(system.blocks),
        constraints=constraints.make_workspace(_row_count(system), capacity.contacts, coordinates),
    )


def rooms_of(system: System) -> tuple[ModuleType, ...]:
    """The rooms that take part in the steps of a system, in their order in each phase."""
    oil = hydraulics.acts(system.hydraulics)
    implicit = system.settings.scheme == IMPLICIT
    rooms = {
        multibody: True,
        pushing: pushing.acts(system.pushing),
        springs_room: springs_room.acts(system.springs, system.multibody),
        joints: joints.acts(system.joints),
        loops_room: loops_room.acts(system.loops),
        grains_on_soil: grains_on_soil.acts(system.granular),
        soil: soil.acts(system.soil),
        tracks: tracks.acts(system.tracks),
        digging: digging.acts(system.digging),
        hydraulics: oil,
        published_room: oil and not implicit,
        plain_room: oil and implicit and len(system.hydraulics.network.plain_part) > 0,
        oil_room: oil and implicit,
        contact: contact.acts(system.contact),
        sleeping: sleeping.acts(system.sleeping),
        lumps: lumps.acts(system.granular),
        granular: granular.acts(system.granular),
        blocks: blocks.acts(system.blocks),
        constraints: True,
    }
    return tuple(room for room, acts in rooms.items() if acts)


def refused_by_rooms(system: System) -> Refused:
    """What is present in a system that some integrators cannot simulate."""
    return {
        **contact.refused(system.contact),
        **sleeping.refused(system.sleeping),
        **granular.refused(system.granular),
        **blocks.refused(system.blocks),
        **hydraulics.refused(system.hydraulics),
        **soil.refused(system.soil),
        **tracks.refused(system.tracks),
        **digging.refused(system.digging),
        **joints.refused(system.joints),
        **loops_room.refused(system.loops),
        **springs_room.refused(system.springs),
    }


# Rooms with accounts of energy, in the order in which these are read.
ACCOUNTS = (pushing, joints, hydraulics, springs_room, loops_room, contact, soil, tracks, digging, granular, blocks)


def entries_of(system: System) -> list[list[Any]]:
    """The entries of each phase that a system needs."""
    rooms = rooms_of(system)
    return [[getattr(room, phase) for room in rooms if hasattr(room, phase)] for phase in PHASES]


def make_schedule(system: System) -> Schedule:
    """Arrays for the addresses of a system's entries, 0 each; `fill_schedule` fills them."""
    counts = [len(entries) for entries in entries_of(system)]
    return Schedule(np.concatenate([[0], np.cumsum(counts)]), np.zeros(sum(counts), dtype=np.int64))


def fill_schedule(system: System, context: Packed) -> None:
    """Compiles the entries of a system, if they are not in the cache, and writes their addresses."""
    entries = [entry for phase in entries_of(system) for entry in phase]
    context.schedule.entry[:] = [address_of(entry, context) for entry in entries]


def _row_count(system: System) -> int:
    """Number of possible rows: one of each joint law and actuator, and those of the shovels."""
    one_each = len(system.joints.laws.rate_index) + len(system.hydraulics.geometry.valve)
    return one_each + WAYS * len(system.digging.body)
