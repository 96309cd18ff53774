"""The transport of a bridge to an FMU: each outgoing message is a step, and its outputs are the incoming one."""

import threading
import time
from collections.abc import Mapping

from grouser.bridges.fmu.description import FmuDescription
from grouser.bridges.fmu.process import FmuDiscardedError, FmuFailedError, FmuProcess
from grouser.bridges.fmu.schema import FmuInterface
from grouser.bridges.mapping.data import BridgeMapping
from grouser.bridges.messages import Received, Sink
from grouser.bridges.receiving import tell_of_failures
from grouser.bridges.transport import Transport, TransportError
from grouser.physics.base.errors import ParameterError


class FmuTransport:
    """Steps an FMU; a failed one is started anew by whoever keeps the transport open.

    A step that is discarded is a refused message. Everything else that is not a step made in time breaks the transport.

    Args:
        mapping: of an FMU's bridge.
    """

    def __init__(self, mapping: BridgeMapping):
        self._interface: FmuInterface = mapping.interface
        self._fmu: FmuDescription = mapping.interface.fmu
        (self._outgoing,), (self._incoming,) = mapping.outgoing, mapping.incoming
        self._inputs = [signal.field for signal in self._outgoing.signals]
        self._outputs = list(dict.fromkeys(signal.field for signal in self._incoming.signals))
        self._attention = threading.Condition()
        self._waiting: list[float] | None = None
        self._ending = False
        self._cancelled = threading.Event()
        self._process: FmuProcess | None = None
        self._thread: threading.Thread | None = None

    def open(self, sink: Sink) -> None:
        """See `Transport`: loads and initializes the FMU."""
        interface = self._interface
        try:
            process = FmuProcess(
                self._fmu,
                self._inputs,
                self._outputs,
                interface.parameters,
                interface.deadline,
                start_deadline=interface.start_deadline,
                cancelled=self._cancelled,
            )
        except FmuFailedError as error:
            raise TransportError(f"FMU {self._fmu.file.name}: {error}") from None
        self._process, self._waiting, self._ending = process, None, False
        told = (
            *(lambda: self._run(process, sink), sink, (FmuFailedError,)),
            lambda error: f"FMU {self._fmu.file.name}: {error}",
        )
        self._thread = threading.Thread(target=tell_of_failures, args=told, name="fmu", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """See `Transport`."""
        self._cancelled.set()

    def close(self) -> None:
        """See `Transport`."""
        if self._process is None or self._thread is None:
            return
        with self._attention:
            self._ending = True
            self._attention.notify()
        self._thread.join()
        self._process.close()
        self._process = self._thread = None

    def send(self, message: str, values: Mapping[str, float]) -> bool:
        """See `Transport`: leaves the inputs of the next step; a later message replaces those of a step not begun."""
        if self._process is None:
            raise TransportError("the FMU is closed")
        inputs = [values[name] for name in self._inputs]
        if any(value != value for value in inputs):  # NaN: FMI has no code for it
            return False
        with self._attention:
            self._waiting = inputs
            self._attention.notify()
        return True

    def _run(self, process: FmuProcess, sink: Sink) -> None:
        step, done = self._outgoing.period, 0
        while True:
            with self._attention:
                while self._waiting is None and not self._ending:
                    self._attention.wait()
                if self._ending:
                    return
                inputs, self._waiting = self._waiting or [], None
            try:
                outputs = process.step(done * step, step, inputs)
            except FmuDiscardedError:
                sink.receive(Received(self._incoming.name, time.monotonic(), refusal="discarded"))
                continue
            done += 1
            values = dict(zip(self._outputs, outputs, strict=True))
            sink.receive(Received(self._incoming.name, time.monotonic(), values))


def make_transport(mapping: BridgeMapping) -> Transport:
    """Returns the transport of a mapping; it is not open.

    Raises:
        ParameterError: the mapping names no FMU.
    """
    if mapping.interface.fmu is None:
        raise ParameterError("interface", "{}", "{fmu: FILE}; without it a mapping is for `grouser fmu` only")
    return FmuTransport(mapping)
