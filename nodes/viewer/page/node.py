"""The ROS side of the page: a node that commands the machine as the page's users do, and knows what can be moved."""

from collections.abc import Mapping
from time import monotonic
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped

from grouser import catalogue
from grouser.nodes.operator.commander import Commander, load_pattern
from grouser.nodes.shared import messages, topics
from grouser.nodes.viewer.pushing import Wrench
from grouser.physics.base.errors import GrouserError
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.elements.hydraulics.circuit import PORTS
from grouser.runtime.control_mapping import ControlMapping, Lever
from grouser.runtime.control_mapping_reader import load_control_mapping
from grouser.runtime.machine_levers import MachineLevers, extended, fits

NO_PATTERN = ""  # the sliders alone
_RATE = 50.0  # of the commands [Hz of wall time]
# A simulator is no longer taken to be there after so many of the periods of its /diagnostics, and so long [s].
_MISSED, _SILENCE = 3.0, 5.0
# How the names of diagnostic statuses end.
_PACE, _COMMANDS, _REPLAY, _RECORDING = ": pace", ": commands", ": replay", ": recording"
NOTHING: Wrench = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


class PageNode(Commander):
    """Commands the machine as the hands at the page say, by the rules of `docs/operator.md`.

    Args:
        timeout: silence of the page after which all is in neutral [s of wall time].
        stamped: whether cmd_vel is a TwistStamped.
        frame: that a TwistStamped names.

    Attributes:
        levers: of the present machine and pattern; None before there is a machine.
        pattern: name of the present one; `NO_PATTERN`: the sliders alone.
        machine: the present one.
        revision: changes with the machine and the pattern.
    """

    def __init__(self, timeout: float, stamped: bool, frame: str) -> None:
        super().__init__("page", "the page")
        self.begin(ControlMapping((), 0), None, rate=_RATE, timeout=timeout, stamped=stamped, frame=frame)
        self.levers: MachineLevers | None = None
        self.machine: Machine | None = None
        self.pattern = NO_PATTERN
        self.revision = 0
        self._patterns: list[str] = []
        self._pushes: Mapping[str, Wrench] = {}  # by the frames of what is pushed
        self._push = self.create_publisher(WrenchStamped, topics.PUSH, topics.RELIABLE)
        self._push_ticks = self.create_timer(1.0 / _RATE, self._publish_pushes, clock=self._steady)
        self._push_ticks.cancel()
        self._statuses: dict[str, DiagnosticStatus] = {}
        self._heard_at, self._period = monotonic(), 0.0  # of /diagnostics [s of wall time]
        self.create_subscription(DiagnosticArray, topics.DIAGNOSTICS, self._on_diagnostics, topics.RELIABLE)

    def show(self, machine: Machine) -> None:
        """Commands another machine, by the first pattern that fits it."""
        self.machine = machine
        self._patterns = sorted(_fitting_patterns(machine), key=lambda name: not name.startswith(machine.name))
        self._take(self._patterns[0] if self._patterns else NO_PATTERN)

    def choose(self, name: str) -> None:
        """Takes another pattern, in neutral.

        Raises:
            GrouserError: it cannot be read.
        """
        if name not in (*self._patterns, NO_PATTERN):
            raise GrouserError(f"no pattern {name!r} for this machine; there are {', '.join(self._patterns) or 'none'}")
        self._take(name)

    def _take(self, name: str) -> None:
        assert self.machine is not None
        pattern, tip = load_pattern(name) if name else (None, None)
        self.levers = extended(pattern, self.machine)
        self.pattern = name
        self.revision += 1
        self.use(self.levers.mapping, tip, self.levers.limits)

    def push(self, pushes: Mapping[str, Wrench]) -> None:
        """Pushes these links, again and again until the next call, and no others.

        Args:
            pushes: frame of each link -> force [N] and moment about its origin [N m], along its axes.
        """
        ended = self._pushes.keys() - pushes.keys()
        self._pushes = pushes
        now = self.get_clock().now().nanoseconds
        for frame in ended:
            self._push.publish(messages.make_push(frame, now, *NOTHING))
        self._publish_pushes()
        if not pushes:
            self._push_ticks.cancel()
        elif self._push_ticks.is_canceled():
            self._push_ticks.reset()

    def _publish_pushes(self) -> None:
        now = self.get_clock().now().nanoseconds
        for frame, wrench in self._pushes.items():
            self._push.publish(messages.make_push(frame, now, *wrench))

    def finish(self) -> None:
        """Ends the pushes, and leaves the machine in neutral."""
        self.push({})
        super().finish()

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            for ending in (_PACE, _COMMANDS, _REPLAY, _RECORDING):
                if status.name.endswith(ending):
                    self._statuses[ending] = status
        if any(status.name.endswith(_PACE) for status in message.status):
            now = monotonic()
            self._heard_at, self._period = now, now - self._heard_at
            for passing in (_REPLAY, _RECORDING):
                if not any(status.name.endswith(passing) for status in message.status):
                    self._statuses.pop(passing, None)
        if len(message.status) == 1:  # while the simulation is being built there is no more
            self._statuses.pop(_COMMANDS, None)

    def description(self) -> dict[str, Any]:
        """What can be moved, and how, for the page."""
        if self.levers is None or self.machine is None:
            return {"machine": "", "pattern": "", "patterns": [], "sliders": [], "levers": [], "modes": []}
        mapping, levers = self.levers.mapping, self.levers
        extra = {*levers.sliders.values(), levers.ahead, levers.left}
        return {
            "machine": self.machine.name,
            "pattern": self.pattern,
            "patterns": self._patterns,
            "sliders": [
                {"name": one.actuator, "scale": one.scale, "unit": one.unit, "kind": one.kind} for one in levers.sliders
            ],
            "travel": levers.ahead is not None,
            "hydraulics": any(getattr(self.machine, field) for field in PORTS),
            "levers": [_lever(lever) for lever in mapping.levers if lever.axis is None or lever.axis not in extra],
            "modes": [{"name": name, "button": button} for name, button in mapping.modes],
            "ranges": [name for name, _ in mapping.speed_ranges],
            "slower": mapping.slower_button,
            "faster": mapping.faster_button,
        }

    def state(self) -> dict[str, Any]:
        """What changes, for the page."""
        operating = self.operating
        pace, commands = self._statuses.get(_PACE), self._statuses.get(_COMMANDS)
        silent = pace is not None and monotonic() - self._heard_at > max(_SILENCE, _MISSED * self._period)
        building = pace is not None and not pace.values and not silent
        latched = commands is not None and any(
            pair.key == "emergency_stop" and pair.value == "true" for pair in commands.values
        )
        return {
            "pace": "the simulator is silent"
            if silent
            else "waiting for a simulator"
            if pace is None
            else pace.message,
            "building": building,
            "paused": pace is not None and pace.message == "paused",
            "failed": pace is not None and pace.level == DiagnosticStatus.ERROR,
            "stopped": latched or operating.emergency_stop,
            "enabled": operating.enabled,
            "mode": operating.mode,
            "range": operating.speed_range,
            "recording": _recording(self._statuses.get(_RECORDING)),
            "replay": _replay(self._statuses.get(_REPLAY)),
        }

    def released(self) -> None:
        """The simulator has released its emergency stop."""
        self._statuses.pop(_COMMANDS, None)
        self.forget_stop()


