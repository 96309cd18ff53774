"""`grouser fmu`: machines as FMUs, stepped by fmpy in another process and compared with the machine itself."""

import json
import math
import zipfile

import numpy as np
import pytest
from fmpy.validation import validate_fmu
from plc_peers import MACHINE

import grouser
from grouser.bridges.fmu.description import read_description
from grouser.bridges.fmu.machine_model import MachineModel
from grouser.bridges.fmu.process import FmuDiscardedError, FmuProcess
from grouser.cli import main

MAPPING = """
version: 1
bridge: fmu
machine: three_joints.urdf
timeout: 0.1
messages:
  - name: speeds
    direction: in
    period: 0.01
    signals:
      - {source: turn, signal: joint/a/velocity, unit: deg/s, scale: 10, range: [-90, 90], safe: 0}
  - name: angles
    direction: out
    period: 0.01
    signals:
      - {target: angle, signal: joint/a/position, unit: deg}
      - {target: other, signal: joint/b/position}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "three_joints.urdf").write_text(MACHINE)
    (tmp_path / "mapping.yaml").write_text(MAPPING)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("version", ["2", "3"])
def test_a_mapping_names_the_variables(folder, version, capsys):
    assert (
        main(["fmu", "three_joints.urdf", "--bridge", "mapping.yaml", "--world", "weightless", "--fmi", version]) == 0
    )
    assert "1 inputs, 2 outputs" in capsys.readouterr().out
    description = read_description(folder / "three_joints.fmu")
    assert description.version == int(version)
    assert validate_fmu(str(folder / "three_joints.fmu")) == []
    machine = grouser.Simulation(
        grouser.load_machine(folder / "three_joints.urdf"),
        grouser.World(ground=None, gravity=(0.0, 0.0, 0.0)),
        step=0.001,
    )
    fmu = FmuProcess(description, ["turn"], ["angle", "other"], {}, deadline=600.0)
    try:
        for number in range(20):
            wish = 9.0 * math.sin(number)
            machine.command["a"] = wish * 10.0 * math.radians(1.0)
            machine.step(5)
            angle, other = fmu.step(0.005 * number, 0.005, [wish])
            assert angle == machine.joint_position["a"] / math.radians(1.0)
            assert other == machine.joint_position["b"]
        assert abs(angle) > 0.1
        for wish, length in ((9.1, 0.005), (math.nan, 0.005), (1.0, 0.0055), (1.0, 0.0005)):
            with pytest.raises(FmuDiscardedError):
                fmu.step(0.1, length, [wish])
        assert fmu.step(0.1, 0.0, [0.0]) == (angle, other)  # nothing moved
    finally:
        fmu.close()


@pytest.mark.parametrize("version", ["2", "3"])
def test_without_a_mapping_all_signals_are_variables(folder, version):
    arguments = ["--world", "weightless", "--output", "out/three.fmu", "--fmi", version]
    assert main(["fmu", "three_joints.urdf", *arguments]) == 0
    assert validate_fmu(str(folder / "out" / "three.fmu")) == []
    description = read_description(folder / "out" / "three.fmu")
    by_causality = {
        kind: [one.name for one in description.variables.values() if one.causality == kind]
        for kind in ("input", "output")
    }
    assert by_causality["input"] == [f"command/joint/{name}/velocity" for name in "abc"]
    assert "joint/c/effort" in by_causality["output"]
    with zipfile.ZipFile(folder / "out" / "three.fmu") as fmu:
        names = fmu.namelist()
    assert "resources/machine.json" in names
    assert not [name for name in names if "grouser" in name]  # it is installed where the FMU runs


def test_positions_are_held_at_the_start(folder):
    port = {"name": "p", "signal": "joint/a/position", "low": -math.inf, "high": math.inf}
    (folder / "held.urdf").write_text(
        MACHINE.replace('mode="velocity" damping="10"', 'mode="position" stiffness="9" damping="1"')
    )
    setup = {
        "machine": "held.urdf",
        "arguments": {},
        "step": 0.001,
        "scheme": "implicit",
        "inputs": [port],
        "outputs": [],
    }
    (folder / "machine.json").write_text(json.dumps(setup))
    (folder / "world.yaml").write_text("name: free\ngravity: 0.0\nground: null\n")
    model = MachineModel(folder)
    assert model.starts() == {"p": 0.0}
    assert model.step(0.01, {"p": np.pi})


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nothing"], "nothing"),
        (["rover", "--bridge", "mapping.yaml"], "the mapping is of machine"),
        (["three_joints.urdf", "--step", "-1"], "step"),
        (["three_joints.urdf", "--world", "nowhere"], "nowhere"),
    ],
)
def test_bad_input(folder, arguments, problem, capsys):
    assert main(["fmu", *arguments]) == 2
    assert problem in capsys.readouterr().err
    assert not list(folder.glob("*.fmu"))
