"""<track> and <track_wheel>: the belt's path, defaults, and bad input."""

import math

import numpy as np
import pytest
from tracked_vehicle import RADIUS, tracked_vehicle

from grouser import MachineError, World
from grouser.physics.description import parse_machine
from grouser.physics.description.data.machine import Member
from grouser.physics.description.machine_file.fleet import combine
from grouser.physics.description.urdf.belt_path import lay_belt

_INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'


def test_belt_around_two_equal_wheels_has_two_spans_and_two_half_turns():
    path = lay_belt(np.array([[0.0, 0.0], [-1.2, 0.1]]), np.array([0.2, 0.2]), 0.0)
    assert path.total == pytest.approx(2.0 * math.hypot(1.2, 0.1) + 2.0 * math.pi * 0.2)
    assert np.count_nonzero(path.radius == 0.0) == 2


def test_belt_around_two_different_wheels_has_the_length_of_an_open_belt_drive():
    distance, large, small = 1.5, 0.4, 0.15
    path = lay_belt(np.array([[0.0, 0.0], [distance, 0.0]]), np.array([large, small]), 0.0)
    lean = math.asin((large - small) / distance)
    expected = 2.0 * distance * math.cos(lean) + large * (math.pi + 2.0 * lean) + small * (math.pi - 2.0 * lean)
    assert path.total == pytest.approx(expected)


def test_belt_runs_as_a_wheel_rolls_ahead_and_is_closed():
    path = lay_belt(np.array([[0.0, 0.0], [-1.2, 0.1], [-0.6, -0.3]]), np.array([0.2, 0.15, 0.1]), 0.02)
    top = path.point[:, 1].argmax()
    ends = np.array([_end(path, k) for k in range(len(path.start))])
    assert np.allclose(np.roll(path.point, -1, axis=0), ends)
    assert path.direction[top, 0] >= 0.0
    lowest = path.point[:, 1].argmin()
    assert path.direction[lowest, 0] <= 0.0


def _end(path, segment):
    length, radius = path.length[segment], path.radius[segment]
    (x, z), (tx, tz) = path.point[segment], path.direction[segment]
    if radius == 0.0:
        return x + length * tx, z + length * tz
    turn = length / radius
    along, inward = radius * math.sin(turn), radius * (1.0 - math.cos(turn))
    return x + along * tx + inward * tz, z + along * tz - inward * tx


def test_wheel_on_a_span_divides_it_and_a_wheel_inside_touches_nothing():
    centres, radii = [[0.0, 0.0], [-1.2, 0.0]], [0.2, 0.2]
    plain = lay_belt(np.array(centres), np.array(radii), 0.0)
    road = lay_belt(np.array([*centres, [-0.5, -0.1]]), np.array([*radii, 0.1]), 0.0)
    inside = lay_belt(np.array([*centres, [-0.5, 0.0]]), np.array([*radii, 0.05]), 0.0)
    assert len(road.start) == len(plain.start) + 1
    assert len(inside.start) == len(plain.start)
    assert road.total == pytest.approx(plain.total) == pytest.approx(inside.total)


def test_wheels_that_a_joint_turns_follow_the_belt():
    machine = tracked_vehicle()
    assert {joint.name for joint in machine.joints if joint.mimic} == set()
    text = _text().replace('<joint name="idler_fixing" type="fixed">', '<joint name="idler_fixing" type="continuous">')
    turned = parse_machine(text, "turned.urdf")
    mimic = next(joint.mimic for joint in turned.joints if joint.name == "idler_fixing")
    assert mimic.joint == "sprocket"
    assert mimic.multiplier == pytest.approx(0.2 / 0.1)


def test_fleet_of_tracked_machines_keeps_their_names():
    machine = tracked_vehicle()
    fleet = combine({"one": Member(machine), "two": Member(machine)}, World().spawn)
    assert [track.name for track in fleet.tracks] == ["one/left", "one/right", "two/left", "two/right"]
    assert {wheel.track for wheel in fleet.track_wheels} == {track.name for track in fleet.tracks}
    shapes = [shape.track for link in fleet.links for shape in link.collisions]
    assert shapes == [track.name for track in fleet.tracks]


