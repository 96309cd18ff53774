"""`grouser bench`: its measurements and its output."""

import json
import math
import os

import numpy as np
import pytest

from grouser import ParameterError, benchmarks
from grouser.benchmarks import batch, stepping
from grouser.benchmarks.figure import Figure, alternating_medians
from grouser.benchmarks.step import MuJoCo, model_on_field, rough_ground
from grouser.benchmarks.step_bullet import PyBullet, standard_output_to_error
from grouser.benchmarks.stepping import MOTIONS, REST, START_HEIGHT, CommandSequence, Grouser, compare
from grouser.cli import main as command_line
from grouser.commands import benchmark
from grouser.physics.contact.terrain import surface_below


def test_every_benchmark_has_a_description():
    for name in benchmarks.NAMES:
        assert benchmarks.load(name).DESCRIPTION


def test_unknown_benchmark_name_suggests_the_closest(capsys):
    assert command_line(["bench", "articulated_bodies"]) == 2
    assert "did you mean 'articulated_body'?" in capsys.readouterr().err


def test_unwritable_output_file_is_refused_before_a_run(tmp_path, capsys):
    with pytest.raises(ParameterError, match="--json"):
        benchmark.main(["setup_time", "--json", str(tmp_path / "nowhere" / "out.json")])
    assert capsys.readouterr().out == ""


def test_timed_functions_alternate():
    calls = []
    medians = alternating_medians(3, lambda: calls.append("ours"), lambda: calls.append("peer"))

    assert calls == ["ours", "peer"] * 3
    assert len(medians) == 2


def test_ratio_is_grouser_over_peer():
    assert Figure("step", 5.0, "µs", "Other 1.0", 10.0).ratio == 0.5
    assert Figure("start", 5.0, "s").ratio is None


def test_table_line_of_a_figure():
    figure = Figure("step", 5.0, "µs", "Other 1.0", 10.0, {"rows": 3, "apart [mm]": 0.12345678})

    assert " ".join(benchmark.figure_text(figure, with_details=False).split()) == "step 5 µs 10 µs 0.50 Other 1.0"
    assert benchmark.figure_text(figure, with_details=True).splitlines()[1:] == [
        "    rows: 3",
        "    apart [mm]: 0.1235",
    ]


class Toy:
    """A stepper that only counts steps."""

    def __init__(self):
        self.time, self.commands, self.counts = 0.0, [], []

    def step(self, count):
        self.counts.append(count)
        self.time += count * stepping.STEP

    def command(self, values):
        self.commands.append(values["joint"])


def test_motion_commands_before_each_call(monkeypatch):
    monkeypatch.setattr(stepping, "_STEPS", 30)
    toy, looks = Toy(), []
    toy.time = 5.0
    CommandSequence("moving", lambda time: {"joint": time}, 10).play(toy, 5.0, lambda: looks.append(toy.time))

    assert toy.counts == [10, 10, 10]
    # three additions of 10 ms to 5 s
    np.testing.assert_allclose(toy.commands, [0.0, 0.01, 0.02], atol=4 * np.spacing(5.0))
    assert len(looks) == 3


def test_output_of_a_peer_goes_to_standard_error(capfd):
    with standard_output_to_error():
        os.write(1, b"hello")
    os.write(1, b"figures")

    assert capfd.readouterr() == ("figures", "hello")


