"""Cylinders whose stroke the links that they join cannot use."""

import math
from collections.abc import Iterator, Mapping

import numpy as np

from grouser.physics.description.data.hydraulics import HydraulicCylinder
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import ONE_COORDINATE, Joint
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import compose, rotate
from grouser.physics.description.elements.hydraulics.cylinders import STROKE_TOLERANCE
from grouser.physics.description.urdf.placement import initial_positions, link_poses, point_on_link, rigid_lumps


def stroke_warnings(machine: Machine) -> Iterator[str]:
    """Yields which cylinders over one joint have a stroke that it lets them use in part, whatever its limits."""
    lumps = rigid_lumps(machine)
    poses = link_poses(machine, initial_positions(machine))
    above = {joint.child: joint for joint in machine.joints}
    for cylinder in machine.cylinders:
        joint = _only_joint_between(cylinder, above, lumps)
        if joint is None:
            continue
        barrel, rod = (point_on_link(poses[end.link], end.xyz) for end in (cylinder.barrel, cylinder.rod))
        nearest, farthest = _reach(joint, compose(poses[joint.parent], joint.pose), barrel, rod)
        shortest, longest = cylinder.retracted_length, cylinder.retracted_length + cylinder.stroke
        if shortest < nearest - STROKE_TOLERANCE or longest > farthest + STROKE_TOLERANCE:
            yield (
                f"cylinder '{cylinder.name}' is {shortest:g} to {longest:g} m long, and joint '{joint.name}' lets its "
                f"attachments be {nearest:.4f} to {farthest:.4f} m apart, whatever its limits: it cannot use its stroke"
            )


def _only_joint_between(
    cylinder: HydraulicCylinder, above: Mapping[str, Joint], lumps: Mapping[str, str]
) -> Joint | None:
    """The joint that moves the cylinder's ends against each other, if it is one with one coordinate; else None."""
    chains = []
    for end in (cylinder.barrel, cylinder.rod):
        chain, lump = [], lumps[end.link]
        while lump in above:
            chain.append(above[lump])
            lump = lumps[above[lump].parent]
        chains.append(chain)
    between = [joint for chain, other in (chains, chains[::-1]) for joint in chain if joint not in other]
    return between[0] if len(between) == 1 and between[0].type in ONE_COORDINATE else None


def _reach(joint: Joint, frame: Pose, first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Least and largest distance [m] of two points on the two sides of a joint, over all of its positions.

    Args:
        joint: with one coordinate.
        frame: the joint's frame, in that of the points.
        first, second: the points at one position of the joint [m], shape (3,).
    """
    axis, origin = np.array(rotate(frame.quaternion, joint.axis)), np.array(frame.position)
    if joint.type == "prismatic":
        offset = second - first
        return float(np.linalg.norm(offset - (offset @ axis) * axis)), math.inf
    along, radii = [], []
    for arm in (first - origin, second - origin):
        along.append(float(arm @ axis))
        radii.append(float(np.linalg.norm(arm - along[-1] * axis)))
    shift = along[1] - along[0]
    return math.hypot(shift, radii[1] - radii[0]), math.hypot(shift, radii[1] + radii[0])
