"""The viewer over real DDS: frames, links, cameras and later machines."""

from collections.abc import Iterator
from contextlib import suppress

import msgspec.msgpack
import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped
from rclpy.serialization import serialize_message
from tf2_msgs.msg import TFMessage
from theatre import MACHINE, NO_TURN, OTHER_MACHINE, QUARTER_TURN, Theatre, handle, playing, stands_at

from grouser.benchmarks.page_reader import CAMERA, messages, opened
from grouser.nodes.shared import topics
from grouser.nodes.shared.received_frames import ReceivedFrames
from grouser.nodes.viewer.arrivals import Polled, TransformArrivals
from grouser.nodes.viewer.cdr import transforms
from grouser.physics.description.data.pose import Pose


@pytest.fixture
def theatre() -> Iterator[Theatre]:
    with playing() as theatre:
        yield theatre


def test_frames_compose_and_tf_wins_over_the_description() -> None:
    frames = ReceivedFrames()
    frames.receive("base_link", "odom", Pose((1.0, 2.0, 0.0), QUARTER_TURN))
    frames.receive("arm", "base_link", Pose((1.0, 0.0, 0.5), NO_TURN))
    assert frames.world("arm").position == pytest.approx([1.0, 3.0, 0.5])
    assert frames.point("arm", (0.0, 0.0, 1.0), "base_link") == pytest.approx([1.0, 0.0, 1.5])
    assert frames.point("base_link", (0.0, -1.0, 0.0), "arm") == pytest.approx([-1.0, -1.0, -0.5])
    frames.receive("base_link", "odom", Pose((5.0, 0.0, 0.0), NO_TURN))
    assert frames.world("arm").position == pytest.approx([6.0, 0.0, 0.5])
    assert frames.world("nobody").position == pytest.approx([0.0, 0.0, 0.0])


def test_publishers_of_transforms_are_told_apart_by_their_frames(theatre: Theatre) -> None:
    """Names of every length modulo four, as they are aligned; the numbers of a transform make no other publisher."""
    arrivals = TransformArrivals(theatre.stage, TFMessage, "elsewhere", topics.TF_QUALITY, Polled())
    pairs = [("a" * parent, "b" * child) for parent in range(1, 6) for child in range(1, 6)]
    for number, (parent, child) in enumerate(pairs):
        for seconds in range(3):
            transform = TransformStamped(child_frame_id=child)
            transform.header.frame_id, transform.header.stamp.sec = parent, seconds
            transform.transform.translation.x = float(number + 0.1 * seconds)
            arrivals._keep(serialize_message(TFMessage(transforms=[transform])))
    assert len(arrivals.histories) == len(pairs)
    for history, (parent, child) in zip(arrivals.histories.values(), pairs, strict=True):
        assert history.newest() == 2_000_000_000
        stamp, message = history.at(1_999_999_999)
        ((above, below, numbers),) = transforms(message)
        assert (above, below, stamp) == (parent, child, 1_000_000_000) and numbers[3:] == NO_TURN
        assert numbers[0] == arrivals.read(message).transforms[0].transform.translation.x
    arrivals._keep(serialize_message(TFMessage()))
    assert len(arrivals.histories) == len(pairs)
    history.add(5, b"of a clock that was set back")
    assert history.at(1_000_000_000) == (5, b"of a clock that was set back")
    arrivals.close()


def test_cyclic_transforms_end() -> None:
    frames = ReceivedFrames()
    frames.receive("a", "b", Pose((1.0, 0.0, 0.0), NO_TURN))
    frames.receive("b", "a", Pose((1.0, 0.0, 0.0), NO_TURN))
    assert np.isfinite(frames.world("a").position).all()


def test_links_are_drawn_at_their_transforms(theatre: Theatre) -> None:
    viewer = theatre.open_viewer()
    theatre.stage.describe(MACHINE)
    theatre.wait_for(lambda: stands_at(viewer, "arm", (1, 0, 1)), "the arm at its joint's zero, before TF")
    theatre.stage.place("base_footprint", "odom", (1, 2, 0), QUARTER_TURN)
    theatre.stage.place("base_link", "base_footprint", (0, 0, 0.5))
    theatre.stage.place("arm", "base_link", (1, 0, 1), QUARTER_TURN)
    # A quarter turn takes the arm's (1, 0, 1) in the base to (0, 1, 1); two quarter turns are a half turn about z.
    theatre.wait_for(lambda: stands_at(viewer, "arm", (1, 3, 1.5), (0, 0, 1, 0)), "the arm where TF says")
    assert stands_at(viewer, "base_link", (1, 2, 0.5), QUARTER_TURN)


def test_invalid_transforms_are_ignored(theatre: Theatre) -> None:
    viewer = theatre.open_viewer()
    theatre.stage.describe(MACHINE)
    theatre.stage.place("base_link", "odom", (np.nan, 0, 0))
    theatre.stage.place("arm", "base_link", (0, 0, 2), (0, 0, 0, 0))
    theatre.stage.place("last", "odom", (0, 0, 0))
    frames = viewer._moments.frames
    theatre.wait_for(lambda: viewer.scene.links and frames.known("last"), "the transform after the bad ones")
    theatre.executor.spin_once(timeout_sec=0.05)
    assert stands_at(viewer, "base_link", (0, 0, 0))
    assert stands_at(viewer, "arm", (1, 0, 1))


