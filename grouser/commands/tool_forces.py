"""Breakout and digging force of a bucket, in the manner of ISO 6015, and what limits each.

A cylinder moves the tips of the teeth (of a bucket without, the middle of its edge) while all others hold. By the work
of its pressure, W = f dl, the force along the path of the tips is f dl/ds. That of the cylinder nearest to the bucket
is the breakout force; that of the next one, with the bucket where the first is greatest by pressure, the digging force.
Each is the greatest over the strokes that all limits leave:

- pressure: of the cylinder itself, its push or pull (`cylinder_forces`).
- pressure of another cylinder: it gives way when the relief valve on its line opens.
- tipping: the machine, level and empty, turns about an edge of the polygon that its tracks and wheels stand on.
- slipping: the horizontal part exceeds friction under its weight and the vertical part.

Weights of the arm count for tipping and slipping only. A cylinder's lever is taken to depend on its own joint alone: it
may have a linkage, but spans one joint.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grouser.commands.cylinder_forces import CylinderForces, cylinder_forces
from grouser.physics.base.errors import GrouserError
from grouser.physics.base.spatial import matrix
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import ONE_COORDINATE, Joint
from grouser.physics.description.data.shovel import Shovel
from grouser.physics.description.data.world import Ground
from grouser.physics.description.urdf.placement import link_poses
from grouser.physics.simulation.simulation import Simulation

PRESSURE, TIPPING, SLIPPING = "pressure", "tipping", "slipping"
_GRAVITY = 9.81
# Positions of a joint that are tried, of the others, and of each again between the neighbours of the best.
_POSITIONS, _OTHERS, _AGAIN = 25, 5, 9
# Change of a joint over which a lever is measured [rad or m], and levers that are none [m or -].
_CHANGE, _NO_LEVER = 1e-4, 1e-9
# Points of a belt this close to its lowest are on the ground [m].
_ON_GROUND = 1e-3


@dataclass(frozen=True)
class ToolForce:
    """Greatest force of a bucket by one cylinder, along the path of its tips.

    Attributes:
        cylinder: that moves the bucket; of several on one joint the first.
        force: that all limits leave [N].
        limit: what limits it: pressure, tipping, slipping, or pressure of another cylinder, "pressure of <cylinder>".
        pressure_force: the greatest by the pressure of the cylinder alone, wherever that is [N].
    """

    cylinder: str
    force: float
    limit: str
    pressure_force: float


@dataclass(frozen=True)
class _Arm:
    """A joint that cylinders move.

    Attributes:
        joint: itself.
        positions: valid ones, ascending [rad or m], (positions,).
        levers: rate of each cylinder's length by the joint, by its name, (positions,) each.
        moved: positions of all joints that move with it, loops closed, by name [rad or m].
    """

    joint: Joint
    positions: np.ndarray
    levers: Mapping[str, np.ndarray]
    moved: Sequence[Mapping[str, float]]


class _Pose:
    """The machine at some positions of joints, in the frame of its root, which is level.

    Args:
        machine: that is moved.
        positions: of its joints, by name; loops are closed [rad or m].
        shovel: the bucket.
        tip: of the bucket in its link's frame [m], (3,).
    """

    def __init__(self, machine: Machine, positions: Mapping[str, float], shovel: Shovel, tip: np.ndarray):
        poses = link_poses(machine, positions)
        self._place = {link: (np.array(pose.position), matrix(pose.quaternion)) for link, pose in poses.items()}
        self.tip = self.point(shovel.link, tip)
        self.open = self.direction(shovel.link, _open_side(shovel))
        bodies = [
            (link.inertial.mass, self.point(link.name, link.inertial.pose.position))
            for link in machine.links
            if link.inertial
        ]
        self.weight = _GRAVITY * float(sum(mass for mass, _ in bodies))
        moment = np.sum([mass * place for mass, place in bodies], axis=0)
        self.centre = _GRAVITY * moment / self.weight if self.weight > 0.0 else np.zeros(3)

    def point(self, link: str, place: Sequence[float] | np.ndarray) -> np.ndarray:
        """A place on a link in the world [m], (3,)."""
        origin, rotation = self._place[link]
        return origin + rotation @ np.asarray(place)

    def direction(self, link: str, vector: Sequence[float] | np.ndarray) -> np.ndarray:
        """A vector of a link's frame in the world, (3,)."""
        return self._place[link][1] @ np.asarray(vector)

    def path(self, joint: Joint) -> np.ndarray:
        """Rate of the tip by the position of a joint above it, (3,)."""
        axis = self.direction(joint.child, joint.axis)
        return (
            axis if joint.type == "prismatic" else np.cross(axis, self.tip - self.point(joint.child, (0.0, 0.0, 0.0)))
        )

    def lengths(self, machine: Machine) -> dict[str, float]:
        """Distance between the attachments of each cylinder [m]."""
        ends = {
            cylinder.name: self.point(cylinder.rod.link, cylinder.rod.xyz)
            - self.point(cylinder.barrel.link, cylinder.barrel.xyz)
            for cylinder in machine.cylinders
        }
        return {name: float(np.linalg.norm(between)) for name, between in ends.items()}


