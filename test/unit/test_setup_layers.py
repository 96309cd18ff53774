"""The layer contracts of pyproject.toml hold, and a breach is noticed through the symbolic links."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

BREACHES = {
    "physics imports nodes": ("physics/base/errors.py", "import grouser.nodes.shared.topics"),
    "physics imports ROS": ("physics/base/spatial.py", "import rclpy"),
    "a lower layer imports a higher one": ("physics/base/spatial.py", "import grouser.physics.model.multibody"),
    "rooms side by side import each other": ("physics/friction/__init__.py", "import grouser.physics.soil"),
    "nodes import experiments": ("nodes/shared/topics.py", "import grouser.experiments"),
    "a module without a place": ("physics/no_place.py", ""),
}


@pytest.fixture
def tree(tmp_path):
    """A copy of the code, links included, with the contracts."""
    for name in ("grouser", "physics", "nodes"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, tmp_path / name, symlinks=True, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    soil = tmp_path / "physics" / "soil"
    if not soil.exists():
        soil.mkdir()
        (soil / "__init__.py").touch()
    return tmp_path


def lint_imports(tree):
    """Run import-linter on a tree."""
    return subprocess.run(
        [Path(sys.prefix) / "bin" / "lint-imports", "--no-logo", "--no-cache"],
        cwd=tree,
        env={"PYTHONPATH": str(tree), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_code_keeps_the_import_layers(tree):
    result = lint_imports(tree)

    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 broken" in result.stdout


@pytest.mark.parametrize("breach", BREACHES)
def test_breach_of_the_import_layers_is_detected(tree, breach):
    file, line = BREACHES[breach]
    with (tree / file).open("a") as source:
        source.write(f"\n{line}\n")

    result = lint_imports(tree)

    assert result.returncode == 1, result.stdout + result.stderr
    assert "BROKEN" in result.stdout
