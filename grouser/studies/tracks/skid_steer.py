"""Steady turns of a vehicle with two tracks on rigid ground, quasi-static and with uniform pressure.

After Wong and Chiang, "A general theory for skid steering of tracked vehicles on firm ground" (2001), whose law is the
direction `velocity`. An element of a belt slides over the ground with

    v = (V - w y - V_s, w (x + s_0))

forward and to the left: V and w are speed and yaw rate of the hull, V_s is the speed of that belt over the hull. The
ground acts on it with mu p times the mobilised shear (`shear`). Forward force, lateral force and yaw moment of both
tracks are zero together: this gives both belt speeds and the shift s_0.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, root

from grouser.physics.base.errors import ParameterError
from grouser.studies.tracks.shear import Contact, make_contact, mobilised_shear

OUTER, INNER = -1, 1

# Greatest turning of the hull while an element is down [rad]. Between the belt speeds forward and backward of this
# turning, forces are interpolated.
_LONGEST_TURN = 100.0
# What is left of forces and moments over their size.
_BALANCED = 1e-5
# Change of an unknown that numerical derivatives take, of itself: panels that come and go move forces by 1e-7.
_VARIATION = 1e-5
# Turns wider than so many times the belt speed by the yaw rate of the pivot turn are found from Coulomb friction.
_WIDE = 3.0


@dataclass(frozen=True)
class TrackedVehicle:
    """A vehicle on two tracks, with its centre of mass in the middle.

    Attributes:
        weight: W, on both tracks [N].
        contact_length, width: of each contact [m].
        tread: distance between the middles of both tracks [m].
        friction: mu [-].
        modulus: K, shear displacement modulus [m]; 0 for Coulomb friction.
        direction: law of the shear, see `shear.DIRECTIONS`; without meaning for Coulomb friction.
    """

    weight: float
    contact_length: float
    width: float
    tread: float
    friction: float
    modulus: float
    direction: str


class TrackForces(NamedTuple):
    """What the ground does to the hull by one track, or by both.

    Attributes:
        forward, lateral: [N], lateral to the left.
        moment: about the hull's centre, to the left [N m].
        lateral_moment: that of the lateral forces [N m].
    """

    forward: float
    lateral: float
    moment: float
    lateral_moment: float


class Turn(NamedTuple):
    """A steady turn to the left.

    Attributes:
        radius: of the hull's centre line [m].
        outer_speed, inner_speed: of the belts by the yaw rate, forward positive [m].
        shift: s_0, how far behind the hull's centre the point lies that moves straight ahead [m].
        outer, inner: forces of both tracks.
    """

    radius: float
    outer_speed: float
    inner_speed: float
    shift: float
    outer: TrackForces
    inner: TrackForces

    @property
    def moment(self) -> float:
        """Of both tracks about the hull's centre, to the left; zero where the belts drive the turn [N m]."""
        return self.outer.moment + self.inner.moment

    @property
    def lateral_moment(self) -> float:
        """Of the lateral forces of both tracks [N m]."""
        return self.outer.lateral_moment + self.inner.lateral_moment


def locked_turn(vehicle: TrackedVehicle) -> Turn:
    """The vehicle turned in place by a moment from outside, with locked belts that slide everywhere.

    Every element goes round the centre, so that its shear displacement grows until all of the shear is there: the
    moment is mu p times the integral of r dA.
    """
    sliding = _of_coulomb(vehicle)
    half = 0.5 * vehicle.tread
    outer, inner = track_forces(sliding, OUTER, 0.0, -half, 0.0), track_forces(sliding, INNER, 0.0, half, 0.0)
    return Turn(0.0, 0.0, 0.0, 0.0, outer, inner)


def steady_turns(vehicle: TrackedVehicle, radii: list[float]) -> Iterator[Turn]:
    """Steady turns that the belts drive, one a radius; 0 for the pivot turn.

    Raises:
        ParameterError: a radius at which no balance was found.
    """
    overspeed = _coulomb_overspeed(vehicle)
    start = np.array([overspeed, -overspeed, 0.0])
    for radius in radii:
        unknowns = start if vehicle.modulus == 0.0 else _balance(vehicle, radius, start)
        if unknowns is None:
            valid = f"no balance of forces was found under the law {vehicle.direction}; take a wider turn"
            raise ParameterError("radius", radius, valid)
        outer, inner = _both(vehicle, radius, unknowns)
        half, (faster, slower, shift) = 0.5 * vehicle.tread, unknowns.tolist()
        yield Turn(radius, radius + half + faster, radius - half + slower, shift, outer, inner)


def track_forces(vehicle: TrackedVehicle, side: int, radius: float, overspeed: float, shift: float) -> TrackForces:
    """Forces of one track.

    Args:
        vehicle: the vehicle.
        side: OUTER or INNER.
        radius: of the turn to the left [m].
        overspeed: of the belt over the hull, less that of the track's middle over the ground, by the yaw rate [m].
        shift: s_0 [m].
    """
    rolling = radius - side * 0.5 * vehicle.tread
    speed, slow = rolling + overspeed, vehicle.contact_length / _LONGEST_TURN
    if vehicle.modulus == 0.0 or abs(speed) >= slow:
        return TrackForces(*_forces(vehicle, side, radius, overspeed, shift).tolist())
    backward, forward = (_forces(vehicle, side, radius, end - rolling, shift) for end in (-slow, slow))
    share = 0.5 * (1.0 + speed / slow)
    return TrackForces(*((1.0 - share) * backward + share * forward).tolist())