def tool_forces(simulation: Simulation, shovel: Shovel) -> tuple[ToolForce, ...]:
    """Breakout and digging force of a bucket; fewer where fewer joints above it have cylinders.

    Args:
        simulation: of the machine on level ground; its state is reset.
        shovel: with a profile.
    """
    try:
        return tuple(_ToolForces(simulation, shovel).found())
    finally:
        simulation.reset()


class _ToolForces:
    """Search for the greatest forces of a bucket."""

    def __init__(self, simulation: Simulation, shovel: Shovel):
        self._simulation, self._machine, self._shovel = simulation, simulation.machine, shovel
        self._start = {**simulation.joint_position}
        self._tip = np.mean(shovel.cutting_edge, axis=0) + shovel.tooth_length * np.array(shovel.cutting_direction)
        self._forces = {each.name: cylinder_forces(self._machine, each) for each in self._machine.cylinders}
        arms = [self._arm(joint) for joint in _chain(self._machine, shovel.link)]
        self._arms = [arm for arm in arms if arm.levers]

    def found(self) -> Iterator[ToolForce]:
        """The forces, that of the arm nearest to the bucket first."""
        strongest: _Arm | None = None
        for active, arm in enumerate(self._arms[:2]):
            arms = [_some(other, _spread(len(other.positions), _OTHERS)) for other in self._arms]
            arms[active] = arm
            if strongest is not None:
                arms[0] = strongest
            by_pressure = [self._by_pressure(arm, n, strongest) for n in range(len(arm.positions))]
            force, limit, place = self._best(active, arms)
            near = [self._near(other, k) for other, k in zip(arms, place, strict=True)]
            force, limit, _ = max((force, limit, place), self._best(active, near), key=lambda best: best[0])
            yield ToolForce(next(iter(arm.levers)), force, limit, max(by_pressure))
            strongest = _some(arm, [int(np.argmax(by_pressure))])

    def _arm(self, joint: Joint) -> _Arm:
        """Levers of the cylinders on a joint, over its range; the others are at their initial positions."""
        lower = -math.pi if joint.limit.lower is None or not math.isfinite(joint.limit.lower) else joint.limit.lower
        upper = math.pi if joint.limit.upper is None or not math.isfinite(joint.limit.upper) else joint.limit.upper
        return self._measured(joint, np.linspace(lower + _CHANGE, upper - _CHANGE, _POSITIONS))

    def _near(self, arm: _Arm, k: int) -> _Arm:
        """An arm at positions between the neighbours of one."""
        near = arm.positions[max(k - 1, 0) : k + 2]
        return arm if len(near) == 1 else self._measured(arm.joint, np.linspace(near[0], near[-1], _AGAIN))

    def _measured(self, joint: Joint, positions: np.ndarray) -> _Arm:
        """Levers of the cylinders on a joint at those of some positions that are valid."""
        found, rates, moved = [], [], []
        for position in positions.tolist():
            states = [self._closed(joint, position + change) for change in (-_CHANGE, 0.0, _CHANGE)]
            if None in states:
                continue
            before, now, after = (state for state in states if state is not None)
            lengths = [self._pose(state).lengths(self._machine) for state in (before, after)]
            rates.append({name: (lengths[1][name] - lengths[0][name]) / (2.0 * _CHANGE) for name in lengths[0]})
            moved.append({name: at for name, at in now.items() if at != self._start[name]})
            found.append(position)
        levers = {name: np.array([rate[name] for rate in rates]) for name in self._forces}
        acting = {name: lever for name, lever in levers.items() if np.abs(lever).max(initial=0.0) > _NO_LEVER}
        return _Arm(joint, np.array(found), acting, moved)

    def _closed(self, joint: Joint, position: float) -> Mapping[str, float] | None:
        """Positions of all joints with one of them moved; None beyond limits and strokes."""
        try:
            self._simulation.reset({joint.name: position})
        except GrouserError:
            return None
        return {**self._simulation.joint_position}

    def _pose(self, positions: Mapping[str, float]) -> _Pose:
        """The machine with some joints moved from the start."""
        return _Pose(self._machine, {**self._start, **positions}, self._shovel, self._tip)

    def _by_pressure(self, arm: _Arm, n: int, held: _Arm | None) -> float:
        """Force by the pressure of an arm's cylinders at one of its positions, with another arm held or none [N]."""
        pose = self._pose({**(held.moved[0] if held else {}), **arm.moved[n]})
        moment = self._moment(arm, n, _sign(pose, arm.joint), _push_or_pull)
        return moment / float(np.linalg.norm(pose.path(arm.joint)))

    def _moment(self, arm: _Arm, n: int, sign: float, strength) -> float:
        """Moment or force that an arm's cylinders exert on its joint in a direction [N m or N]."""
        return sum(
            strength(self._forces[name], sign * lever[n] > 0.0) * abs(lever[n]) for name, lever in arm.levers.items()
        )

    def _best(self, active: int, arms: Sequence[_Arm]) -> tuple[float, str, Sequence[int]]:
        """Greatest force of one of some arms over all positions of each, its limit, and their numbers there."""
        force, limited_by, place = 0.0, PRESSURE, [0] * len(arms)
        for numbers in itertools.product(*[range(len(arm.positions)) for arm in arms]):
            at = list(zip(arms, numbers, strict=True))
            pose = self._pose({name: position for arm, k in at for name, position in arm.moved[k].items()})
            limits = dict(self._limits(pose, *at[active], at[:active] + at[active + 1 :]))
            limit = min(limits, key=lambda name: limits[name])
            if limits[limit] > force:
                force, limited_by, place = limits[limit], limit, list(numbers)
        return force, limited_by, place

    def _limits(self, pose: _Pose, arm: _Arm, n: int, held: Sequence[tuple[_Arm, int]]) -> Iterator[tuple[str, float]]:
        """What limits the force of an arm at a pose, and how far [N]."""
        sign, path = _sign(pose, arm.joint), pose.path(arm.joint)
        along = sign * path / np.linalg.norm(path)
        yield PRESSURE, self._moment(arm, n, sign, _push_or_pull) / float(np.linalg.norm(path))
        for other, k in held:
            rate = float(along @ pose.path(other.joint))
            if abs(rate) > _NO_LEVER:
                yield (
                    f"pressure of {next(iter(other.levers))}",
                    self._moment(other, k, math.copysign(1.0, rate), _overload) / abs(rate),
                )
        support = support_points(self._machine, pose)
        if self._machine.floating_base and len(support):
            yield TIPPING, tipping_force(support, pose.centre, pose.weight, pose.tip, along)
            yield SLIPPING, slipping_force(_friction(self._machine), pose.weight, along)


