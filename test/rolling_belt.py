"""How far a track rolls on rigid ground by its belt, for tests.

Shoes around an end wheel are faster than the belt's pitch line. A track that leans on such an arc goes farther than its
sprocket turns; all shoes share the shear of their landing, and the pull of the track is that of all of them.
"""

import itertools

import numpy as np
from scipy.optimize import brentq

# Elements along the contact.
_ELEMENTS = 800
# Excess of the ground's speed over the belt's in which to look for it.
_SLOWEST, _FASTEST = -0.1, 0.2


def rolled_beyond(track, load, pull, speed, lean, friction):
    """Way of a track over that of its belt, less one.

    Args:
        track: description, with end wheels of one size at both ends of its lower run.
        load: [N].
        pull: thrust of the ground, ahead [N].
        speed: of the belt, ahead [m/s].
        lean: by which the track falls ahead [-].
        friction: coefficient.
    """
    place, wheel, pressure = _pressures(track, load, speed, lean)
    radius = _radius(track)
    angle = wheel / (radius + track.thickness)
    faster = np.where(wheel > 0.0, 1.0 + track.thickness / radius, 1.0)
    order = np.argsort(-place if speed > 0.0 else place)
    strength = friction * pressure * track.width * (place[1] - place[0])
    path = (place[1] - place[0]) / faster / track.shear_displacement_modulus

    def thrust(excess):
        slip, state, total = 1.0 + excess - faster * np.cos(angle), 0.0, 0.0
        for n in order:
            state = (state + path[n] * slip[n]) / (1.0 + path[n] * abs(slip[n])) if pressure[n] > 0.0 else 0.0
            total -= strength[n] * state
        return total

    return brentq(lambda excess: thrust(excess) - pull * np.sign(speed), _SLOWEST, _FASTEST)


def _radius(track):
    return float(-track.path.point[:, 1].min())


def _pressures(track, load, speed, lean):
    """Elements along the contact: place ahead [m], how far along the arc at an end [m], pressure [Pa]."""
    path, outer = track.path, _radius(track) + track.thickness
    lower = (path.radius == 0.0) & (path.direction[:, 0] < 0.0)
    begin = path.point[lower, 0]
    wheels = np.unique(np.round(np.concatenate([begin, begin - path.length[lower]]), 9))
    place = np.linspace(wheels[0] - 0.3 * outer, wheels[-1] + 0.3 * outer, _ELEMENTS)
    arc = np.maximum(np.maximum(place - wheels[-1], wheels[0] - place), 0.0)
    rise = outer - np.sqrt(outer**2 - arc**2)
    # of the shoes towards the ground: ahead of the front wheel they come down as the track goes ahead
    coming = np.sign(place - wheels[0]) * arc / _radius(track) * speed
    gives = np.zeros(_ELEMENTS)
    for low, high in itertools.pairwise(wheels):
        inside = (place > low) & (place < high)
        span = (place[inside] - low) * (high - place[inside])
        gives[inside] = track.width * span / (2.0 * track.pretension)

    def pressure(depth):
        depths = depth + lean * (place - wheels.mean()) - rise
        pressed = track.stiffness * depths + track.damping * coming
        return np.where(depths > 0.0, np.maximum(pressed, 0.0), 0.0) / (1.0 + track.stiffness * gives)

    size = track.width * (place[1] - place[0])
    depth = brentq(lambda depth: size * pressure(depth).sum() - load, -0.01, 0.05)
    return place, arc, pressure(depth)
