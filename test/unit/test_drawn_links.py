"""Flexible links as they are drawn: in pieces with frames, which follow the beam."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import grouser
from grouser import Simulation, World
from grouser.physics.description.data.rotation import matrix, quaternion_from_rpy
from grouser.runtime.drawn_links import display_description, drawn_links
from grouser.runtime.frames import FrameTree

# A cantilever of 2 m along x with a box around it, and a ball on its side.
URDF = """<robot name="r"><link name="world"/>
  <link name="beam">
    <visual name="body"><origin xyz="1 0 0"/><geometry><box size="2 0.1 0.05"/></geometry>
      <material name="m"><color rgba="0.1 0.2 0.3 1"/></material></visual>
    <visual name="lug"><origin xyz="1.7 0 0.1" rpy="0.3 -0.4 0.5"/><geometry><sphere radius="0.05"/></geometry></visual>
  </link>
  <link name="load"><inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
  </link>
  <joint name="clamp" type="fixed"><parent link="world"/><child link="beam"/></joint>
  <joint name="end" type="fixed"><parent link="beam"/><child link="load"/><origin xyz="2 0 0"/></joint>
  <grouser><flexible_link link="beam" discretisation="DISCRETISATION" size="8" length="2" width="0.1" height="0.02"
    modulus="7e10" shear_modulus="2.6e10" density="2700"/></grouser></robot>"""


@pytest.fixture(scope="module", params=["finite_elements", "rigid_elements"])
def machine(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("beam") / "beam.urdf"
    path.write_text(URDF.replace("DISCRETISATION", request.param))
    return grouser.load_machine(path)


def test_pieces_tile_the_shape(machine):
    pieces = [link for link, owner in drawn_links(machine) if owner == "beam"]
    boxes = [visual.geometry.size for link in pieces for visual in link.visuals if visual.name == "body"]
    assert len(boxes) > 5
    assert sum(size[0] for size in boxes) == pytest.approx(2.0, rel=1e-12)
    assert {size[1:] for size in boxes} == {(0.1, 0.05)}


def test_display_description_has_the_pieces_in_place(machine):
    """Links on floating joints below the flexible one, which keeps only what is before the first cut."""
    robot = ET.fromstring(display_description(machine))
    links = {link.get("name"): link for link in robot.iter("link")}
    parents = {joint.find("child").get("link"): joint for joint in robot.iter("joint")}
    count = 0
    for link, owner in drawn_links(machine):
        if owner != "beam":
            continue
        if link.name != owner:
            joint = parents[link.name]
            assert (joint.get("type"), joint.find("parent").get("link")) == ("floating", "beam")
        for visual, element in zip(link.visuals, links[link.name].findall("visual"), strict=True):
            origin = element.find("origin")
            assert tuple(map(float, origin.get("xyz").split())) == visual.pose.position
            turned = quaternion_from_rpy(*map(float, origin.get("rpy").split()))
            np.testing.assert_allclose(matrix(turned), matrix(visual.pose.quaternion), atol=1e-12)
            colour = element.find("material/color")
            assert visual.rgba == (None if colour is None else tuple(map(float, colour.get("rgba").split())))
            count += 1
    assert count > 5


def test_frames_of_the_pieces_follow_the_beam(machine):
    """At rest a cantilever with a load at its end sags by the closed form w = F (3 L x2 - x3) / 6EI, and that of
    its own weight w = q x2 (6 L2 - 4 L x + x2) / 24EI."""
    frames = FrameTree(machine, None, "odom", "base_footprint")
    simulation = Simulation(machine, World(ground=None), step=0.01)
    simulation.step(3000)
    poses = frames.carried_poses(simulation.link_poses())
    assert [parent for parent, _ in frames.carried] == ["beam"] * len(poses)
    stiffness, weight, line = 7e10 * 0.1 * 0.02**3 / 12.0, 2.0 * 9.81, 2700.0 * 0.1 * 0.02 * 9.81
    x = poses[:, 0]
    sag = weight * (6.0 * x**2 - x**3) / (6.0 * stiffness)
    sag += line * x**2 * (24.0 - 8.0 * x + x**2) / (24.0 * stiffness)
    # the bending shortens the levers of the loads by some 1e-3 of themselves; half a segment of seven is rigid at the
    # start of a chain, where the line sags by 3/2 (load at the end) to 2 (weight) of the square of the share of the
    # length, of the sag of the end; that of the last spring is nine tenths of it
    chain = machine.flexible_links[0].discretisation == "rigid_elements"
    np.testing.assert_allclose(poses[:, 2], -sag, rtol=2e-3, atol=2.0 / 0.9 / 14.0**2 * sag.max() if chain else 0.0)
    assert abs(poses[-1, 2]) > 0.02
