"""The viewer over real DDS, with a small node that publishes a machine as the simulator does."""

import gzip
import http.client
import io
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import rclpy
import trimesh
import viser
from chromium import Browser, running_browser
from control_msgs.msg import DynamicInterfaceGroupValues
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import TransformStamped, WrenchStamped
from matplotlib.tri import LinearTriInterpolator, Triangulation
from patience import DEADLINE
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState, PointCloud2
from shipped import shipped_machine
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray
from websockets.sync.client import connect

from grouser import catalogue
from grouser.nodes.shared import topics
from grouser.nodes.shared.messages import fill_group_values, make_group_values, point_cloud
from grouser.nodes.shared.received_frames import ReceivedFrames
from grouser.nodes.simulator.object_markers import object_markers
from grouser.nodes.viewer.arrivals import Polled, TransformArrivals
from grouser.nodes.viewer.cylinders import pressure_scale
from grouser.nodes.viewer.forces import ARROW_COLOUR, CUT_COLOUR, LONGEST, contact_ball, force_point
from grouser.nodes.viewer.node import Viewer
from grouser.nodes.viewer.scene import moving_links, node_name
from grouser.nodes.viewer.soils import Grain
from grouser.nodes.viewer.world import FIELD_POINTS, field_surface, natural_cells
from grouser.physics.base.errors import MachineError
from grouser.physics.contact.terrain import surface_below
from grouser.physics.description import load_machine, load_soil, load_world, parse_machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import Heightfield
from grouser.runtime.belt_shoes import BeltShoes

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


@pytest.fixture
def theatre() -> Iterator[Theatre]:
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


def stands_at(viewer: Viewer, link: str, position: tuple, quaternion: tuple = NO_TURN) -> bool:
    frame = handle(viewer, node_name(link))
    wxyz = np.roll(quaternion, 1)
    return (
        frame is not None
        and np.allclose(frame.position, position, atol=1e-6)
        and abs(frame.wxyz @ wxyz) > 1.0 - 1e-6  # q and -q are the same turn
    )


def test_frames_compose_and_tf_wins_over_the_description() -> None:
    frames = ReceivedFrames()
    frames.receive("base_link", "odom", Pose((1.0, 2.0, 0.0), QUARTER_TURN))
    frames.receive("arm", "base_link", Pose((1.0, 0.0, 0.5), NO_TURN))
    assert frames.world("arm").position == pytest.approx([1.0, 3.0, 0.5])
    frames.receive("base_link", "odom", Pose((5.0, 0.0, 0.0), NO_TURN))
    assert frames.world("arm").position == pytest.approx([6.0, 0.0, 0.5])
    assert frames.world("nobody").position == pytest.approx([0.0, 0.0, 0.0])


def test_publishers_of_transforms_are_told_apart_by_their_frames(theatre: Theatre) -> None:
    """Names of every length modulo four, as they are aligned; the numbers of a transform make no other publisher."""
    arrivals = TransformArrivals(theatre.stage, TFMessage, "elsewhere", topics.TF_QUALITY, Polled())
    pairs = [("a" * parent, "b" * child) for parent in range(1, 6) for child in range(1, 6)]
    for number, (parent, child) in enumerate(pairs):
        for seconds in range(3):
            transform = TransformStamped(child_frame_id=child)
            transform.header.frame_id, transform.header.stamp.sec = parent, seconds
            transform.transform.translation.x = float(number + 0.1 * seconds)
            arrivals._keep(serialize_message(TFMessage(transforms=[transform])))
    assert len(arrivals.histories) == len(pairs)
    for history, (parent, child) in zip(arrivals.histories.values(), pairs, strict=True):
        assert history.newest() == 2_000_000_000
        stamp, message = history.at(1_999_999_999)
        (transform,) = arrivals.read(message).transforms
        assert (transform.header.frame_id, transform.child_frame_id, stamp) == (parent, child, 1_000_000_000)
    arrivals._keep(serialize_message(TFMessage()))
    assert len(arrivals.histories) == len(pairs)
    history.add(5, b"of a clock that was set back")
    assert history.at(1_000_000_000) == (5, b"of a clock that was set back")
    arrivals.close()


def test_cyclic_transforms_end() -> None:
    frames = ReceivedFrames()
    frames.receive("a", "b", Pose((1.0, 0.0, 0.0), NO_TURN))
    frames.receive("b", "a", Pose((1.0, 0.0, 0.0), NO_TURN))
    assert np.isfinite(frames.world("a").position).all()


def test_links_are_drawn_at_their_transforms(theatre: Theatre) -> None:
    viewer = theatre.open_viewer()
    theatre.stage.describe(MACHINE)
    theatre.wait_for(lambda: stands_at(viewer, "arm", (1, 0, 1)), "the arm at its joint's zero, before TF")
    theatre.stage.place("base_footprint", "odom", (1, 2, 0), QUARTER_TURN)
    theatre.stage.place("base_link", "base_footprint", (0, 0, 0.5))
    theatre.stage.place("arm", "base_link", (1, 0, 1), QUARTER_TURN)
    # A quarter turn takes the arm's (1, 0, 1) in the base to (0, 1, 1); two quarter turns are a half turn about z.
    theatre.wait_for(lambda: stands_at(viewer, "arm", (1, 3, 1.5), (0, 0, 1, 0)), "the arm where TF says")
    assert stands_at(viewer, "base_link", (1, 2, 0.5), QUARTER_TURN)


def test_invalid_transforms_are_ignored(theatre: Theatre) -> None:
    viewer = theatre.open_viewer()
    theatre.stage.describe(MACHINE)
    theatre.stage.place("base_link", "odom", (np.nan, 0, 0))
    theatre.stage.place("arm", "base_link", (0, 0, 2), (0, 0, 0, 0))
    theatre.stage.place("last", "odom", (0, 0, 0))
    frames = viewer._moments.frames
    theatre.wait_for(lambda: viewer.scene.links and frames.known("last"), "the transform after the bad ones")
    theatre.executor.spin_once(timeout_sec=0.05)
    assert stands_at(viewer, "base_link", (0, 0, 0))
    assert stands_at(viewer, "arm", (1, 0, 1))


