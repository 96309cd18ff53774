"""Decodes the bytes of an event device: whole reports only."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from grouser.bridges.joystick.codes import EV_ABS, EV_KEY, EV_MSC, EV_SYN, MSC_TIMESTAMP, SYN_DROPPED, SYN_REPORT

# struct input_event: seconds, microseconds, type, code, value.
EVENT = struct.Struct("@llHHi")


@dataclass(frozen=True)
class Report:
    """What changed at one instant.

    Attributes:
        axes: code -> raw value.
        buttons: code -> whether it is pressed.
        has_timestamp: whether MSC_TIMESTAMP came along, which a device that sends it says with every report.
        is_overflow: whether events before it were lost: axes and buttons are empty, and their values are to be asked.
    """

    axes: dict[int, int] = field(default_factory=dict)
    buttons: dict[int, bool] = field(default_factory=dict)
    has_timestamp: bool = False
    is_overflow: bool = False


class EventDecoder:
    """Makes reports of bytes, in pieces of any length.

    After SYN_DROPPED everything up to the next SYN_REPORT is thrown away.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._report = Report()
        self._dropping = False

    def feed(self, data: bytes) -> Iterator[Report]:
        """Takes bytes; returns the reports that they complete."""
        data = self._rest + data
        whole = len(data) - len(data) % EVENT.size
        self._rest = data[whole:]
        for _, _, kind, code, value in EVENT.iter_unpack(data[:whole]):
            if kind == EV_SYN:
                yield from self._synchronize(code)
            elif kind == EV_ABS:
                self._report.axes[code] = value
            elif kind == EV_KEY and value in (0, 1):  # 2: repeated by the kernel
                self._report.buttons[code] = value == 1
            elif kind == EV_MSC and code == MSC_TIMESTAMP:
                self._report = Report(self._report.axes, self._report.buttons, True)

    def _synchronize(self, code: int) -> Iterator[Report]:
        if code == SYN_DROPPED:
            self._dropping = True
        elif code == SYN_REPORT:
            report, self._report = self._report, Report()
            if self._dropping:
                self._dropping = False
                yield Report(has_timestamp=report.has_timestamp, is_overflow=True)
            else:
                yield report
