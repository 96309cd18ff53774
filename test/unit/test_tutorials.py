"""Machines, worlds and programs of the tutorials run as their pages give them, and print what the pages say."""

import re
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

import grouser
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.bridges.serial.json_lines import read_line

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


def printed(page):
    """The indented block that follows `It prints`."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return textwrap.dedent(re.search(r"^It prints\n\n((?:    .*\n)+)", text, re.MULTILINE)[1])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_hydraulic_arm(folder, capsys):
    first, *further = blocks("hydraulic_arm.md", "xml")
    (folder / "arm.urdf.xacro").write_text(first.replace("</robot>", "".join(further) + "</robot>"))
    (program,) = blocks("hydraulic_arm.md", "python")
    exec(compile(program, "hydraulic_arm.md", "exec"), {})
    assert capsys.readouterr().out == printed("hydraulic_arm.md")
    assert (folder / "arm.png").exists()


def test_wheel_and_soil(folder, capsys):
    namespace = {}
    for program in blocks("wheel_and_soil.md", "python"):
        exec(compile(program, "wheel_and_soil.md", "exec"), namespace)
    assert capsys.readouterr().out == printed("wheel_and_soil.md")


def test_digging_cycle(folder, capsys):
    """With fewer and larger lumps than on the page, whose figures are those of one processor."""
    world = grouser.load_world("gravel_pit")
    (bay,) = world.granular.fills
    coarse = replace(world.granular, fills=(replace(bay, radius=(0.045, 0.055), count=200),))
    namespace = {"coarse": replace(world, granular=coarse)}
    *gravel, soil = blocks("digging_cycle.md", "python")
    for program in gravel:
        exec(
            compile(program.replace('grouser.load_world("gravel_pit")', "coarse"), "digging_cycle.md", "exec"),
            namespace,
        )
        lines = re.findall(r"(\d+) s: (\d+) kg in the bucket, (\d+) kg in the box", capsys.readouterr().out)
        assert [line[0] for line in lines] == ["6", "9", "13", "18"]
        assert int(lines[0][1]) > 0
        assert int(lines[-1][1]) == 0 and int(lines[-1][2]) > 0
    assert "IN2: 0.22}" in namespace["text"]
    exec(compile(soil, "digging_cycle.md", "exec"), namespace)
    assert capsys.readouterr().out.splitlines()[3] == "7 s: 0 N to cut, 0.00 m deep, 42 kg in the bucket"
    assert abs(namespace["balance"].relative_residual) < 1e-9


def test_controller_in_the_loop(folder):
    (mapping,) = blocks("controller_in_loop.md", "yaml")
    (folder / "controller.yaml").write_text(mapping)
    command, angle = load_bridge_mapping(folder / "controller.yaml").messages
    namespace = {}
    exec(compile(blocks("controller_in_loop.md", "python")[0], "controller_in_loop.md", "exec"), namespace)
    line = read_line(namespace["message"](65537, -0.25))
    assert (line.kind, line.counter, line.signals) == (1, 1, {"swing": -0.25})
    assert [signal.signal for signal in command.signals] == ["valve/swing_valve"]
    assert [signal.signal for signal in angle.signals] == ["joint/swing/position"]
