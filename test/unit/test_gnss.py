"""Satellite navigation: positions on WGS 84 against the definition of its coordinates."""

import math

import numpy as np
import pytest

from grouser import Simulation
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.description import parse_machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.world import GeodeticOrigin, World
from grouser.physics.description.world.reader import parse_world
from grouser.physics.sensors.gnss import geodetic_position, to_east_north_up

A, F = 6378137.0, 1.0 / 298.257223563
E2 = F * (2.0 - F)


def earth_fixed(latitude, longitude, altitude):
    """Earth-centred, earth-fixed coordinates [m] of a geodetic position [degrees, m] (the definition)."""
    phi, lam = math.radians(latitude), math.radians(longitude)
    n = A / math.sqrt(1.0 - E2 * math.sin(phi) ** 2)
    return np.array(
        [
            (n + altitude) * math.cos(phi) * math.cos(lam),
            (n + altitude) * math.cos(phi) * math.sin(lam),
            (n * (1.0 - E2) + altitude) * math.sin(phi),
        ]
    )


def axes_at(latitude, longitude):
    """East, north and up in earth-fixed axes, as rows."""
    phi, lam = math.radians(latitude), math.radians(longitude)
    return np.array(
        [
            [-math.sin(lam), math.cos(lam), 0.0],
            [-math.sin(phi) * math.cos(lam), -math.sin(phi) * math.sin(lam), math.cos(phi)],
            [math.cos(phi) * math.cos(lam), math.cos(phi) * math.sin(lam), math.sin(phi)],
        ]
    )


@pytest.mark.parametrize("latitude", [-90.0, -89.9999, -52.3, 0.0, 1e-9, 47.26, 89.99, 90.0])
@pytest.mark.parametrize("longitude", [-180.0, -179.9999, 0.0, 11.39, 180.0])
def test_geodetic_position_inverts_the_definition(latitude, longitude):
    """The point found is where the offset leads, to the rounding of the earth's radius, for offsets up to 50 km."""
    origin = GeodeticOrigin(latitude, longitude, 1234.5)
    for offset in ((0.0, 0.0, 0.0), (10.0, -20.0, 3.0), (-3e4, 4e4, -500.0), (1e3, 0.0, 9e3)):
        found = geodetic_position(origin, np.array(offset))
        wanted = earth_fixed(latitude, longitude, 1234.5) + np.array(offset) @ axes_at(latitude, longitude)
        np.testing.assert_allclose(earth_fixed(*found), wanted, atol=1e-8)
        assert -90.0 <= found[0] <= 90.0 and -180.0 <= found[1] <= 180.0


def test_way_along_the_meridian():
    """100 m north. The radius of the meridian is a (1 - e2) / (1 - e2 sin2)^1.5, and changes by 5e-8 within them."""
    for latitude, radius in ((0.0, A * (1.0 - E2)), (45.0, A * (1.0 - E2) / (1.0 - 0.5 * E2) ** 1.5)):
        found, _, altitude = geodetic_position(GeodeticOrigin(latitude, 10.0), np.array([0.0, 100.0, 0.0]))
        assert math.radians(found - latitude) * radius == pytest.approx(100.0, abs=1e-5)
        # the tangent plane leaves the ellipsoid by d2 / 2 R
        assert altitude == pytest.approx(100.0**2 / (2.0 * radius), rel=1e-3)


def test_world_axes_turn_by_the_yaw():
    origin = GeodeticOrigin(47.0, 11.0, yaw_deg=90.0)  # x north, y west
    np.testing.assert_allclose(to_east_north_up(origin, np.array([3.0, 5.0, 7.0])), [-5.0, 3.0, 7.0], atol=1e-14)


TREE = """<robot name="r"><link name="world"/><link name="mast"/>
<joint name="foot" type="fixed"><parent link="world"/><child link="mast"/><origin xyz="2 3 1"/></joint>
<link name="arm"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="mast"/><child link="arm"/><axis xyz="0 0 1"/></joint>
<grouser><gnss_receiver name="gnss" link="mast" xyz="0 0 0.5" {more}/></grouser></robot>"""


def fixes(world, more="", steps=1):
    simulation = Simulation(parse_machine(TREE.format(more=more), "r.urdf"), world)
    found = []
    for _ in range(steps):
        found.append(simulation.sensors.gnss_receiver["gnss"])
        simulation.step(1)
    return found


def test_receiver_measures_its_antenna():
    origin = GeodeticOrigin(47.0, 11.0, 600.0, 30.0)
    (fix,) = fixes(World(ground=None, geodetic_origin=origin, spawn=Pose((100.0, 0.0, 0.0))))
    wanted = geodetic_position(origin, to_east_north_up(origin, np.array([102.0, 3.0, 1.5])))
    assert tuple(fix) == pytest.approx(wanted, rel=1e-14)
    assert fix.has_fix


def test_receiver_has_no_fix_without_an_origin():
    (fix,) = fixes(World(ground=None))
    assert not fix.has_fix and all(math.isnan(value) for value in fix)


def test_errors_of_a_receiver_are_along_east_north_and_up():
    """A thousand fixes: deviations within 4 / sqrt(2 n) of themselves."""
    origin = GeodeticOrigin(60.0, 5.0)
    world = World(ground=None, geodetic_origin=origin)
    (exact,) = fixes(world)
    noisy = np.array(fixes(world, 'horizontal_noise="1.5" vertical_noise="3"', steps=1000)) - np.array(exact)
    phi = math.radians(60.0)
    curve = 1.0 - E2 * math.sin(phi) ** 2
    north = np.radians(noisy[:, 0]) * A * (1.0 - E2) / curve**1.5
    east = np.radians(noisy[:, 1]) * A / math.sqrt(curve) * math.cos(phi)
    for error, deviation in ((east, 1.5), (north, 1.5), (noisy[:, 2], 3.0)):
        assert error.std() == pytest.approx(deviation, rel=4.0 / math.sqrt(2000.0))


def test_world_file_with_a_geodetic_origin():
    text = "geodetic_origin: {latitude: 47.1, longitude: -11.2, altitude: 580, yaw_deg: 12}"
    assert parse_world(text, "w.yaml").geodetic_origin == GeodeticOrigin(47.1, -11.2, 580.0, 12.0)
    assert parse_world("name: plain", "w.yaml").geodetic_origin is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{latitude: 91, longitude: 0}", "geodetic_origin latitude: 91 is out of range; valid: -90 to 90"),
        ("{latitude: 9, longitude: 200}", "longitude: 200 is out of range; valid: -180 to 180"),
        ("{latitude: 9}", "key 'longitude' is missing"),
        ("{latitude: 9, longitude: 0, heading: 3}", "unknown key 'heading'"),
        ("7", "a mapping is needed"),
    ],
)
def test_bad_geodetic_origins_are_rejected(text, message):
    with pytest.raises(MachineError, match=message):
        parse_world(f"geodetic_origin: {text}", "w.yaml")


def test_bad_values_of_a_geodetic_origin_are_rejected():
    with pytest.raises(ParameterError, match="latitude"):
        GeodeticOrigin(float("nan"), 0.0)
    with pytest.raises(ParameterError, match="geodetic_origin"):
        World(geodetic_origin=(47.0, 11.0))
