"""Estimation by least squares against closed forms; measured data of files, and what is refused in them."""

import math
import textwrap

import numpy as np
import pytest
import yaml
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from scipy.stats import binom
from scipy.stats import t as student

import grouser
from grouser import cli
from grouser.identification.bag_file import read_fields
from grouser.identification.commanding import MeasuredCommands
from grouser.identification.derivatives import central_jacobian
from grouser.identification.identification import combination
from grouser.identification.parameters import FitParameter, settings_of
from grouser.identification.reading import load_identification
from grouser.identification.searching import search, search_from_all, spread_starts
from grouser.identification.series import Series
from grouser.identification.statistics import lag_correlation, statistics_of, widening
from grouser.identification.units import unit_size
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.recording.events import Commanded, Stopped
from grouser.recording.mcap_file import RecordingWriter
from grouser.recording.origin import Origin
from grouser.trials.trial import Trial

STEPS = np.full(9, 1e-4)


def residuals_of(model, measured, parameters):
    """Residuals at several points of the variables."""

    def evaluate(points):
        return [model(*settings_of(parameters, point).values()) - measured for point in points]

    return evaluate


def fitted(model, measured, parameters):
    """A search from the middle, and the statistics at its end."""
    evaluate = residuals_of(model, measured, parameters)
    found = search(evaluate, np.full(len(parameters), 0.5), STEPS[: len(parameters)], 100)
    jacobian = central_jacobian(evaluate, found.end)
    return found, statistics_of(found.residuals, jacobian.matrix, np.linalg.norm(jacobian.errors))


def test_linear_model_has_the_intervals_of_the_regression():
    rng = np.random.default_rng(1)
    design = np.column_stack([np.ones(30), np.linspace(0.0, 2.0, 30), rng.normal(size=30)])
    measured = design @ [3.0, -20.0, 500.0] + rng.normal(0.0, 0.3, 30)
    bounds = [(-10.0, 10.0), (-100.0, 50.0), (0.0, 2000.0)]
    parameters = [FitParameter(name, *limits, logarithmic=False) for name, limits in zip("abc", bounds, strict=True)]
    found, statistics = fitted(lambda *values: design @ values, measured, parameters)
    estimate, (square,), *_ = np.linalg.lstsq(design, measured)
    covariance = square / 27 * np.linalg.inv(design.T @ design)
    ranges = np.ptp(bounds, axis=1)
    # trust-region searches end at a relative change of 1e-8; differences of linear functions are exact to rounding
    np.testing.assert_allclose(list(settings_of(parameters, found.end).values()), estimate, rtol=1e-6)
    half_widths = student.ppf(0.975, 27) * np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(statistics.half_widths * ranges, half_widths, rtol=1e-6)
    np.testing.assert_allclose(statistics.variance, square / 27, rtol=1e-6)
    deviations = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(statistics.correlation, covariance / np.outer(deviations, deviations), atol=1e-6)
    assert not statistics.undetermined.any()


def test_intervals_cover_the_truth_as_often_as_they_say():
    rng, time = np.random.default_rng(2), np.linspace(0.0, 3.0, 25)
    parameters = [FitParameter("scale", 0.1, 10.0), FitParameter("rate", 0.01, 10.0)]
    truth = np.array([parameter.variable(value) for parameter, value in zip(parameters, (2.0, 0.7), strict=True)])
    covered = []
    for _ in range(100):
        measured = 2.0 * np.exp(-0.7 * time) + rng.normal(0.0, 0.05, len(time))
        found, statistics = fitted(lambda scale, rate: scale * np.exp(-rate * time), measured, parameters)
        covered.append(abs(found.end - truth) <= statistics.half_widths)
    for count in np.sum(covered, axis=0):
        assert binom.ppf(0.001, 100, 0.95) <= count <= binom.ppf(0.999, 100, 0.95)