def test_collision_shapes_replace_missing_visuals(theatre: Theatre) -> None:
    viewer = theatre.open_viewer()
    theatre.stage.describe(MACHINE)
    theatre.wait_for(lambda: viewer.scene.links, "a machine")
    visual, collision = handle(viewer, f"{node_name('base_link')}/0"), handle(viewer, f"{node_name('base_link')}/1")
    stand_in = handle(viewer, f"{node_name('arm')}/0")
    assert visual.color == (255, 0, 0) and visual.dimensions == (1.6, 1.0, 1.0)
    assert visual.visible and stand_in.visible and not collision.visible
    assert (stand_in.radius, stand_in.height) == (0.1, 1.0)
    viewer.scene.collision_box.value = True
    theatre.wait_for(lambda: collision.visible, "the collision shapes after a tick in their box")
    assert stand_in.visible and not visual.visible


def test_a_contact_force_is_an_arrow_in_the_world(theatre: Theatre) -> None:
    viewer = theatre.open_viewer()
    theatre.stage.describe(MACHINE)
    theatre.stage.place("base_link", "odom", (1, 2, 0.5), QUARTER_TURN)
    theatre.stage.forces = {"base_link": (100.0, 0.0, 50.0), "arm": (0.0, 0.0, 0.0)}
    # The force acts at (0.2, 0.1, 0.5) in the link; the point of its line nearest to the middle of the collision box,
    # (0, 0, 0.5), is (0.04, 0.1, 0.42).
    theatre.stage.moments = {"base_link": (5.0, 40.0, -10.0)}
    # 0.01 m/N; the link's x axis is the world's y axis; no force, no arrow.
    expected = [[[0.9, 2.04, 0.92], [0.9, 3.04, 1.42]]]
    theatre.wait_for(
        lambda: (
            (arrows := handle(viewer, "/contact_forces"))
            and arrows.points.shape == (1, 2, 3)
            and np.allclose(arrows.points, expected, atol=1e-5)
        ),
        "the arrow of the force",
    )
    viewer.scene.forces_box.value = False
    theatre.wait_for(lambda: not handle(viewer, "/contact_forces").visible, "no arrows without a tick in their box")
    theatre.stage.forces = {"base_link": (0.0, 0.0, 0.0)}
    theatre.wait_for(lambda: handle(viewer, "/contact_forces") is None, "no arrow once the force is gone")


def test_a_cylinder_stretches_between_its_attachments(theatre: Theatre) -> None:
    """The barrel begins at its attachment, the rod ends at its own, and the rod comes out of the barrel."""
    viewer = theatre.open_viewer()
    theatre.stage.describe(MACHINE.replace("</robot>", f"{CYLINDER}</robot>"))

    def spans(part: str, start: tuple, end: tuple) -> bool:
        frame, drawn = handle(viewer, "/cylinders/lift"), handle(viewer, f"/cylinders/lift/{part}")
        if drawn is None or not frame.visible:
            return False
        w, x, y, z = frame.wxyz
        axis = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
        middle, reach = frame.position + drawn.position[2] * axis, 0.5 * drawn.height * axis
        return np.allclose([middle - reach, middle + reach], [start, end], atol=1e-6)

    # Retracted it is 0.8 m long with a stroke of 0.6 m: the barrel leaves half of the other 0.2 m free.
    theatre.wait_for(lambda: spans("barrel", (0, 0, 1), (0.7, 0, 1)), "the barrel at the joint's zero, before TF")
    assert spans("rod", (0.2, 0, 1), (1, 0, 1))
    theatre.stage.place("base_link", "odom", (0, 0, 0.5), QUARTER_TURN)
    theatre.stage.place("arm", "base_link", (1.2, 0, 1))
    theatre.wait_for(lambda: spans("rod", (0, 0.4, 1.5), (0, 1.2, 1.5)), "the rod further out")
    assert spans("barrel", (0, 0, 1.5), (0, 0.7, 1.5))
    barrel, rod = (handle(viewer, f"/cylinders/lift/{part}") for part in ("barrel", "rod"))
    assert barrel.radius > 0.05 and rod.radius == 0.03
    theatre.stage.place("arm", "base_link", (0, 0, 0.1))
    theatre.wait_for(lambda: spans("rod", (0, 0, 1.4), (0, 0, 0.6)), "the rod straight down")
    theatre.stage.describe(OTHER_MACHINE)
    theatre.wait_for(lambda: viewer.scene.links == ("ball",), "the other machine")
    assert handle(viewer, "/cylinders/lift/barrel") is None and handle(viewer, "/cylinders/lift/rod") is None


def test_shoes_of_a_track_move_as_its_sprocket_turns(theatre: Theatre) -> None:
    """They are one batch at the link that carries them; a machine without tracks has none."""
    stage, viewer = theatre.stage, theatre.open_viewer()
    machine = shipped_machine("tracked_vehicle")
    states = stage.create_publisher(JointState, topics.JOINT_STATES, topics.RELIABLE)
    shoes = {track.name: BeltShoes(machine, track) for track in machine.tracks}

    def drawn_at(name: str, position: float) -> bool:
        states.publish(JointState(name=["right_sprocket", "left_sprocket"], position=[np.nan, 12.3]))
        batch = handle(viewer, f"{node_name('base_link')}/belt_{name}")
        if batch is None:
            return False
        places, turns = shoes[name].poses(position, Pose(), {})
        return np.allclose(batch.batched_positions, places, atol=1e-6) and np.allclose(
            batch.batched_wxyzs, np.roll(turns, 1, axis=1), atol=1e-6
        )

    stage.describe(machine.urdf)
    theatre.wait_for(lambda: drawn_at("left", 12.3), "the shoes where the sprocket has brought them")
    assert drawn_at("right", 0.0)
    batch = handle(viewer, f"{node_name('base_link')}/belt_left")
    places = batch.batched_positions
    stage.place("base_link", "odom", (3, 0, 0))
    theatre.wait_for(lambda: stands_at(viewer, "base_link", (3, 0, 0)), "the vehicle elsewhere")
    # only the link moves: nothing is sent for the shoes
    assert batch.batched_positions is places
    stage.describe(OTHER_MACHINE)
    theatre.wait_for(lambda: viewer.scene.links == ("ball",), "the other machine")
    assert handle(viewer, f"{node_name('base_link')}/belt_left") is None and not viewer.scene.has_belts