def _fitting_patterns(machine: Machine) -> list[str]:
    found = []
    for file in catalogue.pattern_files():
        pattern = load_control_mapping(file)
        if fits(pattern, machine) and (pattern.tip is None or pattern.tip.machine == machine.name):
            found.append(file.stem)
    return found


def _recording(status: DiagnosticStatus | None) -> dict[str, Any] | None:
    """The recording that the simulator makes, for the page; None: none."""
    if status is None:
        return None
    values = {pair.key: pair.value for pair in status.values}
    return {
        "file": values["file"],
        "seconds": float(values["recorded [s]"]),
        "incomplete": status.message if status.level == DiagnosticStatus.ERROR else "",
    }


def _replay(status: DiagnosticStatus | None) -> dict[str, Any] | None:
    """The recording that the simulator replays, for the page; None: none."""
    if status is None:
        return None
    values = {pair.key: pair.value for pair in status.values}
    return {
        "end": float(values["end [s]"]),
        "backward": values["backward"] == "true",
        "text": f"{values['compared']} recorded states compared: {status.message}",
        "different": status.level == DiagnosticStatus.ERROR,
    }


def _lever(lever: Lever) -> dict[str, Any]:
    return {
        "axis": lever.axis,
        "buttons": list(lever.buttons),
        "actuator": lever.actuator,
        "kind": lever.kind,
        "sign": -1 if lever.scale < 0 else 1,
        "mode": lever.mode,
    }
