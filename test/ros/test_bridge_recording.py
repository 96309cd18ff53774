"""A recording of a run with a bridge in another process has its faults, and replays from its commands."""

import socket
import threading
from contextlib import suppress

import pytest
from control_msgs.msg import DynamicInterfaceGroupValues
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from patience import DEADLINE, wait_until
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from grouser.bridges.serial.json_lines import Line, read_line, write_line
from grouser.commands.replay import replay
from grouser.nodes.shared import topics
from grouser.nodes.shared.bridge_faults import faults_message, faults_of
from grouser.physics.base.errors import ParameterError
from grouser.recording.events import BridgeFaultsChanged, Commanded
from grouser.recording.mcap_file import Recording

PERIOD = 0.02  # [s]
MAPPING = """
version: 1
bridge: udp
machine: {machine}
interface: {{host: 127.0.0.1, port: {port}, local_port: {local_port}, form: json}}
timeout: 3.0
messages:
  - name: levers
    direction: in
    source: {{kind: 1}}
    period: 0.02
    signals:
      - {{source: boom, signal: valve/boom_valve, range: [-1, 1], safe: 0.0}}
  - name: angles
    direction: out
    target: {{kind: 2}}
    period: 0.02
    signals:
      - {{target: boom, signal: joint/boom_joint/position}}
"""


class Controller:
    """Says one command after the other, by datagrams, until it is closed."""

    def __init__(self):
        self.boom = 0.0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            self.ports = (self._socket.getsockname()[1], free.getsockname()[1])
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._say)
        self._thread.start()

    def _say(self):
        count = 0
        while not self._ending.wait(PERIOD):
            line = write_line(Line(1, count % 65536, 0, {"boom": self.boom}))
            self._socket.sendto(line, ("127.0.0.1", self.ports[1]))
            count += 1

    def hear(self, condition):
        """Waits for an angle of the boom that satisfies a condition, of those that come from now on [rad]."""
        self._socket.setblocking(False)
        with suppress(BlockingIOError):
            while self._socket.recv(4096):
                pass
        self._socket.settimeout(DEADLINE)
        while not condition(angle := read_line(self._socket.recv(4096)).signals["boom"]):
            pass
        return angle

    def close(self):
        self._ending.set()
        self._thread.join()
        self._socket.close()


@pytest.fixture
def controller():
    controller = Controller()
    yield controller
    controller.close()


def test_faults_are_in_the_recording_and_its_commands_replay(
    peer, launch, start_simulator, controller, loader_file, tmp_path
):
    mapping, record = tmp_path / "udp.yaml", tmp_path / "run.mcap"
    port, local_port = controller.ports
    mapping.write_text(MAPPING.format(machine=loader_file, port=port, local_port=local_port))
    bridge = launch(
        *("grouser.nodes.bridges.serial_bridge", "--ros-args", "-p", f"mapping:={mapping}"),
        *("-p", "faults.delay:=0.005"),
    )
    states = peer.hear(DiagnosticArray, "serial_bridge/state", topics.LATCHED)
    states.first("the bridge")  # its fault was there before the simulator is
    node = start_simulator(record=str(record))
    joints = peer.hear(JointState, "joint_states")
    place = list(joints.first().name).index("boom_joint")
    spools = peer.hear(DynamicInterfaceGroupValues, topics.HYDRAULICS)

    def spool_of(message):
        entry = message.interface_values[0]
        return entry.values[list(entry.interface_names).index("spool_position")]

    def live(message):
        return any(one.name == "serial_bridge: levers" and one.message == "live" for one in message.status)

    states.wait_ever(live, "a live link")

    def set_fault(name, value):
        mark = news.mark()
        request = SetParameters.Request(parameters=[Parameter(f"faults.{name}", value=value).to_parameter_msg()])
        assert peer.ask(SetParameters, "serial_bridge/set_parameters", request).results[0].successful
        news.wait(lambda m: name in [pair.key for pair in m.status[0].values], f"news of {name}", mark)

    news = peer.hear(DiagnosticArray, topics.BRIDGE_FAULTS, topics.LATCHED)
    controller.boom = -0.5
    joints.wait(lambda m: abs(m.velocity[place]) > 0.02, "the boom moves")
    set_fault("loss", 0.25)
    set_fault("joint.boom_joint.position.sensor_offset", 0.125)
    mark = states.mark()
    set_fault("bus_off", True)
    states.wait(lambda m: not live(m), "a link that is silent", mark)
    # not the boom, which may stand at the end of its stroke before the safe state is commanded
    spools.wait(lambda m: abs(spool_of(m)) < 1e-3, "the valve in its safe state")
    mark = news.mark()
    assert peer.ask(Trigger, "serial_bridge/clear_faults", Trigger.Request()).success
    news.wait(lambda m: not m.status[0].values, "that all is well", mark)
    controller.boom = 0.0
    states.wait(live, "a live link again", states.mark() - 1)
    controller.boom = 0.25
    joints.wait(lambda m: abs(m.velocity[place]) > 0.01, "the boom moves again")
    assert peer.ask(SetBool, "/simulator/pause", SetBool.Request(data=True)).success
    end = node.report.time
    node.stop()
    bridge.terminate()
    bridge.communicate()

    recording = Recording(record)
    events = list(recording.events())
    faults = [event for event in events if isinstance(event, BridgeFaultsChanged)]
    assert {(one.machine, one.bridge) for one in faults} == {("", "/serial_bridge")}
    offset = {"joint.boom_joint.position.sensor_offset": 0.125}
    at_first = {"delay": 0.005}
    assert [one.faults for one in faults] == [
        at_first,
        at_first | {"loss": 0.25},
        at_first | {"loss": 0.25} | offset,
        at_first | {"loss": 0.25} | offset | {"bus_off": True},
        {},
    ]
    before_the_end = events[: events.index(faults[4])]
    last = [one for one in before_the_end if isinstance(one, Commanded) and "boom_valve" in one.values][-1]
    assert last.values["boom_valve"] == 0.0  # the safe state is what bus-off commands
    assert {one.values["boom_valve"] for one in events if isinstance(one, Commanded)} >= {-0.5, 0.0, 0.25}
    result = replay(Recording(record))
    assert result.difference is None
    assert result.time == pytest.approx(end)