def test_a_force_is_drawn_on_the_pose_of_its_stamp(theatre: Theatre) -> None:
    """The wrench is older than the newest pose: the arrow belongs to where the link was, the link is where it is."""
    stage, viewer = theatre.stage, theatre.open_viewer()
    stage.describe(MACHINE)
    theatre.wait_for(lambda: viewer.scene.links, "the machine")
    wrenches = stage.create_publisher(WrenchStamped, "contact_wrenches/base_link", topics.SENSOR_DATA)
    force = WrenchStamped()
    force.header.stamp.sec = 12
    force.wrench.force.z = 100.0

    def arrow_at(x: float, tilt: tuple) -> bool:
        wrenches.publish(force)
        arrows = handle(viewer, "/contact_forces")
        # 0.01 m/N along the link's z axis, from the middle of its box.
        up = np.array([2 * tilt[1] * tilt[3], 0.0, 1 - 2 * tilt[1] ** 2])
        tail = np.array([x, 0.0, 0.0]) + 0.5 * up
        return arrows is not None and np.allclose(arrows.points, [[tail, tail + up]], atol=1e-5)

    def say(seconds: int, x: float, tilt: tuple) -> None:
        stage.transforms.clear()
        stage.place("base_link", "odom", (x, 0, 0), tilt)
        stage.transforms["base_link"].header.stamp.sec = seconds

    tilted = (0.0, 0.6, 0.0, 0.8)
    say(12, 1.0, tilted)
    theatre.wait_for(lambda: arrow_at(1.0, tilted), "the arrow on the tilted link")
    say(13, 5.0, NO_TURN)
    theatre.wait_for(lambda: stands_at(viewer, "base_link", (5, 0, 0)), "the link at its newer pose")
    assert arrow_at(1.0, tilted)
    force.header.stamp.sec = 13
    theatre.wait_for(lambda: arrow_at(5.0, NO_TURN), "the arrow on the newer pose, after a newer wrench")


def test_a_long_stroke_is_drawn_as_a_telescope(theatre: Theatre) -> None:
    """With more stroke than its retracted length, every part still begins inside the one before."""
    viewer = theatre.open_viewer()
    cylinder = CYLINDER.replace('stroke="0.6" retracted_length="0.8"', 'stroke="2.0" retracted_length="0.7"')
    theatre.stage.describe(MACHINE.replace("</robot>", f"{cylinder}</robot>"))
    theatre.wait_for(lambda: handle(viewer, "/cylinders/lift/rod"), "the cylinder")
    names = ["barrel", "tube_0", "tube_1", "rod"]
    assert handle(viewer, "/cylinders/lift/tube_2") is None
    rod = handle(viewer, "/cylinders/lift/rod")
    for length in (0.7, 1.5, 2.7):
        theatre.stage.place("arm", "base_link", (length, 0, 1))
        theatre.wait_for(lambda end=length: abs(rod.position[2] + 0.5 * rod.height - end) < 1e-6, "the rod's end")
        parts = [handle(viewer, f"/cylinders/lift/{name}") for name in names]
        spans = [(part.position[2] - 0.5 * part.height, part.position[2] + 0.5 * part.height) for part in parts]
        assert spans[0][0] == pytest.approx(0.0)
        for before, after in pairwise(spans):
            assert before[0] - 1e-9 <= after[0] <= before[1]
        assert all(wide.radius > narrow.radius for wide, narrow in pairwise(parts))


def publish_pressures(theatre: Theatre) -> Callable[[float, float, float], None]:
    """A publisher of the pressures of the cylinder `lift` [Pa] at a time [s]."""
    publisher = theatre.stage.create_publisher(DynamicInterfaceGroupValues, topics.HYDRAULICS, topics.RELIABLE)
    message = make_group_values([("lift", ("pressure_piston_side", "pressure_rod_side", "force"))])

    def publish(seconds: float, piston_side: float, rod_side: float) -> None:
        fill_group_values(message, round(1e9 * seconds), [np.array([piston_side, rod_side, 1e4])])
        publisher.publish(message)

    return publish


def test_cylinders_show_their_pressures(theatre: Theatre) -> None:
    viewer, publish = theatre.open_viewer(), publish_pressures(theatre)
    theatre.stage.describe(MACHINE.replace("</robot>", f"{CYLINDER}</robot>"))
    theatre.wait_for(lambda: handle(viewer, "/cylinders/lift/rod_side"), "the cylinder")
    piston, rod = (handle(viewer, f"/cylinders/lift/{side}_side") for side in ("piston", "rod"))
    assert not piston.visible and not rod.visible  # nothing is known
    # The supply has 200 bar, and the scale ends there.
    theatre.wait_for(lambda: publish(1.0, 30e6, 0.0) or piston.visible, "the pressures")
    scale = pressure_scale(viewer.scene._machine)
    assert piston.color == scale.colour(20e6) != scale.colour(10e6)
    assert rod.color == scale.colour(0.0)
    # The barrel of 0.7 m has 0.05 m beyond the stroke at each end; the cylinder is extended by 0.2 m.
    assert piston.scale[2] == pytest.approx(0.25) and rod.scale[2] == pytest.approx(0.45)
    viewer.scene.pressures_box.value = False
    theatre.wait_for(lambda: not piston.visible, "a plain barrel without a tick in the box")


