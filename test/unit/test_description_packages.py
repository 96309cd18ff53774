"""Folders of ROS packages: given, installed, in ROS_PACKAGE_PATH, and around a file."""

import pytest
import trimesh

import grouser
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.description.text.packages import Packages, read_packages


@pytest.fixture(autouse=True)
def no_index(monkeypatch):
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)


def package(folder, name=None):
    folder.mkdir(parents=True, exist_ok=True)
    if name is not None:
        (folder / "package.xml").write_text(f"<package><name>{name}</name></package>")
    return folder


def urdf(folder, uri):
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "robot.urdf"
    mesh = f'<collision><geometry><mesh filename="{uri}"/></geometry></collision>'
    file.write_text(f'<robot name="r"><link name="world">{mesh}</link></robot>')
    return file


def mesh_path(machine):
    return machine.links[0].collisions[0].geometry.path


def test_packages_that_hold_the_file_and_in_ros_package_path(tmp_path, monkeypatch):
    outer, inner = package(tmp_path / "stack", "outer"), package(tmp_path / "stack" / "inside", "inner")
    elsewhere = package(tmp_path.parent / f"{tmp_path.name}_elsewhere" / "deep" / "third", "third")
    packages = Packages(inner / "urdf" / "robot.urdf")
    assert packages.folder("inner") == inner
    assert packages.folder("outer") == outer
    assert packages.folder("inside") == inner
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{elsewhere.parent}")
    assert packages.folder("third") == elsewhere


def test_packages_in_the_ament_index(tmp_path, monkeypatch):
    pytest.importorskip("ament_index_python", reason="the ament index is not installed")
    index = tmp_path / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    (index / "installed_robot").write_text("")
    installed = package(tmp_path / "share" / "installed_robot")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    packages = Packages(tmp_path / "elsewhere" / "robot.urdf")
    assert packages.folder("installed_robot") == installed
    assert packages.is_found_from_everywhere("package://installed_robot/a.stl")
    assert not Packages("robot.urdf", {"installed_robot": tmp_path}).is_found_from_everywhere(
        "package://installed_robot/a.stl"
    )
    with pytest.raises(LookupError, match="'not' is not found"):
        packages.resolve("package://not/a name")


def test_packages_beside_the_package_of_the_file(tmp_path):
    description = package(tmp_path / "robots" / "crawler_description", "crawler_description")
    named_folder = package(tmp_path / "robots" / "crawler_meshes")
    other_folder = package(tmp_path / "vendor" / "parts_v2", "parts")
    package(tmp_path / "robots" / "parts")  # a package.xml counts before the name of a folder
    packages = Packages(description / "urdf" / "robot.urdf")
    assert packages.folder("crawler_meshes") == named_folder
    assert packages.folder("parts") == other_folder


def test_the_nearest_folder_counts(tmp_path):
    near = package(tmp_path / "a" / "meshes", "meshes")
    package(tmp_path / "meshes", "meshes")
    assert Packages(tmp_path / "a" / "urdf" / "robot.urdf").folder("meshes") == near


def test_of_several_folders_the_one_with_the_file_counts(tmp_path):
    """Repositories keep variants of a package side by side, and install them as one."""
    package(tmp_path / "manual", "crawler")
    whole = package(tmp_path / "crawler" / "meshes").parent
    (whole / "meshes" / "a.stl").write_text("")
    packages = Packages(tmp_path / "exported" / "robots" / "robot.urdf")
    assert packages.resolve("package://crawler/meshes/a.stl") == whole / "meshes" / "a.stl"
    assert packages.folder("crawler") == tmp_path / "manual"
    assert packages.resolve("package://crawler/b.stl") == tmp_path / "manual" / "b.stl"


def test_package_name_with_three_slashes(tmp_path):
    """Some exporters write package:///name/path."""
    folder = package(tmp_path / "robot_data")
    assert Packages(folder / "urdf" / "r.urdf").resolve("package:///robot_data/m/a.stl") == folder / "m" / "a.stl"


def test_given_folders_count_first_and_are_kept(tmp_path):
    near = urdf(package(tmp_path / "parts", "parts") / "urdf", "package://parts/cube.stl")
    given = package(tmp_path / "given")
    for folder in (near.parents[1], given):
        trimesh.creation.box().export(folder / "cube.stl")
    assert mesh_path(grouser.load_machine(near)) == str(near.parents[1] / "cube.stl")
    machine = grouser.load_machine(near, packages={"parts": given})
    assert mesh_path(machine) == str(given / "cube.stl")
    assert machine.packages == {"parts": str(given)}
    assert (given / "cube.stl").as_uri() in machine.urdf


def test_given_folder_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="folder of package 'parts' = .*nowhere"):
        grouser.load_machine(urdf(tmp_path, "a.stl"), packages={"parts": tmp_path / "nowhere"})


def test_message_says_where_was_looked(tmp_path, monkeypatch):
    monkeypatch.setenv("ROS_PACKAGE_PATH", "/first:/second")
    file = urdf(tmp_path / "robots" / "urdf", "package://absent/a.stl")
    with pytest.raises(MachineError) as caught:
        grouser.load_machine(file, packages={"other": tmp_path})
    for words in (
        f"{file}:1: <mesh>",
        "package 'absent' is not found",
        "given folders (other)",
        "(AMENT_PREFIX_PATH is not set)",
        "ROS_PACKAGE_PATH (/first:/second)",
        str(file.parent),
        "--package absent=FOLDER",
    ):
        assert words in str(caught.value)


def test_xacro_finds_the_same_packages(tmp_path):
    parts = package(tmp_path / "given")
    (parts / "part.xacro").write_text('<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="a"/></robot>')
    near = package(tmp_path / "repository" / "near_parts")
    (near / "part.xacro").write_text('<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="b"/></robot>')
    file = package(tmp_path / "repository" / "robot" / "urdf") / "robot.urdf.xacro"
    text = (
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include filename="$(find {})/part.xacro"/>'
    )
    file.write_text(text.format("given_parts") + "</robot>")
    assert grouser.load_machine(file, packages={"given_parts": parts}).root == "a"
    with pytest.raises(MachineError, match="package 'given_parts' is not found; looked in"):
        grouser.load_machine(file)
    file.write_text(text.format("near_parts") + "</robot>")
    assert grouser.load_machine(file).root == "b"


def test_folders_as_texts(tmp_path):
    assert read_packages([f"a={tmp_path}"]) == {"a": tmp_path}
    for text in ("a", "=b", "a="):
        with pytest.raises(ParameterError, match="NAME=FOLDER"):
            read_packages([text])