def _push_or_pull(forces: CylinderForces, pushes: bool) -> float:
    return forces.push if pushes else forces.pull


def _overload(forces: CylinderForces, pushes: bool) -> float:
    load = forces.overload_push if pushes else forces.overload_pull
    return math.inf if load is None else load


def _sign(pose: _Pose, joint: Joint) -> float:
    """Direction of a joint in which the bucket moves towards its open side."""
    return 1.0 if pose.path(joint) @ pose.open >= 0.0 else -1.0


def _open_side(shovel: Shovel) -> np.ndarray:
    """Unit vector normal to the plate on the side from which soil comes, in the link's frame, (3,)."""
    edge, top = (np.array(ends) for ends in (shovel.cutting_edge, shovel.top_edge))
    normal = np.cross(edge[1] - edge[0], top.mean(axis=0) - edge.mean(axis=0))
    normal /= np.linalg.norm(normal)
    return np.copysign(1.0, normal @ shovel.cutting_direction) * normal


def _chain(machine: Machine, link: str) -> list[Joint]:
    """Joints with one coordinate from a link up to the root."""
    above, chain = {joint.child: joint for joint in machine.joints}, []
    while link in above:
        joint = above[link]
        if joint.type in ONE_COORDINATE and joint.mimic is None:
            chain.append(joint)
        link = joint.parent
    return chain


