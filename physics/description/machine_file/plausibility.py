"""Warnings of valid but implausible values."""

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import ONE_COORDINATE
from grouser.physics.description.data.rotation import compose, rotate
from grouser.physics.description.machine_file.shape_warnings import shape_warnings
from grouser.physics.description.machine_file.stroke_reach import stroke_warnings
from grouser.physics.description.urdf.placement import initial_positions, link_poses, rigid_lumps, subtree_masses

# Moments of inertia below this share of m r2 are rounding errors.
_ROUNDING = 1e-12
_SPREAD_MAX = 1e7
_LIMIT_TOLERANCE = 1e-9


def plausibility_warnings(machine: Machine) -> list[str]:
    """Returns warnings of implausible masses, initial positions, shapes and strokes."""
    positions = initial_positions(machine)
    return [
        *_mass_warnings(machine, positions),
        *_mimic_warnings(machine, positions),
        *_spread_warnings(machine),
        *shape_warnings(machine),
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
    found = []
    if machine.floating_base and subtrees[machine.root].mass == 0.0:
        found.append("the machine has no mass, and its base is free to move: it cannot be simulated")
    for joint in machine.joints:
        if joint.type == "fixed" and joint.name not in compliant:
            continue
        subtree = subtrees[joint.child]
        if subtree.mass == 0.0 and not subtree.inertia.any():
            found.append(
                f"massless moving link '{joint.child}': joint '{joint.name}' moves it, and neither it nor anything on "
                "it has mass, so no force gives a finite acceleration; give it an <inertial>"
            )
        elif joint.type in ("revolute", "continuous") and _turns_freely(machine, joint, poses, subtree):
            found.append(
                f"joint '{joint.name}': what it turns has no moment of inertia about its axis; "
                f"give link '{joint.child}' an inertia"
            )
        elif lump_mass[joint.child] == 0.0:
            found.append(f"massless moving link '{joint.child}': only what hangs on it has mass")
    return found


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


def _spread_warnings(machine: Machine) -> list[str]:
    masses = {
        link.name: link.inertial.mass
        for link in machine.links
        if link.inertial is not None and link.inertial.mass > 0.0
    }
    found = []
    if masses and max(masses.values()) > _SPREAD_MAX * min(masses.values()):
        light, heavy = min(masses, key=masses.__getitem__), max(masses, key=masses.__getitem__)
        found.append(
            f"masses from {masses[light]:g} kg ('{light}') to {masses[heavy]:g} kg ('{heavy}'): "
            "are they all in kilograms?"
        )
    unstarted = {start.joint for start in machine.initial_positions}
    for joint in machine.joints:
        if joint.type not in ONE_COORDINATE or joint.mimic is not None or joint.name in unstarted:
            continue
        lower, upper = joint.limit.lower, joint.limit.upper
        if lower is not None and upper is not None and not lower <= 0.0 <= upper:
            nearest = lower if lower > 0.0 else upper
            found.append(f"joint '{joint.name}': zero is outside its limits; it starts at {nearest:g}")
    return found
