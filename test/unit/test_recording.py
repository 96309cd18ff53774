"""Recordings replay bit by bit; changed, truncated and invalid files are reported."""

import itertools
import random
import subprocess
import sys
import textwrap
import threading
from dataclasses import replace
from pathlib import Path

import numba
import numpy as np
import pytest
import trimesh
from patience import DEADLINE

import grouser
from grouser import catalogue, cli
from grouser.commands.replay import replay
from grouser.physics.base.trees import leaves
from grouser.physics.soil.tiles import with_capacity
from grouser.recording.events import Commanded, FaultsChanged, Pushed, StateReached, Stopped, WasReset
from grouser.recording.mcap_file import Recording, RecordingWriter
from grouser.recording.origin import Origin
from grouser.recording.recorder import Recorder
from grouser.recording.state_hash import state_hash
from grouser.recording.timeline import Timeline
from grouser.runtime.driving import Driver
from grouser.runtime.mailbox import Mailbox
from grouser.runtime.pacing import Pacer
from grouser.runtime.physics_loop import PhysicsLoop
from grouser.runtime.robot_runtime import RobotRuntime
from grouser.runtime.schedule import StreamSchedule
from grouser.runtime.supervision import CommandSupervisor
from grouser.runtime.vehicle_parts import make_vehicle

STEP = 0.001


def make_simulation(machine, world, step=STEP):
    files = catalogue.machine_file(machine), catalogue.world_file(world)
    return grouser.Simulation(grouser.load_machine(files[0]), grouser.load_world(files[1]), step=step)


class RecordedLoop:
    """A paused loop of the physics thread that records, from its start or later, and the mailbox that commands it."""

    def __init__(self, simulation, world, file, drives=False, later=False):
        self.simulation = simulation
        self.recorder = Recorder(file, lambda text: None)
        if not later:
            self.recorder.begin(Origin.of(simulation, {}))
        self.refusals = []
        self.mailbox = Mailbox()
        supervisor = CommandSupervisor(simulation.step_size, 0.0, {}, None, lambda text: None)
        driver = Driver(make_vehicle(simulation.machine), simulation) if drives else None
        self.loop = PhysicsLoop(
            simulation,
            StreamSchedule.from_rates({"clock": 100.0}, simulation.step_size, 0.01),
            Pacer(simulation.step_size, 1.0, 0.1),
            {"": RobotRuntime(simulation, supervisor, driver=driver)},
            self.mailbox,
            lambda sample, may_wait: True,
            self.refusals.append,
            lambda text: None,
            start_paused=True,
            recorder=None if later else self.recorder,
        )
        self.thread = threading.Thread(target=self.loop.run, daemon=True)
        self.thread.start()

    def call(self, function):
        return self.mailbox.call(function).result(DEADLINE)

    def advance(self, steps, commands=None):
        if commands:
            self.mailbox.post_commands("test", commands)
        return self.call(lambda loop: loop.step_paused(steps)).success

    def end(self):
        self.loop.finish()
        self.thread.join(DEADLINE)
        self.recorder.close()
        assert self.recorder.problem == ""


@pytest.fixture(scope="module")
def robot():
    return make_simulation("demolition_robot", "flat")


