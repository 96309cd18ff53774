"""An FMU in this process: for FMUs of one's own, to measure what isolation costs. A bridge never uses it."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence

from fmpy import extract
from fmpy.fmi1 import FMICallException

from grouser.bridges.fmu.description import FmuDescription
from grouser.bridges.fmu.process import FmuDiscardedError, FmuFailedError, failure_of, make_work
from grouser.bridges.fmu.wire import Status
from grouser.bridges.fmu.worker import Fmu


class LocalFmu:
    """As `FmuProcess`, without another process and without a deadline."""

    def __init__(
        self,
        description: FmuDescription,
        inputs: Sequence[str],
        outputs: Sequence[str],
        parameters: Mapping[str, float],
    ):
        self._outputs = tuple(outputs)
        self._folder = tempfile.mkdtemp(prefix="grouser_fmu_")
        extract(str(description.file), self._folder)
        try:
            self._fmu = Fmu(make_work(description, inputs, outputs, parameters, self._folder, 0.0))
        except FMICallException as error:
            raise FmuFailedError(str(error)) from None

    def step(self, time: float, step: float, inputs: Sequence[float]) -> Sequence[float]:
        """See `FmuProcess`."""
        status, outputs = self._fmu.step(time, step, inputs)
        if status is Status.DISCARDED:
            raise FmuDiscardedError("it discarded the step")
        if reason := failure_of(status, self._outputs if outputs else (), outputs):
            raise FmuFailedError(reason)
        return outputs

    def close(self) -> None:
        """Removes its files."""
        shutil.rmtree(self._folder, ignore_errors=True)
