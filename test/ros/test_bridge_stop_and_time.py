"""A bridge beside an emergency stop, and in a simulation whose time is set back."""

import math

import pytest
from bridge_pieces import mapping, message, said
from bridge_pieces import signal as map_signal
from patience import wait_until
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from grouser.bridges.bridge import Bridge
from grouser.bridges.link import LinkState
from grouser.bridges.loop_plant import LoopPlant
from grouser.nodes.shared import topics

DRUM = "joint/drum_joint/velocity"
TIMEOUT = 0.5


class Hand:
    """A bridge that acts in this thread, with a clock of its own: one message, then the steps of a request."""

    def __init__(self, peer, node):
        self.peer, self.node, self.now, self.sent = peer, node, 0.0, []
        outgoing = message("show", map_signal("v", DRUM), direction="out")
        incoming = message("lever", map_signal("v", DRUM), timeout=TIMEOUT)
        self.bridge = Bridge(
            mapping(incoming, outgoing, recovery="acknowledge", good=1),
            LoopPlant(lambda: node.mailbox, ""),
            lambda name, values: self.sent.append(values["v"]) or True,
            clock=lambda: self.now,
        )
        self.bridge.begin()

    @property
    def state(self):
        return self.bridge.states["lever"]

    def move(self, value):
        """Says where the lever is; returns the drum's speed a while later [rad/s]."""
        self.now += 0.02
        self.bridge.receive(said("lever", self.now, v=value))
        return self.wait()

    def wait(self, seconds=0.0):
        self.now += seconds
        self.bridge.watch(self.now)
        self.peer.step()
        self.now += 0.02
        self.bridge.say(self.now)
        return self.sent[-1]

    def acknowledge(self):
        return self.bridge.acknowledge(self.now)

    def release(self):
        return self.peer.ask(Trigger, "/simulator/clear_emergency_stop", Trigger.Request())


@pytest.fixture
def hand(peer, start_simulator):
    return Hand(peer, start_simulator(start_paused=True, step_request_count=200, reset_rewinds_time=True))


def test_the_stop_and_the_link_are_released_each_by_itself(hand):
    hand.move(0.0)
    assert hand.move(0.8) > 0.5
    hand.wait(2.0 * TIMEOUT)
    assert hand.state is LinkState.LATCHED
    hand.move(0.8)
    assert "not neutral" in hand.acknowledge()["lever"]  # it stays to be acknowledged
    hand.bridge.receive(said("lever", hand.now, v=0.0))
    hand.peer.say(topics.EMERGENCY_STOP, Bool(data=True))
    wait_until(lambda: hand.node.report.emergency_stop, "that the simulator hears it")  # it ends a request for steps
    assert hand.wait() == pytest.approx(0.0, abs=0.01)
    hand.move(0.0)
    assert hand.acknowledge() == {}  # during the stop
    hand.move(0.0)
    assert hand.state is LinkState.LIVE
    assert hand.move(0.8) == pytest.approx(0.0, abs=0.01)  # live, and stopped all the same
    answer = hand.release()
    assert not answer.success and "neutral" in answer.message
    hand.wait(2.0 * TIMEOUT)
    assert hand.state is LinkState.LATCHED
    answer = hand.release()  # of the stop alone: the link is silent, its command safe
    assert (answer.success, answer.message) == (True, "released")
    assert hand.move(0.8) == pytest.approx(0.0, abs=0.01)
    hand.move(0.0)
    assert hand.acknowledge() == {}
    hand.move(0.0)
    assert hand.move(0.8) > 0.5


def test_a_bridge_goes_on_when_time_is_set_back(hand):
    hand.move(0.0)
    assert hand.move(0.8) > 0.5
    count, sent = hand.bridge.figures.event_to_command.distribution().count, len(hand.sent)
    assert hand.peer.ask(Trigger, "/simulator/reset", Trigger.Request()).success
    assert hand.move(0.8) > 0.5
    assert hand.state is LinkState.LIVE
    assert hand.bridge.figures.event_to_command.distribution().count == count + 1
    assert len(hand.sent) == sent + 1 and all(map(math.isfinite, hand.sent))
    hand.wait(2.0 * TIMEOUT)
    assert hand.state is LinkState.LATCHED
    assert hand.wait() == pytest.approx(0.0, abs=0.01)
