"""Force feedback: measurements of the machine as effects of a joystick's motors (linux/input.h, `struct ff_effect`)."""

import math
from collections.abc import Callable, Collection, Mapping

from evdev import ff

from grouser.bridges.joystick.codes import EV_FF, FF_CONSTANT, FF_RUMBLE
from grouser.bridges.joystick.events import EVENT
from grouser.bridges.joystick.fields import FORCES, RUMBLES

_LARGEST_MAGNITUDE = 0xFFFF
_LARGEST_LEVEL = 0x7FFF
_LONGEST = 0x7FFF  # [ms]
_PERIODS = 3.0  # for which an effect goes on without a message
_SHORTEST = 0.1  # [s] of an effect: a motor does not follow faster


class ForceFeedback:
    """The motors of an open device.

    An effect lasts three periods of its message: a bridge that hangs or is killed lets go of the hand.

    Args:
        upload: gives an effect to the device, a new one with the number -1; returns its number, and raises OSError.
        write: writes an event; raises OSError.
        kinds: of effects that the device has: ``FF_RUMBLE``, ``FF_CONSTANT``.
    """

    def __init__(
        self, upload: Callable[[ff.Effect], int], write: Callable[[bytes], object], kinds: Collection[int]
    ) -> None:
        self._upload, self._write, self._kinds = upload, write, frozenset(kinds)
        self._numbers: dict[str, int] = {}  # effect -> its number in the device

    def lacks(self, fields: Collection[str]) -> list[str]:
        """Returns the fields that the device has no motor for."""
        return [name for name in fields if _kind(name) not in self._kinds]

    def play(self, values: Mapping[str, float], period: float) -> bool:
        """Plays the fields of a message.

        Args:
            values: field -> strength: of `RUMBLES` in [0, 1], of `FORCES` in [-1, 1].
            period: of the message [s].

        Returns:
            Whether it was played. False: a value is NaN, or the device has no such motor; nothing is played then.

        Raises:
            OSError: the device is gone, or has no room for another effect.
        """
        if self.lacks(values) or not all(map(math.isfinite, values.values())):
            return False
        milliseconds = min(round(1000.0 * max(_PERIODS * period, _SHORTEST)), _LONGEST)
        rumble = [values.get(name, 0.0) for name in RUMBLES]
        if not values.keys().isdisjoint(RUMBLES):
            strong, weak = (round(_LARGEST_MAGNITUDE * value) for value in rumble)
            self._start("rumble", FF_RUMBLE, 0, ff.EffectType(ff_rumble_effect=ff.Rumble(strong, weak)), milliseconds)
        for name, direction in FORCES.items():
            if name in values:
                constant = ff.Constant(round(_LARGEST_LEVEL * values[name]), ff.Envelope())
                self._start(name, FF_CONSTANT, direction, ff.EffectType(ff_constant_effect=constant), milliseconds)
        return True

    def _start(self, name: str, kind: int, direction: int, content: ff.EffectType, milliseconds: int) -> None:
        number = self._numbers.get(name, -1)
        effect = ff.Effect(kind, number, direction, ff.Trigger(0, 0), ff.Replay(milliseconds, 0), content)
        self._numbers[name] = number = self._upload(effect)
        self._write(EVENT.pack(0, 0, EV_FF, number, 1))


def _kind(name: str) -> int:
    return FF_RUMBLE if name in RUMBLES else FF_CONSTANT
