"""The survey of robots: what counts as a robot, each outcome, and the page."""

import json
import os
import re
import time
from pathlib import Path

import pytest

from grouser.benchmarks import robot_survey
from grouser.benchmarks.robot_survey import Source, main, robot_files, survey, try_robot
from grouser.benchmarks.robot_trial import FAILED, INCOMPLETE, RAN, REFUSED, Outcome
from grouser.benchmarks.robots_page import robots_page

DOCS = Path(__file__).resolve().parents[2] / "docs"
INERTIAL = """<inertial><mass value="{}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""
PENDULUM = f"""<robot name="pendulum"><link name="world"/>
<link name="rod">{INERTIAL.format(2.5)}<collision><geometry><box size="0.1 0.1 1"/></geometry></collision></link>
<joint name="hinge" type="continuous"><parent link="world"/><child link="rod"/><origin xyz="0 0 3"/><axis xyz="0 1 0"/>
</joint></robot>"""
BLOCK = f"""<robot name="block"><link name="base">{INERTIAL.format(1.5)}
<collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link></robot>"""


@pytest.fixture
def folder(tmp_path):
    """Robots, and files that are none."""
    (tmp_path / "urdf").mkdir()
    (tmp_path / "random_urdfs").mkdir()
    (tmp_path / "urdf" / "pendulum.urdf").write_text(PENDULUM)
    (tmp_path / "random_urdfs" / "other.urdf").write_text(PENDULUM)
    (tmp_path / "urdf" / "block.urdf").write_text(BLOCK)
    (tmp_path / "urdf" / "broken.urdf").write_text("<robot name='x'><link")
    xacro = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"{}>{}</robot>'
    (tmp_path / "urdf" / "macros.urdf.xacro").write_text(xacro.format("", ""))
    (tmp_path / "urdf" / "empty.urdf.xacro").write_text(xacro.format(' name="m"', ""))
    far = '<xacro:include filename="$(find far_away_description)/x.xacro"/>'
    (tmp_path / "urdf" / "far.urdf.xacro").write_text(xacro.format(' name="far"', far))
    return tmp_path


def test_robots_are_files_that_move_or_name_a_robot(folder):
    names = [path.name for path in robot_files(folder)]
    assert names == ["broken.urdf", "pendulum.urdf", "empty.urdf.xacro", "far.urdf.xacro"]


def test_each_outcome_is_told_without_the_folder(folder):
    found = {record["file"]: record for record in survey(Source("a/b", "1", folder), (), {})}
    assert {name: record["result"] for name, record in found.items()} == {
        "urdf/broken.urdf": REFUSED,
        "urdf/pendulum.urdf": RAN,
        "urdf/far.urdf.xacro": INCOMPLETE,
    }
    pendulum = found["urdf/pendulum.urdf"]
    assert (pendulum["freedoms"], pendulum["contacts"], pendulum["mass"]) == (1, 0, 2.5)
    assert pendulum["step"] > 0.0
    assert str(folder) not in json.dumps(found)
    assert "urdf/broken.urdf:1" in found["urdf/broken.urdf"]["message"]
    assert "far_away_description" in found["urdf/far.urdf.xacro"]["message"]


def test_mass_is_that_of_pinocchio(folder):
    pytest.importorskip("pinocchio", reason="not tested: masses beside Pinocchio; not installed")
    outcome = try_robot(folder / "urdf" / "pendulum.urdf", {})
    assert outcome.reference.startswith("Pinocchio") and outcome.reference_mass == outcome.mass == 2.5


def test_a_robot_that_ends_its_process_or_takes_too_long_fails_alone(folder, monkeypatch):
    monkeypatch.setattr(robot_survey, "send_trial", lambda *_: os._exit(7))
    assert try_robot(folder, {}) == Outcome(FAILED, "its process ended with status 7")
    monkeypatch.setattr(robot_survey, "SECONDS", 0.05)
    monkeypatch.setattr(robot_survey, "send_trial", lambda *_: time.sleep(600.0))
    assert try_robot(folder, {}) == Outcome(FAILED, "it takes more than 0.05 s")


def test_results_of_other_sources_stay_in_the_file(folder, tmp_path, capsys):
    results = tmp_path / "results.json"
    main(["try", str(results), f"a/b={folder / 'urdf'}"])
    main(["try", str(results), f"c/d={folder / 'urdf'}"])
    (folder / "urdf" / "pendulum.urdf").write_text("no longer a robot")
    main(["try", str(results), "--failed", "--argument", "x:=1", f"a/b={folder / 'urdf'}"])
    found = [(record["source"], record["file"]) for record in json.loads(results.read_text())]
    files = ["broken.urdf", "far.urdf.xacro", "pendulum.urdf"]
    assert found == [(source, file) for source in ("a/b", "c/d") for file in files]
    capsys.readouterr()
    main(["page", str(results)])
    page = capsys.readouterr().out
    assert "6 robots of 2 sources: 2 ran, 2 refused, 2 incomplete." in page
    assert len(re.findall(r"^\| `pendulum.urdf` \| ran", page, re.MULTILINE)) == 2


@pytest.mark.parametrize("text", ["a/b", "a/b=", "=x", "a/b=/no/such/folder"])
def test_repositories_need_a_name_and_a_folder(tmp_path, text, capsys):
    with pytest.raises(SystemExit):
        main(["try", str(tmp_path / "results.json"), text])
    assert "NAME=FOLDER" in capsys.readouterr().err


def test_the_page_is_made_from_the_results():
    remedy = "run: python -m grouser.benchmarks.robot_survey page docs/robots.json > docs/robots.md"
    records = json.loads((DOCS / "robots.json").read_text())
    assert (DOCS / "robots.md").read_text() == robots_page(records), remedy
    assert len(records) >= 60
