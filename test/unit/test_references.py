"""References of the experiments: their files, the comparison, what `grouser reproduce` says of it, and the report."""

import json
import math

import numpy as np
import pytest
from matplotlib.figure import Figure

from grouser import cli, experiments
from grouser.commands import reproduce
from grouser.experiments.drawing import ReferenceTable, draw_reference
from grouser.experiments.protocol import Result, complete_parameters
from grouser.physics.base.errors import ParameterError
from grouser.references.comparison import compare, fitting_cases
from grouser.references.plots import curves_of
from grouser.references.reader import load_references, read_references
from grouser.references.report import Section, report_page

GOOD = """
heading: reference
source: somebody
free: [step]
cases:
  one:
    parameters: {rate: 0.02}
    checks:
      - values: {a: 2.0, word: yes_it_is, hit: true, "list[1]": 3.0}
        relative: 0.01
      - table: {time: [0.0, 1.0, 2.0], x: [0.0, 10.0, 20.0], "y[1]": [1.0, 1.0, 1.0]}
        absolute: {x: 0.5, "y[1]": 0.1}
      - trends: {falling: falls}
"""
RESULT = {
    "a": 2.019,
    "word": "yes_it_is",
    "hit": True,
    "list": [1.0, 3.0],
    "time": np.array([0.0, 0.5, 1.0, 2.0 + 1e-12]),
    "x": np.array([0.4, 99.0, 10.0, 19.6]),
    "y": np.array([[0.0, 1.0], [0.0, 9.0], [0.0, 1.05], [0.0, 0.95]]),
    "falling": [3.0, 2.0, 1.0],
}


@pytest.fixture
def case(tmp_path):
    path = tmp_path / "thing.yaml"
    path.write_text(GOOD)
    return read_references(path).cases[0]


def test_every_experiment_has_references_and_their_parameters_are_valid():
    for name in experiments.NAMES:
        experiment, references = experiments.load(name), load_references(name)
        assert references.source and references.cases
        free = set(references.free)
        assert free <= set(experiment.PARAMETERS), name
        for case in references.cases:
            complete_parameters(experiment, case.parameters)
            assert case.values or case.tables or case.trends
        # the defaults have references
        assert list(fitting_cases(experiment, references, complete_parameters(experiment, {}))), name


def test_results_within_their_tolerances_agree(case):
    lines = compare(case, {}, Result(RESULT))
    assert len(lines) == 4 + 6 + 1
    assert all(line.agrees for line in lines)
    worst = max(lines, key=lambda line: abs(line.share))
    assert worst.quantity == "a" and worst.share == pytest.approx(0.019 / 0.02)


@pytest.mark.parametrize(
    ("change", "quantity"),
    [
        ({"a": 2.021}, "a"),
        ({"a": None}, "a"),
        ({"a": math.nan}, "a"),
        ({"word": "no"}, "word"),
        ({"hit": False}, "hit"),
        ({"list": [1.0, 3.1]}, "list[1]"),
        ({"x": np.array([0.4, 99.0, 10.6, 19.6])}, "x at time 1"),
        ({"y": np.array([[0.0, 1.0], [0.0, 9.0], [0.0, math.nan], [0.0, 1.0]])}, "y[1] at time 1"),
        ({"falling": [3.0, 3.0, 1.0]}, "falling"),
    ],
)
def test_each_result_beyond_its_tolerance_disagrees(case, change, quantity):
    lines = compare(case, {}, Result(RESULT | change))
    assert [line.quantity for line in lines if not line.agrees] == [quantity]


def test_rows_without_a_result_are_not_compared(case):
    fewer = RESULT | {name: RESULT[name][:3] for name in ("time", "x", "y")}
    assert [line.quantity for line in compare(case, {}, Result(fewer)) if " at " in line.quantity] == [
        "x at time 0", "x at time 1", "y[1] at time 0", "y[1] at time 1"
    ]  # fmt: skip


def test_long_curves_are_compared_at_their_worst_point(tmp_path):
    (tmp_path / "curve.csv").write_text("t,p\n" + "".join(f"{k},{k}\n" for k in range(100)))
    (tmp_path / "thing.yaml").write_text(
        "heading: published\nsource: s\ncases:\n  one:\n    checks:\n"
        "      - {file: curve.csv, columns: {t: time, p: pressure}, absolute: 1.0}\n"
    )
    (case,) = read_references(tmp_path / "thing.yaml").cases
    time = np.arange(0.0, 100.0, 0.5)
    off = np.where(time == 70.0, 1.5, 0.0)
    (line,) = compare(case, {}, Result({"time": time, "pressure": time + off}))
    assert (line.quantity, line.count, line.difference, line.agrees) == ("pressure at time 70", 100, 1.5, False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("heading: reference", "heading: rumour"),
        ("source: somebody", "sauce: somebody"),
        ("relative: 0.01", "relatively: 0.01"),
        ("x: [0.0, 10.0, 20.0]", "x: [0.0, 10.0]"),
        ("relative: 0.01", "units: {a: furlong}"),
        ("cases:", "cases: ["),
    ],
)
def test_invalid_reference_files_are_refused(tmp_path, old, new):
    path = tmp_path / "thing.yaml"
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(ParameterError, match="a file of references"):
        read_references(path)


