"""FUNCTION: a block of the user, in Python."""

import importlib
import importlib.util
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from grouser.function_blocks.block import TRUTH, Block, BlockError, BlockType, Port, refuse_rest

_KEYS = ("in", "function", "outputs")
_TRUTH = "truth"


def _make(parameters: dict[str, Any], wired: Sequence[str]) -> Block:
    given = parameters.pop("function", None)
    outputs = parameters.pop("outputs", {"OUT": "-"})
    refuse_rest(parameters, _KEYS)
    if not isinstance(outputs, dict) or not outputs:
        raise BlockError("outputs is no mapping", "write outputs: {angle: rad, ready: truth}: names and units")
    function = given if callable(given) else _load(given)
    ports = {str(name): TRUTH if unit == _TRUTH else Port(unit=str(unit)) for name, unit in outputs.items()}
    inputs = {name: Port(truth=None) for name in wired}
    return Block("FUNCTION", inputs, ports, lambda: _caller(function, list(wired), ports))


def _caller(function: Callable[..., Any], names: Sequence[str], outputs: Mapping[str, Port]) -> Callable[..., Any]:
    """Calls a function, or the instance of a class that is made now, by the names of its inputs."""
    called: Any = function() if inspect.isclass(function) else function
    timed = "interval" in inspect.signature(called).parameters

    def call(interval: float, *inputs: Any) -> list[Any]:
        more = {"interval": interval} if timed else {}
        result = called(**dict(zip(names, inputs, strict=True)), **more)
        values = result if isinstance(result, Mapping) else {next(iter(outputs)): result}
        if set(values) != set(outputs):
            raise BlockError(f"it returned {', '.join(values)}; its outputs are {', '.join(outputs)}")
        return [bool(values[name]) if port.truth else float(values[name]) for name, port in outputs.items()]

    return call


def _load(text: Any) -> Callable[..., Any]:
    """The function of ``module:function`` or ``folder/file.py:function``."""
    place, colon, name = str(text).rpartition(":")
    if not colon or not name.isidentifier():
        raise BlockError(f"function is {text!r}", "write function: file.py:name, or module:name")
    try:
        if place.endswith(".py"):
            spec = importlib.util.spec_from_file_location(Path(place).stem, place)
            assert spec and spec.loader
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(place)
    except Exception as error:  # whatever the user's file does
        raise BlockError(f"{place} cannot be loaded: {type(error).__name__}: {error}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise BlockError(f"{place} has no function {name}")
    return function


BLOCKS = (BlockType("FUNCTION", "a function or class of yours, called by the names of its inputs", _KEYS, _make),)
