"""A viewer over real DDS, beside a small node that publishes a machine as the simulator does."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import rclpy
import viser
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import TransformStamped, WrenchStamped
from patience import DEADLINE
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from grouser.nodes.shared import topics
from grouser.nodes.viewer.node import Viewer
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import compose

QUARTER_TURN = (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5))  # about z


NO_TURN = (0.0, 0.0, 0.0, 1.0)


MACHINE = """<robot name="red_box">
  <link name="base_link">
    <inertial><mass value="100"/><inertia ixx="9" iyy="9" izz="9" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual>
      <origin xyz="0 0 0.5"/><geometry><box size="1.6 1 1"/></geometry>
      <material name="red"><color rgba="1 0 0 1"/></material>
    </visual>
    <collision><origin xyz="0 0 0.5"/><geometry><box size="1.6 1 1"/></geometry></collision>
  </link>
  <link name="arm">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><cylinder radius="0.1" length="1"/></geometry></collision>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base_link"/><child link="arm"/><origin xyz="1 0 1"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint>
</robot>"""


CYLINDER = """<grouser>
  <fluid density="850" bulk_modulus="1.4e9"/><pump name="pump" supply_pressure="2e7"/>
  <directional_valve name="valve" spool_diameter="0.01" spool_travel="0.001"/>
  <cylinder name="lift" valve="valve" bore="0.1" rod_diameter="0.06" stroke="0.6" retracted_length="0.8"
            piston_mass="5" dead_volume_piston_side="1e-4" dead_volume_rod_side="1e-4">
    <barrel link="base_link" xyz="0 0 1"/><rod link="arm"/>
  </cylinder></grouser>"""


OTHER_MACHINE = """<robot name="ball">
  <link name="ball"><collision><geometry><sphere radius="0.4"/></geometry></collision></link>
</robot>"""


class Stage(Node):
    """Publishes as a simulator: the description once, transforms and wrenches repeatedly."""

    def __init__(self) -> None:
        super().__init__("stage")
        self.transforms: dict[str, TransformStamped] = {}
        self.forces: dict[str, tuple[float, float, float]] = {}
        self.moments: dict[str, tuple[float, float, float]] = {}
        self._description = self.create_publisher(String, topics.ROBOT_DESCRIPTION, topics.LATCHED)
        self._tf = self.create_publisher(TFMessage, topics.TF, topics.TF_QUALITY)
        self._wrenches = {
            link: self.create_publisher(WrenchStamped, topic, topics.SENSOR_DATA)
            for link, topic in topics.contact_wrench_topics(["base_link", "arm"]).items()
        }
        self.state = ""
        self._diagnostics = self.create_publisher(DiagnosticArray, topics.DIAGNOSTICS, topics.RELIABLE)
        self.create_timer(0.02, self._say)

    def describe(self, text: str) -> None:
        self._description.publish(String(data=text))

    def place(self, child: str, parent: str, position: tuple, quaternion: tuple = NO_TURN) -> None:
        stamped = TransformStamped(child_frame_id=child)
        stamped.header.frame_id = parent
        stamped.header.stamp.sec = 12
        for field, value in zip("xyz", position, strict=True):
            setattr(stamped.transform.translation, field, float(value))
        for field, value in zip("xyzw", quaternion, strict=True):
            setattr(stamped.transform.rotation, field, float(value))
        self.transforms[child] = stamped

    def _say(self) -> None:
        statuses = [DiagnosticStatus(name=f"simulator: {part}", message=self.state) for part in ("pace", "solver")]
        statuses[1].message = "converges"
        self._diagnostics.publish(DiagnosticArray(status=statuses))
        self._tf.publish(TFMessage(transforms=list(self.transforms.values())))
        for link, force in self.forces.items():
            message = WrenchStamped()
            message.header.frame_id = link
            message.wrench.force.x, message.wrench.force.y, message.wrench.force.z = force
            torque = message.wrench.torque
            torque.x, torque.y, torque.z = self.moments.get(link, (0.0, 0.0, 0.0))
            self._wrenches[link].publish(message)


class Theatre:
    """A publishing stage and its viewers, spun until a condition holds."""

    def __init__(self) -> None:
        self.executor = SingleThreadedExecutor()
        self.stage = Stage()
        self.executor.add_node(self.stage)
        self.viewers: list[Viewer] = []

    def open_viewer(self, world: str = "flat") -> Viewer:
        values = {"port": free_port(), "contact_scale": 0.01, "world": world}
        viewer = Viewer([Parameter(name, value=value) for name, value in values.items()])
        self.viewers.append(viewer)
        self.executor.add_node(viewer)
        return viewer

    def wait_for(self, condition: Callable[[], object], what: str) -> None:
        end = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < end, f"never seen: {what}"
            self.executor.spin_once(timeout_sec=0.05)

    def close(self) -> None:
        self.executor.shutdown()
        for viewer in self.viewers:
            viewer.stop()
            viewer.destroy_node()
        self.stage.destroy_node()


@contextmanager
def playing() -> Iterator[Theatre]:
    """A stage and a viewer, and their threads."""
    rclpy.init()
    theatre = Theatre()
    yield theatre
    theatre.close()
    rclpy.try_shutdown()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def handle(viewer: Viewer, name: str) -> viser.SceneNodeHandle | None:
    return viewer.scene.server.scene.get_handle_by_name(name)


def drawn_pose(viewer: Viewer, node: str) -> Pose:
    """Where a node is in the world: below the nodes whose names its own begins with."""
    pose = Pose()
    for end in (place for place, letter in enumerate(f"{node}/") if letter == "/" and place):
        if (frame := handle(viewer, node[:end])) is not None:
            w, *xyz = frame.wxyz
            pose = compose(pose, Pose(tuple(frame.position), (*xyz, w)))
    return pose


def stands_at(viewer: Viewer, link: str, position: tuple, quaternion: tuple = NO_TURN) -> bool:
    if link not in viewer.scene.nodes:
        return False
    pose = drawn_pose(viewer, viewer.scene.nodes[link])
    return np.allclose(pose.position, position, atol=1e-6) and (
        abs(np.dot(pose.quaternion, quaternion)) > 1.0 - 1e-6  # q and -q are the same turn
    )
