"""A timeline shows every moment of a recorded run with the same bits, in whichever order moments are asked for."""

import random
from dataclasses import replace

import pytest

import grouser
from grouser import catalogue
from grouser.physics.base.errors import ParameterError
from grouser.physics.description import parse_machine
from grouser.physics.description.data.machine import Member
from grouser.physics.description.data.pose import Pose
from grouser.physics.simulation.capacity import StateCapacity, with_capacity
from grouser.physics.simulation.transfer import simulate, transfer_state
from grouser.recording.events import Commanded, Left, Rewound, StateReached, WasReset, joined_together
from grouser.recording.mcap_file import Recording, RecordingWriter
from grouser.recording.origin import Origin
from grouser.recording.state_hash import state_hash
from grouser.recording.timeline import Timeline

STEP = 0.002
# More than the run needs; what is unused is the same everywhere.
LARGE = StateCapacity(tiles=1024, contacts=256, grains=0, grain_pairs=0, grain_contacts=0)
BOX = """<robot name="box"><link name="box">
  <inertial><mass value="20"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.4 0.4 0.4"/></geometry></collision></link></robot>"""


def bits(simulation):
    """Hash of the state, whatever its capacity."""
    return state_hash(with_capacity(simulation.state, LARGE))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A rover that drives on sand while a box comes and goes, is reset, and whose time is rewound.

    The file, and moment -> the hash of the state there after the events of the moment.
    """
    file = tmp_path_factory.mktemp("timeline") / "run.mcap"
    rover = grouser.load_machine(catalogue.machine_file("rover"))
    world = grouser.load_world(catalogue.world_file("sand"))
    members = {
        "rover": Member(rover, Pose((0.0, 0.0, 0.3))),
        "box": Member(parse_machine(BOX, "box.urdf"), Pose((3.0, 0.0, 0.5))),
    }
    lone = {"rover": members["rover"]}
    simulation = simulate(lone, world, STEP)
    hashes = {}
    with file.open("xb") as stream:
        writer = RecordingWriter(stream, Origin.of(simulation, {}))
        step, moment = 0, 0
        wheels = sorted(simulation.command.drives)

        def note(event):
            writer.write(round(1e9 * step * STEP), event)

        def drive(steps):
            nonlocal step, moment
            speed = dict.fromkeys(wheels, 1.0 + 0.5 * moment / (moment + 100))
            simulation.command.update(speed)
            note(Commanded(step, speed))
            for _ in range(steps // 25):
                hashes[moment] = bits(simulation)
                simulation.step(25)
                step, moment = step + 25, moment + 25
            note(StateReached(step, state_hash(simulation.state)))

        def exchange(present, events):
            nonlocal simulation
            before, simulation = simulation, simulate(present, world, STEP)
            transfer_state(before, simulation)
            for event in events:
                note(event)

        drive(200)
        exchange(members, joined_together({"box": members["box"]}, step))
        drive(150)
        exchange(lone, [Left(step, "box")])
        drive(100)
        note(WasReset(step, 50))
        simulation.reset()
        step = 50
        drive(150)
        note(Rewound(step))
        step = 0
        drive(100)
        hashes[moment] = bits(simulation)
        writer.finish("")
    return file, hashes


@pytest.mark.parametrize("memory", [2**30, 0])
def test_every_order_of_seeks_gives_the_recorded_bits(recorded, memory):
    file, hashes = recorded
    timeline = Timeline(Recording(file), memory)
    assert timeline.end == max(hashes)
    order = [*hashes, *reversed(hashes), *random.Random(3).sample(sorted(hashes), len(hashes) // 4)]
    if memory == 0:  # all from the two checkpoints that are always kept
        order = [timeline.end, 0, timeline.end // 2, timeline.end // 2 - 25, 25]
    for moment in order:
        timeline.seek(moment)
        assert timeline.moment == moment
        assert bits(timeline.simulation) == hashes[moment], moment
    assert timeline.differences == {} and timeline.compared == 5
    assert timeline.problem == ""


def test_checkpoints_stay_within_their_memory(recorded):
    file, _ = recorded
    timeline = Timeline(Recording(file))
    one = timeline.checkpoint_memory
    timeline.seek(timeline.end)
    assert timeline.checkpoint_memory > 6 * one
    bounded = Timeline(Recording(file), memory=4 * one)
    for moment in (bounded.end, 30, bounded.end):
        bounded.seek(moment)
        assert bounded.checkpoint_memory <= 4 * one


def test_stamps_are_those_of_the_run(recorded):
    timeline = Timeline(Recording(recorded[0]))
    stamps = []
    for moment in (449, 450, 599, 600, 700):
        timeline.seek(moment)
        stamps.append(timeline.step)
    assert stamps == [449, 50, 199, 0, 100]


def test_difference_is_kept_with_its_moment_and_the_replay_goes_on(recorded, tmp_path):
    file, _ = recorded
    recording = Recording(file)
    events = list(recording.events())
    with (tmp_path / "changed.mcap").open("xb") as stream:
        writer = RecordingWriter(stream, recording.origin)
        for number, event in enumerate(events):
            wrong = isinstance(event, StateReached) and event.step == 350
            writer.write(number, replace(event, hash="0" * 32) if wrong else event)
        writer.finish("")
    timeline = Timeline(Recording(tmp_path / "changed.mcap"))
    timeline.seek(timeline.end)
    assert list(timeline.differences) == [350] and timeline.compared == 4
    assert "recorded: 00000" in timeline.differences[350]


def test_moments_outside_are_refused(recorded):
    timeline = Timeline(Recording(recorded[0]))
    for moment in (-1, timeline.end + 1):
        with pytest.raises(ParameterError, match="from 0 to 700"):
            timeline.seek(moment)
