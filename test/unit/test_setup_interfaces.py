"""The interface packages without a wheel: the built types equal the published ones."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import rclpy
import simulation_interfaces.msg
import simulation_interfaces.srv
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import DynamicInterfaceGroupValues, InterfaceValue
from interface_package import InterfacePackage
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from tf2_msgs.msg import TFMessage

ROOT = Path(__file__).resolve().parent.parent.parent
BUILDER = ROOT / "tooling" / "build_interfaces.py"
DEFINITIONS = ROOT / "tooling" / "interfaces"

needs_generators = pytest.mark.skipif(
    not (Path(sys.prefix) / "share" / "rosidl_generator_c").is_dir(),
    reason="not tested: how interface packages are built, which is done only where ROS comes from the wheels",
)


@pytest.fixture
def node():
    """A node in a context of its own."""
    context = rclpy.Context()
    context.init()
    node = rclpy.create_node("interfaces", context=context)
    yield node
    node.destroy_node()
    context.try_shutdown()


@pytest.fixture
def definitions(tmp_path):
    """A folder with one small interface package that is not installed."""
    folder = tmp_path / "definitions"
    (folder / "probe_msgs" / "msg").mkdir(parents=True)
    (folder / "probe_msgs" / "msg" / "Probe.msg").write_text("std_msgs/Header header\nfloat64[] depths\n")
    return folder


def build(definitions, prefix, *options, **environment):
    """Run the builder; variables set to None are taken away."""
    merged = {**os.environ, **environment}
    command = [sys.executable, str(BUILDER), "--definitions", str(definitions), "--prefix", str(prefix), *options]
    variables = {name: value for name, value in merged.items() if value is not None}
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)


def type_hash(node, message_type):
    """The type hash announced on the network."""
    publisher = node.create_publisher(message_type, "hashed", 1)
    (info,) = node.get_publishers_info_by_topic(publisher.topic)
    return str(info.topic_type_hash)


def test_transform_message_has_the_published_type_hash(node):
    assert type_hash(node, TFMessage) == get_typestore(Stores.ROS2_JAZZY).hash_rihs01("tf2_msgs/msg/TFMessage")


@pytest.mark.parametrize("message_type", [DynamicInterfaceGroupValues, InterfaceValue])
def test_control_messages_have_the_hash_of_their_field_list(node, message_type):
    store = get_typestore(Stores.ROS2_JAZZY)
    for name in ("InterfaceValue", "DynamicInterfaceGroupValues"):
        text = (DEFINITIONS / "control_msgs" / "msg" / f"{name}.msg").read_text()
        store.register(get_types_from_msg(text, f"control_msgs/msg/{name}"))

    assert type_hash(node, message_type) == store.hash_rihs01(f"control_msgs/msg/{message_type.__name__}")


def test_action_has_its_error_codes():
    assert FollowJointTrajectory.Result.GOAL_TOLERANCE_VIOLATED == -5
    assert FollowJointTrajectory.Goal.get_fields_and_field_types()["path_tolerance"] == (
        "sequence<control_msgs/JointTolerance>"
    )


def test_messages_and_services_of_one_name_are_distinguished():
    assert "entity_resource" in simulation_interfaces.msg.SpawnEntity.get_fields_and_field_types()
    fields = simulation_interfaces.srv.SpawnEntity.Request.get_fields_and_field_types()
    assert {"uri", "entity_resource"} & set(fields)


def test_importable_interfaces_are_not_built_again(tmp_path):
    result = build(DEFINITIONS, tmp_path / "prefix", PATH="/nowhere")

    assert result.returncode == 0, result.stderr
    names = ("can_msgs", "control_msgs", "simulation_interfaces", "tf2_msgs")
    assert result.stdout.splitlines() == [f"{name}: there already" for name in names]
    assert not (tmp_path / "prefix").exists()


def test_missing_compiler_names_the_remedy(definitions, tmp_path):
    result = build(definitions, tmp_path / "prefix", PATH="/nowhere", CC=None, CXX=None)

    assert result.returncode == 2
    assert "No compiler (gcc, g++): sudo apt install build-essential" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "prefix").exists()


def test_missing_python_headers_name_the_remedy(monkeypatch, tmp_path):
    import build_interfaces

    monkeypatch.setattr(build_interfaces.sysconfig, "get_path", lambda name: str(tmp_path))

    with pytest.raises(build_interfaces.MissingError, match=r"Python\.h.*apt install python3\.\d+-dev"):
        build_interfaces.Compiler.find()


def test_empty_definition_folder_is_refused(tmp_path):
    (tmp_path / "empty_msgs").mkdir()

    with pytest.raises(ValueError, match="empty_msgs: no interface definition"):
        InterfacePackage.read(tmp_path / "empty_msgs")


@needs_generators
def test_builds_and_loads_a_package(definitions, tmp_path):
    prefix = tmp_path / "prefix"

    result = build(definitions, prefix)

    assert result.returncode == 0, result.stderr
    (site_packages,) = prefix.glob("lib/python3.*/site-packages")
    script = (
        "from probe_msgs.msg import Probe\n"
        "from rclpy.serialization import deserialize_message, serialize_message\n"
        "sent = Probe(depths=[0.25, 1.5])\n"
        "assert deserialize_message(serialize_message(sent), Probe) == sent\n"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(site_packages),
        "LD_LIBRARY_PATH": f"{prefix / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}",
    }
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    assert (prefix / "share" / "probe_msgs" / "msg" / "Probe.msg").is_file()
    assert (prefix / "share" / "ament_index" / "resource_index" / "packages" / "probe_msgs").is_file()


@needs_generators
@pytest.mark.parametrize("line", ["float64[ depths", "nowhere_msgs/Nothing it", "Missing missing", "Float64 depth"])
def test_invalid_definition_is_named_and_nothing_is_left(definitions, tmp_path, line):
    (definitions / "probe_msgs" / "msg" / "Probe.msg").write_text(f"{line}\n")

    result = build(definitions, tmp_path / "prefix")

    assert result.returncode == 1
    assert "probe_msgs/msg/Probe.msg" in result.stderr
    assert "Traceback" not in result.stderr
    assert list((tmp_path / "prefix").iterdir()) == []


@needs_generators
def test_compiler_error_is_shown_and_nothing_is_left(definitions, tmp_path):
    result = build(definitions, tmp_path / "prefix", CC=shutil.which("false"))

    assert result.returncode == 1
    assert "error: compiling" in result.stderr
    assert "Traceback" not in result.stderr
    assert list((tmp_path / "prefix").iterdir()) == []


@needs_generators
def test_compiler_options_of_the_environment_are_used(definitions, tmp_path):
    result = build(definitions, tmp_path / "prefix", CFLAGS="-fno-such-option -O0")
    assert result.returncode == 1
    assert "no-such-option" in result.stderr


@needs_generators
def test_killed_build_leaves_nothing_importable_and_the_next_one_succeeds(definitions, tmp_path):
    killer = tmp_path / "killer"
    killer.write_text("#!/bin/sh\nkill -9 $PPID\n")
    killer.chmod(0o755)
    prefix = tmp_path / "prefix"

    killed = build(definitions, prefix, CC=str(killer))

    assert killed.returncode == -9
    assert [path.name[:9] for path in prefix.iterdir()] == [".building"]
    assert build(definitions, prefix).returncode == 0
    assert sorted(path.name for path in prefix.iterdir()) == ["lib", "share"]
