"""Warnings of cylinders whose stroke exceeds the reach of their attachments."""

import math

import pytest

import grouser

ROBOT = """<robot name="r">
<link name="base"><inertial><mass value="9"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="j" type="{type}"><parent link="base"/><child link="arm"/><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/>
<axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="100"/></joint>
<link name="plate"/><joint name="glue" type="fixed"><parent link="arm"/><child link="plate"/></joint>
<grouser>
<fluid/><pump supply_pressure="1e7"/><directional_valve name="v" spool_diameter="0.006" spool_travel="2e-4"/>
<cylinder name="c" valve="v" bore="0.04" rod_diameter="0.02" stroke="{stroke}" retracted_length="{shortest}"
 piston_mass="3" dead_volume_piston_side="1e-4" dead_volume_rod_side="1e-4">
<barrel link="plate" xyz="{barrel}"/><rod link="base" xyz="0.1 0.2 0.3"/></cylinder>
</grouser></robot>"""


def stroke_warnings(tmp_path, **values):
    path = tmp_path / "robot.urdf"
    path.write_text(ROBOT.format(**values))
    return [warning for warning in grouser.load_machine(path).warnings if "stroke" in warning]


# The rod's end is in the joint's origin; the barrel's is 0.4 m along its axis and 0.3 m off it.
@pytest.mark.parametrize(
    ("type_", "shortest", "longest", "odd"),
    [
        # about the axis the distance is sqrt(0.3^2 + 0.4^2) for ever
        ("revolute", 0.4999, 0.5001, False),
        ("revolute", 0.49, 0.5, True),
        ("revolute", 0.5, 0.51, True),
        # along the axis it is anything from 0.3 m on
        ("prismatic", 0.2999, 10.0, False),
        ("prismatic", 0.29, 0.6, True),
    ],
)
def test_warning_of_a_stroke_beyond_the_reach_of_its_joint(tmp_path, type_, shortest, longest, odd):
    found = stroke_warnings(tmp_path, type=type_, barrel="0.3 0 0.4", shortest=shortest, stroke=longest - shortest)
    assert len(found) == odd
    reach = "0.5000 to 0.5000 m" if type_ == "revolute" else "0.3000 to inf m"
    assert all("cylinder 'c'" in warning and "joint 'j'" in warning and reach in warning for warning in found)


def test_reach_of_a_hinge_is_difference_and_sum_of_the_radii(tmp_path):
    """Ends at 1 m and sqrt(2) m from the hinge's axis, as far along it."""
    robot = ROBOT.replace('base" xyz="0.1 0.2 0.3"', 'base" xyz="1 0 0"').replace(
        '<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/>', ""
    )
    near, far = math.sqrt(2.0) - 1.0, math.sqrt(2.0) + 1.0
    for shortest, longest, odd in ((near, far, False), (near - 0.01, far, True), (near, far + 0.01, True)):
        path = tmp_path / "robot.urdf"
        path.write_text(robot.format(type="revolute", barrel="1 1 0", shortest=shortest, stroke=longest - shortest))
        warnings = [warning for warning in grouser.load_machine(path).warnings if "stroke" in warning]
        assert len(warnings) == odd
        assert all("0.4142 to 2.4142 m apart" in warning for warning in warnings)