def test_a_plot_shows_what_is_published(theatre: Theatre) -> None:
    viewer, publish = theatre.open_viewer(), publish_pressures(theatre)
    theatre.stage.describe(MACHINE.replace("</robot>", f"{CYLINDER}</robot>"))
    theatre.stage.place("base_link", "odom", (0, 0, 0))
    plot = viewer.scene.plots.plots[0]
    plot.choice.value = "pressure"
    now = 0.0

    def sampled(count: int) -> bool:
        nonlocal now
        now += 0.06
        publish(now, 5e6, 1e5)
        theatre.stage.transforms["base_link"].header.stamp.nanosec = round(1e9 * now) % 1_000_000_000
        theatre.stage.transforms["base_link"].header.stamp.sec = int(now)
        return len(plot.samples) >= count

    theatre.wait_for(lambda: sampled(5), "five samples")
    np.testing.assert_allclose(plot.samples[:, 1:], np.tile([50.0, 1.0], (len(plot.samples), 1)), atol=1e-9)
    assert (np.diff(plot.samples[:, 0]) >= 0.05 - 1e-9).all()
    theatre.wait_for(lambda: sampled(5) and plot._handle is not None, "the plot")
    labels = [series["label"] for series in plot._handle.series]
    assert labels == ["time [s]", "lift piston side", "lift rod side"]


def test_a_click_labels_a_part(theatre: Theatre) -> None:
    viewer, publish = theatre.open_viewer(), publish_pressures(theatre)
    theatre.stage.describe(MACHINE.replace("</robot>", f"{CYLINDER}</robot>"))
    theatre.stage.place("base_link", "odom", (0, 0, 0))
    theatre.stage.forces = {"base_link": (0.0, 3000.0, 4000.0)}
    theatre.wait_for(lambda: handle(viewer, "/contact_forces"), "the force")
    labels, base = viewer.scene.labels, node_name("base_link")
    labels._clicked.extend([base, "/cylinders/lift"])  # as the server's threads do

    def shows(node: str, text: str) -> bool:
        publish(1.0, 5e6, 1e5)
        label = handle(viewer, f"{node}/label")
        return label is not None and label.text == text

    theatre.wait_for(lambda: shows(base, "base_link, 100 kg, contact 5.00 kN"), "the label of the link")
    theatre.wait_for(lambda: shows("/cylinders/lift", "lift, 50 / 1 bar, 10.0 kN"), "the label of the cylinder")
    labels._clicked.append(base)
    theatre.wait_for(lambda: handle(viewer, f"{base}/label") is None, "no label after another click")


def test_ruts_replace_the_natural_ground(theatre: Theatre, world_file: Callable[[str], str]) -> None:
    """A trench of 0.1 m depth on a slope: the tiles have its heights, and the ground has a hole just there."""
    slope = "point: [0.0, 0.0, 0.5], normal: [-0.6, 0.0, 0.8]"
    viewer = theatre.open_viewer(world_file(f"ground: {{{slope}, soil: {{type: dry_sand, cell: 0.05}}}}"))
    publisher = theatre.stage.create_publisher(PointCloud2, topics.TERRAIN, topics.LATCHED)
    i, j = (index.ravel() for index in np.mgrid[-8:8, 0:16])
    x, y = 0.05 * i, 0.05 * j
    rut = np.where((j >= 4) & (j < 8), 0.1, 0.0)
    columns = {"x": x, "y": y, "z": 0.5 + 0.75 * x - rut, "sinkage": rut, "rut": rut, "pressure": 1e6 * rut}

    def surface(name: str) -> trimesh.Trimesh:
        (mesh,) = trimesh.load(io.BytesIO(handle(viewer, name).glb_data), file_type="glb").geometry.values()
        return mesh

    area = 400.0**2 / 0.8
    assert surface("/ground/dry_sand").area == pytest.approx(area)
    publisher.publish(point_cloud("map", 2_000_000_000, columns))
    theatre.wait_for(lambda: handle(viewer, "/terrain/0_0"), "the trench")
    for place in (-1, 0):
        vertices = surface(f"/terrain/{place}_0").vertices
        ahead, left, height = vertices.T
        trench = (ahead > -0.41) & (ahead < 0.36) & (left > 0.19) & (left < 0.36)
        assert trench.any()
        np.testing.assert_allclose(height, 0.5 + 0.75 * ahead - 0.1 * trench, atol=1e-5)
    assert surface("/ground/dry_sand").area == pytest.approx(area - 2 * (32 * 0.05) ** 2 / 0.8)
    # A clock that was set back: the simulation was reset.
    rut[:] = 0.0
    publisher.publish(point_cloud("map", 1_000_000_000, columns | {"z": 0.5 + 0.75 * x, "pressure": rut}))
    theatre.wait_for(lambda: handle(viewer, "/terrain/0_0") is None, "natural ground after a reset")
    assert surface("/ground/dry_sand").area == pytest.approx(area)


def test_natural_ground_covers_all_but_the_tiles() -> None:
    """Over a map of soils and scattered tiles: each place is in one rectangle, of its soil, or in a tile."""
    types = np.random.default_rng(6).integers(-1, 2, (5, 4))
    soils = (load_soil("dry_sand"), load_soil("clay"))
    soil = SoilGround(soils, cell=0.05, types=types, types_cell=2.0, types_origin=(-3.0, 1.0))
    grain, tiles = Grain(soil), {(-1, 0), (0, 0), (0, 3), (2, -2)}
    places = np.random.default_rng(7).uniform(-8.0, 12.0, (500, 2))
    covers = np.zeros(len(places), dtype=int)
    for kind in (-1, 0, 1):
        corners = natural_cells(soil, grain, kind, tiles)
        low, high = corners[:, 0], corners[:, 2]
        inside = ((places[:, np.newaxis] > low) & (places[:, np.newaxis] < high)).all(axis=2).sum(axis=1)
        assert (grain.kinds(*places[inside > 0].T) == kind).all()
        covers += inside
    tiled = np.array([tuple(place) in tiles for place in np.floor(places / (32 * 0.05)).astype(int).tolist()])
    assert 0 < tiled.sum() < len(places)
    np.testing.assert_array_equal(covers, ~tiled)