def test_a_bridge_in_the_simulators_process_replays_too(peer, launch, compiled, controller, loader_file, tmp_path):
    mapping, record = tmp_path / "udp.yaml", tmp_path / "run.mcap"
    port, local_port = controller.ports
    mapping.write_text(MAPPING.format(machine=loader_file, port=port, local_port=local_port))
    process = launch(
        *("grouser.nodes.composed", "simulator", "serial_bridge", "--ros-args"),
        *("-p", f"simulator:machine:={loader_file}", "-p", f"simulator:record:={record}"),
        *("-p", f"serial_bridge:mapping:={mapping}", "-p", "serial_bridge:faults.duplicate:=0.5"),
    )
    states = peer.hear(DiagnosticArray, "serial_bridge/state", topics.LATCHED)
    joints = peer.hear(JointState, "joint_states")
    place = list(joints.first("the machine").name).index("boom_joint")
    states.wait_ever(lambda m: any(one.message == "live" for one in m.status), "a live link")
    assert not peer.node.count_publishers(topics.VALVE_COMMANDS)
    controller.boom = -0.5
    moving = joints.wait(lambda m: abs(m.velocity[place]) > 0.02, "the boom moves").position[place]
    controller.boom = 0.0
    joints.wait(lambda m: abs(m.velocity[place]) < 1e-3, "the boom stands")
    angle = controller.hear(lambda angle: abs(angle - moving) < 1.0)
    assert angle == pytest.approx(joints.wait().position[place], abs=0.01)
    process.terminate()
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, output
    assert "directly to the simulation in this process" in output
    events = list(Recording(record).events())
    assert [one.faults for one in events if isinstance(one, BridgeFaultsChanged)] == [{"duplicate": 0.5}]
    assert {one.values["boom_valve"] for one in events if isinstance(one, Commanded)} == {0.0, -0.5}
    assert replay(Recording(record)).difference is None


def test_faults_survive_their_message():
    faults = {"stale_stick": True, "loss": 0.1, "hydraulics.boom_cylinder.force.sensor_offset": -3.5e4}
    assert faults_of(faults_message("/left/can_bridge", faults, 5)) == {"/left/can_bridge": faults}


@pytest.mark.parametrize("value", ["NaN", "Infinity", "[1]", '"much"', "", "1e999", "null", 2000 * "["])
def test_a_fault_without_a_number_is_refused(value):
    message = DiagnosticArray(status=[DiagnosticStatus(name="/b", values=[KeyValue(key="loss", value=value)])])
    with pytest.raises(ParameterError, match="loss = .* is not valid: true, false or a finite number"):
        faults_of(message)


def test_a_message_of_nonsense_does_not_end_the_recording(peer, start_simulator, tmp_path):
    record = tmp_path / "run.mcap"
    node = start_simulator(record=str(record))
    wrong = DiagnosticArray(status=[DiagnosticStatus(name="/b", values=[KeyValue(key="loss", value="NaN")])])
    peer.say(topics.BRIDGE_FAULTS, wrong, topics.LATCHED)
    wait_until(lambda: node.refused_commands == 1, "the refusal")
    peer.say(topics.BRIDGE_FAULTS, faults_message("/b", {"loss": 0.5}, 0), topics.LATCHED)

    def noted():
        return [one for one in Recording(record).events() if isinstance(one, BridgeFaultsChanged)]

    wait_until(noted, "the faults in the file")
    assert peer.ask(SetBool, "/simulator/pause", SetBool.Request(data=True)).success
    node.stop()
    assert [one.faults for one in noted()] == [{"loss": 0.5}]
    assert replay(Recording(record)).difference is None
