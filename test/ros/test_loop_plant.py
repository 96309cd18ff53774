"""A bridge in the simulator's process: it commands and measures as over topics, without them."""

import math

import pytest
from bridge_pieces import mapping, message
from bridge_pieces import signal as map_signal
from patience import wait_until
from rclpy.node import Node
from rclpy.parameter import Parameter

from grouser.bridges.loop_plant import LoopPlant, has_all
from grouser.bridges.mapping.signals import measurements_of
from grouser.nodes.bridges.ros_plant import RosPlant
from grouser.nodes.simulator.node import SimulatorNode

OTHERS = ("joy", "odom")


@pytest.fixture
def paused(start_simulator):
    return start_simulator(machine="rover", start_paused=True, step_request_count=50)


def shown(names):
    return mapping(message("all", *[map_signal(name, name) for name in names], direction="out"))


def test_it_measures_what_the_topics_say(peer, paused):
    name, machine = paused.machine_at("/")
    names = [one for one in measurements_of(machine) if one.partition("/")[0] not in OTHERS]
    imus = [sensor.name for sensor in machine.every_sensor if sensor.type == "imu"]
    node = Node("bridge")
    peer.run(node)
    by_topics, near = RosPlant(node, shown(names), imus, False, "base_link"), LoopPlant(lambda: paused.mailbox, name)
    heard = {}

    def complete():
        peer.step()
        heard.update({one: value for one, value in by_topics.measure(names).items() if math.isfinite(value)})
        return len(heard) == len(names)

    wait_until(complete, "every measurement by its topic")
    for _ in range(2):  # every stream is due at the end of a request
        peer.step()
    found = near.measure(names)
    wait_until(lambda: by_topics.measure(names) == pytest.approx(found, rel=1e-6, abs=1e-9), "the same by topics")
    peer.leave(node)
    node.destroy_node()


def test_it_commands_with_the_sources_of_the_topics(peer, paused):
    plant = LoopPlant(lambda: paused.mailbox, "")
    plant.command({"cmd_vel/linear_x": 0.5})
    plant.command({"cmd_vel/angular_z": 0.1})
    assert paused.mailbox.take_commands() == {"cmd_vel": {"twist.x": 0.5, "twist.y": 0.0, "twist.yaw": 0.1}}
    for _ in range(20):
        plant.command({"cmd_vel/linear_x": 0.5})
        peer.step()
    assert plant.measure(["twist/linear_x"])["twist/linear_x"] > 0.2
    for _ in range(40):  # silent for longer than the simulator's own timeout: it stops
        peer.step()
    assert abs(plant.measure(["twist/linear_x"])["twist/linear_x"]) < 0.02


def test_without_the_machine_there_is_no_measurement(peer, paused):
    now = [0.0]
    plant = LoopPlant(lambda: paused.mailbox, "", lambda: now[0])
    stranger = LoopPlant(lambda: paused.mailbox, "digger")
    nobody = LoopPlant(lambda: None, "")
    nobody.command({"cmd_vel/linear_x": 0.5})
    names = ["pose/z"]
    assert math.isfinite(plant.measure(names)["pose/z"])
    assert math.isnan(stranger.measure(names)["pose/z"])
    assert math.isnan(stranger.measure(["hydraulics/no/flow"])["hydraulics/no/flow"])
    assert math.isnan(nobody.measure(names)["pose/z"])
    now[0] = 0.6  # the simulation stands still
    assert math.isnan(plant.measure(names)["pose/z"])
    peer.step()
    assert math.isfinite(plant.measure(names)["pose/z"])
    assert not plant.measure([])
    paused.stop()
    assert math.isnan(plant.measure(names)["pose/z"])
    assert paused.error is None


@pytest.mark.parametrize(
    ("incoming", "outgoing", "near"),
    [
        ("cmd_vel/linear_x", "pose/x", True),
        ("joy/axis_0", "pose/x", False),
        ("cmd_vel/linear_x", "odom/linear_x", False),
        ("valve/boom_valve", "pose/x", False),
    ],
)
def test_mappings_that_need_topics_or_another_machine(paused, incoming, outgoing, near):
    _, machine = paused.machine_at("/")
    parts = message("in", map_signal("a", incoming)), message("out", map_signal("b", outgoing), direction="out")
    assert has_all(machine, mapping(*parts)) is near
    assert paused.machine_at("/other") is None


def test_a_machine_of_a_fleet_is_found_by_its_namespace(ros):
    simulator = SimulatorNode([Parameter("fleet", value="rover_and_excavator")])
    found = {namespace: simulator.machine_at(namespace) for namespace in ("/", "/scout", "/digger/", "/nobody")}
    simulator.destroy_node()
    names = {namespace: one and (one[0], one[1].name) for namespace, one in found.items()}
    assert names == {"/": None, "/scout": ("scout", "rover"), "/digger/": ("digger", "excavator"), "/nobody": None}
