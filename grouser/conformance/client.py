"""A node that subscribes, requests and commands in one thread, so that messages are in the order of their arrival."""

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

import rclpy
from rcl_interfaces.msg import Parameter, ParameterDescriptor, SetParametersResult
from rcl_interfaces.srv import DescribeParameters, GetParameters, SetParameters
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter as NodeParameter
from rclpy.parameter import parameter_value_to_python
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

_KEPT = 1000  # depth of the queue of a topic
_LOOK = 0.02  # [s] interval of checks of a condition without messages
_MATCHING = 0.3  # [s] of wall time for the discovery of publisher and subscriber
_FEEDBACK = 4.0  # [s] of wall time; a lost message is sent again after three
_DELIVERY = 0.02  # [s] of wall time for a message to reach another process
# A time without messages is conclusive on an idle computer only. On a busy one it is extended until the simulator has
# given as many answers as it gives at least in that time on an idle computer.
_ANSWER_RATE = 50.0  # [1/s]


class ReceivedMessages:
    """Messages received on a topic.

    Attributes:
        messages: in the order of their arrival.
    """

    def __init__(self) -> None:
        self.messages: list[Any] = []

    @property
    def newest(self) -> Any:
        """The last message; None before the first one."""
        return self.messages[-1] if self.messages else None

    @property
    def time(self) -> int:
        """Stamp of the last message [ns]; -1 before the first one, or without a stamp."""
        return stamp_of(self.messages[-1]) if self.messages else -1

    def stamps(self) -> list[int]:
        """Stamps of all messages that have one [ns]."""
        return [stamp for message in self.messages if (stamp := stamp_of(message)) >= 0]


