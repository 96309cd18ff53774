"""Keeps the machine code of kernels on disk, in a folder for each source file.

Numba links the machine code of called functions into a function, but its own cache checks the function's own file
only. A folder here is named after the contents of all files that its code may come from (`import_closure`): stale
code never runs after an edit, only what the edit concerns is compiled again, and copies of the same sources share one
folder wherever they are.
"""

import atexit
import contextlib
import functools
import hashlib
import os
import pickle
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps
from numba.core.types import Callable as CallableType
from numba.core.types import FunctionType, Type

from grouser.physics.base.import_closure import ImportClosures, write_whole

_KEPT_SECONDS = 7 * 24 * 3600
_PRUNED_EVERY = 24 * 3600
_DIGEST_SIZE = 32  # [bytes], at the beginning of each file
_COMPILER = f"{numba.__version__} {llvmlite.__version__} {sys.implementation.cache_tag}"
# Modules that define numba types of this package: kernels that take such a type need not import them.
_EXTENSIONS = (__name__.rpartition(".")[0] + ".packed",)


def cache_home() -> Path:
    """The folder of all compiled kernels: NUMBA_CACHE_DIR, or grouser's folder in the user's cache."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    return Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "grouser"


@functools.cache
def _closures() -> ImportClosures:
    return ImportClosures(cache_home() / "kernel-imports.json")


def can_keep() -> bool:
    """Whether compiled kernels can be written to their folder, which is made if it is missing."""
    home = cache_home()
    with contextlib.suppress(OSError):
        home.mkdir(parents=True, exist_ok=True)
    return home.is_dir() and os.access(home, os.W_OK)


@functools.cache
def _use(folder: Path) -> None:
    """Marks a folder as used."""
    with contextlib.suppress(OSError):
        os.utime(folder)
    _prune_at_exit(folder.parent)


@functools.cache
def _prune_at_exit(home: Path) -> None:
    """Prunes when this process ends: after a break of a week, all folders are old until it has marked its own."""
    atexit.register(_prune, home)


def _prune(home: Path) -> None:
    """Once a day, deletes the folders that were not used for a week."""
    mark = home / "kernels-pruned"
    with contextlib.suppress(OSError):
        if not mark.exists() or time.time() - mark.stat().st_mtime > _PRUNED_EVERY:
            mark.touch()
            for folder in home.glob("kernels-*"):
                if time.time() - folder.stat().st_mtime > _KEPT_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def _measure() -> None:
    """Starts to measure compiling.

    The import is not above: `compilation` imports this module, and is no source of compiled code.
    """
    import_module(__name__.rpartition(".")[0] + ".compilation").meter()


@functools.cache
def _warn(home: Path, reason: str) -> None:
    warnings.warn(f"compiled kernels cannot be kept in {home} ({reason}): each start compiles anew", stacklevel=2)


class KernelCache(_Cache):
    """Numba's cache of one function. Nothing is read or made before numba uses it.

    Each overload is a file of its own: processes that compile the same function for other types at the same time write
    different files.
    """

    def __init__(self, function: Callable):
        self._function = function
        self._enabled = True

    @functools.cached_property
    def _folder(self) -> Path | None:
        """The folder; None: the code of this function is not kept."""
        if self._function.__closure__ is not None:
            return None
        digest = _closures().digest(self._function, _EXTENSIONS)
        if digest is None:
            return None
        key = hashlib.sha256(f"{_COMPILER} {digest}".encode()).hexdigest()[:16]
        return cache_home() / f"kernels-{self._function.__module__}-{key}"

    @property
    def cache_path(self) -> str | None:
        """The folder of the function's file."""
        return None if self._folder is None else str(self._folder)

    def enable(self) -> None:
        """Allows reading and writing from now on."""
        self._enabled = True

    def disable(self) -> None:
        """Prevents reading and writing from now on."""
        self._enabled = False

    def flush(self) -> None:
        """Deletes all overloads of the function."""
        if self._folder is not None:
            for file in self._folder.glob(f"{self._stem}-*"):
                file.unlink(missing_ok=True)

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """The compiled code for a signature; None: not in the cache.

        Of numba only what code calls is prepared: its declarations of functions, which take a third of a second to
        import, are for the compiler, which imports them itself.
        """
        rtsys.initialize(target_context)
        found = self._load(self._folder_for(sig), sig, target_context)
        if found is None:
            _measure()  # numba compiles it next
        return found

    def _load(self, folder: Path | None, sig: Any, target_context: Any) -> CompileResult | None:
        if folder is None:
            return None
        try:
            content = memoryview(self._file(folder, sig, target_context.codegen()).read_bytes())
        except OSError:
            return None
        digest, code = content[:_DIGEST_SIZE], content[_DIGEST_SIZE:]
        if _digest(code) != digest:  # damaged, by a loss of power: LLVM would end this process
            return None
        _use(folder)
        return CompileResult._rebuild(target_context, *pickle.loads(code))

    def holds(self, sig: Any, target_context: Any) -> bool:
        """Whether the cache has code for a signature; does not load it."""
        folder = self._folder_for(sig)
        return folder is not None and self._file(folder, sig, target_context.codegen()).exists()

    def save_overload(self, sig: Any, data: CompileResult) -> None:
        """Stores the compiled code for a signature."""
        folder = self._folder_for(sig)
        if folder is None:
            return
        if data.library.has_dynamic_globals:
            name = self._function.__qualname__
            warnings.warn(f"{name} cannot be kept: it uses addresses of this process", stacklevel=2)
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            code = dumps(data._reduce())
            write_whole(self._file(folder, sig, data.codegen), _digest(code) + code)
        except OSError as error:
            _warn(folder.parent, error.strerror)
            return
        _use(folder)

    def _folder_for(self, sig: Any) -> Path | None:
        """The folder for a signature; None if an argument is a function, which may come from any file."""
        arguments = getattr(sig, "args", sig)
        if not self._enabled or any(
            isinstance(part, CallableType | FunctionType) for one in arguments for part in _parts(one)
        ):
            return None
        return self._folder

    @functools.cached_property
    def _stem(self) -> str:
        name = self._function.__qualname__.replace("<", "").replace(">", "")
        return f"{name}-{self._function.__code__.co_firstlineno}"

    def _file(self, folder: Path, sig: Any, codegen: Any) -> Path:
        """The file of an overload for this processor.

        Types are told apart by their names, as numba does, and named tuples by their fields as well: their class may be
        of a file that is imported for annotations only.
        """
        arguments = getattr(sig, "args", sig)
        parts = [part for one in arguments for part in _parts(one)]
        fields = [part.fields for part in parts if isinstance(part, numba.types.BaseNamedTuple)]
        digest = hashlib.sha256(repr((sig, fields, codegen.magic_tuple())).encode()).hexdigest()[:32]
        return folder / f"{self._stem}-{digest}"


def _digest(code: bytes | memoryview) -> bytes:
    return hashlib.sha256(code).digest()


def _parts(numba_type: Type) -> Iterator[Type]:
    """A type and, of a tuple, its element types."""
    yield numba_type
    for part in getattr(numba_type, "types", ()):
        yield from _parts(part)
