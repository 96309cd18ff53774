"""URDF files: links, joints, shapes, poses, mimics and warnings."""

import math
from pathlib import Path

import numpy as np
import pytest
import trimesh

import grouser
from grouser.physics.description import parse_machine
from grouser.physics.description.data.mechanism import Mimic
from grouser.physics.description.data.shapes import Box, Cylinder, Mesh, Sphere
from grouser.physics.description.urdf.placement import initial_positions, link_poses

DATA = Path(__file__).parents[1] / "data"
REFERENCE_MODELS = sorted((DATA / "models").glob("*.urdf"))
OWN_MACHINES = sorted((DATA.parents[1] / "urdf").glob("*.urdf.xacro"))
# Of each file in test/data/models: links, joints, total mass [kg].
REFERENCE_FACTS = {
    "excavator": (5, 4, 5150.0),
    "excavator_box": (5, 4, 5150.0),
    "rover": (15, 14, 746.0),
    "rover_cyl": (15, 14, 746.0),
}

LINK = """<link name="{name}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>"""
JOINT = """<joint name="{name}" type="{type}"><parent link="{parent}"/><child link="{child}"/>{more}</joint>"""


def robot(tmp_path, *elements, name="robot.urdf"):
    path = tmp_path / name
    path.write_text('<robot name="r">' + "\n".join(elements) + "</robot>")
    return path


def link(name):
    return LINK.format(name=name)


def joint(name, parent, child, type="revolute", more='<limit lower="-1" upper="1"/>'):
    return JOINT.format(name=name, type=type, parent=parent, child=child, more=more)


@pytest.fixture
def every_joint(tmp_path):
    vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]
    trimesh.Trimesh(vertices, faces).export(tmp_path / "tetrahedron.stl")
    mesh = str(tmp_path / "tetrahedron.stl")
    return grouser.load_machine(DATA / "machines" / "every_joint.urdf.xacro", {"mesh": mesh, "arm_mass": "5"})


@pytest.mark.parametrize("path", REFERENCE_MODELS, ids=lambda path: path.stem)
def test_reference_models_load(path):
    machine = grouser.load_machine(path)
    links, joints, mass = REFERENCE_FACTS[path.stem]
    assert (len(machine.links), len(machine.joints)) == (links, joints)
    assert sum(one.inertial.mass for one in machine.links if one.inertial) == pytest.approx(mass)
    assert machine.root == "base" and machine.floating_base
    assert machine.links[0].line == 3
    assert machine.warnings == ()
    assert machine.urdf.startswith("<robot")


def test_reference_models_exist():
    assert {path.stem for path in REFERENCE_MODELS} == set(REFERENCE_FACTS)


@pytest.mark.parametrize("path", OWN_MACHINES, ids=lambda path: path.stem)
def test_shipped_machines_load(path):
    machine = grouser.load_machine(path)
    # the published crane's cylinder is longer than its boom can use
    expected = ["cannot use its stroke"] if machine.name == "loader_crane" else []
    assert machine.links
    assert [words for words in expected if not any(words in warning for warning in machine.warnings)] == []
    assert len(machine.warnings) == len(expected)


def test_all_joint_types_are_read(every_joint):
    joints = {one.name: one for one in every_joint.joints}
    assert {one.type for one in every_joint.joints} == {
        "fixed", "revolute", "continuous", "prismatic", "planar", "floating"
    }  # fmt: skip
    shoulder, axle, rail = joints["shoulder"], joints["axle"], joints["rail"]
    assert (shoulder.limit.lower, shoulder.limit.upper) == (-1.0, 1.5)
    assert (shoulder.limit.effort, shoulder.limit.velocity) == (500.0, 2.0)
    assert shoulder.axis == (0.0, 1.0, 0.0)
    assert (axle.limit.lower, axle.limit.upper, axle.limit.effort) == (None, None, math.inf)
    assert (axle.damping, axle.friction) == (0.2, 0.1)
    assert rail.axis == pytest.approx((math.sqrt(0.5), 0.0, math.sqrt(0.5)))
    assert joints["hanging"].limit.lower is None


def test_chains_of_mimics_refer_to_an_independent_joint(every_joint):
    joints = {one.name: one for one in every_joint.joints}
    assert joints["finger_joint"].mimic == Mimic("shoulder", 3.0, 0.25)
    # -2 (3 q + 0.25) + 0.5
    assert joints["thumb_joint"].mimic == Mimic("shoulder", -6.0, 0.0)
    positions = initial_positions(every_joint)
    assert positions["shoulder"] == 0.2
    assert positions["thumb_joint"] == pytest.approx(-1.2)
    assert positions["rail"] == 0.1  # zero lies outside its limits
    assert list(positions) == ["shoulder", "axle", "rail", "thumb_joint", "finger_joint", "hanging"]