def test_product_of_two_parameters_is_all_that_the_data_tell():
    time = np.linspace(0.0, 1.0, 20)
    parameters = [FitParameter(name, 0.1, 10.0) for name in ("a", "b", "c")]
    measured = 6.0 * time + 0.5 * time**2 + np.random.default_rng(3).normal(0.0, 0.01, 20)
    found, statistics = fitted(lambda a, b, c: a * b * time + c * time**2, measured, parameters)
    values = settings_of(parameters, found.end)
    assert values["a"] * values["b"] == pytest.approx(6.0, abs=0.1)
    assert statistics.undetermined.tolist() == [False, False, True]
    assert np.isinf(statistics.half_widths[:2]).all() and np.isfinite(statistics.half_widths[2])
    assert combination("abc", statistics.directions[2]) in ("1.00 a - 1.00 b", "- 1.00 a + 1.00 b")


def test_searches_from_many_starts_leave_local_minima():
    """Of a sine: its frequency has minima at all the frequencies that fit the samples a little."""
    time = np.linspace(0.0, 1.0, 60)
    parameters = [FitParameter("frequency", 1.0, 12.0, logarithmic=False)]
    evaluate = residuals_of(lambda f: np.sin(2.0 * np.pi * f * time), np.sin(14.0 * np.pi * time), parameters)
    starts = spread_starts(np.array([0.1]), 12, 5)
    assert len({float(start[0]) for start in starts}) == 12
    searches = search_from_all(evaluate, starts, STEPS[:1], 50, 2)
    assert searches[0].cost > 1.0 > 1e-6 > min(one.cost for one in searches)
    best = min(searches, key=lambda one: one.cost)
    assert parameters[0].value(best.end[0]) == pytest.approx(7.0, rel=1e-6)


def test_steps_of_differences_are_longer_than_the_noise():
    """Steps of 1e-3 hide the derivative of a function rounded so; one of the longest shows it."""

    def evaluate(points):
        return [np.round(np.array([point[0] + point[0] ** 2, 5.0 * point[1]]), 3) for point in points]

    jacobian = central_jacobian(evaluate, np.array([0.3337, 0.4412]))
    assert jacobian.steps.max() == 3e-2
    # rounding to half of 1e-3 at both ends, over twice the step
    np.testing.assert_allclose(jacobian.matrix, [[1.6674, 0.0], [0.0, 5.0]], atol=1e-3 / 6e-2)


def test_derivatives_at_bounds_and_beside_failures_are_one_sided():
    def evaluate(points):
        return [
            np.array([2.0 * point[0], 3.0 * point[1]]) if point[1] <= 0.5 else np.full(2, np.inf) for point in points
        ]

    np.testing.assert_allclose(central_jacobian(evaluate, np.array([0.0, 0.5])).matrix, [[2.0, 0.0], [0.0, 3.0]])


def test_correlated_residuals_widen_the_intervals():
    """An autoregressive process of correlation 0.6: the variance of a mean is (1 + r) / (1 - r) times larger."""
    rng, series = np.random.default_rng(4), [0.0]
    for noise in rng.normal(size=20000):
        series.append(0.6 * series[-1] + noise)
    assert lag_correlation(np.array(series)) == pytest.approx(0.6, abs=0.02)  # 3 / sqrt(20000)
    assert widening(0.6) == pytest.approx(2.0)
    assert widening(-0.3) == 1.0


def test_measured_commands_hold_or_are_linear():
    series = {"lift": Series("u", np.array([0.1, 0.2, 0.4]), np.array([1.0, -1.0, 0.0]))}
    held, linear = MeasuredCommands(series), MeasuredCommands(series, True)
    assert held.values(0.05) == {} and held.constant_until(0.0) == 0.1
    assert held.values(0.1) == held.values(0.19) == {"lift": 1.0}
    assert held.constant_until(0.1) == 0.2 and held.constant_until(0.4) == math.inf
    assert linear.values(0.3)["lift"] == pytest.approx(-0.5) and linear.constant_until(0.3) == 0.3
    with pytest.raises(ParameterError, match="valid: lift_valve"):
        held.check(["lift_valve"], [])
    with pytest.raises(ParameterError, match="is it in %"):
        MeasuredCommands({"v": Series("u", np.zeros(1), np.array([60.0]))}).check(["v"], [])


