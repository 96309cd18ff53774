"""Layouts of RViz and Foxglove: the files are those of the machines, and their topics are in the table of streams."""

import json
import shutil
import stat
from pathlib import Path

import pytest
import yaml

import grouser
from grouser import cli
from grouser.catalogue import machine_files
from grouser.layouts.foxglove import foxglove_layout
from grouser.layouts.rviz import rviz_config
from grouser.layouts.shown import ROBOT_DESCRIPTION, shown_topics

CONFIG = Path(__file__).parents[2] / "config"
MACHINES = {file.name.partition(".")[0]: file for file in machine_files()}


@pytest.mark.parametrize("name", MACHINES)
def test_the_files_are_those_of_the_machine(name):
    machine = grouser.load_machine(MACHINES[name])
    remedy = "python tooling/layouts.py"
    assert (CONFIG / "rviz" / f"{name}.rviz").read_text(encoding="utf-8") == rviz_config(machine), remedy
    assert (CONFIG / "foxglove" / f"{name}.json").read_text(encoding="utf-8") == foxglove_layout(machine), remedy
    published = {shown.topic for shown in shown_topics(machine)} | {ROBOT_DESCRIPTION}
    layout = json.loads(foxglove_layout(machine))
    panels = layout["configById"]
    assert set(panels["3D!machine"]["topics"]) <= published
    assert {path["value"].partition(".")[0] for each in panels.values() for path in each.get("paths", [])} <= published

    def named(split):
        return {split} if isinstance(split, str) else named(split["first"]) | named(split["second"])

    assert named(layout["layout"]) == set(panels)


def test_sensors_and_ruts_have_displays():
    displays = yaml.safe_load(rviz_config(grouser.load_machine(MACHINES["rover"])))["Visualization Manager"]["Displays"]
    classes = {each["Name"]: each["Class"].rpartition("/")[2] for each in displays}
    assert classes["scan"] == "LaserScan"
    assert classes["terrain/rut_depth"] == "Map"
    assert "track_markers" not in classes


def test_rviz_is_opened_with_the_configuration_of_the_machine(tmp_path, monkeypatch, capfd):
    program = tmp_path / "rviz2"
    program.write_text('#!/bin/sh\necho "opened $*"\nexit 7\n', encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert cli.main(["rviz", "rover"]) == 7
    assert f"opened -d {CONFIG / 'rviz' / 'rover.rviz'} --ros-args -p use_sim_time:=true" in capfd.readouterr().out


def test_without_rviz_the_file_and_the_package_are_told(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert cli.main(["rviz", "rover"]) == 2
    told = capsys.readouterr().err
    assert str(CONFIG / "rviz" / "rover.rviz") in told and "apt install" in told
    own = tmp_path / "own.urdf"
    own.write_text('<robot name="own"><link name="base"/></robot>', encoding="utf-8")
    assert cli.main(["rviz", str(own)]) == 2
    assert "--output" in capsys.readouterr().err
    assert cli.main(["rviz", str(own), "--output", str(tmp_path / "own.rviz")]) == 0
    assert yaml.safe_load((tmp_path / "own.rviz").read_text(encoding="utf-8"))["Visualization Manager"]["Displays"]
    assert cli.main(["rviz", str(own), "--output", str(tmp_path / "own.rviz")]) == 2
