"""Import closures: the files that a function's compiled code may depend on, found by reading the sources.

Nothing is imported to find them. A closure has files of this package, of the package that the function itself belongs
to, and, for a function outside this package, those beside its file. Other imports (numpy, the standard library) are
left out. The `__init__.py` of each package on the path counts; its own imports only where a name is taken from it.
"""

import ast
import functools
import hashlib
import inspect
import json
import os
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PACKAGE = __name__.partition(".")[0]
_ROOT = str(Path(__file__).absolute().parents[__name__.count(".")])
_INSTALLED = ("site-packages", "dist-packages")
_MOST_REMEMBERED = 4_000_000  # [bytes]; a larger file is discarded and all sources are parsed again
# Modules are read before they run: this process does not run an edit made later.
_STARTED = time.time()


class Module(NamedTuple):
    """A module by its location.

    Attributes:
        root: folder that holds the module, or its outermost package.
        name: its dotted name, packages included.
    """

    root: str
    name: str


@functools.cache
def _file(module: Module) -> Path | None:
    """The module's source file; None where there is none."""
    stem = os.path.join(module.root, *module.name.split("."))  # noqa: PTH118  (many: a path is slow)
    for file in (os.path.join(stem, "__init__.py"), f"{stem}.py"):  # noqa: PTH118
        if os.path.isfile(file):  # noqa: PTH113
            return Path(file)
    return None


def _package(module: Module) -> Module | None:
    name = module.name.rpartition(".")[0]
    return Module(module.root, name) if name else None


def _packages(module: Module) -> Iterator[Module]:
    package = _package(module)
    if package is not None:
        yield package
        yield from _packages(package)


class _Source(NamedTuple):
    digest: str
    edited: bool
    imported: list[str]


class ImportClosures:
    """Finds import closures; reads each source once.

    Args:
        memory: file that stores, by the digest of a source, what it imports: parsing all sources takes longer than a
            warm start. Not written if it cannot be.
    """

    def __init__(self, memory: Path):
        self._memory = memory
        self._remembered: dict[str, list[str]] | None = None
        self._learnt = False
        self._sources: dict[Module, _Source | None] = {}
        self._neighbours: dict[Module, list[Module]] = {}
        self._digests: dict[Module, str | None] = {}

    def digest(self, function: Callable, further: tuple[str, ...] = ()) -> str | None:
        """Digest of the names and contents of all files that a function may depend on.

        Args:
            function: a Python function.
            further: modules of this package that count as imported.

        Returns:
            None if the function has no source file, or one of the files was edited after this process had read it.
        """
        module = _home(function)
        if module is None:
            return None
        if module not in self._digests:
            self._digests[module] = self._digest(module, further)
            self._remember()
        return self._digests[module]

    def _digest(self, module: Module, further: tuple[str, ...]) -> str | None:
        parts = set()
        reached = self._reach([module, *(Module(_ROOT, name) for name in further)])
        for member in reached.union(*map(_packages, reached)):
            source = self._source(member)
            if source is None:
                continue
            if source.edited:
                return None
            parts.add((member.name, source.digest))
        return hashlib.sha256(repr(sorted(parts)).encode()).hexdigest()

    def _reach(self, modules: list[Module]) -> set[Module]:
        """These modules and, recursively, those that they import."""
        reached: set[Module] = set()
        while modules:
            module = modules.pop()
            if module not in reached:
                reached.add(module)
                if module not in self._neighbours:
                    self._neighbours[module] = list(self._imported(module))
                modules.extend(self._neighbours[module])
        return reached

    def _imported(self, module: Module) -> Iterator[Module]:
        """The modules that this one imports names from."""
        source = self._source(module)
        for name in source.imported if source else ():
            found = _find(module, name)
            while found is not None and _file(found) is None:  # a name in a module, not a module
                found = _package(found)
            if found is not None:
                yield found

    def _source(self, module: Module) -> _Source | None:
        if module not in self._sources:
            file = _file(module)
            self._sources[module] = None if file is None else self._read(file)
        return self._sources[module]

    def _read(self, file: Path) -> _Source | None:
        try:
            text = file.read_bytes()
            # a modification time in the future is another computer's clock, not an edit
            edited = _STARTED < file.stat().st_mtime <= time.time()
        except OSError:
            return None
        digest = hashlib.sha256(text).hexdigest()
        if self._remembered is None:
            self._remembered = self._recall()
        if digest not in self._remembered:
            self._remembered[digest] = imported_names(text)
            self._learnt = True
        return _Source(digest, edited, self._remembered[digest])

    def _recall(self) -> dict[str, list[str]]:
        with suppress(OSError, ValueError):
            if self._memory.stat().st_size < _MOST_REMEMBERED:
                return json.loads(self._memory.read_text())
        return {}

    def _remember(self) -> None:
        if not self._learnt:
            return
        self._learnt = False
        with suppress(OSError):
            self._memory.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._memory, json.dumps(self._remembered).encode())


def write_whole(file: Path, content: bytes) -> None:
    """Writes a file atomically: other processes see all of it or nothing.

    Raises:
        OSError: it cannot be written.
    """
    part = file.with_name(f"{file.name}.{uuid.uuid4().hex}")
    try:
        part.write_bytes(content)
        part.replace(file)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _home(function: Callable) -> Module | None:
    """The module of a function, by its file."""
    file = Path(inspect.getfile(function)).absolute()
    if file.suffix != ".py" or not file.is_file():
        return None
    names = function.__module__.split(".")
    path = file.parent.parts if file.name == "__init__.py" else file.with_suffix("").parts
    if path[-len(names) :] == tuple(names):
        return Module(str(Path(*path[: -len(names)])), function.__module__)
    return Module(str(file.parent), file.stem)


def _find(importer: Module, name: str) -> Module | None:
    """The module that an imported name refers to; None: it is left out."""
    if name.startswith("."):
        return _find_relative(importer, name)
    package, first = importer.name.split("."), name.partition(".")[0]
    if first == _PACKAGE:
        return Module(_ROOT, name)
    if first == package[0]:
        return Module(importer.root, name)
    if package[0] == _PACKAGE or first in sys.stdlib_module_names:
        return None
    folder = Path(importer.root, *package[:-1])
    return None if folder.name in _INSTALLED else Module(str(folder), name)


def _find_relative(importer: Module, name: str) -> Module | None:
    behind = name.lstrip(".")
    up = len(name) - len(behind)
    file = _file(importer)
    if file is not None and file.name == "__init__.py":
        up -= 1
    package = importer.name.split(".")
    kept = package[: len(package) - up]
    return Module(importer.root, ".".join([*kept, behind] if behind else kept)) if kept else None


def imported_names(source: bytes) -> list[str]:
    """Names in the imports of a source: modules, and names in modules that may be modules themselves.

    Relative names keep their dots. Imports under `TYPE_CHECKING` are left out.
    """
    names: dict[str, None] = {}
    for node in _statements(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.name] = None
                if alias.asname is None:  # the outermost package is bound, with everything in it
                    names[alias.name.partition(".")[0]] = None
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            joint = "" if base.endswith(".") else "."
            names.update(
                dict.fromkeys(base if alias.name == "*" else base + joint + alias.name for alias in node.names)
            )
    return list(names)


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and _is_for_type_checkers(node.test):
            for other in node.orelse:
                yield other
                yield from _statements(other)
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield node
            yield from _statements(node)


def _is_for_type_checkers(test: ast.expr) -> bool:
    return getattr(test, "id", None) == "TYPE_CHECKING" or getattr(test, "attr", None) == "TYPE_CHECKING"
