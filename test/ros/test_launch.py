"""Launch files, run by ROS 2's launch system where it is installed: they start, publish and end."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from ament_package import EXECUTABLES, register_package
from patience import DEADLINE
from sensor_msgs.msg import JointState

import grouser
from grouser.nodes.shared import topics
from grouser.resources import share_path

LAUNCH_FILES = sorted(share_path("launch").glob("*.launch.py"))
NOT_TESTED = "not tested: launch files as ROS 2 starts them; the package launch comes with a ROS 2 installation"
# As `ros2 launch FILE view:=false`.
PROGRAM = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

service = LaunchService()
arguments = [("view", "false"), *(argument.split(":=") for argument in sys.argv[2:])]
file = IncludeLaunchDescription(PythonLaunchDescriptionSource(sys.argv[1]), launch_arguments=arguments)
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
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in EXECUTABLES:
        function = "main" if name == "grouser" else name
        call = f"import sys; from grouser.cli import {function}; sys.exit({function}())"
        programs.joinpath(name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{call}" "$@"\n')
        programs.joinpath(name).chmod(0o755)
    register_package(tmp_path, share_path("launch").parent)
    found = os.environ.get("AMENT_PREFIX_PATH", "")
    return {**os.environ, "AMENT_PREFIX_PATH": f"{tmp_path}{os.pathsep}{found}" if found else str(tmp_path)}


def has_nav2(environment, monkeypatch) -> bool:
    return is_installed("nav2_planner", environment, monkeypatch)


def is_installed(package, environment, monkeypatch) -> bool:
    from ament_index_python.packages import get_packages_with_prefixes

    monkeypatch.setenv("AMENT_PREFIX_PATH", environment["AMENT_PREFIX_PATH"])
    return package in get_packages_with_prefixes()


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
def test_launch_file_starts_publishes_and_ends(launch_package, peer, environment, monkeypatch, tmp_path, file):
    if "nav2_planner" in file.read_text() and not has_nav2(environment, monkeypatch):
        pytest.skip(f"not tested: {file.name}, which needs Nav2")
    of_machines = ["scout/", "digger/"] if file.name == "fleet.launch.py" else [""]
    heard = [peer.hear(JointState, f"{prefix}{topics.JOINT_STATES}") for prefix in of_machines]
    launch_and_end(peer, environment, tmp_path, lambda: all(inbox.all() for inbox in heard), str(file))


def launch_and_end(peer, environment, tmp_path, begun, *arguments):
    """Launches, waits until it has begun, and ends it by an interrupt."""
    log = tmp_path / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *arguments],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=tmp_path,
            start_new_session=True,
        )
    try:
        peer.wait_for(lambda: begun() or process.poll() is not None, "the simulator, or the end of the launch")
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


# In place of the program of ROS 2, which is not installed everywhere: keeps its arguments and parameters.
STATE_PUBLISHER = """#!/usr/bin/env python3
import os, pathlib, re, shutil, signal, sys
(namespace,) = (found[1] for text in sys.argv if (found := re.fullmatch("__ns:=/(.*)", text)))
folder = pathlib.Path(os.environ["SEEN"]) / namespace
folder.mkdir(parents=True)
for number, file in enumerate(text for text in sys.argv if text.startswith("/tmp/launch_params")):
    shutil.copy(file, folder / f"{number}.yaml")
(folder / "begun").touch()
signal.sigwait([signal.SIGINT])
"""


def test_fleet_has_a_state_publisher_for_each_machine_where_it_is_wanted(
    launch_package, peer, environment, monkeypatch, tmp_path, loader_file
):
    """In the machine's namespace, with its description and the prefix of its frames."""
    file = str(share_path("launch") / "fleet.launch.py")
    fleet = f"fleet:={{one: {{machine: {loader_file}}}, two: {{machine: {loader_file}, xyz: [0, 6, 0]}}}}"
    if not is_installed("robot_state_publisher", environment, monkeypatch):
        status, output = launch_and_wait(environment, tmp_path, file, fleet, "publish_link_tf:=false")
        assert status == 1 and "robot-state-publisher" in output and "process started" not in output, output
    (tmp_path / "share/ament_index/resource_index/packages/robot_state_publisher").touch()
    program = tmp_path / "lib/robot_state_publisher/robot_state_publisher"
    program.parent.mkdir(parents=True)
    program.write_text(STATE_PUBLISHER)
    program.chmod(0o755)
    seen = tmp_path / "seen"

    def begun():
        return all((seen / name / "begun").exists() for name in ("one", "two"))

    variables = {**environment, "SEEN": str(seen)}
    launch_and_end(peer, variables, tmp_path, begun, file, fleet, "publish_link_tf:=false")
    for name in ("one", "two"):
        (values,) = (yaml.safe_load(one.read_text())["/**"]["ros__parameters"] for one in (seen / name).glob("*.yaml"))
        assert values["robot_description"] == grouser.load_machine(loader_file).urdf
        assert (values["frame_prefix"], values["use_sim_time"]) == (f"{name}/", True)


def test_executables_are_those_of_the_package():
    setup = Path(share_path("setup.py")).read_text()
    assert {name for name, _ in re.findall(r'"(\w+) = grouser\.cli:(\w+)"', setup)} == set(EXECUTABLES)


def test_environment_is_a_package_of_the_ament_index(environment, monkeypatch, tmp_path):
    index = pytest.importorskip("ament_index_python.packages", reason=NOT_TESTED)
    monkeypatch.setenv("AMENT_PREFIX_PATH", environment["AMENT_PREFIX_PATH"])
    share = Path(index.get_package_share_directory("grouser"))
    files = [path for path in share.rglob("*.launch.py") if path.is_file()]  # does not follow links to folders
    assert sorted(path.name for path in files) == sorted(path.name for path in LAUNCH_FILES)
    assert (share / "urdf" / "rover.urdf.xacro").is_file()
    register_package(tmp_path, share_path("launch").parent)  # once more
    programs = Path(index.get_package_prefix("grouser")) / "lib" / "grouser"
    assert all(os.access(programs / name, os.X_OK) for name in EXECUTABLES)


def launch_and_wait(environment, tmp_path, *arguments):
    """Status and output of a launch that ends by itself."""
    call = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(
        call, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=DEADLINE, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_simulator_that_fails_ends_the_launch_with_an_error(launch_package, environment, tmp_path):
    file = share_path("launch") / "simulator.launch.py"
    status, output = launch_and_wait(environment, tmp_path, str(file), "world:=nowhere")
    assert status == 1, output
    assert "simulator-1 ended with status 2" in output


def test_missing_packages_are_found_before_anything_starts(launch_package, environment, monkeypatch, tmp_path):
    if has_nav2(environment, monkeypatch):
        pytest.skip("Nav2 is installed")
    status, output = launch_and_wait(environment, tmp_path, str(share_path("launch") / "navigation.launch.py"))
    assert status == 1, output
    assert "nav2_planner" in output and "process started" not in output