def _text(track="", wheel='<track_wheel track="belt" link="idler" radius="0.1"/>', joint="continuous", x=-1.0):
    return f"""<robot name="r">
      <link name="base"><inertial><mass value="10"/>{_INERTIA}</inertial></link>
      <link name="wheel"><inertial><mass value="1"/>{_INERTIA}</inertial></link>
      <link name="idler"/>
      <joint name="sprocket" type="{joint}"><parent link="base"/><child link="wheel"/><axis xyz="0 1 0"/>
        <limit effort="1" velocity="1" lower="-1" upper="1"/></joint>
      <joint name="idler_fixing" type="fixed"><parent link="base"/><child link="idler"/><origin xyz="{x} 0 0"/>
        <axis xyz="0 1 0"/></joint>
      <grouser>
        <track name="belt" sprocket="sprocket" radius="{RADIUS}" width="0.2" shoes="30" pretension="1000" {track}/>
        {wheel}</grouser></robot>"""


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"wheel": ""}, "has a sprocket and no other wheel"),
        ({"x": -0.25}, "overlap: their axes are 0.25 m apart, and their radii 0.2 and 0.1 m"),
        ({"track": 'pitch="0.05"'}, "30 shoes of 0.05 m make a belt of 1.5 m"),
        ({"track": 'pitch="0.11"'}, "a pitch of 0.0"),
        ({"joint": "prismatic"}, "is prismatic"),
        ({"track": 'ahead="0 1 0"'}, "ahead is parallel to the sprocket's axis"),
        ({"wheel": '<track_wheel track="other" link="idler" radius="0.1"/>'}, "track = 'other' is no <track>"),
        ({"wheel": '<track_wheel track="belt" link="wheel" radius="0.1"/>'}, "overlap"),
        ({"wheel": '<track_wheel track="belt" link="base" radius="0.1"/>'}, "is not held to link 'base'"),
    ],
)
def test_bad_tracks_are_refused(changes, message):
    with pytest.raises(MachineError, match=message):
        parse_machine(_text(**changes), "bad.urdf")


def test_belt_a_little_longer_than_its_path_fits():
    path = parse_machine(_text(), "good.urdf").tracks[0]
    longer = parse_machine(_text(track=f'pitch="{1.02 * path.pitch}"'), "good.urdf").tracks[0]
    assert path.path.total == pytest.approx(30 * path.pitch)
    assert longer.pitch == pytest.approx(1.02 * path.pitch)


def _on_arm(pivot="revolute", axis="0 1 0", x=-1.0, z=0.1, axle="fixed", wheel_axis="0 1 0"):
    """The idler on an arm of its own, and one that is bolted on."""
    text = _text(wheel='<track_wheel track="belt" link="idler" radius="0.1"/>')
    joint = (
        f'<link name="arm"><inertial><mass value="1"/>{_INERTIA}</inertial></link>'
        f'<joint name="pivot" type="{pivot}"><parent link="base"/><child link="arm"/><origin xyz="{x} 0 {z}"/>'
        f'<axis xyz="{axis}"/><limit effort="1" velocity="1" lower="-1" upper="1"/></joint>'
        f'<joint name="axle" type="{axle}"><parent link="arm"/><child link="idler"/><origin xyz="0 0 {-z}"/>'
        f'<axis xyz="{wheel_axis}"/></joint>'
    )
    start, end = text.index('<joint name="idler_fixing"'), text.index("<grouser>")
    return text[:start] + joint + text[end:]


