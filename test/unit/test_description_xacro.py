"""xacro files: expansion in a separate process, and errors."""

import os
from pathlib import Path

import pytest

import grouser
from grouser.physics.base.errors import MachineError
from grouser.physics.description import load_machine, parse_machine
from grouser.physics.description.text import xacro as expand

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'


def xacro_file(folder, body, name="robot.urdf.xacro"):
    path = folder / name
    path.write_text(f"{HEAD}{body}</robot>")
    return path


def test_xacro_arguments_properties_and_includes(tmp_path):
    xacro_file(tmp_path, '<xacro:macro name="part" params="name"><link name="${name}"/></xacro:macro>', "parts.xacro")
    path = xacro_file(
        tmp_path,
        '<xacro:include filename="parts.xacro"/><xacro:arg name="first" default="a"/>'
        '<xacro:part name="$(arg first)"/>'
        '<xacro:if value="${1 + 1 == 2}"><grouser><pump supply_pressure="${2 * 10**6}"/></grouser></xacro:if>',
    )
    machine = grouser.load_machine(path)
    assert machine.root == "a"
    assert machine.pumps[0].supply_pressure == 2e6
    assert "xacro:" not in machine.urdf.partition("<link")[2]
    assert grouser.load_machine(path, {"first": "world"}).root == "world"


def test_xacro_find_without_ros(tmp_path, monkeypatch):
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    (tmp_path / "package.xml").write_text("<package><name>my_robot</name></package>")
    (tmp_path / "urdf").mkdir()
    xacro_file(tmp_path, '<link name="included"/>', "part.xacro")
    path = xacro_file(tmp_path / "urdf", '<xacro:include filename="$(find my_robot)/part.xacro"/>')
    assert grouser.load_machine(path).root == "included"


def test_errors_in_expanded_text_have_a_file_and_no_line(tmp_path):
    path = xacro_file(tmp_path, '<link name="a"><inertial><mass value="${0 - 1}"/></inertial></link>')
    with pytest.raises(MachineError, match="mass of link 'a' = -1") as caught:
        grouser.load_machine(path)
    assert (caught.value.file, caught.value.line, caught.value.element) == (str(path), None, "<mass>")
    assert "in what xacro expands it to" in str(caught.value)


BODIES = {
    "unknown property": ('<link name="${nothing}"/>', "nothing"),
    "unknown macro": ("<xacro:nothing/>", "unknown macro name: xacro:nothing"),
    "missing argument": ('<link name="$(arg nothing)"/>', "nothing"),
    "missing parameter": ('<xacro:macro name="m" params="x"/><xacro:m/>', "Undefined parameters"),
    "missing include": ('<xacro:include filename="nothing.xacro"/>', "nothing.xacro"),
    "missing package": ('<link name="$(find no_such_package)"/>', "no_such_package"),
    "division by zero": ('<link name="${1 / 0}"/>', "division by zero"),
    "syntax": ('<link name="${1 +}"/>', "invalid syntax"),
    "macro without end": ('<xacro:macro name="m" params=""><xacro:m/></xacro:macro><xacro:m/>', "without end"),
    "include without end": ('<xacro:include filename="robot.urdf.xacro"/>', "without end"),
    "property without end": (
        '<xacro:property name="x" value="${y}"/><xacro:property name="y" value="${x}"/><link name="${x}"/>',
        "circular",
    ),
    "fatal": ("<link name=\"${xacro.fatal('no such boom')}\"/>", "no such boom"),
    "all memory": ("<link name=\"${'a' * 10**11}\"/>", "MemoryError"),
    "not closed": ("<link>", "not well-formed"),
    "include of a package": ('<xacro:include filename="package://arm/a.xacro"/>', "write $(find arm)/a.xacro"),
    "undeclared prefix": ('<mine:link name="a"/>', 'add xmlns:xacro="http://www.ros.org/wiki/xacro" to its <robot>'),
}


