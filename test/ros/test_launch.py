"""Launch files, run by ROS 2's launch system where it is installed: they start, publish and end."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from patience import DEADLINE
from sensor_msgs.msg import JointState

from grouser.nodes.shared import topics
from grouser.resources import share_path

LAUNCH_FILES = sorted(share_path("launch").glob("*.launch.py"))
NOT_TESTED = "not tested: launch files as ROS 2 starts them; the package launch comes with a ROS 2 installation"
EXECUTABLES = ("simulator", "viewer", "operator", "attitude_controller", "goal_follower", "world_map")
# As `ros2 launch FILE view:=false`.
PROGRAM = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

service = LaunchService()
file = IncludeLaunchDescription(PythonLaunchDescriptionSource(sys.argv[1]), launch_arguments=[("view", "false")])
service.include_launch_description(LaunchDescription([file]))
sys.exit(service.run())
"""


@pytest.fixture
def launch_package():
    launch = pytest.importorskip("launch", reason=NOT_TESTED)
    if not hasattr(launch, "LaunchDescription"):
        pytest.skip(NOT_TESTED)  # what was found is a folder of the same name
    pytest.importorskip("launch_ros", reason=NOT_TESTED)
    return launch


@pytest.fixture
def environment(tmp_path) -> dict[str, str]:
    """Variables of a process for which this checkout is an installed package."""
    packages, programs = tmp_path / "share/ament_index/resource_index/packages", tmp_path / "lib/grouser"
    for folder in (packages, programs):
        folder.mkdir(parents=True)
    packages.joinpath("grouser").touch()
    tmp_path.joinpath("share/grouser").symlink_to(share_path("launch").parent)
    for name in EXECUTABLES:
        program = programs / name
        call = f"import sys; from grouser.cli import {name}; sys.exit({name}())"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{call}" "$@"\n')
        program.chmod(0o755)
    found = os.environ.get("AMENT_PREFIX_PATH", "")
    return {**os.environ, "AMENT_PREFIX_PATH": f"{tmp_path}{os.pathsep}{found}" if found else str(tmp_path)}


@pytest.mark.parametrize("file", LAUNCH_FILES, ids=lambda file: file.name)
def test_launch_file_shows_its_arguments(launch_package, file):
    namespace = {"__file__": str(file)}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    description = namespace["generate_launch_description"]()
    assert isinstance(description, launch_package.LaunchDescription)
    arguments = description.get_launch_arguments()
    assert arguments
    assert all(argument.description for argument in arguments)


@pytest.mark.parametrize("file", LAUNCH_FILES, ids=lambda file: file.name)
def test_launch_file_starts_publishes_and_ends(launch_package, peer, environment, tmp_path, file):
    if "nav2_planner" in file.read_text():
        from ament_index_python.packages import PackageNotFoundError, get_package_prefix

        try:
            get_package_prefix("nav2_planner")
        except PackageNotFoundError:
            pytest.skip(f"not tested: {file.name}, which needs Nav2")
    heard = peer.hear(JointState, topics.JOINT_STATES)
    log = tmp_path / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(file)],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=tmp_path,
            start_new_session=True,
        )
    try:
        peer.wait_for(lambda: heard.all() or process.poll() is not None, "the simulator, or the end of the launch")
        assert process.poll() is None, log.read_text()
        process.send_signal(signal.SIGINT)
        process.wait(DEADLINE)
        assert process.returncode == 0, log.read_text()
        peer.wait_for(lambda: "simulator" not in peer.node.get_node_names(), "the end of the simulator")
        assert "Traceback" not in log.read_text(), log.read_text()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_the_executables_are_those_that_launch_files_start():
    setup = Path(share_path("setup.py")).read_text()
    assert all(f'"{name} = grouser.cli:{name}"' in setup for name in EXECUTABLES)