def test_sizes_are_those_of_what_moves() -> None:
    """A rail of 40 m counts neither for the camera nor for the arrows, whatever carries it; a floating base does."""
    fixed = MACHINE.replace(
        '<robot name="red_box">',
        """<robot name="rail">
      <link name="world"/><link name="rail"><visual><geometry><box size="40 1 1"/></geometry></visual></link>
      <joint name="sleepers" type="fixed"><parent link="world"/><child link="rail"/></joint>
      <joint name="slide" type="prismatic"><parent link="rail"/><child link="base_link"/><axis xyz="1 0 0"/>
        <limit lower="-20" upper="20" effort="1" velocity="1"/></joint>""",
    )
    assert moving_links(parse_machine(fixed, file="rail")) == {"base_link", "arm"}
    assert moving_links(parse_machine(MACHINE, file="box")) == {"base_link", "arm"}
    still = fixed.replace('type="prismatic"', 'type="fixed"').replace('type="revolute"', 'type="fixed"')
    assert moving_links(parse_machine(still, file="still")) == {"world", "rail", "base_link", "arm"}


def test_long_arrows_are_cut(theatre: Theatre) -> None:
    viewer = theatre.open_viewer()
    theatre.stage.describe(MACHINE)
    theatre.stage.place("base_link", "odom", (0, 0, 0))
    theatre.stage.forces = {"base_link": (0.0, 0.0, 5000.0)}  # 50 m by 0.01 m/N
    theatre.wait_for(lambda: handle(viewer, "/contact_forces"), "the force")
    arrows = handle(viewer, "/contact_forces")
    size = viewer.scene.cameras.size
    assert np.linalg.norm(arrows.points[0, 1] - arrows.points[0, 0]) == pytest.approx(LONGEST * size, rel=1e-6)
    assert 1.6 < size < 4.0 and tuple(arrows.colors[0]) == CUT_COLOUR
    theatre.stage.forces = {"base_link": (0.0, 0.0, 100.0)}
    theatre.wait_for(lambda: tuple(handle(viewer, "/contact_forces").colors[0]) == ARROW_COLOUR, "the short arrow")
    points = handle(viewer, "/contact_forces").points
    assert points[0, 1, 2] - points[0, 0, 2] == pytest.approx(1.0)


def test_objects_are_drawn_where_they_are(theatre: Theatre) -> None:
    """Every shape of an object moves with it; objects that are gone are no longer drawn."""
    stage, viewer = theatre.stage, theatre.open_viewer()
    shapes = stage.create_publisher(MarkerArray, topics.OBJECT_SHAPES, topics.LATCHED)
    poses = stage.create_publisher(TFMessage, topics.OBJECT_POSES, topics.RELIABLE)
    crate = """<visual><origin xyz="0 0 0.5"/><geometry><box size="1 2 3"/></geometry>
      <material name="m"><color rgba="1 0 0 1"/></material></visual>
      <collision><geometry><sphere radius="0.3"/></geometry></collision>"""
    pill = '<collision><geometry><capsule radius="0.1" length="0.6"/></geometry></collision>'
    texts = {
        name: OTHER_MACHINE.replace("<collision>", f"{shape}<!--").replace("</collision></link>", "--></link>")
        for name, shape in (("crate", crate), ("pill", pill))
    }
    markers = {name: list(object_markers(name, parse_machine(text, file=name))) for name, text in texts.items()}

    def publish(*names: str) -> None:
        shown = [marker for name in names for marker in markers[name]]
        shapes.publish(MarkerArray(markers=[Marker(action=Marker.DELETEALL), *shown]))

    def place() -> None:
        stage.place("crate", "map", (1, 2, 3), QUARTER_TURN)
        stage.place("pill", "map", (0, 0, 5))
        poses.publish(TFMessage(transforms=list(stage.transforms.values())))
        stage.transforms.clear()

    def seen_at(name: str, position: tuple, quaternion: tuple) -> bool:
        place()
        frame = handle(viewer, f"/objects/{name}")
        return (
            frame is not None
            and frame.visible
            and np.allclose(frame.position, position)
            and abs(frame.wxyz @ np.roll(quaternion, 1)) > 1.0 - 1e-9
        )

    theatre.wait_for(lambda: place() or viewer._object_poses, "poses before shapes")
    theatre.wait_for(lambda: not viewer._object_poses, "that they are taken")
    publish("crate", "pill")
    theatre.wait_for(lambda: handle(viewer, "/objects/crate"), "the crate at the pose that is known")
    assert handle(viewer, "/objects/crate").visible
    theatre.wait_for(lambda: seen_at("crate", (1, 2, 3), QUARTER_TURN), "the crate")
    theatre.wait_for(lambda: seen_at("pill", (0, 0, 5), NO_TURN), "the pill")
    box, body, end = (handle(viewer, f"/objects/{name}") for name in ("crate/0", "pill/0", "pill/1"))
    assert (box.dimensions, box.color) == ((1.0, 2.0, 3.0), (255, 0, 0))
    assert box.position == pytest.approx([0.0, 0.0, 0.5])
    assert (body.radius, body.height, end.radius) == (0.1, 0.6, 0.1)
    assert end.position == pytest.approx([0.0, 0.0, 0.3])
    publish("pill")
    theatre.wait_for(lambda: handle(viewer, "/objects/crate") is None, "the pill alone")
    assert handle(viewer, "/objects/pill/0") is body and seen_at("pill", (0, 0, 5), NO_TURN)
    markers["pill"] = list(object_markers("pill", parse_machine(texts["crate"], file="pill")))
    publish("pill")
    theatre.wait_for(lambda: getattr(handle(viewer, "/objects/pill/0"), "dimensions", None), "another pill")
    theatre.wait_for(lambda: seen_at("pill", (0, 0, 5), NO_TURN), "it in its place")


