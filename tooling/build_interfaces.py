#!/usr/bin/env python3
"""Build the ROS 2 interface packages that no wheel provides.

Runs under the environment's own Python. Each folder in `tooling/interfaces` is one package of bare field lists. A
package whose types can all be imported already (from a ROS 2 installation, a wheel or an earlier run) is left alone;
any other is generated, compiled and installed into the environment. A package appears there complete or not at all: it
is made in a work folder beside its destination and moved into place at the end. CC, CXX and CFLAGS are as usual.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from interface_package import InterfacePackage, read_packages
from preflight import COMPILERS, MissingError, missing_for_build

DEFINITIONS = Path(__file__).resolve().parent / "interfaces"
WORK_PREFIX = ".building_interfaces_"
STAMP = "grouser_build.sha256"
EXIT_BUILD_FAILED = 1
EXIT_SOMETHING_MISSING = 2


class BuildError(Exception):
    """A step of the build failed; the message has the cause."""


@dataclass(frozen=True)
class Compiler:
    """The C and C++ compilers and the headers of this Python.

    Attributes:
        c: path of the C compiler.
        cpp: path of the C++ compiler.
        python_headers: folder of `Python.h`.
    """

    c: str
    cpp: str
    python_headers: Path

    @classmethod
    def find(cls) -> Compiler:
        """Look for everything a build needs.

        Raises:
            MissingError: a compiler or `Python.h` is missing; the message names the Debian and Ubuntu package.
        """
        headers = Path(sysconfig.get_path("include"))
        missing = missing_for_build(headers, f"{sys.version_info.major}.{sys.version_info.minor}")
        c, cpp = (shutil.which(os.environ.get(variable, tool)) for variable, tool in COMPILERS.items())
        if missing or c is None or cpp is None:
            raise MissingError("\n".join(missing))
        return cls(c, cpp, headers)


@dataclass(frozen=True)
class Destination:
    """Where a built package goes: an environment laid out like a virtual environment.

    Attributes:
        prefix: the environment's root folder.
    """

    prefix: Path

    @property
    def site_packages(self) -> Path:
        """The folder of importable packages."""
        return self.prefix / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"

    @property
    def libraries(self) -> Path:
        """The folder where ROS looks for shared libraries."""
        return self.prefix / "lib"

    @property
    def share(self) -> Path:
        """The folder of definitions and of the package index."""
        return self.prefix / "share"

    def remove_leftovers(self) -> None:
        """Delete work folders of builds that were interrupted."""
        for folder in self.prefix.glob(f"{WORK_PREFIX}*"):
            shutil.rmtree(folder)


def build_package(package: InterfacePackage, compiler: Compiler, destination: Destination) -> None:
    """Generate, compile, try and install one package.

    Raises:
        BuildError: a definition is wrong, a source does not compile or the result does not load. Nothing is installed.
    """
    # The generators come with the ROS wheels; importing them here lets every other path of this tool run without.
    from interface_sources import SourceGenerator

    destination.prefix.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=WORK_PREFIX, dir=destination.prefix))
    try:
        try:
            sources = SourceGenerator(package, Path(sys.prefix) / "share", work).generate()
        except ValueError as error:
            raise BuildError(str(error)) from error
        objects = _compile(sources.compiled, (*sources.include_folders, work / "python"), package.name, compiler, work)
        module = sources.python_folder / f"{package.name}_s__rosidl_typesupport_c.so"
        _link(objects, sources.dependencies, module, compiler, destination)
        for path in sources.python_folder.rglob("*.c"):
            path.unlink()
        _try_to_load(package, sources.python_folder)
        _install(package, sources.python_folder, sources.definitions, destination, work)
    finally:
        shutil.rmtree(work)


def _compile(
    sources: tuple[Path, ...], include_folders: tuple[Path, ...], name: str, compiler: Compiler, work: Path
) -> list[Path]:
    """Compile all sources and return the object files."""
    import numpy

    ros_headers = Path(sys.prefix) / "include"
    flags = ["-O1", "-fPIC", "-w", "-DNDEBUG", f'-DROS_PACKAGE_NAME="{name}"']
    flags += [f"-I{folder}" for folder in include_folders]
    flags += ["-isystem", str(compiler.python_headers), "-isystem", numpy.get_include(), "-isystem", str(ros_headers)]
    for folder in sorted(path for path in ros_headers.iterdir() if path.is_dir()):
        flags += ["-isystem", str(folder)]
    flags += shlex.split(os.environ.get("CFLAGS", ""))
    units = list(_compilation_units(sources, work))

    def compile_one(unit: Path) -> Path:
        language = [compiler.cpp, "-std=c++17"] if unit.suffix == ".cpp" else [compiler.c, "-std=gnu11"]
        _run([*language, *flags, "-c", str(unit), "-o", f"{unit}.o"], f"compiling {unit.name}")
        return Path(f"{unit}.o")

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(compile_one, units))


def _compilation_units(sources: tuple[Path, ...], work: Path) -> Iterator[Path]:
    """Write files that include a few dozen sources each: nearly all of a source's time is that of its headers.

    Type descriptions stay alone, as they give the same names to different things.
    """
    folder = work / "units"
    folder.mkdir()
    groups: dict[tuple[str, ...], list[Path]] = {}
    for source in sources:
        generator = source.relative_to(work).parts[0]
        alone = (str(source),) if source.stem.endswith("__description") else ()
        groups.setdefault((generator, source.suffix, *alone), []).append(source)
    # The largest first, so that no compiler waits for it.
    for number, group in enumerate(sorted(groups.values(), key=len, reverse=True)):
        unit = folder / f"{number}_{group[0].stem}{group[0].suffix}"
        unit.write_text("".join(f'#include "{source}"\n' for source in group))
        yield unit


def _link(
    objects: list[Path], dependencies: tuple[str, ...], module: Path, compiler: Compiler, destination: Destination
) -> None:
    """Link one module that holds structures, type supports and Python conversions of the whole package."""
    libraries = Path(sys.prefix) / "lib"
    wanted = [path for name in dependencies for path in sorted(libraries.glob(f"lib{name}__rosidl_*.so"))]
    wanted += [libraries / f"lib{name}.so" for name in _RUNTIME_LIBRARIES]
    library_path = os.path.relpath(destination.libraries, destination.site_packages / "package")
    command = [compiler.cpp, "-shared", *map(str, objects), "-Wl,--as-needed", *map(str, wanted)]
    # -z now: a symbol that no library provides shows when the module is tried, not when a message is first sent.
    command += ["-Wl,-z,now", f"-Wl,-rpath,$ORIGIN/{library_path}", f"-Wl,-rpath-link,{libraries}", "-o", str(module)]
    _run(command, f"linking {module.name}")


_RUNTIME_LIBRARIES = (
    "rosidl_typesupport_c",
    "rosidl_typesupport_fastrtps_c",
    "rosidl_typesupport_fastrtps_cpp",
    "rosidl_typesupport_introspection_c",
    "rosidl_runtime_c",
    "rcutils",
    "rmw",
    "fastcdr",
)


def _try_to_load(package: InterfacePackage, python_folder: Path) -> None:
    """Import every type in a fresh process before anything is installed."""
    lines = [
        f"import {package.name}.{file.parts[0]}; {package.name}.{file.parts[0]}.{file.stem}.__import_type_support__()"
        for file in package.files
    ]
    environment = {**os.environ, "PYTHONPATH": str(python_folder.parent)}
    _run([sys.executable, "-c", "\n".join(lines)], f"loading {package.name}", environment)


def _install(
    package: InterfacePackage,
    python_folder: Path,
    definitions: tuple[tuple[str, Path], ...],
    destination: Destination,
    work: Path,
) -> None:
    """Move a finished package into place; the importable folder comes last, so that it is never there alone."""
    share = work / "share"
    for kind, path in definitions:
        (share / kind).mkdir(parents=True, exist_ok=True)
        shutil.copy(path, share / kind)
    (share / STAMP).write_text(package.digest())
    _replace_folder(share, destination.share / package.name, work)

    index = destination.share / "ament_index" / "resource_index"
    names = sorted(f"{kind}/{path.name}" for kind, path in definitions if path.suffix != ".json")
    for resource, content in (("packages", ""), ("rosidl_interfaces", "\n".join(names) + "\n")):
        (index / resource).mkdir(parents=True, exist_ok=True)
        (index / resource / package.name).write_text(content)

    from interface_sources import TYPE_SUPPORTS

    installed = destination.site_packages / package.name
    module = installed / f"{package.name}_s__rosidl_typesupport_c.so"
    for support in TYPE_SUPPORTS:
        link = destination.libraries / f"lib{package.name}__{support}.so"
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(os.path.relpath(module, link.parent))
    _replace_folder(python_folder, installed, work)


def _replace_folder(new: Path, target: Path, work: Path) -> None:
    """Put a folder in place by renaming; an older one goes into the work folder, to be deleted with it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        target.rename(work / f"old_{target.parent.name}")
    new.rename(target)


