"""CAN frames on ROS topics as an interface of python-can, so that drivers such as ros2_socketcan work unchanged.

Its name is ``ros2``. What the driver receives comes on ``from_can_bus``, what it shall send goes to ``to_can_bus``,
both ``can_msgs/Frame``; the channel is the namespace of the topics. Any program of python-can can use it.
"""

import queue
import threading
from typing import Any

import can
import numpy as np
import rclpy
from can_msgs.msg import Frame
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.qos import QoSProfile

from grouser.nodes.shared.messages import set_stamp

FROM_BUS = "from_can_bus"
TO_BUS = "to_can_bus"
_DEPTH = 500  # of the queues, as ros2_socketcan has them
_LONGEST_DATA = 8  # [bytes]
_NANOSECONDS = 1_000_000_000


class TopicBus(can.BusABC):
    """A bus on two topics.

    Args:
        channel: namespace of the topics; empty for none.
        can_filters: of python-can.
        options: that python-can gives to all interfaces; not used.
    """

    def __init__(self, channel: str | None = None, can_filters: Any = None, **options: Any) -> None:
        namespace = channel or ""
        self.channel_info = f"topics {namespace}/{FROM_BUS} and {namespace}/{TO_BUS}"
        self._frames: queue.SimpleQueue[can.Message] = queue.SimpleQueue()
        self._context = rclpy.Context()
        self._context.init(args=[])
        self._node = rclpy.create_node(
            "can_topics", context=self._context, namespace=namespace, use_global_arguments=False
        )
        quality = QoSProfile(depth=_DEPTH)
        self._publisher = self._node.create_publisher(Frame, TO_BUS, quality)
        self._node.create_subscription(Frame, FROM_BUS, self._receive, quality)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin, name="can topics", daemon=True)
        self._thread.start()
        super().__init__(channel=namespace, can_filters=can_filters)

    def send(self, msg: can.Message, timeout: float | None = None) -> None:
        """Publishes a frame.

        Raises:
            can.CanOperationError: a frame with more than 8 bytes.
        """
        if msg.is_fd or len(msg.data) > _LONGEST_DATA:
            raise can.CanOperationError(f"{len(msg.data)} bytes: can_msgs/Frame has up to {_LONGEST_DATA}")
        frame = Frame(
            id=msg.arbitration_id,
            is_rtr=msg.is_remote_frame,
            is_extended=msg.is_extended_id,
            is_error=msg.is_error_frame,
            dlc=msg.dlc,
            data=np.frombuffer(bytes(msg.data).ljust(_LONGEST_DATA, b"\0"), np.uint8),
        )
        set_stamp(frame.header.stamp, self._node.get_clock().now().nanoseconds)
        self._publisher.publish(frame)

    def shutdown(self) -> None:
        """Leaves the topics."""
        super().shutdown()
        self._context.try_shutdown()
        self._thread.join()
        self._node.destroy_node()

    def _recv_internal(self, timeout: float | None) -> tuple[can.Message | None, bool]:
        try:
            return self._frames.get(timeout=timeout), False
        except queue.Empty:
            return None, False

    def _receive(self, frame: Frame) -> None:
        length = min(frame.dlc, _LONGEST_DATA)
        self._frames.put(
            can.Message(
                timestamp=frame.header.stamp.sec + frame.header.stamp.nanosec / _NANOSECONDS,
                arbitration_id=frame.id,
                is_extended_id=frame.is_extended,
                is_remote_frame=frame.is_rtr,
                is_error_frame=frame.is_error,
                dlc=length,
                data=None if frame.is_rtr else bytes(frame.data[:length]),
            )
        )

    def _spin(self) -> None:
        try:
            self._executor.spin()
        except ExternalShutdownException:  # the context ended: the bus was shut down
            return
