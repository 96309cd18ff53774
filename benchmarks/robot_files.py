"""Robots of the package example-robot-data, which the extra `robots` installs."""

from importlib import metadata
from pathlib import Path

from grouser.benchmarks.figure import SkippedError

PACKAGE = "example-robot-data"
_SHARE = Path("cmeel.prefix", "share", PACKAGE, "robots")  # where the wheel has it, beside the Python packages


def robots_folder() -> Path:
    """The folder of the package's robots.

    Raises:
        SkippedError: the package is not installed.
    """
    try:
        folder = Path(str(metadata.distribution(PACKAGE).locate_file(_SHARE)))
    except metadata.PackageNotFoundError:
        folder = None
    if folder is None or not folder.is_dir():
        raise SkippedError(f'needs the robots of {PACKAGE}: pip install "grouser[robots]"')
    return folder


def package_version() -> str:
    """Version of the installed package."""
    return metadata.version(PACKAGE)
