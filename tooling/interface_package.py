"""A package of ROS 2 interface definitions, as bare field lists in a folder."""

from __future__ import annotations

import hashlib
import importlib
from dataclasses import dataclass
from pathlib import Path

KINDS = ("msg", "srv", "action")


@dataclass(frozen=True)
class InterfacePackage:
    """The field lists of one interface package.

    Attributes:
        name: the ROS package name, which is also the folder's name.
        folder: holds `msg/*.msg`, `srv/*.srv` and `action/*.action`.
        files: the definitions, relative to `folder`, sorted.
    """

    name: str
    folder: Path
    files: tuple[Path, ...]

    @classmethod
    def read(cls, folder: Path) -> InterfacePackage:
        """List the definitions in a folder.

        Raises:
            ValueError: the folder holds no definition.
        """
        files = [path.relative_to(folder) for kind in KINDS for path in sorted(folder.glob(f"{kind}/*.{kind}"))]
        if not files:
            raise ValueError(f"{folder}: no interface definition (msg/*.msg, srv/*.srv or action/*.action)")
        return cls(folder.name, folder, tuple(files))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that occur: some of `msg`, `srv`, `action`."""
        return tuple(kind for kind in KINDS if any(file.suffix == f".{kind}" for file in self.files))

    def digest(self) -> str:
        """Fingerprint of all definitions, so that a changed field list is noticed."""
        content = hashlib.sha256()
        for file in self.files:
            content.update(f"{file.as_posix()}\n".encode())
            content.update((self.folder / file).read_bytes())
        return content.hexdigest()

    def missing_types(self) -> tuple[str, ...]:
        """The types that the running Python cannot import, as `package/kind/Type`."""
        missing = []
        for file in self.files:
            try:
                module = importlib.import_module(f"{self.name}.{file.parts[0]}")
            except ModuleNotFoundError:
                found = False
            else:
                found = hasattr(module, file.stem)
            if not found:
                missing.append(f"{self.name}/{file.parts[0]}/{file.stem}")
        return tuple(missing)


def read_packages(root: Path) -> tuple[InterfacePackage, ...]:
    """Read every interface package in the folders directly below `root`."""
    return tuple(InterfacePackage.read(folder) for folder in sorted(root.iterdir()) if folder.is_dir())
