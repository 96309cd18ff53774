"""An open joystick: its state from its events, and whether it is alive. It takes any file descriptor."""

import os
import select
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from grouser.bridges.joystick.events import EVENT, EventDecoder
from grouser.bridges.joystick.feedback import ForceFeedback
from grouser.bridges.joystick.fields import AxisRange

Liveness = Literal["timestamp", "raw", "none"]

_READ = 64 * EVENT.size
_PERIODS_OF_SILENCE = 3.0
_HANG_UP = select.POLLERR | select.POLLHUP | select.POLLNVAL


@dataclass(frozen=True)
class DeviceIdentity:
    """Which device it is.

    Attributes:
        path: its file.
        name: as it calls itself.
        vendor, product: numbers of its maker.
        is_wireless: whether it is known to have a radio link.
        port: where it is plugged in, as the kernel says: ``usb-0000:00:14.0-2.1/input0``; "" where it does not.
    """

    path: str
    name: str
    vendor: int
    product: int
    is_wireless: bool = False
    port: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.vendor:04x}:{self.product:04x}) at {self.path}"


@dataclass
class OpenDevice:
    """A joystick that is open.

    Its link is judged by what it sends even when nothing moves: by its timestamps, which come with every report, or by
    the reports of the raw device beside it. Else only its end is seen: a still stick and a lost link are alike.

    Attributes:
        identity: which it is.
        descriptor: of its events, non-blocking.
        ranges: code -> range of its axes.
        reports_time: whether it sends MSC_TIMESTAMP.
        report_period: see `DeviceRule` [s].
        ask: reads the present raw axes and pressed buttons from the device.
        raw: descriptor of the raw device beside it, non-blocking; None: none.
        trusted: whether what `ask` says at the start is a measurement.
        feedback: its motors; None: it has none.
        end: closes it.
        axes, buttons: what is known.
        heard: when it last gave a sign of life [s].
    """

    identity: DeviceIdentity
    descriptor: int
    ranges: Mapping[int, AxisRange]
    reports_time: bool
    report_period: float
    ask: Callable[[], tuple[dict[int, int], set[int]]]
    raw: int | None = None
    trusted: bool = False
    feedback: ForceFeedback | None = None
    end: Callable[[], None] = lambda: None
    axes: dict[int, int] = field(default_factory=dict)
    buttons: dict[int, bool] = field(default_factory=dict)
    heard: float = float("-inf")
    _decoder: EventDecoder = field(default_factory=EventDecoder)

    @property
    def liveness(self) -> Liveness:
        """How its link is judged."""
        if self.reports_time:
            return "timestamp"
        return "none" if self.raw is None else "raw"

    def begin(self, now: float) -> None:
        """Takes over what the device says of itself, if it is trusted; else an axis is unknown until it has moved."""
        self.heard = now
        if self.trusted:
            self.axes, pressed = self.ask()
            self.buttons = dict.fromkeys(pressed, True)

    def read(self, now: float) -> Iterator[None]:
        """Takes the events that are there; yields after each whole report, with the state as it was then.

        Raises:
            OSError: the device is gone.
        """
        try:
            data = os.read(self.descriptor, _READ)
        except BlockingIOError:
            return
        if not data:
            raise OSError("the device is gone")
        for report in self._decoder.feed(data):
            if report.has_timestamp or not self.reports_time:
                self.heard = now
            if report.is_overflow:
                self._recover()
            self.axes.update(report.axes)
            self.buttons.update(report.buttons)
            yield

    def read_raw(self, now: float) -> Iterator[None]:
        """Takes reports of the raw device, whose contents do not matter; yields nothing.

        Raises:
            OSError: the device is gone.
        """
        assert self.raw is not None
        try:
            if not os.read(self.raw, _READ):
                raise OSError("the device is gone")
        except BlockingIOError:
            return
        self.heard = now
        yield from ()

    def is_silent(self, now: float) -> bool:
        """Whether its link is lost, as far as it can be judged."""
        return self.liveness != "none" and now - self.heard > _PERIODS_OF_SILENCE * self.report_period

    def _recover(self) -> None:
        """Reads the state again after events were lost: of axes that have moved, and of all buttons."""
        axes, pressed = self.ask()
        self.axes.update({code: value for code, value in axes.items() if code in self.axes})
        self.buttons = dict.fromkeys(pressed, True)


def is_gone(happened: int) -> bool:
    """Whether poll's answer says that a device is gone."""
    return bool(happened & _HANG_UP)