def test_a_force_acts_near_its_shapes() -> None:
    middle, reach = contact_ball(parse_machine(MACHINE, file="red_box").links[0])
    assert middle == pytest.approx([0.0, 0.0, 0.5]) and reach == pytest.approx(np.linalg.norm([1.6, 1, 1]) / 2)
    upwards = np.array([0.0, 0.0, 10.0])
    foot = np.array([0.3, -0.2, 0.0])
    wrench = np.concatenate([upwards, np.cross(foot, upwards)])
    assert force_point(wrench, middle, reach) == pytest.approx([0.3, -0.2, 0.5])
    far = np.concatenate([upwards, np.cross([50.0, 0.0, 0.0], upwards)])
    assert force_point(far, middle, reach) == pytest.approx([reach, 0.0, 0.5])
    through = np.concatenate([upwards, np.zeros(3)])
    assert force_point(through, middle, reach) == pytest.approx([0.0, 0.0, 0.5])


def test_capsules_and_points_are_drawn(theatre: Theatre) -> None:
    """The arm has a capsule of 0.2 m from middle to middle, and two balls that touch; the base has points."""
    capsule = '<origin xyz="0 0 0.3"/><geometry><capsule radius="0.05" length="0.2"/></geometry>'
    points = """<grouser><contact_points link="arm" points="0 0 0 0 0 0.6" radius="0.1"/>
      <contact_points link="base_link" points="1 0 0"/></grouser>"""
    urdf = MACHINE.replace('<geometry><cylinder radius="0.1" length="1"/></geometry>', capsule)
    viewer = theatre.open_viewer()
    theatre.stage.describe(urdf.replace("</robot>", f"{points}</robot>"))
    theatre.wait_for(lambda: viewer.scene.links, "the machine")
    drawn, balls = handle(viewer, f"{node_name('arm')}/0"), handle(viewer, f"{node_name('arm')}/1")
    assert drawn.position == pytest.approx([0.0, 0.0, 0.3])
    np.testing.assert_allclose(np.ptp(drawn.vertices, axis=0), [0.1, 0.1, 0.3], rtol=1e-6)
    np.testing.assert_allclose(drawn.vertices.mean(axis=0), np.zeros(3), atol=1e-6)
    np.testing.assert_array_equal(balls.batched_positions, np.array([[0, 0, 0], [0, 0, 0.6]], dtype=np.float32))
    np.testing.assert_allclose(np.linalg.norm(balls.vertices, axis=1), 0.1, rtol=1e-6)
    # The base has a visual, so that its collision shapes are hidden until their box is ticked.
    single = handle(viewer, f"{node_name('base_link')}/2")
    assert balls.visible and not single.visible
    assert np.linalg.norm(single.vertices, axis=1).max() > 0.0
    middle, reach = contact_ball(parse_machine(urdf.replace("</robot>", f"{points}</robot>"), file="arm").links[1])
    assert middle == pytest.approx([0.0, 0.0, 0.15])  # between the capsule's middle and the points' frame
    assert reach == pytest.approx(0.15 + 0.7)


def test_the_page_shows_the_state_of_the_simulator(theatre: Theatre) -> None:
    """The progress of compilation, then the pace. Other statuses are not shown."""
    viewer = theatre.open_viewer()
    assert viewer.scene._state_text.multiline  # the panel would cut a single line off before the share
    for state in ("preparing the physics (only after an update): 40 %, about 12 s left", "in real time"):
        theatre.stage.state = state
        theatre.wait_for(lambda: viewer.scene._state_text.value == state, state)  # noqa: B023, waits at once


@pytest.fixture
def world_file(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        file = tmp_path / "world.yaml"
        file.write_text(text)
        return str(file)

    return write


def test_the_ground_is_the_worlds(theatre: Theatre, world_file: Callable[[str], str]) -> None:
    """A slope of 30 degrees: the drawn plane goes through its point, and its z axis is the normal."""
    slope = "ground: {point: [1.0, 2.0, 0.5], normal: [-0.5, 0.0, 0.8660254037844386]}"
    ground = handle(theatre.open_viewer(world_file(slope)), "/ground")
    assert ground.position == pytest.approx([1.0, 2.0, 0.5])
    w, x, y, z = ground.wxyz
    normal = [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)]
    assert normal == pytest.approx([-0.5, 0.0, np.sqrt(0.75)])
    assert handle(theatre.open_viewer(world_file("ground: {height: -0.25}")), "/ground").position[2] == -0.25
    assert handle(theatre.open_viewer(world_file("ground: null")), "/ground") is None


def test_drawn_height_field_equals_the_ground_of_the_physics(
    theatre: Theatre, world_file: Callable[[str], str], tmp_path: Path
) -> None:
    np.savetxt(tmp_path / "field.csv", np.random.default_rng(3).uniform(-1.0, 1.0, (4, 3)), delimiter=",")
    world = world_file("ground: {heightfield: {file: field.csv, cell: 0.5, origin: [1.0, -2.0]}}")
    drawn = handle(theatre.open_viewer(world), "/ground")
    x, y, z = drawn.vertices.astype(float).T
    height = LinearTriInterpolator(Triangulation(x, y, drawn.faces), z)
    field = load_world(world).ground.heightfield
    # Inside the grid, which ends at (2.5, -1), and beyond it.
    for place in np.random.default_rng(4).uniform([-1.0, -4.0], [5.0, 1.0], (200, 2)):
        below = surface_below(field.heights, field.cell, *field.origin, *place)[0]
        assert float(height(*place)) == pytest.approx(below, abs=1e-5)  # the page has single precision


