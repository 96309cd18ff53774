"""Parameters and results of experiments, and `grouser reproduce`, with a small experiment for tests."""

import json
import sys
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grouser import cli, experiments
from grouser.experiments.drawing import draw_reference
from grouser.experiments.protocol import Parameter, Result, as_json, complete_parameters
from grouser.experiments.schedule import read_schedule, schedule_value
from grouser.physics.base.errors import ParameterError
from grouser.references.reader import read_columns


def fall(height, gravity, samples, drag, body, command):
    """A stone falls: t = sqrt(2 h / g)."""
    time = np.linspace(0.0, (2.0 * height / gravity) ** 0.5, samples)
    return Result(
        {"fall_time": time[-1], "time": time, "hit": True, "body": body, "bounce_time": None, "count": samples},
        {"fall_time": "s", "time": "s"},
    )


def draw(parameters, result, figure, reference):
    axes = figure.add_subplot()
    axes.plot(result["time"], result["time"])
    draw_reference(axes, reference, "t", "x")


@pytest.fixture
def experiment(monkeypatch):
    """A registered experiment."""
    module = types.ModuleType("grouser.experiments.stone")
    module.DESCRIPTION = "A stone falls."
    module.PARAMETERS = {
        "height": Parameter(5.0, "m", "how far it falls", minimum=0.0, above_minimum=True),
        "gravity": Parameter(9.81, "m/s2", "acceleration", minimum=0.1, maximum=30.0),
        "samples": Parameter(11, "-", "number of samples", minimum=2),
        "drag": Parameter(False, "-", "whether the air resists"),
        "body": Parameter("stone", "-", "what falls", choices=("stone", "feather")),
        "command": Parameter([[0, 0]], "-", "a schedule", convert=read_schedule),
    }
    module.REFERENCE = {"t": "time", "x": "time"}
    module.run, module.plot = fall, draw
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(experiments, "NAMES", ("stone",))
    return module


def test_parameter_defaults_and_given_values(experiment):
    parameters = complete_parameters(experiment, {"height": 20, "samples": 3.0, "gravity": 10, "command": [[0, 1]]})
    assert parameters == {
        "height": 20.0, "gravity": 10.0, "samples": 3, "drag": False, "body": "stone", "command": [[0.0, 1.0]]
    }  # fmt: skip
    assert type(parameters["height"]) is float and type(parameters["samples"]) is int


BAD = [
    ("hight", 1.0, "did you mean 'height'"),
    ("zzz", 1.0, "there are height, gravity"),
    ("height", 0.0, "above 0"),
    ("height", -1, "above 0"),
    ("height", "tall", "a number"),
    ("height", "1e1", "a number"),
    ("height", True, "a number"),
    ("height", None, "a number"),
    ("height", float("nan"), "a number"),
    ("height", float("inf"), "a number"),
    ("height", 10**400, "a number"),
    ("height", [1], "a number"),
    ("gravity", 31, "at least 0.1 and at most 30"),
    ("samples", 2.5, "a whole number"),
    ("samples", 1, "at least 2"),
    ("drag", "maybe", "true or false"),
    ("drag", 1, "true or false"),
    ("body", "brick", "stone or feather"),
    ("body", 3, "one of stone, feather"),
    ("command", "up", "a list"),
    ("command", [], "time, value"),
    ("command", [[0, 0], [1]], "time, value"),
    ("command", [[1, 0], [0, 0]], "do not decrease"),
    ("command", [[0, float("nan")]], "finite"),
]


@pytest.mark.parametrize(("name", "value", "words"), BAD)
def test_bad_parameters_are_refused(experiment, name, value, words):
    with pytest.raises(ParameterError, match=words) as caught:
        experiments.run("stone", **{name: value})
    assert caught.value.name == name


def test_an_unknown_experiment_is_refused(experiment):
    with pytest.raises(ParameterError, match="did you mean 'stone'"):
        experiments.run("stome")


