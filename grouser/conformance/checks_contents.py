"""Contents of messages: consistent names and lengths, geometry of scans, covariances."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from grouser.conformance import standard
from grouser.conformance.report import Section
from grouser.conformance.sensor_contents import IMAGE, check_cameras, depth_fault, fix_fault, points_fault
from grouser.conformance.subject import Subject

_UNIT = 1e-5  # tolerance of a quaternion in single precision
_ROUNDED = 1e-9  # tolerance of a covariance relative to its largest number


def check_contents(subject: Subject, section: Section) -> None:
    """Checks every message received; a row has the fault of the first bad one."""
    if not subject.watch():
        section.skip("messages", "as described", "no time received: paused?")
        return
    stream = subject.stream("robot_description")
    if stream is not None and stream.recording.messages:
        error = "" if subject.description else subject.description_error
        section.check("robot_description", "a URDF", error or "so", not error)
    described = subject.description is not None
    for name, check, expected, find_fault in _CHECKS:
        for stream in subject.of(name):
            messages = stream.recording.messages
            label = f"{stream.name}: {check}"
            if messages and described:
                fault = next((fault for message in messages if (fault := find_fault(subject, message))), "")
                section.check(label, expected, fault or "so", not fault)
            elif messages:
                section.skip(label, expected, "no machine is described")
    check_cameras(subject, section)
    _check_wrenches(subject, section)


def _joints_fault(subject: Subject, message: Any) -> str:
    assert subject.description is not None
    wanted, found = set(subject.description.movable), list(message.name)
    lost, strange = sorted(wanted - set(found)), sorted(set(found) - wanted)
    if len(set(found)) < len(found):
        return "a name twice"
    return f"without {', '.join(lost)}" if lost else f"unknown: {', '.join(strange)}" if strange else ""


def _lengths_fault(_subject: Subject, message: Any) -> str:
    lengths = [len(values) for values in (message.name, message.position, message.velocity, message.effort)]
    return "" if len(set(lengths)) == 1 else "/".join(map(str, lengths))


def _scan_fault(_subject: Subject, message: Any) -> str:
    ranges = np.asarray(message.ranges, dtype=float)
    last = message.angle_min + message.angle_increment * (len(ranges) - 1)
    if abs(last - message.angle_max) > 0.5 * abs(message.angle_increment):  # less than one ray
        return f"{len(ranges)} rays end at {last:.4g} rad"
    outside = np.isnan(ranges) | (np.isfinite(ranges) & ((ranges < message.range_min) | (ranges > message.range_max)))
    return f"range {ranges[outside][0]:.4g} m" if outside.any() else ""


def imu_fault(message: Any) -> str:
    """Fault of an IMU's message by REP-145; "" for none."""
    unknown = message.orientation_covariance[0] == -1.0
    turn = message.orientation
    length = math.hypot(turn.x, turn.y, turn.z, turn.w)
    if not unknown and abs(length - 1.0) > _UNIT:
        return f"orientation of length {length:.4g}"
    for field in ("orientation", "angular_velocity", "linear_acceleration"):
        covariance = getattr(message, f"{field}_covariance")
        # REP-145: a first number of -1 means not measured, zeros mean an unknown covariance.
        if covariance[0] != -1.0 and (fault := _covariance_fault(covariance)):
            return f"{field}_covariance {fault}"
    return ""


def _odometry_fault(_subject: Subject, message: Any) -> str:
    turn = message.pose.pose.orientation
    length = math.hypot(turn.x, turn.y, turn.z, turn.w)
    if abs(length - 1.0) > _UNIT:
        return f"orientation of length {length:.4g}"
    for field in ("pose", "twist"):
        if fault := _covariance_fault(getattr(message, field).covariance):
            return f"{field}.covariance {fault}"
    return ""


