"""Generated sources of an interface package: field lists in, C, C++ and Python files out.

The rosidl generators that the rclpy wheels bring do the writing. Each takes one JSON file of arguments; this module
prepares those files in the right order and collects what comes out.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import multiprocessing
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rosidl_generator_c
import rosidl_generator_py
import rosidl_generator_type_description
import rosidl_typesupport_c
import rosidl_typesupport_fastrtps_c
import rosidl_typesupport_introspection_c
from interface_package import InterfacePackage
from rosidl_adapter import convert_to_idl
from rosidl_adapter.parser import InvalidSpecification, InvalidValue

# rclpy needs both: Fast DDS serialises with the first, and the middleware registers types with the second.
TYPE_SUPPORTS = ("rosidl_typesupport_fastrtps_c", "rosidl_typesupport_introspection_c")

# Packages used by the hidden messages of actions and services, which definitions do not name.
IMPLICIT_DEPENDENCIES = {
    "msg": ("builtin_interfaces",),
    "srv": ("builtin_interfaces", "service_msgs"),
    "action": ("action_msgs", "builtin_interfaces", "service_msgs", "unique_identifier_msgs"),
}


@dataclass(frozen=True)
class InterfaceSources:
    """Generated sources of one package.

    Attributes:
        package: the package these sources belong to.
        python_folder: the Python package, still without its compiled module.
        definitions: `(kind folder, file)` of everything that belongs into `share/<package>/`.
        compiled: C and C++ files to compile into one module.
        include_folders: for the compiler, the package's own headers.
        dependencies: names of the interface packages that the definitions refer to, sorted.
    """

    package: InterfacePackage
    python_folder: Path
    definitions: tuple[tuple[str, Path], ...]
    compiled: tuple[Path, ...]
    include_folders: tuple[Path, ...]
    dependencies: tuple[str, ...]


class SourceGenerator:
    """Runs the rosidl generators for one package inside a work folder.

    Args:
        package: what to generate.
        share: the `share` folder that holds the generators' templates and the definitions of other packages.
        work: an empty folder for everything that is written.
    """

    def __init__(self, package: InterfacePackage, share: Path, work: Path) -> None:
        self.package = package
        self.share = share
        self.work = work
        self._interfaces: list[Path] = []

    def generate(self) -> InterfaceSources:
        """Write all sources.

        Raises:
            ValueError: a definition cannot be parsed or refers to an unknown type; the message names the file.
        """
        python_folder = self.work / "python" / self.package.name
        with (self.work / "generators.log").open("w") as log, contextlib.redirect_stdout(log):
            self._interfaces = [self._convert(file) for file in self.package.files]
            dependencies = self._dependencies()
            self._describe_types()
            self._generate_code(python_folder)
        compiled = sorted(path for suffix in ("c", "cpp") for path in self.work.rglob(f"*.{suffix}"))
        unused = [python_folder / f"_{self.package.name}_s.ep.{support}.c" for support in TYPE_SUPPORTS]
        return InterfaceSources(
            self.package,
            python_folder,
            tuple(self._definitions()),
            tuple(path for path in compiled if path not in unused),
            (self.work / "headers", self.work / "introspection"),
            dependencies,
        )

    def _convert(self, file: Path) -> Path:
        """Turn one field list into IDL; returns the IDL file's path relative to the `idl` folder."""
        folder = self.work / "idl"
        try:
            return convert_to_idl(self.package.folder, self.package.name, file, folder).relative_to(folder)
        except (ValueError, InvalidSpecification, InvalidValue) as error:
            raise ValueError(f"{self.package.folder / file}: {error}") from error

    def _dependencies(self) -> tuple[str, ...]:
        """Packages that the definitions include, each checked to be there."""
        names = {name for kind in self.package.kinds for name in IMPLICIT_DEPENDENCIES[kind]}
        for file, interface in zip(self.package.files, self._interfaces, strict=True):
            for include in re.findall(r'#include "(\S+)"', (self.work / "idl" / interface).read_text()):
                name = Path(include).parts[0]
                if name == self.package.name:
                    known = Path(*Path(include).parts[1:]) in self._interfaces
                else:
                    known = (self.share / include).is_file()
                    names.add(name)
                if not known:
                    raise ValueError(f"{self.package.folder / file}: unknown type {include.removesuffix('.idl')}")
        return tuple(sorted(names))

    def _describe_types(self) -> None:
        """Compute the type hashes and the descriptions that other programs read to decode the messages."""
        packages = {path.parts[-3] for kind in ("msg", "srv", "action") for path in self.share.glob(f"*/{kind}/*.idl")}
        include_paths = [f"{name}:{self.share / name}" for name in sorted(packages - {self.package.name})]
        rosidl_generator_type_description.generate_type_hash(
            self._arguments("types", self.work / "types", include_paths=include_paths)
        )

    def _generate_code(self, python_folder: Path) -> None:
        """Write message structures in C, the type supports that rclpy loads, and the Python classes.

        Each generator takes seconds for a large package: they run side by side, in processes of their own.
        """
        descriptions = [
            f"{interface}:{self.work / 'types' / interface.with_suffix('.json')}" for interface in self._interfaces
        ]
        headers = self.work / "headers" / self.package.name
        introspection = self.work / "introspection" / self.package.name
        calls: list[tuple[Callable, list[Any]]] = [
            (
                rosidl_generator_py.generate_py,
                [self._arguments("rosidl_generator_py", python_folder), ["rosidl_typesupport_c"]],
            ),
            (
                rosidl_generator_c.generate_c,
                [self._arguments("rosidl_generator_c", headers, type_description_tuples=descriptions)],
            ),
            (
                rosidl_typesupport_fastrtps_c.generate_typesupport_fastrtps_c,
                [self._arguments("rosidl_typesupport_fastrtps_c", headers)],
            ),
            (
                rosidl_typesupport_introspection_c.generate_c,
                [self._arguments("rosidl_typesupport_introspection_c", introspection)],
            ),
            (
                rosidl_typesupport_c.generate_c,
                [
                    self._arguments(
                        "rosidl_typesupport_c", self.work / "dispatch", type_description_tuples=descriptions
                    ),
                    list(TYPE_SUPPORTS),
                ],
            ),
        ]
        with concurrent.futures.ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("fork")) as pool:
            for done in [pool.submit(generate, *arguments) for generate, arguments in calls]:
                done.result()
        self._write_visibility_header("rosidl_generator_c", headers)
        self._write_visibility_header("rosidl_typesupport_fastrtps_c", headers)
        self._write_visibility_header("rosidl_typesupport_introspection_c", introspection)
        (python_folder / "__init__.py").touch()

    def _write_visibility_header(self, generator: str, folder: Path) -> None:
        """Fill in the header of export macros that the build system usually makes from a template."""
        name = f"{generator}__visibility_control.h"
        text = (self.share / generator / "resource" / f"{name}.in").read_text()
        text = text.replace("@PROJECT_NAME@", self.package.name)
        text = text.replace("@PROJECT_NAME_UPPER@", self.package.name.upper())
        (folder / "msg").mkdir(parents=True, exist_ok=True)
        (folder / "msg" / name).write_text(text)

    def _arguments(self, generator: str, output: Path, **special: list[str]) -> str:
        """Write one generator's argument file and return its path."""
        arguments = {
            "package_name": self.package.name,
            "output_dir": str(output),
            "template_dir": str(self.share / generator / "resource"),
            "idl_tuples": [f"{self.work / 'idl'}:{interface}" for interface in self._interfaces],
            "target_dependencies": [],
            "ros_interface_dependencies": [],
            "ros_interface_files": [str(self.package.folder / file) for file in self.package.files],
            **special,
        }
        path = self.work / f"{generator}.json"
        path.write_text(json.dumps(arguments, indent=1))
        return str(path)

    def _definitions(self) -> Iterator[tuple[str, Path]]:
        """Field lists, IDL and type descriptions, as `ros2 interface show` and recorders look for them."""
        for file, interface in zip(self.package.files, self._interfaces, strict=True):
            yield file.parts[0], self.package.folder / file
            yield file.parts[0], self.work / "idl" / interface
            yield file.parts[0], self.work / "types" / interface.with_suffix(".json")
