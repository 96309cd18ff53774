"""Topics of a diagram that a simulator executes: its inputs, and what is on its wires."""

from collections.abc import Callable, Mapping

import numpy as np
from control_msgs.msg import DynamicInterfaceGroupValues

from grouser.function_blocks.block import Value
from grouser.function_blocks.diagram import INPUT, OPERATOR, SIGNAL, Diagram
from grouser.nodes.shared import messages, topics
from grouser.nodes.shared.endpoints import Endpoints
from grouser.physics.base.errors import ParameterError
from grouser.runtime.program_playing import DiagramPlayer

_PERIOD = 0.1  # [s] of wall time between two messages


class ProgramTopics:
    """Takes inputs of a diagram, all of a message or none, and publishes the values on its wires.

    Args:
        endpoints: that own the topics.
        diagram: that is executed.
        set_inputs: sets inputs in the physics thread.
        refuse: takes the error of an invalid message.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        diagram: Diagram,
        set_inputs: Callable[[Mapping[str, Value]], object],
        refuse: Callable[[ParameterError], None],
    ) -> None:
        self._diagram, self._set_inputs, self._refuse = diagram, set_inputs, refuse
        self._player: DiagramPlayer | None = None
        self._publisher = endpoints.create_publisher(DynamicInterfaceGroupValues, topics.PROGRAM_STATE, topics.RELIABLE)
        endpoints.create_subscription(
            DynamicInterfaceGroupValues, topics.PROGRAM_INPUTS, self._receive, topics.RELIABLE
        )
        timer = endpoints.node.create_timer(_PERIOD, self._publish)
        endpoints.at_end(lambda: endpoints.node.destroy_timer(timer))

    def show(self, player: DiagramPlayer) -> None:
        """Publishes what is on the wires of a player from now on."""
        self._player = player

    def _receive(self, message: DynamicInterfaceGroupValues) -> None:
        try:
            given = messages.group_of(message, INPUT)
            self._set_inputs({name: self._diagram.input_value(name, value) for name, value in given.items()})
        except ParameterError as error:
            self._refuse(error)

    def _publish(self) -> None:
        if self._player is None or not self._publisher.get_subscription_count():
            return
        stamp, values = self._player.shown
        groups: dict[str, dict[str, Value]] = {}
        for name, value in values.items():
            first, _, rest = name.partition(".")
            known = first in self._diagram.blocks or first in (INPUT, OPERATOR)
            groups.setdefault(first if known else SIGNAL, {})[rest if known else name] = value
        message = messages.make_group_values([(group, list(parts)) for group, parts in groups.items()])
        numbers = [np.array(list(map(float, parts.values()))) for parts in groups.values()]
        messages.fill_group_values(message, stamp, numbers)
        self._publisher.publish(message)