def _run(command: list[str], action: str, environment: dict[str, str] | None = None) -> None:
    """Run one program; its output is shown only when it fails."""
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if result.returncode != 0:
        lines = (result.stdout + result.stderr).strip().splitlines()
        raise BuildError(f"{action} failed:\n" + "\n".join(lines[-20:]))


def is_current(package: InterfacePackage, destination: Destination) -> bool:
    """Whether a package can be imported as defined here, from wherever it comes."""
    if package.missing_types():
        return False
    stamp = destination.share / package.name / STAMP
    return not stamp.exists() or stamp.read_text() == package.digest()


def main() -> int:
    """Build what is absent; returns the exit status (1: a build failed, 2: a tool is missing)."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--definitions", type=Path, default=DEFINITIONS, help="folder of interface packages")
    parser.add_argument("--prefix", type=Path, default=Path(sys.prefix), help="environment to install into")
    parser.add_argument("--even-if-importable", action="store_true", help="build what can be imported already, too")
    arguments = parser.parse_args()

    destination = Destination(arguments.prefix.resolve())
    destination.remove_leftovers()
    try:
        for package in read_packages(arguments.definitions.resolve()):
            if not arguments.even_if_importable and is_current(package, destination):
                print(f"{package.name}: there already", flush=True)
                continue
            start = time.monotonic()
            build_package(package, Compiler.find(), destination)
            print(f"{package.name}: built {len(package.files)} in {time.monotonic() - start:.1f} s", flush=True)
    except MissingError as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_SOMETHING_MISSING
    except (BuildError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_BUILD_FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
