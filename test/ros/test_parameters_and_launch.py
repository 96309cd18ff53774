"""Every key of the parameter file is declared and vice versa; launch files refer to existing things."""

import ast
import dataclasses
import re
from pathlib import Path

import pytest
import trimesh
import yaml
from patience import DEADLINE
from rcl_interfaces.msg import ParameterType

from grouser import cli
from grouser.bridges.protocols import programs
from grouser.nodes.attitude import controller as attitude_controller
from grouser.nodes.bridges import node as bridge
from grouser.nodes.navigation import goal_follower, world_map
from grouser.nodes.operator import node as operator
from grouser.nodes.shared import parameters
from grouser.nodes.simulator import trajectory_parameters
from grouser.nodes.simulator.parameters import DECLARATIONS, SimulatorParameters
from grouser.nodes.viewer import node as viewer
from grouser.physics.hydraulics.faults import machine_faults
from grouser.resources import share_path
from grouser.runtime.streams import RATES

OF_NODES = {
    "simulator": DECLARATIONS,
    "viewer": viewer.DECLARATIONS,
    "operator": operator.DECLARATIONS,
    "attitude_controller": attitude_controller.DECLARATIONS,
    "world_map": world_map.DECLARATIONS,
    "goal_follower": goal_follower.DECLARATIONS,
    **dict.fromkeys(programs(), bridge.DECLARATIONS),
}
# Servers of Nav2, which an installation of it brings.
NAV2 = yaml.safe_load((Path(__file__).parents[1] / "data" / "nav2_jazzy_parameters.yaml").read_text())["servers"]
LAUNCH_FILES = sorted(share_path("launch").glob("*.launch.py"))


def parameters_of(file: Path) -> dict:
    (content,) = yaml.safe_load(file.read_text()).values()
    return content["ros__parameters"]


def test_the_file_holds_every_parameter_with_its_default():
    written = parameters_of(share_path("config", "simulator.yaml"))
    declared = {
        name: list(declaration.default) if isinstance(declaration.default, tuple) else declaration.default
        for name, declaration in DECLARATIONS.items()
        if name != "enable_stamped_cmd_vel"  # its default follows the distribution
    }
    assert written == declared
    assert {name: type(value) for name, value in written.items()} == {
        name: type(value) for name, value in declared.items()
    }


@pytest.mark.parametrize(
    ("distribution", "stamped"), [("", False), ("jazzy", False), ("kilted", True), ("lyrical", True), ("rolling", True)]
)
def test_cmd_vel_is_stamped_from_kilted_on(distribution, stamped, monkeypatch):
    monkeypatch.setenv("ROS_DISTRO", distribution)
    assert parameters.stamped_by_default() is stamped


def test_every_parameter_has_a_field_a_description_and_bounds():
    fields = [field.name for field in dataclasses.fields(SimulatorParameters)]
    place = fields.index("rates")
    fields[place : place + 1] = RATES
    assert list(DECLARATIONS) == fields
    for name, declaration in DECLARATIONS.items():
        descriptor = declaration.descriptor()
        assert descriptor.description.endswith("."), name
        assert descriptor.type != ParameterType.PARAMETER_NOT_SET
        if descriptor.type == ParameterType.PARAMETER_DOUBLE:
            (bounds,) = descriptor.floating_point_range
        elif descriptor.type == ParameterType.PARAMETER_INTEGER:
            (bounds,) = descriptor.integer_range
        else:
            continue
        assert bounds.from_value <= declaration.default <= bounds.to_value, name


def test_a_running_node_has_exactly_these_parameters(start_simulator):
    node = start_simulator(start_paused=True)
    known = set(node.get_parameters_by_prefix(""))
    assert set(DECLARATIONS) <= known
    foreign = {"use_sim_time", "start_type_description_service"}
    faults = {fault.full_name for fault in machine_faults(node.machine)}
    # The winch's drive follows no trajectory: it is in effort mode.
    allowed = trajectory_parameters.declarations(["mast_joint", "drum_joint"])
    assert known - foreign == set(DECLARATIONS) | faults | set(allowed)
    assert not any(node.describe_parameter(name).read_only for name in {*faults, *allowed})
    for name, declaration in DECLARATIONS.items():
        assert node.describe_parameter(name).read_only is declaration.read_only