def test_long_chain_of_mimics_in_any_order(tmp_path):
    count = 2000
    elements = [link("l0")]
    for index in range(count, 0, -1):
        more = "" if index == 1 else f'<mimic joint="j{index - 1}" multiplier="-1" offset="1"/>'
        elements += [link(f"l{index}"), joint(f"j{index}", "l0", f"l{index}", "continuous", more)]
    joints = {one.name: one for one in grouser.load_machine(robot(tmp_path, *elements)).joints}
    assert joints["j1"].mimic is None
    assert joints[f"j{count}"].mimic == Mimic("j1", -1.0, 1.0)
    assert joints[f"j{count - 1}"].mimic == Mimic("j1", 1.0, 0.0)


def test_frames_of_poses_and_inertials(every_joint):
    arm = next(one for one in every_joint.links if one.name == "arm")
    assert arm.inertial.mass == 5.0
    assert arm.inertial.pose.position == (0.0, 0.0, 0.1)
    assert arm.inertial.pose.quaternion == pytest.approx((0.0, 0.0, math.sin(0.15), math.cos(0.15)))
    assert arm.inertial.inertia == pytest.approx((5 * 0.04 / 6, 0, 0, 5 * 0.04 / 6, 0, 5 * 0.04 / 6))


def test_roll_pitch_yaw_rotate_about_fixed_axes(tmp_path):
    more = '<origin xyz="1 2 3" rpy="0.3 -0.5 0.7"/>'
    machine = grouser.load_machine(robot(tmp_path, link("a"), link("b"), joint("j", "a", "b", "fixed", more)))
    pose = link_poses(machine, {})["b"]
    (sr, cr), (sp, cp), (sy, cy) = ((math.sin(angle), math.cos(angle)) for angle in (0.3, -0.5, 0.7))
    about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    x, y, z, w = pose.quaternion
    of_quaternion = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    np.testing.assert_allclose(of_quaternion, about_z @ about_y @ about_x, atol=1e-15)
    assert pose.position == (1.0, 2.0, 3.0)


def test_orientation_as_quaternion(tmp_path):
    more = '<origin quat_xyzw="0 0 2 0"/>'
    machine = grouser.load_machine(robot(tmp_path, link("a"), link("b"), joint("j", "a", "b", "fixed", more)))
    assert machine.joints[0].pose.quaternion == (0.0, 0.0, 1.0, 0.0)


def test_shapes_and_colours(every_joint):
    links = {one.name: one for one in every_joint.links}
    solid, base = links["solid"], links["base"]
    mesh, sphere, cylinder = (collision.geometry for collision in solid.collisions)
    assert isinstance(mesh, Mesh) and mesh.scale == (2.0, 1.0, 1.0)
    assert {tuple(corner) for corner in mesh.hull.tolist()} == {(0, 0, 0), (2, 0, 0), (0, 1, 0), (0, 0, 1)}
    assert not mesh.hull.flags.writeable
    assert (sphere, cylinder) == (Sphere(0.1), Cylinder(0.1, 0.4))
    assert base.collisions[0].name == "base_shape"
    assert base.visuals[0].geometry == Box((0.2, 0.2, 0.2))
    assert base.visuals[0].rgba == (1.0, 0.5, 0.0, 1.0)
    assert solid.visuals[0].rgba == (0.0, 0.0, 1.0, 0.5)
    assert solid.visuals[0].geometry.hull.size == 0
    assert Path(solid.visuals[0].geometry.path).is_file()


def test_root_link_named_world_is_fixed_by_default(tmp_path):
    path = robot(tmp_path, '<link name="world"/>', link("a"), joint("j", "world", "a"))
    assert not grouser.load_machine(path).floating_base
    assert grouser.load_machine(path, base="floating").floating_base
    assert not grouser.load_machine(REFERENCE_MODELS[0], base="fixed").floating_base
    with pytest.raises(grouser.ParameterError):
        grouser.load_machine(path, base="loose")


def test_elements_of_other_programs_are_ignored(tmp_path):
    path = robot(
        tmp_path,
        link("a").replace("</link>", '<drake:rigid hello="x"/><self_collide/></link>'),
        '<gazebo><link name="b"/></gazebo><transmission name="t"/><ros2_control name="c" type="system"/>',
    )
    machine = grouser.load_machine(path)
    assert [one.name for one in machine.links] == ["a"]


def test_chain_of_ten_thousand_links_loads(tmp_path):
    count = 10_000
    elements = [link(f"l{index}") for index in range(count)]
    elements += [joint(f"j{index}", f"l{index - 1}", f"l{index}") for index in range(1, count)]
    machine = grouser.load_machine(robot(tmp_path, *elements), base="fixed")
    assert len(machine.links) == count
    assert machine.warnings == ()


def warnings_of(tmp_path, *elements):
    return " / ".join(grouser.load_machine(robot(tmp_path, *elements), base="fixed").warnings)


