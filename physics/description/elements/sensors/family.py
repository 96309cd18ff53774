"""The family of sensors. A new element is a file here, a row in this family, and its field in `frame`."""

from grouser.physics.description.elements.sensors.depth_camera import DEPTH_CAMERA, complete_camera
from grouser.physics.description.elements.sensors.force_torque_sensor import FORCE_TORQUE_SENSOR, complete_force_torque
from grouser.physics.description.elements.sensors.gnss_receiver import GNSS_RECEIVER, complete_receiver
from grouser.physics.description.elements.sensors.imu_and_lidar import SENSOR, complete_sensor
from grouser.physics.description.elements.sensors.lidar_3d import LIDAR_3D, complete_lidar
from grouser.physics.description.elements.sensors.strain_gauge import STRAIN_GAUGE, complete_gauge
from grouser.physics.description.table.family import Family

FAMILY = Family(
    (SENSOR, LIDAR_3D, DEPTH_CAMERA, GNSS_RECEIVER, FORCE_TORQUE_SENSOR, STRAIN_GAUGE),
    complete={
        SENSOR.field: complete_sensor,
        LIDAR_3D.field: complete_lidar,
        DEPTH_CAMERA.field: complete_camera,
        GNSS_RECEIVER.field: complete_receiver,
        FORCE_TORQUE_SENSOR.field: complete_force_torque,
        STRAIN_GAUGE.field: complete_gauge,
    },
)
