"""Contacts on ROS 2: markers, and the message of Gazebo's bridge where its package is installed."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from patience import DEADLINE
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker, MarkerArray

import grouser
from grouser.nodes.simulator.contact_messages import FORCES, NORMALS, POINTS, ContactMarkers

ROOT = Path(__file__).resolve().parents[2]
STEP = 1_000_000  # [ns]
STEPS = 600
# Field lists of ros_gz_interfaces 1.0 (Jazzy), as far as contacts need them.
DEFINITIONS = {
    "Contacts": "std_msgs/Header header\nros_gz_interfaces/Contact[] contacts\n",
    "Contact": "ros_gz_interfaces/Entity collision1\nros_gz_interfaces/Entity collision2\n"
    "geometry_msgs/Vector3[] positions\ngeometry_msgs/Vector3[] normals\nfloat64[] depths\n"
    "ros_gz_interfaces/JointWrench[] wrenches\n",
    "Entity": "uint8 NONE = 0\nuint8 LIGHT = 1\nuint8 MODEL = 2\nuint8 LINK = 3\nuint8 VISUAL = 4\n"
    "uint8 COLLISION = 5\nuint8 SENSOR = 6\nuint8 JOINT = 7\nuint64 id\nstring name\nuint8 type\n",
    "JointWrench": "std_msgs/Header header\nstd_msgs/String body_1_name\nstd_msgs/UInt32 body_1_id\n"
    "std_msgs/String body_2_name\nstd_msgs/UInt32 body_2_id\n"
    "geometry_msgs/Wrench body_1_wrench\ngeometry_msgs/Wrench body_2_wrench\n",
}
# Runs where these are installed: a simulator, and a subscriber.
LISTENER = """
import sys
import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from ros_gz_interfaces.msg import Contacts, Entity
from std_srvs.srv import Trigger
import grouser
from grouser.nodes.simulator.node import SimulatorNode, spinning

machine, steps = sys.argv[1], int(sys.argv[2])
rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
values = {"machine": machine, "start_paused": True, "step_request_count": steps}
listener, heard = Node("listener"), []
listener.create_subscription(Contacts, "contacts", heard.append, rclpy.qos.qos_profile_sensor_data)
with spinning(SimulatorNode([Parameter(name, value=value) for name, value in values.items()])) as node:
    assert node.built.wait() and node.error is None
    while not listener.get_publishers_info_by_topic("/contacts"):
        rclpy.spin_once(listener, timeout_sec=0.1)
    (publisher,) = listener.get_publishers_info_by_topic("/contacts")
    assert publisher.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT
    client = listener.create_client(Trigger, "/simulator/step")
    assert client.wait_for_service()
    future = client.call_async(Trigger.Request())
    stamp = lambda message: message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
    while not any(stamp(message) == steps * 1_000_000 for message in heard):
        rclpy.spin_once(listener, timeout_sec=1.0)
rclpy.try_shutdown()
last = next(message for message in heard if stamp(message) == steps * 1_000_000)
assert all(stamp(message) % 10_000_000 == 0 for message in heard)
assert last.header.frame_id == "map"

