"""Force-torque sensors in joints."""

import numpy as np

from grouser.physics.base.spatial import cross_product
from grouser.physics.description.data.sensors import ForceTorqueSensor
from grouser.physics.integrators.context import System, Workspace
from grouser.physics.readings.reactions import transmitted_wrenches
from grouser.physics.sensors.mounting import Mounting
from grouser.physics.sensors.noise import white_noise


def read_force_torque(
    sensor: ForceTorqueSensor, mounting: Mounting, system: System, workspace: Workspace, step: int
) -> np.ndarray:
    """Mean force and moment through a joint in the last step [N, N m], (6,): about the sensor's frame, in its axes.

    Args:
        sensor: its description.
        mounting: the place of its frame on the child link.
        system, workspace: of the last step.
        step: number of the step; the noise depends on it alone.
    """
    rotation, position = mounting.pose(workspace.multibody.kinematics)
    force, moment = np.split(transmitted_wrenches(system, workspace)[mounting.body], 2)
    wrench = np.concatenate([force @ rotation, (moment - cross_product(position, force)) @ rotation])
    if sensor.direction == "child_to_parent":
        wrench = -wrench
    deviation = np.repeat([sensor.force_noise, sensor.torque_noise], 3)
    return wrench + deviation * white_noise(sensor.name, step, (6,)) if deviation.any() else wrench
