"""Contact forces as the viewer draws them."""

from collections.abc import Iterator

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from theatre import MACHINE, NO_TURN, QUARTER_TURN, Theatre, handle, playing, stands_at

from grouser.nodes.shared import topics
from grouser.nodes.viewer.drawn_machine import moving_links
from grouser.nodes.viewer.forces import ARROW_COLOUR, CUT_COLOUR, LONGEST, contact_ball, force_point
from grouser.physics.description import parse_machine


@pytest.fixture
def theatre() -> Iterator[Theatre]:
    with playing() as theatre:
        yield theatre


def test_a_contact_force_is_an_arrow_in_the_world(theatre: Theatre) -> None:
    viewer = theatre.open_viewer()
    theatre.stage.describe(MACHINE)
    theatre.stage.place("base_link", "odom", (1, 2, 0.5), QUARTER_TURN)
    theatre.stage.forces = {"base_link": (100.0, 0.0, 50.0), "arm": (0.0, 0.0, 0.0)}
    # The force acts at (0.2, 0.1, 0.5) in the link; the point of its line nearest to the middle of the collision box,
    # (0, 0, 0.5), is (0.04, 0.1, 0.42).
    theatre.stage.moments = {"base_link": (5.0, 40.0, -10.0)}
    # 0.01 m/N; the link's x axis is the world's y axis; no force, no arrow.
    expected = [[[0.9, 2.04, 0.92], [0.9, 3.04, 1.42]]]
    theatre.wait_for(
        lambda: (
            (arrows := handle(viewer, "/contact_forces"))
            and arrows.points.shape == (1, 2, 3)
            and np.allclose(arrows.points, expected, atol=1e-5)
        ),
        "the arrow of the force",
    )
    viewer.scene.forces_box.value = False
    theatre.wait_for(lambda: not handle(viewer, "/contact_forces").visible, "no arrows without a tick in their box")
    theatre.stage.forces = {"base_link": (0.0, 0.0, 0.0)}
    theatre.wait_for(lambda: handle(viewer, "/contact_forces") is None, "no arrow once the force is gone")


def test_a_force_is_drawn_on_the_pose_of_its_stamp(theatre: Theatre) -> None:
    """The wrench is older than the newest pose: the arrow belongs to where the link was, the link is where it is."""
    stage, viewer = theatre.stage, theatre.open_viewer()
    stage.describe(MACHINE)
    theatre.wait_for(lambda: viewer.scene.links, "the machine")
    wrenches = stage.create_publisher(WrenchStamped, "contact_wrenches/base_link", topics.SENSOR_DATA)
    force = WrenchStamped()
    force.header.stamp.sec = 12
    force.wrench.force.z = 100.0

    def arrow_at(x: float, tilt: tuple) -> bool:
        wrenches.publish(force)
        arrows = handle(viewer, "/contact_forces")
        # 0.01 m/N along the link's z axis, from the middle of its box.
        up = np.array([2 * tilt[1] * tilt[3], 0.0, 1 - 2 * tilt[1] ** 2])
        tail = np.array([x, 0.0, 0.0]) + 0.5 * up
        return arrows is not None and np.allclose(arrows.points, [[tail, tail + up]], atol=1e-5)

    def say(seconds: int, x: float, tilt: tuple) -> None:
        stage.transforms.clear()
        stage.place("base_link", "odom", (x, 0, 0), tilt)
        stage.transforms["base_link"].header.stamp.sec = seconds

    tilted = (0.0, 0.6, 0.0, 0.8)
    say(12, 1.0, tilted)
    theatre.wait_for(lambda: arrow_at(1.0, tilted), "the arrow on the tilted link")
    say(13, 5.0, NO_TURN)
    theatre.wait_for(lambda: stands_at(viewer, "base_link", (5, 0, 0)), "the link at its newer pose")
    assert arrow_at(1.0, tilted)
    force.header.stamp.sec = 13
    theatre.wait_for(lambda: arrow_at(5.0, NO_TURN), "the arrow on the newer pose, after a newer wrench")


def test_sizes_are_those_of_what_moves() -> None:
    """A rail of 40 m counts neither for the camera nor for the arrows, whatever carries it; a floating base does."""
    fixed = MACHINE.replace(
        '<robot name="red_box">',
        """<robot name="rail">
      <link name="world"/><link name="rail"><visual><geometry><box size="40 1 1"/></geometry></visual></link>
      <joint name="sleepers" type="fixed"><parent link="world"/><child link="rail"/></joint>
      <joint name="slide" type="prismatic"><parent link="rail"/><child link="base_link"/><axis xyz="1 0 0"/>
        <limit lower="-20" upper="20" effort="1" velocity="1"/></joint>""",
    )
    assert moving_links(parse_machine(fixed, file="rail")) == {"base_link", "arm"}
    assert moving_links(parse_machine(MACHINE, file="box")) == {"base_link", "arm"}
    still = fixed.replace('type="prismatic"', 'type="fixed"').replace('type="revolute"', 'type="fixed"')
    assert moving_links(parse_machine(still, file="still")) == {"world", "rail", "base_link", "arm"}


def test_long_arrows_are_cut(theatre: Theatre) -> None:
    viewer = theatre.open_viewer()
    theatre.stage.describe(MACHINE)
    theatre.stage.place("base_link", "odom", (0, 0, 0))
    theatre.stage.forces = {"base_link": (0.0, 0.0, 5000.0)}  # 50 m by 0.01 m/N
    theatre.wait_for(lambda: handle(viewer, "/contact_forces"), "the force")
    arrows = handle(viewer, "/contact_forces")
    size = viewer.scene.cameras.size
    assert np.linalg.norm(arrows.points[0, 1] - arrows.points[0, 0]) == pytest.approx(LONGEST * size, rel=1e-6)
    assert 1.6 < size < 4.0 and tuple(arrows.colors[0]) == CUT_COLOUR
    theatre.stage.forces = {"base_link": (0.0, 0.0, 100.0)}
    theatre.wait_for(lambda: tuple(handle(viewer, "/contact_forces").colors[0]) == ARROW_COLOUR, "the short arrow")
    points = handle(viewer, "/contact_forces").points
    assert points[0, 1, 2] - points[0, 0, 2] == pytest.approx(1.0)


def test_a_force_acts_near_its_shapes() -> None:
    middle, reach = contact_ball(parse_machine(MACHINE, file="red_box").links[0])
    assert middle == pytest.approx([0.0, 0.0, 0.5]) and reach == pytest.approx(np.linalg.norm([1.6, 1, 1]) / 2)
    upwards = np.array([0.0, 0.0, 10.0])
    foot = np.array([0.3, -0.2, 0.0])
    wrench = np.concatenate([upwards, np.cross(foot, upwards)])
    assert force_point(wrench, middle, reach) == pytest.approx([0.3, -0.2, 0.5])
    far = np.concatenate([upwards, np.cross([50.0, 0.0, 0.0], upwards)])
    assert force_point(far, middle, reach) == pytest.approx([reach, 0.0, 0.5])
    through = np.concatenate([upwards, np.zeros(3)])
    assert force_point(through, middle, reach) == pytest.approx([0.0, 0.0, 0.5])
