"""Text of files, and the paths of ``package://``, ``file://`` and relative file names."""

import os
from os import PathLike
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

from grouser.physics.base.errors import MachineError, ParameterError

_PACKAGE_MANIFEST = "package.xml"
_MANIFEST_BYTES_MAX = 1_000_000


def require_path(name: str, value: object, valid: str) -> Path:
    """Refuses what is no path."""
    if not isinstance(value, str | PathLike):
        raise ParameterError(name, value, valid)
    try:
        return Path(value)
    except TypeError:
        raise ParameterError(name, value, f"{valid}, as a text") from None


def read_text(path: Path, bytes_max: int, what: str) -> str:
    """Returns the text of a UTF-8 file.

    Args:
        path: the file.
        bytes_max: size above which it is refused [bytes].
        what: kind of file, for messages ("URDF", "world").

    Raises:
        MachineError: the file is absent, not a file, not readable, too large, empty or not UTF-8 text.
    """
    try:
        if not path.exists():
            raise MachineError("no such file", file=path, remedy=f"give the path of a {what} file")
        if not path.is_file():
            raise MachineError("not a file", file=path, remedy=f"give the path of a {what} file")
        with path.open("rb") as stream:
            raw = stream.read(bytes_max + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise MachineError(f"cannot be read: {reason}", file=path) from None
    if len(raw) > bytes_max:
        raise MachineError(f"larger than {bytes_max} bytes", file=path, remedy=f"is it a {what} file?")
    if not raw.strip():
        raise MachineError("the file is empty", file=path, remedy=f"give the path of a {what} file")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MachineError(
            f"not UTF-8 text: byte {raw[error.start]:#04x}",
            file=path,
            line=raw.count(b"\n", 0, error.start) + 1,
            remedy=f"is it a {what} file? Save it as UTF-8",
        ) from None


def package_directory(package: str, near: Path) -> Path | None:
    """Finds the share directory of a ROS package.

    Searches the ament index (if ROS 2 is installed), ROS_PACKAGE_PATH, then the directories around the file `near`: those
    whose package.xml has the name, else those that are named so.

    Args:
        package: its name.
        near: a file of the machine.

    Returns:
        The directory, None when the package is not found.
    """
    return _from_ament_index(package) or _from_package_path(package) or _from_enclosing(package, near)


def resolve(uri: str, file: str) -> Path:
    """Returns the path of a file name in a URDF.

    Args:
        uri: ``package://name/path``, ``file:///path`` or a path; a relative one starts at the URDF's directory.
        file: the URDF that it is written in.

    Raises:
        LookupError: the package is not found, or the scheme is unknown.
    """
    near = Path(file).absolute()
    if "\0" in uri:
        raise LookupError("a file name cannot hold a null character")
    if uri.startswith("package://"):
        package, _, rest = uri.removeprefix("package://").partition("/")
        directory = package_directory(package, near)
        if directory is None:
            raise LookupError(
                f"package '{package}' is not found in the ament index, in ROS_PACKAGE_PATH or around the file"
            )
        return directory / unquote(rest).lstrip("/")
    if uri.startswith("file://"):
        return near.parent / unquote(uri.removeprefix("file://"))
    if "://" in uri:
        raise LookupError(f"'{uri.partition('://')[0]}://' is not read; valid: package://, file:// or a path")
    return near.parent / uri


def _from_ament_index(package: str) -> Path | None:
    try:
        from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
    except ImportError:
        return None
    try:
        return Path(get_package_share_directory(package))
    except (PackageNotFoundError, ValueError, OSError):
        # Unknown package, invalid name, or no index (OSError: AMENT_PREFIX_PATH is not set).
        return None


def _from_package_path(package: str) -> Path | None:
    for entry in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep):
        if not entry:
            continue
        for candidate in (Path(entry), Path(entry) / package):
            if _package_name(candidate / _PACKAGE_MANIFEST) == package:
                return candidate
    return None


def _from_enclosing(package: str, near: Path) -> Path | None:
    for directory in near.parents:
        if _package_name(directory / _PACKAGE_MANIFEST) == package:
            return directory
    return next((directory for directory in near.parents if directory.name == package), None)


def _package_name(manifest: Path) -> str | None:
    try:
        if manifest.stat().st_size > _MANIFEST_BYTES_MAX:
            return None
        return (ElementTree.parse(manifest).getroot().findtext("name") or "").strip()
    except (OSError, ValueError, ElementTree.ParseError):
        return None