# Cheap experiments, all cases; the others are compared by their own tests.
CHEAP = [
    (name, case.name)
    for name in (
        *("oblique_impact", "plate_sinkage", "planar_pendulum", "servo_bode", "sphere_collision", "sphere_rolling"),
        *("track_drawbar_pull", "wheel_stress"),
    )
    for case in load_references(name).cases
]


@pytest.mark.parametrize(("name", "case"), CHEAP)
def test_cases_agree_with_their_references(name, case, capsys):
    assert cli.main(["reproduce", name, "--case", case]) == 0
    out = capsys.readouterr().out
    assert "agree with their references" in out and "verdict" in out


@pytest.mark.soak
def test_all_cases_agree_with_their_references(tmp_path):
    assert cli.main(["reproduce", "--all", "--report", str(tmp_path / "report.html")]) == 0


def test_disagreement_is_exit_status_1(tmp_path, monkeypatch, capsys):
    path = tmp_path / "plate_sinkage.yaml"
    path.write_text(
        "heading: published\nsource: s\ncases:\n  wrong:\n    checks:\n"
        "      - {values: {'pressure[0]': 3000.0}, relative: 0.01}\n"
    )
    monkeypatch.setattr(reproduce, "load_references", lambda name: read_references(path))
    assert cli.main(["reproduce", "plate_sinkage"]) == 1
    out = capsys.readouterr().out
    assert "DISAGREES" in out and "1 of 1 values DISAGREE" in out
    assert cli.main(["reproduce", "plate_sinkage", "--json", "-"]) == 1
    (item,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert (item["quantity"], item["reference"], item["agrees"]) == ("pressure[0]", 3000.0, False)


def test_other_parameters_are_not_compared(capsys):
    assert cli.main(["reproduce", "plate_sinkage", "--set", "yield_stress=2000"]) == 0
    assert "not compared: the references have other parameters (--case slow, --case fast)" in capsys.readouterr().out
    assert cli.main(["reproduce", "plate_sinkage", "--case", "slower"]) == 2
    assert "--case" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--plot", "out.jpeg"], "ends in .png, .svg, .pdf"),
        (["--reference", "wrong.csv"], "the column z_m and some of p_Pa, zp_m; it has t, p"),
        (["--report", "x.html"], "with --all"),
    ],
)
def test_wrong_files_are_refused_before_the_computation(arguments, told, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.csv").write_text("t,p\n0,1\n")
    monkeypatch.setattr(experiments.load("plate_sinkage"), "run", lambda **parameters: pytest.fail("it was computed"))
    assert cli.main(["reproduce", "plate_sinkage", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_plot_has_the_references_with_their_tolerances(tmp_path):
    experiment, references = experiments.load("plate_sinkage"), load_references("plate_sinkage")
    (curve,) = curves_of(experiment, references.cases[:1])
    assert isinstance(curve, ReferenceTable)
    assert curve.columns["z_m"].tolist() == [0.001, 0.0025, 0.005]
    assert curve.tolerance["p_Pa"].tolist() == [5e-5] * 3
    plot = tmp_path / "plate.svg"
    assert cli.main(["reproduce", "plate_sinkage", "--plot", str(plot)]) == 0
    text = plot.read_text()
    assert text.startswith("<?xml") and "errorbar" not in text and text.count("LineCollection") >= 1


def test_report_shows_verdicts_and_escapes_texts(case):
    good = compare(case, {}, Result(RESULT))
    bad = compare(case, {}, Result(RESULT | {"a": 9.0}))
    known = load_references("plate_sinkage")
    page = report_page(
        [
            Section("one", "a <thing>", "x", {"rate": 1.0}, known, good, b"picture", 1.0),
            Section("two", "an other", "y", {}, known, bad, b"", 1.0),
            Section("three", "a third", "z", {}, known, [], b"", 1.0, "it broke"),
        ],
        "today",
    )
    assert "1 of 3 runs agree" in page and "a &lt;thing&gt;" in page and "<thing>" not in page
    assert "1 of 11 values DISAGREE" in page and "failed: it broke" in page and "data:image/png;base64," in page


def test_no_line_joins_reference_samples_that_are_far_apart():
    time = np.concatenate([np.linspace(0.0, 1.0, 101), [5.0, 20.0]])
    panel = Figure().subplots()
    assert draw_reference(panel, (ReferenceTable({"t": time, "x": time**2}, {"x": 0.0 * time + 0.1}),), "t", "x")
    lines = [line for line in panel.get_lines() if line.get_linestyle() == "--"]
    assert [line.get_xdata().tolist() for line in lines] == [time[:101].tolist()]
    drawn = np.concatenate([line.get_xdata() for line in panel.get_lines() if line.get_marker() == "+"])
    assert drawn.tolist() == [5.0, 20.0]
    assert panel.get_legend_handles_labels()[1] == ["reference"]
