"""Warnings of valid but implausible values."""

from collections.abc import Mapping

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import ONE_COORDINATE, JointLimit
from grouser.physics.description.data.rotation import compose, rotate
from grouser.physics.description.machine_file.shape_warnings import shape_warnings
from grouser.physics.description.machine_file.shovel_warnings import shovel_warnings
from grouser.physics.description.machine_file.stroke_reach import stroke_warnings
from grouser.physics.description.text.mending import likewise
from grouser.physics.description.urdf.placement import initial_positions, link_poses, rigid_lumps, subtree_masses

# Moments of inertia below this share of m r2 are rounding errors.
_ROUNDING = 1e-12
_SPREAD_MAX = 1e7
_LIMIT_TOLERANCE = 1e-9


def plausibility_warnings(machine: Machine) -> list[str]:
    """Returns warnings of implausible masses, initial positions, shapes, shovels and strokes."""
    positions = initial_positions(machine)
    return [
        *_mass_warnings(machine, positions),
        *_mimic_warnings(machine, positions),
        *_spread_warnings(machine, positions),
        *shape_warnings(machine),
        *shovel_warnings(machine),
        *stroke_warnings(machine),
    ]


def _mass_warnings(machine: Machine, positions: dict[str, float]) -> list[str]:
    poses = link_poses(machine, positions)
    subtrees = subtree_masses(machine, poses)
    lumps = rigid_lumps(machine)
    lump_mass = dict.fromkeys(lumps.values(), 0.0)
    for link in machine.links:
        lump_mass[lumps[link.name]] += 0.0 if link.inertial is None else link.inertial.mass
    compliant = {compliance.joint for compliance in machine.compliant_joints}
    told = _Told()
    if machine.floating_base and subtrees[machine.root].mass == 0.0:
        told.add("the machine has no mass, and its base is free to move: it cannot be simulated")
    for joint in machine.joints:
        if joint.type == "fixed" and joint.name not in compliant:
            continue
        subtree, massless = subtrees[joint.child], f"massless moving link '{joint.child}'"
        if subtree.mass == 0.0 and not subtree.inertia.any():
            told.add(
                f"{massless}: joint '{joint.name}' moves it, and neither it nor anything on it has mass, so no force "
                "gives a finite acceleration; give it an <inertial>",
                "without mass beyond",
                f"link '{joint.child}'",
            )
        elif joint.type in ("revolute", "continuous") and _turns_freely(machine, joint, poses, subtree):
            told.add(
                f"joint '{joint.name}': what it turns has no moment of inertia about its axis; "
                f"give link '{joint.child}' an inertia",
                "without inertia",
                f"joint '{joint.name}'",
            )
        elif lump_mass[joint.child] == 0.0:
            told.add(f"{massless}: only what hangs on it has mass", "without own mass", f"link '{joint.child}'")
    return told.warnings()


def _turns_freely(machine, joint, poses, subtree) -> bool:
    frame = compose(poses[joint.parent], joint.pose)
    point, direction = np.array(frame.position), np.array(rotate(frame.quaternion, joint.axis))
    size = float(np.abs(subtree.inertia).max()) + subtree.mass * float(point @ point)
    return subtree.about_axis(point, direction) <= _ROUNDING * size


def _mimic_warnings(machine: Machine, positions: dict[str, float]) -> list[str]:
    found = []
    for joint in machine.joints:
        if joint.mimic is None:
            continue
        if joint.mimic.multiplier == 0.0:
            found.append(f"joint '{joint.name}' mimics with the multiplier 0: it never moves")
        position, limit = positions[joint.name], joint.limit
        if limit.lower is None or limit.upper is None:
            continue
        if not limit.lower - _LIMIT_TOLERANCE <= position <= limit.upper + _LIMIT_TOLERANCE:
            found.append(
                f"joint '{joint.name}' starts at {position:g} by its mimic, "
                f"outside its limits {limit.lower:g} to {limit.upper:g}"
            )
    return found


def _spread_warnings(machine: Machine, positions: Mapping[str, float]) -> list[str]:
    masses = {
        link.name: link.inertial.mass
        for link in machine.links
        if link.inertial is not None and link.inertial.mass > 0.0
    }
    told = _Told()
    if masses and max(masses.values()) > _SPREAD_MAX * min(masses.values()):
        light, heavy = min(masses, key=masses.__getitem__), max(masses, key=masses.__getitem__)
        told.add(
            f"masses from {masses[light]:g} kg ('{light}') to {masses[heavy]:g} kg ('{heavy}'): "
            "are they all in kilograms?"
        )
    unstarted = {start.joint for start in machine.initial_positions}
    for joint in machine.joints:
        if joint.type not in ONE_COORDINATE or joint.mimic is not None or joint.name in unstarted:
            continue
        start = positions[joint.name]
        if not _allows_zero(joint.limit):
            told.add(
                f"joint '{joint.name}': zero is outside its limits; it starts at {start:g}",
                "zero",
                f"joint '{joint.name}' at {start:g}",
            )
    return told.warnings()


def _allows_zero(limit: JointLimit) -> bool:
    lower, upper = limit.lower, limit.upper
    return (lower is None or lower <= 0.0) and (upper is None or upper >= 0.0)


class _Told:
    """Warnings, of each kind the first in full and the subjects of the others."""

    def __init__(self) -> None:
        self._found: dict[str, list[str]] = {}

    def add(self, text: str, kind: str = "", subject: str = "") -> None:
        if kind in self._found:
            self._found[kind].append(subject)
        else:
            self._found[kind] = [text]

    def warnings(self) -> list[str]:
        return [text + likewise(others) for text, *others in self._found.values()]
