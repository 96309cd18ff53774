"""Deformable blocks on the topics of a simulator."""

import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from grouser.nodes.shared import topics

WORLD = """
blocks:
  material: {youngs_modulus: 1.0e7, poisson_ratio: 0.2, density: 2000}
  interface: {normal_stiffness: 2.0e7, shear_stiffness: 2.0e7, friction: 0.6}
  walls: {wall: {size: [0.2, 0.1, 0.1], counts: [2, 1, 1], xyz: [2.0, 1.0, 0.0], rpy_deg: [0, 0, 90]}}
  loose: {lump: {box: [0.1, 0.1, 0.1], xyz: [-2.0, 1.0, 0.3]}}
"""


def test_blocks_are_published(peer, start_simulator, tmp_path) -> None:
    world = tmp_path / "wall.yaml"
    world.write_text(WORLD)
    start_simulator(world=str(world), blocks_rate=50.0)
    inbox = peer.hear(MarkerArray, "blocks/markers", topics.RELIABLE)
    message = inbox.wait(lambda message: message.markers[2].pose.position.z < 0.2, "a falling block")
    assert [marker.ns for marker in message.markers] == ["wall_0_0_0", "wall_1_0_0", "lump"]
    for marker, place in zip(message.markers, [(2.0, 0.9, 0.05), (2.0, 1.1, 0.05)], strict=False):
        assert marker.type == Marker.TRIANGLE_LIST
        assert marker.header.frame_id == "map"
        position = marker.pose.position
        np.testing.assert_allclose([position.x, position.y, position.z], place, atol=1e-3)
        corners = np.array([(point.x, point.y, point.z) for point in marker.points])
        assert corners.shape == (36, 3)
        np.testing.assert_allclose(np.ptp(corners, axis=0), [0.1, 0.2, 0.1], atol=1e-12)
