"""Packages that only some work needs."""

from importlib import import_module
from typing import Any

from grouser.physics.base.errors import ParameterError


def require_package(module: str, extra: str, purpose: str) -> Any:
    """Imports a module of a package that comes with an extra.

    Args:
        module: its name.
        extra: of `pip install "grouser[extra]"`, which brings the package.
        purpose: what needs it, for the message.

    Raises:
        ParameterError: the package is not installed; the message has the remedy.
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] != package:
            raise
        valid = f'possible after pip install "grouser[{extra}]"'
        raise ParameterError(purpose, f"without the Python package {package}", valid) from None
