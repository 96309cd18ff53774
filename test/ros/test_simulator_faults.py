"""Faults as parameters of the simulator node, set while it runs, and the service that clears them."""

import math

import pytest
from control_msgs.msg import DynamicInterfaceGroupValues
from patience import DEADLINE
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from grouser.nodes.simulator.node import SimulatorNode
from grouser.physics.base.errors import GrouserError


class Faults:
    """A client that sets a simulator's parameters."""

    def __init__(self, peer):
        self._peer = peer
        self._client = AsyncParameterClient(peer.node, "simulator")
        assert self._client.wait_for_services(DEADLINE)

    def set(self, **values):
        """Sets parameters, `__` for a dot; returns whether each was accepted, and the reason if not."""
        changes = [Parameter(f"faults.{name.replace('__', '.')}", value=value) for name, value in values.items()]
        answered = []
        self._client.set_parameters(changes, callback=answered.append)
        self._peer.wait_for(lambda: answered, "an answer")
        return answered[0].result().results

    def get(self, *names):
        answered = []
        self._client.get_parameters([f"faults.{name}" for name in names], callback=answered.append)
        self._peer.wait_for(lambda: answered, "an answer")
        return [value.bool_value if value.type == 1 else value.double_value for value in answered[0].result().values]


def value(message, interface):
    values = message.interface_values[0]
    return dict(zip(values.interface_names, values.values, strict=True))[interface]


@pytest.fixture
def hydraulics(peer):
    return peer.hear(DynamicInterfaceGroupValues, "hydraulics/state")


def test_a_stuck_spool_stays_until_the_faults_are_cleared(peer, start_simulator, hydraulics):
    start_simulator(command_timeout=0.0)
    faults = Faults(peer)
    peer.say("valve_commands_array", Float64MultiArray(data=[0.4]))
    hydraulics.wait(lambda message: value(message, "spool_position") > 0.39, "the spool open")
    assert [result.successful for result in faults.set(boom_valve__stuck_spool=True)] == [True]
    hydraulics.wait()
    stuck = value(hydraulics.wait(), "spool_position")
    peer.say("valve_commands_array", Float64MultiArray(data=[0.0]))
    begun = hydraulics.wait().header.stamp.sec
    later = hydraulics.wait(lambda message: message.header.stamp.sec > begun + 1, "a second later")
    assert value(later, "spool_position") == stuck
    # a reset puts the machine back, the fault stays
    assert peer.ask(Trigger, "/simulator/reset", Trigger.Request()).success
    assert faults.get("boom_valve.stuck_spool") == [True]
    response = peer.ask(Trigger, "/simulator/clear_faults", Trigger.Request())
    assert response.success
    assert response.message == "faults.boom_valve.stuck_spool"
    assert faults.get("boom_valve.stuck_spool") == [False]
    peer.say("valve_commands_array", Float64MultiArray(data=[-0.3]))
    hydraulics.wait(lambda message: value(message, "spool_position") < -0.29, "the spool moving again")
    assert peer.ask(Trigger, "/simulator/clear_faults", Trigger.Request()).message == "all was well"


def test_sensor_offset_is_published_and_faults_can_be_set_at_the_start(peer, start_simulator, hydraulics):
    start_simulator(**{"faults.boom_cylinder.sensor_offset_piston_side": 5e7})
    hydraulics.wait(lambda message: value(message, "pressure_piston_side") > 5e7, "the offset")
    assert peer.ask(Trigger, "/simulator/clear_faults", Trigger.Request()).success
    hydraulics.wait(lambda message: value(message, "pressure_piston_side") < 5e7, "the pressure itself")


def test_a_burst_line_drops_the_boom(peer, start_simulator):
    states = peer.hear(JointState, "joint_states")
    start_simulator(command_timeout=0.0)
    start = states.wait().position[0]
    peer.say("valve_commands_array", Float64MultiArray(data=[0.3]))
    states.wait(lambda message: message.position[0] > start + 0.05, "the boom rising")
    # 1 cm2; the valve is open by 0.06 cm2
    assert Faults(peer).set(boom_valve__a__burst=1e-4)[0].successful
    states.wait(lambda message: message.position[0] < start - 0.05, "the boom falling")


def test_bad_values_are_refused_with_a_reason(peer, start_simulator):
    start_simulator(start_paused=True)
    faults = Faults(peer)
    bad = faults.set(
        boom_valve__stuck_spool=0.5,
        boom_valve__slow_spool=1.0,
        boom_cylinder__worn_seal=-1e-12,
        oil__entrained_air=math.nan,
        boom_valve__slow=0.5,
        bom_valve__slow_spool=0.5,
    )
    assert [result.successful for result in bad] == [False] * 6
    assert all(result.reason for result in bad)
    assert faults.set(boom_valve__slow_spool=0.5)[0].successful
    assert faults.get("boom_valve.slow_spool", "boom_valve.stuck_spool") == [0.5, False]


def test_plain_scheme_refuses_unsupported_faults(peer, start_simulator):
    start_simulator(scheme="semi_implicit", start_paused=True)
    faults = Faults(peer)
    (refusal,) = faults.set(boom_cylinder__worn_seal=1e-12)
    assert not refusal.successful
    assert "scheme 'semi_implicit' does not support this fault" in refusal.reason
    assert faults.set(boom_valve__slow_spool=0.5)[0].successful


@pytest.mark.parametrize("value", [2e-9, "much"])
def test_invalid_fault_at_the_start_is_bad_input(ros, loader_file, value):
    overrides = [
        Parameter("machine", value=str(loader_file)),
        Parameter("faults.boom_cylinder.worn_seal", value=value),
    ]
    with pytest.raises(GrouserError, match=r"faults\.boom_cylinder\.worn_seal"):
        SimulatorNode(overrides)