def test_the_page_shows_the_state_of_the_simulator(theatre: Theatre) -> None:
    """The progress of compilation, then the pace. Other statuses are not shown."""
    viewer = theatre.open_viewer()
    assert viewer.scene._state_text.multiline  # the panel would cut a single line off before the share
    for state in ("preparing the physics (only after an update): 40 %, about 12 s left", "in real time"):
        theatre.stage.state = state
        theatre.wait_for(lambda: viewer.scene._state_text.value == state, state)  # noqa: B023, waits at once


def test_later_pages_look_at_the_present_position(theatre: Theatre) -> None:
    viewer = theatre.open_viewer()
    theatre.stage.describe(MACHINE)
    camera = viewer.scene.server.initial_camera
    theatre.stage.place("base_link", "odom", (0, 0, 0))
    theatre.wait_for(lambda: viewer.scene.links and 0 < camera.look_at[0] < 1, "a camera on the machine")
    distance = np.linalg.norm(camera.position - camera.look_at)
    assert 1.6 < distance < 10.0  # the machine is 1.6 m long
    theatre.stage.place("base_link", "odom", (30, 0, 0))
    theatre.wait_for(lambda: 30 < camera.look_at[0] < 31, "a camera on the machine that has gone away")
    assert np.linalg.norm(camera.position - camera.look_at) == pytest.approx(distance)


def test_a_camera_follows_though_its_browser_is_slow(theatre: Theatre) -> None:
    """A browser that loads reports a camera of its own, then place and aim one after the other, in either order."""
    viewer = theatre.open_viewer()
    theatre.stage.describe(MACHINE)
    theatre.stage.place("base_link", "odom", (0, 0, 0))
    start = viewer.scene.server.initial_camera
    theatre.wait_for(lambda: viewer.scene.links and 0 < start.look_at[0] < 1, "a camera on the machine")
    theatre.wait_for(lambda: not viewer._aim_wanted, "the aim, which turns the cameras that are there")
    wanted = start.position - start.look_at
    view = {name: np.array(CAMERA[name]) for name in ("position", "look_at")}
    with opened(viewer.page.port) as browser:

        def report(**values: np.ndarray) -> None:
            view.update(values)
            numbers = {name: tuple(value.tolist()) for name, value in view.items()}
            browser.send(msgspec.msgpack.encode({**CAMERA, **numbers}))

        def hear() -> None:
            """Carries out what the viewer wants of the camera, and reports the camera before and after each change."""
            with suppress(TimeoutError):
                for message in messages(browser.recv(timeout=0.0)):
                    for name, kind in (("position", "SetCameraPositionMessage"), ("look_at", "SetCameraLookAtMessage")):
                        if message["type"] == kind and not message["initial"]:
                            report()
                            report(**{name: np.array(message[name])})

        def move(*places: float) -> None:
            for place in places:
                theatre.stage.place("base_link", "odom", (place, 0, 0))
                theatre.wait_for(lambda place=place: stands_at(viewer, "base_link", (place, 0, 0)), "the machine")

        def goes_along(offset: np.ndarray, beyond: float) -> bool:
            hear()
            return bool(view["look_at"][0] > beyond and np.allclose(view["position"] - view["look_at"], offset))

        report()
        theatre.wait_for(lambda: viewer.scene.cameras._followers, "the browser's camera")
        report(look_at=start.look_at)  # its place is still its own
        move(1.0, 2.0, 3.0)
        theatre.wait_for(lambda: goes_along(wanted, 2.9), "a camera that has gone along with the machine")
        user = np.array([3.0, 0.0, 2.0])
        report(position=view["look_at"] + user)
        move(4.0, 5.0)
        theatre.wait_for(lambda: goes_along(user, 4.9), "a camera that has gone along as the user has turned it")


def test_viewer_shows_latched_and_later_machines(theatre: Theatre) -> None:
    theatre.stage.describe(MACHINE)
    theatre.stage.forces = {"base_link": (0.0, 0.0, 100.0)}
    viewer = theatre.open_viewer()
    theatre.wait_for(lambda: handle(viewer, "/contact_forces"), "the machine that was there before, and its force")
    base = viewer.scene.nodes["base_link"]
    theatre.stage.describe(OTHER_MACHINE)
    theatre.wait_for(lambda: viewer.scene.links == ("ball",), "the other machine")
    for name in ("/contact_forces", base, f"{base}/0", f"{base}/arm"):
        assert handle(viewer, name) is None
    theatre.stage.describe("<robot name='broken'>")
    theatre.stage.describe(MACHINE)
    theatre.wait_for(lambda: viewer.scene.links == ("base_link", "arm"), "the machine after one that cannot be read")
