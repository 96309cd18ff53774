"""From the hands at many browsers to the levers of one machine."""

from collections.abc import Hashable

from grouser.nodes.viewer.page.protocol import Hands, ProtocolError
from grouser.runtime.machine_levers import MachineLevers


class Helm:
    """Who commands the machine: one browser at a time, the first that enables motion.

    Args:
        timeout: silence after which a browser no longer commands [s].

    Attributes:
        holder: the browser that commands; None: nobody.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._heard_at = 0.0
        self.holder: Hashable | None = None

    def take(self, browser: Hashable, enable: bool, now: float) -> bool:
        """Whether what these hands do counts.

        Args:
            browser: that speaks.
            enable: whether it enables motion.
            now: time of a steady clock [s].
        """
        if self.holder is not None and now - self._heard_at > self._timeout:
            self.holder = None
        if self.holder not in (None, browser):
            return False
        self.holder = browser if enable else None
        self._heard_at = now
        return True

    def leave(self, browser: Hashable) -> bool:
        """Takes leave of a browser; returns whether it commanded."""
        if self.holder != browser:
            return False
        self.holder = None
        return True


def joystick_of(hands: Hands, levers: MachineLevers) -> tuple[list[float], list[int]]:
    """Axes and buttons of a joystick with all these levers.

    The dead man's button of a game controller is not among its buttons: `Hands.enable` stands for it.

    Raises:
        ProtocolError: there is no such slider.
    """
    axes = [0.0] * levers.axes
    first = min([levers.axes, *levers.sliders.values(), *([levers.ahead] if levers.ahead is not None else [])])
    for number, value in enumerate(hands.axes[:first]):
        axes[number] = value
    numbers = {slider.actuator: axis for slider, axis in levers.sliders.items()}
    for actuator, value in hands.sliders.items():
        if actuator not in numbers:
            raise ProtocolError(f"there is no slider {actuator!r}; there are {', '.join(numbers) or 'none'}")
        axes[numbers[actuator]] = value
    if levers.ahead is not None and levers.left is not None:
        axes[levers.ahead], axes[levers.left] = hands.ahead, hands.left
    buttons = [int(number in hands.buttons) for number in range(levers.buttons)]
    buttons[levers.mapping.dead_man_button] = int(hands.enable)
    return axes, buttons
