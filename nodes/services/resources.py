"""Machines and worlds from URIs and texts, and lists of the available ones."""

import re
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from grouser import catalogue
from grouser.nodes.services.host import WorldEntry
from grouser.nodes.services.request_error import Reason, RequestError
from grouser.physics.base.errors import MachineError
from grouser.physics.description import load_machine, load_world, parse_machine, parse_world
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.text.packages import Packages
from grouser.physics.description.text.xacro import expand_xacro
from grouser.resources import PACKAGE, share_path

MACHINE_FORMATS = ("urdf", "xacro")
_MACHINE_ENDINGS = (".urdf", ".xacro", ".xml")
_WORLD_ENDINGS = (".yaml", ".yml")
_TEXT = "resource_string"  # name of a text in messages
_COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
_FIRST_ELEMENT = re.compile(r"<([A-Za-z_][\w.:-]*)")
_XACRO = re.compile(r"xmlns:xacro\s*=")
_SENTENCE = re.compile(r"(.+?)(?:[.:](?:\s|$)|$)")


def read_machine(uri: str, text: str, packages: Mapping[str, str] | None = None) -> Machine:
    """Reads a machine from a URI or, if that is empty, from the text of a URDF or xacro file.

    Args:
        uri: ``file://``, ``package://``, a path, or the name of a machine that comes with grouser.
        text: relative file names in it start at the working directory.
        packages: folders of ROS packages by name, as of `load_machine`.

    Raises:
        RequestError: it does not exist, has another format, or is not valid.
    """
    if uri:
        path = _locate(uri, catalogue.machine_file, _MACHINE_ENDINGS)
        return _read(lambda: load_machine(_checked(path), packages=packages))
    if not text:
        raise RequestError(Reason.NO_RESOURCE, "neither a uri nor a resource_string is given")
    _check_robot(text, _TEXT)
    return _read(lambda: _parsed(text, packages))


def read_world(uri: str, text: str, all_or_nothing: bool, without_assets: bool) -> WorldEntry:
    """Reads a world from a URI or, if that is empty, from the text of a world file.

    Args:
        uri: as for a machine.
        text: relative file names in it start at the working directory.
        all_or_nothing: whether unknown keys have a result code of their own.
        without_assets: whether to ignore missing or unsupported files, which is not supported.

    Raises:
        RequestError: as `read_machine`.
    """
    try:
        if uri:
            path = _locate(uri, catalogue.world_file, _WORLD_ENDINGS)
            return WorldEntry(_read(lambda: load_world(path)), uri)
        if not text:
            raise RequestError(Reason.NO_RESOURCE, "neither a uri nor a resource_string is given")
        if text.lstrip().startswith("<"):
            raise RequestError(Reason.UNSUPPORTED_FORMAT, "the resource_string is XML; a world file is YAML")
        return WorldEntry(_read(lambda: parse_world(text, _TEXT)), text=text)
    except RequestError as error:
        if error.reason is Reason.UNSUPPORTED_ELEMENTS and not all_or_nothing:
            raise RequestError(Reason.RESOURCE_PARSE_ERROR, str(error)) from None
        if error.reason in (Reason.MISSING_ASSETS, Reason.UNSUPPORTED_ASSETS) and without_assets:
            raise RequestError(Reason.FEATURE_UNSUPPORTED, f"a world needs all of its files: {error}") from None
        raise


