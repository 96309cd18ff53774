"""The table of streams: it agrees with what `grouser conform` expects of any simulator, and samples what it says."""

import numpy as np

import grouser
from grouser import catalogue
from grouser.conformance import standard
from grouser.runtime.streams import RATES, STREAMS, take_sample


def expected(output: standard.Output) -> tuple:
    package, name = output.type.split("/")
    return (
        f"{package}/msg/{name}",
        output.depth,
        output.reliability == standard.RELIABLE,
        output.durability == standard.TRANSIENT_LOCAL,
        output.single,
    )


def test_the_table_agrees_with_the_interface_that_conform_expects():
    expectations = {output.name: expected(output) for output in standard.OUTPUTS}
    published = {
        topic: (stream.type, stream.quality.depth, stream.quality.reliable, stream.quality.latched, stream.single)
        for topic, stream in STREAMS.items()
    }
    assert published == expectations


def test_the_rates_agree_with_the_interface_that_conform_expects():
    expectations = {output.name: (output.rate_parameter, output.rate) for output in standard.OUTPUTS}
    rates = {
        topic: ("", None)
        if stream.rate is None or stream.rate.wall  # conform measures no wall time
        else (stream.rate.parameter, stream.rate.default)
        for topic, stream in STREAMS.items()
    }
    assert rates == expectations
    assert {name for name in standard.PARAMETERS if name.endswith("_rate")} == set(RATES)


def test_every_sampled_stream_has_a_rate():
    assert all(stream.rate is not None for stream in STREAMS.values() if stream.sample is not None)


def test_only_streams_that_are_due_are_sampled():
    machine = grouser.load_machine(catalogue.machine_file("rover"))
    simulation = grouser.Simulation(machine, grouser.load_world(catalogue.world_file("flat")))
    due = {"joint_states", "imu/<name>/data"}
    sample = take_sample(simulation, 5, due)
    assert (sample.nanoseconds, set(sample.values)) == (5, due)
    np.testing.assert_array_equal(sample.values["joint_states"][0], simulation.joint_position.values())
    assert len(sample.values["imu/<name>/data"]) == sum(sensor.type == "imu" for sensor in machine.sensors)


def test_a_topic_of_many_items_has_valid_names():
    reactions = STREAMS["joint_reactions/<joint>"]
    assert reactions.topics(["boom pin", "boom-pin", "2nd"]) == {
        "boom pin": "joint_reactions/boom_pin",
        "boom-pin": "joint_reactions/boom_pin_2",
        "2nd": "joint_reactions/_2nd",
    }
