"""Other bridges that command an actuator of this one: no mapping sees another, so that the bridges tell each other."""

from collections import Counter
from uuid import uuid4

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile

from grouser.bridges.mapping.data import BridgeMapping
from grouser.nodes.shared import topics
from grouser.nodes.shared.messages import set_stamp

# Each bridge keeps its message for those who come later; a reader takes those of several bridges.
_READ = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
_TOPICS = {
    "valve": topics.VALVE_COMMANDS,
    "joint": topics.JOINT_COMMANDS,
    "cmd_vel": topics.CMD_VEL,
    "joy": topics.JOY,
}


class Rivals:
    """Says once which actuators a bridge commands, and hears which ones the others command.

    Args:
        node: of the bridge.
        mapping: names the signals.
    """

    def __init__(self, node: Node, mapping: BridgeMapping) -> None:
        self._node, self._mapping = node, mapping
        self._name, self._identity = node.get_fully_qualified_name(), uuid4().hex
        self._heard: dict[str, tuple[str, frozenset[str]]] = {}  # identity -> name of the node, what it commands
        own = {self._full(one.signal): message.name for message in mapping.incoming for one in message.signals}
        values = [KeyValue(key=name, value=message) for name, message in own.items()]
        status = DiagnosticStatus(name=self._name, hardware_id=self._identity, values=values)
        said = DiagnosticArray(status=[status])
        set_stamp(said.header.stamp, node.get_clock().now().nanoseconds)
        node.create_subscription(DiagnosticArray, topics.BRIDGE_COMMANDS, self._hear, _READ)
        self._publisher = node.create_publisher(DiagnosticArray, topics.BRIDGE_COMMANDS, topics.LATCHED)
        self._publisher.publish(said)

    def contests(self) -> dict[str, str]:
        """Returns incoming message -> why it may not command, of those with an actuator that a running bridge has."""
        commanded = {name: bridge for bridge, names in self._running() for name in names}
        found = {}
        for message in self._mapping.incoming:
            for one in message.signals:
                if (bridge := commanded.get(self._full(one.signal))) is not None:
                    found[message.name] = f"{one.signal} is commanded by another bridge, {bridge}: end one of them"
        return found

    def _running(self) -> list[tuple[str, frozenset[str]]]:
        """The latest of what was heard, of as many bridges of a name as run: one that was killed says no farewell."""
        infos = self._node.get_publishers_info_by_topic(topics.BRIDGE_COMMANDS)
        left = Counter(f"{info.node_namespace.rstrip('/')}/{info.node_name}" for info in infos)
        left[self._name] -= 1
        running = []
        for bridge, names in reversed(self._heard.values()):
            if left[bridge] > 0:
                left[bridge] -= 1
                running.append((bridge, names))
        return running

    def _full(self, signal: str) -> str:
        """A signal with its topic: the same name in another namespace is another machine."""
        topic = _TOPICS[signal.partition("/")[0]]
        return f"{self._node.resolve_topic_name(topic)}: {signal}"

    def _hear(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.hardware_id != self._identity:
                self._heard[status.hardware_id] = (status.name, frozenset(pair.key for pair in status.values))
