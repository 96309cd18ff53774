"""The lifecycle of the simulator node, as a lifecycle manager sees it."""

import threading

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from patience import DEADLINE
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.parameter import Parameter
from rclpy.waitable import NumberOfEntities, Waitable
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from grouser.nodes.shared import topics
from grouser.nodes.simulator.node import SimulatorNode, spinning
from grouser.physics.base.errors import GrouserError


class Manager:
    """Asks the node for transitions."""

    def __init__(self, peer):
        self._peer = peer

    def change(self, transition):
        request = ChangeState.Request(transition=Transition(id=transition))
        return self._peer.ask(ChangeState, "/simulator/change_state", request).success

    @property
    def state(self):
        return self._peer.ask(GetState, "/simulator/get_state", GetState.Request()).current_state.id

    def set(self, name, value):
        (result,) = self._peer.set_parameters(Parameter(name, value=value))
        return result


@pytest.fixture
def manager(peer):
    return Manager(peer)


@pytest.fixture
def waiting(ros, compiled, loader_file):
    """An unconfigured node."""
    ended = threading.Event()
    values = {"machine": str(loader_file), "autostart": False}
    node = SimulatorNode([Parameter(name, value=value) for name, value in values.items()], ended)
    with spinning(node):
        yield node, ended


def test_destroyed_node_leaves_the_graph_despite_references(peer, start_simulator, loader_file):
    """Otherwise the next node of the same name shares its log, which is destroyed with the first."""

    def names():
        return peer.node.get_node_names()

    for wrong in ({"machine": "nowhere.urdf"}, {"machine": str(loader_file), "step": -1.0}):
        with pytest.raises(GrouserError) as remembered:
            SimulatorNode([Parameter(name, value=value) for name, value in wrong.items()])
        peer.wait_for(lambda: "simulator" not in names(), f"the end of the node with {wrong}: {remembered.value}")
    node = SimulatorNode([Parameter("machine", value=str(loader_file))])
    with spinning(node):
        peer.wait_for(lambda: "simulator" in names(), "the node")
    peer.wait_for(lambda: "simulator" not in names(), "the end of the node")
    assert node.machine.name == "loader"


def test_lifecycle_passes_through_all_states(peer, manager, waiting):
    said = peer.hear(DiagnosticArray, topics.DIAGNOSTICS)
    assert manager.state == State.PRIMARY_STATE_UNCONFIGURED
    said.wait(lambda message: message.status[0].message == "not configured", "that it is not configured")
    assert peer.node.count_publishers("joint_states") == 0
    assert not peer.ask(SetBool, "/simulator/pause", SetBool.Request(data=True)).success

    assert manager.change(Transition.TRANSITION_CONFIGURE)
    assert manager.state == State.PRIMARY_STATE_INACTIVE
    assert "loader" in peer.hear(String, "robot_description", topics.LATCHED).first().data
    states, clock = peer.hear(JointState, "joint_states"), peer.hear(Clock, topics.CLOCK, topics.CLOCK_QUALITY)
    said.wait(lambda message: message.status[0].message == "inactive", "that it is inactive")
    answer = peer.ask(Trigger, "/simulator/step", Trigger.Request())
    assert (answer.success, answer.message) == (False, "the simulator is not active")
    assert not states.all()
    assert not clock.all()

    assert manager.change(Transition.TRANSITION_ACTIVATE)
    assert manager.state == State.PRIMARY_STATE_ACTIVE
    states.collect(3)
    clock.collect(3)

    assert manager.change(Transition.TRANSITION_DEACTIVATE)
    stood_at = waiting[0].report.time
    said.wait(lambda message: message.status[0].message == "inactive", "that it is inactive again")
    assert waiting[0].report.time == stood_at > 0.0

    assert manager.change(Transition.TRANSITION_ACTIVATE)
    after = [message.clock.sec + 1e-9 * message.clock.nanosec for message in clock.all()]
    states.collect(len(states.all()) + 3)
    assert sorted(after) == after

    assert manager.change(Transition.TRANSITION_DEACTIVATE)
    assert manager.change(Transition.TRANSITION_CLEANUP)
    assert manager.state == State.PRIMARY_STATE_UNCONFIGURED
    peer.wait_for(lambda: peer.node.count_publishers("joint_states") == 0, "joint_states to go")


def test_another_machine_after_a_cleanup(peer, manager, waiting, linkage_file):
    assert manager.change(Transition.TRANSITION_CONFIGURE)
    refused = manager.set("machine", str(linkage_file))
    assert not refused.successful
    assert refused.reason == "machine can be set only while the simulator is not configured"
    assert manager.change(Transition.TRANSITION_CLEANUP)
    assert manager.set("machine", str(linkage_file)).successful
    assert manager.change(Transition.TRANSITION_CONFIGURE)
    assert manager.change(Transition.TRANSITION_ACTIVATE)
    names = {joint.name for joint in waiting[0].machine.joints}
    assert set(peer.hear(JointState, "joint_states").first().name) <= names


def test_missing_machine_file_fails_the_transition_only(peer, manager, waiting, loader_file):
    _, ended = waiting
    assert manager.set("machine", "/nowhere.urdf").successful
    assert not manager.change(Transition.TRANSITION_CONFIGURE)
    assert manager.state == State.PRIMARY_STATE_UNCONFIGURED
    assert not ended.is_set()
    assert peer.node.count_publishers("joint_states") == 0
    assert manager.set("machine", str(loader_file)).successful
    assert manager.change(Transition.TRANSITION_CONFIGURE)


def test_impossible_transition_is_refused(manager, waiting):
    assert not manager.change(Transition.TRANSITION_ACTIVATE)
    assert not manager.change(99)
    assert manager.state == State.PRIMARY_STATE_UNCONFIGURED


def test_shutdown_ends_the_process(manager, waiting):
    _, ended = waiting
    assert manager.change(Transition.TRANSITION_CONFIGURE)
    assert manager.change(Transition.TRANSITION_INACTIVE_SHUTDOWN)
    assert ended.wait(DEADLINE)


def test_autostarted_node_is_active_and_can_be_configured_again(peer, manager, start_simulator):
    start_simulator()
    assert manager.state == State.PRIMARY_STATE_ACTIVE
    for _ in range(2):
        assert manager.change(Transition.TRANSITION_DEACTIVATE)
        assert manager.change(Transition.TRANSITION_CLEANUP)
        assert manager.change(Transition.TRANSITION_CONFIGURE)
        assert manager.change(Transition.TRANSITION_ACTIVATE)
        peer.hear(JointState, "joint_states").collect(3)


class Vanishing(Waitable):
    """Behaves like an entity that a cleanup destroys before another thread waits on it: rclpy raises, a few times."""

    def __init__(self):
        super().__init__(MutuallyExclusiveCallbackGroup())
        self.errors = [InvalidHandle("destroyed"), rclpy_implementation.RCLError("invalid"), InvalidHandle("destroyed")]

    def add_to_wait_set(self, wait_set):
        if self.errors:
            raise self.errors.pop()

    def get_num_entities(self):
        return NumberOfEntities()

    def is_ready(self, wait_set):
        return False


def test_executor_survives_entities_destroyed_during_its_wait(manager, waiting):
    """This happens in about one of twenty cleanups, when many clients use the node."""
    vanishing = Vanishing()
    waiting[0].add_waitable(vanishing)
    assert manager.change(Transition.TRANSITION_CONFIGURE)
    assert manager.state == State.PRIMARY_STATE_INACTIVE
    assert not vanishing.errors
