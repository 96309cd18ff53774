"""Two simulators in one ROS domain: each says that there is another, and nothing is said of what does no harm."""

import time

import pytest
from geometry_msgs.msg import TransformStamped
from patience import DEADLINE
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from tf2_msgs.msg import TFMessage

from grouser.nodes.shared import topics
from grouser.nodes.simulator.neighbours import NeighbourWatch


@pytest.fixture
def watched(peer):
    """A node with a publisher of the clock, watched, and its warnings."""
    node = Node("simulator")
    node.create_publisher(Clock, topics.CLOCK, topics.CLOCK_QUALITY)
    warnings = []
    watch = NeighbourWatch(node, lambda: {"odom", "base_link"}, warnings.append)
    peer.run(node)
    yield watch, warnings, node
    peer.leave(node)
    watch.destroy()
    node.destroy_node()


def looked(peer, watch, count=2):
    """Waits until the graph has been looked at some times more."""
    since = watch.looks
    peer.wait_for(lambda: watch.looks >= since + count, "a look at the graph")


def test_a_simulator_alone_has_nothing_to_warn_of(peer, watched):
    watch, warnings, _ = watched
    watch.begin()
    looked(peer, watch)
    assert warnings == []


def test_subscribers_of_the_clock_and_transforms_of_other_frames_do_no_harm(peer, watched):
    watch, warnings, _ = watched
    peer.hear(Clock, topics.CLOCK, topics.CLOCK_QUALITY)
    peer.say(topics.TF, TFMessage(transforms=[TransformStamped(child_frame_id="gripper")]), topics.TF_QUALITY)
    watch.begin()
    looked(peer, watch)
    assert warnings == []


def test_a_second_clock_is_told_once_by_its_node(peer, watched):
    watch, warnings, _ = watched
    watch.begin()
    looked(peer, watch)
    peer.node.create_publisher(Clock, topics.CLOCK, topics.CLOCK_QUALITY)
    peer.wait_for(lambda: warnings, "a warning")
    looked(peer, watch)
    (warning,) = warnings
    assert "/peer publishes /clock, too" in warning and "ROS_DOMAIN_ID" in warning
    assert "services" not in warning  # its name is another


def test_a_second_clock_of_the_same_name_is_told(peer, watched):
    watch, warnings, _ = watched
    watch.begin()
    looked(peer, watch)
    twin = Node("simulator")
    twin.create_publisher(Clock, topics.CLOCK, topics.CLOCK_QUALITY)
    peer.wait_for(lambda: warnings, "a warning")
    twin.destroy_node()
    (warning,) = warnings
    assert "/simulator publishes /clock, too" in warning and "also named /simulator" in warning


def test_a_clock_that_was_heard_before_the_start_is_told(peer, watched):
    watch, warnings, _ = watched
    clock = peer.node.create_publisher(Clock, topics.CLOCK, topics.CLOCK_QUALITY)
    peer.wait_for(lambda: clock.get_subscription_count() > 0, "who hears the clock")

    def heard():
        clock.publish(Clock())
        return watch.clock_heard

    peer.wait_for(heard, "that the clock is heard")
    watch.begin()
    peer.wait_for(lambda: warnings, "a warning")
    assert "/peer publishes /clock, too" in warnings[0]


def test_a_listed_clock_that_is_not_heard_may_be_of_a_killed_process(peer, watched):
    watch, warnings, _ = watched
    peer.node.create_publisher(Clock, topics.CLOCK, topics.CLOCK_QUALITY)
    peer.wait_for(lambda: peer.node.count_publishers(topics.CLOCK) == 2, "both publishers")
    watch.begin()
    looked(peer, watch)
    assert warnings == []


@pytest.mark.parametrize("hidden", [range(0), range(25, 38)])
def test_a_clock_that_is_listed_for_longer_than_the_lease_is_told(peer, monkeypatch, hidden):
    """A simulator that was paused before this one started: nothing was heard of it, and it may be lost for a while."""
    node, warnings = Node("simulator"), []
    node.create_publisher(Clock, topics.CLOCK, topics.CLOCK_QUALITY)
    peer.node.create_publisher(Clock, topics.CLOCK, topics.CLOCK_QUALITY)
    watch = NeighbourWatch(node, set, warnings.append)  # nothing spins it: every look is this test's
    watch.begin()
    peer.wait_for(lambda: node.count_publishers(topics.CLOCK) == 2, "both publishers")
    listed = watch._clock_publishers()
    own = [endpoint for endpoint in listed if endpoint.node == "/simulator"]
    monkeypatch.setattr(watch, "_clock_publishers", lambda: own if watch.looks - 1 in hidden else listed)
    for _ in range(31):
        watch.look()
    assert warnings == []
    for _ in range(10):
        watch.look()
    (warning,) = warnings
    assert "/peer publishes /clock, too" in warning
    watch.destroy()
    node.destroy_node()


def test_frames_that_somebody_else_publishes_are_told(peer, watched):
    watch, warnings, _ = watched
    edges = [TransformStamped(child_frame_id=name) for name in ("base_link", "gripper")]
    peer.say(topics.TF, TFMessage(transforms=edges), topics.TF_QUALITY)
    peer.wait_for(lambda: watch.frames_heard, "that the transforms are heard")
    watch.begin()
    looked(peer, watch)
    (warning,) = warnings
    assert "transforms of base_link on /tf" in warning and "publish_link_tf" in warning


def test_two_simulators_in_a_domain_say_so(compiled, peer, launch, loader_file):
    first = launch("grouser.nodes.simulator", "--ros-args", "-p", f"machine:={loader_file}")
    peer.hear(Clock, topics.CLOCK, topics.CLOCK_QUALITY).collect(20)
    second = launch("grouser.nodes.simulator", "--ros-args", "-p", f"machine:={loader_file}")
    end = time.monotonic() + DEADLINE
    lines = {}
    for name, process in (("second", second), ("first", first)):
        lines[name] = []
        while "there are two clocks" not in "".join(lines[name]):
            assert time.monotonic() < end, lines
            lines[name].append(process.stdout.readline())
    told = "".join(lines["second"])
    assert f"({loader_file}) in the world flat" in told and "step 1 ms, as /simulator in ROS domain" in told
    assert told.index("in the world flat") < told.index("there are two clocks")  # "running" may come on either side
    for name in lines:
        assert "also named /simulator" in lines[name][-1]
