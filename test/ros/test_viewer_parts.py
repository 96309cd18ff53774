"""Cylinders, tracks, shapes, labels and plots of the viewer."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import trimesh
from control_msgs.msg import DynamicInterfaceGroupValues
from sensor_msgs.msg import JointState
from shipped import shipped_machine
from theatre import CYLINDER, MACHINE, OTHER_MACHINE, QUARTER_TURN, Theatre, drawn_pose, handle, playing, stands_at

from grouser.nodes.shared import topics
from grouser.nodes.shared.messages import fill_group_values, make_group_values
from grouser.nodes.viewer.cylinders import pressure_scale
from grouser.nodes.viewer.forces import contact_ball
from grouser.physics.description import load_machine, parse_machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import compose
from grouser.runtime.belt_shoes import BeltShoes

BASE = "/machine/base_link"
ARM, LIFT = f"{BASE}/arm", f"{BASE}/cylinder lift"  # below what they are attached to


@pytest.fixture
def theatre() -> Iterator[Theatre]:
    with playing() as theatre:
        yield theatre


def test_a_cylinder_stretches_between_its_attachments(theatre: Theatre) -> None:
    """The barrel begins at its attachment, the rod ends at its own, and the rod comes out of the barrel."""
    viewer = theatre.open_viewer()
    theatre.stage.describe(MACHINE.replace("</robot>", f"{CYLINDER}</robot>"))

    def spans(part: str, start: tuple, end: tuple) -> bool:
        frame, drawn = handle(viewer, LIFT), handle(viewer, f"{LIFT}/{part}")
        if drawn is None or not frame.visible:
            return False
        placed, reach = drawn_pose(viewer, LIFT), 0.5 * drawn.height
        ends = [compose(placed, Pose((0.0, 0.0, drawn.position[2] + way))).position for way in (-reach, reach)]
        return np.allclose(ends, [start, end], atol=1e-6)

    # Retracted it is 0.8 m long with a stroke of 0.6 m: the barrel leaves half of the other 0.2 m free.
    theatre.wait_for(lambda: spans("barrel", (0, 0, 1), (0.7, 0, 1)), "the barrel at the joint's zero, before TF")
    assert spans("rod", (0.2, 0, 1), (1, 0, 1))
    theatre.stage.place("base_link", "odom", (0, 0, 0.5), QUARTER_TURN)
    theatre.stage.place("arm", "base_link", (1.2, 0, 1))
    theatre.wait_for(lambda: spans("rod", (0, 0.4, 1.5), (0, 1.2, 1.5)), "the rod further out")
    assert spans("barrel", (0, 0, 1.5), (0, 0.7, 1.5))
    barrel, rod = (handle(viewer, f"{LIFT}/{part}") for part in ("barrel", "rod"))
    assert barrel.radius > 0.05 and rod.radius == 0.03
    theatre.stage.place("arm", "base_link", (0, 0, 0.1))
    theatre.wait_for(lambda: spans("rod", (0, 0, 1.4), (0, 0, 0.6)), "the rod straight down")
    theatre.stage.describe(OTHER_MACHINE)
    theatre.wait_for(lambda: viewer.scene.links == ("ball",), "the other machine")
    assert handle(viewer, f"{LIFT}/barrel") is None and handle(viewer, f"{LIFT}/rod") is None


def test_shoes_of_a_track_move_as_its_sprocket_turns(theatre: Theatre) -> None:
    """They are one batch at the link that carries them; a machine without tracks has none."""
    stage, viewer = theatre.stage, theatre.open_viewer()
    machine = shipped_machine("tracked_vehicle")
    states = stage.create_publisher(JointState, topics.JOINT_STATES, topics.RELIABLE)
    shoes = {track.name: BeltShoes(machine, track) for track in machine.tracks}

    def drawn_at(name: str, position: float) -> bool:
        states.publish(JointState(name=["right_sprocket", "left_sprocket"], position=[np.nan, 12.3]))
        batch = handle(viewer, f"{BASE}/belt_{name}")
        if batch is None:
            return False
        places, turns = shoes[name].poses(position, Pose(), {})
        return np.allclose(batch.batched_positions, places, atol=1e-6) and np.allclose(
            batch.batched_wxyzs, np.roll(turns, 1, axis=1), atol=1e-6
        )

    stage.describe(machine.urdf)
    theatre.wait_for(lambda: drawn_at("left", 12.3), "the shoes where the sprocket has brought them")
    assert drawn_at("right", 0.0)
    batch = handle(viewer, f"{BASE}/belt_left")
    places = batch.batched_positions
    stage.place("base_link", "odom", (3, 0, 0))
    theatre.wait_for(lambda: stands_at(viewer, "base_link", (3, 0, 0)), "the vehicle elsewhere")
    # only the link moves: nothing is sent for the shoes
    assert batch.batched_positions is places
    stage.describe(OTHER_MACHINE)
    theatre.wait_for(lambda: viewer.scene.links == ("ball",), "the other machine")
    assert handle(viewer, f"{BASE}/belt_left") is None and not viewer.scene.drawn.has_belts


def test_a_long_stroke_is_drawn_as_a_telescope(theatre: Theatre) -> None:
    """With more stroke than its retracted length, every part still begins inside the one before."""
    viewer = theatre.open_viewer()
    cylinder = CYLINDER.replace('stroke="0.6" retracted_length="0.8"', 'stroke="2.0" retracted_length="0.7"')
    theatre.stage.describe(MACHINE.replace("</robot>", f"{cylinder}</robot>"))
    theatre.wait_for(lambda: handle(viewer, f"{LIFT}/rod"), "the cylinder")
    names = ["barrel", "tube_0", "tube_1", "rod"]
    assert handle(viewer, f"{LIFT}/tube_2") is None
    rod = handle(viewer, f"{LIFT}/rod")
    for length in (0.7, 1.5, 2.7):
        theatre.stage.place("arm", "base_link", (length, 0, 1))
        theatre.wait_for(lambda end=length: abs(rod.position[2] + 0.5 * rod.height - end) < 1e-6, "the rod's end")
        parts = [handle(viewer, f"{LIFT}/{name}") for name in names]
        spans = [(part.position[2] - 0.5 * part.height, part.position[2] + 0.5 * part.height) for part in parts]
        assert spans[0][0] == pytest.approx(0.0)
        for before, after in pairwise(spans):
            assert before[0] - 1e-9 <= after[0] <= before[1]
        assert all(wide.radius > narrow.radius for wide, narrow in pairwise(parts))


def publish_pressures(theatre: Theatre) -> Callable[[float, float, float], None]:
    """A publisher of the pressures of the cylinder `lift` [Pa] at a time [s]."""
    publisher = theatre.stage.create_publisher(DynamicInterfaceGroupValues, topics.HYDRAULICS, topics.RELIABLE)
    message = make_group_values([("lift", ("pressure_piston_side", "pressure_rod_side", "force"))])

    def publish(seconds: float, piston_side: float, rod_side: float) -> None:
        fill_group_values(message, round(1e9 * seconds), [np.array([piston_side, rod_side, 1e4])])
        publisher.publish(message)

    return publish


def test_cylinders_show_their_pressures(theatre: Theatre) -> None:
    viewer, publish = theatre.open_viewer(), publish_pressures(theatre)
    theatre.stage.describe(MACHINE.replace("</robot>", f"{CYLINDER}</robot>"))
    theatre.wait_for(lambda: handle(viewer, f"{LIFT}/rod_side"), "the cylinder")
    piston, rod = (handle(viewer, f"{LIFT}/{side}_side") for side in ("piston", "rod"))
    assert not piston.visible and not rod.visible  # nothing is known
    # The supply has 200 bar, and the scale ends there.
    theatre.wait_for(lambda: publish(1.0, 30e6, 0.0) or piston.visible, "the pressures")
    scale = pressure_scale(viewer.scene._machine)
    assert piston.color == scale.colour(20e6) != scale.colour(10e6)
    assert rod.color == scale.colour(0.0)
    # The barrel of 0.7 m has 0.05 m beyond the stroke at each end; the cylinder is extended by 0.2 m.
    # The rod side shows where the piston side does not cover it.
    assert piston.scale[2] * piston.height == pytest.approx(0.25)
    assert piston.position[2] == pytest.approx(0.125) and piston.radius > rod.radius
    assert (rod.height, rod.position[2]) == pytest.approx((0.7, 0.35))
    viewer.scene.pressures_box.value = False
    theatre.wait_for(lambda: not piston.visible, "a plain barrel without a tick in the box")


def test_a_plot_shows_what_is_published(theatre: Theatre) -> None:
    viewer, publish = theatre.open_viewer(), publish_pressures(theatre)
    theatre.stage.describe(MACHINE.replace("</robot>", f"{CYLINDER}</robot>"))
    theatre.stage.place("base_link", "odom", (0, 0, 0))
    plot = viewer.scene.plots.plots[0]
    plot.choice.value = "pressure"
    now = 0.0

    def sampled(count: int) -> bool:
        nonlocal now
        now += 0.06
        publish(now, 5e6, 1e5)
        theatre.stage.transforms["base_link"].header.stamp.nanosec = round(1e9 * now) % 1_000_000_000
        theatre.stage.transforms["base_link"].header.stamp.sec = int(now)
        return len(plot.samples) >= count

    theatre.wait_for(lambda: sampled(5), "five samples")
    np.testing.assert_allclose(plot.samples[:, 1:], np.tile([50.0, 1.0], (len(plot.samples), 1)), atol=1e-9)
    assert (np.diff(plot.samples[:, 0]) >= 0.05 - 1e-9).all()
    theatre.wait_for(lambda: sampled(5) and plot._handle is not None, "the plot")
    labels = [series["label"] for series in plot._handle.series]
    assert labels == ["time [s]", "lift piston side", "lift rod side"]


def test_a_click_labels_a_part(theatre: Theatre) -> None:
    viewer, publish = theatre.open_viewer(), publish_pressures(theatre)
    theatre.stage.describe(MACHINE.replace("</robot>", f"{CYLINDER}</robot>"))
    theatre.stage.place("base_link", "odom", (0, 0, 0))
    theatre.stage.forces = {"base_link": (0.0, 3000.0, 4000.0)}
    theatre.wait_for(lambda: handle(viewer, "/contact_forces"), "the force")
    labels = viewer.scene.labels
    labels._clicked.extend([BASE, LIFT])  # as the server's threads do

    def shows(node: str, text: str) -> bool:
        publish(1.0, 5e6, 1e5)
        label = handle(viewer, f"{node}/label")
        return label is not None and label.text == text

    theatre.wait_for(lambda: shows(BASE, "base_link, 100 kg, contact 5.00 kN"), "the label of the link")
    theatre.wait_for(lambda: shows(LIFT, "lift, 50 / 1 bar, 10.0 kN"), "the label of the cylinder")
    labels._clicked.append(BASE)
    theatre.wait_for(lambda: handle(viewer, f"{BASE}/label") is None, "no label after another click")


def test_capsules_and_points_are_drawn(theatre: Theatre) -> None:
    """The arm has a capsule of 0.2 m from middle to middle, and two balls that touch; the base has points."""
    capsule = '<origin xyz="0 0 0.3"/><geometry><capsule radius="0.05" length="0.2"/></geometry>'
    points = """<grouser><contact_points link="arm" points="0 0 0 0 0 0.6" radius="0.1"/>
      <contact_points link="base_link" points="1 0 0"/></grouser>"""
    urdf = MACHINE.replace('<geometry><cylinder radius="0.1" length="1"/></geometry>', capsule)
    viewer = theatre.open_viewer()
    theatre.stage.describe(urdf.replace("</robot>", f"{points}</robot>"))
    theatre.wait_for(lambda: viewer.scene.links, "the machine")
    drawn, balls = handle(viewer, f"{ARM}/0"), handle(viewer, f"{ARM}/1")
    assert drawn.position == pytest.approx([0.0, 0.0, 0.3])
    np.testing.assert_allclose(np.ptp(drawn.vertices, axis=0), [0.1, 0.1, 0.3], rtol=1e-6)
    np.testing.assert_allclose(drawn.vertices.mean(axis=0), np.zeros(3), atol=1e-6)
    np.testing.assert_array_equal(balls.batched_positions, np.array([[0, 0, 0], [0, 0, 0.6]], dtype=np.float32))
    np.testing.assert_allclose(np.linalg.norm(balls.vertices, axis=1), 0.1, rtol=1e-6)
    # The base has a visual, so that its collision shapes are hidden until their box is ticked.
    single = handle(viewer, f"{BASE}/2")
    assert balls.visible and not single.visible
    assert np.linalg.norm(single.vertices, axis=1).max() > 0.0
    middle, reach = contact_ball(parse_machine(urdf.replace("</robot>", f"{points}</robot>"), file="arm").links[1])
    assert middle == pytest.approx([0.0, 0.0, 0.15])  # between the capsule's middle and the points' frame
    assert reach == pytest.approx(0.15 + 0.7)


def test_meshes_are_found_away_from_their_file(theatre: Theatre, tmp_path: Path) -> None:
    folder = tmp_path / "a folder & more"
    folder.mkdir()
    trimesh.creation.box((1.0, 1.0, 1.0)).export(folder / "cube.stl")
    (folder / "broken.stl").write_text("solid nothing")
    links = "".join(
        f"<link name='{name}'><visual><geometry><mesh filename='{mesh}' scale='2 1 1'/></geometry></visual></link>"
        for name, mesh in {"base_link": "cube.stl", "arm": "broken.stl"}.items()
    )
    joint = "<joint name='j' type='fixed'><parent link='base_link'/><child link='arm'/></joint>"
    urdf = folder / "meshes.urdf"
    urdf.write_text(f"<?xml version='1.0'?>\n<robot name='meshes'>{links}{joint}</robot>")
    viewer = theatre.open_viewer()
    theatre.stage.describe(load_machine(urdf).urdf)
    theatre.wait_for(lambda: viewer.scene.links, "the machine of meshes")
    assert np.ptp(handle(viewer, f"{BASE}/0").vertices, axis=0) == pytest.approx([2.0, 1.0, 1.0])
    assert handle(viewer, f"{ARM}/0") is None


def test_collision_shapes_replace_missing_visuals(theatre: Theatre) -> None:
    viewer = theatre.open_viewer()
    theatre.stage.describe(MACHINE)
    theatre.wait_for(lambda: viewer.scene.links, "a machine")
    visual, collision = handle(viewer, f"{BASE}/0"), handle(viewer, f"{BASE}/1")
    stand_in = handle(viewer, f"{ARM}/0")
    assert visual.color == (255, 0, 0) and visual.dimensions == (1.6, 1.0, 1.0)
    assert visual.visible and stand_in.visible and not collision.visible
    assert (stand_in.radius, stand_in.height) == (0.1, 1.0)
    viewer.scene.collision_box.value = True
    theatre.wait_for(lambda: collision.visible, "the collision shapes after a tick in their box")
    assert stand_in.visible and not visual.visible
