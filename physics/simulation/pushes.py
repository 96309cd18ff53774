"""Pushes by the name of a link, with checks of their values."""

from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass

import numpy as np

from grouser.physics.base.checks import require_type, require_vector
from grouser.physics.base.errors import ParameterError
from grouser.physics.simulation.engine import Engine
from grouser.physics.simulation.named_view import require_name

_ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Push:
    """A constant force and moment on a link.

    Attributes:
        force: [N], along the world's axes.
        point: place of the link at which the force acts, in the link's frame [m].
        moment: [N m], about the world's axes.
    """

    force: tuple[float, float, float]
    point: tuple[float, float, float] = _ZERO
    moment: tuple[float, float, float] = _ZERO


class PushMap(MutableMapping[str, Push]):
    """The pushes on links: ``simulation.pushes["boom_link"] = Push(force=(0.0, 0.0, -500.0), point=(1.5, 0.0, 0.0))``.

    A push keeps its force, moment and place on the link until it is changed, or ended by ``del``; a reset ends all. It
    wakes the bodies that sleep with its link. Its work is in `energy_balance`, as the actuator ``push on <link>``.

    Args:
        engine: of the simulation.
        links: names of the links.
        own: index of each in the simulation.
        integrator: of the motion; those for smooth machines take no pushes.
    """

    def __init__(self, engine: Engine, links: Sequence[str], own: np.ndarray, integrator: str) -> None:
        self._engine, self._integrator = engine, integrator
        self._place = dict(zip(links, own.tolist(), strict=True))

    def __setitem__(self, link: str, push: Push) -> None:
        """Pushes a link from the next step on.

        Raises:
            ParameterError: there is no such link, it belongs to the world, a value is no number or beyond 1e9, or the
                integrator takes no pushes.
            BusyError: another thread steps the simulation.
        """
        require_name("link", link, self._place)
        require_type("push", push, Push, "a `Push`")
        units = {"force": "N", "moment": "N m", "point": "m"}
        values = [np.array(require_vector(part, getattr(push, part), 3, unit)) for part, unit in units.items()]
        if self._integrator != "semi_implicit":
            raise ParameterError("integrator", self._integrator, "semi_implicit, for pushes")
        names, index = self._engine.setup.names, self._place[link]
        body = int(names.link_body[index])
        if body < 0:
            raise ParameterError("link", link, "one that moves; this one belongs to the world")
        values[2] = names.link_position[index] + names.link_rotation[index] @ values[2]
        with self._engine.exclusive:
            command = self._engine.command
            command.push[index], command.pushed[index] = np.concatenate(values), True
            self._engine.wake(np.array([body]))

    def __delitem__(self, link: str) -> None:
        """Ends a push."""
        if link not in self:
            require_name("link", link, self._place)
            raise KeyError(link)
        command, index = self._engine.command, self._place[link]
        with self._engine.exclusive:
            command.push[index], command.pushed[index] = 0.0, False
            self._engine.wake(self._engine.setup.names.link_body[[index]])

    def __getitem__(self, link: str) -> Push:
        if link not in self:
            require_name("link", link, self._place)
            raise KeyError(link)
        names, index = self._engine.setup.names, self._place[link]
        force, moment, place = np.split(self._engine.command.push[index], 3)
        point = names.link_rotation[index].T @ (place - names.link_position[index])
        return Push(tuple(force.tolist()), tuple(point.tolist()), tuple(moment.tolist()))

    def __contains__(self, link: object) -> bool:
        return isinstance(link, str) and link in self._place and bool(self._engine.command.pushed[self._place[link]])

    def __iter__(self) -> Iterator[str]:
        return (link for link, index in self._place.items() if self._engine.command.pushed[index])

    def __len__(self) -> int:
        return int(self._engine.command.pushed[list(self._place.values())].sum())