class Client:
    """Communicates with a simulator as any other node does.

    Args:
        context: of ROS, in which its node lives.
        timeout: longest wait for an answer or a message [s of wall time].

    Attributes:
        answering: full name of the node whose answers measure short times; "" for none.
    """

    def __init__(self, context: Context, timeout: float) -> None:
        self.timeout = timeout
        self.answering = ""
        name = f"conform_{os.getpid()}"
        self.node = Node(name, context=context, start_parameter_services=False, enable_rosout=False)
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self.node)
        self._publishers: dict[tuple[str, type], Publisher] = {}
        self._clients: dict[tuple[str, type], Any] = {}

    def close(self) -> None:
        """Destroys the node."""
        self._executor.shutdown()
        self.node.destroy_node()

    def until(self, condition: Callable[[], object], timeout: float | None = None) -> bool:
        """Receives messages until a condition holds; returns whether it holds.

        Args:
            condition: to wait for.
            timeout: longest wait on an idle computer [s of wall time]; None: the client's own, on any.
        """
        if timeout is None:
            return self._receive(condition, self.timeout)
        return self._receive(condition, timeout) or self._receive_answers(condition, math.ceil(timeout * _ANSWER_RATE))

    def spin(self, seconds: float) -> None:
        """Receives messages for a time [s of wall time on an idle computer]."""
        self.until(lambda: False, seconds)

    def listen(self, topic: str, kind: type, reliable: bool = False, transient_local: bool = False) -> ReceivedMessages:
        """Records a topic; requests `reliable` or `transient_local` only if all publishers offer it."""
        recording = ReceivedMessages()
        quality = QoSProfile(
            depth=_KEPT,
            reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
            durability=DurabilityPolicy.TRANSIENT_LOCAL if transient_local else DurabilityPolicy.VOLATILE,
        )
        self.node.create_subscription(kind, topic, recording.messages.append, quality)
        return recording

    def publish(self, topic: str, message: Any, transient_local: bool = False) -> None:
        """Publishes a message to the subscribers, and waits for it to arrive."""
        key = topic, type(message)
        if key not in self._publishers:
            durability = DurabilityPolicy.TRANSIENT_LOCAL if transient_local else DurabilityPolicy.VOLATILE
            self._publishers[key] = self.node.create_publisher(
                type(message), topic, QoSProfile(depth=10, durability=durability)
            )
            publisher = self._publishers[key]
            self.until(lambda: publisher.get_subscription_count() > 0)
            self.spin(_MATCHING)  # The other side discovers it later, and would miss earlier messages.
        self._publishers[key].publish(message)
        self.spin(_DELIVERY)

    def call(self, name: str, kind: Any, request: Any) -> Any:
        """The response of a service; None without one."""
        client = self._client_of(name, kind)
        if not self.until(client.service_is_ready):
            return None
        return self._result(client.call_async(request))

    def act(self, name: str, kind: Any, goal: Any, last: Callable[[Any], bool]) -> tuple[Any, list[Any]] | None:
        """The result of an action's goal and its feedback; None if it is refused or never ends.

        Feedback may arrive after the result, when a client of actions receives none. Its topic is subscribed to
        instead, until one is the `last`.
        """
        feedback = self.listen(f"{name}/_action/feedback", kind.Impl.FeedbackMessage, reliable=True)
        client = ActionClient(self.node, kind, name)
        try:
            if not self.until(client.server_is_ready):
                return None
            self.spin(_MATCHING)
            handle = self._result(client.send_goal_async(goal))
            if handle is None or not handle.accepted:
                return None
            answer = self._result(handle.get_result_async())
            if answer is None:
                return None
            self.until(lambda: feedback.newest is not None and last(feedback.newest.feedback), _FEEDBACK)
            return answer.result, [message.feedback for message in feedback.messages]
        finally:
            client.destroy()

    def parameters(self, node: str, names: Sequence[str]) -> dict[str, Any]:
        """Values of those parameters that a node has."""
        answer = self.call(f"{node}/get_parameters", GetParameters, GetParameters.Request(names=list(names)))
        values = [] if answer is None else [parameter_value_to_python(value) for value in answer.values]
        if len(values) == len(names):
            return {name: value for name, value in zip(names, values, strict=True) if value is not None}
        # A node without undeclared parameters returns none of them if a single one is missing.
        return {} if len(names) == 1 else {name: v for n in names for name, v in self.parameters(node, [n]).items()}

    def descriptors(self, node: str, names: Sequence[str]) -> list[ParameterDescriptor]:
        """Descriptors of a node's parameters."""
        answer = self.call(f"{node}/describe_parameters", DescribeParameters, DescribeParameters.Request(names=names))
        return [] if answer is None else list(answer.descriptors)

    def set_parameter(self, node: str, name: str, value: Any) -> SetParametersResult:
        """Requests the change of a parameter; returns the result."""
        message: Parameter = NodeParameter(name, value=value).to_parameter_msg()
        answer = self.call(f"{node}/set_parameters", SetParameters, SetParameters.Request(parameters=[message]))
        return SetParametersResult(reason="no answer") if answer is None else answer.results[0]

    def _result(self, future: Future) -> Any:
        return future.result() if self.until(future.done) else None

    def _receive(self, condition: Callable[[], object], seconds: float) -> bool:
        end = time.monotonic() + seconds
        while not condition():
            rest = end - time.monotonic()
            if rest <= 0.0:
                return False
            self._executor.spin_once(min(rest, _LOOK))
        return True

    def _receive_answers(self, condition: Callable[[], object], count: int) -> bool:
        """Receives messages until a condition holds, or until the answering node has answered so many requests."""
        client = self._client_of(f"{self.answering}/get_parameters", GetParameters) if self.answering else None
        for _ in range(count):
            if client is None or not client.service_is_ready():
                break
            answered = client.call_async(GetParameters.Request()).done
            if not self._receive(partial(_either, condition, answered), self.timeout) or condition():
                break
        return bool(condition())

    def _client_of(self, name: str, kind: Any) -> Any:
        if (name, kind) not in self._clients:
            self._clients[name, kind] = self.node.create_client(kind, name)
        return self._clients[name, kind]


@contextmanager
def client_of(arguments: Sequence[str], timeout: float) -> Iterator[Client]:
    """A client in a context of ROS of its own; `arguments` are those of ROS."""
    context = Context()
    rclpy.init(args=["conform", *arguments], context=context, signal_handler_options=SignalHandlerOptions.NO)
    client = Client(context, timeout)
    try:
        yield client
    finally:
        client.close()
        context.try_shutdown()


def _either(one: Callable[[], object], other: Callable[[], object]) -> object:
    return one() or other()


def interface(name: str) -> Any:
    """The class of an interface, as ``sensor_msgs/Imu`` of messages or ``std_srvs/srv/Trigger`` of any kind.

    Returns None where its package is not installed, or an older one without it.
    """
    package, *kind, last = name.split("/")
    try:
        return getattr(import_module(f"{package}.{kind[0] if kind else 'msg'}"), last, None)
    except ModuleNotFoundError:
        return None


def stamp_of(message: Any) -> int:
    """Stamp of a message [ns]; -1 without one."""
    if hasattr(message, "clock"):
        return _nanoseconds(message.clock)
    if hasattr(message, "header"):
        return _nanoseconds(message.header.stamp)
    parts = getattr(message, "transforms", None) or getattr(message, "markers", None)
    return _nanoseconds(parts[0].header.stamp) if parts else -1


def _nanoseconds(stamp: Any) -> int:
    return stamp.sec * 1_000_000_000 + stamp.nanosec