def shear_field(vehicle: TrackedVehicle, turn: Turn, side: int, along: int, across: int) -> np.ndarray:
    """What the ground does to a belt over mu p, interpolated on an even grid [-], forward + i left, (along, across).

    Args:
        vehicle: the vehicle.
        turn: one of its turns.
        side: OUTER or INNER.
        along, across: numbers of places from the edge where the belt lands, and from its right side.
    """
    speed = turn.inner_speed if side == INNER else turn.outer_speed
    overspeed = speed - turn.radius + side * 0.5 * vehicle.tread
    contact = _contact(vehicle, side, turn.radius, overspeed, turn.shift)
    shear = -mobilised_shear(contact, vehicle.direction, vehicle.modulus)
    travel, rows = contact.travel.ravel(), contact.position[0, 0].imag - 0.5 * side * vehicle.tread
    shear = shear.reshape(travel.size, rows.size)
    lengthwise = (np.arange(along) + 0.5) / along * vehicle.contact_length
    crosswise = ((np.arange(across) + 0.5) / across - 0.5) * vehicle.width
    field = np.array([np.interp(lengthwise, travel, column) for column in shear.T])
    return np.array([np.interp(crosswise, rows, line) for line in field.T])


def _contact(vehicle: TrackedVehicle, side: int, radius: float, overspeed: float, shift: float) -> Contact:
    offset = 0.5 * side * vehicle.tread
    return make_contact(vehicle.contact_length, vehicle.width, offset, radius, overspeed, shift, vehicle.modulus)


def _forces(vehicle: TrackedVehicle, side: int, radius: float, overspeed: float, shift: float) -> np.ndarray:
    """The numbers of `TrackForces`, (4,)."""
    contact = _contact(vehicle, side, radius, overspeed, shift)
    greatest = 0.5 * vehicle.friction * vehicle.weight
    force = -greatest * contact.area * mobilised_shear(contact, vehicle.direction, vehicle.modulus)
    arm = contact.position
    lateral_moment = (arm.real * force.imag).sum()
    return np.array([
        force.real.sum(), force.imag.sum(), lateral_moment - (arm.imag * force.real).sum(), lateral_moment
    ])  # fmt: skip


def _both(vehicle: TrackedVehicle, radius: float, unknowns: np.ndarray) -> tuple[TrackForces, TrackForces]:
    outer, inner, shift = (float(value) for value in unknowns)
    return track_forces(vehicle, OUTER, radius, outer, shift), track_forces(vehicle, INNER, radius, inner, shift)


def _of_coulomb(vehicle: TrackedVehicle) -> TrackedVehicle:
    return TrackedVehicle(
        vehicle.weight, vehicle.contact_length, vehicle.width, vehicle.tread, vehicle.friction, 0.0, vehicle.direction
    )


def _coulomb_overspeed(vehicle: TrackedVehicle) -> float:
    """By how much the outer belt is faster than its track, and the inner one slower, by the yaw rate [m].

    Under Coulomb friction only this difference counts, and the radius does not. Without it the ground resists the turn;
    the greater it is, the more the belts turn the hull, and the less the lateral forces resist.
    """
    sliding = _of_coulomb(vehicle)

    def moment(overspeed: float) -> float:
        return track_forces(sliding, OUTER, 0.0, overspeed, 0.0).moment

    fast = vehicle.contact_length
    while moment(fast) < 0.0:
        fast *= 2.0
    return float(brentq(moment, 0.0, fast, xtol=1e-12 * fast))


def _balance(vehicle: TrackedVehicle, radius: float, start: np.ndarray) -> np.ndarray | None:
    """Overspeeds of the outer and inner belt by the yaw rate, and shift [m]; None where none is found.

    Under the law `displacement` a tight turn may have two balances: one is reached from wide turns, in which the
    balance is near that of Coulomb friction, and where that ends, the other one from the pivot turn.
    """
    pivot_speed = 0.5 * vehicle.tread + float(start[0])
    wide = _WIDE * pivot_speed
    if radius == 0.0 or radius >= wide:
        return _solve(vehicle, radius, start)
    ways = [
        np.geomspace(wide, radius, 2 + int(np.log(wide / radius) / np.log(1.25))),
        np.linspace(0.0, radius, 2 + int(radius / (0.05 * pivot_speed))),
    ]
    if vehicle.direction != "displacement":
        ways.insert(0, np.array([radius]))
    found = (_follow(vehicle, way, start) for way in ways)
    return next((unknowns for unknowns in found if unknowns is not None), None)


def _follow(vehicle: TrackedVehicle, radii: np.ndarray, start: np.ndarray) -> np.ndarray | None:
    """The balance at the last of some radii, each found from the one before; None where one is not found."""
    for radius in radii:
        unknowns = _solve(vehicle, float(radius), start)
        if unknowns is None:
            return None
        start = unknowns
    return start


def _solve(vehicle: TrackedVehicle, radius: float, start: np.ndarray) -> np.ndarray | None:
    length = vehicle.contact_length
    # Shear builds up over about so much of displacement.
    displacement = 0.5 * length**2 / max(radius, length)
    size = -np.expm1(-displacement / vehicle.modulus) * vehicle.friction * vehicle.weight

    def residual(unknowns: np.ndarray) -> np.ndarray:
        outer, inner = _both(vehicle, radius, unknowns)
        total = np.add(outer, inner)
        return np.array([total[0], total[1], total[2] / length]) / size

    found = root(residual, start, tol=1e-10, options={"eps": _VARIATION**2})
    return found.x if np.abs(found.fun).max() < _BALANCED else None
