"""<wheel> elements: what follows from the joint and the grousers, and what is refused."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import grouser
from grouser.physics.base.errors import MachineError
from grouser.physics.description.data.soil import Wheel

LINK = (
    '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    '<collision><geometry><sphere radius="0.1"/></geometry></collision></link>'
)
JOINT = '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><axis xyz="{}"/>{}</joint>'
LIMIT = '<limit lower="-1" upper="1" effort="10"/>'
# Lines 1 to 4; the <grouser> element is in line 5, its content starts in line 6.
MACHINE = "\n".join(
    [
        '<robot name="r">',
        "".join(LINK.format(name) for name in ("base", "fork", "left", "right", "hub", "slider", "pivot")),
        JOINT.format("steer", "revolute", "base", "fork", "0 0 1", LIMIT)
        + JOINT.format("roll_left", "continuous", "fork", "left", "0 2 0", "")
        + JOINT.format("roll_right", "continuous", "base", "right", "0 -1 0", ""),
        JOINT.format("cap", "fixed", "left", "hub", "0 1 0", "")
        + JOINT.format("slide", "prismatic", "base", "slider", "1 0 0", LIMIT)
        + JOINT.format("follow", "revolute", "base", "pivot", "0 0 1", LIMIT + '<mimic joint="steer"/>'),
        "<grouser>",
        "{}",
        "</grouser></robot>",
    ]
)


def load(folder, content):
    path = folder / "rover.urdf"
    path.write_text(MACHINE.format(content))
    return grouser.load_machine(path)


def wheel(link="left", **attributes):
    given = {"link": link, "radius": "0.1", "width": "0.05"} | attributes
    return "<wheel " + " ".join(f'{name}="{value}"' for name, value in given.items()) + "/>"


def test_a_wheel_turns_about_its_joint_and_has_no_grousers(tmp_path):
    assert load(tmp_path, wheel()).wheels == (Wheel("left", 0.1, 0.05, axis=(0.0, 1.0, 0.0)),)
    assert load(tmp_path, wheel("right")).wheels[0].axis == (0.0, -1.0, 0.0)


def test_everything_can_be_said(tmp_path):
    text = wheel(
        xyz="0 0.01 0",
        axis="0 3 0",
        grousers="12",
        grouser_height="0.01",
        grouser_thickness="0.002",
        friction="0.4",
        level="stress",
        steering="steer",
    )
    assert load(tmp_path, text + wheel("right", grousers="0", grouser_height="0")).wheels == (
        Wheel("left", 0.1, 0.05, (0.0, 0.01, 0.0), (0.0, 1.0, 0.0), 12, 0.01, 0.002, 0.4, "stress", "steer"),
        Wheel("right", 0.1, 0.05, axis=(0.0, -1.0, 0.0)),
    )


def test_a_wheel_may_roll_against_its_joint(tmp_path):
    # the joint's axis is 0 -1 0; within a thousandth the wheel's is its opposite, exactly
    assert load(tmp_path, wheel("right", axis="0.0005 1 0")).wheels[0].axis == (0.0, 1.0, 0.0)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 1000), st.floats(0.01, 10.0))
def test_grousers_without_thickness_fill_a_twentieth_of_the_rim(tmp_path_factory, count, radius):
    text = wheel(radius=repr(radius), grousers=str(count), grouser_height=repr(0.1 * radius))
    found = load(tmp_path_factory.mktemp("wheel"), text).wheels[0]
    assert count * found.grouser_thickness == pytest.approx(0.05 * 2.0 * math.pi * radius, rel=1e-12)


# Content of <grouser>, the line to blame, words of the message.
BAD = {
    "no radius": ('<wheel link="left" width="1"/>', 6, ["'radius' is missing"]),
    "flat": (wheel(radius="0"), 6, ["radius = 0 m", "above 0"]),
    "no width": (wheel(width="-1"), 6, ["width = -1 m", "above 0"]),
    "unknown link": (wheel("lef"), 6, ["link = 'lef'", "did you mean 'left'?"]),
    "unknown attribute": (wheel(radus="1"), 6, ["'radus'", "did you mean 'radius'?"]),
    "two of one link": (wheel() + "\n" + wheel(), 7, ["already a <wheel> with link 'left'"]),
    "root": (wheel("base"), 6, ["'base' is the root", "name a link"]),
    "fixed link": (wheel("hub"), 6, ["joint 'cap'", "is fixed", "continuous or revolute"]),
    "sliding link": (wheel("slider"), 6, ["joint 'slide'", "is prismatic"]),
    "other axis": (wheel(axis="1 1 0"), 6, ["45 degrees off", "0 1 0", "'roll_left'"]),
    "square axis": (wheel(axis="0 0 1"), 6, ["90 degrees off"]),
    "no axis": (wheel(axis="0 0 0"), 6, ["no direction"]),
    "grousers without height": (wheel(grousers="4"), 6, ["grousers = 4", "without grouser_height"]),
    "height without grousers": (wheel(grouser_height="0.01"), 6, ["grouser_height = 0.01 m", "without grousers"]),
    "thickness without grousers": (wheel(grouser_thickness="0.01"), 6, ["grouser_thickness", "without grousers"]),
    "half a grouser": (wheel(grousers="1.5", grouser_height="0.01"), 6, ["1.5 is not a whole number"]),
    "too many grousers": (wheel(grousers="1001", grouser_height="0.01"), 6, ["grousers = 1001", "0 to 1000"]),
    "grousers beyond the axle": (wheel(grousers="4", grouser_height="0.2"), 6, ["0.2 m", "radius = 0.1 m"]),
    # 2 pi 0.1 / 10 = 0.06283
    "thick grousers": (
        wheel(grousers="10", grouser_height="0.01", grouser_thickness="0.063"),
        6,
        ["0.063 m leaves no room between 10 grousers", "less than 0.06283 m"],
    ),
    "unknown level": (wheel(level="stresses"), 6, ["'stresses'", "did you mean 'stress'?"]),
    "unknown steering": (wheel(steering="stear"), 6, ["no such joint", "did you mean 'steer'?"]),
    "steered by itself": (wheel(steering="roll_left"), 6, ["the joint that turns the wheel"]),
    "steered from elsewhere": (wheel("right", steering="steer"), 6, ["does not move link 'right'"]),
    "steered by a slide": (wheel(steering="slide"), 6, ["'slide' is prismatic"]),
    "steered by a mimic": (wheel(steering="follow"), 6, ["mimics 'steer'"]),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_wheel_is_refused_where_it_is_bad(tmp_path, name):
    content, line, words = BAD[name]
    with pytest.raises(MachineError) as caught:
        load(tmp_path, content)
    assert caught.value.line == line
    assert "<wheel" in str(caught.value)
    for word in words:
        assert word in str(caught.value)
