"""Depth cameras: projection, closed forms, limits, noise, messages."""

import math

import numpy as np
import pytest
from ray_sensor_scene import on_mast

from grouser.benchmarks.lidar import rough_ground, scene
from grouser.nodes.shared.sensor_messages import camera_info, fill_depth_image, make_depth_image
from grouser.physics.base.errors import MachineError
from grouser.physics.description.data.blocks import BlockMaterial, Blocks, Interface, LooseBlock
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.sensors import DepthCamera
from grouser.physics.description.data.shapes import Box, Sphere
from grouser.physics.description.data.world import Ground, Obstacle, World
from grouser.physics.sensors.depth_camera import DepthImage, pixel_directions

EMPTY = World(ground=None)


def image(more, world, **place):
    return on_mast(f'<depth_camera name="eye" link="mast" {more}/>', world, **place).sensors.depth_camera["eye"].depth


def obstacles(*shapes):
    return World(ground=None, obstacles=tuple(Obstacle(str(n), *shape) for n, shape in enumerate(shapes)))


def rays(width, height, view):
    """Left and up of each pixel's middle per depth: tan(view / 2) at the outer edges of the image."""
    focal = 0.5 * width / math.tan(0.5 * view)
    left = -(np.arange(width) + 0.5 - 0.5 * width) / focal
    up = -(np.arange(height) + 0.5 - 0.5 * height) / focal
    return np.broadcast_arrays(left[np.newaxis, :], up[:, np.newaxis])


def test_depths_of_a_wall_are_equal():
    """Depth, not distance: a wall across the axis has the same in all pixels."""
    wall = obstacles((Box((1.0, 30.0, 30.0)), Pose((4.0, 0.0, 0.0))))
    depth = image('width="31" height="20"', wall)
    assert depth.shape == (20, 31)
    np.testing.assert_allclose(depth, 3.5, rtol=1e-14)


def test_blocks_are_seen_as_obstacles_of_their_shape():
    shapes = {"near": Pose((2.0, 0.3, 0.1), (0.1, 0.3, 0.2, 0.927)), "far": Pose((4.0, -0.4, 0.0))}
    solid = Box((0.8, 1.0, 0.6))
    loose = tuple(LooseBlock(name, solid, pose) for name, pose in shapes.items())
    blocks = Blocks(BlockMaterial(1e8, 0.2, 2000.0), Interface(1e8, 1e8), loose=loose)
    seen = image('width="64" height="48"', World(ground=None, blocks=blocks))
    assert np.isfinite(seen).any() and np.isinf(seen).any()
    np.testing.assert_allclose(
        seen, image('width="64" height="48"', obstacles(*((solid, pose) for pose in shapes.values()))), rtol=1e-12
    )


def test_depths_of_level_ground():
    """Pitched down by 0.4 rad at 1.5 m: 1.5 m / (sin - up cos), from the top row down."""
    depth = image('width="32" height="24" field_of_view="1.2" depth_max="8"', World(), xyz="0 0 1.5", rpy="0 0.4 0")
    _, up = rays(32, 24, 1.2)
    sinks = math.sin(0.4) - up * math.cos(0.4)
    expected = np.where(sinks * 8.0 > 1.5, 1.5 / np.where(sinks > 0.0, sinks, 1.0), np.inf)
    np.testing.assert_allclose(depth, expected, rtol=1e-13)
    assert np.isinf(depth[0]).all() and np.isfinite(depth[-1]).all()


def test_depths_of_a_sphere_on_the_left_and_a_box_above():
    centre = np.array([3.0, 1.0, -0.4])
    world = obstacles((Sphere(0.5), Pose(tuple(centre))), (Box((1.0, 1.0, 1.0)), Pose((4.5, 0.0, 1.5))))
    depth = image('width="160" height="120" field_of_view="1.4"', world)
    left, up = rays(160, 120, 1.4)
    way = np.stack([np.ones(left.shape), left, up], axis=-1)
    a, b, c = (way**2).sum(-1), way @ centre, centre @ centre - 0.25
    met = b * b >= a * c
    sphere = np.where(met, (b - np.sqrt(np.maximum(b * b - a * c, 0.0))) / a, np.inf)
    front = (np.abs(4.0 * left) < 0.5) & (np.abs(4.0 * up - 1.5) < 0.5)
    # the lower face of the box, z = 1, from x = 4 to 5
    below = 1.0 / np.where(up > 0.0, up, np.nan)
    under = (below > 4.0) & (below < 5.0) & (np.abs(below * left) < 0.5)
    expected = np.minimum(sphere, np.where(front, 4.0, np.where(under, below, np.inf)))
    np.testing.assert_allclose(depth, expected, rtol=1e-11)
    assert met.sum() > 300 and front.sum() > 200 and under.sum() > 20
    # y is left, z up
    assert met[:, :80].sum() == met.sum() and front[:60].sum() == front.sum()


