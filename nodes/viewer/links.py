"""The links in the browser: a tree of nodes, so that it is told of the joints that move and not of all links."""

import math
from collections.abc import Mapping

import viser

from grouser.nodes.shared.received_frames import ReceivedFrames
from grouser.nodes.viewer.shapes import wxyz
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose

# A part is drawn again when it has moved by more than this from where it is drawn: [m], and of its quaternion.
SEEN, SEEN_TURN = 5e-5, 2e-5


class LinkTree:
    """Nodes of the links of a machine, each below that of its parent; at the origin until `move`.

    Args:
        scene: where they are.
        machine: with its joints.
        owners: by each link that is drawn, the link of the machine that it is a piece of.
        node: name of the node above them.

    Attributes:
        nodes: name of the node of each link.
    """

    def __init__(self, scene: viser.SceneApi, machine: Machine, owners: Mapping[str, str], node: str) -> None:
        self._top = node
        parents = {joint.child: joint.parent for joint in machine.joints}
        self._parents = {link: parents.get(link, "") if owner == link else owner for link, owner in owners.items()}
        self.nodes: dict[str, str] = {}
        for link in owners:
            self._name(link)
        self._frames = {link: scene.add_frame(node, show_axes=False) for link, node in self.nodes.items()}
        self._drawn = dict.fromkeys(self.nodes, Pose())

    def _name(self, link: str) -> str:
        """Name of the node of a link, after those above it; without the slashes of its own name."""
        if link not in self.nodes:
            parent = self._parents[link]
            above = self._name(parent) if parent else self._top
            self.nodes[link] = f"{above}/{link.replace('/', '|')}"
        return self.nodes[link]

    def move(self, frames: ReceivedFrames) -> None:
        """Moves the links that have moved on their parents so far that it can be seen."""
        for link, drawn in self._drawn.items():
            pose = frames.relative(link, self._parents[link])
            moved, turned = differ(pose.position, drawn.position), differ(pose.quaternion, drawn.quaternion, SEEN_TURN)
            if moved:
                self._frames[link].position = pose.position
            if turned:
                self._frames[link].wxyz = wxyz(pose)
            if moved or turned:
                self._drawn[link] = pose

    def remove(self) -> None:
        """Removes the links from the scene, with all that is below them."""
        for link, frame in self._frames.items():
            if not self._parents[link]:
                frame.remove()


def differ(one: tuple[float, ...], other: tuple[float, ...], least: float = SEEN) -> bool:
    """Whether two places, or two quaternions, differ by more than can be seen."""
    return math.dist(one, other) > least