@pytest.mark.parametrize("name", BODIES)
def test_invalid_xacro_files_are_refused(tmp_path, name):
    body, words = BODIES[name]
    path = xacro_file(tmp_path, body)
    with pytest.raises(MachineError) as caught:
        grouser.load_machine(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 1200


def test_entity_expansion_in_an_included_file_is_refused(tmp_path):
    (tmp_path / "bomb.xml").write_text('<!DOCTYPE robot [<!ENTITY a "b">]><robot name="&a;"/>')
    path = xacro_file(tmp_path, '<xacro:include filename="bomb.xml"/>')
    with pytest.raises(MachineError, match="<!DOCTYPE declarations are not read"):
        grouser.load_machine(path)


def test_endless_xacro_expansion_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(expand, "SECONDS_MAX", 2)
    path = xacro_file(tmp_path, '<link name="${10**10**9}"/>')
    with pytest.raises(MachineError, match="has not ended after 2 s of processor time"):
        grouser.load_machine(path)


@pytest.mark.parametrize("included", [False, True])
def test_unknown_xacro_arguments_are_told(tmp_path, included):
    declared = '<xacro:arg name="bucket" default="a"/>'
    if included:
        xacro_file(tmp_path, declared, "arguments.xacro")
        declared = '<xacro:include filename="arguments.xacro"/>'
    path = xacro_file(tmp_path, f'{declared}<link name="$(arg bucket)"/>')
    warning = f"{path}: it has no xacro argument 'buckett'; it is ignored (did you mean 'bucket'?)"
    machine = load_machine(path, {"buckett": "b"})  # of the command line
    assert machine.root == "a"
    assert warning in machine.warnings
    assert not any("xacro argument" in text for text in load_machine(path, {"bucket": "b"}).warnings)


def test_argument_that_is_used_without_a_declaration_is_known(tmp_path):
    path = xacro_file(tmp_path, '<link name="$(arg side)_arm"/>')
    machine = grouser.load_machine(path, {"side": "left"})
    assert machine.root == "left_arm" and not any("xacro" in text for text in machine.warnings)
    with pytest.raises(MachineError, match="argument side has no value here: give side:=VALUE; declared before: none"):
        grouser.load_machine(path)


def test_arguments_have_their_defaults(tmp_path):
    xacro_file(tmp_path, '<xacro:arg name="inner" default="$(arg outer)_in"/>', "part.xacro")
    body = '<xacro:arg name="outer" default="o"/><xacro:include filename="part.xacro"/><link name="$(arg inner)"/>'
    path = xacro_file(tmp_path, body)
    machine = grouser.load_machine(path)
    assert machine.arguments == {"outer": "o", "inner": "o_in"} and machine.root == "o_in"
    machine = grouser.load_machine(path, {"outer": "x"})
    assert machine.arguments == {"outer": None, "inner": "x_in"} and machine.root == "x_in"


def test_file_that_holds_xacro_under_another_name_is_expanded_and_told_once(tmp_path):
    path = xacro_file(
        tmp_path,
        '<xacro:property name="m" value="2"/>\n<!-- ${comment} -->\n<link name="$(optenv NO_SUCH_NAME base)">'
        '<inertial><mass value="${2 * m}"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>',
        "robot.urdf",
    )
    machine = grouser.load_machine(path)
    [link] = machine.links
    assert link.name == "base" and link.inertial.mass == 4.0
    [warning] = [text for text in machine.warnings if "xacro" in text]
    assert f'{path}:1: <xacro:property name="m">: ' in warning and warning.count(" expanded") == 1
    assert "(likewise '$(optenv NO_SUCH_NAME base)', '${2 * m}')" in warning
    # What is recorded is the expanded text.
    assert parse_machine(machine.source, str(path)).links[0].inertial == link.inertial


def test_xacro_under_another_name_that_cannot_be_expanded_is_told_with_the_reason(tmp_path):
    path = xacro_file(tmp_path, '<link name="base"/>\n<gazebo reference="$(arg x)"/>', "robot.urdf")
    machine = grouser.load_machine(path, base="fixed")
    [warning] = machine.warnings
    assert f"{path}:2: <gazebo>: '$(arg x)' is xacro" in warning
    assert "taken as it is written, as it cannot be expanded: xacro: the argument x has no value" in warning


@pytest.mark.parametrize("part", ['<mass value="${m}"/>', '<origin xyz="0 ${z} 0"/><mass value="1"/>'])
def test_xacro_in_place_of_numbers_that_cannot_be_expanded_is_refused_with_the_remedy(tmp_path, part):
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r"><link name="a"><inertial>{part}</inertial></link></robot>')
    with pytest.raises(MachineError, match="it is xacro: let the name of the file end in .xacro"):
        grouser.load_machine(path)


def test_xacro_expansion_does_not_change_the_process(tmp_path, capfd):
    before, folder = dict(os.environ), Path.cwd()
    grouser.load_machine(xacro_file(tmp_path, "${xacro.warning('careful')}<link name=\"a\"/>"))
    assert dict(os.environ) == before
    assert Path.cwd() == folder
    assert capfd.readouterr() == ("", "")
