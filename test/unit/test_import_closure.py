"""Which files count as the sources of a function: small packages, and the package itself, copied and edited."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import grouser
from grouser.physics.base.import_closure import ImportClosures, imported_names

_DIGESTS = """
import gc, importlib, json, pkgutil, sys
from pathlib import Path
import grouser.physics
from grouser.physics.base.import_closure import ImportClosures
from numba.core.dispatcher import Dispatcher

for module in pkgutil.walk_packages(grouser.physics.__path__, "grouser.physics."):
    importlib.import_module(module.name)
closures = ImportClosures(Path(sys.argv[1]))
functions = [one.py_func for one in gc.get_objects() if isinstance(one, Dispatcher)]
print(json.dumps({function.__module__: closures.digest(function) for function in functions}))
"""


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import a.b.c", ["a.b.c", "a"]),
        ("import a.b as c", ["a.b"]),
        ("from a.b import c, d as e", ["a.b.c", "a.b.d"]),
        ("from . import c", [".c"]),
        ("from ..a import c", ["..a.c"]),
        ("from a import *", ["a"]),
        ("def f():\n    try:\n        import a\n    except ImportError:\n        import b", ["a", "b"]),
        ("if TYPE_CHECKING:\n    import a\nelse:\n    import b", ["b"]),
        ("if typing.TYPE_CHECKING:\n    import a", []),
        ("match x:\n    case 1:\n        import a", ["a"]),
    ],
)
def test_names_in_imports(source, names):
    assert imported_names(source.encode()) == names


def write(folder, **sources):
    for name, text in sources.items():
        file = folder / f"{name.replace('__in__', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, (0, 0))  # older than this process


def digest(folder, name, memory):
    """Of the function `f` in a file; the module is not imported, the function only compiled."""
    file = folder / f"{name.replace('.', '/')}.py"
    scope = {"__name__": name}
    exec(compile("def f(): pass", str(file), "exec"), scope)
    return ImportClosures(memory).digest(scope["f"])


SOURCES = {
    "top__in____init__": "from top.loud import anything\n",
    "top__in__loud": "anything = 1\n",
    "top__in__one": "from top.two import x\nfrom . import three\n",
    "top__in__two": "from top.sub import name\n",
    "top__in__three": "",
    "top__in__four": "",
    "top__in__sub__in____init__": "from top.sub.inner import name\n",
    "top__in__sub__in__inner": "name = 2\n",
}


@pytest.mark.parametrize(
    ("edited", "counts"),
    [
        ("top/one", True),
        ("top/two", True),  # imported
        ("top/three", True),  # relatively
        ("top/__init__", True),  # on the way
        ("top/sub/__init__", True),
        ("top/sub/inner", True),  # a name is taken from the package that takes it from there
        ("top/four", False),
        ("top/loud", False),  # imported by a package on the way of which nothing is used
    ],
)
def test_edits_that_change_the_digest(tmp_path, edited, counts):
    write(tmp_path / "here", **SOURCES)
    before = digest(tmp_path / "here", "top.one", tmp_path / "memory")
    write(tmp_path / "there", **SOURCES)
    assert digest(tmp_path / "there", "top.one", tmp_path / "memory") == before
    file = tmp_path / "there" / f"{edited}.py"
    file.write_text(file.read_text() + "x = 3\n")
    os.utime(file, (0, 0))
    assert (digest(tmp_path / "there", "top.one", tmp_path / "memory") != before) == counts


def test_files_beside_one_that_is_in_no_package(tmp_path):
    write(tmp_path, script="import helper\nimport json\n", helper="", json="")
    before = digest(tmp_path, "script", tmp_path / "memory")
    write(tmp_path, json="x = 1\n")  # never the standard library's
    assert digest(tmp_path, "script", tmp_path / "memory") == before
    write(tmp_path, helper="x = 1\n")
    assert digest(tmp_path, "script", tmp_path / "memory") != before


def test_a_file_that_was_edited_after_the_start_is_not_trusted(tmp_path):
    write(tmp_path, script="import helper\n", helper="")
    (tmp_path / "helper.py").touch()
    assert digest(tmp_path, "script", tmp_path / "memory") is None


def test_a_function_without_a_file(tmp_path):
    assert digest(tmp_path, "nowhere", tmp_path / "memory") is None


def test_unusable_memory_file(tmp_path):
    write(tmp_path, script="")
    expected = digest(tmp_path, "script", tmp_path / "memory")
    (tmp_path / "memory").write_text("{")
    assert digest(tmp_path, "script", tmp_path / "memory") == expected
    assert digest(tmp_path, "script", tmp_path / "script.py" / "memory") == expected


def package_digests(root, memory):
    command = [sys.executable, "-c", _DIGESTS, memory]
    result = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(result.stdout)


@pytest.mark.slow
def test_a_copy_of_this_package(tmp_path):
    """Equal digests at another place, and an edit changes those of the kernels that it concerns."""
    here, there = Path(grouser.__file__).parent, tmp_path / "there" / "grouser"
    shutil.copytree(here, there, ignore=shutil.ignore_patterns("__pycache__"))
    before = package_digests(here.parent, tmp_path / "memory")
    assert package_digests(there.parent, tmp_path / "memory") == before
    for file in ("soil/laws.py", "readings/measurements.py"):
        with (there / "physics" / file).open("a") as source:
            source.write("\n# edited\n")
    after = package_digests(there.parent, tmp_path / "memory")
    changed = {name.removeprefix("grouser.physics.") for name in before if after[name] != before[name]}
    assert {"soil.laws", "soil.contact", "soil.room"} <= changed
    rooms = {name.partition(".")[0] for name in changed}
    assert "hydraulics" not in rooms and "constraints" not in rooms, "they are called by address"
