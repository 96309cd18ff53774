"""What an operator's hands command: from what a joystick says, by a pattern, to what actuators are told. No ROS here.

Nothing starts by itself. Two rules see to it, both those of radio remote controls for machines, where the second is
called zero-position monitoring; ISO 13849-1 asks for as much of a machine's restart:

- Motion is enabled by *pressing* the dead-man button, not by its being down. Whatever stops it (letting go, silence, a
  message that is not valid, the emergency stop, another pattern) ends the enabling, and a button that was down all the
  time does not bring it back.
- A lever moves its actuator once it has been *in neutral* since it got hold of it, by the enabling or by a change of
  mode. One that was out of neutral then stays without effect.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from grouser.runtime.control_mapping import Pattern


@dataclass(frozen=True)
class Sample:
    """What a joystick said.

    Attributes:
        axes: in [-1, 1], positive to the left and ahead.
        buttons: 1 where pressed.
    """

    axes: tuple[float, ...]
    buttons: tuple[int, ...]


@dataclass(frozen=True)
class Commands:
    """What actuators are told, by name; all that the pattern has.

    Attributes:
        valves: spool commands in [-1, 1].
        velocities: of joints [rad/s or m/s].
        efforts: of joints [N m or N].
        twist: speeds forward and to the left [m/s] and yaw rate [rad/s]; None where the pattern has none.
    """

    valves: dict[str, float]
    velocities: dict[str, float]
    efforts: dict[str, float]
    twist: tuple[float, float, float] | None


class Operating:
    """An operator at a joystick. All times are of one steady clock [s].

    Args:
        pattern: what levers and buttons do.
        patience: longest silence of the joystick [s].

    Attributes:
        pattern, patience: as given.
        enabled: whether the dead-man button has been pressed and nothing has stopped the motion since.
        emergency_stop: whether the emergency stop button has been pressed, until motion is enabled again.
        mode: name of the mode that levers work in; "" where the pattern has none.
        speed_range: number of the speed range.
    """

    def __init__(self, pattern: Pattern, patience: float) -> None:
        self.patience = patience
        self.emergency_stop = False
        self._sample: Sample | None = None
        self._heard = 0.0
        self._now = 0.0
        self.use(pattern)

    def use(self, pattern: Pattern) -> None:
        """Begins with a pattern, in neutral."""
        self.pattern = pattern
        self.mode = pattern.modes[0][0] if pattern.modes else ""
        self.speed_range = pattern.first_range
        self.stop()

    def hear(self, axes: Sequence[float], buttons: Sequence[int], now: float) -> None:
        """Takes what the joystick says.

        Raises:
            ParameterError: it is not valid, see `Pattern.check`; all is in neutral then, and an emergency stop button
                that it shows as pressed has been heard nevertheless.
        """
        self.advance(now)  # first, so that a silence is one even if nobody looked meanwhile
        stop = self.pattern.emergency_stop_button
        stopped = stop is not None and stop < len(buttons) and buttons[stop] != 0
        if stopped:
            self.emergency_stop = True
            self._rest()
        try:
            self.pattern.check(axes, buttons)
        except ValueError:
            self.stop()
            raise
        before, self._sample, self._heard = self._sample, Sample(tuple(axes), tuple(buttons)), now
        if not buttons[self.pattern.dead_man_button]:
            self._rest()
        if before is not None:
            self._press([new > old for new, old in zip(buttons, before.buttons, strict=False)], stopped)
        self._arm()

    def advance(self, now: float) -> None:
        """Moves the commands on to a time: towards where the levers are, or to neutral after a silence."""
        elapsed, self._now = now - self._now, now
        if self._sample is None or now - self._heard > self.patience:
            self.stop()
            return
        share = self.pattern.speed_ranges[self.speed_range][1]
        for index, lever in enumerate(self.pattern.levers):
            if self._armed[index]:
                wanted = share * lever.deflection(self._sample.axes, self._sample.buttons)
                most = lever.rate * elapsed
                self._levels[index] += min(max(wanted - self._levels[index], -most), most)

    def stop(self) -> None:
        """Puts all in neutral and forgets what was heard: buttons that are down are not pressed until they were up."""
        self._sample = None
        self._rest()

    def commands(self) -> Commands:
        """What the actuators are told now; levers of the same actuator add up."""
        totals: dict[tuple[str, str], float] = {}
        for lever, level in zip(self.pattern.levers, self._levels, strict=True):
            key = lever.kind, lever.actuator
            totals[key] = totals.get(key, 0.0) + lever.scale * level

        def of(kind: str) -> dict[str, float]:
            return {name: value for (its_kind, name), value in totals.items() if its_kind == kind}

        twist = {"x": 0.0, "y": 0.0, "yaw": 0.0, "curvature": 0.0, **of("twist")}
        yaw_rate = twist["yaw"] + twist["curvature"] * twist["x"]
        return Commands(
            valves={name: min(max(value, -1.0), 1.0) for name, value in of("valve").items()},
            velocities=of("velocity"),
            efforts=of("effort"),
            twist=(twist["x"], twist["y"], yaw_rate) if of("twist") else None,
        )

    def _rest(self) -> None:
        self.enabled = False
        self._armed = [False] * len(self.pattern.levers)
        self._levels = [0.0] * len(self.pattern.levers)

    def _press(self, pressed: Sequence[bool], stopped: bool) -> None:
        """Does what buttons do that have just gone down."""
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
        """Lets those levers work that are in neutral."""
        if not self.enabled or self._sample is None:
            return
        for index, lever in enumerate(self.pattern.levers):
            if lever.mode in ("", self.mode) and lever.deflection(self._sample.axes, self._sample.buttons) == 0.0:
                self._armed[index] = True
