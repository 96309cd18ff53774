"""The process of an FMU: loads it and steps it for a bridge. Argument: the number of an inherited socket."""

import ctypes
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fmpy import extract, platform, platform_tuple
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave

from grouser.bridges.fmu.wire import LONGEST, READY, Status, pack_result, unpack_step

_DISCARD = 2  # status of FMI 2 and 3
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


def _is_true(value: float) -> bool:
    return round(value) != 0


# Of each type the functions that set and get it, of FMI 2 and of FMI 3, and the type that they take.
_ACCESS: dict[int, dict[str, tuple[str, Callable[[float], float]]]] = {
    2: {"Float64": ("Real", float), "Int32": ("Integer", round), "Boolean": ("Boolean", _is_true)},
    3: {
        "Float64": ("Float64", float),
        "Float32": ("Float32", float),
        "Int32": ("Int32", round),
        "Int64": ("Int64", round),
        "Boolean": ("Boolean", _is_true),
    },
}


class Variables:
    """Sets or gets variables, all of a type by one call.

    Args:
        fmu: instance.
        version: of FMI.
        listed: type and reference of each, in the order of the values.
    """

    def __init__(self, fmu: Any, version: int, listed: Sequence[tuple[str, int]]):
        self._count = len(listed)
        self._groups = []
        for kind in dict.fromkeys(kind for kind, _ in listed):
            places = [place for place, (other, _) in enumerate(listed) if other == kind]
            references = [listed[place][1] for place in places]
            name, convert = _ACCESS[version][kind]
            setter: Callable = getattr(fmu, f"set{name}")
            getter: Callable = getattr(fmu, f"get{name}")
            self._groups.append((places, references, convert, setter, getter))

    def set(self, values: Sequence[float]) -> None:
        """Sets all, in their order."""
        for places, references, convert, setter, _ in self._groups:
            setter(references, [convert(values[place]) for place in places])

    def get(self) -> list[float]:
        """Returns all, in their order."""
        values = [0.0] * self._count
        for places, references, _, _, getter in self._groups:
            for place, value in zip(places, getter(references), strict=True):
                values[place] = float(value)
        return values


class Fmu:
    """An FMU in this process, initialized.

    Args:
        work: `version`, `token`, `identifier`, `folder` with the extracted FMU, `start` [s], and the variables
            `inputs`, `outputs` (type, reference) and `parameters` (type, reference, value).

    Raises:
        FMICallException: it could not be initialized.
    """

    def __init__(self, work: Mapping[str, Any]):
        self._version = version = work["version"]
        make = FMU2Slave if version == 2 else FMU3Slave
        folder, identifier = work["folder"], work["identifier"]
        self._fmu = make("bridge", guid=work["token"], modelIdentifier=identifier, unzipDirectory=folder)
        self._fmu.instantiate()
        parameters = work["parameters"]
        Variables(self._fmu, version, [entry[:2] for entry in parameters]).set([entry[2] for entry in parameters])
        if version == 2:
            self._fmu.setupExperiment(startTime=work["start"])
            self._fmu.enterInitializationMode()
        else:
            self._fmu.enterInitializationMode(startTime=work["start"])
        self._fmu.exitInitializationMode()
        self._inputs = Variables(self._fmu, version, work["inputs"])
        self._outputs = Variables(self._fmu, version, work["outputs"])

    def step(self, time: float, step: float, inputs: Sequence[float]) -> tuple[Status, list[float]]:
        """Sets the inputs and makes a step; returns how it ended, and the outputs of one that is done.

        A step of 0 s sets nothing: it gets the outputs of the present state.
        """
        try:
            if step == 0.0:
                return Status.DONE, self._outputs.get()
            self._inputs.set(inputs)
            if self._version == 2:
                self._fmu.doStep(time, step)
                return Status.DONE, self._outputs.get()
            _, asks_to_end, is_early, _ = self._fmu.doStep(time, step)
            return (Status.FAILED, []) if asks_to_end or is_early else (Status.DONE, self._outputs.get())
        except FMICallException as error:
            return (Status.DISCARDED if error.status == _DISCARD else Status.FAILED), []

    def close(self) -> None:
        """Ends the simulation and frees the instance."""
        self._fmu.terminate()
        self._fmu.freeInstance()


def serve(connection: socket.socket, fmu: Fmu, work: Mapping[str, Any]) -> None:
    """Steps an FMU until the bridge closes its end."""
    inputs, nothing = len(work["inputs"]), [0.0] * len(work["outputs"])
    while message := connection.recv(LONGEST):
        status, outputs = fmu.step(*unpack_step(message, inputs))
        connection.send(pack_result(status, outputs or nothing))


def _require_library(folder: Path) -> None:
    platforms = sorted(found.name for found in folder.glob("binaries/*") if any(found.iterdir()))
    valid = (platform, platform_tuple)
    if not any(name in platforms for name in valid):
        raise ValueError(
            f"no library for this platform ({' or '.join(valid)}), only for {', '.join(platforms) or 'none'}"
        )


def main() -> None:
    """Takes the work, loads the FMU and serves."""
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    connection = socket.socket(fileno=int(sys.argv[1]))
    work = json.loads(connection.recv(LONGEST))
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what an FMU prints
    try:
        extract(work["file"], work["folder"])
        _require_library(Path(work["folder"]))
        fmu = Fmu(work)
    except Exception as error:  # noqa: BLE001 - whatever it is, the bridge tells it
        connection.send((str(error) or type(error).__name__).encode()[: LONGEST // 2])
        return
    connection.send(READY)
    serve(connection, fmu, work)
    fmu.close()


if __name__ == "__main__":
    main()
