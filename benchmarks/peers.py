"""The programs of comparison, and the machines for both."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

from grouser.benchmarks.figure import SkippedError
from grouser.resources import share_path


def require(module: str, source: str = "the test packages: make setup") -> ModuleType:
    """Imports a peer.

    Args:
        module: its name.
        source: what it comes with, for the message.

    Raises:
        SkippedError: it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise SkippedError(f"needs {module}, which comes with {source} ({error})") from None


def source_file(*parts: str) -> Path:
    """A file of the source tree, which an installation does not have.

    Raises:
        SkippedError: there is no source tree.
    """
    try:
        return share_path(*parts)
    except FileNotFoundError:
        raise SkippedError(f"needs {'/'.join(parts)} of grouser's sources") from None
