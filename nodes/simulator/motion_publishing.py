"""Publishers of how a machine moves over the ground: odometry, what its sensors measure, slip, terrain."""

import numpy as np
from control_msgs.msg import DynamicInterfaceGroupValues
from nav_msgs.msg import OccupancyGrid, Odometry
from sensor_msgs.msg import Imu, LaserScan, PointCloud2

from grouser.nodes.shared import messages, topics
from grouser.nodes.shared.endpoints import Endpoints
from grouser.nodes.shared.parameters import SimulatorParameters
from grouser.physics.description.machine import Lidar, Machine, World
from grouser.runtime.frames import FrameTree
from grouser.runtime.sampling import SLIP_VALUES, Sample
from grouser.runtime.schedule import steps_between


class MotionPublisher:
    """Publishes what a machine has of it; nothing is offered that it has not.

    Args:
        endpoints: the robot's.
        frames: their names.
        machine: a floating base has a ground truth, with wheels it is a vehicle with odometry.
        world: soft ground is published as terrain.
        parameters: names of frames, rate of scans.
    """

    def __init__(
        self, endpoints: Endpoints, frames: FrameTree, machine: Machine, world: World, parameters: SimulatorParameters
    ) -> None:
        self._map_frame = parameters.map_frame
        imus = [sensor.name for sensor in machine.sensors if sensor.type == "imu"]
        imu_topics = topics.imu_topics(imus)
        self._truth = self._odometry = self._slip = self._terrain = None
        self._imus = [
            (messages.make_imu(frames.name(imu)), endpoints.create_publisher(Imu, imu_topics[imu], topics.SENSOR_DATA))
            for imu in imus
        ]
        lidars = [sensor for sensor in machine.sensors if isinstance(sensor, Lidar)]
        scan_topics = topics.scan_topics(lidar.name for lidar in lidars)
        self._scans = [
            (
                messages.make_scan(frames.name(lidar.name), lidar, _scan_time(parameters)),
                endpoints.create_publisher(LaserScan, scan_topics[lidar.name], topics.SENSOR_DATA),
            )
            for lidar in lidars
        ]
        if machine.floating_base:
            self._truth = (
                messages.make_odometry(parameters.map_frame, frames.name(machine.root)),
                endpoints.create_publisher(Odometry, topics.GROUND_TRUTH, topics.RELIABLE),
            )
        if machine.floating_base and machine.wheels:
            self._odometry = (
                messages.make_odometry(
                    frames.name(parameters.odom_frame), frames.name(parameters.base_footprint_frame)
                ),
                endpoints.create_publisher(Odometry, topics.ODOMETRY, topics.RELIABLE),
            )
        if machine.wheels:
            self._slip = (
                messages.make_group_values([(wheel.link, SLIP_VALUES) for wheel in machine.wheels]),
                endpoints.create_publisher(DynamicInterfaceGroupValues, topics.SLIP, topics.RELIABLE),
            )
        if world.soil is not None:
            self._terrain = (
                endpoints.create_publisher(PointCloud2, topics.TERRAIN, topics.LATCHED),
                endpoints.create_publisher(OccupancyGrid, topics.RUT_DEPTH, topics.LATCHED),
                endpoints.create_publisher(OccupancyGrid, topics.BEARING_MARGIN, topics.LATCHED),
            )

    def change(self, parameters: SimulatorParameters) -> None:
        """Has changed parameters take effect."""
        for scan, _ in self._scans:
            scan.scan_time = _scan_time(parameters)

    def publish(self, sample: Sample) -> None:
        """Sends what of a sample is due."""
        stamp = sample.nanoseconds
        if self._truth is not None and sample.base_pose is not None and sample.base_twist is not None:
            message, publisher = self._truth
            messages.fill_odometry(message, stamp, sample.base_pose, sample.base_twist)
            publisher.publish(message)
        if self._odometry is not None and "odometry" in sample.streams and sample.odometry is not None:
            message, publisher = self._odometry
            reckoned = sample.odometry
            forward, left, yaw = reckoned.twist
            messages.fill_odometry(message, stamp, reckoned.pose, np.array([forward, left, 0.0, 0.0, 0.0, yaw]))
            messages.fill_planar_covariances(message, reckoned.pose_covariance, reckoned.twist_covariance)
            publisher.publish(message)
        if sample.imus is not None:
            for (message, publisher), reading in zip(self._imus, sample.imus, strict=True):
                messages.fill_imu(message, stamp, reading)
                publisher.publish(message)
        if sample.scans is not None:
            for (scan, publisher), measured in zip(self._scans, sample.scans, strict=True):
                messages.fill_scan(scan, stamp, measured)
                publisher.publish(scan)
        if self._slip is not None and sample.slip is not None:
            message, publisher = self._slip
            messages.fill_group_values(message, stamp, sample.slip)
            publisher.publish(message)
        if self._terrain is not None and sample.terrain is not None:
            cloud, ruts, margin = self._terrain
            cloud.publish(messages.terrain_cloud(self._map_frame, stamp, sample.terrain))
            ruts.publish(messages.rut_depth_grid(self._map_frame, stamp, sample.terrain))
            margin.publish(messages.bearing_margin_grid(self._map_frame, stamp, sample.terrain))


def _scan_time(parameters: SimulatorParameters) -> float:
    """From one scan to the next [s]."""
    return steps_between(parameters.scan_rate, parameters.step) * parameters.step
