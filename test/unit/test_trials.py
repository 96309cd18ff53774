"""Trials: runs as data, settings by address, measures."""

import math
import pickle
from pathlib import Path

import numpy as np
import pytest
import yaml

from grouser import Simulation, load_machine, load_world
from grouser.function_blocks.diagram import Diagram
from grouser.function_blocks.run import DiagramRun
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.description.text.yaml_reader import Reader
from grouser.physics.simulation.record import Record
from grouser.program import TimedCommand
from grouser.trials.measures import Measure, MeasureError
from grouser.trials.reading import read_measures, read_trial
from grouser.trials.trial import Trial

COMMANDS = [
    {"time": 0.1, "valve": "lift_valve", "value": 0.8, "ramp": 0.05},
    {"time": 0.2505, "valve": "lift_valve", "value": -0.3},
]
LIFT = """
machine: hydraulic_lift
duration: 0.4
step: 1e-3
every: 0.01
record: [lift, "pressure.lift.*"]
settings: {machine.cylinder.lift.bore: 4.5e-2}
program:
  period: 0.3
  repeat: true
  commands:
    - {time: 0.1, valve: lift_valve, value: 0.8, ramp: 0.05}
    - {time: 0.2505, valve: lift_valve, value: -0.3}
"""


@pytest.fixture(scope="module")
def lift():
    return read(LIFT)


def read(text, folder="."):
    return read_trial(Reader(str(Path(folder) / "trial.yaml")), yaml.compose(text))


def test_trial_is_what_python_does_step_by_step(lift):
    settings = {"machine.cylinder.lift.bore": 0.05, "world.gravity": 9.0, "program.commands.1.value": -0.5}
    record = pickle.loads(pickle.dumps(lift)).run(settings)
    world = load_world({"gravity": 9.0})
    simulation = Simulation(load_machine("hydraulic_lift").replace({"cylinder.lift.bore": 0.05}), world)
    expected = simulation.record(["lift", "pressure.lift.*"], 0.01)
    for step in range(400):
        moment, later = step * 0.001 % 0.3, step * 0.001 >= 0.3
        start = -0.5 if later else 0.0
        value = start
        if moment >= 0.1:
            value = start + (0.8 - start) * min((moment - 0.1) / 0.05, 1.0)
        simulation.command["lift_valve"] = -0.5 if moment >= 0.2505 else value
        simulation.step()
    np.testing.assert_allclose(record.values, expected.values, rtol=1e-9)
    assert record.units == expected.units and len(record) == 41
    assert np.ptp(record["lift"]) > 0.01
    again = pickle.loads(pickle.dumps(record))
    assert np.array_equal(again.values, record.values) and again.names == record.names
    assert np.array_equal(lift.run(settings).values, record.values)
    assert not np.array_equal(lift.run().values, record.values)


HOLD = """
machine: hydraulic_lift
duration: 1.0
record: [lift]
program:
  cycle: 0.01
  blocks:
    hold: {type: PID, SET: 0.1, IN: lift, gain: 2.0, lowest: -1, highest: 1}
  commands: {lift_valve: hold}
"""


def test_a_program_of_blocks_closes_the_loop():
    """A higher gain leaves less of the error, by the same bits as in Python."""
    trial, errors = read(HOLD), []
    for gain in (2.0, 8.0):
        record = trial.run({"program.blocks.hold.gain": gain})
        errors.append(0.1 - record["lift"][-1])
    assert 0.0 < errors[1] < 0.5 * errors[0] < 0.05
    simulation = Simulation(load_machine("hydraulic_lift"), load_world("flat"))
    diagram = Diagram(0.01)
    diagram.add("hold", "PID", SET=0.1, IN="lift", gain=8.0, lowest=-1.0, highest=1.0)
    diagram.command("lift_valve", "hold")
    run = DiagramRun(diagram, simulation.signals)
    for _ in range(100):
        simulation.command.update(run.execute({}))
        simulation.step(10)
    assert 0.1 - simulation.joint_position["lift"] == errors[1]
    with pytest.raises(MachineError, match="unknown key 'gaim'"):
        trial.check({"program.blocks.hold.gaim": 3.0})
    with pytest.raises(ParameterError, match="a whole number of steps"):
        trial.check({"program.cycle": 0.0015})


