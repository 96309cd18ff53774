"""Finds the simulator's node, and its topics, services and actions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rclpy.action import get_action_server_names_and_types_by_node
from rclpy.node import Node, NodeNameNonExistentError
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from rclpy.topic_endpoint_info import TopicEndpointInfo

from grouser.conformance.client import Client
from grouser.conformance.standard import BEST_EFFORT, RELIABLE, TRANSIENT_LOCAL, VOLATILE, Output

# [s] of wall time without changes of the graph after which discovery is complete; without a given name, another
# simulator may appear in it.
_SETTLED, _ALONE = 0.3, 1.0


class NotFoundError(Exception):
    """There is no simulator, or more than one; the message lists the nodes."""


@dataclass(frozen=True)
class Endpoint:
    """A publisher or subscriber.

    Attributes:
        node: full name.
        type: of the messages, as ``sensor_msgs/Imu``.
        reliability, durability: as in `standard`.
    """

    node: str
    type: str
    reliability: str
    durability: str


@dataclass(frozen=True)
class SimulatorInterface:
    """The simulator in the ROS graph.

    Attributes:
        node: its full name.
        graph: node that reads the graph.
    """

    node: str
    graph: Node

    def full(self, name: str) -> str:
        """Name of a topic, service or action in the graph."""
        if name.startswith("/"):
            return name
        return f"{self.node}{name[1:]}" if name.startswith("~/") else f"{self.node.rpartition('/')[0]}/{name}"

    def short(self, topic: str) -> str:
        """Name of a topic without the namespace, if it is in it."""
        return topic.removeprefix(self.full(""))

    def topics(self, output: Output) -> list[str]:
        """Full names of the published topics of one kind."""
        patterns = [re.sub("<[a-z]+>", "[^/]+", self.full(name)) for name in (output.name, output.single) if name]
        return sorted(
            name
            for name, _ in self.graph.get_topic_names_and_types()
            if any(re.fullmatch(pattern, name) for pattern in patterns) and self.graph.count_publishers(name)
        )

    def publishers(self, topic: str) -> list[Endpoint]:
        """All publishers of a topic of this full name."""
        return [_endpoint(info) for info in self.graph.get_publishers_info_by_topic(topic)]

    def own_publishers(self, topic: str) -> list[Endpoint]:
        """The simulator's own publishers; all where it has none, those of its helper nodes."""
        return self._own(self.publishers(topic))

    def own_subscribers(self, topic: str) -> list[Endpoint]:
        """The simulator's own subscribers; all where it has none."""
        return self._own([_endpoint(info) for info in self.graph.get_subscriptions_info_by_topic(topic)])

    def services(self) -> dict[str, str]:
        """Full name -> type, as ``std_srvs/Trigger``."""
        return {name: _short(kinds[0]) for name, kinds in self.graph.get_service_names_and_types()}

    def actions(self) -> dict[str, str]:
        """Full name -> type of those of the simulator."""
        base, namespace = self.node.rpartition("/")[2], self.node.rpartition("/")[0] or "/"
        found = get_action_server_names_and_types_by_node(self.graph, base, namespace)
        return {name: _short(kinds[0]) for name, kinds in found}

    def _own(self, endpoints: list[Endpoint]) -> list[Endpoint]:
        return [endpoint for endpoint in endpoints if endpoint.node == self.node] or endpoints


def find_simulator(client: Client, wanted: str) -> SimulatorInterface:
    """Finds the simulator and waits until the graph is complete.

    Args:
        client: that reads the graph.
        wanted: name of the node, with its namespace or without; "": the only one that publishes /clock, or of these the
            only one that publishes ``joint_states`` too.

    Raises:
        NotFoundError: none or several are there.
    """
    client.until(lambda: len(_candidates(client.node, wanted)) > 0)
    # A node that answers is complete: its offers are being announced.
    client.answering = next(iter([*_candidates(client.node, wanted), *_nodes(client.node)]), "")
    size = -1
    while size != (size := _graph_size(client.node)):
        client.spin(_SETTLED if wanted else _ALONE)
    candidates = _candidates(client.node, wanted)
    if len(candidates) == 1:
        return SimulatorInterface(candidates[0], client.node)
    if len(candidates) > 1:
        raise NotFoundError(f"there are several simulators, choose one by --node: {', '.join(candidates)}")
    others = ", ".join(_nodes(client.node)) or "none"
    what = f"no node is called {wanted}" if wanted else "no node publishes /clock"
    raise NotFoundError(f"{what}; nodes that are there: {others}")


def _candidates(graph: Node, wanted: str) -> list[str]:
    if wanted:
        return [name for name in _nodes(graph) if name == wanted or name.rpartition("/")[2] == wanted]
    publishers = {name: _published(graph, name) for name in _nodes(graph)}
    clocks = [name for name, topics in publishers.items() if "/clock" in topics]
    if len(clocks) > 1:
        speaking = [name for name in clocks if f"{name.rpartition('/')[0]}/joint_states" in publishers[name]]
        return speaking or clocks
    return clocks


def _nodes(graph: Node) -> list[str]:
    own = graph.get_fully_qualified_name()
    names = {f"{namespace.rstrip('/')}/{name}" for name, namespace in graph.get_node_names_and_namespaces()}
    return sorted(names - {own})


def _published(graph: Node, full: str) -> set[str]:
    namespace, _, name = full.rpartition("/")
    try:
        return {topic for topic, _ in graph.get_publisher_names_and_types_by_node(name, namespace or "/")}
    except NodeNameNonExistentError:  # It has just ended.
        return set()


def _graph_size(graph: Node) -> int:
    """Number of publishers, subscribers and services."""
    topics: Sequence[tuple[str, list[str]]] = graph.get_topic_names_and_types()
    ends = sum(graph.count_publishers(name) + graph.count_subscribers(name) for name, _ in topics)
    return ends + len(graph.get_service_names_and_types())


def _endpoint(info: TopicEndpointInfo) -> Endpoint:
    quality = info.qos_profile
    return Endpoint(
        f"{info.node_namespace.rstrip('/')}/{info.node_name}",
        _short(info.topic_type),
        RELIABLE if quality.reliability == ReliabilityPolicy.RELIABLE else BEST_EFFORT,
        TRANSIENT_LOCAL if quality.durability == DurabilityPolicy.TRANSIENT_LOCAL else VOLATILE,
    )


def _short(kind: str) -> str:
    """``std_msgs/msg/Bool`` as ``std_msgs/Bool``."""
    package, _, name = kind.replace("/", " ").split()
    return f"{package}/{name}"
