"""Lidar ranges and depths against MuJoCo's rays: obstacles of all kinds and rough ground; hulls against its meshes."""

import math

import mujoco
import numpy as np
import pytest
from contact_scene import hull_mesh

from grouser.benchmarks.lidar import PLACE, REACH, TILT, MuJoCoRays, boxes, rough_ground, scene, watching
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import matrix, quaternion_from_rpy
from grouser.physics.description.data.sensors import DepthCamera
from grouser.physics.description.data.world import Ground, Obstacle, World
from grouser.physics.sensors.depth_camera import pixel_directions

FLOAT = 2.0**-24  # MuJoCo stores heights and vertices in single precision


@pytest.mark.parametrize("rough", [False, True])
def test_lidar_against_mujoco_on_obstacles_and_ground(rough):
    field = rough_ground() if rough else None
    world = scene(Ground(heightfield=field))
    scan, theirs = watching(world).sensors.lidar["eye"], MuJoCoRays(mujoco, world).sweep()
    ends = (
        np.array(PLACE)
        + np.column_stack([np.cos(scan.angles), np.sin(scan.angles), np.zeros(len(scan.angles))])
        @ matrix(quaternion_from_rpy(*TILT)).T
        * np.where(np.isfinite(scan.ranges), scan.ranges, 0.0)[:, np.newaxis]
    )
    # MuJoCo's height field ends, ours continues
    known = np.abs(ends[:, :2]).max(axis=1) < (-field.origin[0] if rough else np.inf)
    assert known.sum() > 700
    # the rounding of a height is multiplied by 50 along a beam that descends at 1 in 50
    tolerance = 50.0 * FLOAT if rough else 1e-12
    np.testing.assert_allclose(scan.ranges[known], theirs[known], rtol=1e-12, atol=tolerance)
    assert np.isfinite(scan.ranges).sum() > 400


def test_lidar_with_channels_against_mujoco_among_boxes():
    world = World(obstacles=boxes())
    sweep = watching(world, '<lidar_3d name="eye" link="eye_link" samples="400"/>').sensors.lidar_3d["eye"]
    theirs = MuJoCoRays(mujoco, world, sweep.directions, 100.0).sweep().reshape(sweep.ranges.shape)
    np.testing.assert_allclose(sweep.ranges, theirs, rtol=1e-11)
    assert 3000 < np.isfinite(theirs).sum() < theirs.size


def test_depth_camera_against_mujoco_among_obstacles():
    """Depths are distances along the rays, times the cosine to the axis."""
    world = scene(Ground())
    camera = DepthCamera("eye", "eye_link", width=96, height=72, depth_max=20.0)
    element = '<depth_camera name="eye" link="eye_link" width="96" height="72" depth_max="20" depth_min="0"/>'
    depth = watching(world, element).sensors.depth_camera["eye"].depth
    ways = pixel_directions(camera)
    theirs = MuJoCoRays(mujoco, world, ways, 40.0).sweep().reshape(depth.shape) * ways[:, :, 0]
    np.testing.assert_allclose(depth, np.where(theirs > 20.0, np.inf, theirs), rtol=1e-11)
    assert 3000 < np.isfinite(depth).sum() < depth.size


def test_lidar_against_mujoco_on_hulls():
    """Hulls of random points around the lidar."""
    random, assets, bodies, obstacles = np.random.default_rng(9), [], [], []
    for number in range(16):
        points = random.normal(size=(20, 3)) * [0.5, 0.6, 0.7]
        angle, away = 0.4 * number, random.uniform(3.0, 9.0)
        place = np.array([away * math.cos(angle), away * math.sin(angle), random.uniform(0.3, 1.2)])
        x, y, z, w = quaternion_from_rpy(*random.uniform(-3.0, 3.0, 3).tolist())
        obstacles.append(Obstacle(f"hull_{number}", hull_mesh(points), Pose(tuple(place), (x, y, z, w))))
        corners = " ".join(map(repr, (points @ matrix((x, y, z, w)).T + place).ravel().tolist()))
        assets.append(f'<mesh name="m{number}" vertex="{corners}"/>')
        bodies.append(f'<geom type="mesh" mesh="m{number}"/>')
    world = World(ground=None, obstacles=tuple(obstacles))
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><asset>{''.join(assets)}</asset><worldbody>{''.join(bodies)}</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    scan = watching(world).sensors.lidar["eye"]
    beams = len(scan.angles)
    ways = np.column_stack([np.cos(scan.angles), np.sin(scan.angles), np.zeros(beams)])
    ways = (ways @ matrix(quaternion_from_rpy(*TILT)).T).ravel()
    geometry, theirs = np.zeros(beams, dtype=np.int32), np.zeros(beams)
    mujoco.mj_multiRay(model, data, np.array(PLACE), ways, None, True, -1, geometry, theirs, None, beams, REACH)
    theirs = np.where(geometry < 0, np.inf, theirs)
    assert 300 < np.isfinite(theirs).sum() < beams
    # a beam within rounding of a corner may be a hit for one of the two only
    both = np.isfinite(scan.ranges) & np.isfinite(theirs)
    assert (np.isfinite(scan.ranges) != np.isfinite(theirs)).sum() <= 1
    # vertices at up to 10 m are rounded by 6e-7 m, multiplied by 16 along a beam that grazes a face at 1 in 16
    np.testing.assert_allclose(scan.ranges[both], theirs[both], rtol=0.0, atol=10.0 * FLOAT * 16.0)