def test_rough_ground_of_mujoco_equals_that_of_grouser():
    """Rays from above, well ahead of the rover, meet MuJoCo's ground at grouser's heights."""
    mujoco = pytest.importorskip("mujoco", reason="not tested: MuJoCo beside us; not installed")
    field = rough_ground()
    model = model_on_field(mujoco, field, START_HEIGHT["rover"] + float(field.heights.max()))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    # Not on the border, which a ray may miss.
    most = np.array(field.heights.shape) - 1
    for i, j in np.random.default_rng(5).integers([most[0] // 2, 1], most, size=(50, 2)):
        x, y = (field.origin[k] + field.cell * float(index) for k, index in enumerate((i, j)))
        place, down, geometry = np.array([x, y, 10.0]), np.array([0.0, 0.0, -1.0]), np.zeros(1, dtype=np.int32)
        distance = mujoco.mj_ray(model, data, place, down, None, 1, -1, geometry)
        # MuJoCo keeps heights in single precision
        assert 10.0 - distance == pytest.approx(field.heights[i, j], abs=1e-6)
        assert surface_below(field.heights, field.cell, *field.origin, x, y)[0] == pytest.approx(field.heights[i, j])


def test_pair_of_times_counts_if_both_cores_are_free_before_and_after(monkeypatch):
    free = [1.0, 0.96, 0.94, 1.0, 1.0, 1.0]
    loops, threads = iter(free), []
    monkeypatch.setattr(batch, "_loop", lambda pool: next(loops))
    monkeypatch.setattr(batch, "_PAIRS_WANTED", 3)
    pairs, seen, counted = batch._measure(threads.append)

    assert (len(pairs), seen) == (5, free)
    assert counted == [pairs[0], pairs[3], pairs[4]]
    assert threads == [2, 1, 1, 2, 2, 1, 1, 2, 2, 1]


def test_measurement_without_free_cores_ends(monkeypatch):
    monkeypatch.setattr(batch, "_loop", lambda pool: 0.5)
    pairs, _, counted = batch._measure(lambda threads: None)

    assert (len(pairs), counted) == (batch._PAIRS_MOST, [])


@pytest.mark.slow
def test_pybullet_motion_agrees_with_grouser(monkeypatch):
    """The excavator swings its arm while its tracks stick; slipping tracks would give differences of decimetres."""
    with standard_output_to_error():
        bullet = pytest.importorskip("pybullet", reason="not tested: PyBullet beside us; not installed")
    for name, value in {"_SETTLING_STEPS": 1000, "_REPEATS": 1}.items():
        monkeypatch.setattr(stepping, name, value)
    _, moving = compare("excavator", Grouser("excavator"), PyBullet(bullet, "excavator"), MOTIONS["excavator"])

    # grouser's boom sags by its load, 14.1 kN m, over its drive's stiffness; a fifth more for its acceleration.
    assert moving.details["apart, joints [mrad]"] < 1.2 * 1e3 * 14.1e3 / 2e6
    assert moving.details["apart, across the ground [mm]"] < 50.0


@pytest.mark.slow
@pytest.mark.parametrize("machine", stepping.MACHINES)
def test_moving_benchmark_cases_move(monkeypatch, machine):
    mujoco = pytest.importorskip("mujoco", reason="not tested: MuJoCo beside us; not installed")
    for name, value in {"_SETTLING_STEPS": 1000, "_STEPS": 1000, "_REPEATS": 1}.items():
        monkeypatch.setattr(stepping, name, value)
    monkeypatch.setitem(MOTIONS, machine, CommandSequence("moving", MOTIONS[machine].commands, 10))
    peer = MuJoCo.of(mujoco, machine)
    still, moving = compare(machine, Grouser(machine), peer, MOTIONS[machine])

    # half of what the commands ask for; nothing drives a settled machine
    asked = {"excavator": 0.4 * 1.2, "rover": 2.0}[machine]
    for name in ("grouser", peer.name):
        most, median = (f"fastest coordinate, {which}, {name} [rad/s or m/s]" for which in ("most", "median"))
        assert still.details[most] < 0.01 * asked
        assert moving.details[most] > 0.5 * asked
        # the excavator's swing comes to a turn
        assert moving.details[median] > 0.1 * asked
    assert still.name == f"step {REST.word}, {machine}"
    assert moving.details["apart, height [mm]"] < 1.0


@pytest.mark.slow
def test_benchmark_run_writes_its_figures(tmp_path, capsys):
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
