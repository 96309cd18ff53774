"""Lidars with several channels: pattern, closed forms, the same distances as a planar lidar, messages."""

import math

import numpy as np
import pytest
from ray_sensor_scene import on_mast

from grouser.benchmarks.lidar import rough_ground, scene
from grouser.nodes.shared.sensor_messages import POINT, fill_points, make_points
from grouser.physics.base.errors import MachineError
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.sensors import Lidar3d
from grouser.physics.description.data.shapes import Box, Sphere
from grouser.physics.description.data.world import Ground, Obstacle, World
from grouser.physics.sensors.lidar import LidarSweep, beam_directions


def sweep(more, world, **place):
    return on_mast(f'<lidar_3d name="eye" link="mast" {more}/>', world, **place).sensors.lidar_3d["eye"]


def test_beams_are_rows_of_elevations_and_columns_of_azimuths():
    directions = beam_directions(
        Lidar3d(
            "l", "base", channels=3, elevation_min=-0.2, elevation_max=0.4, samples=5, angle_min=-1.0, angle_max=1.0
        )
    )
    assert directions.shape == (3, 5, 3)
    np.testing.assert_allclose(np.linalg.norm(directions, axis=-1), 1.0, rtol=1e-15)
    np.testing.assert_allclose(np.arcsin(directions[:, :, 2]), np.array([[-0.2], [0.1], [0.4]]) + np.zeros(5))
    azimuth = np.arctan2(directions[:, :, 1], directions[:, :, 0])
    np.testing.assert_allclose(azimuth, np.tile([-1.0, -0.5, 0.0, 0.5, 1.0], (3, 1)), atol=1e-15)


def test_full_turn_of_a_lidar_3d_has_no_duplicate_beam():
    found = sweep('samples="4" channels="1" elevation_min="0"', World(ground=None))
    np.testing.assert_allclose(found.directions[0], [[-1, 0, 0], [0, -1, 0], [1, 0, 0], [0, 1, 0]], atol=1e-15)


def test_ranges_of_level_ground():
    """h / sin(depression), infinite beyond the maximum."""
    found = sweep('channels="8" samples="90" range_max="20"', World(), xyz="1 2 1.5")
    down = -found.directions[:, :, 2]
    expected = np.where(down * 20.0 > 1.5, 1.5 / np.where(down > 0.0, down, 1.0), np.inf)
    np.testing.assert_allclose(found.ranges, expected, rtol=1e-13)
    assert 90 <= np.isfinite(expected).sum() < 720


def test_ranges_of_a_sphere_and_a_box():
    """d cos a - sqrt(r2 - d2 sin2 a) with the angle a to the centre; the box's face at x = 3 m."""
    centre = np.array([-4.0, 1.0, 0.5])
    world = World(
        ground=None,
        obstacles=(
            Obstacle("sphere", Sphere(1.2), Pose(tuple(centre))),
            Obstacle("box", Box((2.0, 2.0, 1.0)), Pose((4.0, 0.0, 0.0))),
        ),
    )
    found = sweep('channels="32" samples="720"', world)
    way = found.directions
    along = way @ centre
    square = 1.2**2 - (centre @ centre - along**2)
    sphere = np.where((square >= 0.0) & (along > 0.0), along - np.sqrt(np.maximum(square, 0.0)), np.inf)
    face = 3.0 / np.where(way[:, :, 0] > 0.0, way[:, :, 0], np.nan)
    inside = (np.abs(face * way[:, :, 1]) < 1.0) & (np.abs(face * way[:, :, 2]) < 0.5)
    np.testing.assert_allclose(found.ranges, np.minimum(sphere, np.where(inside, face, np.inf)), rtol=1e-11)
    assert inside.sum() > 500 and np.isfinite(sphere).sum() > 500


