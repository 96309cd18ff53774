"""Grains on the topics of a simulator."""

import numpy as np
import pytest
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from sensor_msgs.msg import PointCloud2

from grouser.nodes.shared import topics

WORLD = """
granular:
  materials: {gravel: {youngs_modulus: 1.0e6}, slag: {youngs_modulus: 1.0e6, density: 3000}}
  settle: 0.0
  fills:
    heap: {material: gravel, box: [0.3, 0.3, 0.3], xyz: [2.0, 1.0, 0.15], radius: 0.03, count: 20}
    dregs: {material: slag, box: [0.3, 0.3, 0.3], xyz: [-2.0, 1.0, 0.15], radius: [0.03, 0.04], count: 10}
"""


def columns(cloud: PointCloud2) -> dict[str, np.ndarray]:
    values = np.frombuffer(bytes(cloud.data), "<f4").reshape(-1, len(cloud.fields))
    return {field.name: values[:, number] for number, field in enumerate(cloud.fields)}


def test_grains_are_published_and_thinned_out(peer, start_simulator, tmp_path) -> None:
    world = tmp_path / "heaps.yaml"
    world.write_text(WORLD)
    start_simulator(world=str(world), granular_rate=50.0)
    inbox = peer.hear(PointCloud2, "granular/points", topics.SENSOR_DATA)
    cloud = inbox.wait(lambda message: message.width == 30, "all grains")
    assert cloud.header.frame_id == "map"
    grains = columns(cloud)
    assert list(grains) == ["x", "y", "z", "radius", "speed", "material", "force"]
    slag = grains["material"] == 1.0
    assert slag.sum() == 10
    assert (grains["x"][slag] < 0).all() and (grains["x"][~slag] > 0).all()
    assert grains["radius"][~slag] == pytest.approx(0.03)
    inbox.wait(lambda message: columns(message)["speed"].max() > 0.05, "falling grains")
    request = SetParameters.Request(parameters=[Parameter("granular_count", value=10).to_parameter_msg()])
    assert peer.ask(SetParameters, "/simulator/set_parameters", request).results[0].successful
    thin = inbox.wait(lambda message: message.width < 30, "fewer grains")
    assert thin.width == 10
