"""Folders of ROS packages, and the paths of ``package://``, ``file://`` and relative file names."""

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

from grouser.physics.base.errors import ParameterError

_MANIFEST = "package.xml"
_MANIFEST_BYTES_MAX = 1_000_000
# The search around a file: levels up from it, levels down from each of these folders, folders in all.
_LEVELS_UP, _LEVELS_DOWN, _FOLDERS_MAX = 6, 3, 5000


class PackageNotFoundError(LookupError):
    """A package that is nowhere; the text tells where it was looked for."""


class Packages:
    """Finds packages for one file.

    The order: the given folders, the ament index (if ROS 2 is installed), ROS_PACKAGE_PATH, the folders that hold the
    file, and the folders around these. Around the file, a package.xml with the name counts before a folder of the name.

    Args:
        file: of the machine or world.
        given: folders of packages by name.

    Raises:
        ParameterError: a given folder does not exist.

    Attributes:
        file: absolute path.
        given: as given, with absolute paths.
    """

    def __init__(self, file: str | Path, given: Mapping[str, str | Path] | None = None):
        self.file = Path(file).absolute()
        self.given = {name: Path(folder).absolute() for name, folder in (given or {}).items()}
        for name, folder in self.given.items():
            if not folder.is_dir():
                raise ParameterError(f"folder of package '{name}'", str(folder), "a folder that exists")

    def resolve(self, uri: str) -> Path:
        """Returns the path of a file name.

        Args:
            uri: ``package://name/path``, ``file:///path`` or a path; a relative one starts at the file's folder.

        Raises:
            LookupError: the package is not found, or the scheme is unknown.
        """
        if "\0" in uri:
            raise LookupError("a file name cannot hold a null character")
        if uri.startswith("package://"):
            package, rest = _split(uri)
            paths = [folder / unquote(rest).lstrip("/") for folder in self._folders(package)]
            return next((path for path in paths if path.exists()), paths[0])
        if uri.startswith("file://"):
            return self.file.parent / unquote(uri.removeprefix("file://"))
        if "://" in uri:
            raise LookupError(f"'{uri.partition('://')[0]}://' is not read; valid: package://, file:// or a path")
        return self.file.parent / uri

    def folder(self, package: str) -> Path:
        """Returns the folder of a package, the first if several have the name.

        Raises:
            PackageNotFoundError: it is not found.
        """
        return self._folders(package)[0]

    def _folders(self, package: str) -> list[Path]:
        """All folders of a package in the order of the search; there may be several around the file."""
        if package in self.given:
            return [self.given[package]]
        installed = _installed(package)
        if installed is not None:
            return [installed]
        found = [*_named(package, self.file.parents), *self._around.get(package, ())]
        if not found:
            raise PackageNotFoundError(self._not_found(package))
        return found

    def is_found_from_everywhere(self, uri: str) -> bool:
        """Returns whether a file name is in an installed package, which other programs find as well."""
        if not uri.startswith("package://"):
            return False
        package, _ = _split(uri)
        return package not in self.given and _installed(package) is not None

    @cached_property
    def _around(self) -> dict[str, list[Path]]:
        """Folders around the file by the names of their packages and, after these, by their own names."""
        folders = list(_folders_around(self.file))
        named: dict[str, list[Path]] = {}
        for folder in folders:
            name = _package_name(folder)
            if name:
                named.setdefault(name, []).append(folder)
        for folder in folders:
            named.setdefault(folder.name, []).append(folder)
        return named

    def _not_found(self, package: str) -> str:
        near = self.file.parent
        up = _homes(self.file)
        around = f"{near}, the folders above it and those below {up[-1]}" if up else str(near)
        return (
            f"package '{package[:80]}' is not found; looked in the given folders ({', '.join(self.given) or 'none'}), "
            f"in the ament index ({_setting('AMENT_PREFIX_PATH')}), in ROS_PACKAGE_PATH "
            f"({_setting('ROS_PACKAGE_PATH')}), "
            f"and for a package.xml or a folder of this name in {around}; give it by --package {package[:80]}=FOLDER"
        )


def read_packages(texts: Iterable[str]) -> dict[str, Path]:
    """Returns the folders of ``NAME=FOLDER`` texts.

    Raises:
        ParameterError: a text is not of that form.
    """
    folders = {}
    for text in texts:
        name, assigned, folder = text.partition("=")
        if not assigned or not name or not folder:
            raise ParameterError("package", text, "write NAME=FOLDER")
        folders[name] = Path(folder)
    return folders


def _split(uri: str) -> tuple[str, str]:
    """Package and path of a ``package://`` name; of ``package:///a/b`` the package is a."""
    package, _, rest = uri.removeprefix("package://").lstrip("/").partition("/")
    return package, rest


def _setting(variable: str) -> str:
    value = os.environ.get(variable)
    return value[:200] if value else f"{variable} is not set"


def _installed(package: str) -> Path | None:
    return _from_ament_index(package) or _from_package_path(package)


def _from_ament_index(package: str) -> Path | None:
    try:
        from ament_index_python import packages as index
    except ImportError:
        return None
    try:
        return Path(index.get_package_share_directory(package))
    except (index.PackageNotFoundError, ValueError, OSError):
        # Unknown package, invalid name, or no index (OSError: AMENT_PREFIX_PATH is not set).
        return None


def _from_package_path(package: str) -> Path | None:
    entries = [Path(entry) for entry in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if entry]
    return next(iter(_named(package, [folder for entry in entries for folder in (entry, entry / package)])), None)


def _named(package: str, folders: Iterable[Path]) -> list[Path]:
    """The folders whose package.xml has the name, then those that are named so."""
    folders = [folder for folder in folders if package and folder.is_dir()]
    by_manifest = [folder for folder in folders if _package_name(folder) == package]
    return by_manifest + [folder for folder in folders if folder.name == package]


def _homes(file: Path) -> list[Path]:
    """The folders above a file whose contents are searched, without the root of the file system."""
    return [folder for folder in file.parents if folder != folder.parent][:_LEVELS_UP]


def _folders_around(file: Path) -> Iterator[Path]:
    """Folders around a file, the nearest first, at most _FOLDERS_MAX."""
    seen: set[Path] = set()
    for home in _homes(file):
        waiting = deque([(home, 0)])
        while waiting and len(seen) < _FOLDERS_MAX:
            folder, level = waiting.popleft()
            if folder in seen:
                continue
            seen.add(folder)
            yield folder
            if level < _LEVELS_DOWN:
                waiting.extend((child, level + 1) for child in _subfolders(folder))


def _subfolders(folder: Path) -> list[Path]:
    """The visible folders in a folder, sorted; none if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if not entry.name.startswith(".") and entry.is_dir())
    except OSError:
        return []


def _package_name(folder: Path) -> str | None:
    manifest = folder / _MANIFEST
    try:
        if manifest.stat().st_size > _MANIFEST_BYTES_MAX:
            return None
        return (ElementTree.parse(manifest).getroot().findtext("name") or "").strip()
    except (OSError, ValueError, ElementTree.ParseError):
        return None