def test_units():
    assert unit_size("x", "mm", "m") == 1e-3 and unit_size("p", "psi", "Pa") == pytest.approx(6894.757, rel=1e-6)
    assert unit_size("x", "rpm") == pytest.approx(2.0 * math.pi / 60.0)
    with pytest.raises(ParameterError, match="a unit of Pa: Pa, kPa"):
        unit_size("pressure", "mm", "Pa")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((2.0, 1.0), "bounds that rise"),
        ((0.0, 1.0, None, True), "above 0"),
        ((1.0, 2.0, 3.0), "start"),
    ],
)
def test_parameters_without_sense_are_refused(arguments, words):
    with pytest.raises(ParameterError, match=words):
        FitParameter("x", *arguments)


def test_scale_of_a_parameter():
    assert FitParameter("x", 1.0, 100.0).start == pytest.approx(10.0)
    assert FitParameter("x", 1.0, 3.0).start == 2.0
    assert FitParameter("x", 1.0, 3.0, logarithmic=True, addresses=("a", "b")).settings(2.0) == {"a": 2.0, "b": 2.0}


# --- files ----------------------------------------------------------------------------------------------------------

COMMANDS = [{"time": 0.02, "valve": "lift_valve", "value": 0.6}, {"time": 0.12, "valve": "lift_valve", "value": -0.4}]
PATH = "directional_valve.lift_valve.gain"
GAIN = f"machine.{PATH}"
TASK = """
trial: {machine: hydraulic_lift, duration: 0.2}
measurements:
  - file: lift.csv
    time: {column: t, unit: ms}
    signals: {lift: {column: x, unit: mm}}
    commands: {lift_valve: {column: u, unit: "%"}}
parameters:
  machine.directional_valve.lift_valve.gain: {low: 0.5, high: 2}
starts: 1
"""


@pytest.fixture(scope="module")
def lift():
    """What a lift does whose valve has a gain of 1.3."""
    trial = Trial("hydraulic_lift", 0.2, ("lift",), program={"commands": COMMANDS}, every=0.01)
    return trial.run({GAIN: 1.3})


def commanded(time):
    return next((one["value"] for one in reversed(COMMANDS) if one["time"] <= time + 1e-9), 0.0)


def write_task(folder, lift, task=TASK, change=None):
    """A file of measurements and an identification beside it."""
    rows = [
        [f"{1e3 * t:.9g}", f"{100 * commanded(t):.9g}", f"{1e3 * x:.12g}"]
        for t, x in zip(lift.time, lift["lift"], strict=True)
    ]
    lines = [["t", "u", "x"], *rows]
    if change:
        change(lines)
    (folder / "lift.csv").write_text("\n".join(",".join(line) for line in lines))
    (folder / "task.yaml").write_text(task)
    return folder / "task.yaml"


def test_command_writes_what_replace_takes(lift, tmp_path, capsys):
    file = write_task(tmp_path, lift)
    names = ("plot.png", "values.yaml", "out.json")
    plot, values, document = (tmp_path / name for name in names)
    options = ["--plot", plot, "--output", values, "--json", document, "--processes", "1"]
    assert cli.main(["identify", str(file), *map(str, options)]) == 0
    assert plot.read_bytes().startswith(b"\x89PNG")
    found = yaml.safe_load(values.read_text())
    # the data have no noise: only the tolerance of the search is left
    assert found["machine"][PATH] == pytest.approx(1.3, rel=1e-5)
    machine = grouser.load_machine("hydraulic_lift").replace(found["machine"])
    assert machine.valves[0].gain == found["machine"][PATH]
    text = capsys.readouterr().out
    assert GAIN in text and "1 of 1 searches found the optimum" in text