def test_base_and_packages_are_those_of_the_machine(start_simulator, tmp_path):
    urdf = tmp_path / "a" / "robot.urdf"
    urdf.parent.mkdir()
    visual = '<visual><geometry><mesh filename="package://parts_of_no_index/a.stl"/></geometry></visual>'
    body = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    urdf.write_text(f'<robot name="r"><link name="base">{body}{visual}</link></robot>')
    (tmp_path / "given").mkdir()
    trimesh.creation.box().export(tmp_path / "given" / "a.stl")
    packages = [f"parts_of_no_index={tmp_path / 'given'}"]
    machine = start_simulator(machine=str(urdf), base="fixed", packages=packages, start_paused=True).machine
    assert not machine.floating_base
    assert machine.links[0].visuals[0].geometry.path == str(tmp_path / "given" / "a.stl")


@pytest.mark.parametrize("file", LAUNCH_FILES, ids=lambda file: file.name)
def test_launch_file_has_no_side_effects(file):
    tree = ast.parse(file.read_text())
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert [function.name for function in functions] == ["generate_launch_description"]
    logic = (ast.If, ast.For, ast.While, ast.Try, ast.IfExp, ast.ListComp, ast.GeneratorExp, ast.Lambda)
    assert not any(isinstance(node, logic) for node in ast.walk(tree))
    compile(tree, str(file), "exec")


@pytest.mark.parametrize("file", LAUNCH_FILES, ids=lambda file: file.name)
def test_launch_file_refers_to_existing_files_and_executables(file):
    text = file.read_text()
    tree = ast.parse(text)
    declared = declared_arguments(tree)
    assert {call.args[0].value for call in calls(tree, "LaunchConfiguration")} <= declared
    setup = share_path("setup.py").read_text()
    for call in calls(tree, "Node"):
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        chosen = isinstance(given["executable"], ast.Call)  # by an argument: one of the bridges
        for executable in programs() if chosen else [given["executable"].value]:
            if executable in NAV2:
                check_server_of_nav2(executable, given)
                continue
            assert given["package"].value == "grouser"
            assert f'"{executable} = grouser.cli:{executable}"' in setup and callable(getattr(cli, executable))
            for dictionary in (node for node in ast.walk(given["parameters"]) if isinstance(node, ast.Dict)):
                assert {key.value for key in dictionary.keys} <= set(OF_NODES[executable])
    for name in re.findall(r'"(\w+\.launch\.py)"', text):
        assert share_path("launch", name).is_file()


@pytest.mark.parametrize("file", LAUNCH_FILES, ids=lambda file: file.name)
def test_arguments_in_common_with_an_included_launch_file_are_passed_on(file):
    """An included file sees the arguments of the including file: those that both declare must be passed on."""
    tree = ast.parse(file.read_text())
    declared = declared_arguments(tree)
    for include in calls(tree, "IncludeLaunchDescription"):
        (name,) = re.findall(r"\w+\.launch\.py", ast.unparse(include))
        theirs = declared_arguments(ast.parse(share_path("launch", name).read_text()))
        (given,) = (node for node in ast.walk(include) if isinstance(node, ast.Dict))
        assert declared & theirs <= {key.value for key in given.keys} <= theirs


def declared_arguments(tree: ast.AST) -> set[str]:
    return {call.args[0].value for call in calls(tree, "DeclareLaunchArgument")}


def check_server_of_nav2(executable: str, given: dict[str, ast.expr]) -> None:
    """Its package is named after it, and its parameters come from files: a dictionary would lose against them."""
    assert given["package"].value == f"nav2_{executable.removesuffix('_server').replace('behavior', 'behaviors')}"
    assert not any(isinstance(node, ast.Dict) for node in ast.walk(given["parameters"]))


def test_nav2_manages_every_server_that_is_started_and_has_parameters_for_each():
    """The lifecycle managers' lists are the servers in the launch file, by the names in the parameter files."""
    tree = ast.parse(share_path("launch", "navigation.launch.py").read_text())
    nodes = [{keyword.arg: keyword.value for keyword in call.keywords} for call in calls(tree, "Node")]
    started = {node["name"].value for node in nodes if node["executable"].value in NAV2}
    rover = yaml.safe_load(share_path("config", "nav2", "rover.yaml").read_text())
    assert set(rover) == started | {"local_costmap", "global_costmap"}
    managers = {name for name in started if name.startswith("lifecycle_manager")}
    managed = {name for manager in managers for name in rover[manager]["ros__parameters"]["node_names"]}
    assert managed == started - managers


def calls(tree: ast.AST, name: str) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("attitude_controller", "attitude.controller"),
        ("goal_follower", "navigation.goal_follower"),
        ("world_map", "navigation.world_map"),
    ],
)
def test_old_names_of_node_modules_still_work(launch, old, new):
    process = launch(
        f"grouser.nodes.{old}", "--ros-args", "-p", "joints:=['a']", "-p", "speed:=-1.0", "-p", "world:=nowhere"
    )
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 2, output
    assert output.count(f"grouser.nodes.{old} is now grouser.nodes.{new}") == 1