def test_depths_beyond_the_limits_are_infinite():
    for more, expected in (
        ('depth_min="3.49"', 3.5),
        ('depth_min="3.51"', -np.inf),
        ('depth_max="3.51"', 3.5),
        ('depth_max="3.49"', np.inf),
    ):
        wall = obstacles((Box((1.0, 30.0, 30.0)), Pose((4.0, 0.0, 0.0))))
        assert image(f'width="6" height="4" {more}', wall) == pytest.approx(np.full((4, 6), expected))
    assert np.all(image('width="6" height="4"', World(), xyz="0 0 -1") == -np.inf)


def test_depths_match_a_lidar_through_the_same_pixels():
    """The middle row and a planar lidar with beams through the middles of three pixels, in a rough scene."""
    world = scene(Ground(heightfield=rough_ground()))
    camera = '<depth_camera name="eye" link="mast" width="41" height="3" field_of_view="1.3" depth_max="29"/>'
    angle = math.atan(20.0 / (20.5 / math.tan(0.65)))
    beams = f'<sensor name="beams" type="lidar" link="mast" beams="3" angle_min="{-angle}" angle_max="{angle}"/>'
    simulation = on_mast(camera + beams, world, xyz="0 0 0.9", rpy="0 0.15 0.8")
    depth, ranges = simulation.sensors.depth_camera["eye"].depth[1], simulation.sensors.lidar["beams"].ranges
    np.testing.assert_allclose(depth[[40, 20, 0]], ranges * np.cos([angle, 0.0, angle]), rtol=1e-12)
    assert np.isfinite(ranges).all()


def test_noise_of_a_depth_camera_grows_with_the_square_of_the_depth():
    """A wall near and far: within 4 / sqrt(2 n)."""
    for x, deviation in ((2.0, 0.002 + 0.001 * 4.0), (6.0, 0.002 + 0.001 * 36.0)):
        wall = obstacles((Box((1.0, 60.0, 60.0)), Pose((x + 0.5, 0.0, 0.0))))
        depth = image('width="80" height="60" noise="0.002" noise_growth="0.001"', wall)
        assert (depth - x).std() == pytest.approx(deviation, rel=4.0 / math.sqrt(2.0 * depth.size))


def test_pixels_project_by_the_camera_info():
    """K times a point in the optical frame (x right, y down, z ahead) is the pixel's middle."""
    camera = DepthCamera("eye", "base", width=33, height=22, field_of_view=1.1)
    info = camera_info("eye_optical_frame", camera)
    ways = pixel_directions(camera)
    optical = np.stack([-ways[:, :, 1], -ways[:, :, 2], ways[:, :, 0]], axis=-1)
    pixel = optical @ np.array(info.k).reshape(3, 3).T
    columns, rows = np.meshgrid(np.arange(33), np.arange(22))
    np.testing.assert_allclose(pixel[:, :, 0] / pixel[:, :, 2], columns, atol=1e-12)
    np.testing.assert_allclose(pixel[:, :, 1] / pixel[:, :, 2], rows, atol=1e-12)
    np.testing.assert_array_equal(np.array(info.p).reshape(3, 4)[:, :3], np.array(info.k).reshape(3, 3))
    np.testing.assert_array_equal(np.array(info.r).reshape(3, 3), np.eye(3))
    assert (info.width, info.height, info.distortion_model, list(info.d)) == (33, 22, "plumb_bob", [0.0] * 5)
    assert info.header.frame_id == "eye_optical_frame"


def test_depth_message_is_32fc1():
    camera = DepthCamera("eye", "base", width=3, height=2)
    depth = np.array([[1.0, np.inf, -np.inf], [0.5, 2.25, 3.0]])
    message = make_depth_image("eye_optical_frame", camera)
    fill_depth_image(message, 2_000_000_001, DepthImage(depth))
    assert (message.encoding, message.width, message.height, message.step) == ("32FC1", 3, 2, 12)
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (2, 1)
    np.testing.assert_array_equal(np.frombuffer(bytes(message.data), "<f4").reshape(2, 3), depth)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('width="1"', "width = 1 pixel is out of range; valid: 2 to 2000"),
        ('field_of_view="3.2"', "field_of_view = 3.2 rad is out of range; valid: 0.01 to 3"),
        ('depth_min="2" depth_max="1"', "depth_min = 2 m is not less than depth_max = 1 m"),
        ('noise_growth="-0.1"', "noise_growth = -0.1 1/m is out of range"),
        ('fps="3"', "unknown attribute 'fps'"),
    ],
)
def test_bad_depth_cameras_are_rejected(more, message):
    with pytest.raises(MachineError, match=message):
        image(more, EMPTY)


def test_optical_frame_needs_a_name_of_its_own():
    other = '<sensor name="eye_optical_frame" type="imu" link="mast"/>'
    with pytest.raises(MachineError, match="needs the frame 'eye_optical_frame'"):
        on_mast(f'<depth_camera name="eye" link="mast"/>{other}', EMPTY)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_optical_frame_is_no_other_sensors_frame(order):
    elements = [
        '<depth_camera name="eye" link="mast"/>',
        '<lidar_3d name="eye_optical_frame" link="mast" channels="2"/>',
    ]
    with pytest.raises(MachineError, match="needs the frame 'eye_optical_frame'"):
        on_mast("".join(elements[k] for k in order), EMPTY)
