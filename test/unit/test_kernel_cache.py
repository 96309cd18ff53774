"""What is compiled again, and what comes from the cache: a small package, run by processes of its own."""

import json
import os
import stat
import time
from pathlib import Path

import pytest
from forked import Forks

_PROGRAM = """
import json, sys
from numba.core import event

class Listener(event.Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event):
        pass

compiled = []
with event.install_listener("numba:compile", Listener()):
    from toy.apart import apart
    from toy.outer import outer
    result = [outer(1.0), apart(1.0)]
print(json.dumps([result, compiled]))
"""
_KERNEL = "from grouser.physics.base.kernel import kernel\n"
_TOY = {
    "__init__": "",
    "constants": "GAIN = 2.0\n",
    "inner": f"{_KERNEL}from toy.constants import GAIN\n\n@kernel\ndef inner(x):\n    return GAIN * x\n",
    "outer": f"{_KERNEL}from toy.inner import inner\n\n@kernel\ndef outer(x):\n    return inner(x) + 1.0\n",
    "apart": f"{_KERNEL}\n@kernel\ndef apart(x):\n    return x\n",
    "unused": "",
}
ALL = {"inner", "outer", "apart"}


def make_toy(folder):
    (folder / "toy").mkdir(parents=True)
    for name, text in _TOY.items():
        (folder / "toy" / f"{name}.py").write_text(text)
    return folder


def edit(folder, name, old, new):
    file = folder / "toy" / f"{name}.py"
    file.write_text(file.read_text().replace(old, new) + "\n")


@pytest.fixture(scope="module")
def run():
    """What the kernels in a folder give, and which were compiled, in a process of its own."""
    with Forks() as forks:

        def run(folder, cache, program=_PROGRAM):
            ended = forks.run(program, folder, NUMBA_CACHE_DIR=str(cache))
            assert ended.status == 0, ended.errors
            return json.loads(ended.output)

        yield run


@pytest.fixture
def compiled(run):
    """The names of the functions in a folder that were compiled."""

    def compiled(folder, cache, expected):
        results, names = run(folder, cache)
        assert results == expected
        assert len(set(names)) == len(names)
        return set(names)

    return compiled


def test_edit_recompiles_dependent_kernels_only(tmp_path, compiled):
    toy, copy, cache = make_toy(tmp_path / "here"), make_toy(tmp_path / "there"), tmp_path / "cache"
    assert compiled(toy, cache, [3.0, 1.0]) == ALL
    assert compiled(toy, cache, [3.0, 1.0]) == set()
    assert compiled(copy, cache, [3.0, 1.0]) == set()  # the same code at another place
    edit(copy, "unused", "", "x = 1")
    assert compiled(copy, cache, [3.0, 1.0]) == set()
    edit(copy, "constants", "2.0", "5.0")
    assert compiled(copy, cache, [6.0, 1.0]) == {"inner", "outer"}
    edit(copy, "inner", "* x", "* x * x * 2.0")
    assert compiled(copy, cache, [11.0, 1.0]) == {"inner", "outer"}
    edit(copy, "outer", "1.0", "2.0")
    assert compiled(copy, cache, [12.0, 1.0]) == {"outer"}  # and the function that it calls is loaded
    assert compiled(toy, cache, [3.0, 1.0]) == set()  # the old one is as it was


def test_cache_folder_is_made_at_first_use(tmp_path, run):
    program = "import numba, toy.outer, json; print(json.dumps(numba.config.CACHE_DIR))"
    assert run(make_toy(tmp_path / "here"), tmp_path / "cache", program) == str(tmp_path / "cache")  # as the user says
    assert not (tmp_path / "cache").exists()


def test_functions_of_users_keep_the_cache_of_numba(tmp_path, run):
    program = """
import json, numba
from numba.core.caching import FunctionCache
from grouser.physics.base.kernel import kernel
import toy.constants as module
exec(compile("def own(x): return x", module.__file__, "exec"), module.__dict__)
print(json.dumps(type(numba.njit(cache=True)(module.own)._cache) is FunctionCache))
"""
    assert run(make_toy(tmp_path / "here"), tmp_path / "cache", program)


def test_each_overload_has_its_own_file(tmp_path, run):
    program = """
import json
from toy.apart import apart
print(json.dumps([[apart(1.5), apart(2), apart(True)], sum(apart.stats.cache_hits.values())]))
"""
    toy = make_toy(tmp_path / "here")
    assert run(toy, tmp_path / "cache", program) == [[1.5, 2, True], 0]
    assert run(toy, tmp_path / "cache", program) == [[1.5, 2, True], 3]


_PAIR = """
from typing import NamedTuple

import numpy as np
from grouser.physics.base.kernel import kernel

@kernel
def left_of(pair):
    return pair.left[0]

class Pair(NamedTuple):
    left: np.ndarray
    right: np.ndarray
"""


def test_a_named_tuple_whose_fields_changed_is_another_type(tmp_path, run):
    """The kernel's own file stays as it is: the class may be imported for annotations only."""
    folder, cache = make_toy(tmp_path / "source"), tmp_path / "cache"
    kernels, classes = _PAIR.split("class Pair")
    (folder / "toy" / "kernels.py").write_text(kernels)
    (folder / "toy" / "pair.py").write_text("from typing import NamedTuple\nimport numpy as np\n\nclass Pair" + classes)
    program = """
import numpy as np
from toy.kernels import left_of
from toy.pair import Pair
print(left_of(Pair(left=np.array([1.0]), right=np.array([2.0]))))
"""
    assert run(folder, cache, program) == 1.0
    edit(folder, "pair", "    left: np.ndarray\n    right: np.ndarray", "    right: np.ndarray\n    left: np.ndarray")
    assert run(folder, cache, program) == 1.0


