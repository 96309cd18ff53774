"""Paths of the package's files: machines, worlds, configuration, launch files."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "grouser"


def share_path(*parts: str) -> Path:
    """Find a file or folder of the package's share folder, for example `share_path("urdf", "machine.urdf.xacro")`.

    In a checkout of the sources it is the file there, otherwise the installed one.

    Args:
        parts: the path below the share folder, which is laid out like the top of the sources.

    Raises:
        FileNotFoundError: no such file; the message lists the folders searched.
    """
    tried = []
    for root in _share_folders():
        path = root.joinpath(*parts)
        if path.exists():
            return path
        tried.append(str(root))
    raise FileNotFoundError(f"{Path(*parts)} does not come with {PACKAGE}; looked in {', '.join(tried) or 'no folder'}")


def _share_folders() -> Iterator[Path]:
    """Folders that may hold the package's files, best first."""
    module = Path(__file__).resolve()
    sources = module.parent.parent
    if (sources / "package.xml").is_file():
        yield sources
    # <prefix>/lib/python3.x/site-packages/grouser/resources.py, or <prefix>/local/lib/… on Debian
    prefixes = [*module.parents[4:6], Path(sys.prefix)]
    prefixes += [Path(entry) for entry in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if entry]
    for prefix in prefixes:
        folder = prefix / "share" / PACKAGE
        if (folder / "package.xml").is_file():
            yield folder