@pytest.mark.parametrize("pivot", [{}, {"pivot": "prismatic", "axis": "0 0 1"}, {"axis": "0 -1 0"}])
def test_wheel_on_a_suspension_lies_where_its_joints_are_at_zero(pivot):
    track = parse_machine(_on_arm(**pivot), "arm.urdf").tracks[0]
    assert track.path.total == pytest.approx(parse_machine(_text(), "good.urdf").tracks[0].path.total)


def test_wheel_that_turns_on_its_arm_follows_the_belt():
    text = _on_arm(axle="continuous", wheel_axis="0 -1 0")
    text = text.replace(
        '<link name="idler"/>', f'<link name="idler"><inertial><mass value="1"/>{_INERTIA}</inertial></link>'
    )
    mimic = next(joint.mimic for joint in parse_machine(text, "arm.urdf").joints if joint.name == "axle")
    assert (mimic.joint, mimic.multiplier) == ("sprocket", pytest.approx(-2.0))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"axis": "1 0 0"}, "the axis of joint 'pivot' is not parallel to that of 'sprocket'"),
        ({"pivot": "prismatic"}, "the axis of joint 'pivot' is not across that of 'sprocket'"),
        ({"pivot": "planar"}, "joint 'pivot' is planar"),
        ({"axle": "prismatic"}, "is not held to link 'base'"),
        ({"axle": "continuous", "wheel_axis": "1 0 0"}, "the axis of joint 'axle' is not parallel"),
    ],
)
def test_suspensions_that_move_a_wheel_out_of_its_track_are_refused(changes, message):
    with pytest.raises(MachineError, match=message):
        parse_machine(_on_arm(**changes), "arm.urdf")


def test_sprung_wheel_that_the_belt_misses_is_refused():
    text = (
        _on_arm()
        .replace("</grouser>", '<track_wheel track="belt" link="far" radius="0.1"/></grouser>')
        .replace(
            "<grouser>",
            '<link name="far"/><joint name="far_fixing" type="fixed"><parent link="base"/><child link="far"/>'
            '<origin xyz="-2 0 0"/></joint><grouser>',
        )
        .replace('link="idler" radius="0.1"', 'link="idler" radius="0.05"')
    )
    with pytest.raises(MachineError, match="'idler' moves on its suspension, and the belt does not touch it"):
        parse_machine(text, "arm.urdf")


def test_tensioner_that_is_no_wheel_of_the_track_is_refused():
    with pytest.raises(MachineError, match="tensioner = 'wheel' is no wheel of this track; there are: 'idler'"):
        parse_machine(_text(track='tensioner="wheel"'), "bad.urdf")
    assert parse_machine(_text(track='tensioner="idler"'), "good.urdf").tracks[0].tensioner == "idler"


def _steered(steering, kind="revolute", axis="0 0 1"):
    """The track on an arm that a joint turns on a frame."""
    arm = (
        f'<link name="frame"/><joint name="slew" type="{kind}"><parent link="frame"/><child link="base"/>'
        f'<origin xyz="0.5 0 0"/><axis xyz="{axis}"/><limit lower="-1" upper="1" effort="1" velocity="0.5"/></joint>'
    )
    return _text(track=f'steering="{steering}"').replace("<grouser>", f"{arm}<grouser>", 1)


def test_track_names_the_joint_that_steers_it():
    machine = parse_machine(_steered("slew"), "good.urdf")
    assert machine.tracks[0].steering == "slew"
    assert parse_machine(_text(), "good.urdf").tracks[0].steering == ""
    assert combine({"one": Member(machine)}).tracks[0].steering == "one/slew"


@pytest.mark.parametrize(
    ("steering", "kind", "message"),
    [
        ("sprocket", "revolute", "steering = 'sprocket' does not move link 'base'"),
        ("slew", "prismatic", "steering = 'slew' is prismatic"),
        ("nothing", "revolute", "no such joint"),
    ],
)
def test_joint_that_cannot_steer_a_track_is_refused(steering, kind, message):
    with pytest.raises(MachineError, match=message):
        parse_machine(_steered(steering, kind), "bad.urdf")
