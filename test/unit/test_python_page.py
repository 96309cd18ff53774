"""The examples of docs/python.md run as they stand, and its table of signals is true."""

import re
from pathlib import Path

import pytest

import grouser

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """What the examples define."""
    folder, namespace = tmp_path_factory.mktemp("python"), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
            exec(compile(block, "docs/python.md", "exec"), namespace)
    return namespace | {"folder": folder}


def test_the_examples_run(names):
    assert {file.name for file in names["folder"].iterdir()} == {"lift.png", "lift.csv", "lift.parquet"}
    assert len(names["record"]) == 101
    assert names["table"].num_rows == 101
    assert names["stiff"].cylinders[0].bore == 0.06
    assert names["own"].ground.soil.soils[0].cohesion == 2500.0


def test_rows_of_this_machine_name_the_same_number(names):
    simulation = names["simulation"]
    rows = re.findall(r"^\| `([^`]+)`.*\| `(simulation[^`]+)` \|$", PAGE, re.MULTILINE)
    own = [(signal, way) for signal, way in rows if signal in simulation.signals and "circuit" not in way]
    assert len(own) >= 7
    for signal, way in own:
        assert simulation.signals[signal].value == eval(way, {"simulation": simulation})


def test_every_public_name_can_be_imported():
    assert all(hasattr(grouser, name) for name in grouser.__all__)
