"""The published URDF text, without capsules."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from patience import DEADLINE

from grouser.physics.description import load_machine, parse_machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import compose
from grouser.physics.description.data.shapes import Box, Cylinder, Sphere

LOOPS_AND_SPRINGS = Path(__file__).parents[1] / "data" / "machines" / "loops_and_springs.urdf"

ROBOT = """<?xml version="1.0" encoding="utf-8"?>
<robot name="größe">
  <!-- <link><collision><geometry><capsule radius="1" length="1"/></geometry></collision></link> -->
  <link name="a">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual name='left > "right"'>
      <geometry><capsule radius="0.1" length="0.4"></capsule></geometry>
      <material name="red"><color rgba="1 0 0 0.5"/></material>
    </visual>
    <collision><geometry><box size="1 2 3"/></geometry></collision>
    <collision name="tube">
      <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><geometry><capsule radius="2e-1" length="1"/></geometry>
    </collision>
    <collision><origin xyz="0 0 1" quat_xyzw="1 0 0 1"/>
      <geometry><!-- round --><capsule length="0.6" radius=" 0.3 "/></geometry></collision>
  </link>
  <drake:capsule radius="1" length="1"/>
</robot>
"""


def published(tmp_path, text=ROBOT):
    """The machine of the text, and the machine of its published text."""
    path = tmp_path / "robot.urdf"
    path.write_text(text, encoding="utf-8")
    machine = load_machine(path)
    return machine, parse_machine(machine.urdf, file="robot_description")


def test_capsules_are_published_as_cylinder_and_two_spheres(tmp_path):
    machine, read = published(tmp_path)
    assert "<box" in machine.urdf and "drake:capsule" in machine.urdf and "größe" in machine.urdf
    (link,) = machine.links
    (same,) = read.links
    box, *rounded = same.collisions
    assert box.geometry == Box((1.0, 2.0, 3.0))
    for before, parts in zip(
        [*link.visuals, *link.collisions[1:]], [same.visuals, rounded[:3], rounded[3:]], strict=True
    ):
        cylinder, *spheres = parts
        capsule = before.geometry
        assert (cylinder.pose, cylinder.geometry) == (before.pose, Cylinder(capsule.radius, capsule.length))
        assert {part.name for part in parts} == {before.name}
        assert [sphere.geometry for sphere in spheres] == [Sphere(capsule.radius)] * 2
        for sphere, side in zip(spheres, (-0.5, 0.5), strict=True):
            end = compose(before.pose, Pose((0.0, 0.0, side * capsule.length))).position
            np.testing.assert_allclose(sphere.pose.position, end, atol=1e-15)
    assert {part.rgba for part in same.visuals} == {(1.0, 0.0, 0.0, 0.5)}


def test_published_urdf_without_capsules_is_unchanged(tmp_path):
    text = '<robot name="r"> <link name="capsule"/> <!-- no <b>capsule --> </robot>'
    assert published(tmp_path, text)[0].urdf == text


def test_published_urdf_is_read_by_urdfdom():
    """RViz and robot_state_publisher use urdfdom; this one is part of Pinocchio."""
    program = shutil.which("check_urdf") or shutil.which("check_urdf", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("not tested: whether urdfdom reads what is published; its program check_urdf is not installed")
    machine = load_machine(LOOPS_AND_SPRINGS)
    assert "capsule" in LOOPS_AND_SPRINGS.read_text()

    def complaints(text):
        return subprocess.run(
            [program, "/dev/stdin"], input=text, capture_output=True, text=True, check=True, timeout=DEADLINE
        ).stderr

    assert "capsule" in complaints(LOOPS_AND_SPRINGS.read_text())
    assert complaints(machine.urdf) == ""
