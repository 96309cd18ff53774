"""A replay shows what a simulator published when it was recorded, at any of its moments, and on the page."""

import socket

import pytest
from chromium import running_browser
from diagnostic_msgs.msg import DiagnosticArray
from patience import DEADLINE, wait_until
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger
from tf2_msgs.msg import TFMessage

from grouser.nodes.shared.messages import nanoseconds_of
from grouser.nodes.simulator.node import SimulatorNode, spinning

STEPS = 500  # of one request
RECORDED = 6  # requests


@pytest.fixture
def recorded(peer, compiled, request, tmp_path):
    """A recording of the loader that was commanded, and the joint states published then: stamp [ns] -> positions."""
    file = tmp_path / "run.mcap"
    loader = request.path.parent / "data" / "loader.urdf"
    values = {"machine": str(loader), "record": str(file), "start_paused": True, "step_request_count": STEPS}
    joints = peer.hear(JointState, "joint_states", 5000)
    with spinning(SimulatorNode([Parameter(name, value=value) for name, value in values.items()])) as node:
        assert node.built.wait(DEADLINE)
        for count in range(RECORDED):
            peer.say("valve_commands_array", Float64MultiArray(data=[0.8 if count % 2 else -0.6]))
            assert peer.ask(Trigger, "/simulator/step", Trigger.Request()).success
        end = round(1e9 * node.report.time)
        joints.wait_ever(lambda said: nanoseconds_of(said.header.stamp) == end, "the last sample")
    return file, {nanoseconds_of(said.header.stamp): tuple(said.position) for said in joints.all()}


def replay_status(message):
    return next((one for one in message.status if one.name.endswith(": replay")), None)


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def seek(peer, seconds):
    change = Parameter("replay_time", value=seconds).to_parameter_msg()
    (result,) = peer.ask(SetParameters, "/simulator/set_parameters", SetParameters.Request(parameters=[change])).results
    assert result.successful, result.reason


def test_moments_in_any_order_are_those_that_were_recorded(peer, recorded, start_simulator):
    file, live = recorded
    start_simulator(replay=str(file), start_paused=True, diagnostics_rate=20.0)
    joints = peer.hear(JointState, "joint_states", 5000)
    diagnostics = peer.hear(DiagnosticArray, "/diagnostics")
    last = max(live)
    for stamp in (last, sorted(live)[len(live) // 2], sorted(live)[7], sorted(live)[-9], 0):
        begun = joints.mark()
        seek(peer, 1e-9 * stamp)
        said = joints.wait(lambda one, stamp=stamp: nanoseconds_of(one.header.stamp) == stamp, "the moment", begun)
        assert tuple(said.position) == live[stamp]
    told = replay_status(diagnostics.wait(lambda one: replay_status(one) is not None, "the replay's status"))
    values = {pair.key: pair.value for pair in told.values}
    assert told.message == "the same to the last bit" and float(values["end [s]"]) == pytest.approx(1e-9 * last)
    assert int(values["compared"]) >= 3
    # Nothing changes a recorded run.
    refused = peer.ask(Trigger, "/simulator/clear_faults", Trigger.Request())
    assert not refused.success and "replayed" in refused.message


def test_who_begins_to_listen_while_it_stands_sees_where_it_stands(peer, recorded, start_simulator):
    file, live = recorded
    start_simulator(replay=str(file), start_paused=True)
    middle = sorted(live)[len(live) // 2]
    seek(peer, 1e-9 * middle)
    transforms = peer.hear(TFMessage, "/tf", 10)
    transforms.wait(lambda said: any(nanoseconds_of(one.header.stamp) == middle for one in said.transforms))


def test_play_forward_and_back_ends_with_a_pause(peer, recorded, start_simulator):
    file, live = recorded
    node = start_simulator(replay=str(file), start_paused=True, real_time_factor=10.0)
    joints = peer.hear(JointState, "joint_states", 5000)
    peer.say("valve_commands_array", Float64MultiArray(data=[1.0]))  # is dropped
    for backward, end in ((False, max(live)), (True, 0)):
        change = Parameter("replay_backward", value=backward).to_parameter_msg()
        peer.ask(SetParameters, "/simulator/set_parameters", SetParameters.Request(parameters=[change]))
        begun = joints.mark()
        assert peer.ask(SetBool, "/simulator/pause", SetBool.Request(data=False)).success
        joints.wait(lambda one, end=end: nanoseconds_of(one.header.stamp) == end, "the end", begun)
        peer.wait_for(lambda: node.report.paused, "the pause at the end")
        assert node.report.replay.backward == backward and node.report.replay.difference == ""
    known = [stamp for one in joints.all() if (stamp := nanoseconds_of(one.header.stamp)) in live]
    assert len(known) > 20
    for one in joints.all():
        stamp = nanoseconds_of(one.header.stamp)
        if stamp in live:
            assert tuple(one.position) == live[stamp]


def test_the_page_scrubs_and_plays_back(peer, recorded, launch, tmp_path):
    file, live = recorded
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    joints = peer.hear(JointState, "joint_states", 5000)
    with running_browser(tmp_path / "profile", "a replay on the page") as browser:
        begun = joints.mark()
        launch("grouser.cli", "replay", str(file), "--view", "--port", str(port))
        joints.wait(since=begun)
        wait_until(lambda: listens(port), "the page")
        page = browser.open(f"http://localhost:{port}")
        page.sees("document.querySelector('#replay output').textContent.endsWith('of 3.00 s')")
        page.sees("document.querySelector('#replay .verdict').textContent.startsWith('The end. ')")
        page.sees("document.querySelector('#replay .verdict').textContent.endsWith('the same to the last bit')")
        stamps = sorted(live)
        for stamp in (stamps[len(stamps) // 2], stamps[0], stamps[-20], stamps[-1]):
            begun = joints.mark()
            page.run(
                f"(() => {{ const slider = document.querySelector('#replay input'); slider.value = {1e-9 * stamp};"
                " slider.dispatchEvent(new Event('input')); slider.dispatchEvent(new Event('change')) })()"
            )
            said = joints.wait(lambda one, stamp=stamp: nanoseconds_of(one.header.stamp) == stamp, "the moment", begun)
            assert tuple(said.position) == live[stamp]
        other = browser.open(f"http://localhost:{port}")
        other.sees("document.querySelector('#replay .verdict').textContent.startsWith('The end. ')")
        page.close()
        begun = joints.mark()
        other.click("#replay .backward")
        other.click("#pause")
        joints.wait(lambda one: nanoseconds_of(one.header.stamp) == 0, "the start", begun)
