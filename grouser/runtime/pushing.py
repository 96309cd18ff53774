"""Pushes on links from outside: each lasts until its source ends it, or has been silent for too long."""

import math
from collections.abc import Collection

from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.rotation import rotate
from grouser.physics.simulation.pushes import Push
from grouser.physics.simulation.simulation import Simulation
from grouser.physics.simulation.view import MachineView
from grouser.recording.events import Pushed

LARGEST = 100.0  # push, over the weight of what is pushed; its moment has an arm of up to `LONGEST_ARM`
LONGEST_ARM = 10.0  # [m]
_GRAVITY = 9.81  # [m/s2], only for the largest push
_NOTHING: Vector3 = (0.0, 0.0, 0.0)


class TimedPushes:
    """The pushes that came from outside, and how long ago.

    Silence is measured in simulation time, as that of command sources.

    Args:
        step_size: simulated time of a step [s].
        timeout: longest silence [s]; 0: any.
    """

    def __init__(self, step_size: float, timeout: float) -> None:
        self.timeout = timeout
        self._step_size = step_size
        self._last: dict[tuple[str, str], int] = {}  # machine and link -> step

    def push(
        self, simulation: Simulation, step: int, machine: str, link: str, force: Vector3, moment: Vector3
    ) -> Pushed | None:
        """Pushes a link from now on; a push without force and moment ends that of the link.

        Args:
            simulation: of the machine.
            step: the present one.
            machine, link: names; the machine is "" for a single one.
            force: at the origin of the link, along its axes as they are now [N]; its direction in the world stays.
            moment: about the same axes [N m].

        Returns:
            What changes; None: nothing.

        Raises:
            ParameterError: there is no such link, it cannot be pushed, or force or moment is too large.
        """
        view = simulation.part(machine)
        _check(view, force, moment)
        if not any(force) and not any(moment):
            self._last.pop((machine, link), None)
            return _end(simulation, step, machine, link)
        quaternion = tuple(view.link_pose(link)[1].tolist())
        turned = Push(rotate(quaternion, force), moment=rotate(quaternion, moment))
        known = view.pushes.get(link)
        if known != turned:
            view.pushes[link] = turned
        self._last[machine, link] = step
        return None if known == turned else Pushed(step, machine, link, turned.force, turned.moment)

    def end_silent(self, simulation: Simulation, step: int) -> list[Pushed]:
        """Ends the pushes whose sources have been silent for too long; what changes."""
        if self.timeout == 0.0:
            return []
        silent = [one for one, last in self._last.items() if (step - last) * self._step_size >= self.timeout]
        for one in silent:
            del self._last[one]
        return [ended for one in silent if (ended := _end(simulation, step, *one)) is not None]

    def keep(self, machines: Collection[str]) -> None:
        """Forgets the pushes on other machines, which have gone."""
        self._last = {one: last for one, last in self._last.items() if one[0] in machines}

    def rewind(self, steps: int) -> None:
        """Sets the step count back by `steps`; silences stay as they are."""
        self._last = {one: last - steps for one, last in self._last.items()}


def _check(view: MachineView, force: Vector3, moment: Vector3) -> None:
    weight = _GRAVITY * sum(link.inertial.mass for link in view.machine.links if link.inertial)
    for name, value, largest, unit in (
        ("wrench.force", force, LARGEST * weight, "N"),
        ("wrench.torque", moment, LARGEST * weight * LONGEST_ARM, "N m"),
    ):
        size = math.hypot(*value)
        if size > largest:
            valid = f"at most {largest:.3g} {unit}: {LARGEST:g} times the weight of {view.machine.name}"
            raise ParameterError(name, size, valid + (f" at {LONGEST_ARM:g} m" if unit == "N m" else ""))


def _end(simulation: Simulation, step: int, machine: str, link: str) -> Pushed | None:
    """Ends a push, if there is one."""
    pushes = simulation.part(machine).pushes
    if pushes.pop(link, None) is None:
        return None
    return Pushed(step, machine, link, _NOTHING, _NOTHING)
