"""The package's metadata agree with each other and with the code."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import grouser
from grouser.resources import share_path

ROOT = Path(__file__).resolve().parent.parent.parent
CODE = ("grouser", "physics", "nodes", "benchmarks", "launch")

# Import names of the packages in setup.py, where they differ.
IMPORT_NAMES = {
    "stable-baselines3": "stable_baselines3",
    "pillow": "PIL",
    "pycollada": "collada",
    "pyserial": "serial",
    "python-can": "can",
    "pyyaml": "yaml",
}
# Packages in setup.py that grouser does not import.
NOT_IMPORTED = {"setuptools"}
# Used where they are installed: peers of benchmarks, and the messages of Gazebo's bridge.
OPTIONAL = {"coacd", "pinocchio", "mujoco", "ros_gz_interfaces"}
# Packages of ROS: package.xml names them, pip does not have all of them.
ROS_PACKAGES = {
    element.text
    for element in ElementTree.parse(ROOT / "package.xml").getroot().findall("exec_depend")
    if not element.text.startswith("python3-")
} - {"xacro"}


@pytest.fixture(scope="module")
def setup_arguments():
    """Arguments of setup.py for setuptools."""
    script = (
        "import json, runpy, setuptools, sys\n"
        "kept = {}\n"
        "def keep(**arguments): kept.update(arguments)\n"
        "setuptools.setup = keep\n"
        "runpy.run_path('setup.py')\n"
        "print(json.dumps(kept))\n"
    )
    result = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def imported_names():
    """Top-level names of everything that the code imports, lazily or not."""
    names = set()
    for top in CODE:
        for path in (ROOT / top).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Import):
                    names |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.level == 0:
                    names.add(node.module.partition(".")[0])
                elif isinstance(node, ast.Call) and ast.unparse(node.func) == "import_module":
                    names |= {part.value.partition(".")[0] for part in node.args if isinstance(part, ast.Constant)}
    return names - set(sys.stdlib_module_names) - {"grouser"}


def requirement_names(requirements):
    """Distribution names without versions, lower case."""
    return {re.match(r"[\w.-]+", requirement)[0].lower() for requirement in requirements}


def test_one_version_everywhere(setup_arguments):
    manifest = ElementTree.parse(ROOT / "package.xml").getroot()
    newest = re.search(r"^(\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)\n-+$", (ROOT / "CHANGELOG.rst").read_text(), re.MULTILINE)

    assert manifest.findtext("version") == setup_arguments["version"] == grouser.__version__ == newest[1]


def test_one_name_and_licence_everywhere(setup_arguments):
    manifest = ElementTree.parse(ROOT / "package.xml").getroot()

    assert manifest.findtext("name") == setup_arguments["name"] == "grouser"
    assert manifest.findtext("license") == setup_arguments["license"] == "Apache-2.0"
    assert (ROOT / "resource" / "grouser").read_text() == ""
    assert "Apache License" in (ROOT / "LICENSE").read_text()


def test_every_import_is_a_declared_dependency(setup_arguments):
    extras = setup_arguments["extras_require"]
    required = [*setup_arguments["install_requires"], *extras["hil"], *extras["learn"]]
    declared = {IMPORT_NAMES.get(name, name) for name in requirement_names(required)}

    undeclared = imported_names() - declared - ROS_PACKAGES - OPTIONAL

    assert undeclared == set()


def test_every_declared_dependency_is_imported(setup_arguments):
    declared = {IMPORT_NAMES.get(name, name) for name in requirement_names(setup_arguments["install_requires"])}

    assert declared - imported_names() - NOT_IMPORTED == set()


def test_colcon_finds_the_test_dependencies(setup_arguments):
    # colcon test silently runs nothing unless an extra of this name lists pytest.
    assert "pytest" in requirement_names(setup_arguments["extras_require"]["test"])


@pytest.mark.parametrize("folder", ["launch", "urdf", "config"])
def test_every_shared_file_is_installed(setup_arguments, folder):
    installed = {name for _, names in setup_arguments["data_files"] for name in names}
    present = {
        str(path.relative_to(ROOT))
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert present
    assert present <= installed


def test_every_package_folder_is_installed(setup_arguments):
    folders = {
        path.parent for top in ("grouser", "physics", "nodes", "benchmarks") for path in (ROOT / top).rglob("*.py")
    }
    modules = {"grouser" if folder == ROOT / "grouser" else _module(folder) for folder in folders}

    assert modules == set(setup_arguments["packages"])


def _module(folder):
    """Dotted name of a folder of the tree: all but grouser itself are reached through it."""
    parts = folder.relative_to(ROOT).parts
    return ".".join(parts if parts[0] == "grouser" else ("grouser", *parts))


def test_share_path_prefers_the_source_tree():
    assert share_path("package.xml") == ROOT / "package.xml"


def test_share_path_names_what_is_missing():
    with pytest.raises(FileNotFoundError, match=r"urdf/no_such_machine\.urdf.*looked in"):
        share_path("urdf", "no_such_machine.urdf")


def test_share_path_of_an_installed_package(tmp_path):
    """An installation has its files in share/, with nothing of the source tree around it."""
    site_packages = tmp_path / "lib" / "python3.12" / "site-packages"
    module = site_packages / "grouser" / "resources.py"
    module.parent.mkdir(parents=True)
    module.write_text((ROOT / "grouser" / "resources.py").read_text())
    share = tmp_path / "share" / "grouser"
    share.mkdir(parents=True)
    (share / "package.xml").write_text("<package/>")
    script = f"import runpy; print(runpy.run_path({str(module)!r})['share_path']('package.xml'))"

    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert Path(result.stdout.strip()) == share / "package.xml"