@pytest.mark.parametrize("rough", [False, True])
def test_channels_see_what_planar_lidars_see(rough):
    """A channel without elevation, and a planar lidar at the same place, in the same scene."""
    world = scene(Ground(heightfield=rough_ground() if rough else None))
    sensors = (
        '<lidar_3d name="many" link="mast" channels="5" elevation_min="-0.4" elevation_max="0.4" samples="300" '
        'range_max="30"/><sensor name="one" type="lidar" link="mast" beams="300"/>'
    )
    simulation = on_mast(sensors, world, xyz="0 0 0.9", rpy="0.03 0.05 0.4")
    middle, planar = simulation.sensors.lidar_3d["many"].ranges[2], simulation.sensors.lidar["one"].ranges
    np.testing.assert_allclose(middle, planar, rtol=1e-12)
    assert np.isfinite(planar).sum() > 100


def test_noise_of_a_lidar_3d_is_normal():
    found = sweep('channels="16" samples="500" elevation_max="-0.1" noise="0.02"', World(), xyz="0 0 1.5")
    exact = -1.5 / found.directions[:, :, 2]
    off = found.ranges - exact
    assert off.std() == pytest.approx(0.02, rel=4.0 / math.sqrt(2.0 * off.size))
    assert abs(off.mean()) < 4.0 * 0.02 / math.sqrt(off.size)


def test_cloud_is_organised_in_the_lidars_frame():
    lidar = Lidar3d("eye", "base", channels=3, samples=4)
    ranges = np.array([[1.0, 2.0, np.inf, 4.0], [5.0, -np.inf, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]])
    sweep_of = LidarSweep(beam_directions(lidar), ranges)
    message = make_points("frame", lidar)
    fill_points(message, 1_500_000_000, sweep_of)
    assert (message.header.frame_id, message.header.stamp.sec, message.header.stamp.nanosec) == (
        "frame",
        1,
        500_000_000,
    )
    assert (message.height, message.width, message.point_step, message.row_step) == (3, 4, 20, 80)
    assert [(field.name, field.offset, field.datatype, field.count) for field in message.fields] == [
        *(("x", 0, 7, 1), ("y", 4, 7, 1), ("z", 8, 7, 1), ("intensity", 12, 7, 1), ("ring", 16, 4, 1))
    ]
    points = np.frombuffer(bytes(message.data), dtype=POINT).reshape(3, 4)
    met = np.isfinite(ranges)
    assert not message.is_dense
    np.testing.assert_array_equal(points["ring"], np.repeat([[0], [1], [2]], 4, axis=1))
    places = np.stack([points["x"], points["y"], points["z"]], axis=-1)
    assert np.isnan(places[~met]).all()
    np.testing.assert_allclose(places[met], sweep_of.directions[met] * ranges[met, np.newaxis], rtol=1e-6, atol=1e-6)
    fill_points(message, 0, LidarSweep(sweep_of.directions, np.ones((3, 4))))
    assert message.is_dense


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('channels="0"', "channels = 0 is out of range; valid: 1 to 256"),
        ('samples="1"', "samples = 1 is out of range; valid: 2 to 10000"),
        ('channels="256" samples="10000"', "are 2560000 beams; valid: up to 1000000"),
        ('elevation_min="0.3" elevation_max="0.1"', "elevation_min = 0.3 rad is not less than elevation_max = 0.1 rad"),
        ('elevation_max="2"', "elevation_max = 2 rad is out of range"),
        ('angle_min="1" angle_max="1"', "from 1 to 1 rad"),
        ('range_min="5" range_max="5"', "range_min = 5 m is not less than range_max = 5 m"),
        ('noise="-1"', "noise = -1 m is out of range"),
        ('beams="3"', "unknown attribute 'beams'"),
    ],
)
def test_bad_lidars_3d_are_rejected(more, message):
    with pytest.raises(MachineError, match=message):
        sweep(more, World())


def test_sensors_have_different_names():
    with pytest.raises(MachineError, match="name = 'eye' is that of another <depth_camera>"):
        on_mast('<lidar_3d name="eye" link="mast"/><depth_camera name="eye" link="mast"/>', World())
