"""Statics of a tracked vehicle that climbs a step: its belts touch the ground in the rear and the step in front.

In the plane of the motion: x ahead, z up from the ground. Both ends of the belts are circles of one radius, joined by
straight runs. At a pitch angle, three forces balance: the weight, N_r (f mu_r, 1) of the ground under the rear, and
N_s (n + f mu_s t) of the step, n its normal and t the direction in which the belt drives there. f is the share of the
friction that the balance needs. About the centre of mass, forces ahead and moments vanish together where the
determinant of both contacts' is zero, which is quadratic in f.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

# Pitch angles of a climb that are examined; steps of the search for the limit height, and its precision, by the radius.
_POSES = 200
_SEARCH, _PRECISION = 0.05, 1e-6


@dataclass(frozen=True)
class Climber:
    """A vehicle before a step.

    Attributes:
        length: between the axes of both ends [m].
        radius: of the ends, to the faces of the shoes [m].
        centre_ahead: of the centre of mass before the middle between the axes [m].
        centre_height: of the centre of mass above the ground, level [m].
        ground_friction, step_friction: under the rear, and at the step [-].
    """

    length: float
    radius: float
    centre_ahead: float
    centre_height: float
    ground_friction: float
    step_friction: float


class Climb(NamedTuple):
    """Balance at a pitch angle.

    Attributes:
        friction: f, share of the friction that holds the vehicle; infinite where none does [-].
        past: how far the centre of mass is ahead of the contact with the step: from 0 on it tips forward [m].
    """

    friction: float
    past: float


def climbs(vehicle: Climber, height: float) -> bool:
    """Whether the vehicle climbs a step of this height [m]: from level until it tips forward onto it."""
    for pitch in pitch_angles(vehicle, height):
        found = balance(vehicle, height, pitch)
        if found.past >= 0.0:
            return True
        if found.friction > 1.0:
            return False
    return False


def limit_height(vehicle: Climber) -> float:
    """The lowest height that the vehicle does not climb [m]."""
    low, high = 0.0, _SEARCH * vehicle.radius
    while climbs(vehicle, high):
        low, high = high, high + _SEARCH * vehicle.radius
    while high - low > _PRECISION * vehicle.radius:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if climbs(vehicle, middle) else (low, middle)
    return high


def balance(vehicle: Climber, height: float, pitch: float) -> Climb:
    """The balance at a pitch angle [rad]."""
    contact, normal = _step_contact(vehicle, height, pitch)
    ahead, up = np.array([math.cos(pitch), math.sin(pitch)]), np.array([-math.sin(pitch), math.cos(pitch)])
    # from the point of the ground below the rear axle
    centre = np.array([0.0, vehicle.radius]) + (0.5 * vehicle.length + vehicle.centre_ahead) * ahead
    centre += (vehicle.centre_height - vehicle.radius) * up
    past = float(centre[0] - contact[0])
    rear, front = -centre, contact - centre
    tangent = np.array([normal[1], -normal[0]])
    # forces ahead and moments of either contact: without friction, and what its friction adds
    rear_plain, rear_more = _acting(rear, np.array([0.0, 1.0])), _acting(rear, np.array([vehicle.ground_friction, 0.0]))
    front_plain, front_more = _acting(front, normal), _acting(front, vehicle.step_friction * tangent)
    roots = np.roots(
        [
            np.linalg.det([rear_more, front_more]),
            np.linalg.det([rear_more, front_plain]) + np.linalg.det([rear_plain, front_more]),
            np.linalg.det([rear_plain, front_plain]),
        ]
    )
    for share in sorted(roots[np.isreal(roots)].real):
        if share >= 0.0:
            at_rear, at_front = rear_plain + share * rear_more, front_plain + share * front_more
            # against each other: both push
            if at_rear @ at_front <= 0.0:
                return Climb(float(share), past)
    return Climb(math.inf, past)


def pitch_angles(vehicle: Climber, height: float) -> np.ndarray:
    """Pitch angles from level up to where the step has come to the rear's arc [rad]."""
    # on the rear's arc the step is below its axle where 1 - cos(pitch) = height / radius
    greatest = math.acos(max(1.0 - height / vehicle.radius, 0.0))
    return greatest * np.arange(_POSES) / _POSES


def _step_contact(vehicle: Climber, height: float, pitch: float) -> tuple[np.ndarray, np.ndarray]:
    """Where the belt touches the step, from the point below the rear axle [m], and the unit normal towards the belt."""
    radius, length, c, s = vehicle.radius, vehicle.length, math.cos(pitch), math.sin(pitch)
    axle = np.array([length * c, radius + length * s])
    above = axle[1] - height
    if above <= 0.0:
        # the front's circle meets the face of the step
        return axle + np.array([radius, 0.0]), np.array([-1.0, 0.0])
    if above <= radius * c:
        normal = np.array([-math.sqrt(max(radius**2 - above**2, 0.0)), above]) / radius
        return axle - radius * normal, normal
    run = (height - radius * (1.0 - c)) / s
    return np.array([radius * s + run * c, height]), np.array([-s, c])


def _acting(arm: np.ndarray, force: np.ndarray) -> np.ndarray:
    """Ahead, and the moment that lifts the front, of a force at an arm from the centre of mass."""
    return np.array([force[0], arm[0] * force[1] - arm[1] * force[0]])
