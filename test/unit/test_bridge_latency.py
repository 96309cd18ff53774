"""The latency trial: every event of the stick is obeyed once and in order, and its figures fit together."""

import pytest

from grouser import experiments
from grouser.bridges.histogram import EDGES, distribution_of
from grouser.bridges.trials.rigs import RIGS

EVENTS = 40


@pytest.mark.slow
@pytest.mark.parametrize("bridge", RIGS)
def test_every_event_reaches_the_machine(bridge):
    parameters = {"machine": "hydraulic_lift", "events": EVENTS, "scheduling": "other", "interface": "slcan"}
    result = experiments.run("hil_latency", bridge=bridge, **parameters)
    assert result["sent"] == EVENTS
    assert result["obeyed"] + result["lost"] == EVENTS
    assert result["duplicated"] == 0
    assert sum(result["event_to_command_counts"]) == result["obeyed"]
    # what a busy computer keeps from a bridge is the latest of a queue, but for an adapter that takes nothing
    assert result["obeyed"] == EVENTS if bridge in ("joystick", "modbus", "opcua", "udp") else result["obeyed"] > 0
    heard = 0 if bridge == "joystick" else 1
    assert sum(result["loop_counts"]) >= heard
    assert (result["loop_max"] > result["force_to_reply_max"]) == bool(heard)
    # a busy computer may delay a step until the next event has replaced the command
    assert 0 < sum(result["command_to_force_counts"]) == sum(result["event_to_force_counts"]) <= EVENTS
    for name in ("event_to_command", "command_to_force", "event_to_force"):
        assert 0.0 < result[f"{name}_p50"] <= result[f"{name}_p99"] <= result[f"{name}_max"]
    assert result["event_to_force_max"] >= result["command_to_force_max"]
    assert result["steps"] > 0
    assert result["scheduling_got"] == "other"


def test_a_machine_without_valves_is_refused():
    with pytest.raises(ValueError, match="a machine with valves"):
        experiments.run("hil_latency", machine="rigid_pendulum")


def test_shares_are_the_smallest_values_that_so_many_do_not_exceed():
    figures = distribution_of([0.001 * number for number in range(1, 201)])
    assert (figures.count, figures.p50, figures.p99, figures.largest) == (200, 0.1, pytest.approx(0.198), 0.2)
    assert sum(figures.counts) == 200
    assert len(figures.counts) == len(EDGES) + 1


def test_classes_contain_their_lower_edges():
    figures = distribution_of([0.5e-6, 1e-6, 1.5e-6, 2e-6, 100.0])
    assert figures.counts[:3] == (1, 2, 1)
    assert figures.counts[-1] == 1
    assert distribution_of([]).p99 == 0.0
