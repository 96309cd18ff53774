"""Invalid machines: each raises a MachineError with file, line, element and the bad value."""

import os

import pytest

import grouser
from grouser import cli
from grouser.physics.base.errors import MachineError

LINK_A = '<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
LINK_B = LINK_A.replace('"a"', '"b"')
LINK_C = LINK_A.replace('"a"', '"c"')
JOINT = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><limit lower="-1" upper="1"/></joint>'
BACK = '<joint name="k" type="revolute"><parent link="b"/><child link="a"/></joint>'
MIMIC = '<joint name="k" type="revolute"><parent link="a"/><child link="c"/><mimic joint="j"/></joint>'


def shape(text):
    return LINK_A.replace("</link>", f"\n<collision><geometry>\n{text}</geometry></collision></link>")


# (body of <robot>, one element a line), the line of the error (the robot tag is line 1), words of the message
BODIES = {
    "no link": ([], 1, ["no link"]),
    "unknown parent": (
        [LINK_A, LINK_B, JOINT.replace('link="a"', 'link="aa"')],
        4,
        ["parent link 'aa'", '<joint name="j">'],
    ),
    "unknown child": ([LINK_A, LINK_B, JOINT.replace('link="b"', 'link="base"')], 4, ["child link 'base'"]),
    "two links of one name": ([LINK_A, LINK_A], 3, ["two links named 'a'", "line 2"]),
    "two joints of one name": (
        [LINK_A, LINK_B, LINK_C, JOINT, JOINT.replace('"b"', '"c"')],
        6,
        ["two joints named 'j'"],
    ),
    "two roots": ([LINK_A, LINK_B], 1, ["2 links have no parent", "'a', 'b'"]),
    "cycle without root": ([LINK_A, LINK_B, JOINT, BACK], None, ["cycle", "a <- b <- a"]),
    "cycle beside a root": ([LINK_C, LINK_A, LINK_B, JOINT, BACK], None, ["cycle"]),
    "own parent": ([LINK_A, JOINT.replace('link="b"', 'link="a"')], 3, ["both its parent and its child"]),
    "two parents": (
        [LINK_A, LINK_B, LINK_C, JOINT, JOINT.replace('"a"', '"c"').replace('"j"', '"k"')],
        6,
        ["already the child"],
    ),
    "no name": ([LINK_A.replace(' name="a"', "")], 2, ["'name' is missing"]),
    "empty name": ([LINK_A.replace('"a"', '" "')], 2, ["'name' is empty"]),
    "joint type": (
        [LINK_A, LINK_B, JOINT.replace("revolute", "revolut")],
        4,
        ["'revolut'", "did you mean 'revolute'?"],
    ),
    "no joint type": ([LINK_A, LINK_B, JOINT.replace(' type="revolute"', "")], 4, ["'type' is missing"]),
    "no parent element": (
        [LINK_A, LINK_B, JOINT.replace('<parent link="a"/>', "")],
        4,
        ["<parent> element is missing"],
    ),
    "two child elements": (
        [LINK_A, LINK_B, JOINT.replace("<limit", '<child link="a"/><limit')],
        4,
        ["2 <child> elements"],
    ),
    "negative effort": ([LINK_A, LINK_B, JOINT.replace("<limit", '<limit effort="-5"')], 4, ["effort = -5"]),
    "bound not a number": ([LINK_A, LINK_B, JOINT.replace('upper="1"', 'upper="pi"')], 4, ["upper = 'pi'"]),
    "zero axis": (
        [LINK_A, LINK_B, JOINT.replace("<limit", '<axis xyz="0 0 0"/><limit')],
        4,
        ["xyz = '0 0 0'", "no direction"],
    ),
    "axis of two numbers": (
        [LINK_A, LINK_B, JOINT.replace("<limit", '<axis xyz="0 1"/><limit')],
        4,
        ["2 numbers where 3"],
    ),
    "negative damping": (
        [LINK_A, LINK_B, JOINT.replace("<limit", '<dynamics damping="-1"/><limit')],
        4,
        ["damping = -1"],
    ),
    "negative friction": (
        [LINK_A, LINK_B, JOINT.replace("<limit", '<dynamics friction="-1"/><limit')],
        4,
        ["friction = -1"],
    ),
    "origin not finite": ([LINK_A, LINK_B, JOINT.replace("<limit", '<origin xyz="0 nan 0"/><limit')], 4, ["'0 nan 0'"]),
    "origin far out": ([LINK_A, LINK_B, JOINT.replace("<limit", '<origin xyz="0 1e12 0"/><limit')], 4, ["1e+12"]),
    "two orientations": (
        [LINK_A, LINK_B, JOINT.replace("<limit", '<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/><limit')],
        4,
        ["rpy and quat_xyzw"],
    ),
    "negative mass": ([LINK_A.replace('value="1"', 'value="-3"')], 2, ["mass of link 'a' = -3"]),
    "infinite mass": ([LINK_A.replace('value="1"', 'value="inf"')], 2, ["value = 'inf'"]),
    "no mass": ([LINK_A.replace('<mass value="1"/>', "")], 2, ["<mass> element is missing"]),
    "no inertia": ([LINK_A.replace('<inertia ixx="1" iyy="1" izz="1"/>', "")], 2, ["<inertia> element is missing"]),
    "inertia cut short": ([LINK_A.replace(' iyy="1"', "")], 2, ["'iyy' is missing"]),
    "negative inertia": ([LINK_A.replace('iyy="1"', 'iyy="-1"')], 2, ["principal moment -1"]),
    "products too large": ([LINK_A.replace('iyy="1"', 'iyy="1" ixy="2"')], 2, ["principal moment -1"]),
    "mimic of itself": (
        [LINK_A, LINK_B, LINK_C, JOINT, MIMIC.replace('joint="j"', 'joint="k"')],
        6,
        ["back to itself"],
    ),
    "mimic that multiplies too far": (
        [LINK_A, LINK_B, LINK_C, JOINT, MIMIC.replace("/></joint>", ' multiplier="1e300"/></joint>')],
        6,
        ["1e+300"],
    ),
    "chain of mimics that multiplies too far": (
        [
            LINK_A,
            LINK_B,
            LINK_C,
            LINK_A.replace('"a"', '"d"'),
            JOINT,
            MIMIC.replace("/></joint>", ' multiplier="1e5"/></joint>'),
            MIMIC.replace('"k"', '"l"')
            .replace('"c"', '"d"')
            .replace('"j"/></joint>', '"k" multiplier="1e5"/></joint>'),
        ],
        8,
        ["1e+10"],
    ),
    "mimics in a circle": (
        [LINK_A, LINK_B, LINK_C, JOINT.replace("<limit", '<mimic joint="k"/><limit'), MIMIC],
        5,
        ["back to itself"],
    ),
    "no geometry": ([LINK_A.replace("</link>", "<collision/></link>")], 2, ["<geometry> element is missing"]),
    "empty geometry": ([shape("")], 3, ["holds no shape"]),
    "unknown shape": ([shape('<sfere radius="1"/>')], 4, ["<sfere>", "did you mean 'sphere'?"]),
    "two shapes": ([shape('<sphere radius="1"/><box size="1 1 1"/>')], 4, ["2 shapes"]),
    "radius zero": ([shape('<sphere radius="0"/>')], 4, ["radius holds 0"]),
    "negative length": ([shape('<cylinder radius="1" length="-2"/>')], 4, ["length holds -2"]),
    "capsule of no length": ([shape('<capsule radius="1" length="0"/>')], 4, ["length holds 0"]),
    "capsule without radius": ([shape('<capsule length="1"/>')], 4, ["'radius' is missing"]),
    "flat box": ([shape('<box size="1 0 1"/>')], 4, ["size holds 0"]),
    "colour out of range": (
        ['<material name="m"><color rgba="255 0 0 1"/></material>', LINK_A],
        2,
        ["rgba holds 255", "divide by 255"],
    ),
    "mesh not there": ([shape('<mesh filename="nowhere.stl"/>')], 4, ["nowhere.stl", "mesh not found"]),
    "mesh of unknown format": ([shape('<mesh filename="part.step"/>')], 4, ["'.step' is not read"]),
    "mesh in no package": (
        [shape('<mesh filename="package://no_such_package/a.stl"/>')],
        4,
        ["'no_such_package' is not found"],
    ),
    "mesh from the net": ([shape('<mesh filename="http://example.org/a.stl"/>')], 4, ["'http://' is not read"]),
    "mesh without size": ([shape('<mesh filename="a.stl" scale="1 0 1"/>')], 4, ["scale = '1 0 1'"]),
    "grouser in a link": (
        [LINK_A.replace("</link>", "<grouser/></link>")],
        2,
        ["<grouser> is in", "directly into <robot>"],
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_invalid_machines_are_refused_with_line_and_reason(tmp_path, name):
    body, line, words = BODIES[name]
    path = tmp_path / "bad.urdf"
    path.write_text("\n".join(['<robot name="r">', *body, "</robot>"]))
    with pytest.raises(MachineError) as caught:
        grouser.load_machine(path)
    error = caught.value
    assert error.file == str(path)
    assert error.element is not None
    assert error.line == line if line else error.line is not None
    for word in words:
        assert word in str(error)


# Whole files that are no machine, and words of the message.
FILES = {
    "empty": (b"", "the file is empty"),
    "blank": (b" \n\n", "the file is empty"),
    "html": (b"<html><body>404 not found</body></html>", "not <robot>"),
    "html with a document type": (b"<!DOCTYPE html><html></html>", "document type"),
    "text": (b"hello, I am a machine", "not well-formed"),
    "elf": (b"\x7fELF\x02\x01\x01\x00\x00\xff\xfe", "not UTF-8"),
    "utf-16": ('<robot name="r"><link name="a"/></robot>'.encode("utf-16"), "not UTF-8"),
    "png": (b"\x89PNG\r\n\x1a\n", "not UTF-8"),
    "cut off": (b'<robot name="r"><link name="a">', "not well-formed"),
    "robot without name": (b'<robot><link name="a"/></robot>', "'name' is missing"),
    "sdf": (b'<sdf version="1.9"><model name="m"/></sdf>', "not <robot>"),
    "bomb": (
        b'<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lol">'
        + b"".join(b'<!ENTITY %c "%s">' % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(10))
        + b']><robot name="&k;"/>',
        "document type",
    ),
    "quadratic bomb": (
        b'<!DOCTYPE r [<!ENTITY a "' + b"x" * 100_000 + b'">]><robot>' + b"&a;" * 10_000 + b"</robot>",
        "document type",
    ),
    "null bytes": (b'<robot name="r">\x00</robot>', "not well-formed"),
}


@pytest.mark.parametrize("suffix", [".urdf", ".urdf.xacro"])
@pytest.mark.parametrize("name", FILES)
def test_files_that_are_not_urdf_are_refused(tmp_path, name, suffix):
    content, words = FILES[name]
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(content)
    with pytest.raises(MachineError) as caught:
        grouser.load_machine(path)
    assert str(path) in str(caught.value)
    if suffix == ".urdf":
        assert words in str(caught.value)


def test_missing_files_and_folders_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "absent.urdf", tmp_path / "absent.xacro", "bad\0name", "x" * 5000, "/dev/null"):
        with pytest.raises(MachineError):
            grouser.load_machine(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_unreadable_file_is_refused(tmp_path):
    path = tmp_path / "secret.urdf"
    path.write_text("<robot/>")
    path.chmod(0)
    with pytest.raises(MachineError, match="cannot be read"):
        grouser.load_machine(path)


def test_large_urdf_file_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "large.urdf"
    path.write_text('<robot name="r"><link name="a"/></robot>' + " " * 1000)
    monkeypatch.setattr("grouser.physics.description.machine_file.loader.BYTES_MAX", 1000)
    with pytest.raises(MachineError, match="larger than 1000 bytes"):
        grouser.load_machine(path)


def test_urdf_with_xacro_arguments_is_refused(tmp_path):
    path = tmp_path / "plain.urdf"
    path.write_text(f'<robot name="r">{LINK_A}</robot>')
    with pytest.raises(MachineError, match="only a xacro file takes arguments"):
        grouser.load_machine(path, {"x": "1"})


def test_message_about_a_long_cycle_of_links_is_short(tmp_path):
    count = 10_000
    links = "".join(f'<link name="l{i}"/>' for i in range(count))
    joints = "".join(
        f'<joint name="j{i}" type="fixed"><parent link="l{i}"/><child link="l{(i + 1) % count}"/></joint>'
        for i in range(count)
    )
    path = tmp_path / "cycle.urdf"
    path.write_text(f'<robot name="r">{links}{joints}</robot>')
    with pytest.raises(MachineError, match="cycle") as caught:
        grouser.load_machine(path)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("name", ["empty", "html", "elf", "bomb", "cut off"])
def test_inspect_of_invalid_machines_exits_with_status_2(tmp_path, name, capsys):
    path = tmp_path / "bad.urdf"
    path.write_bytes(FILES[name][0])
    assert cli.main(["inspect", str(path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert str(path) in said.err