def test_a_large_height_field_is_thinned_and_keeps_its_border() -> None:
    heights = np.random.default_rng(5).uniform(-1.0, 1.0, (1000, 7))
    vertices, faces = field_surface(Heightfield(heights, 0.5, (10.0, 20.0)))
    inside = vertices[(np.abs(vertices[:, 0] - 259.75) < 250.0) & (np.abs(vertices[:, 1] - 21.5) < 2.0)]
    i, j = np.round((inside[:, :2] - [10.0, 20.0]) / 0.5).astype(int).T
    np.testing.assert_array_equal(inside[:, 2], heights[i, j])
    assert len(inside) == 7 * FIELD_POINTS and {0, 999} <= set(i)
    assert faces.min() == 0 and faces.max() == len(vertices) - 1


def test_obstacles_are_drawn(theatre: Theatre, world_file: Callable[[str], str]) -> None:
    world = """obstacles:
      - {name: kerb/left, box: [4.0, 0.3, 0.12], xyz: [0.0, 2.0, 0.06], rpy_deg: [0.0, 0.0, 90.0]}
      - {capsule: {radius: 0.15, length: 2.0}, xyz: [3.0, 0.0, 0.15]}"""
    viewer = theatre.open_viewer(world_file(world))
    kerb, capsule = handle(viewer, "/obstacles/kerb|left"), handle(viewer, "/obstacles/obstacle_2")
    assert kerb.dimensions == (4.0, 0.3, 0.12)
    np.testing.assert_allclose(kerb.wxyz, np.roll(QUARTER_TURN, 1), atol=1e-12)
    assert kerb.position == pytest.approx([0.0, 2.0, 0.06])
    np.testing.assert_allclose(np.ptp(capsule.vertices, axis=0), [0.3, 0.3, 2.3], rtol=1e-6)
    theatre.stage.describe(MACHINE)
    theatre.wait_for(lambda: viewer.scene.links, "a machine among the obstacles")
    theatre.stage.describe(OTHER_MACHINE)
    theatre.wait_for(lambda: viewer.scene.links == ("ball",), "the other machine")
    assert handle(viewer, "/obstacles/kerb|left") is kerb


def test_fixed_base_is_drawn_at_the_spawn_pose(theatre: Theatre, world_file: Callable[[str], str]) -> None:
    """TF begins at the root of a machine with a fixed base: only the world says where that is."""
    viewer = theatre.open_viewer(world_file("spawn: {xyz: [5.0, 0.0, 1.0], rpy_deg: [0.0, 0.0, 90.0]}"))
    theatre.stage.place("arm", "world", (1, 0, 1))
    theatre.stage.describe(MACHINE.replace("base_link", "world"))
    theatre.wait_for(lambda: stands_at(viewer, "arm", (5, 1, 2), QUARTER_TURN), "the arm on the base")
    assert stands_at(viewer, "world", (5, 0, 1), QUARTER_TURN)


def test_missing_world_is_named(theatre: Theatre) -> None:
    with pytest.raises(MachineError, match="no world called 'mars'"):
        theatre.open_viewer("mars")


def test_another_world_keeps_the_machine(theatre: Theatre) -> None:
    """As the page does it when another world was loaded: a scene of its own, behind the same port."""
    viewer = theatre.open_viewer()
    theatre.stage.describe(MACHINE)
    theatre.stage.forces = {"base_link": (0.0, 0.0, 100.0)}
    theatre.wait_for(lambda: handle(viewer, "/contact_forces"), "the machine and its force")
    before, port = viewer.scene, viewer.page.port
    viewer.show_world(load_world(catalogue.world_file("obstacles")))
    theatre.wait_for(
        lambda: viewer.scene is not before and handle(viewer, "/contact_forces"), "the force in the new world"
    )
    assert viewer.scene.links == ("base_link", "arm") and viewer.page.port == port
    with connect(f"ws://127.0.0.1:{port}/view", subprotocols=[f"viser-v{viser.__version__}"]) as page:
        page.recv(timeout=DEADLINE)


def test_later_pages_look_at_the_present_position(theatre: Theatre) -> None:
    viewer = theatre.open_viewer()
    theatre.stage.describe(MACHINE)
    camera = viewer.scene.server.initial_camera
    theatre.stage.place("base_link", "odom", (0, 0, 0))
    theatre.wait_for(lambda: viewer.scene.links and 0 < camera.look_at[0] < 1, "a camera on the machine")
    distance = np.linalg.norm(camera.position - camera.look_at)
    assert 1.6 < distance < 10.0  # the machine is 1.6 m long
    theatre.stage.place("base_link", "odom", (30, 0, 0))
    theatre.wait_for(lambda: 30 < camera.look_at[0] < 31, "a camera on the machine that has gone away")
    assert np.linalg.norm(camera.position - camera.look_at) == pytest.approx(distance)


def test_viewer_shows_latched_and_later_machines(theatre: Theatre) -> None:
    theatre.stage.describe(MACHINE)
    theatre.stage.forces = {"base_link": (0.0, 0.0, 100.0)}
    viewer = theatre.open_viewer()
    theatre.wait_for(lambda: handle(viewer, "/contact_forces"), "the machine that was there before, and its force")
    theatre.stage.describe(OTHER_MACHINE)
    theatre.wait_for(lambda: viewer.scene.links == ("ball",), "the other machine")
    for name in ("/contact_forces", node_name("base_link"), f"{node_name('base_link')}/0", node_name("arm")):
        assert handle(viewer, name) is None
    theatre.stage.describe("<robot name='broken'>")
    theatre.stage.describe(MACHINE)
    theatre.wait_for(lambda: viewer.scene.links == ("base_link", "arm"), "the machine after one that cannot be read")


