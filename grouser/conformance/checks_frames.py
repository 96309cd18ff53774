"""Frames: one tree from the frame of the world to every link (REP-105), and every message's frame in it."""

import math
from dataclasses import dataclass, field
from typing import Any

from grouser.conformance.report import Section
from grouser.conformance.standard import OUTPUTS, VALUES
from grouser.conformance.subject import Subject

_UNIT = 1e-5  # tolerance of a quaternion in single precision, as some simulators compute it
_NAMED = 3  # number of frames that a row names
# Messages without a frame in their header.
_FRAMELESS = ("sensor_msgs/JointState", "diagnostic_msgs/DiagnosticArray", "tf2_msgs/TFMessage", VALUES)


@dataclass
class Tree:
    """The transforms of /tf and /tf_static: child -> its parents."""

    parents: dict[str, set[str]] = field(default_factory=dict)

    def frames(self) -> set[str]:
        """All frames."""
        return set(self.parents) | {parent for parents in self.parents.values() for parent in parents}

    def ancestors(self, frame: str) -> list[str]:
        """Ancestors of a frame, nearest first."""
        found: list[str] = []
        while (parents := self.parents.get(frame)) and (parent := sorted(parents)[0]) not in found:
            found.append(parent)
            frame = parent
        return found

    def roots(self) -> list[str]:
        """Frames without a parent, in alphabetical order."""
        return sorted(self.frames() - self.parents.keys())

    def top(self, frame: str) -> str:
        """The root of the tree that a frame is in."""
        return ([frame, *self.ancestors(frame)])[-1]


def check_frames(subject: Subject, section: Section) -> None:
    """Checks the transforms and the frames of messages."""
    if not subject.watch():
        section.skip("frames", "one tree", "no time received: paused?")
        return
    tree, transforms = Tree(), []
    for name in ("/tf", "/tf_static"):
        stream = subject.stream(name)
        for message in [] if stream is None else stream.recording.messages:
            for transform in message.transforms:
                tree.parents.setdefault(transform.child_frame_id, set()).add(transform.header.frame_id)
                transforms.append(transform)
    if not transforms:
        section.skip("frames", "one tree", "no transforms received")
        return
    several = sorted(child for child, parents in tree.parents.items() if len(parents) > 1)
    section.check("parents of a frame", "one", ", ".join(several) or "one", not several)
    rotations = [transform.transform.rotation for transform in transforms]
    worst = max(abs(_length(rotation) - 1.0) for rotation in rotations)
    section.check("rotations in /tf", "unit quaternions", f"off by {worst:.1g}", worst <= _UNIT)
    _check_root(subject, section, tree)
    _check_base(subject, section, tree)
    _check_links(subject, section, tree)
    _check_messages(subject, section, tree)


def _check_root(subject: Subject, section: Section, tree: Tree) -> None:
    """One tree over all machines, unless its parts are left to others."""
    world, roots = subject.parameters["map_frame"], tree.roots()
    others = {"publish_map_tf": "whoever localizes", "publish_link_tf": "a robot_state_publisher"}
    left = [other for parameter, other in others.items() if not subject.parameters[parameter]]
    if roots != [world] and left:
        section.skip("root of all frames", world, f"left to {' and '.join(left)}")
        return
    section.check("root of all frames", world, _named(roots, "roots"), roots == [world])


def _check_base(subject: Subject, section: Section, tree: Tree) -> None:
    """The chain from the odometry frame by the footprint to the base."""
    description = subject.description
    odometry, footprint = (subject.parameters[name] for name in ("odom_frame", "base_footprint_frame"))
    if description is None:
        section.skip("base", f"{odometry} -> {footprint}", "no machine is described")
        return
    if not description.floating_base:
        section.absent("base", f"{odometry} -> {footprint}", "the base is fixed to the world")
        return
    base = "base_link" if "base_link" in description.links else description.root
    chain = list(dict.fromkeys([odometry, footprint, base]))
    found = [base, *tree.ancestors(base)][::-1]
    begin = found.index(odometry) if odometry in found else 0
    seen = found[begin:]
    neighbours = odometry in found and found[begin + 1 : begin + 2] == [footprint]
    section.check("base", " -> ".join(chain), " -> ".join(seen), neighbours and seen[-1] == base)


def _check_links(subject: Subject, section: Section, tree: Tree) -> None:
    description = subject.description
    if description is None:
        section.skip("links", "all in one tree", "no machine is described")
        return
    root = tree.top(description.root)
    lost = [link for link in description.links if link != description.root and tree.top(link) != root]
    seen = f"{len(description.links)} below {root}" if not lost else f"not: {', '.join(lost)}"
    if lost and not subject.parameters["publish_link_tf"]:
        section.skip("links", "all in one tree", "left to a robot_state_publisher")
        return
    section.check("links", "all in one tree", seen, not lost)


def _check_messages(subject: Subject, section: Section, tree: Tree) -> None:
    known = tree.frames()
    if not subject.parameters["publish_map_tf"]:
        known.add(subject.parameters["map_frame"])
    for output in OUTPUTS:
        streams = subject.of(output.name)
        frames = {f for stream in streams for message in stream.recording.messages for f in _frames(message)}
        if output.type in _FRAMELESS or not frames:
            continue
        others = _objects(subject) if output.name == "objects/shapes" else set()
        strange = sorted(frames - known - others)
        seen = f"not: {', '.join(map(repr, strange))}" if strange else _named(sorted(frames), "frames")
        name = streams[0].name if len(streams) == 1 else output.name
        section.check(f"{name}: frame", "in the tree", seen, not strange)


def _objects(subject: Subject) -> set[str]:
    """Frames of plain objects, whose transforms need not be on /tf."""
    recorded = [message for stream in subject.of("objects/poses") for message in stream.recording.messages]
    return {transform.child_frame_id for message in recorded for transform in message.transforms}


def _frames(message: Any) -> list[str]:
    """Frames in a message; a marker that deletes others needs none."""
    markers = [marker for marker in getattr(message, "markers", ()) if marker.action == marker.ADD]
    named = [message] if hasattr(message, "header") else markers
    frames = [part.header.frame_id for part in named]
    return [*frames, message.child_frame_id] if hasattr(message, "child_frame_id") else frames


def _named(names: list[str], what: str) -> str:
    """Names, or the number of many."""
    return ", ".join(names) if len(names) <= _NAMED else f"{len(names)} {what}"


def _length(quaternion: Any) -> float:
    return math.hypot(quaternion.x, quaternion.y, quaternion.z, quaternion.w)
