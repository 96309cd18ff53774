"""What one robot says and hears on a node: made under its namespace, taken away together."""

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
        namespace: of their names, below the node's own or, with a leading slash, from the root; "": the node's.

    Attributes:
        node: as given.
    """

    def __init__(self, node: Node, namespace: str = "") -> None:
        self.node = node
        self._namespace = namespace.rstrip("/")
        self._endings: list[Callable[[], object]] = []

    def name(self, topic: str) -> str:
        """A topic's name in the namespace; one that begins with a slash is absolute."""
        return topic if not self._namespace or topic.startswith("/") else f"{self._namespace}/{topic}"

    def create_publisher(self, message_type: type, topic: str, quality: QoSProfile) -> Publisher:
        """A publisher on a topic of the namespace."""
        publisher = self.node.create_publisher(message_type, self.name(topic), quality)
        self.at_end(partial(self.node.destroy_publisher, publisher))
        return publisher

    def create_subscription(
        self, message_type: type, topic: str, hear: Callable[[Any], None], quality: QoSProfile
    ) -> None:
        """A subscription on a topic of the namespace."""
        subscription = self.node.create_subscription(message_type, self.name(topic), hear, quality)
        self.at_end(partial(self.node.destroy_subscription, subscription))

    def parameter(self, name: str) -> str:
        """A parameter's name: those of a robot in a namespace begin with it."""
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
        """A parameter of the namespace, as it is at the moment."""
        return self.node.get_parameter(self.parameter(name)).value

    def at_end(self, end: Callable[[], object]) -> None:
        """Has something done when all this is taken away: what came last goes first."""
        self._endings.append(end)

    def destroy(self) -> None:
        """Takes everything away."""
        while self._endings:
            self._endings.pop()()