def test_meshes_are_found_away_from_their_file(theatre: Theatre, tmp_path: Path) -> None:
    folder = tmp_path / "a folder & more"
    folder.mkdir()
    trimesh.creation.box((1.0, 1.0, 1.0)).export(folder / "cube.stl")
    (folder / "broken.stl").write_text("solid nothing")
    links = "".join(
        f"<link name='{name}'><visual><geometry><mesh filename='{mesh}' scale='2 1 1'/></geometry></visual></link>"
        for name, mesh in {"base_link": "cube.stl", "arm": "broken.stl"}.items()
    )
    joint = "<joint name='j' type='fixed'><parent link='base_link'/><child link='arm'/></joint>"
    urdf = folder / "meshes.urdf"
    urdf.write_text(f"<?xml version='1.0'?>\n<robot name='meshes'>{links}{joint}</robot>")
    viewer = theatre.open_viewer()
    theatre.stage.describe(load_machine(urdf).urdf)
    theatre.wait_for(lambda: viewer.scene.links, "the machine of meshes")
    assert np.ptp(handle(viewer, f"{node_name('base_link')}/0").vertices, axis=0) == pytest.approx([2.0, 1.0, 1.0])
    assert handle(viewer, f"{node_name('arm')}/0") is None


@pytest.fixture
def process() -> Iterator[tuple[subprocess.Popen, int]]:
    """The viewer as a process that has reported that it is ready, and the port of its page."""
    port = free_port()
    running = start_viewer(port)
    said = []
    while not said or f"http://localhost:{port}" not in said[-1]:
        said.append(running.stderr.readline())
        assert said[-1], "the viewer ended: " + "".join(said)
    yield running, port
    running.kill()
    running.communicate()


def start_viewer(port: int) -> subprocess.Popen:
    command = [sys.executable, "-m", "grouser.nodes.viewer", "--ros-args", "-p", f"port:={port}"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_page_is_served(process: tuple[subprocess.Popen, int]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", process[1], timeout=DEADLINE)
    connection.request("GET", "/")
    answer = connection.getresponse()
    assert answer.status == 200
    assert b"<html" in gzip.decompress(answer.read())


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_viewer_stops_with_an_open_page(process: tuple[subprocess.Popen, int], stop: signal.Signals) -> None:
    running, port = process
    with connect(f"ws://127.0.0.1:{port}/view", subprotocols=[f"viser-v{viser.__version__}"]) as page:
        page.recv(timeout=DEADLINE)
        running.send_signal(stop)
        _, errors = running.communicate(timeout=DEADLINE)
    assert running.returncode == 0
    assert not errors


@pytest.mark.parametrize("package", ["viser", "trimesh"])
def test_a_missing_package_is_named(package: str) -> None:
    """A loaded module of None makes Python treat a package as not installed."""
    code = f"import sys; sys.modules['{package}'] = None; from grouser.nodes.viewer.node import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=DEADLINE)
    assert done.returncode == 2, done.stderr
    assert f"viewer: the Python package {package} is not installed: pip install {package}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_taken_port_is_named() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        running = start_viewer(port)
        _, errors = running.communicate(timeout=DEADLINE)
    assert running.returncode == 2
    assert f"port = {port}" in errors and "Address already in use" in errors and "Traceback" not in errors


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with running_browser(tmp_path / "profile", "the picture that a browser shows") as browser:
        yield browser


def redness(picture: np.ndarray) -> np.ndarray:
    red, green, blue = np.moveaxis(picture, -1, 0)
    return (red > 120) & (green < 0.5 * red) & (blue < 0.5 * red)


def magenta(picture: np.ndarray) -> np.ndarray:
    red, green, blue = np.moveaxis(picture, -1, 0)
    return (red > 100) & (blue > 0.5 * red) & (green < 0.5 * red)


def ground(picture: np.ndarray) -> np.ndarray:
    red, green, blue = np.moveaxis(picture, -1, 0)
    return (red > 190) & (red >= green) & (green > blue) & (red - blue < 30)


@pytest.mark.slow
def test_the_picture(theatre: Theatre, process: tuple[subprocess.Popen, int], browser: Browser, tmp_path: Path) -> None:
    """The page shows the ground, then the red machine with its arrow, and goes with it; seen through Chromium."""
    _, port = process

    def shows(share: Callable[[np.ndarray], np.ndarray], least: float, name: str) -> Callable[[], bool]:
        return lambda: bool(share(tab.picture(tmp_path / f"{name}.png")).mean() > least)

    tab = browser.open(f"http://127.0.0.1:{port}/view/")
    # The scene alone: panels and notices of the page have colours of their own.
    hide = "body * { visibility: hidden } canvas { visibility: visible !important }"
    tab.run(f"document.head.appendChild(document.createElement('style')).textContent = '{hide}'")
    theatre.wait_for(shows(ground, 0.2, "empty"), "the ground")
    empty = tab.picture(tmp_path / "empty.png")
    assert not redness(empty).any() and not magenta(empty).any()

    theatre.stage.place("base_link", "odom", (0, 0, 0))
    theatre.stage.describe(MACHINE)
    theatre.wait_for(shows(redness, 0.03, "machine"), "the red box")
    mixed = magenta(tab.picture(tmp_path / "machine.png"))  # where red and blue meet

    theatre.stage.forces = {"base_link": (0.0, 0.0, 1000.0)}
    theatre.wait_for(shows(lambda picture: magenta(picture) & ~mixed, 0.002, "force"), "the arrow of the contact force")

    theatre.stage.forces = {"base_link": (0.0, 0.0, 0.0)}
    theatre.wait_for(
        lambda: (magenta(tab.picture(tmp_path / "light.png")) & ~mixed).mean() < 0.0005, "no arrow without a force"
    )
    theatre.stage.place("base_link", "odom", (30, 0, 0))
    theatre.stage.forces = {"base_link": (0.0, 0.0, 1000.0)}
    theatre.wait_for(
        shows(lambda picture: magenta(picture) & ~mixed, 0.002, "followed"),
        "the arrow 30 m away, where the camera follows",
    )
