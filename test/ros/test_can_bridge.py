"""CAN bridges beside a simulator: joysticks dig with the excavator; frames of a ROS driver."""

import can
import cantools
import numpy as np
import pytest
from bridge_bench import SHIPPED, Bench, shipped_file, shipped_mapping
from can_msgs.msg import Frame
from diagnostic_msgs.msg import DiagnosticArray
from patience import wait_until
from player import Player
from sensor_msgs.msg import JointState
from serial_cable import SerialCable

from grouser.bridges.link import LinkState
from grouser.nodes.bridges.can_topics import FROM_BUS, TO_BUS, TopicBus
from grouser.nodes.shared import topics

NEUTRAL = "01000100FF0000FF"  # a joystick message: both axes in neutral
LEFT_HALF = "047D0100FF0000FF"  # x -0.5


@pytest.fixture
def cable(tmp_path):
    cable = SerialCable(tmp_path)
    yield cable
    cable.close()


def joint(message: JointState, name: str) -> tuple[float, float]:
    """Position and velocity."""
    place = list(message.name).index(name)
    return message.position[place], message.velocity[place]


def test_joysticks_dig_with_the_excavator(peer, launch, tmp_path, cable):
    file = shipped_file(
        tmp_path,
        "excavator_j1939.yaml",
        interface="slcan",
        channel=str(cable.path("left")),
        options={"sleep_after_open": 0.01, "timeout": 0.02},
    )
    states = peer.hear(DiagnosticArray, "can_bridge/state", topics.LATCHED)
    joints = peer.hear(JointState, "joint_states")
    launch("grouser.nodes.simulator", "--ros-args", "-p", "machine:=excavator")
    launch("grouser.nodes.bridges.can_bridge", "--ros-args", "-p", f"mapping:={file}")
    begin = joints.first("the excavator")
    player = Player("can_player.py", "slcan", cable.path("right"))
    try:

        def wait_link(name, word, since=0):
            def says(message):
                return any(s.name == f"can_bridge: {name}" and s.message.startswith(word) for s in message.status)

            states.wait(says, f"{name} is {word}", since)

        wait_link("left_stick", "live")
        wait_link("right_stick", "live")
        mark = states.mark()

        def wait_moves(since, **directions):
            for name, direction in directions.items():
                before = joint(since, name)[0]

                def has_moved(m, name=name, before=before, direction=direction):
                    return direction * (joint(m, name)[0] - before) > 0.15

                joints.wait(has_moved, f"{name} moves")

        # Right and ahead are positive on J1939. First reach out of the folded pose: boom up, stick away, bucket out;
        # then dig: stick and bucket in.
        player.tell(left=[0.0, 0.5], right=[0.6, -0.6])
        wait_moves(begin, boom=1, stick=1, bucket=1)
        out = joints.wait(lambda m: True)
        player.tell(left=[0.0, -0.5], right=[-0.6, 0.0])
        wait_moves(out, stick=-1, bucket=-1)
        player.tell(right="error")
        wait_link("right_stick", "stale", mark)
        joints.wait(lambda m: abs(joint(m, "boom")[1]) < 0.01 and abs(joint(m, "bucket")[1]) < 0.01, "the boom stands")
        player.tell(right=None, left=None)
        wait_link("left_stick", "stale", mark)
        joints.wait(lambda m: abs(joint(m, "stick")[1]) < 0.01, "the stick stands")
        # What the bridge says on the bus is where the joints are.
        stands = joints.wait(lambda m: True)
        said = player.wait_for("18FF1080#", len(player.lines))
        fields = cantools.database.load_file(SHIPPED / "excavator.dbc").get_message_by_name("ArmAngles")
        angles = fields.decode(bytes.fromhex(said.split("#")[1]))
        for name in ("boom", "stick", "bucket"):
            assert angles[f"{name.capitalize()}Angle"] == pytest.approx(np.degrees(joint(stands, name)[0]), abs=0.5)
    finally:
        player.end()


def frame_of(identifier: int, data: str) -> Frame:
    content = list(bytes.fromhex(data))
    return Frame(id=identifier, is_extended=True, dlc=len(content), data=content + [0] * (8 - len(content)))


def test_frames_of_a_ros_driver_command_the_machine(peer, tmp_path):
    bench = Bench(shipped_mapping(tmp_path, "excavator_j1939.yaml", interface="ros2", channel="vehicle"))
    try:
        sent = peer.hear(Frame, f"vehicle/{TO_BUS}")
        bench.wait_open()
        publisher = peer.publisher(Frame, f"vehicle/{FROM_BUS}")

        def say_until(data, condition):
            def step():
                publisher.publish(frame_of(0x0CFDD633, data))
                return condition()

            wait_until(step, "the bridge reacts")

        say_until(NEUTRAL, lambda: bench.states["left_stick"] is LinkState.LIVE)
        say_until(LEFT_HALF, lambda: bench.plant.now["valve/swing_valve"] == 0.5)
        bench.plant.measured = {f"joint/{name}/position": 0.0 for name in ("boom", "stick", "bucket", "swing")}
        angles = sent.wait_ever(lambda m: m.id == 0x18FF1080 and bytes(m.data) == 4 * b"\xa8\x61", "angles of zero")
        assert (angles.is_extended, angles.is_rtr, angles.dlc) == (True, False, 8)
        error = Frame(id=0x40, is_error=True, dlc=8)
        publisher.publish(error)  # bus-off, as SocketCAN says it
        bench.wait_open(2)
        assert bench.reasons["left_stick"] == "bus-off"
    finally:
        bench.runner.stop()


def test_a_bus_of_topics_is_one_of_python_can(peer):
    with TopicBus("bus") as bus, pytest.raises(can.CanOperationError, match="12 bytes: can_msgs/Frame has up to 8"):
        bus.send(can.Message(arbitration_id=1, is_fd=True, data=bytes(12)))
    with TopicBus() as bus:
        heard = peer.hear(Frame, TO_BUS)
        wait_until(lambda: peer.node.count_subscribers(TO_BUS) and peer.node.count_publishers(TO_BUS), "the topic")
        publisher = peer.publisher(Frame, FROM_BUS)
        publisher.publish(Frame(id=0x123, dlc=2, data=[1, 2, 0, 0, 0, 0, 0, 0]))
        publisher.publish(Frame(id=0x124, is_rtr=True, dlc=4))
        publisher.publish(Frame(id=0x125, dlc=200))  # more than a frame has
        received = [bus.recv(60.0) for _ in range(3)]
        assert [(m.arbitration_id, m.is_extended_id, bytes(m.data), m.is_remote_frame) for m in received] == [
            (0x123, False, b"\x01\x02", False),
            (0x124, False, b"", True),
            (0x125, False, bytes(8), False),
        ]
        assert bus.recv(0.0) is None

        def say():
            bus.send(can.Message(arbitration_id=0x321, is_extended_id=False, data=b"\x07"))
            return heard.all()

        wait_until(say, "a frame")
        assert (heard.all()[0].id, heard.all()[0].dlc, heard.all()[0].data[0]) == (0x321, 1, 7)
