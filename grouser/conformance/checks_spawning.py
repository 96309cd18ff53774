"""Spawning in a namespace: topics and frames of the new entity are there, in the one tree, until it is deleted."""

from collections.abc import Set
from typing import Any

from geometry_msgs.msg import PoseStamped

from grouser.conformance import standard
from grouser.conformance.checks_frames import Tree
from grouser.conformance.client import interface
from grouser.conformance.report import Section
from grouser.conformance.subject import Subject

_NEEDED = frozenset({"SPAWNING", "SPAWNING_RESOURCE_STRING", "DELETING"})
_GUEST = "conform_guest"
_ARRIVAL = 4.0  # [s] of wall time for the first transforms after the topics are there
_PLACE = (0.0, 30.0, 0.5)  # [m] in the world, where most worlds have nothing


def check_spawning(subject: Subject, section: Section, features: Set[str]) -> None:
    """Spawns the described machine once more and deletes it."""
    label, expected = "SpawnEntity in a namespace", "result OK"
    stream = subject.stream("robot_description")
    if not features >= _NEEDED:
        section.absent(label, expected)
        return
    if subject.description is None or stream is None:
        section.skip(label, expected, "no machine is described")
        return
    answer, refusal = subject.control.request("SpawnEntity", **_request(stream.recording.newest.data))
    codes = interface(f"{standard.SIMULATION_INTERFACES}/srv/SpawnEntity").Response
    if answer is not None and answer.result.result in (codes.INVALID_POSE, codes.MISSING_ASSETS):
        section.skip(label, expected, refusal)  # it may be right: of the world, or of files beside the description
        return
    section.check(label, expected, refusal or "result OK", not refusal)
    if refusal:
        return
    _check_guest(subject, section, subject.description.root)
    _, refusal = subject.control.request("DeleteEntity", entity=answer.entity_name)
    section.check("DeleteEntity", "result OK", refusal or "result OK", not refusal)
    subject.client.until(lambda: not _speaks(subject))
    seen = "still there" if _speaks(subject) else "gone"
    section.check(f"/{_GUEST}/joint_states after it", "gone", seen, seen == "gone")


def _request(urdf: str) -> dict[str, Any]:
    kind = interface(f"{standard.SIMULATION_INTERFACES}/srv/SpawnEntity").Request
    pose = PoseStamped()
    pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = _PLACE
    fields = {"name": _GUEST, "entity_namespace": f"/{_GUEST}", "initial_pose": pose}
    if hasattr(kind(), "resource_string"):  # 1.x
        return {**fields, "resource_string": urdf}
    return {**fields, "entity_resource": interface(f"{standard.SIMULATION_INTERFACES}/Resource")(resource_string=urdf)}


def _check_guest(subject: Subject, section: Section, root: str) -> None:
    subject.client.until(lambda: _speaks(subject))
    seen = "there" if _speaks(subject) else "no publisher"
    section.check(f"/{_GUEST}/joint_states", "there", seen, seen == "there")
    moving = subject.stream("/tf")
    if moving is None:
        section.skip("frames of the spawned", f"below {_GUEST}/", "no transforms received")
        return
    frame, tree = f"{_GUEST}/{root}", Tree()

    def connected() -> bool:
        tree.parents.clear()
        for message in moving.recording.messages:
            for transform in message.transforms:
                tree.parents.setdefault(transform.child_frame_id, set()).add(transform.header.frame_id)
        return frame in tree.parents

    subject.client.until(connected, _ARRIVAL)
    section.check("frames of the spawned", frame, "there" if connected() else "not on /tf", connected())
    if connected() and subject.parameters["publish_map_tf"]:
        world = subject.parameters["map_frame"]
        section.check("root of the spawned", world, tree.top(frame), tree.top(frame) == world)


def _speaks(subject: Subject) -> bool:
    return bool(subject.offer.publishers(f"/{_GUEST}/joint_states"))
