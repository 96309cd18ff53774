"""ROS 2 bags of the simulator, opened by the package rosbags: what was published, with its types."""

from pathlib import Path

import pytest
import yaml
from control_msgs.msg import DynamicInterfaceGroupValues
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message
from rosbags.interfaces import QosDurability, QosReliability
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from grouser.commands.replay import replay
from grouser.nodes.shared import topics
from grouser.recording.mcap_file import Recording

STEPS = 200
HEARD = {
    "/joint_states": (JointState, topics.RELIABLE),
    "/tf": (TFMessage, topics.TF_QUALITY),
    "/clock": (Clock, topics.CLOCK_QUALITY),
    "/hydraulics/state": (DynamicInterfaceGroupValues, topics.RELIABLE),
    "/contact_wrenches/chassis": (WrenchStamped, topics.SENSOR_DATA),
}


def stamp_of(message):
    """The stamp of a message of rosbags [ns]."""
    stamp = message.header.stamp if hasattr(message, "header") else message.clock
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def times_of(entries):
    """The moments of (time, bytes) [ns]. The last one is published again to a listener that is found after it."""
    return sorted({time for time, _ in entries})


def every(steps):
    """The moments of the run from its beginning, so many steps apart [ns]."""
    return [step * 1_000_000 for step in range(0, STEPS + 1, steps)]


@pytest.fixture
def recorded(peer, start_simulator, tmp_path):
    """A bag of some steps, its contents by topic as (time, bytes), its connections, and what was heard meanwhile."""
    folder = tmp_path / "bag"
    node = start_simulator(start_paused=True, bag=str(folder), step_request_count=STEPS)
    heard = {topic: peer.hear(kind, topic, quality) for topic, (kind, quality) in HEARD.items()}
    for topic in heard:
        peer.wait_for(lambda topic=topic: peer.node.count_publishers(topic) == 1, topic)
    end = peer.step()
    last = heard["/joint_states"].wait_ever(lambda message: message.header.stamp.nanosec == end, "the last step")
    assert last.name
    node.stop()
    node.bag.close()
    assert node.bag.problem == ""
    with Reader(folder) as reader:
        connections = {connection.topic: connection for connection in reader.connections}
        contents: dict[str, list[tuple[int, bytes]]] = {topic: [] for topic in connections}
        for connection, time, data in reader.messages():
            contents[connection.topic].append((time, bytes(data)))
    return folder, contents, connections, {topic: inbox.all() for topic, inbox in heard.items()}


def test_bag_has_what_was_published(recorded):
    """Every message that a subscriber heard, in order and in every number; the times are the stamps, without a gap.

    Bytes may differ where CDR pads, which the middleware leaves as they are in memory.
    """
    _, contents, connections, heard = recorded
    for topic in HEARD:
        kept = [deserialize_message(data, HEARD[topic][0]) for _, data in contents[topic]]
        received = heard[topic]
        following = iter(kept)
        assert all(message in following for message in received), topic
        assert len(received) > 5
        assert times_of(contents[topic]) == every(10)  # at 100 Hz, from the start on
    # decoded by the definitions in the bag alone
    for topic in ("/joint_states", "/clock", "/hydraulics/state", "/contact_wrenches/chassis"):
        store = own_types(connections[topic])
        messages = [store.deserialize_cdr(data, connections[topic].msgtype) for _, data in contents[topic]]
        assert [stamp_of(message) for message in messages] == [time for time, _ in contents[topic]]
    state = own_types(connections["/joint_states"]).deserialize_cdr(
        contents["/joint_states"][-1][1], "sensor_msgs/msg/JointState"
    )
    assert state.name == heard["/joint_states"][-1].name
    assert list(state.position) == list(heard["/joint_states"][-1].position)


def own_types(connection):
    """The types that the bag defines for a topic."""
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(connection.msgdef.data, connection.msgtype))
    return store


def test_bag_tells_types_hashes_and_quality_of_service(recorded):
    """The hash of each type follows from its definition, as rosbags computes it."""
    folder, contents, connections, _ = recorded
    for connection in connections.values():
        assert own_types(connection).hash_rihs01(connection.msgtype) == connection.digest
        assert connection.ext.serialization_format == "cdr"
    (static,) = connections["/tf_static"].ext.offered_qos_profiles
    assert (static.durability, static.reliability) == (QosDurability.TRANSIENT_LOCAL, QosReliability.RELIABLE)
    (wrench,) = connections["/contact_wrenches/chassis"].ext.offered_qos_profiles
    assert (wrench.reliability, wrench.depth) == (QosReliability.BEST_EFFORT, 5)
    metadata = yaml.safe_load((folder / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    assert (metadata["version"], metadata["storage_identifier"]) == (9, "mcap")
    assert metadata["relative_file_paths"] == ["bag_0.mcap"]
    assert metadata["message_count"] == sum(len(messages) for messages in contents.values())
    assert metadata["duration"] == {"nanoseconds": STEPS * 1_000_000}


def test_bag_counts_as_a_subscriber(recorded):
    """Markers are published on demand; nobody else asks for them."""
    _, contents, connections, _ = recorded
    assert times_of(contents["/contact_markers"]) == every(100)
    assert len(contents["/robot_description"]) == 1
    assert "/diagnostics" in connections


def test_bag_is_a_new_folder_and_none_is_left_by_a_simulator_that_does_not_start(start_simulator, tmp_path):
    from grouser.physics.base.errors import MachineError, ParameterError

    folder = tmp_path / "bag"
    with pytest.raises(MachineError, match="nowhere"):
        start_simulator(bag=str(folder), world="nowhere")
    assert not folder.exists()
    folder.mkdir()
    with pytest.raises(ParameterError, match=r"bag = .*/bag.* a new folder"):
        start_simulator(bag=str(folder))


def test_record_counts_simulated_time_and_writes_a_bag_beside_the_recording(launch, loader_file, tmp_path):
    """At a quarter of real time, the end by the wall clock would be at 0.125 s of simulated time."""
    file = tmp_path / "run.mcap"
    options = ["--machine", str(loader_file), "--no-view", "--real-time-factor", "0.25", "--duration", "0.5"]
    process = launch("grouser.cli", "record", str(file), "--bag", *options)
    output, _ = process.communicate()
    assert process.returncode in (0, 1), output  # 1 where the computer is too busy for this pace
    result = replay(Recording(file))
    assert result.difference is None and result.time >= 0.5
    with Reader(Path(tmp_path / "run_bag")) as reader:
        assert reader.start_time == 0 and reader.duration >= 500_000_000
        assert {"/joint_states", "/tf", "/clock"} <= reader.topics.keys()