def test_warning_massless_moving_link(tmp_path):
    said = warnings_of(tmp_path, '<link name="world"/>', '<link name="b"/>', joint("j", "world", "b"))
    assert "massless moving link 'b'" in said and "no force gives a finite acceleration" in said
    # With mass further out in the tree the warning is a milder one.
    said = warnings_of(tmp_path, link("a"), '<link name="b"/>', link("c"), joint("j", "a", "b"), joint("k", "b", "c"))
    assert "massless moving link 'b': only what hangs on it has mass" in said
    # Massless links on fixed joints are common, without warning.
    said = warnings_of(tmp_path, link("a"), '<link name="b"/>', joint("j", "a", "b", "fixed", ""))
    assert said == ""


def test_warning_no_moment_of_inertia_about_the_axis(tmp_path):
    point_mass = '<link name="b"><inertial><origin xyz="{}"/><mass value="1"/></inertial></link>'
    zeros = '<inertia ixx="0" iyy="0" izz="0"/></inertial>'
    on_axis = point_mass.format("1 0 0").replace("</inertial>", zeros)
    off_axis = point_mass.format("0 1 0").replace("</inertial>", zeros)
    assert "no moment of inertia" in warnings_of(tmp_path, link("a"), on_axis, joint("j", "a", "b"))
    assert warnings_of(tmp_path, link("a"), off_axis, joint("j", "a", "b")) == ""


def test_warning_triangle_inequality(tmp_path):
    odd = link("a").replace('izz="1"', 'izz="2.1"')
    assert "triangle inequality" in warnings_of(tmp_path, odd)
    assert warnings_of(tmp_path, link("a").replace('izz="1"', 'izz="2"')) == ""


@pytest.mark.parametrize("type", ["revolute", "prismatic"])
def test_warning_no_limits(tmp_path, type):
    assert "has no <limit>" in warnings_of(tmp_path, link("a"), link("b"), joint("j", "a", "b", type, ""))
    said = warnings_of(tmp_path, link("a"), link("b"), joint("j", "a", "b", type, '<limit effort="1"/>'))
    assert "neither lower nor upper" in said


def test_warning_masses_far_apart_and_unknown_material(tmp_path):
    heavy = link("b").replace('mass value="1"', 'mass value="1e8"')
    assert "are they all in kilograms" in warnings_of(tmp_path, link("a"), heavy, joint("j", "a", "b"))
    visual = '<visual><geometry><sphere radius="1"/></geometry><material name="mauve"/></visual></link>'
    assert "mauve" in warnings_of(tmp_path, link("a").replace("</link>", visual))


def test_missing_bound_of_a_limit_is_zero(tmp_path):
    path = robot(tmp_path, link("a"), link("b"), joint("j", "a", "b", more='<limit upper="2"/>'))
    limit = grouser.load_machine(path).joints[0].limit
    assert (limit.lower, limit.upper) == (0.0, 2.0)


def test_joints_and_links_with_the_same_fault_are_told_once(tmp_path):
    raised = '<limit lower="0.5" upper="1" effort="1" velocity="1"/>'
    parts = [link(name) for name in "abcd"]
    joints = [joint(f"j{name}", "a", name, "revolute", raised) for name in "bcd"]
    said = warnings_of(tmp_path, *parts, *joints)
    assert said == (
        "joint 'jb': zero is outside its limits; it starts at 0.5 (likewise joint 'jc' at 0.5, joint 'jd' at 0.5)"
    )
    said = warnings_of(tmp_path, *(f'<link name="{name}"/>' for name in "abc"), *joints[:2])
    assert said.count("no force gives a finite acceleration") == 1 and "(likewise link 'c')" in said


# --- the base ---------------------------------------------------------------------------------------------------------


MASS = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def arm(root, of_root="", of_plate=""):
    """A machine with a plate fixed to its root, and a rod that turns."""
    return f"""<robot name="arm"><link name="{root}">{of_root}</link><link name="plate">{of_plate}</link>
    <link name="rod">{MASS}</link>
    <joint name="bolts" type="fixed"><parent link="{root}"/><child link="plate"/></joint>
    <joint name="hinge" type="continuous"><parent link="plate"/><child link="rod"/></joint></robot>"""


@pytest.mark.parametrize(
    ("text", "base", "floating", "told"),
    [
        (arm("pedestal"), None, False, True),
        (arm("pedestal"), "floating", True, False),
        (arm("pedestal"), "fixed", False, False),
        (arm("pedestal", of_plate=MASS), None, True, False),
        (arm("pedestal", of_root=MASS), None, True, False),
        (arm("world"), None, False, False),
        ('<robot name="r"><link name="pedestal"/></robot>', None, True, False),
    ],
)
def test_a_root_without_mass_is_fixed_and_told(text, base, floating, told):
    machine = parse_machine(text, "arm.urdf", base=base)
    assert machine.floating_base is floating
    assert any("'pedestal' and what is fixed to it have no mass" in text for text in machine.warnings) is told
