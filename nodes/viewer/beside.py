"""Machines beside that of the page: those whose descriptions are in namespaces below the page's own."""

from collections.abc import Callable
from functools import partial

from rclpy.node import Node
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import String

from grouser.nodes.shared import topics
from grouser.nodes.shared.received_frames import ReceivedFrames
from grouser.nodes.viewer.arrivals import Polled
from grouser.nodes.viewer.drawn_machine import DrawnMachine
from grouser.nodes.viewer.scene import Scene
from grouser.nodes.viewer.values import GroupValues, JointPositions
from grouser.physics.base.errors import MachineError
from grouser.physics.description import parse_machine
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.machine_file.fleet import prefixed

_STRING = "std_msgs/msg/String"


class MachinesBeside:
    """Finds the other machines of a simulator, hears and draws them.

    Args:
        node: that subscribes.
        warn: takes a text for the user.
        hear_terrain: takes the name of a machine and a message of its `terrain`.
    """

    def __init__(self, node: Node, warn: Callable[[str], None], hear_terrain: Callable[[str, bytes], None]) -> None:
        self._node, self._warn, self._hear_terrain = node, warn, hear_terrain
        self._heard: dict[str, MachineBeside] = {}

    def look(self, scene: Scene) -> None:
        """Begins to hear machines that have come, and removes those that have gone."""
        own = self._node.resolve_topic_name(topics.ROBOT_DESCRIPTION)
        above, ending = own.removesuffix(topics.ROBOT_DESCRIPTION), f"/{topics.ROBOT_DESCRIPTION}"
        there = {
            topic.removeprefix(above).removesuffix(ending)
            for topic, kinds in self._node.get_topic_names_and_types()
            if topic.startswith(above) and topic.endswith(ending) and topic != own and _STRING in kinds
            if self._node.count_publishers(topic)
        }
        for name in self._heard.keys() - there:
            self._heard.pop(name).close()
            scene.remove_beside(name)
        for name in sorted(there - self._heard.keys()):
            self._heard[name] = MachineBeside(self._node, name, self._warn, partial(self._hear_terrain, name))

    def draw(self, scene: Scene, frames: ReceivedFrames) -> None:
        """Draws those whose frames are known."""
        for name, heard in self._heard.items():
            machine = heard.machine
            if machine is None or not frames.known(machine.root):
                continue
            if name not in scene.beside or heard.is_new:
                for problem in scene.show_beside(name, machine):
                    self._warn(f"left out: {name}: {problem}")
                heard.is_new = False
            heard.draw(scene.beside[name], frames)


class MachineBeside:
    """Hears a machine in a namespace, which is also the prefix of its frames.

    Args:
        node: that subscribes.
        name: its namespace, below that of the node.
        warn: takes a text for the user.
        hear_terrain: takes a message of its `terrain`.

    Attributes:
        machine: its links named as their frames; None before its description has come.
        is_new: whether another description has come than that which is drawn.
    """

    def __init__(
        self, node: Node, name: str, warn: Callable[[str], None], hear_terrain: Callable[[bytes], None]
    ) -> None:
        self._node, self._name, self._warn = node, name, warn
        self.machine: Machine | None = None
        self.is_new = False
        self._text = ""
        group = Polled()
        self._joints = JointPositions(node, f"{name}/{topics.JOINT_STATES}", group)
        self._loads = GroupValues(node, f"{name}/{topics.BUCKETS}")
        self._subscriptions = [
            node.create_subscription(String, f"{name}/{topics.ROBOT_DESCRIPTION}", self._describe, topics.LATCHED),
            node.create_subscription(PointCloud2, f"{name}/{topics.TERRAIN}", hear_terrain, topics.LATCHED, raw=True),
        ]

    def _describe(self, message: String) -> None:
        if message.data == self._text:
            return
        self._text = message.data
        try:
            machine = parse_machine(message.data, file=f"{self._name}/{topics.ROBOT_DESCRIPTION}")
        except MachineError as error:
            self._warn(f"the machine {self._name} cannot be shown: {error}")
            return
        self.machine, self.is_new = prefixed(machine, f"{self._name}/"), True

    def draw(self, drawn: DrawnMachine, frames: ReceivedFrames) -> None:
        """Moves it to these poses, with its belts, and fills its buckets."""
        drawn.move(frames)
        if drawn.has_belts:
            drawn.move_belts({f"{self._name}/{joint}": at for joint, at in self._joints.take().items()})
        if drawn.has_buckets:
            drawn.fill_buckets({f"{self._name}/{bucket}": load for bucket, load in self._loads.take().items()})

    def close(self) -> None:
        """Ends the subscriptions."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._joints.close()
        self._loads.close()
