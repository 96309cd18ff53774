"""Receivers of satellite navigation, and the coordinates of WGS 84."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.description.data.sensors import GnssReceiver
from grouser.physics.description.data.world import GeodeticOrigin
from grouser.physics.multibody.kinematics import Kinematics
from grouser.physics.sensors.mounting import Mounting
from grouser.physics.sensors.noise import white_noise

# The ellipsoid of WGS 84 (NIMA TR8350.2): equatorial radius [m], flattening [-].
_RADIUS, _FLATTENING = 6378137.0, 1.0 / 298.257223563
_SQUARE = _FLATTENING * (2.0 - _FLATTENING)  # of its first eccentricity


class GnssFix(NamedTuple):
    """Measurement of a receiver; NaN without a fix.

    Attributes:
        latitude, longitude: [degrees], north and east positive.
        altitude: above the ellipsoid [m].
    """

    latitude: float
    longitude: float
    altitude: float

    @property
    def has_fix(self) -> bool:
        """Whether the position is known."""
        return math.isfinite(self.latitude)


def read_fix(
    receiver: GnssReceiver,
    mounting: Mounting,
    origin: GeodeticOrigin | None,
    kinematics: Kinematics | Packed,
    step: int,
) -> GnssFix:
    """Reads a receiver.

    Args:
        receiver: its description.
        mounting: its place.
        origin: of the world; None: there is no fix.
        kinematics: of the machine.
        step: number of the step; the noise depends on it alone.
    """
    if origin is None:
        return GnssFix(math.nan, math.nan, math.nan)
    position = mounting.pose(kinematics)[1] + kinematics.origin
    deviation = np.array([receiver.horizontal_noise, receiver.horizontal_noise, receiver.vertical_noise])
    east_north_up = to_east_north_up(origin, position)
    if deviation.any():
        east_north_up = east_north_up + deviation * white_noise(receiver.name, step, (3,))
    return GnssFix(*geodetic_position(origin, east_north_up))


def to_east_north_up(origin: GeodeticOrigin, position: np.ndarray) -> np.ndarray:
    """A position in the world's axes [m] as east, north and up from the world's origin [m], (3,)."""
    yaw = math.radians(origin.yaw_deg)
    cosine, sine = math.cos(yaw), math.sin(yaw)
    x, y, z = position
    return np.array([cosine * x - sine * y, sine * x + cosine * y, z])


def geodetic_position(origin: GeodeticOrigin, east_north_up: np.ndarray) -> tuple[float, float, float]:
    """Latitude, longitude [degrees] and altitude [m] of a position in the plane that touches the ellipsoid's parallel
    surface at the world's origin.

    Args:
        origin: of the world.
        east_north_up: the position from there [m], (3,).
    """
    latitude, longitude = math.radians(origin.latitude), math.radians(origin.longitude)
    sine, cosine = math.sin(latitude), math.cos(latitude)
    east, north, up = east_north_up
    # earth-fixed, turned about the earth's axis by the origin's longitude
    outward = _normal_radius(sine) + origin.altitude
    x = outward * cosine - sine * north + cosine * up
    y = east
    z = (outward - _SQUARE * _normal_radius(sine)) * sine + cosine * north + sine * up
    found, altitude = _latitude_and_altitude(math.hypot(x, y), z)
    turned = math.degrees(longitude + math.atan2(y, x))
    return math.degrees(found), (turned + 180.0) % 360.0 - 180.0, altitude


def _normal_radius(sine: float) -> float:
    """Radius of curvature across the meridian at the sine of a latitude [m]."""
    return _RADIUS / math.sqrt(1.0 - _SQUARE * sine * sine)


def _latitude_and_altitude(across: float, along: float) -> tuple[float, float]:
    """Geodetic latitude [rad] and altitude [m] of a point at these distances from and along the earth's axis [m].

    Bowring's formula (Survey Review 23, 1976), repeated with the improved parametric latitude, which converges by five
    digits a time near the surface.
    """
    short = _RADIUS * (1.0 - _FLATTENING)
    beta = math.atan2(_RADIUS * along, short * across)
    latitude = 0.0
    for _ in range(3):
        latitude = math.atan2(
            along + _SQUARE / (1.0 - _SQUARE) * short * math.sin(beta) ** 3,
            across - _SQUARE * _RADIUS * math.cos(beta) ** 3,
        )
        beta = math.atan2((1.0 - _FLATTENING) * math.sin(latitude), math.cos(latitude))
    sine, cosine = math.sin(latitude), math.cos(latitude)
    # the distance along the normal, well conditioned at the poles too
    altitude = across * cosine + along * sine - _RADIUS * math.sqrt(1.0 - _SQUARE * sine * sine)
    return latitude, altitude