def test_recording_and_bag_are_measured_data(lift, tmp_path):
    """The same run in a recording of grouser and in a bag of either storage; the bag's signals are 5 ms late."""
    machine = grouser.load_machine("hydraulic_lift").replace({PATH: 1.3})
    simulation = grouser.Simulation(machine, grouser.load_world("flat"))
    with (tmp_path / "run.mcap").open("wb") as stream:
        writer = RecordingWriter(stream, Origin.of(simulation, {}))
        for one in COMMANDS:
            step = round(1e3 * one["time"])
            writer.write(step * 1_000_000, Commanded(step, {"lift_valve": one["value"]}))
        writer.write(200_000_000, Commanded(200, {"lift_valve": 0.0}))
        writer.finish("")
    recording = TASK.replace("lift.csv", "run.mcap").replace("{lift: {column: x, unit: mm}}", "[lift]")
    recording = recording.replace('{lift_valve: {column: u, unit: "%"}}', "[lift_valve]")
    recording = recording.replace("    time: {column: t, unit: ms}\n", "    every: 0.01\n")
    (tmp_path / "task.yaml").write_text(recording)
    assert load_identification(tmp_path / "task.yaml", 1).run().machine_values[PATH] == pytest.approx(1.3, rel=1e-5)
    write_bag(tmp_path / "bag", lift, 0.005)
    bag = textwrap.dedent("""
        trial: {machine: hydraulic_lift, duration: 0.2}
        measurements:
          - file: bag
            signals: {lift: {topic: /joint_states, field: position.lift}}
            commands: {lift_valve: {topic: /commanded, field: effort.0}}
        parameters:
          machine.directional_valve.lift_valve.gain: {low: 0.5, high: 2}
          delay: {low: 0, high: 0.02}
        starts: 1
        """)
    (tmp_path / "task.yaml").write_text(bag)
    result = load_identification(tmp_path / "task.yaml", 1).run()
    assert result.settings[GAIN] == pytest.approx(1.3, rel=1e-3)
    # signals of the simulation are linear between steps of 1 ms
    assert result.settings["delay"] == pytest.approx(0.005, abs=1e-4)


def write_bag(folder, lift, delay, storage=StoragePlugin.SQLITE3):
    store = get_typestore(Stores.ROS2_JAZZY)
    kind = "sensor_msgs/msg/JointState"
    types = store.types
    begin = 1_700_000_000

    def message(time, names, positions, efforts):
        stamp = types["builtin_interfaces/msg/Time"](begin, round(1e9 * time))
        header = types["std_msgs/msg/Header"](stamp, "")
        numbers = (np.array(values, dtype=float) for values in (positions, [], efforts))
        return store.serialize_cdr(types[kind](header, names, *numbers), kind)

    with Writer(folder, version=9, storage_plugin=storage) as writer:
        states, commands = (
            writer.add_connection(name, kind, typestore=store) for name in ("/joint_states", "/commanded")
        )
        for time, position in zip(lift.time, lift["lift"], strict=True):
            nanoseconds = begin * 1_000_000_000 + round(1e9 * time)
            writer.write(commands, nanoseconds, message(time, [], [], [commanded(time)]))
            writer.write(states, nanoseconds, message(time + delay, ["other", "lift"], [9.0, position], []))


def test_bag_of_mcap_and_wrong_fields(lift, tmp_path):
    write_bag(tmp_path / "bag", lift, 0.0, StoragePlugin.MCAP)
    (series,) = read_fields(tmp_path / "bag", [("/joint_states", "position.lift")]).values()
    np.testing.assert_array_equal(series.values, lift["lift"])
    np.testing.assert_allclose(series.time, lift.time, atol=1e-9)
    for topic, field, words in (
        ("/joint_stats", "position.lift", "did you mean '/joint_states'"),
        ("/joint_states", "position.lift_", "did you mean 'lift'"),
        ("/joint_states", "positions.lift", "did you mean 'position'"),
        ("/joint_states", "header", "the path of a number"),
    ):
        with pytest.raises(ParameterError, match=words):
            read_fields(tmp_path / "bag", [(topic, field)])
    with pytest.raises(ParameterError, match="a ROS 2 bag"):
        read_fields(tmp_path, [("/joint_states", "position.lift")])


