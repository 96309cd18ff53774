"""`grouser bench`: what it measures with, and what it writes."""

import json
import math

import pytest

from grouser import ParameterError, benchmark, benchmarks
from grouser.benchmarks.figure import Figure, alternating_medians
from grouser.cli import main as command_line


def test_every_benchmark_says_what_it_is():
    for name in benchmarks.NAMES:
        assert benchmarks.load(name).DESCRIPTION


def test_an_unknown_name_gets_the_closest_one(capsys):
    assert command_line(["bench", "articulated_bodies"]) == 2
    assert "did you mean 'articulated_body'?" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_refused_before_anything_runs(tmp_path, capsys):
    with pytest.raises(ParameterError, match="--json"):
        benchmark.main(["setup_time", "--json", str(tmp_path / "nowhere" / "out.json")])
    assert capsys.readouterr().out == ""


def test_works_take_turns():
    calls = []
    medians = alternating_medians(3, lambda: calls.append("ours"), lambda: calls.append("peer"))

    assert calls == ["ours", "peer"] * 3
    assert len(medians) == 2


def test_the_ratio_is_ours_by_the_peers():
    assert Figure("step", 5.0, "µs", "Other 1.0", 10.0).ratio == 0.5
    assert Figure("start", 5.0, "s").ratio is None


def test_a_line_of_the_table():
    figure = Figure("step", 5.0, "µs", "Other 1.0", 10.0, {"rows": 3, "apart [mm]": 0.12345678})

    assert " ".join(benchmark.figure_text(figure, with_details=False).split()) == "step 5 µs 10 µs 0.50 Other 1.0"
    assert benchmark.figure_text(figure, with_details=True).splitlines()[1:] == [
        "    rows: 3",
        "    apart [mm]: 0.1235",
    ]


@pytest.mark.slow
def test_a_real_run_writes_its_figures(tmp_path, capsys):
    """The articulated body algorithm beside Pinocchio, through the command line."""
    file = tmp_path / "out.json"
    assert command_line(["bench", "articulated_body", "setup_time", "--json", str(file)]) == 0
    document = json.loads(file.read_text())
    table = capsys.readouterr().out
    figures = {figure["name"]: figure for figure in document["figures"]}

    for name in ("articulated body, excavator", "articulated body, rover"):
        figure = figures[name]
        assert name in table
        assert figure["unit"] == "µs"
        assert figure["peer"].startswith("Pinocchio")
        assert figure["value"] > 0.0 and figure["peer_value"] > 0.0
        assert math.isclose(figure["ratio"], figure["value"] / figure["peer_value"])
    assert "setup_time" in document["skipped"] or figures["set-up"]["value"] > 0.0
