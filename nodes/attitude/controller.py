"""Controls the attitude of a body on a pivot: ``python -m grouser.nodes.attitude.controller``.

Subscribes to ``imu/data`` and publishes torques about the body's axes on ``joint_commands`` for each measurement.
Without measurements it publishes nothing, and the simulator's command timeout takes effect.
"""

import sys
from collections.abc import Sequence

import numpy as np
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import Imu, JointState

from grouser.nodes.shared import messages, topics
from grouser.nodes.shared.parameters import Declaration, declare
from grouser.nodes.shared.process import run_node
from grouser.physics.base.errors import ParameterError
from grouser.studies.attitude.control import LAWS, TARGETS, AttitudeController, Gains
from grouser.studies.attitude.pivoted_body import pivoted_body

_WARNING_PERIOD = 1.0  # [s]
_LARGE = 1e6
_GAINS = Gains()


def _gain(default: float, description: str, lowest: float = 0.0) -> Declaration:
    return Declaration(default, description, True, lowest, _LARGE)


DECLARATIONS: dict[str, Declaration] = {
    "joints": Declaration(
        ("bearing/x", "bearing/y", "bearing/z"), "Names, on joint_commands, of the torques about the body's axes."
    ),
    "controller": Declaration("sliding_mode", "Which law; docs/rigid_pendulum.md has them.", choices=tuple(LAWS)),
    "target": Declaration("inverted", "Where the body's z axis shall point: up, or down.", choices=tuple(TARGETS)),
    "mass": Declaration(30.0, "Of the body [kg].", True, 1e-6, _LARGE),
    "inertia": Declaration((15.0, 18.0, 20.0), "Principal moments about the pivot, x, y and z [kg m2]."),
    "offset": Declaration(0.4, "Z of the centre of mass in the body's frame [m].", True, -1000.0, 1000.0),
    "gravity": Declaration(9.81, "Downwards [m/s2].", True, 0.0, 1000.0),
    "gravity_compensation": Declaration(True, "Whether energy and pd take gravity away; sliding_mode always does."),
    "energy_gain": _gain(_GAINS.energy, "Of energy, by its energy [-].", 1e-6),
    "attitude_gain": _gain(_GAINS.attitude, "Of energy [J] and of pd [N m]."),
    "damping_gain": _gain(_GAINS.damping, "Of energy [J s] and of pd [N m s]."),
    "sliding_rate": _gain(_GAINS.sliding_rate, "Of sliding_mode, at which it turns to the target [1/s]."),
    "reaching_rate": _gain(_GAINS.reaching_rate, "Of sliding_mode, at which it comes to its surface [1/s]."),
    "reaching": _gain(_GAINS.reaching, "Of sliding_mode, acceleration towards its surface [rad/s2]."),
    # Torques are held from one measurement to the next. With a layer below reaching times that period the distance from
    # the surface alternates in sign, and with half of it it does not converge.
    "layer": _gain(
        0.02, "Of sliding_mode, in which it softens [rad/s]; above reaching times the time between measurements.", 1e-6
    ),
}


class AttitudeControllerNode(Node):
    """Converts measurements to torques by a law of `physics.attitude`.

    Args:
        overrides: parameters that come before those of the command line and of files.

    Raises:
        GrouserError: a parameter is not valid.

    Attributes:
        refused: number of refused measurements.
    """

    def __init__(self, overrides: Sequence[Parameter] = ()) -> None:
        super().__init__("attitude_controller", parameter_overrides=list(overrides))
        values = declare(self, DECLARATIONS)
        joints = values["joints"]
        if len(set(joints)) != 3:
            raise ParameterError("joints", list(joints), "three different names")
        body = pivoted_body(values["mass"], values["inertia"], values["offset"], values["gravity"])
        gains = Gains(
            energy=values["energy_gain"],
            attitude=values["attitude_gain"],
            damping=values["damping_gain"],
            **{name: values[name] for name in Gains._fields if name in values},
        )
        self.refused = 0
        self._controller = AttitudeController(values["controller"], values["target"], body, gains)
        # Compiles the kernels before the first measurement.
        self._controller.torque(np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3))
        self._controller.reset()
        self._message = messages.make_joint_state(joints)
        self._publisher = self.create_publisher(JointState, topics.JOINT_COMMANDS, topics.RELIABLE)
        self.create_subscription(Imu, topics.IMU, self._on_imu, topics.SENSOR_DATA)

    def _on_imu(self, message: Imu) -> None:
        try:
            attitude, omega = messages.imu_attitude(message)
        except ParameterError as error:
            self._refuse(str(error))
            return
        torque = self._controller.torque(attitude, omega)
        if not np.isfinite(torque).all():
            self._refuse("the control law is not defined so far from the target")
            return
        messages.fill_joint_efforts(self._message, message.header.stamp, torque)
        self._publisher.publish(self._message)

    def _refuse(self, reason: str) -> None:
        self.refused += 1
        self.get_logger().warning(f"measurement refused: {reason}", throttle_duration_sec=_WARNING_PERIOD)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the node until a signal; returns the exit status, 2 for an invalid parameter."""
    return run_node("attitude_controller", AttitudeControllerNode, lambda node: None, arguments)


if __name__ == "__main__":
    sys.exit(main())