def list_machines(sources: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Lists the available machines.

    Args:
        sources: further folders to search, as URIs.

    Returns:
        URI of each -> its description; and problems with sources.
    """
    found, problems = _list(catalogue.machine_files(), "urdf", sources, ("*.urdf", "*.xacro"))
    return {uri: _introduction(path) for uri, path in found.items()}, problems


def list_worlds(sources: Iterable[str]) -> tuple[list[WorldEntry], list[str]]:
    """Lists the available worlds and problems with sources; arguments as for `list_machines`."""
    found, problems = _list(catalogue.world_files(), "config/worlds", sources, ("*.yaml", "*.yml"))
    worlds = []
    for uri, path in found.items():
        try:
            worlds.append(WorldEntry(load_world(path), uri))
        except MachineError as error:
            problems.append(str(error))
    return worlds, problems


def uri_of(path: Path, folder: str) -> str:
    """URI of a file, with package:// for a file in this folder of the package."""
    home = share_path(folder).resolve()
    path = path.resolve()
    return f"package://{PACKAGE}/{folder}/{path.relative_to(home)}" if path.is_relative_to(home) else path.as_uri()


def _list(own: Iterable[Path], folder: str, sources: Iterable[str], patterns: tuple[str, ...]):
    found, problems = {uri_of(path, folder): path for path in own}, []
    for source in sources:
        try:
            place = _path(source)
        except RequestError as error:
            problems.append(str(error))
            continue
        if not place.is_dir():
            problems.append(f"{source}: no such folder")
            continue
        files = sorted({file for pattern in patterns for file in place.glob(pattern) if file.is_file()})
        found.update({uri_of(file, folder): file for file in files})
    return found, problems


def _introduction(path: Path) -> str:
    """The first sentence of the first comment of an XML file; empty without one."""
    try:
        comment = _COMMENT.search(path.read_text(errors="replace"))
    except OSError:
        return ""
    sentence = _SENTENCE.match(" ".join(comment.group(1).split())) if comment else None
    return sentence.group(1) if sentence else ""


def _locate(uri: str, by_name: Callable[[str], Path], endings: tuple[str, ...]) -> Path:
    """The file of a URI."""
    if "/" not in uri and not Path(uri).suffix:
        try:
            return by_name(uri)
        except MachineError as error:
            raise RequestError(Reason.NOT_FOUND, str(error)) from None
    path = _path(uri)
    if path.suffix.lower() not in endings:
        raise RequestError(Reason.UNSUPPORTED_FORMAT, f"{uri}: its name does not end in {', '.join(endings)}")
    if not path.is_file():
        raise RequestError(Reason.NOT_FOUND, f"{uri}: no such file")
    return path


def _path(uri: str) -> Path:
    scheme, separator, _ = uri.partition("://")
    if separator and scheme not in ("file", "package"):
        raise RequestError(
            Reason.UNSUPPORTED_FORMAT, f"{uri}: {scheme}:// is not read; valid: file://, package:// or a path"
        )
    # the package itself is found beside package.xml, without an index of packages
    near = share_path("package.xml") if uri.startswith(f"package://{PACKAGE}/") else Path.cwd() / _TEXT
    try:
        return Packages(near).resolve(uri)
    except LookupError as error:
        raise RequestError(Reason.NOT_FOUND, f"{uri}: {error.args[0]}") from None


def _checked(path: Path) -> Path:
    try:
        _check_robot(path.read_text(errors="replace"), str(path))
    except OSError as error:
        raise RequestError(Reason.NOT_FOUND, f"{path}: {error.strerror}") from None
    return path


def _check_robot(text: str, what: str) -> None:
    """Refuses XML that is not a URDF."""
    first = _FIRST_ELEMENT.search(_COMMENT.sub("", text))
    if first is not None and first.group(1) != "robot":
        raise RequestError(
            Reason.UNSUPPORTED_FORMAT, f"{what}: <{first.group(1)[:40]}> is not read; valid: a URDF's <robot>"
        )


def _parsed(text: str, packages: Mapping[str, str] | None) -> Machine:
    urdf = _expanded(text, Packages(_TEXT, packages)) if _XACRO.search(text) else text
    return parse_machine(urdf, _TEXT, packages=packages)


def _expanded(text: str, packages: Packages) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=".xacro", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        return expand_xacro(Path(file.name), {}, packages).text


def _read(read: Callable):
    try:
        return read()
    except MachineError as error:
        raise RequestError(_reason(error), str(error)) from None


def _reason(error: MachineError) -> Reason:
    """Result code for a description that cannot be loaded."""
    element = error.element or ""
    if element.startswith("<mesh") or element.endswith(" file"):
        missing = any(word in error.problem for word in ("not found", "no such file"))
        return Reason.MISSING_ASSETS if missing else Reason.UNSUPPORTED_ASSETS
    if error.problem.startswith("unknown key"):
        return Reason.UNSUPPORTED_ELEMENTS
    return Reason.RESOURCE_PARSE_ERROR
