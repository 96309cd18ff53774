"""Pushes by topic: they move a link, end by themselves, are refused whole, and replay."""

import json
import math

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from patience import wait_until
from rclpy.parameter import Parameter
from std_srvs.srv import SetBool

from grouser import Push
from grouser.commands.replay import replay
from grouser.nodes.shared.messages import make_push
from grouser.recording.events import Pushed
from grouser.recording.mcap_file import Recording
from grouser.runtime.mailbox import answer_of

NOTHING = (0.0, 0.0, 0.0)
BOX = """<robot name="box"><link name="plank">
  <inertial><mass value="20"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.4 0.4 0.4"/></geometry></collision></link></robot>"""


def push(frame, force, moment=NOTHING) -> WrenchStamped:
    return make_push(frame, 0, force, moment)


def present(node) -> dict[str, Push]:
    """The pushes in the simulation."""
    return answer_of(node.mailbox.call(lambda loop: dict(loop.simulation.pushes)))


def velocity(node, member="") -> list[float]:
    return answer_of(node.mailbox.call(lambda loop: loop.simulation.part(member).base_twist()[0].tolist()))


def test_a_push_moves_a_link_until_it_is_silent_or_ended(peer, start_simulator, tmp_path):
    """326 kg without friction to hold them against 2 kN: the impulse of the push, and no more after its end."""
    file = tmp_path / "run.mcap"
    node = start_simulator(start_paused=True, step_request_count=100, push_timeout=0.2, record=str(file))
    peer.say("push", push("chassis", (0.0, 0.0, 6000.0)))
    wait_until(lambda: present(node) == {"chassis": Push((0.0, 0.0, 6000.0))}, "a push")
    peer.step()
    speed = velocity(node)[2]
    assert speed > 0.5, "not lifted by twice its weight"
    peer.step()
    assert present(node), "ended too early"
    peer.step()
    assert present(node) == {}, "longer than push_timeout after the last message"
    peer.say("push", push("boom", NOTHING, (0.0, 40.0, 0.0)))
    wait_until(lambda: list(present(node)) == ["boom"], "a moment on the boom")
    peer.step()
    peer.say("push", push("boom", NOTHING))
    wait_until(lambda: present(node) == {}, "the end of the moment")
    node.stop()
    events = [event for event in Recording(file).events() if isinstance(event, Pushed)]
    assert [(event.step, event.link) for event in events] == [
        (0, "chassis"),
        (200, "chassis"),
        (300, "boom"),
        (400, "boom"),
    ]
    assert replay(Recording(file)).difference is None


BAD_PUSHES = {
    "no frame": push("", (1.0, 0.0, 0.0)),
    "no such link": push("bom", (1.0, 0.0, 0.0)),
    "not a number": push("boom", (math.nan, 0.0, 0.0)),
    "infinite": push("boom", (1.0, 0.0, 0.0), (0.0, -math.inf, 0.0)),
    "too large": push("boom", (0.0, 1e7, 0.0)),
    "moment too large": push("boom", NOTHING, (1e300, 0.0, 1e300)),
    "end on no link": push("bom", NOTHING),
}


def test_bad_pushes_are_refused_and_counted(peer, start_simulator):
    node = start_simulator(diagnostics_rate=50.0, start_paused=True)
    diagnostics = peer.hear(DiagnosticArray, "/diagnostics")

    def refused(message):
        pairs = (pair for status in message.status for pair in status.values)
        return next((int(pair.value) for pair in pairs if pair.key == "refused_commands"), None)

    for count, (what, message) in enumerate(BAD_PUSHES.items(), start=1):
        peer.say("push", message)
        diagnostics.wait(lambda message, count=count: refused(message) == count, f"the refusal of: {what}")
    assert present(node) == {}
    peer.say("push", push("boom", (0.0, 1.0, 0.0)))
    wait_until(lambda: list(present(node)) == ["boom"], "a good one after them")


def test_machines_of_a_fleet_and_plain_objects_are_pushed(peer, start_simulator, loader_file, tmp_path):
    """Each machine by its own topic, with the frames of /tf; objects by any machine's, with their names."""
    box = tmp_path / "box.urdf"
    box.write_text(BOX)
    members = {"a": (loader_file, 0.0), "b": (loader_file, 5.0), "box": (box, 9.0)}
    fleet = {name: {"machine": str(file), "xyz": [place, 0.0, 0.3]} for name, (file, place) in members.items()}
    node = start_simulator(fleet=json.dumps(fleet), start_paused=True, step_request_count=20)
    peer.say("b/push", push("b/chassis", (0.0, 500.0, 0.0)))
    wait_until(lambda: list(present(node)) == ["b/chassis"], "a push on b")
    peer.say("a/push", push("box", (0.0, 0.0, 600.0)))
    wait_until(lambda: list(present(node)) == ["b/chassis", "box/plank"], "a push on the box")
    peer.step()
    assert velocity(node, "b")[1] > 0.01 and velocity(node, "box")[2] > 0.01
    assert abs(velocity(node, "a")[1]) < 1e-6


def record(peer, begin: bool) -> SetBool.Response:
    return peer.ask(SetBool, "/simulator/record", SetBool.Request(data=begin))


@pytest.mark.parametrize("spawned", [False, True])
def test_a_recording_begins_and_ends_by_a_service(peer, start_simulator, tmp_path, spawned):
    """While it runs, with a push in effect, and, if the standard services are there, an object that came before."""
    file = tmp_path / "part.mcap"
    node = start_simulator(record_file=str(file), push_timeout=0.0, diagnostics_rate=20.0)
    diagnostics = peer.hear(DiagnosticArray, "/diagnostics")
    peer.say("push", push("mast", (0.0, 3.0, 0.0)))
    wait_until(lambda: list(present(node)) == ["mast"], "a push")
    if spawned:
        pytest.importorskip("simulation_interfaces")
        from grouser.nodes.services.interfaces import service_type, set_resource

        kind = service_type("SpawnEntity")
        request = kind.Request(name="box")
        request.initial_pose.pose.position.x, request.initial_pose.pose.position.z = 3.0, 0.5
        set_resource(request, "", BOX)
        assert peer.ask(kind, "/simulator/spawn_entity", request).result.result == 1
    refusal = record(peer, False)
    assert (refusal.success, refusal.message) == (False, "nothing is being recorded")
    begun = record(peer, True)
    assert begun.success, begun.message
    assert str(file) in begun.message

    def recorded(message):
        values = {p.key: p.value for one in message.status if one.name == "simulator: recording" for p in one.values}
        return values.get("file") == str(file) and float(values["recorded [s]"]) > 1.2

    diagnostics.wait(recorded, "the status of the recording, for longer than a second")
    again = record(peer, True)
    assert not again.success and "a new file" in again.message
    ended = record(peer, False)
    assert ended.success, ended.message
    recording = Recording(file)
    result = replay(recording)
    assert result.difference is None and result.compared >= 3 and recording.problem == ""

    for bad, words in ((str(file), "a new file in a folder that exists"), ("/proc/run.mcap", "can be written")):
        assert peer.set_parameters(Parameter("record_file", value=bad))[0].successful
        refusal = record(peer, True)
        assert not refusal.success and words in refusal.message, refusal.message
    wait_until(lambda: node.report.recording is None, "no recording")
