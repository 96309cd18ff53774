"""The `grouser` command and the lazy import of the package."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest
from patience import DEADLINE

import grouser
from grouser import cli


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "grouser.cli", *arguments], capture_output=True, text=True, check=False, timeout=DEADLINE
    )


def test_import_grouser_imports_neither_numba_nor_ros():
    code = (
        "import sys, grouser; loaded = {'numba', 'numpy', 'trimesh', 'rclpy'} & set(sys.modules); "
        "assert not loaded, loaded; grouser.load_machine; "
        "loaded = {'numba', 'trimesh', 'rclpy'} & set(sys.modules); assert not loaded, loaded"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=DEADLINE)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "module",
    [
        "nodes.operator.node",
        "nodes.bridges.joystick_bridge",
        "nodes.viewer.node",
        "nodes.navigation.goal_follower",
        "physics.description.text.xacro_worker",
    ],
)
def test_processes_without_physics_do_not_import_it(module):
    code = (
        f"import sys, grouser.{module}; loaded = {{'numba', 'scipy', 'trimesh'}} & set(sys.modules); "
        "assert not loaded, loaded"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=DEADLINE)
    assert done.returncode == 0, done.stderr


def test_simulation_without_meshes_blocks_and_grains_imports_no_geometry_and_no_search():
    code = (
        "import sys, grouser; world = grouser.load_world('weightless'); "
        "grouser.Simulation(grouser.load_machine('rigid_pendulum'), world).step(1); "
        "loaded = {'coal', 'scipy.optimize', 'scipy.sparse', 'scipy.spatial', 'trimesh'} & set(sys.modules); "
        "assert not loaded, loaded"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=DEADLINE)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", grouser.__all__)
def test_every_public_name_can_be_imported(name):
    assert getattr(grouser, name) is not None
    assert name in dir(grouser)


def test_unknown_attribute_raises_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Simulatoin'"):
        _ = grouser.Simulatoin


def test_version_option(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"grouser {grouser.__version__}\n"


def test_help_lists_every_command(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert all(f"  {name}" in text for name in cli.COMMANDS)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_a_module(name):
    assert find_spec(cli.COMMANDS[name][0]) is not None


@pytest.mark.parametrize(
    "arguments", [[], ["fly"], ["inspect"], ["inspect", "a.urdf", "--colour"], ["reproduce", "--set"]]
)
def test_wrong_usage_exits_with_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert "--help' describes all" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["inspect", "no_such_machine"], ["inspect", "./absent.urdf"], ["reproduce", "no_such_experiment"]]
)
def test_invalid_input_exits_with_status_2_and_one_line(arguments, capsys):
    assert cli.main(arguments) == cli.EXIT_BAD_INPUT
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"grouser {arguments[0]}: ") and said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("call", "package", "words"),
    [
        ("main(['run'])", "rclpy", ["grouser run: ", "source /opt/ros", "make run", "pip install -e '.[ros]'"]),
        ("simulator()", "control_msgs", ["simulator: ", "source /opt/ros", "apt install ros-$ROS_DISTRO-control-msgs"]),
        ("viewer()", "rclpy", ["viewer: ", "source /opt/ros"]),
        ("attitude_controller()", "rclpy", ["attitude_controller: ", "source /opt/ros"]),
        ("operator()", "sensor_msgs", ["operator: ", "source /opt/ros", "apt install ros-$ROS_DISTRO-sensor-msgs"]),
        ("joystick_bridge()", "evdev", ["joystick_bridge: ", "evdev", 'pip install "grouser[joystick]"']),
        ("viewer()", "viser", ["viewer: ", "the Python package viser is not installed: pip install"]),
    ],
)
def test_missing_package_exits_with_status_2_and_a_remedy(call, package, words):
    """None among the loaded modules makes Python take a package for not installed."""
    code = f"import sys; sys.modules['{package}'] = None; from grouser import cli; sys.exit(cli.{call})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=DEADLINE)
    assert done.returncode == cli.EXIT_BAD_INPUT, done.stderr
    assert package in done.stderr and all(word in done.stderr for word in words), done.stderr
    assert "Traceback" not in done.stderr and done.stdout == ""


@pytest.mark.parametrize(
    ("words", "package", "extra"),
    [
        ("joystick_bridge", "evdev", "joystick"),
        ("can_bridge excavator_j1939", "can", "can"),
        ("plc_bridge levelling_modbus", "pymodbus", "plc"),
        ("plc_bridge levelling_opcua", "asyncua", "plc"),
        ("serial_bridge excavator_serial", "serial", "serial"),
        ("grouser inspect --bridge excavator_ecu", "cantools", "can"),
        ("grouser fmu hydraulic_lift", "pythonfmu", "fmi"),
        ("grouser fmu hydraulic_lift --fmi 3", "pythonfmu3", "fmi"),
        ("grouser reproduce fmu_roundtrip", "fmpy", "fmi"),
        ("grouser bench hil", "evdev", "joystick"),
    ],
)
def test_a_missing_extra_is_named(words, package, extra, tmp_path):
    """A module that says that it is not there, also to the processes of a command."""
    (tmp_path / f"{package}.py").write_text(f"raise ModuleNotFoundError('no {package}', name='{package}')")
    program, *arguments = words.split()
    if program.endswith("_bridge"):
        arguments = ["--ros-args", *(word for name in arguments for word in ("-p", f"mapping:={name}"))]
    call = "main" if program == "grouser" else program
    code = f"import sys; sys.argv = {[program, *arguments]}; from grouser import cli; sys.exit(cli.{call}())"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
        env=environment,
        cwd=tmp_path,
    )
    assert done.returncode == cli.EXIT_BAD_INPUT, done.stderr
    assert package in done.stderr and f'pip install "grouser[{extra}]"' in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_diverged_simulation_exits_with_status_1(monkeypatch, capsys):
    def diverge(arguments):
        raise grouser.DivergenceError(1.5, "boom", float("nan"))

    monkeypatch.setattr("grouser.commands.inspection.main", diverge)
    assert cli.main(["inspect", "x"]) == cli.EXIT_FAILED
    assert "diverged at t = 1.500000 s: boom" in capsys.readouterr().err


def test_closed_output_pipe_causes_no_traceback(tmp_path):
    path = tmp_path / "robot.urdf"
    links = "".join(f'<link name="link_{i}"/>' for i in range(5000))
    joints = "".join(
        f'<joint name="j{i}" type="fixed"><parent link="link_0"/><child link="link_{i}"/></joint>'
        for i in range(1, 5000)
    )
    path.write_text(f'<robot name="r">{links}{joints}</robot>')
    process = subprocess.Popen(
        [sys.executable, "-m", "grouser.cli", "inspect", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline().startswith("r  (")
    process.stdout.close()
    errors = process.stderr.read()
    process.wait(timeout=DEADLINE)
    assert errors == ""
    assert process.returncode == cli.EXIT_FAILED


def test_command_runs_as_a_process():
    done = run("inspect", "--help")
    assert done.returncode == 0
    assert "name:=value" in done.stdout