def test_twist_drives_a_vehicle():
    program = {"commands": [{"time": 0.0, "twist": "x", "value": 0.2}]}
    trial = Trial("rover", 0.5, ("base_pose.x",), program=program, step=0.002)
    assert Measure("way", "range", "base_pose.x")(trial.run()) > 0.03


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"machin.cylinder.lift.bore": 1.0}, "did you mean 'machine'"),
        ({"machine.cylinder.lift.bor": 1.0}, "did you mean 'bore'"),
        ({"argument.bor": 1.0}, "did you mean 'bore'"),
        ({"world.ground.frction": 1.0}, "did you mean 'friction'"),
        ({"world.gravity.x": 1.0, "world.gravity": 9.8}, "no parts"),
        ({"program.commands.2.value": 1.0}, "0 to 1"),
        ({"program.commands.0.rmp": 1.0}, "did you mean 'ramp'"),
        ({"program.commands.0.value": 1.5}, "spool command"),
        ({"machine": "excavater"}, "did you mean 'excavator'"),
        ({"machine": "rigid_pendulum"}, "no such <cylinder>|no <cylinder>"),
        ({"step": -1.0}, "1e-09 to 1 s"),
        ({"argument": 1.0}, "argument.NAME"),
    ],
)
def test_wrong_settings_are_refused_before_the_run(lift, settings, message):
    with pytest.raises((ParameterError, MachineError), match=message):
        lift.check(settings)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("duration", "duraton", "did you mean 'duration'"),
        ("duration: 0.4\n", "", "'duration' is missing"),
        ("settings: {machine.", "settings: {machin.", "trial.yaml:7: .*did you mean 'machine'"),
        ("step: 1e-3", "step: fast", "not a finite number"),
    ],
)
def test_errors_of_trial_files(old, new, message):
    with pytest.raises(MachineError, match=message):
        read(LIFT.replace(old, new))


def test_file_names_start_at_the_folder_of_the_file(tmp_path):
    (tmp_path / "hold.yaml").write_text("commands: [{time: 0, valve: lift_valve, value: 0.25}]")
    (tmp_path / "moon.yaml").write_text("gravity: 1.62")
    text = "{machine: hydraulic_lift, duration: 1, record: lift, world: moon.yaml, program: hold.yaml}"
    parts = read(text, tmp_path).parts({"program.commands.0.value": 0.5, "world.ground.friction": 0.3})
    assert parts.world.gravity[2] == -1.62 and parts.world.ground.friction == 0.3
    assert parts.program.commands == (TimedCommand(0.0, "lift_valve", 0.5, line=parts.program.commands[0].line),)
    assert read(text, tmp_path).parts({"world": "sand", "step": 0.01}).world.ground.soil is not None


def test_measures(tmp_path):
    (tmp_path / "own.py").write_text("def twice(record):\n    return 2 * record['a'][-1]\n")
    text = """
    final: {final: a}
    late: {mean: a, from: 5.0}
    rms: {rms: wave}
    integral: {integral: a}
    range: {range: wave}
    at: {time_of: a, level: 2.5}
    top: {time_of_maximum: wave, until: 1.0}
    period: {period: wave}
    own: own.py:twice
    never: {time_of: a, level: 11}
    empty: {mean: a, from: 11}
    """
    time = np.linspace(0.0, 10.0, 20001)
    record = Record(time, np.column_stack([time, np.sin(4.0 * time)]), {"a": "m", "wave": "-"})
    measures = {one.name: one for one in read_measures(Reader(str(tmp_path / "m.yaml")), yaml.compose(text))}
    measures = {name: pickle.loads(pickle.dumps(measure)) for name, measure in measures.items()}
    expected = {
        "final": 10.0,
        "late": 7.5,
        "rms": math.sqrt(0.5 - math.sin(80.0) / 160.0),
        "integral": 50.0,
        "range": 2.0,
        "at": 2.5,
        "period": math.pi / 2,
        "own": 20.0,
    }
    for name, value in expected.items():
        assert measures[name](record) == pytest.approx(value, rel=1e-6), name
    assert measures["top"](record) == pytest.approx(math.pi / 8, abs=0.0005)  # one sample
    with pytest.raises(MeasureError, match="a does not reach 11"):
        measures["never"](record)
    with pytest.raises(MeasureError, match="nothing is recorded"):
        measures["empty"](record)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{m: {finl: a}}", "did you mean 'final'"),
        ("{m: {from: 1}}", "0 reductions"),
        ("{m: {time_of: a}}", "needs a level"),
        ("{m: {mean: a, level: 1}}", "has no level"),
        ("{m: nothing.py:f}", "there is no file"),
        ("{m: math:nothing}", "no function nothing"),
    ],
)
def test_errors_of_measures(text, message):
    with pytest.raises(MachineError, match=message):
        read_measures(Reader("m.yaml"), yaml.compose(text))
