"""Finds and opens event devices by evdev."""

import fcntl
import os
from collections.abc import Collection
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

import evdev
import evdev.ff

from grouser.bridges.joystick.codes import AXES, BUTTONS, EV_ABS, EV_FF, EV_KEY, EV_MSC, MSC_TIMESTAMP
from grouser.bridges.joystick.device import DeviceIdentity, OpenDevice
from grouser.bridges.joystick.feedback import ForceFeedback
from grouser.bridges.joystick.fields import AxisRange
from grouser.bridges.joystick.schema import DeviceRule

INPUT_FOLDER = Path("/dev/input")
_BLUETOOTH = 0x05  # BUS_BLUETOOTH
_UPLOAD = 0x40304580  # EVIOCSFF, of a struct ff_effect of 48 bytes
# Words in names of receivers: their pads have a radio link although they are USB devices.
_RADIO_WORDS = ("wireless", "receiver", "dongle", "bluetooth")
# INPUT_PROP_POINTER, _DIRECT and _ACCELEROMETER: touchpads, tablets and screens, and what feels its own motion.
_OTHER_KINDS = {0x00, 0x01, 0x06}
# BTN_JOYSTICK to BTN_THUMBR.
_JOYSTICK_KEYS = range(0x120, 0x140)


class DeviceRefusedError(Exception):
    """A device fits a rule and is refused all the same; the text says why."""


def is_event_file(name: str) -> bool:
    """Whether a file of the folder is an event device."""
    return name.startswith("event")


def event_files(folder: Path) -> list[Path]:
    """Returns the event devices, by their numbers."""
    files = [file for file in folder.iterdir() if is_event_file(file.name)]
    return sorted(files, key=lambda file: (len(file.name), file.name))


def open_device(file: Path, rule: DeviceRule) -> OpenDevice | None:
    """Opens a device if it fits a rule and is a joystick.

    Returns:
        The device; None if it is another one.

    Raises:
        OSError: it cannot be opened.
        DeviceRefusedError: its link cannot be judged, and the rule does not allow that.
    """
    device = evdev.InputDevice(str(file))
    identity = DeviceIdentity(
        str(file),
        device.name,
        device.info.vendor,
        device.info.product,
        device.info.bustype == _BLUETOOTH or any(word in device.name.lower() for word in _RADIO_WORDS),
        device.phys or "",
    )
    capabilities: dict[int, Any] = device.capabilities(absinfo=True)
    axes = dict(capabilities.get(EV_ABS, []))
    keys = capabilities.get(EV_KEY, [])
    if not fits(identity, rule) or not is_joystick(axes, keys, device.input_props(), rule.used):
        device.close()
        return None
    raw = _open_raw(file)

    def end() -> None:
        device.close()
        if raw is not None:
            os.close(raw)

    def ask() -> tuple[dict[int, int], set[int]]:
        return {code: device.absinfo(code).value for code in axes}, set(device.active_keys())

    opened = OpenDevice(
        identity=identity,
        descriptor=device.fd,
        ranges={code: AxisRange(info.min, info.max) for code, info in axes.items()},
        reports_time=MSC_TIMESTAMP in capabilities.get(EV_MSC, []),
        report_period=rule.report_period,
        ask=ask,
        raw=raw,
        trusted=rule.trusted,
        feedback=_feedback(device, capabilities.get(EV_FF, [])),
        end=end,
    )
    if identity.is_wireless and opened.liveness == "none" and not rule.allow_unjudged:
        end()
        raise DeviceRefusedError(
            f"{identity} is wireless, and a lost link looks like a still stick: plug in its cable, "
            f"or write allow_unjudged: true at device {rule.name}"
        )
    return opened


def fits(identity: DeviceIdentity, rule: DeviceRule) -> bool:
    """Whether a device is one that a rule names."""
    if rule.identity is not None and rule.identity != (identity.vendor, identity.product):
        return False
    if rule.port and not fnmatchcase(identity.port, rule.port):
        return False
    return not rule.pattern or fnmatchcase(identity.name, rule.pattern)


def is_joystick(
    axes: Collection[int], keys: Collection[int], properties: Collection[int], used: Collection[str]
) -> bool:
    """Whether a device with an axis is a joystick: by a button of one, or by all that the mapping uses.

    Args:
        axes, keys: codes that it has.
        properties: INPUT_PROP_... that it has.
        used: names of the axes and buttons that the mapping uses.
    """
    if not axes or not _OTHER_KINDS.isdisjoint(properties):
        return False
    if any(key in _JOYSTICK_KEYS for key in keys):
        return True
    return bool(used) and all(BUTTONS[name] in keys if name in BUTTONS else AXES[name] in axes for name in used)


def _feedback(device: evdev.InputDevice, kinds: Collection[int]) -> ForceFeedback | None:
    """The motors of a device; None where it has none, or where this user may not write to it."""
    if not kinds or not os.access(device.path, os.W_OK):
        return None
    return ForceFeedback(partial(_upload, device.fd), partial(os.write, device.fd), kinds)


def _upload(descriptor: int, effect: evdev.ff.Effect) -> int:
    """Gives an effect to a device; evdev's own function would stop all threads until the driver has it."""
    data = bytearray(bytes(effect))
    fcntl.ioctl(descriptor, _UPLOAD, data)
    return evdev.ff.Effect.from_buffer(data).id


def _open_raw(file: Path) -> int | None:
    """Opens the raw device of the same hardware, which has every report unfiltered; None where there is none."""
    folder = Path("/sys/class/input") / file.name / "device" / "device" / "hidraw"
    try:
        name = next(iter(sorted(one.name for one in folder.iterdir())), None)
        return None if name is None else os.open(f"/dev/{name}", os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
