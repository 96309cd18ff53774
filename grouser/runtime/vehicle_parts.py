"""The vehicle that the wheels and tracks of a machine make."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Joint
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import compose, rotate
from grouser.physics.description.data.soil import Wheel
from grouser.physics.description.data.track import Track
from grouser.physics.description.urdf.placement import initial_positions, link_poses
from grouser.runtime.vehicle import Vehicle, VehicleWheel

# Points along half of a track's contact in the quadrature of its forces.
_POINTS = 64


def make_vehicle(machine: Machine) -> Vehicle | None:
    """The vehicle of a machine's wheels and tracks in its initial position; None for a machine without either.

    A track that is not steered counts as a wheel at the place where one would roll without slipping sideways in a turn:
    farther out than the track (`rolling_place`). A steered one turns about its own middle while it rolls, whose
    friction is even on both sides of it: it counts as a wheel there.
    """
    wheels, tracks = wheels_and_tracks(machine)
    steered = [track for track in tracks if track.steering]
    parts = (*wheels, *_moved_out([track for track in tracks if not track.steering]), *steered)
    return Vehicle(parts) if parts else None


def driven_vehicle(machine: Machine) -> Vehicle | None:
    """The vehicle that a twist drives; None for a machine that cannot drive, or whose base is fixed."""
    vehicle = make_vehicle(machine) if machine.floating_base else None
    return vehicle if vehicle is not None and vehicle.driven else None


def wheels_and_tracks(machine: Machine) -> tuple[list[VehicleWheel], list[VehicleWheel]]:
    """Wheels, and tracks as wheels in their middle, of a machine in its initial position."""
    above = {joint.child: joint for joint in machine.joints}
    joints = {joint.name: joint for joint in machine.joints}
    steering = {wheel.steering for wheel in machine.wheels} | {track.steering for track in machine.tracks}
    start = {name: at for name, at in initial_positions(machine).items() if name not in steering}
    poses = link_poses(machine, start)
    driven = {drive.joint for drive in machine.drives if drive.mode == "velocity"}
    valves = _valves_of_motors(machine)
    wheels = [_vehicle_wheel(wheel, above[wheel.link], joints, poses, driven) for wheel in machine.wheels]
    tracks = [_track_as_wheel(track, joints, poses, driven, valves) for track in machine.tracks]
    return wheels, tracks


def rolling_place(length: float, tread: float) -> float:
    """Distance from the middle of a vehicle at which its tracks roll in a turn on the spot [m].

    Under even pressure and Coulomb's friction the elements of the tracks push against their sliding velocity. The
    place where a belt's speed is that of the ground follows from the balance of the moments of forces along and across
    the tracks; it depends neither on the weight nor on the friction.

    Args:
        length: of the ground contact [m].
        tread: distance between the middles of the tracks [m].
    """
    half = 0.5 * tread
    node, weight = np.polynomial.legendre.leggauss(_POINTS)
    along = 0.25 * length * (node + 1.0)

    def moment(place: float) -> float:
        slide = np.hypot(along, place - half)
        return float(weight @ ((along * along - half * (place - half)) / slide))

    # The moment falls from above to below zero. Bisection, as SciPy's methods take long to import.
    near, far = half * (1.0 + 1e-9), half + length * max(length / half, 1.0)
    while (place := 0.5 * (near + far)) not in (near, far):
        near, far = (place, far) if moment(place) > 0.0 else (near, place)
    return place


def _vehicle_wheel(
    wheel: Wheel, joint: Joint, joints: Mapping[str, Joint], poses: Mapping[str, Pose], driven: set[str]
) -> VehicleWheel:
    pose = poses[wheel.link]
    centre = compose(pose, Pose(wheel.position)).position
    axis = rotate(pose.quaternion, wheel.axis)
    found: dict[str, Any] = {
        "name": wheel.link,
        "joint": joint.name,
        "sense": math.copysign(1.0, float(np.dot(wheel.axis, joint.axis))),
        "driven": joint.name in driven,
        "radius": wheel.radius,
        "width": wheel.width,
        "speed_limit": joint.limit.velocity,
        "centre": centre[:2],
        # axis x up
        "heading": math.atan2(-axis[0], axis[1]),
    }
    return VehicleWheel(**found, **_steering_of(wheel.steering, joints, poses))


def _steering_of(name: str, joints: Mapping[str, Joint], poses: Mapping[str, Pose]) -> dict[str, Any]:
    """What a `VehicleWheel` tells of the joint that steers it; nothing for "": none does."""
    if not name:
        return {}
    pivot = joints[name]
    frame = compose(poses[pivot.parent], pivot.pose)
    return {
        "steering": pivot.name,
        "pivot": frame.position[:2],
        "turn": math.copysign(1.0, rotate(frame.quaternion, pivot.axis)[2]),
        "lower": -math.inf if pivot.limit.lower is None else pivot.limit.lower,
        "upper": math.inf if pivot.limit.upper is None else pivot.limit.upper,
        "steering_speed": pivot.limit.velocity,
    }


def _track_as_wheel(
    track: Track,
    joints: Mapping[str, Joint],
    poses: Mapping[str, Pose],
    driven: set[str],
    valves: Mapping[str, tuple[str, float]],
) -> VehicleWheel:
    sprocket = joints[track.sprocket]
    pose = poses[sprocket.parent]
    ahead, left = rotate(pose.quaternion, track.ahead), rotate(pose.quaternion, track.left)
    corners = track.path.outline
    middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    x, y, z = (np.array(track.origin) + track.frame[:, [0, 2]] @ middle).tolist()
    # the sprocket's axis to the left: it turns forward
    sense = track.sense * math.copysign(1.0, left[1] * ahead[0] - left[0] * ahead[1])
    valve, valve_sense = valves.get(track.sprocket, ("", 1.0))
    return VehicleWheel(
        name=track.name,
        joint=sprocket.name,
        sense=sense,
        driven=sprocket.name in driven or bool(valve),
        radius=track.radius,
        width=track.path.longest_run,
        speed_limit=sprocket.limit.velocity,
        centre=compose(pose, Pose((x, y, z))).position[:2],
        heading=math.atan2(ahead[1], ahead[0]),
        valve="" if sprocket.name in driven else valve,
        valve_sense=valve_sense,
        **_steering_of(track.steering, joints, poses),
    )


def _moved_out(tracks: list[VehicleWheel]) -> list[VehicleWheel]:
    """Tracks on two sides, moved to where they roll in a turn on the spot; others stay."""
    if not tracks:
        return tracks
    along = [track.centre[0] * math.cos(track.heading) + track.centre[1] * math.sin(track.heading) for track in tracks]
    aside = np.array(
        [track.centre[1] * math.cos(track.heading) - track.centre[0] * math.sin(track.heading) for track in tracks]
    )
    middle = 0.5 * (aside.min() + aside.max())
    tread = float(aside.max() - aside.min())
    if tread <= 0.0 or np.any(np.abs(np.abs(aside - middle) - 0.5 * tread) > 0.05 * tread):
        return tracks
    ends = [(place - 0.5 * track.width, place + 0.5 * track.width) for place, track in zip(along, tracks, strict=True)]
    length = max(end[1] for end in ends) - min(end[0] for end in ends)
    farther = rolling_place(length, tread) - 0.5 * tread
    return [
        replace(
            track,
            centre=(
                track.centre[0] - math.copysign(farther, place - middle) * math.sin(track.heading),
                track.centre[1] + math.copysign(farther, place - middle) * math.cos(track.heading),
            ),
        )
        for place, track in zip(aside.tolist(), tracks, strict=True)
    ]


def _valves_of_motors(machine: Machine) -> dict[str, tuple[str, float]]:
    """Valve that turns the hydraulic motor of each joint, and the direction of a positive command.

    The motor is between the valve's lines, alone or in series with others.
    """
    found = {}
    for valve in machine.valves:
        distance, reached = {valve.a: 0}, [valve.a]
        for line in reached:
            if line == valve.b:
                continue
            for motor in machine.hydraulic_motors:
                if line in (motor.a, motor.b):
                    behind = motor.b if motor.a == line else motor.a
                    if behind not in distance:
                        distance[behind] = distance[line] + 1
                        reached.append(behind)
        if valve.b in distance:
            for motor in machine.hydraulic_motors:
                if motor.a in distance and motor.b in distance:
                    found[motor.joint] = (valve.name, 1.0 if distance[motor.a] < distance[motor.b] else -1.0)
    return found
