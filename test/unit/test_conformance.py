"""The parts of `grouser conform` that need no simulator: its table, its documentation, its reader of machines."""

from pathlib import Path

import pytest
from sensor_msgs.msg import Imu

from grouser.conformance import standard
from grouser.conformance.checks_contents import imu_fault
from grouser.conformance.description import read_description
from grouser.conformance.page import page
from grouser.conformance.report import Report, Verdict

ROOT = Path(__file__).resolve().parents[2]
PLAIN = """
<robot name="plain">
  <link name="base_link"/>
  <link name="arm"><collision/></link>
  <joint name="elbow" type="revolute"><parent link="base_link"/><child link="arm"/><limit lower="-1" upper="2"/></joint>
  {}
</robot>
"""


def test_conform_page_is_made_from_the_tables():
    written = (ROOT / "docs" / "conform.md").read_text(encoding="utf-8")
    assert written == page(), "run: python -m grouser.conformance.page > docs/conform.md"


def test_description_without_grouser_element_has_links_and_joints():
    machine = read_description(PLAIN.format(""))
    assert (machine.root, machine.colliding, machine.movable, machine.drives) == ("base_link", ("arm",), ("elbow",), ())
    needs = {value for value in vars(standard).values() if isinstance(value, str)}
    asked = {row.needs for row in (*standard.OUTPUTS, *standard.INPUTS, *standard.SERVICES, *standard.ACTIONS)}
    assert asked <= needs
    assert {need for need in asked if machine.has(need)} == {standard.EVERY_MACHINE, standard.FLOATING_BASE}


def test_description_reads_parts_from_the_grouser_element():
    extension = """
      <grouser><servo_drive joint="elbow" mode="velocity" damping="1" effort_limit="7"/></grouser>
      <grouser><wheel link="arm"/><sensor name="eye" type="lidar" link="arm"/></grouser>
    """
    machine = read_description(PLAIN.format(extension))
    (drive,) = machine.drives
    assert (drive.link, drive.mode, drive.lower, drive.upper, drive.effort) == ("arm", "velocity", -1.0, 2.0, 7.0)
    assert machine.has(standard.DRIVEN_WHEELS) and machine.has(standard.LIDARS) and not machine.has(standard.IMUS)


@pytest.mark.parametrize("text", ["", "<robot", "<robot/>", "<robot><link name='a'/><link name='b'/></robot>"])
def test_invalid_urdf_is_refused(text):
    with pytest.raises(ValueError):
        read_description(text)


def test_report_counts_rows_and_wraps_long_cells():
    report = Report()
    section = report.section("graph")
    section.check("joint_states: type", "sensor_msgs/JointState", "sensor_msgs/JointState", True)
    section.check("valve_commands: type", standard.VALUES, "no publisher", False)
    section.absent("scan: type", "sensor_msgs/LaserScan")
    section.skip("odom: rate", "50 Hz", "paused")
    text = list(report.lines())
    assert text[0] == "graph:"
    assert text[2].split() == ["valve_commands:", "type", "control_msgs/", "no", "publisher", "FAILED"]
    assert text[3].split() == ["DynamicInterfaceGroupValues"]
    assert text[-1] == "4 checks: 1 passed, 1 failed, 1 absent, 1 skipped"
    assert [row.check for row in report.failed] == ["valve_commands: type"]
    assert report.as_dictionary()["rows"][2]["verdict"] == Verdict.ABSENT.value


def imu(length: float = 1.0, **covariances: list[float]) -> Imu:
    message = Imu(**{f"{field}_covariance": values for field, values in covariances.items()})
    message.orientation.w = length
    return message


UNIT = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        (imu(), ""),  # all zero: not known (REP-145)
        (imu(orientation=[-1.0] + 8 * [0.0]), ""),  # not measured
        (imu(angular_velocity=UNIT), ""),
        (imu(angular_velocity=[-2.0, *UNIT[1:]]), "angular_velocity_covariance has a negative variance"),
        (imu(orientation=[1.0, 0.5, *UNIT[2:]]), "orientation_covariance is not symmetric"),
        (imu(0.5), "orientation of length 0.5"),
        (imu(0.5, orientation=[-1.0] + 8 * [0.0]), ""),
    ],
)
def test_imu_messages_are_checked_by_rep_145(message, fault):
    assert imu_fault(message) == fault
