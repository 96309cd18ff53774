"""Runs the notebooks of the documentation and stores their outputs: `python tooling/notebooks.py [NAME ...]`.

Needs `pip install "grouser[docs,study]"`.
"""

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
TIMEOUT = 1800  # of a cell, in which kernels may be compiled [s]


def run(file: Path) -> None:
    """Runs a notebook in an empty folder and writes it with its outputs, without times and progress."""
    notebook = nbformat.read(file, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=TIMEOUT, resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:
        cell.metadata.clear()
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    nbformat.write(notebook, file)


def main() -> None:
    """Runs the notebooks that the command line names, or all."""
    for name in sys.argv[1:] or sorted(file.stem for file in FOLDER.glob("*.ipynb")):
        run(FOLDER / f"{name}.ipynb")
        print(FOLDER / f"{name}.ipynb")


if __name__ == "__main__":
    main()
