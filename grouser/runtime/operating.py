"""Operator control: actuator commands from joystick input and a control mapping.

Two rules prevent unexpected motion. Both are those of radio remote controls for machines, where the second is called
zero-position monitoring; ISO 13849-1 has the same requirement for a machine's restart:

- *Pressing* the dead-man button enables motion; a button that is already down does not. Releasing it, silence, an
  invalid message, the emergency stop or a new mapping disables motion until the button is pressed again.
- A lever is active once it has been *in neutral* since motion was enabled or its mode was selected. A lever that was
  out of neutral then has no effect.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grouser.runtime.control_mapping import ControlMapping


@dataclass(frozen=True)
class JoystickState:
    """Input of a joystick.

    Attributes:
        axes: in [-1, 1], positive to the left and forward.
        buttons: 1 where pressed.
    """

    axes: tuple[float, ...]
    buttons: tuple[int, ...]


@dataclass(frozen=True)
class Commands:
    """Commands of all actuators of the mapping, by name.

    Attributes:
        valves: spool commands in [-1, 1].
        velocities: of joints [rad/s or m/s].
        efforts: of joints [N m or N].
        twist: speeds forward and to the left [m/s] and yaw rate [rad/s]; None for a mapping without one.
        tip: speeds of a tip's reach and height [m/s] and attitude [rad/s]; None for a mapping without one.
        position_speeds: of the targets of joints in position mode [rad/s or m/s].
    """

    valves: dict[str, float]
    velocities: dict[str, float]
    efforts: dict[str, float]
    twist: tuple[float, float, float] | None
    tip: tuple[float, float, float] | None = None
    position_speeds: Mapping[str, float] = field(default_factory=dict)


class Operating:
    """An operator at a joystick. All times are of one steady clock [s].

    Args:
        pattern: functions of levers and buttons.
        patience: longest silence of the joystick [s].

    Attributes:
        pattern, patience: as given.
        enabled: whether motion is enabled.
        emergency_stop: whether the emergency stop button has been pressed, until motion is enabled again.
        mode: name of the selected mode; "" for a mapping with a single one.
        speed_range: index of the selected speed range.
    """

    def __init__(self, pattern: ControlMapping, patience: float) -> None:
        self.patience = patience
        self.emergency_stop = False
        self._joystick: JoystickState | None = None
        self._received_at = 0.0
        self._now = 0.0
        self.use(pattern)

    def use(self, pattern: ControlMapping) -> None:
        """Switches to a mapping, in neutral."""
        self.pattern = pattern
        self.mode = pattern.modes[0][0] if pattern.modes else ""
        self.speed_range = pattern.first_range
        self.stop()

    def receive(self, axes: Sequence[float], buttons: Sequence[int], now: float) -> None:
        """Takes joystick input.

        Raises:
            ParameterError: it is not valid, see `ControlMapping.check`. All commands are neutral then; a pressed
                emergency stop button takes effect nevertheless.
        """
        self.advance(now)  # first, so that a silence is noticed even if `advance` was not called meanwhile
        stop = self.pattern.emergency_stop_button
        stopped = stop is not None and stop < len(buttons) and buttons[stop] != 0
        if stopped:
            self.stop_machine()
        try:
            self.pattern.check(axes, buttons)
        except ValueError:
            self.stop()
            raise
        before, self._joystick, self._received_at = self._joystick, JoystickState(tuple(axes), tuple(buttons)), now
        if not buttons[self.pattern.dead_man_button]:
            self._rest()
        if before is not None:
            self._press([new > old for new, old in zip(buttons, before.buttons, strict=False)], stopped)
        self._arm()

    def stop_machine(self) -> None:
        """Emergency stop: as if its button were pressed."""
        self.emergency_stop = True
        self._rest()

    def advance(self, now: float) -> None:
        """Advances the commands to a time: towards the levers' positions, or to neutral after a silence."""
        elapsed, self._now = now - self._now, now
        if self._joystick is None or now - self._received_at > self.patience:
            self.stop()
            return
        share = self.pattern.speed_ranges[self.speed_range][1]
        for index, lever in enumerate(self.pattern.levers):
            if self._armed[index]:
                wanted = share * lever.deflection(self._joystick.axes, self._joystick.buttons)
                most = lever.rate * elapsed
                self._levels[index] += min(max(wanted - self._levels[index], -most), most)

    def stop(self) -> None:
        """Sets all commands to neutral and clears the input: buttons must be released before they count as pressed."""
        self._joystick = None
        self._rest()

    def commands(self) -> Commands:
        """Commands of the actuators; levers of the same actuator add up."""
        totals: dict[tuple[str, str], float] = {}
        for lever, level in zip(self.pattern.levers, self._levels, strict=True):
            key = lever.kind, lever.actuator
            totals[key] = totals.get(key, 0.0) + lever.scale * level

        def of(kind: str) -> dict[str, float]:
            return {name: value for (its_kind, name), value in totals.items() if its_kind == kind}

        twist = {"x": 0.0, "y": 0.0, "yaw": 0.0, "curvature": 0.0, **of("twist")}
        tip = {"reach": 0.0, "height": 0.0, "attitude": 0.0, **of("tip")}
        yaw_rate = twist["yaw"] + twist["curvature"] * twist["x"]
        return Commands(
            valves={name: min(max(value, -1.0), 1.0) for name, value in of("valve").items()},
            velocities=of("velocity"),
            efforts=of("effort"),
            twist=(twist["x"], twist["y"], yaw_rate) if of("twist") else None,
            tip=None if self.pattern.tip is None else (tip["reach"], tip["height"], tip["attitude"]),
            position_speeds=of("position"),
        )

    def _rest(self) -> None:
        self.enabled = False
        self._armed = [False] * len(self.pattern.levers)
        self._levels = [0.0] * len(self.pattern.levers)

    def _press(self, pressed: Sequence[bool], stopped: bool) -> None:
        """Carries out the functions of newly pressed buttons."""
        pattern = self.pattern
        if pressed[pattern.dead_man_button] and not stopped:
            self.enabled = True
            self.emergency_stop = False
        for mode, mode_button in pattern.modes:
            if pressed[mode_button] and mode != self.mode:
                self.mode = mode
                for index, lever in enumerate(pattern.levers):
                    if lever.mode:
                        self._armed[index], self._levels[index] = False, 0.0
        for button, way in ((pattern.slower_button, -1), (pattern.faster_button, 1)):
            if button is not None and pressed[button]:
                self.speed_range = min(max(self.speed_range + way, 0), len(pattern.speed_ranges) - 1)

    def _arm(self) -> None:
        """Activates the levers that are in neutral."""
        if not self.enabled or self._joystick is None:
            return
        for index, lever in enumerate(self.pattern.levers):
            if lever.mode in ("", self.mode) and lever.deflection(self._joystick.axes, self._joystick.buttons) == 0.0:
                self._armed[index] = True
