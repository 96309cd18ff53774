"""Events of a recording: all changes made to a simulation, and its states.

Each event has the step before which it happened, by the count of the time stamps: a reset clears the simulation's own
count, but not this one, unless time was rewound. Steps between two events were made with nothing changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grouser.physics.description import parse_machine
from grouser.physics.description.data.machine import Member
from grouser.physics.description.data.pose import Pose, Vector3

Quaternion = tuple[float, float, float, float]


@dataclass(frozen=True)
class Commanded:
    """Commands of valves and drives."""

    step: int
    values: Mapping[str, float]


@dataclass(frozen=True)
class Pushed:
    """A push on a link, until the next one; without force and moment: its end.

    Attributes:
        step: before which.
        machine: whose link it is.
        link: its name in that machine.
        force: at the link's origin, along the world's axes [N].
        moment: about the world's axes [N m].
    """

    step: int
    machine: str
    link: str
    force: Vector3
    moment: Vector3


@dataclass(frozen=True)
class StateGiven:
    """The recording begins here, in the midst of a run: the state and what was commanded.

    Attributes:
        step: count of the time stamps.
        state, command: arrays of a `Snapshot`, as of `state_arrays.written`.
    """

    step: int
    state: Mapping[str, Mapping[str, Any]]
    command: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class FaultsChanged:
    """All active faults from now on, by component and name."""

    step: int
    faults: Mapping[str, Mapping[str, bool | float]]


@dataclass(frozen=True)
class BridgeFaultsChanged:
    """All active faults of a bridge from now on, by name; the simulation sees only what the bridge commands.

    Attributes:
        step: before which.
        machine: that the bridge is of.
        bridge: full name of its node.
        faults: ``loss``, ``stale_stick`` ... -> value.
    """

    step: int
    machine: str
    bridge: str
    faults: Mapping[str, bool | float]


@dataclass(frozen=True)
class Stopped:
    """Emergency stop of one machine."""

    step: int
    machine: str


@dataclass(frozen=True)
class Released:
    """The emergency stop of one machine was released."""

    step: int
    machine: str


@dataclass(frozen=True)
class WasReset:
    """The machine was reset; the count of steps continued from another number if time was rewound."""

    step: int
    continues_at: int


@dataclass(frozen=True)
class Joined:
    """A machine was added.

    Attributes:
        step: before which.
        machine: its name.
        file: its file.
        urdf: its text, with xacro expanded.
        base: floating or fixed.
        packages: folders of ROS packages by name, as they were given.
        position, quaternion: of its root link in the world [m], x y z w.
        more: whether the next event is a machine that was added together with it.
    """

    step: int
    machine: str
    file: str
    urdf: str
    base: str
    packages: Mapping[str, str]
    position: Vector3
    quaternion: Quaternion
    more: bool = False

    def member(self) -> Member:
        """The machine with its pose.

        Raises:
            MachineError: its text is not valid.
        """
        machine = parse_machine(self.urdf, self.file, self.base, self.packages)
        return Member(machine, Pose(self.position, self.quaternion))


def joined_together(members: Mapping[str, Member], step: int) -> list[Joined]:
    """Events of machines with names and poses that are added at once."""
    more = [True] * (len(members) - 1) + [False] * bool(members)
    return [_joined(step, name, member, others) for (name, member), others in zip(members.items(), more, strict=True)]


def _joined(step: int, name: str, member: Member, more: bool) -> Joined:
    machine, pose = member.machine, member.pose or Pose()
    packages = dict(machine.packages)
    return Joined(
        *(step, name, machine.file, machine.source, machine.base, packages, pose.position, pose.quaternion, more)
    )


@dataclass(frozen=True)
class Left:
    """A machine was removed."""

    step: int
    machine: str


@dataclass(frozen=True)
class Placed:
    """A machine was moved to another pose.

    Attributes:
        step: before which.
        machine: its name.
        position, quaternion: of its root link in the world [m], x y z w.
        linear, angular: its velocities along the world's axes [m/s, rad/s].
    """

    step: int
    machine: str
    position: Vector3
    quaternion: Quaternion
    linear: Vector3
    angular: Vector3


@dataclass(frozen=True)
class WorldLoaded:
    """All machines were removed, and a world with this text and file was loaded; both empty: none."""

    step: int
    file: str
    world: str


@dataclass(frozen=True)
class Rewound:
    """The count of steps was set to zero; the machine was not changed."""

    step: int


@dataclass(frozen=True)
class Diverged:
    """The step before this count diverged; `problem` names the quantity."""

    step: int
    problem: str


@dataclass(frozen=True)
class StateReached:
    """The state had this hash (`state_hash`)."""

    step: int
    hash: str


Event = (
    Commanded
    | Pushed
    | StateGiven
    | FaultsChanged
    | BridgeFaultsChanged
    | Stopped
    | Released
    | WasReset
    | Rewound
    | Joined
    | Left
    | Placed
    | WorldLoaded
    | Diverged
    | StateReached
)

TOPICS: dict[str, type[Event]] = {
    "state": StateGiven,
    "commands": Commanded,
    "push": Pushed,
    "faults": FaultsChanged,
    "bridge_faults": BridgeFaultsChanged,
    "emergency_stop": Stopped,
    "release": Released,
    "reset": WasReset,
    "joined": Joined,
    "left": Left,
    "placed": Placed,
    "world": WorldLoaded,
    "rewinding": Rewound,
    "divergence": Diverged,
    "state_hash": StateReached,
}
TOPIC_OF = {kind: topic for topic, kind in TOPICS.items()}

_STEP = {"type": "integer", "minimum": 0}
_TEXT = {"type": "string"}
_NUMBERS = {"type": "array", "items": {"type": "number"}}
# JSON schemas of the fields, for plots in Foxglove.
_FIELDS: dict[str, dict[str, Any]] = {
    "state": {"step": _STEP, "state": {"type": "object"}, "command": {"type": "object"}},
    "commands": {"step": _STEP, "values": {"type": "object", "additionalProperties": {"type": "number"}}},
    "push": {"step": _STEP, "machine": _TEXT, "link": _TEXT, "force": _NUMBERS, "moment": _NUMBERS},
    "faults": {"step": _STEP, "faults": {"type": "object", "additionalProperties": {"type": "object"}}},
    "bridge_faults": {
        "step": _STEP,
        "machine": _TEXT,
        "bridge": _TEXT,
        "faults": {"type": "object", "additionalProperties": {"type": ["boolean", "number"]}},
    },
    "emergency_stop": {"step": _STEP, "machine": _TEXT},
    "release": {"step": _STEP, "machine": _TEXT},
    "reset": {"step": _STEP, "continues_at": _STEP},
    "joined": {
        "step": _STEP,
        "machine": _TEXT,
        "file": _TEXT,
        "urdf": _TEXT,
        "base": _TEXT,
        "packages": {"type": "object", "additionalProperties": _TEXT},
        "position": _NUMBERS,
        "quaternion": _NUMBERS,
        "more": {"type": "boolean"},
    },
    "left": {"step": _STEP, "machine": _TEXT},
    "placed": {
        "step": _STEP,
        "machine": _TEXT,
        "position": _NUMBERS,
        "quaternion": _NUMBERS,
        "linear": _NUMBERS,
        "angular": _NUMBERS,
    },
    "world": {"step": _STEP, "file": _TEXT, "world": _TEXT},
    "rewinding": {"step": _STEP},
    "divergence": {"step": _STEP, "problem": _TEXT},
    "state_hash": {"step": _STEP, "hash": _TEXT},
}
SCHEMAS: dict[str, dict[str, Any]] = {
    topic: {"type": "object", "properties": fields, "required": list(fields)} for topic, fields in _FIELDS.items()
}
