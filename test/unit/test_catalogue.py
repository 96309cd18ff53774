"""Machines, worlds and programs by name."""

from pathlib import Path

import pytest

from grouser import catalogue
from grouser.physics.base.errors import MachineError
from grouser.resources import share_path


def test_path_is_returned_unchanged(tmp_path):
    assert catalogue.machine_file("some/machine.urdf") == Path("some/machine.urdf")
    assert catalogue.machine_file("machine.urdf.xacro") == Path("machine.urdf.xacro")
    assert catalogue.world_file(str(tmp_path / "world")) == tmp_path / "world"


def test_name_is_found_in_the_package():
    assert catalogue.world_file("flat") == share_path("config", "worlds", "flat.yaml")


def test_unknown_catalogue_name_suggests_the_closest():
    with pytest.raises(MachineError, match=r"no world called 'flatt'.*did you mean 'flat'"):
        catalogue.world_file("flatt")
    with pytest.raises(MachineError, match="no machine called 'unicorn'"):
        catalogue.machine_file("unicorn")


def test_all_machines_and_worlds_of_the_package_are_listed():
    machines = [file.name for file in catalogue.machine_files()]
    assert machines == sorted(file.name for file in share_path("urdf").glob("*.urdf*"))
    assert "rover.urdf.xacro" in machines
    worlds = [file.stem for file in catalogue.world_files()]
    assert all(catalogue.world_file(name) in catalogue.world_files() for name in worlds)
    assert "flat" in worlds


def test_only_machines_of_the_package_have_a_demonstration(tmp_path):
    other = tmp_path / "demolition_robot.urdf.xacro"
    other.write_text("<robot/>")
    assert catalogue.demonstration_of(other) is None
