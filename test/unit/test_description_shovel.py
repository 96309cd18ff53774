"""<shovel>: edges, teeth and profile in the axes of the plate, bad input, and the capacities of `grouser inspect`."""

import re

import pytest
from shipped import shipped_machine

from grouser import MachineError
from grouser.commands.shovel_inspection import shovel_facts, shovel_lines
from grouser.physics.description import parse_machine
from grouser.physics.description.data.machine import Member
from grouser.physics.description.machine_file.fleet import combine

# A bucket of 0.45 m on an opening of 0.4 m along z, 0.275 m deep along -x.
BUCKET = {
    "name": "bucket",
    "link": "base",
    "cutting_edge": "0 -0.225 0  0 0.225 0",
    "top_edge": "0 -0.225 0.4  0 0.225 0.4",
    "cutting_direction": "0 0.5 -2",
    "profile": "0 0 0  -0.275 0 0  -0.275 0 0.4  0 0.1 0.4",
    "teeth": "4",
    "tooth_side": "0.03",
}


def machine_with(**changes):
    values = {name: value for name, value in {**BUCKET, **changes}.items() if value is not None}
    written = " ".join(f'{name}="{value}"' for name, value in values.items())
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    return parse_machine(
        f'<robot name="r"><link name="base">{inertial}</link><grouser><shovel {written}/></grouser></robot>', "r.urdf"
    )


def test_bucket_in_the_axes_of_its_plate():
    (bucket,) = machine_with().shovels
    assert bucket.width == pytest.approx(0.45)
    assert bucket.opening == pytest.approx(0.4)
    assert bucket.cutting_direction == pytest.approx((0.0, 0.0, -1.0))
    assert [*sum(bucket.profile, ())] == pytest.approx([0.0, 0.0, 0.0, 0.275, 0.4, 0.275, 0.4, 0.0])
    assert (bucket.teeth, bucket.tooth_side, bucket.edge_thickness, bucket.side_plates) == (4, 0.03, 0.02, False)


def test_profile_on_either_side_of_the_plate_is_behind_it():
    (bucket,) = machine_with(profile="0 0 0  0.275 0 0  0.275 0 0.4  0 0 0.4").shovels
    assert [*sum(bucket.profile, ())] == pytest.approx([0.0, 0.0, 0.0, 0.275, 0.4, 0.275, 0.4, 0.0])


def test_capacities_by_the_struck_volume_and_the_heaps_on_it():
    facts = shovel_facts(machine_with(), None)[0]
    found = [
        facts[f"{name}_capacity{slope}"] for name, slope in (("struck", ""), ("heaped", "_1_1"), ("heaped", "_1_2"))
    ]
    assert found == pytest.approx([0.0495, 0.062167, 0.055833], abs=5e-7)
    (row,) = [line for line in shovel_lines([facts]) if line.split()[:1] == ["bucket"]]
    assert row.split()[-3:] == ["49.5", "62.2", "55.8"]


def test_blade_has_no_capacity():
    facts = shovel_facts(machine_with(profile=None, teeth=None, tooth_side=None), None)[0]
    assert facts["struck_capacity"] is facts["heaped_capacity_1_1"] is None
    assert "-" in [*shovel_lines([facts])][-1].split()


def test_edge_that_points_back_over_the_plate_is_told():
    told = "shovel 'bucket': cutting_direction points from the cutting edge back"
    assert not any(told in text for text in machine_with().warnings)
    assert any(told in text for text in machine_with(cutting_direction="0 0 1").warnings)


def test_tools_of_a_fleet_keep_their_links():
    machine = machine_with()
    fleet = combine({"one": Member(machine), "two": Member(machine)})
    assert [shovel.link for shovel in fleet.shovels] == ["one/base", "two/base"]


def test_excavator_has_a_bucket_and_a_blade():
    bucket, blade = shovel_facts(shipped_machine("excavator"), None)
    assert (bucket["link"], blade["link"]) == ("bucket_body", "blade_link")
    # sides of the drawing: lip, bottom and back by the shoelace formula, and plates 0.44 m apart
    x, z = (0.48, 0.355, 0.203, 0.07, 0.04), (0.07, 0.211, 0.239, 0.144, -0.02)
    area = 0.5 * abs(sum(x[k - 1] * z[k] - x[k] * z[k - 1] for k in range(5)))
    assert bucket["struck_capacity"] == pytest.approx(0.44 * area, rel=1e-9)
    assert bucket["heaped_capacity_1_1"] > bucket["heaped_capacity_1_2"] > bucket["struck_capacity"]
    assert blade["width"] == pytest.approx(1.3) and blade["struck_capacity"] is None


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"top_edge": "0 0.225 0.4  0 -0.225 0.4"}, "sides of the plate cross: .*swap its ends"),
        ({"top_edge": "0 -0.225 0.4  0.1 0.225 0.4"}, "12.5 degrees from parallel"),
        ({"top_edge": "0 1 0  0 2 0"}, "lie on one line"),
        ({"cutting_edge": "0 -0.225 0"}, "cutting_edge has 1 point"),
        ({"cutting_edge": "0 1 0  0 1 0"}, "both ends of cutting_edge are at 0 1 0 m"),
        ({"cutting_edge": "0 -225 0  0 225 0"}, "cutting_edge is 450 m wide .*is it in mm"),
        ({"cutting_direction": "0 1 0"}, "cutting_direction is along the cutting edge"),
        ({"profile": "0 0 0.05  -0.275 0 0.2  0 0 0.4"}, "profile is open: it ends 0.05 m from cutting_edge"),
        ({"profile": "0 0 0  -0.275 0 0.2  0 0 0.37"}, "profile is open: it ends 0.03 m from top_edge"),
        ({"profile": "0 0 0  0 0 0.4"}, "profile has 2 points"),
        ({"profile": "0 0 0  -0.3 0 0.1  0.01 0 0.2  -0.3 0 0.3  0 0 0.4"}, "point 3 of profile is 0.01 m before"),
        ({"profile": "0 0 0  -0.3 0 0.3  -0.3 0 0.1  0 0 0.4"}, "between its points 1 and 2, and 3 and 4"),
        ({"teeth": "20"}, "20 teeth of 0.03 m are wider than the cutting edge, 0.45 m"),
        ({"tooth_side": None}, "4 teeth without tooth_side"),
        ({"teeth": None}, "without teeth"),
        ({"link": "lid"}, "lid"),
    ],
)  # fmt: skip
def test_bad_shovels_are_refused(changes, words):
    with pytest.raises(MachineError, match=re.compile(words, re.DOTALL)):
        machine_with(**changes)
