"""The page "from your URDF to driving on soil", followed with a stand-in for the rover that it clones."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from patience import DEADLINE
from rosgraph_msgs.msg import Clock

from grouser import cli
from grouser.nodes.shared import topics

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "your_urdf.md").read_text()
# The links, joints and macros that the page names, with sizes of its own.
MACROS = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
 <xacro:macro name="part" params="name mass size">
  <link name="${name}">
   <inertial><mass value="${mass}"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
   <collision><geometry><box size="${size}"/></geometry></collision>
  </link>
 </xacro:macro>
 <xacro:macro name="wheel" params="name side x turn">
  <link name="wheel_${name}_link">
   <inertial><origin xyz="0 0.03 0"/><mass value="0.3"/>
    <inertia ixx="0.0004" iyy="0.0005" izz="0.0004" ixy="0" ixz="0" iyz="0"/></inertial>
   <visual><geometry><mesh filename="package://leo_description/models/Wheel.dae"/></geometry></visual>
   <collision><origin xyz="0 0.045 0" rpy="${pi / 2} 0 0"/>
    <geometry><cylinder radius="0.0625" length="0.05"/></geometry></collision>
  </link>
  <joint name="wheel_${name}_joint" type="continuous">
   <parent link="rocker_${side}_link"/><child link="wheel_${name}_link"/>
   <origin xyz="${x} -0.08 -0.09"/><axis xyz="0 ${turn} 0"/>
   <limit effort="2.0" velocity="6.0"/><dynamics friction="0.3" damping="0.1"/>
  </joint>
 </xacro:macro>
 <xacro:macro name="side" params="side y yaw turn">
  <xacro:part name="rocker_${side}_link" mass="1.4" size="0.3 0.03 0.03"/>
  <joint name="rocker_${side}_joint" type="fixed">
   <parent link="base_link"/><child link="rocker_${side}_link"/><origin xyz="0 ${y} -0.05" rpy="0 0 ${yaw}"/>
   <xacro:if value="${side == 'R'}"><mimic joint="rocker_L_joint"/></xacro:if>
  </joint>
  <xacro:wheel name="F${side}" side="${side}" x="${-turn * -0.15}" turn="${turn}"/>
  <xacro:wheel name="R${side}" side="${side}" x="${turn * -0.15}" turn="${turn}"/>
 </xacro:macro>
</robot>"""
ROBOT = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="leo">
 <xacro:include filename="$(find leo_description)/urdf/macros.xacro"/>
 <link name="base_footprint"/>
 <xacro:part name="base_link" mass="1.6" size="0.25 0.15 0.1"/>
 <joint name="base_joint" type="fixed">
  <parent link="base_footprint"/><child link="base_link"/><origin xyz="0 0 0.2"/>
 </joint>
 <xacro:side side="L" y="0.14" yaw="${pi}" turn="-1"/>
 <xacro:side side="R" y="-0.14" yaw="0" turn="1"/>
</robot>"""


def block(language: str) -> str:
    """The block of a language on the page."""
    (text,) = re.findall(f"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return text


def commands(word: str) -> list[str]:
    """Arguments of the page's commands that begin with a word of the program `grouser`."""
    return re.findall(rf"^    grouser {word} (.*)$", PAGE, re.MULTILINE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder in which the page is followed, with the clone beside it."""
    package = tmp_path / "leo" / "leo_common-ros2" / "leo_description"
    (package / "urdf").mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>leo_description</name></package>")
    (package / "urdf" / "macros.xacro").write_text(MACROS)
    (package / "urdf" / "leo.urdf.xacro").write_text(ROBOT)
    (written,) = re.findall(r"Write `\.\./(.*)`", PAGE)
    (tmp_path / written).write_text(block("xml"))
    here = tmp_path / "grouser"
    here.mkdir()
    for name in ("config", "urdf"):
        (here / name).symlink_to(ROOT / name)
    (here / ".venv" / "bin").mkdir(parents=True)
    (here / ".venv" / "bin" / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (here / ".venv" / "bin" / "python").chmod(0o755)
    monkeypatch.chdir(here)
    return here


def test_machine_is_inspected_with_the_warning_that_the_page_explains(folder, capsys):
    theirs, own = commands("inspect")
    assert cli.main(["inspect", theirs]) == 0
    output = capsys.readouterr().out
    assert "joint 'rocker_R_joint' is fixed and cannot mimic another one" in output and "servo drives" not in output
    assert cli.main(["inspect", own]) == 0
    output = capsys.readouterr().out
    assert len(re.findall(r"wheel_[FR][LR]_joint +velocity +2 ", output)) == 4


def test_python_script_drives_and_slips_on_sand(folder):
    done = subprocess.run([sys.executable, "-c", block("python")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"^(\w+): ([\d.]+) m, mean slip ([-\d.]+), sinkage (\d+) mm$", done.stdout, re.MULTILINE)
    (flat, way, slip, sinkage), (sand, soft_way, soft_slip, soft_sinkage) = found
    assert (flat, sand, float(slip), int(sinkage)) == ("flat", "sand", pytest.approx(0.0, abs=0.02), 0)
    # 0.2 m/s over four seconds, less what the start takes; on sand less by the slip.
    assert 0.7 < float(way) < 0.8
    assert 0.05 < float(soft_slip) < 0.6 and int(soft_sinkage) > 2
    assert float(soft_way) == pytest.approx(0.8 * (1.0 - float(soft_slip)), rel=0.15)


def test_rover_drives_by_cmd_vel_from_the_script_of_the_page(compiled, folder, launch, peer):
    machine = re.findall(r"make run MACHINE=(\S+) WORLD=sand$", PAGE, re.MULTILINE)[0]
    launch("grouser.cli", "run", "--machine", machine, "--world", "sand", "--no-view")
    peer.hear(Clock, "/clock", topics.CLOCK_QUALITY).collect(5)
    active = {**os.environ, "PATH": f"{folder / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", block("bash")], env=active, capture_output=True, text=True, check=False, timeout=DEADLINE
    )
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"^wheel_[FR][LR]_link \{'slip_ratio': ", done.stdout, re.MULTILINE)) == 4, done.stdout
