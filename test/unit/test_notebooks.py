"""The notebooks run as they stand, and print what is stored in them."""

import contextlib
import io
import json
from functools import partial
from pathlib import Path

import pytest

import grouser

pyplot = pytest.importorskip("matplotlib.pyplot", reason='needs pip install -e ".[study]"')

NOTEBOOKS = Path(__file__).parents[2] / "docs" / "notebooks"


@pytest.mark.parametrize("name", ["drawbar_pull", "identification", "sweep"])
def test_notebook_prints_what_is_stored(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(grouser, "run_sweep", partial(grouser.run_sweep, workers=1))
    names = {}
    try:
        for cell in json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(compile("".join(cell["source"]), f"{name}.ipynb", "exec"), names)
                stored = ["".join(output["text"]) for output in cell["outputs"] if output["output_type"] == "stream"]
                assert printed.getvalue() == "".join(stored)
    finally:
        pyplot.close("all")


@pytest.mark.parametrize("name", ["drawbar_pull", "identification", "sweep"])
def test_notebook_shows_a_picture(name):
    cells = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    shown = [output for cell in cells for output in cell.get("outputs", ()) if "image/png" in output.get("data", ())]
    assert shown
