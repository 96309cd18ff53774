"""A diagram in the simulator: its inputs come by a topic, its wires are published, and levers go through it."""

import math

import pytest
from control_msgs.msg import DynamicInterfaceGroupValues, InterfaceValue

from grouser.nodes.shared import topics
from grouser.nodes.shared.messages import make_valve_commands

PROGRAM = """cycle: 0.01
inputs:
  free: {default: false}
  share: {default: 0.5}
blocks:
  reduced: {type: MUL, IN1: operator.boom_valve, IN2: input.share}
  lever: {type: SEL, G: input.free, IN0: 0.0, IN1: reduced}
  late: {type: TON, IN: input.free, PT: 0.05}
commands:
  boom_valve: lever
"""


def value(message, group, name):
    entry = message.interface_values[list(message.interface_groups).index(group)]
    return entry.values[list(entry.interface_names).index(name)]


def inputs(**values):
    entry = InterfaceValue(interface_names=list(values), values=list(map(float, values.values())))
    return DynamicInterfaceGroupValues(interface_groups=["input"], interface_values=[entry])


@pytest.fixture
def node(start_simulator, tmp_path):
    file = tmp_path / "program.yaml"
    file.write_text(PROGRAM)
    return start_simulator(program=str(file), command_timeout=0.0)


def test_levers_go_through_the_diagram(node, peer):
    state = peer.hear(DynamicInterfaceGroupValues, topics.PROGRAM_STATE)
    spools = peer.hear(DynamicInterfaceGroupValues, topics.HYDRAULICS)
    peer.say(topics.VALVE_COMMANDS, make_valve_commands(0, {"boom_valve": 0.8}))
    state.wait(lambda heard: value(heard, "operator", "boom_valve") == pytest.approx(0.8), "the lever as an input")
    assert value(state.all()[-1], "lever", "OUT") == 0.0
    peer.say(topics.PROGRAM_INPUTS, inputs(free=1.0))
    state.wait(lambda heard: value(heard, "late", "Q") == 1.0, "the timer")
    assert value(state.all()[-1], "lever", "OUT") == pytest.approx(0.4)
    spools.wait(
        lambda heard: value(heard, heard.interface_groups[0], "spool_position") == pytest.approx(0.4, abs=1e-3),
        "the spool at half of the lever",
    )
    refused = node.refused_commands
    for wrong in (inputs(fre=1.0), inputs(share=math.nan), DynamicInterfaceGroupValues(interface_groups=["outputs"])):
        peer.say(topics.PROGRAM_INPUTS, wrong)
    peer.wait_for(lambda: node.refused_commands == refused + 3, "the refusals")
    peer.say(topics.PROGRAM_INPUTS, inputs(share=0.25))
    state.wait(lambda heard: value(heard, "lever", "OUT") == pytest.approx(0.2), "another share")