def _some(arm: _Arm, numbers: Sequence[int]) -> _Arm:
    """An arm at some of its positions."""
    levers = {name: lever[numbers] for name, lever in arm.levers.items()}
    return _Arm(arm.joint, arm.positions[numbers], levers, [arm.moved[k] for k in numbers])


def _spread(count: int, most: int) -> list[int]:
    """Numbers of a few of some positions, with the first and the last."""
    return sorted(set(np.rint(np.linspace(0, count - 1, min(most, count))).astype(int).tolist()))


def support_points(machine: Machine, pose: _Pose) -> np.ndarray:
    """Where tracks and wheels stand on level ground, in the world [m], (points, 3)."""
    points = []
    carriers = {joint.name: joint.parent for joint in machine.joints}
    for track in machine.tracks:
        outline = track.path.outline
        ends = outline[outline[:, 1] <= outline[:, 1].min() + _ON_GROUND, 0]
        ahead, left, link = np.array(track.ahead), np.array(track.left), carriers[track.sprocket]
        down = outline[:, 1].min() * np.cross(ahead, left)
        points += [
            pose.point(link, np.array(track.origin) + end * ahead + 0.5 * side * track.width * left + down)
            for end in (ends.min(), ends.max())
            for side in (-1.0, 1.0)
        ]
    for wheel in machine.wheels:
        centre, axis = pose.point(wheel.link, wheel.position), pose.direction(wheel.link, wheel.axis)
        points += [centre + 0.5 * side * wheel.width * axis - (0.0, 0.0, wheel.radius) for side in (-1.0, 1.0)]
    return np.array(points).reshape(-1, 3)


def tipping_force(support: np.ndarray, centre: np.ndarray, weight: float, tip: np.ndarray, along: np.ndarray) -> float:
    """Force of a tool along a direction at which the machine tips over [N].

    Args:
        support: points on which it stands [m], (points, 3).
        centre: of mass [m], (3,).
        weight: [N].
        tip: of the tool [m], (3,).
        along: unit vector of the force on the soil, (3,).
    """
    least = math.inf
    for one, other in itertools.permutations(support, 2):
        edge = other - one
        length = math.hypot(edge[0], edge[1])
        if length < _NO_LEVER:
            continue
        edge = edge / length
        away = support - one
        if (edge[0] * away[:, 1] - edge[1] * away[:, 0] < -_NO_LEVER).any():
            continue  # points on both sides
        holding = float(edge @ np.cross(centre - one, (0.0, 0.0, -weight)))
        tips = float(edge @ np.cross(tip - one, -along))
        if tips > 0.0:
            least = min(least, max(-holding, 0.0) / tips)
    return least


def slipping_force(friction: float, weight: float, along: np.ndarray) -> float:
    """Force of a tool along a direction at which the machine slips on level ground [N].

    Args:
        friction: coefficient under the machine [-].
        weight: [N].
        along: unit vector of the force on the soil, (3,).
    """
    needed = math.hypot(along[0], along[1]) - friction * along[2]
    return friction * weight / needed if needed > 0.0 else math.inf


def _friction(machine: Machine) -> float:
    """Least friction of what the machine stands on."""
    carriers = {joint.name: joint.parent for joint in machine.joints}
    links = {*(carriers[track.sprocket] for track in machine.tracks), *(wheel.link for wheel in machine.wheels)}
    given = [contact.friction for contact in machine.contacts if contact.link in links and contact.friction is not None]
    return min(given, default=Ground().friction)
