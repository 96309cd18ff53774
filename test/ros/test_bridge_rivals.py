"""Bridges with one actuator: neither commands it, and both say so, until one of them has ended."""

import time

import pytest
from patience import wait_until
from plc_peers import free_port
from rclpy.parameter import Parameter

from grouser.bridges.bridge import CONTESTED
from grouser.bridges.link import LinkState
from grouser.bridges.messages import Received
from grouser.nodes.bridges.serial_bridge import SerialBridgeNode

MAPPING = """
version: 1
bridge: udp
machine: {machine}
interface: {{host: 127.0.0.1, port: {port}, local_port: {local_port}, form: json}}
timeout: 60.0
good: 1
messages:
  - name: {name}
    direction: in
    period: 0.02
    source: {{kind: 1}}
    signals:
      - {{source: lever, signal: {signal}, range: [-1, 1], safe: 0.0}}
"""


class Commands(list):
    """A plant that remembers."""

    def command(self, values):
        self.append(dict(values))

    def measure(self, names):
        return {}


@pytest.fixture
def begin(peer, loader_file, tmp_path):
    """Starts bridges of one name in namespaces; each with a plant that remembers."""
    nodes = []

    def start(name, signal="valve/boom_valve"):
        file = tmp_path / f"{name}.yaml"
        ports = {"port": free_port(), "local_port": free_port()}
        file.write_text(MAPPING.format(machine=loader_file, name=name, signal=signal, **ports))
        commands = Commands()
        overrides = [Parameter("mapping", value=str(file)), Parameter("diagnostics_rate", value=20.0)]
        node = SerialBridgeNode(overrides, lambda namespace, mapping: commands)
        nodes.append(node)
        peer.run(node)
        return node, commands

    def end(node):
        nodes.remove(node)
        peer.leave(node)
        node.destroy_node()

    start.end = end
    yield start
    for node in list(nodes):
        end(node)


def say(node, name, value):
    """A message as the transport would bring it; returns the state of its link."""
    bridge = node._runner.bridge
    bridge.receive(Received(name, time.monotonic(), {"lever": value}))
    return bridge.states[name]


def test_neither_of_two_bridges_commands_one_actuator(begin):
    first, commands = begin("first")
    begin("neighbour", "joint/drum_joint/velocity")
    say(first, "first", 0.0)
    assert say(first, "first", 0.5) is LinkState.LIVE
    assert commands[-1] == {"valve/boom_valve": 0.5}
    second, others = begin("second")
    for node, name in ((first, "first"), (second, "second")):
        bridge = node._runner.bridge
        wait_until(lambda bridge=bridge, name=name: name in bridge.contested, "both know")
        assert "valve/boom_valve is commanded by another bridge, /serial_bridge" in bridge.contested[name]
        assert say(node, name, 0.0) is not LinkState.LIVE
        assert bridge.figures.inputs[name].refused[CONTESTED] == 1
    assert commands[-1] == others[-1] == {"valve/boom_valve": 0.0}
    count = len(commands)
    begin.end(second)
    wait_until(lambda: not first._runner.bridge.contested, "it is alone again")
    assert len(commands) == count
    assert say(first, "first", 0.5) is LinkState.CHECKING
    assert say(first, "first", 0.0) is LinkState.LIVE
