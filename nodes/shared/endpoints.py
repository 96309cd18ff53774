"""Publishers, subscriptions and parameters of one robot: made in its namespace, destroyed together."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile

from grouser.nodes.shared.parameters import Declaration, declare


class Endpoints:
    """Publishers, subscriptions and parameters of a node that belong together.

    Args:
        node: that has them.
        namespace: of their names, relative to the node's or, with a leading slash, absolute; "": the node's.

    Attributes:
        node: as given.
    """

    def __init__(self, node: Node, namespace: str = "") -> None:
        self.node = node
        self._namespace = namespace.rstrip("/")
        self._endings: list[Callable[[], object]] = []

    def name(self, topic: str) -> str:
        """A topic's name in the namespace; a name that begins with a slash is absolute."""
        return topic if not self._namespace or topic.startswith("/") else f"{self._namespace}/{topic}"

    def create_publisher(self, message_type: type, topic: str, quality: QoSProfile) -> Publisher:
        """A publisher on a topic of the namespace."""
        publisher = self.node.create_publisher(message_type, self.name(topic), quality)
        self.at_end(partial(self.node.destroy_publisher, publisher))
        return publisher

    def create_subscription(
        self, message_type: type, topic: str, callback: Callable[..., None], quality: QoSProfile
    ) -> None:
        """A subscription on a topic of the namespace; a callback of two arguments gets message and information."""
        subscription = self.node.create_subscription(message_type, self.name(topic), callback, quality)
        self.at_end(partial(self.node.destroy_subscription, subscription))

    def parameter(self, name: str) -> str:
        """A parameter's full name, which begins with the robot's namespace."""
        return f"{self._namespace.strip('/').replace('/', '.')}.{name}" if self._namespace else name

    def declare(self, declarations: Mapping[str, Declaration]) -> dict[str, Any]:
        """Declares parameters; returns their values by their own names.

        Raises:
            GrouserError: a parameter was set to a value of the wrong type, or out of its range.
        """
        values = declare(self.node, {self.parameter(name): one for name, one in declarations.items()})
        for name in values:
            self.at_end(partial(self.node.undeclare_parameter, name))
        return {name: values[self.parameter(name)] for name in declarations}

    def value(self, name: str) -> Any:
        """The present value of a parameter of the namespace."""
        return self.node.get_parameter(self.parameter(name)).value

    def at_end(self, end: Callable[[], object]) -> None:
        """Registers a function for `destroy`; functions are called in reverse order."""
        self._endings.append(end)

    def destroy(self) -> None:
        """Destroys everything."""
        while self._endings:
            self._endings.pop()()
