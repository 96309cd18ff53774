"""Balance of a vehicle that turns steadily and slowly on its tracks on soft soil, for tests.

Shear by s of ds/dt = (v - |v| s)/K along each track, from the front of the arc on which its shoes enter the soil;
Rankine's wedges beside sunken shoes, and the compaction resistances as given, which take thrust. The load is spread
along the track by Bekker's pressure at one depth, or as it was measured.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import fsolve

GRAVITY = 9.81
# Elements along a track, and across it.
_ALONG, _ACROSS = 60, 4
# Faces less steep than this are on the flat run [rad].
_STRAIGHT = 0.05


@dataclass(frozen=True)
class TurningTrack:
    """A track in the turn.

    Attributes:
        belt: speed [m/s], forward.
        load, resistance, sinkage: [N, N, m].
        ahead, left: of its middle [m].
        length, width: of its flat run [m].
        radius, thickness: of the end wheel to the pitch line, and from there to the shoes' faces [m].
        grouser_height: [m].
        pressed: measured from front to rear: ahead of the track's middle [m], steepness of the face [rad], depth [m],
            force along its normal [N] and way along the belt [m], (elements, 5); None: the load is even.
    """

    belt: float
    load: float
    resistance: float
    sinkage: float
    ahead: float
    left: float
    length: float
    width: float
    radius: float
    thickness: float
    grouser_height: float = 0.0
    pressed: np.ndarray | None = None


def steady_turn(soil, tracks, pull=0.0):
    """Speed ahead and to the left [m/s] and yaw rate [rad/s] of the vehicle's middle.

    Args:
        soil: below all tracks.
        tracks: `TurningTrack`s.
        pull: force on the vehicle ahead, beside that of the ground: its weight, where it stands inclined [N].
    """
    parts = [_elements(soil, track) for track in tracks]

    def unbalanced(motion):
        force = np.array([pull, 0.0, 0.0])
        for track, elements in zip(tracks, parts, strict=True):
            force += _force(soil, track, elements, *motion)
        return force / (1e-3 * sum(track.load for track in tracks))

    belts = np.array([track.belt for track in tracks])
    aside = np.array([track.left for track in tracks])
    begin = (belts.mean(), 0.0, -0.7 * np.polyfit(aside, belts, 1)[0])
    motion, _, found, told = fsolve(unbalanced, begin, full_output=True)
    assert found == 1, told
    return motion


def _elements(soil, track):
    """Place ahead, steepness, relative speed and time of the face of each element, strength and side resistance.

    The strength is that to each of `_ACROSS`.
    """
    pressed = _evenly(soil, track) if track.pressed is None else track.pressed
    ahead, turn, depth, normal, way = pressed.T
    share = track.grouser_height / track.width
    cohesion = soil.cohesion * (1.0 + 2.0 * share)
    tangent = math.tan(soil.friction_angle)
    friction = tangent * (1.0 + 0.64 * share * math.atan2(1.0, share))
    strength = (cohesion * way * track.width + normal * friction) / _ACROSS
    root = math.hypot(1.0, tangent) + tangent
    side = way * (0.5 * soil.density * GRAVITY * (depth * root) ** 2 + 2.0 * soil.cohesion * depth * root)
    # shoes on an arc are faster than the belt, and take longer ways
    faster = np.where(np.abs(turn) > _STRAIGHT, 1.0 + track.thickness / track.radius, 1.0)
    return np.column_stack([track.ahead + ahead, turn, faster, way / faster / track.belt, strength, side])


def _evenly(soil, track):
    """The load at the depth of the sinkage, as `TurningTrack.pressed`."""
    outer = track.radius + track.thickness
    arc = outer * math.acos(1.0 - track.sinkage / outer)
    path = arc - (arc + track.length) * (np.arange(_ALONG) + 0.5) / _ALONG
    turn = np.maximum(path, 0.0) / outer
    ahead = 0.5 * track.length + np.where(path > 0.0, outer * np.sin(turn), path)
    depth = np.maximum(track.sinkage - outer * (1.0 - np.cos(turn)), 0.0)
    carried = depth**soil.exponent * np.cos(turn)
    normal = track.load * carried / carried.sum()
    return np.column_stack([ahead, turn, depth, normal, np.full(_ALONG, (arc + track.length) / _ALONG)])


def _force(soil, track, elements, forward, aside, yaw):
    """Force ahead and to the left and moment to the left of the ground on a track."""
    y = track.left + track.width * ((np.arange(_ACROSS) + 0.5) / _ACROSS - 0.5)
    along, across, force = np.zeros(_ACROSS), np.zeros(_ACROSS), np.zeros(3)
    for x, turn, faster, time, strength, side in elements:
        c, s = math.cos(yaw * time), math.sin(yaw * time)
        along, across = c * along + s * across, c * across - s * along
        vx, vy = (forward - yaw * y) * math.cos(turn) - faster * track.belt, aside + yaw * x
        path = time / soil.shear_displacement_modulus
        fading = 1.0 + path * np.hypot(vx, vy)
        along, across = (along + path * vx) / fading, (across + path * vy) / fading
        fx, fy = -strength * along * math.cos(turn), -strength * across
        # soil is pushed aside on the outer side
        pushed = side * across.mean() if across.mean() * track.left > 0.0 else 0.0
        force += fx.sum(), fy.sum() - pushed, (x * fy - y * fx).sum() - x * pushed
    return force + np.array([-1.0, 0.0, track.left]) * track.resistance