def _covariance_fault(numbers: Sequence[float]) -> str:
    values = np.asarray(numbers, dtype=float)
    size = math.isqrt(len(values))
    matrix = values.reshape(size, size)
    rounded = _ROUNDED * float(np.max(np.abs(matrix)))
    if np.max(np.abs(matrix - matrix.T)) > rounded:
        return "is not symmetric"
    return "has a negative variance" if np.min(np.linalg.eigvalsh(matrix)) < -rounded else ""


def _groups_fault(_subject: Subject, message: Any) -> str:
    groups, values = message.interface_groups, message.interface_values
    if len(groups) != len(values):
        return f"{len(groups)} groups, {len(values)} of values"
    for group, entry in zip(groups, values, strict=True):
        if len(entry.interface_names) != len(entry.values):
            return f"{group}: {len(entry.interface_names)} names, {len(entry.values)} values"
    return ""


def _values_fault(names: Sequence[str], *tags: str) -> Callable[[Subject, Any], str]:
    """A check that there is a group for each part of the machine, with values of these names."""

    def find_fault(subject: Subject, message: Any) -> str:
        assert subject.description is not None
        groups = dict(zip(message.interface_groups, message.interface_values, strict=False))
        for part in subject.description.names(*tags):
            if part not in groups:
                return f"no group {part}"
            lost = [name for name in names if name not in groups[part].interface_names]
            if lost:
                return f"{part} without {', '.join(lost)}"
        return ""

    return find_fault


def _diagnostics_fault(_subject: Subject, message: Any) -> str:
    keys = " ".join(pair.key for status in message.status for pair in status.values)
    lost = [word for word in standard.DIAGNOSTICS if word not in keys]
    # A simulator has no figures until it is ready.
    return f"nothing of {', '.join(lost)}" if keys and lost else ""


# Topics, subject of the check, expectation, function that finds a fault.
_CHECKS: tuple[tuple[str, str, str, Callable[[Subject, Any], str]], ...] = (
    ("joint_states", "names", "the movable joints", _joints_fault),
    ("joint_states", "lengths", "as many values as names", _lengths_fault),
    ("scan/<name>", "geometry", "rays to angle_max, ranges within limits", _scan_fault),
    ("imu/<name>/data", "conventions", "unit length, REP-145", lambda _, message: imu_fault(message)),
    ("points/<name>", "layout", "x y z, sizes, is_dense", lambda _, message: points_fault(message)),
    (IMAGE, "layout", "32FC1 or 16UC1, sizes, no depth below 0", lambda _, message: depth_fault(message)),
    ("fix/<name>", "position", "in range, covariances", lambda _, message: fix_fault(message)),
    ("odom", "conventions", "unit length, covariances", _odometry_fault),
    ("ground_truth/odom", "conventions", "unit length, covariances", _odometry_fault),
    ("/diagnostics", "figures", ", ".join(standard.DIAGNOSTICS), _diagnostics_fault),
    *(
        row
        for topic, tag, names in (
            ("hydraulics/state", "cylinder", standard.CYLINDER_VALUES),
            ("slip", "wheel", standard.WHEEL_VALUES),
            ("flexible/state", "flexible_link", standard.FLEXIBLE_VALUES),
        )
        for row in (
            (topic, "lengths", "as many values as names", _groups_fault),
            (topic, "values", f"{', '.join(names)} of each {tag}", _values_fault(names, tag)),
        )
    ),
)


def _check_wrenches(subject: Subject, section: Section) -> None:
    """Checks that there is a contact wrench for each link with a collision shape, in the link's frame."""
    streams = subject.of("contact_wrenches/<link>")
    if not streams or subject.description is None:
        return
    received = {message.header.frame_id for stream in streams for message in stream.recording.messages[-1:]}
    wanted = set(subject.description.colliding)
    lost, strange = sorted(wanted - received), sorted(received - set(subject.description.links))
    seen = (
        f"not: {', '.join(lost)}" if lost else f"no link: {', '.join(strange)}" if strange else f"{len(received)} links"
    )
    section.check("contact_wrenches: frames", "each link with a collision shape", seen, not lost and not strange)