def test_functions_as_arguments_are_not_kept(tmp_path, run):
    """Whose code they are is not known from the file of the one that is given them."""
    toy = make_toy(tmp_path / "here")
    (toy / "toy" / "given.py").write_text(f"{_KERNEL}\n\n@kernel\ndef call(f, x):\n    return f[0](x)\n")
    program = """
import json
from toy.given import call
from toy.outer import outer
print(json.dumps([call((outer,), 1.0), sum(call.stats.cache_hits.values())]))
"""
    assert run(toy, tmp_path / "cache", program) == [3.0, 0]
    edit(toy, "constants", "2.0", "5.0")
    assert run(toy, tmp_path / "cache", program) == [6.0, 0]


def without_end(content):
    return content[:100]


def with_damaged_section_table(content):
    """The object file's section table at an impossible place."""
    place = content.index(b"\x7fELF") + 0x28
    return content[:place] + b"\xff" * 7 + content[place + 7 :]


@pytest.mark.parametrize("damage", [without_end, with_damaged_section_table])
def test_a_damaged_file_is_compiled_again(tmp_path, damage, compiled):
    toy, cache = make_toy(tmp_path / "here"), tmp_path / "cache"
    compiled(toy, cache, [3.0, 1.0])
    (damaged,) = cache.glob("kernels-toy.apart-*/*")
    damaged.write_bytes(damage(damaged.read_bytes()))
    assert compiled(toy, cache, [3.0, 1.0]) == {"apart"}
    assert compiled(toy, cache, [3.0, 1.0]) == set()


def test_unused_folders_are_deleted_once_a_day(tmp_path, compiled):
    toy, cache = make_toy(tmp_path / "here"), tmp_path / "cache"
    compiled(toy, cache, [3.0, 1.0])
    day, now = 24 * 3600, time.time()

    def age(pattern, days):
        (found,) = cache.glob(pattern)
        os.utime(found, (now - days * day,) * 2)
        return found

    old, unused = age("kernels-toy.outer-*", 8), cache / "kernels-toy.gone-0123456789abcdef"
    unused.mkdir()
    age(unused.name, 8)
    assert compiled(toy, cache, [3.0, 1.0]) == set()
    assert unused.exists()  # looked for today already
    assert time.time() - old.stat().st_mtime < day  # it was used
    age("kernels-pruned", 2)
    assert compiled(toy, cache, [3.0, 1.0]) == set()
    assert not unused.exists()
    assert old.exists()


def test_nothing_is_compiled_again_after_a_break_of_ten_days(tmp_path, compiled):
    toy, cache = make_toy(tmp_path / "here"), tmp_path / "cache"
    compiled(toy, cache, [3.0, 1.0])
    for file in cache.iterdir():
        os.utime(file, (time.time() - 10 * 24 * 3600,) * 2)
    assert compiled(toy, cache, [3.0, 1.0]) == set()
    assert compiled(toy, cache, [3.0, 1.0]) == set()


def test_unwritable_folder_gives_a_warning(tmp_path, run):
    toy, cache = make_toy(tmp_path / "here"), tmp_path / "cache"
    cache.write_text("")
    program = "import json, warnings\nwith warnings.catch_warnings(record=True) as said:\n"
    program += "    warnings.simplefilter('always')\n    from toy.outer import outer\n    result = outer(1.0)\n"
    program += "print(json.dumps([result, [str(one.message) for one in said]]))"
    result, said = run(toy, cache, program)
    assert result == 3.0
    assert [text.startswith(f"compiled kernels cannot be kept in {cache}") for text in said] == [True]


def test_an_edit_while_a_process_runs_is_not_kept_under_the_new_sources(tmp_path, run, compiled):
    """The process still has the old code: what it compiles now must not be taken for the new."""
    toy, cache = make_toy(tmp_path / "here"), tmp_path / "cache"
    program = """
import json, time
from pathlib import Path
import toy.constants
from toy.outer import outer
time.sleep(0.05)
file = Path(toy.constants.__file__)
file.write_text("GAIN = 7.0")
print(json.dumps(outer(1.0)))
"""
    assert run(toy, cache, program) == 3.0
    assert compiled(toy, cache, [8.0, 1.0]) == ALL


def test_files_have_the_permissions_of_the_umask(tmp_path, compiled):
    toy, cache = make_toy(tmp_path / "here"), tmp_path / "cache"
    compiled(toy, cache, [3.0, 1.0])
    mask = os.umask(0)
    os.umask(mask)
    files = [file for file in cache.rglob("*") if file.is_file()]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o666 & ~mask}


def test_modules_that_define_numba_types_are_sources_of_every_kernel():
    from grouser.physics.base import kernel_cache

    physics = Path(kernel_cache.__file__).parent.parent
    teaching = {file for file in physics.rglob("*.py") if "register_model(" in file.read_text()}
    assert teaching
    assert {
        f"grouser.{file.relative_to(physics.parent).with_suffix('').as_posix().replace('/', '.')}" for file in teaching
    } == set(kernel_cache._EXTENSIONS)