def test_recording_with_other_events_is_refused(tmp_path):
    simulation = grouser.Simulation(grouser.load_machine("hydraulic_lift"), grouser.load_world("flat"))
    with (tmp_path / "run.mcap").open("wb") as stream:
        writer = RecordingWriter(stream, Origin.of(simulation, {}))
        writer.write(0, Stopped(10, ""))
        writer.finish("")
    task = TASK.replace("lift.csv", "run.mcap").replace("    time: {column: t, unit: ms}\n", "")
    (tmp_path / "task.yaml").write_text(task)
    with pytest.raises(MachineError, match="Stopped at step 10"):
        load_identification(tmp_path / "task.yaml", 1)


def cell(line, column, text):
    def change(lines):
        lines[line][column] = text

    return change


# Changes of the task's text and of its data, and words of the refusal.
REFUSED = {
    "unknown column": (("column: x", "column: xx"), None, "column of lift.csv = 'xx'"),
    "no number": (None, cell(3, 2, "nan"), "column x in line 4 of lift.csv"),
    "times that fall": (None, cell(3, 0, "0"), "sort the data"),
    "no overlap": (("signals:", "begin: 5\n    signals:"), None, "the trial simulates"),
    "wrong unit": (("unit: mm", "unit: bar"), None, "a unit of m"),
    "unknown signal": (("{lift: {", "{lifts: {"), None, "lift"),
    "unknown parameter": (("lift_valve.gain", "lift_valve.gian"), None, "gain"),
    "no address": (("machine.dir", "dir"), None, "addresses are"),
    "two programs": (("duration: 0.2", f"duration: 0.2, program: {{commands: {COMMANDS}}}"), None, "beside measured"),
    "unknown key": (("starts: 1", "strats: 1"), None, "did you mean 'starts'"),
    "no sigma": (("unit: mm", "unit: mm, sigma: 0"), None, "above 0"),
    "column of settings": (("signals:", "settings: {step: {column: x}}\n    signals:"), None, "each line its own"),
    "values that are no measure": (("signals: {lift:", "values: {top:"), None, "it is no measure"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_fitted_is_refused_with_its_place(lift, tmp_path, name):
    text, data, words = REFUSED[name]
    file = write_task(tmp_path, lift, TASK.replace(*text) if text else TASK, data)
    with pytest.raises((MachineError, ParameterError)) as caught:
        load_identification(file, 1)
    assert words in str(caught.value)


def flat(lines):
    for line in lines[1:]:
        line[2] = "7"


def short(lines):
    del lines[3:]


MORE = "gain: {low: 0.5, high: 2}\n  machine.fluid.bulk_modulus: {low: 5e8, high: 2e9}\n  delay: {low: 0, high: 1e-3}"
UNFIT = {
    "constant signal": (None, flat, "always 0.007"),
    "more parameters than data": (("gain: {low: 0.5, high: 2}", MORE), short, "more than the 3 parameters"),
    "no influence": (("directional_valve.lift_valve.gain", "cylinder.lift.holding_force"), None, "nothing does"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_data_that_tell_nothing_are_refused(lift, tmp_path, name):
    text, data, words = UNFIT[name]
    task = TASK.replace(*text) if text else TASK
    if name == "no influence":
        task = task.replace("{low: 0.5, high: 2}", "{low: 20e3, high: 30e3}")
    file = write_task(tmp_path, lift, task, data)
    with pytest.raises(ParameterError, match=words):
        load_identification(file, 1).run()


def test_initial_position_and_part_of_the_data(lift, tmp_path):
    """A part that begins in motion; the joint starts where it was measured."""
    task = TASK.replace("signals:", "begin: 0.1\n    initial: data\n    signals:")
    (run,) = load_identification(write_task(tmp_path, lift, task), 1).comparison.runs
    (signal,) = run.observations
    assert signal.series.time[0] == pytest.approx(0.0, abs=1e-12) and len(signal.values) == 11
    start = float(lift["lift"][10])
    assert run.settings == {"machine.initial_position.lift.position": pytest.approx(start)}
    assert run.commands.values(0.0) == {"lift_valve": 0.6}
