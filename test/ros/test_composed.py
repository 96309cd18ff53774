"""Several nodes in one process."""

import signal
from itertools import cycle

import pytest
from patience import DEADLINE
from sensor_msgs.msg import JointState, Joy

PATTERN = """
dead_man_button: 0
speed: {slower_button: 1, faster_button: 2, ranges: {all: 1.0}, start: all}
dead_band: 0.1
curve: 1.0
rate: 5.0
levers: [{axis: 1, valve: boom_valve}]
"""


def test_simulator_and_operator_share_a_process(peer, launch, loader_file, tmp_path):
    pattern = tmp_path / "loader.yaml"
    pattern.write_text(PATTERN)
    process = launch(
        *("grouser.nodes.composed", "simulator", "operator", "--ros-args"),
        *("-p", f"simulator:machine:={loader_file}", "-p", f"operator:pattern:={pattern}"),
    )
    states = peer.hear(JointState, "joint_states")
    place = list(states.first("the machine").name).index("boom_joint")
    start = states.all()[0].position[place]
    joy = peer.publisher(Joy, "joy")
    # at rest, then the dead man's button, then the lever; repeated, as an operator does when nothing moves
    rest = [Joy(axes=[0.0, 0.0], buttons=[pressed, 0, 0]) for pressed in (0, 1) for _ in range(10)]
    hands = cycle([*rest, *[Joy(axes=[0.0, 1.0], buttons=[1, 0, 0])] * 100])
    timer = peer.node.create_timer(0.05, lambda: joy.publish(next(hands)))
    states.wait(lambda message: abs(message.position[place] - start) > 0.02, "that the boom moves")
    peer.node.destroy_timer(timer)
    peer.wait_for(lambda: set(peer.node.get_node_names()) >= {"simulator", "operator"}, "both nodes")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("cook",), "invalid choice: 'cook'"),
        ((), "the following arguments are required: node"),
        (("simulator", "--ros-args", "-p", "simulator:machine:=nowhere.urdf"), "nowhere.urdf"),
    ],
)
def test_bad_input_ends_with_status_2(launch, words, said):
    process = launch("grouser.nodes.composed", *words)
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 2
    assert said in output
