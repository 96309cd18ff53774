"""Readings of sensors by name."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from grouser.physics.description.data.sensors import Sensor
from grouser.physics.sensors.depth_camera import DepthCameraReader, DepthImage
from grouser.physics.sensors.force_torque import read_force_torque
from grouser.physics.sensors.gnss import GnssFix, read_fix
from grouser.physics.sensors.imu import ImuReading, has_errors, read_imu, with_errors
from grouser.physics.sensors.lidar import Lidar3dReader, LidarReader, LidarScan, LidarSweep
from grouser.physics.sensors.mounting import Mounting, mounting_of
from grouser.physics.simulation.engine import Engine
from grouser.physics.simulation.membership import SENSORS, Selection, sensors_of
from grouser.physics.simulation.named_view import NamedView, elements_view


class SensorViews(NamedTuple):
    """Readings by the sensors' names: for each type in `SENSORS`, in its order, and of strain gauges.

    Attributes:
        imu: of every inertial measurement unit.
        lidar, lidar_3d: a sweep of every lidar, from its present pose.
        depth_camera: an image of every depth camera, from its present pose.
        gnss_receiver: the position of every receiver of satellite navigation.
        force_torque_sensor: force [N] and moment [N m] of every force-torque sensor as the mean of the last step, (6,).
        strain_gauge: longitudinal strain at every strain gauge [-], positive in tension.
    """

    imu: NamedView[ImuReading]
    lidar: NamedView[LidarScan]
    lidar_3d: NamedView[LidarSweep]
    depth_camera: NamedView[DepthImage]
    gnss_receiver: NamedView[GnssFix]
    force_torque_sensor: NamedView[np.ndarray]
    strain_gauge: NamedView[float]


def make_sensor_views(engine: Engine, selection: Selection) -> SensorViews:
    """The sensors that a view shows.

    Args:
        engine: of the simulation.
        selection: the elements that the view shows.
    """
    gauges = elements_view("strain gauge", selection.names.strain_gauge, selection.own.strain_gauge, _strain(engine))
    views = [_view(engine, selection, kind) for kind in SENSORS]
    return SensorViews(*views, gauges)  # type: ignore[call-arg]


def _view(engine: Engine, selection: Selection, kind: str) -> NamedView[Any]:
    sensors, own = sensors_of(engine.setup.divided, kind), getattr(selection.own, kind)
    readers = {index: _READERS[kind](engine, sensors[index]) for index in own.tolist()}
    return elements_view(kind.replace("_", " "), getattr(selection.names, kind), own, lambda index: readers[index]())


def _strain(engine: Engine) -> Callable[[int], float]:
    def read(gauge: int) -> float:
        (strain,) = engine.setup.strains[gauge].values(engine.state.q)
        return float(strain)

    return read


def _mounting(engine: Engine, sensor: Sensor) -> Mounting:
    setup = engine.setup
    return mounting_of(sensor, setup.divided.carrier(sensor), setup.names)


def _imu(engine: Engine, imu: Any) -> Callable[[], ImuReading]:
    setup, mounting, exact = engine.setup, _mounting(engine, imu), not has_errors(imu)

    def read() -> ImuReading:
        motion, after = engine.workspace.multibody, engine.update_kinematics()
        reading = read_imu(mounting, setup.world.gravity, motion, setup.system.multibody, after, engine.step_size)
        return reading if exact else with_errors(imu, reading, engine.step_count, engine.step_size)

    return read


def _rays(reader_type: Any, engine: Engine, sensor: Sensor) -> Callable[[], Any]:
    setup = engine.setup
    shapes, on_ground = len(setup.system.contact.shapes.kind), setup.world.ground is not None
    reader = reader_type(sensor, _mounting(engine, sensor), shapes, on_ground)
    return lambda: reader.read(engine.context, engine.update_kinematics(), engine.step_count)


def _gnss(engine: Engine, receiver: Any) -> Callable[[], GnssFix]:
    mounting, origin = _mounting(engine, receiver), engine.setup.world.geodetic_origin
    return lambda: read_fix(receiver, mounting, origin, engine.update_kinematics(), engine.step_count)


def _force_torque(engine: Engine, sensor: Any) -> Callable[[], np.ndarray]:
    mounting, system = _mounting(engine, sensor), engine.setup.system
    return lambda: read_force_torque(sensor, mounting, system, engine.workspace, engine.step_count)


_READERS: dict[str, Callable[[Engine, Any], Callable[[], Any]]] = {
    "imu": _imu,
    "lidar": partial(_rays, LidarReader),
    "lidar_3d": partial(_rays, Lidar3dReader),
    "depth_camera": partial(_rays, DepthCameraReader),
    "gnss_receiver": _gnss,
    "force_torque_sensor": _force_torque,
}