simulation = grouser.Simulation(grouser.load_machine(machine), grouser.World(), step=0.001)
simulation.step(steps)
contacts = [contact for contact in simulation.contacts() if contact.force_world.any()]
assert {contact.link for contact in contacts} == {"chassis"} and len(contacts) >= 3
(entry,) = last.contacts
assert (entry.collision1.name, entry.collision1.type) == ("chassis", Entity.LINK)
assert (entry.collision2.name, entry.collision2.type) == ("ground", Entity.MODEL)
vectors = lambda items: np.array([[item.x, item.y, item.z] for item in items])
np.testing.assert_array_equal(vectors(entry.positions), [contact.point_world for contact in contacts])
np.testing.assert_array_equal(vectors(entry.normals), [contact.normal_world for contact in contacts])
np.testing.assert_array_equal(entry.depths, [contact.depth for contact in contacts])
forces = [contact.force_world for contact in contacts]
np.testing.assert_array_equal(vectors(wrench.body_1_wrench.force for wrench in entry.wrenches), forces)
np.testing.assert_array_equal(vectors(wrench.body_2_wrench.force for wrench in entry.wrenches), np.negative(forces))
assert {(w.body_1_name.data, w.body_2_name.data) for w in entry.wrenches} == {("chassis", "ground")}
print("heard", len(heard))
"""


def nanoseconds(message):
    return message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec


def at(point):
    return np.array([point.x, point.y, point.z])


def test_markers_show_points_normals_and_forces_at_the_machine(peer, start_simulator, loader_file):
    start_simulator(start_paused=True, step_request_count=STEPS)
    inbox = peer.hear(MarkerArray, "contact_markers", 100)
    peer.wait_for(lambda: peer.node.get_publishers_info_by_topic("/contact_markers"), "/contact_markers")
    (publisher,) = peer.node.get_publishers_info_by_topic("/contact_markers")
    assert publisher.qos_profile.reliability == ReliabilityPolicy.RELIABLE
    assert publisher.qos_profile.durability == DurabilityPolicy.VOLATILE
    assert peer.ask(Trigger, "/simulator/step", Trigger.Request()).success
    end = lambda message: message.markers and nanoseconds(message.markers[0]) == STEPS * STEP  # noqa: E731
    message = inbox.wait_ever(end, "the markers of the last step")
    times = [nanoseconds(item.markers[0]) for item in inbox.all() if item.markers]
    assert set(np.diff(np.unique(times))) == {100 * STEP}

    simulation = grouser.Simulation(grouser.load_machine(loader_file), grouser.World(), step=0.001)
    simulation.step(STEPS)
    position, _ = simulation.base_pose()
    contacts = [contact for contact in simulation.contacts() if contact.force_world.any()]
    shown = [marker for marker in message.markers if marker.action == Marker.ADD]
    assert {marker.header.frame_id for marker in message.markers} == {"chassis"}
    groups = {group: [marker for marker in shown if marker.ns == group] for group in (POINTS, NORMALS, FORCES)}
    (points,), (normals,) = groups[POINTS], groups[NORMALS]
    assert (points.type, normals.type) == (Marker.SPHERE_LIST, Marker.LINE_LIST)
    assert len(groups[FORCES]) == len(points.points) == len(contacts) > 2
    # the chassis is level to a few microradians: its axes are those of the world
    places = [contact.point_world - position for contact in contacts]
    np.testing.assert_allclose([at(point) for point in points.points], places, atol=1e-5)
    lines = np.array([at(point) for point in normals.points]).reshape(-1, 2, 3)
    np.testing.assert_allclose(lines[:, 1] - lines[:, 0], [[0.0, 0.0, 0.1]] * len(contacts), atol=1e-5)
    arrows = np.array([[at(point) for point in marker.points] for marker in groups[FORCES]])
    weight = 9.81 * sum(link.inertial.mass for link in simulation.machine.links if link.inertial)
    along = [contact.force_world / weight for contact in contacts]
    np.testing.assert_allclose(arrows[:, 1] - arrows[:, 0], along, atol=1e-5)
    assert all(marker.type == Marker.ARROW for marker in groups[FORCES])


def test_markers_of_ended_contacts_are_deleted(loader_file):
    """One contact fewer, then none."""
    simulation = grouser.Simulation(grouser.load_machine(loader_file), grouser.World(), step=0.001)
    simulation.step(STEPS)
    contacts = [contact for contact in simulation.contacts() if contact.force_world.any()]
    root = np.concatenate(simulation.base_pose())
    drawn = ContactMarkers("chassis", 1e-3)

    def actions(some):
        markers = drawn.message(5, some, root).markers
        assert {(marker.header.frame_id, marker.header.stamp.nanosec) for marker in markers} <= {("chassis", 5)}
        return {(marker.ns, marker.id): marker.action for marker in markers}

    first = actions(contacts)
    assert set(first.values()) == {Marker.ADD}
    assert (FORCES, len(contacts) - 1) in first
    fewer = actions(contacts[:-1])
    assert fewer == {**first, (FORCES, len(contacts) - 1): Marker.DELETE}
    del fewer[(FORCES, len(contacts) - 1)]
    assert actions([]) == dict.fromkeys(fewer, Marker.DELETE)
    assert actions([]) == {}


def test_contacts_need_ros_gz_interfaces(peer, start_simulator):
    if _installed():
        pytest.skip("ros_gz_interfaces is installed")
    start_simulator(start_paused=True)
    peer.wait_for(lambda: peer.node.get_publishers_info_by_topic("/contact_markers"), "/contact_markers")
    assert not peer.node.get_publishers_info_by_topic("/contacts")


@pytest.mark.slow
def test_contacts_are_published_with_ros_gz_interfaces(tmp_path, compiled, loader_file):
    """Builds the package into a folder of its own, and runs a simulator with it."""
    environment = dict(os.environ)
    if not _installed():
        folder, prefix = tmp_path / "definitions" / "ros_gz_interfaces" / "msg", tmp_path / "prefix"
        if not (Path(sys.prefix) / "share" / "rosidl_generator_c").is_dir():
            pytest.skip("not tested: contacts for Gazebo's bridge; ros_gz_interfaces cannot be built here")
        folder.mkdir(parents=True)
        for name, text in DEFINITIONS.items():
            (folder / f"{name}.msg").write_text(text)
        builder = [sys.executable, str(ROOT / "tooling" / "build_interfaces.py")]
        subprocess.run([*builder, "--definitions", str(folder.parents[1]), "--prefix", str(prefix)], check=True)
        (packages,) = prefix.glob("lib/python3.*/site-packages")
        for variable, path in (("PYTHONPATH", packages), ("LD_LIBRARY_PATH", prefix / "lib")):
            environment[variable] = f"{path}:{environment.get(variable, '')}"
    command = [sys.executable, "-c", LISTENER, str(loader_file), str(STEPS)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=DEADLINE)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout.split()[-1]) > 1


def _installed():
    try:
        import ros_gz_interfaces.msg  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True
