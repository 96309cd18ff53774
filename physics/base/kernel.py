"""The one decorator of compiled functions, and where their machine code is kept.

Numba's cache notices an edit of a function's own file only, not of the functions that it calls. The cache therefore
lives in a folder named after the contents of every file of the physics core: an edit or an update never runs stale
code.
"""

import functools
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numba
from numba.core import event

_KEPT_SECONDS = 7 * 24 * 3600


def _cache_folder():
    """Folder of the compiled code of exactly this physics core."""
    sources = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(numba.__version__.encode())
    for file in sorted(sources.rglob("*.py")):
        if "description" not in file.parts:
            digest.update(file.relative_to(sources).as_posix().encode())
            digest.update(file.read_bytes())
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    home = Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "grouser"
    return home / f"kernels-{digest.hexdigest()[:16]}"


def _make_cache_folder():
    """The cache folder, made and marked as used; a temporary one where that cannot be written."""
    folder = _cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.touch()
        return folder
    except OSError:
        return Path(tempfile.mkdtemp(prefix="grouser-kernels-"))


def _forget_old_caches(folder):
    """Deletes caches that nobody has used for a week: each edit of the physics makes one."""
    for cache in folder.parent.glob("kernels-*"):
        if time.time() - cache.stat().st_mtime > _KEPT_SECONDS:
            shutil.rmtree(cache, ignore_errors=True)


CACHE_FOLDER = _make_cache_folder()
_forget_old_caches(CACHE_FOLDER)
numba.config.CACHE_DIR = str(CACHE_FOLDER)

# Arithmetic is IEEE 754's, operation by operation. Numba links a copy of each function into those that call it, and
# which copy serves a process depends on what it compiles and what it loads: with sums that may be reassociated or
# contracted, each is rounded in its own way, and the same inputs would not give the same bits in every process.
# Kernels allocate nothing and own no array, so that they need no reference counts: those would take half of a step.
kernel = functools.partial(
    numba.njit,
    cache=True,
    error_model="numpy",
    _nrt=False,
    no_cfunc_wrapper=True,
)


# For the parts of a long function: compiled within it, once. Each kernel of its own is linked into those that call it
# and optimised with them anew.
inlined = functools.partial(kernel, inline="always")


# For functions of some size that are called from many places: compiled once, and inlined by LLVM.
embedded = functools.partial(kernel, forceinline=True)


class _CompilationListener(event.Listener):
    """Counts functions that are compiled, not those that come from the cache."""

    def __init__(self, report):
        self._report = report
        self._done = 0
        self._begun = []

    def on_start(self, event):
        """Numba begins a function, perhaps in the middle of one that calls it."""
        self._begun.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event):
        """Numba has finished a function, and goes on with the one around it."""
        name = self._begun.pop()
        self._done += 1
        self._report(self._done, self._begun[-1] if self._begun else name)


@contextmanager
def reporting_compilation(report: Callable[[int, str], None]) -> Iterator[None]:
    """Tells what is compiled meanwhile.

    Args:
        report: told, by the thread that compiles, after each function how many are done and which one is compiled now:
            the one around it, or itself when it was the outermost.
    """
    with event.install_listener("numba:compile", _CompilationListener(report)):
        yield
