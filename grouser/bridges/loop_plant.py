"""A machine of a simulation that runs in this process, as the plant of a bridge: without messages between them."""

import math
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as LateError
from typing import TYPE_CHECKING

from grouser.bridges.mapping.data import BridgeMapping
from grouser.bridges.mapping.signals import commands_of, measurements_of
from grouser.bridges.plant import SILENCE
from grouser.bridges.simulation_plant import MEASURED, SimulationPlant
from grouser.physics.base.errors import GrouserError
from grouser.physics.description.data.machine import Machine, member_prefix
from grouser.program import TWIST
from grouser.runtime.mailbox import Mailbox

if TYPE_CHECKING:
    from grouser.physics.simulation.simulation import Simulation
    from grouser.runtime.physics_loop import PhysicsLoop

# Kind of a command -> its source, the name of the topic that would bring it: for timeouts and lockstep.
_SOURCES = {"valve": "valve_commands", "joint": "joint_commands", "cmd_vel": "cmd_vel"}
_SPEEDS = dict(zip(("linear_x", "linear_y", "angular_z"), TWIST, strict=True))


def has_all(machine: Machine, mapping: BridgeMapping) -> bool:
    """Whether a `LoopPlant` of a machine has all signals of a mapping; `joy` and `odom` come by topics alone."""
    commands, measurements = commands_of(machine), measurements_of(machine)
    commanded = {one.signal for message in mapping.incoming for one in message.signals}
    held = {one.signal for message in mapping.incoming for one in message.signals if one.safe is None}
    shown = {one.signal for message in mapping.outgoing for one in message.signals} | held
    return all(name in commands and _kind(name) in _SOURCES for name in commanded) and all(
        name in measurements and _kind(name) in MEASURED for name in shown
    )


class LoopPlant:
    """Commands a machine by the mailbox of its physics loop, and asks that loop for measurements.

    Commands have the sources of the topics that would bring them, so that timeouts, emergency stop, lockstep and
    recordings are as with topics. A measurement is of the moment at which it is asked for; while the simulation stands
    still it is none after `SILENCE`, as of a topic that is silent.

    Args:
        mailbox: of the loop; None: there is none at present.
        name: of the machine in the simulation; "" for one by itself.
        clock: of silence [s].
    """

    def __init__(
        self, mailbox: Callable[[], Mailbox | None], name: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._mailbox, self._name, self._clock = mailbox, name, clock
        self._prefix = member_prefix(name)
        self._speeds = dict.fromkeys(_SPEEDS.values(), 0.0)
        self._simulation: Simulation | None = None  # these two are the physics thread's
        self._plant: SimulationPlant | None = None
        self._advanced = (-1, -math.inf)  # step, and when it was first seen

    def command(self, values: Mapping[str, float]) -> None:
        """Leaves commands for the next step."""
        mailbox = self._mailbox()
        if mailbox is None:
            return
        parts: dict[str, dict[str, float]] = {}
        for name, value in values.items():
            kind, actuator = name.split("/")[:2]
            parts.setdefault(kind, {})[actuator] = value
        if "cmd_vel" in parts:
            self._speeds.update({_SPEEDS[name]: value for name, value in parts["cmd_vel"].items()})
            parts["cmd_vel"] = dict(self._speeds)
        for kind, commands in parts.items():
            mailbox.post_commands(f"{self._prefix}{_SOURCES[kind]}", commands)

    def measure(self, names: Collection[str]) -> Mapping[str, float]:
        """Returns measurements; waits for the end of the present step. NaN where there is none."""
        mailbox = self._mailbox()
        nothing = dict.fromkeys(names, math.nan)
        if mailbox is None or not names:
            return nothing
        try:
            step, found = mailbox.call(lambda loop: self._read(loop, names)).result(SILENCE)
        except (CancelledError, LateError):
            return nothing
        now = self._clock()
        if step != self._advanced[0]:
            self._advanced = (step, now)
        return found if found is not None and now - self._advanced[1] <= SILENCE else nothing

    def _read(self, loop: "PhysicsLoop", names: Collection[str]) -> tuple[int, Mapping[str, float] | None]:
        """Step and measurements, in the physics thread; an exception here would end it."""
        if loop.simulation is not self._simulation:
            self._simulation, self._plant = loop.simulation, None
        try:
            if self._plant is None:
                self._plant = SimulationPlant(loop.simulation.part(self._name))
            return loop.step, self._plant.measure(names)
        except GrouserError:  # the machine is not there any more, or another one has its name
            return loop.step, None


def _kind(name: str) -> str:
    return name.partition("/")[0]