@pytest.fixture(scope="module")
def recorded(robot, tmp_path_factory):
    """A recording of the demolition robot on its feet, with random commands and every kind of event."""
    file = tmp_path_factory.mktemp("recording") / "robot.mcap"
    robot.reset()
    robot.faults.clear()
    loop = RecordedLoop(robot, "flat", file)
    chance = random.Random(7)

    def play(steps):
        for _ in range(steps // 50):
            assert loop.advance(50, {name: chance.uniform(-1.0, 1.0) for name in robot.command.valves})

    play(1200)
    fault = robot.faults.catalogue[0]
    loop.call(lambda loop: loop.set_faults("", {(fault.component, fault.name): fault.highest if fault.unit else True}))
    play(400)
    loop.call(lambda loop: loop.stop_robot(""))
    assert loop.advance(203)
    assert loop.call(lambda loop: loop.reset(rewind_time=False)).success
    play(800)
    loop.call(PhysicsLoop.clear_faults)
    assert loop.call(lambda loop: loop.reset(rewind_time=True)).success
    play(1300)
    assert loop.call(PhysicsLoop.rewind).success
    play(100)
    loop.end()
    return file


def test_state_hash_depends_on_every_bit(robot):
    rover = make_simulation("rover", "sand")
    rover.step(5)
    chance = random.Random(1)
    for simulation in (robot, rover):
        state = simulation.snapshot().state
        original = state_hash(state)
        for number, array in enumerate(leaves(state)):
            if array.size:
                data = array.reshape(-1).view(np.uint8)
                place, bit = chance.randrange(data.size), chance.randrange(8)
                data[place] ^= 1 << bit
                assert state_hash(state) != original, number
                data[place] ^= 1 << bit
        assert state_hash(state) == original
        longer = state._replace(joints=state.joints._replace(bristle=np.append(state.joints.bristle, 0.0)))
        assert state_hash(longer) != original


def test_robot_recording_replays_bit_by_bit_in_another_process(recorded):
    done = subprocess.run(
        [sys.executable, "-m", "grouser.cli", "replay", str(recorded)],
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the same to the last bit: 9 states up to t = 0.100 s" in done.stdout
    assert "incomplete" not in done.stdout


def test_recording_contains_all_events(recorded):
    events = list(Recording(recorded).events())
    kinds = {type(event).__name__ for event in events}
    assert kinds == {"Commanded", "FaultsChanged", "Stopped", "WasReset", "Rewound", "StateReached"}
    commands = [event for event in events if isinstance(event, Commanded)]
    assert len(commands) == (1200 + 400 + 800 + 1300 + 100) // 50
    assert [event.step for event in events if isinstance(event, StateReached)] == [
        *(0, 1000, 1803),
        *(2000, 2603),
        *(0, 1000),
        *(0, 100),
    ]


def test_rover_on_soil_replays_with_any_tile_capacity(tmp_path):
    """As after a reset, which keeps the capacity of tiles."""
    rover = make_simulation("rover", "sand")
    rover.step(1)
    rover.reset()
    soil = rover.state.soil
    rover.use_state(rover.state._replace(soil=with_capacity(soil, 2 * len(soil.tile_place))))
    loop = RecordedLoop(rover, "sand", tmp_path / "rover.mcap", drives=True)
    assert loop.advance(1000, {"twist.x": 0.3, "twist.yaw": 0.1})
    assert loop.advance(1000, {"twist.x": -0.2, "twist.yaw": 0.0})
    assert loop.call(lambda loop: loop.reset(rewind_time=False)).success
    assert loop.advance(10, {"twist.x": 0.3})
    loop.end()
    result = replay(Recording(tmp_path / "rover.mcap"))
    assert (result.difference, result.compared, result.time) == (None, 5, pytest.approx(2.01))
    # Ruts, and contacts with them, are also in the state with which a later recording begins.
    loop = RecordedLoop(rover, "sand", tmp_path / "part.mcap", drives=True, later=True)
    assert loop.advance(300, {"twist.x": 0.3, "twist.yaw": -0.2})
    assert loop.call(lambda one: one.begin_recording(loop.recorder, {})).success
    assert loop.advance(300, {"twist.x": 0.3})
    loop.end()
    result = replay(Recording(tmp_path / "part.mcap"))
    assert (result.difference, result.compared) == (None, 2)


def test_a_recording_may_begin_and_end_in_the_midst_of_a_run(robot, tmp_path):
    """With commands, a fault, a push and an emergency stop in effect at its beginning; then a reset."""
    file = tmp_path / "part.mcap"
    robot.reset()
    robot.faults.clear()
    loop = RecordedLoop(robot, "flat", file, later=True)
    fault = robot.faults.catalogue[0]
    loop.call(lambda loop: loop.set_faults("", {(fault.component, fault.name): fault.highest if fault.unit else True}))
    assert loop.advance(400, {"boom_valve": 0.6})
    loop.call(lambda loop: loop.push("", "boom_link", (0.0, 800.0, 0.0), (30.0, 0.0, 0.0)))
    assert loop.advance(120)
    assert loop.call(lambda one: one.begin_recording(loop.recorder, {})).success
    assert loop.loop.report.recording.file == str(file)
    assert "already" in loop.call(lambda one: one.begin_recording(loop.recorder, {})).message
    assert loop.advance(500, {"boom_valve": -0.4})
    loop.call(lambda loop: loop.push("", "stick_link", (300.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    assert loop.advance(40)
    loop.call(lambda loop: loop.push("", "stick_link", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    assert loop.advance(300)
    loop.call(lambda loop: loop.stop_robot(""))
    assert loop.advance(60)
    assert loop.call(lambda loop: loop.reset(rewind_time=False)).success
    assert loop.advance(80, {"boom_valve": 0.2})
    assert loop.call(PhysicsLoop.end_recording).success
    assert "nothing" in loop.call(PhysicsLoop.end_recording).message
    assert loop.advance(100)  # no longer in it
    loop.end()
    assert loop.refusals == []
    events = list(Recording(file).events())
    pushes = [(event.step, event.link, any(event.force)) for event in events if isinstance(event, Pushed)]
    # The push on the boom ends by itself after half a second without another.
    assert pushes == [(900, "boom_link", False), (1020, "stick_link", True), (1060, "stick_link", False)]
    result = replay(Recording(file))
    assert (result.difference, result.compared, result.time) == (None, 4, pytest.approx(1.5))
    timeline = Timeline(Recording(file))
    assert (timeline.moment, timeline.step, timeline.end) == (0, 520, 980)
    timeline.seek(timeline.end)
    timeline.seek(0)
    timeline.seek(500)
    assert (timeline.step, timeline.differences, timeline.compared) == (1020, {}, 4)


def test_a_state_of_another_machine_is_refused(robot, tmp_path):
    file, changed = tmp_path / "part.mcap", tmp_path / "changed.mcap"
    robot.reset()
    loop = RecordedLoop(robot, "flat", file, later=True)
    assert loop.advance(10)
    assert loop.call(lambda one: one.begin_recording(loop.recorder, {})).success
    loop.end()

    def lacking(path, **values):
        def change(events):
            state = {**events[0].state, path: {**events[0].state[path], **values}}
            return [replace(events[0], state=state), *events[1:]]

        return change

    for values in ({"shape": [3]}, {"data": "!"}, {"type": "|O"}, {"data": "", "shape": [0]}):
        changed.unlink(missing_ok=True)
        rewrite(file, changed, lacking("/q", **values))
        with pytest.raises(grouser.MachineError, match="cannot be replayed: state = "):
            replay(Recording(changed))


def rewrite(source, target, change):
    """Copies a recording with its events changed, in good order."""
    recording = Recording(source)
    events = list(recording.events())
    with target.open("wb") as stream:
        writer = RecordingWriter(stream, recording.origin)
        for event in change(events):
            writer.write(round(event.step * STEP * 1e9), event)
        writer.finish(recording.problem)


def test_changed_command_bit_is_found_in_its_second(recorded, tmp_path, capsys):
    def change(events):
        place = next(i for i, event in enumerate(events) if isinstance(event, Commanded) and event.step == 1100)
        first = next(iter(events[place].values))
        values = {**events[place].values, first: np.nextafter(events[place].values[first], 0.0)}
        return [*events[:place], Commanded(1100, values), *events[place + 1 :]]

    changed = tmp_path / "changed.mcap"
    rewrite(recorded, changed, change)
    assert cli.main(["replay", str(changed)]) == 1
    assert "the first difference is in second 1, at t = 1.803 s: the state has the hash" in capsys.readouterr().out


@pytest.mark.parametrize(("kind", "time"), [(Stopped, 1.803), (WasReset, 2.0), (FaultsChanged, 1.803)])
def test_removed_events_are_found(recorded, tmp_path, kind, time):
    changed = tmp_path / "changed.mcap"
    rewrite(recorded, changed, lambda events: [event for event in events if not isinstance(event, kind)])
    result = replay(Recording(changed))
    assert "hash" in result.difference and result.time == pytest.approx(time)


def test_different_versions_are_reported_as_hints(recorded, tmp_path, capsys):
    recording = Recording(recorded)
    origin = replace(recording.origin, versions={**recording.origin.versions, "numba": "0.1"}, system="another")
    with (tmp_path / "changed.mcap").open("wb") as stream:
        writer = RecordingWriter(stream, origin)
        writer.write(0, StateReached(0, "0" * 32))
        writer.finish("")
    assert cli.main(["replay", str(tmp_path / "changed.mcap")]) == 1
    said = capsys.readouterr().out
    assert "the first difference is in second 0, at t = 0.000 s" in said
    assert "machine and world already come out differently" in said
    assert f"recorded with numba 0.1, replayed with {numba.__version__}" in said


DIVERGING = """<robot name="diverging"><link name="world"/>
  <link name="arm"><inertial><origin xyz="1 0 0"/><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="joint" type="continuous"><parent link="world"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit effort="1e300" velocity="1"/></joint>
  <grouser><servo_drive joint="joint" mode="effort"/></grouser></robot>"""


def test_divergence_is_recorded_and_replayed(tmp_path):
    machine, file = tmp_path / "diverging.urdf", tmp_path / "run.mcap"
    machine.write_text(DIVERGING)
    loop = RecordedLoop(make_simulation(str(machine), "flat"), "flat", file)
    assert loop.advance(1500)
    assert not loop.advance(10, {"joint": 1e300})
    assert loop.call(lambda loop: loop.reset(rewind_time=False)).success
    assert loop.advance(500)
    loop.end()
    result = replay(Recording(file))
    # The speed of the first step, 1e297 rad/s, is finite; its square is not.
    assert result.difference is None and result.time == pytest.approx(2.002)
    rewrite(file, tmp_path / "changed.mcap", lambda events: [e for e in events if not isinstance(e, Commanded)])
    result = replay(Recording(tmp_path / "changed.mcap"))
    assert result.difference.startswith("no divergence; recorded: the simulation diverged at t = 1.502000 s: joint")


@pytest.mark.parametrize("share", [0.1, 0.4, 0.7])  # of the file, which ends with an index
def test_truncated_recording_is_reported_and_replays_up_to_its_end(recorded, tmp_path, capsys, share):
    cut = tmp_path / "cut.mcap"
    data = recorded.read_bytes()
    cut.write_bytes(data[: int(share * len(data))])
    status = cli.main(["replay", str(cut)])
    said = capsys.readouterr()
    assert "cut off" in said.out + said.err and str(cut) in said.out + said.err
    assert status == (0 if "the same to the last bit" in said.out else cli.EXIT_BAD_INPUT)


def test_damaged_recording_is_reported(recorded, tmp_path, capsys):
    data = bytearray(recorded.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "damaged.mcap").write_bytes(data)
    status = cli.main(["replay", str(tmp_path / "damaged.mcap")])
    said = capsys.readouterr()
    assert "damaged" in said.out + said.err and status in (0, cli.EXIT_BAD_INPUT)


def test_files_that_are_not_recordings_are_refused(recorded, tmp_path, capsys):
    (tmp_path / "empty.mcap").touch()
    (tmp_path / "text.mcap").write_text("not MCAP at all\n" * 100)
    with (tmp_path / "old.mcap").open("wb") as stream:
        RecordingWriter(stream, Recording(recorded).origin, format=0).finish("")
    for name, words in (
        ("empty.mcap", "not a recording of grouser"),
        ("text.mcap", "not a recording of grouser"),
        ("absent.mcap", "cannot be read: No such file"),
        ("old.mcap", "not a recording in format 6"),
    ):
        assert cli.main(["replay", str(tmp_path / name)]) == cli.EXIT_BAD_INPUT
        said = capsys.readouterr().err
        assert said.startswith(f"grouser replay: {tmp_path / name}: {words}") and said.count("\n") == 1


def test_changed_map_file_is_named(tmp_path, capsys):
    heights = tmp_path / "heights.csv"
    heights.write_text("0,0,0\n0,0,0\n0,0,0\n")
    world = tmp_path / "world.yaml"
    world.write_text("ground: {heightfield: {file: heights.csv, cell: 5.0}}\n")
    simulation = make_simulation("demolition_robot", str(world))
    loop = RecordedLoop(simulation, str(world), tmp_path / "robot.mcap")
    assert loop.advance(10)
    loop.end()
    assert cli.main(["replay", str(tmp_path / "robot.mcap")]) == 0
    heights.write_text("0,0,0\n0,0.01,0\n0,0,0\n")
    capsys.readouterr()
    assert cli.main(["replay", str(tmp_path / "robot.mcap")]) == cli.EXIT_BAD_INPUT
    assert f"{heights}: the file has changed since it was recorded" in capsys.readouterr().err


def test_existing_recording_is_not_overwritten(recorded):
    with pytest.raises(grouser.ParameterError, match="a new file in a folder that exists"):
        Recorder(recorded, print)


def test_recording_reports_a_slow_disk(robot, tmp_path):
    """Events without a pause between them, faster than the writing thread."""
    warnings = []
    recorder = Recorder(tmp_path / "burst.mcap", warnings.append)
    robot.reset()
    recorder.begin(Origin.of(robot, {}))
    recorder.note_state(0, 0, robot.state)
    for number in itertools.count():
        recorder.note(0, Commanded(0, dict.fromkeys(robot.command.valves, number / 1e9)))
        if recorder.problem:
            break
    recorder.close()
    assert warnings == [f"the recording {tmp_path / 'burst.mcap'} ends before the run: the disk cannot keep up"]
    recording = Recording(tmp_path / "burst.mcap")
    assert replay(recording).difference is None
    assert recording.problem == "the disk cannot keep up"


def test_full_disk_ends_the_recording_but_not_the_run(tmp_path):
    """A limit on the size of files replaces a full disk."""
    script = textwrap.dedent(f"""
        import resource, signal, sys, time
        sys.path += {[str(folder) for folder in Path(__file__).parents[:2]]}
        from test_recording import RecordedLoop, make_simulation
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        loop = RecordedLoop(make_simulation("demolition_robot", "flat"), "flat", {str(tmp_path / "full.mcap")!r})
        while not (size := loop.recorder.file.stat().st_size):
            time.sleep(0.01)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, resource.RLIM_INFINITY))
        loop.advance(20)
        loop.loop.finish()
        loop.thread.join()
        loop.recorder.close()
        print(loop.recorder.problem, loop.simulation.step_count)
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=DEADLINE)
    assert done.stdout == "File too large 20\n", done.stderr


def test_base_and_packages_of_the_machine_are_replayed(tmp_path):
    """The root link is named world, but its base floats; the package of the mesh is only found by the given folder."""
    parts = tmp_path / "elsewhere" / "meshes"
    parts.mkdir(parents=True)
    trimesh.creation.box((0.2, 0.2, 0.2)).export(parts / "box.stl")
    urdf = tmp_path / "robot" / "a" / "b" / "c" / "d" / "e" / "box.urdf"
    urdf.parent.mkdir(parents=True)
    urdf.write_text(
        '<robot name="box"><link name="world"><inertial><mass value="8"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
        '<collision><geometry><mesh filename="package://parts/meshes/box.stl"/></geometry></collision></link></robot>'
    )
    machine = grouser.load_machine(urdf, base="floating", packages={"parts": parts.parent})
    world = catalogue.world_file("flat")
    loop = RecordedLoop(grouser.Simulation(machine, grouser.load_world(world), step=STEP), world, tmp_path / "box.mcap")
    assert loop.advance(20)
    loop.end()
    recording = Recording(tmp_path / "box.mcap")
    assert recording.origin.machine_base == "floating"
    assert recording.origin.machine_packages == {"parts": str(parts.parent)}
    assert replay(recording).difference is None
