"""Tells how far localization by odometry is off."""

import math

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from grouser.nodes.shared import topics
from grouser.nodes.shared.messages import set_stamp

_PERIOD = 1.0  # [s of wall time] of the diagnostics


class DriftReport:
    """Compares poses on the map with the true ones, on ``/diagnostics`` and, from a tolerance on, in the log.

    The log has the first excess of the tolerance, and every doubling of it.

    Args:
        node: that localizes.
        tolerance: distance from which on the pose counts as off [m].
    """

    def __init__(self, node: Node, tolerance: float) -> None:
        self._node, self._tolerance = node, tolerance
        self._next = tolerance
        self._before: np.ndarray | None = None
        self._stamp = 0
        self._error = self._way = 0.0
        self._publisher = node.create_publisher(DiagnosticArray, topics.DIAGNOSTICS, topics.RELIABLE)
        node.create_timer(_PERIOD, self._publish, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def begin_anew(self) -> None:
        """Begins again, from a new initial pose or after a reset of the simulation."""
        self._before, self._error, self._way, self._next = None, 0.0, 0.0, self._tolerance

    def compare(self, stamp: int, told: np.ndarray, real: np.ndarray) -> None:
        """Takes the pose on the map by odometry and the true one, (7,) each, of one time [ns]."""
        if stamp < self._stamp:
            self.begin_anew()
        if self._before is not None:
            self._way += math.hypot(*(real - self._before)[:2])
        self._stamp, self._before = stamp, real
        self._error = math.hypot(*(told - real)[:2])
        if self._error > self._next:
            self._node.get_logger().warning(f"{self._text()}: use localization truth, or none with AMCL")
            self._next *= 2.0

    def _text(self) -> str:
        return f"localization by odometry is {self._error:.2f} m off after {self._way:.1f} m"

    def _publish(self) -> None:
        off = self._error > self._tolerance
        values = {
            "error [m]": f"{self._error:.3f}",
            "way [m]": f"{self._way:.3f}",
            "error per way [-]": f"{self._error / self._way:.3f}" if self._way > 0.0 else "0",
        }
        status = DiagnosticStatus(
            name=f"{self._node.get_name()}: localization",
            hardware_id="grouser",
            level=DiagnosticStatus.WARN if off else DiagnosticStatus.OK,
            message=self._text(),
            values=[KeyValue(key=key, value=value) for key, value in values.items()],
        )
        message = DiagnosticArray(status=[status])
        set_stamp(message.header.stamp, self._stamp)
        self._publisher.publish(message)