def test_results_as_json_have_plain_types(experiment):
    parameters = complete_parameters(experiment, {})
    document = as_json("stone", parameters, experiment.run(**parameters))
    assert list(document) == ["experiment", "parameters", "results", "units"]
    results = json.loads(json.dumps(document, allow_nan=False))["results"]
    assert results["fall_time"] == pytest.approx((10 / 9.81) ** 0.5)
    assert len(results["time"]) == 11 and results["hit"] is True and results["count"] == 11
    assert "bounce_time" not in results  # it did not occur
    assert document["units"] == {"fall_time": "s", "time": "s", "hit": "-", "body": "-", "count": "-"}


@pytest.mark.parametrize("value", [float("nan"), np.array([0.0, np.inf]), [1.0, [np.float64("nan")]]])
def test_results_that_are_not_finite_are_refused(value):
    with pytest.raises(ParameterError, match="finite"):
        as_json("stone", {}, Result({"x": value}))


def test_reproduce_writes_json_and_a_plot(experiment, tmp_path, capsys):
    out, plot, reference = tmp_path / "out.json", tmp_path / "out.png", tmp_path / "reference.csv"
    reference.write_text("# a stone\nt,x\n0,0\n1,-4.9\n")
    arguments = ["stone", "--set", "height=20", "--set", "command=[[0, 0], [1e-1, 1]]", "--set", "drag=true"]
    status = cli.main(["reproduce", *arguments, "--json", str(out), "--plot", str(plot), "--reference", str(reference)])
    assert status == 0
    document = json.loads(out.read_text())
    assert document["experiment"] == "stone"
    assert document["parameters"]["height"] == 20.0 and document["parameters"]["drag"] is True
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert "fall_time" in capsys.readouterr().out


def test_reproduce_lists_experiments_and_parameters(experiment, capsys):
    assert cli.main(["reproduce"]) == 0
    assert "stone                   A stone falls." in capsys.readouterr().out
    assert cli.main(["reproduce", "stone", "--parameters"]) == 0
    text = capsys.readouterr().out
    assert "gravity" in text and "a number [m/s2], at least 0.1 and at most 30" in text


def test_json_on_standard_output_is_the_only_output(experiment, capsys):
    assert cli.main(["reproduce", "stone", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["experiment"] == "stone"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--set", "height"],
        ["--set", "=3"],
        ["--set", "height=1", "--set", "height=2"],
        ["--set", "height=[1"],
        ["--set", "height="],
        ["--set", "hight=1"],
        ["--json", "/no/such/folder/out.json"],
        ["--plot", "/no/such/folder/out.png"],
        ["--plot", "out.nonsense"],
        ["--reference", "/no/such/file.csv"],
    ],
)
def test_wrong_arguments_end_with_status_2(experiment, arguments, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["reproduce", "stone", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("text", ["", "t,x\n", "t,x\n1\n", "t,x\n1,2\n3\n", "t,x\n1,two\n"])
def test_invalid_reference_files_are_refused(tmp_path, text):
    path = tmp_path / "reference.csv"
    path.write_text(text)
    with pytest.raises(ParameterError, match="CSV"):
        read_columns(path)


def test_schedule_is_linear_between_its_pairs():
    schedule = read_schedule([[0, 0], [1, 0], [1, 1], [3, 0]])
    found = [schedule_value(schedule, time) for time in (-1.0, 0.5, 0.999999, 1.0, 2.0, 3.0, 9.0)]
    assert found == [0.0, 0.0, 0.0, 1.0, 0.5, 0.0, 0.0]


@given(
    st.lists(st.tuples(st.floats(0, 10), st.floats(-1, 1)), min_size=1, max_size=6), st.floats(-5, 15, allow_nan=False)
)
def test_schedule_stays_within_its_values(pairs, time):
    schedule = read_schedule([list(pair) for pair in sorted(pairs)])
    values = [value for _, value in schedule]
    assert min(values) - 1e-12 <= schedule_value(schedule, time) <= max(values) + 1e-12
