"""Flows through the ports of a circuit's elements, and through its lines, in the last step."""

from collections.abc import Mapping, Sequence

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.elements.hydraulics.circuit import flow_ports
from grouser.physics.hydraulics.network import FAULT, SPOOL, HydraulicNetwork
from grouser.physics.hydraulics.prediction import IMPLICIT, Prediction
from grouser.physics.integrators.context import State, System, Workspace

Owner = tuple[str, str]
_ACTUATOR_PORTS = {"cylinders": ("piston_side", "rod_side"), "hydraulic_motors": ("a", "b")}


class PortFlows:
    """Flows of the circuit of a machine, or of a member of a fleet.

    Every volume that passed in the step counts at both of its ends, so that what leaves a line enters others; the
    difference of a line is what compression stored in it. Ports of one element on one line count as one, the first.
    What a supply of constant pressure gives, and an accumulator takes, is the rest of its line; with an accumulator
    this includes the compression of the line's oil.

    Args:
        machine: whose elements have the ports, under its own names.
        prefix: beginning of these names in the simulation.
        lines: names of its lines, without the prefix, and their numbers in the network.
        simulated: the machine or fleet of the simulation.
        owners: element of `simulated` that each flow element of the network belongs to, as field and name.
        system: arrays of the simulation.

    Attributes:
        names: of the ports, ``<field of Machine>/<element>/<port>``.
    """

    def __init__(
        self,
        machine: Machine,
        prefix: str,
        lines: Mapping[str, int],
        simulated: Machine,
        owners: Sequence[Owner],
        system: System,
    ) -> None:
        network = system.hydraulics.network
        ports = list(flow_ports(machine))
        self.names = tuple(port.name for port in ports)
        self._system, self._count = system, len(network.volume)
        self._line = np.array([lines[port.line] for port in ports], dtype=np.int64)
        self._lines = np.array(list(lines.values()), dtype=np.int64)
        self._rest = np.flatnonzero([port.takes_rest for port in ports])
        # an open side of a cylinder has no port: its number is that of the zero after all flows
        numbers = {name: number for number, name in enumerate(self.names)}
        sides = [
            [numbers.get(f"{field}/{one.name}/{port}", len(ports)) for port in pair]
            for field, pair in _ACTUATOR_PORTS.items()
            for one in getattr(machine, field)
        ]
        self._sides = np.array(sides, dtype=np.int64).reshape(-1, 2)
        first: dict[tuple[Owner, int], int] = {}
        for number, one in enumerate(ports):
            first.setdefault(((one.field, prefix + one.element), lines[one.line]), number)
        self._from_line, elements, self._volume, self._sign = _ends(network, owners, simulated)
        port = [first.get(end, -1) for end in zip(elements, self._from_line.tolist(), strict=True)]
        self._at_port = np.flatnonzero(np.array(port, dtype=np.int64) >= 0)
        self._port = np.array(port, dtype=np.int64)[self._at_port]

    def read(self, state: State, workspace: Workspace) -> np.ndarray:
        """Flow from its line into each port, mean over the last step [m3/s], (ports,)."""
        taken = self._sign * self._volumes(state, workspace)[self._volume]
        flows = np.bincount(self._port, taken[self._at_port], minlength=len(self.names))
        rest = np.bincount(self._from_line, taken, minlength=self._count)
        flows[self._rest] = -rest[self._line[self._rest]]
        return flows

    def actuators(self, state: State, workspace: Workspace) -> np.ndarray:
        """Those of `read` into both sides of the cylinders, then of the motors [m3/s], (actuators, 2)."""
        return np.append(self.read(state, workspace), 0.0)[self._sides]

    def lines(self, flows: np.ndarray) -> np.ndarray:
        """Flow through each line by the flows of `read` [m3/s], (lines,): the greater of what enters and leaves it."""
        leaves = np.bincount(self._line, np.maximum(flows, 0.0), minlength=self._count)
        enters = np.bincount(self._line, np.maximum(-flows, 0.0), minlength=self._count)
        return np.maximum(leaves, enters)[self._lines]

    def _volumes(self, state: State, workspace: Workspace) -> np.ndarray:
        """Flows of the flow elements, pumps and both sides of the actuators, mean over the step [m3/s]."""
        network, settings = self._system.hydraulics.network, self._system.settings
        work, rows = workspace.hydraulics, workspace.constraints.rows
        passed = np.array(work.network.step_accounts.passed)
        # a leak that is mended keeps the account of its last step
        leaks = np.flatnonzero(network.kind == FAULT)
        passed[leaks[work.network.faults.leak[network.source[leaks]] == 0.0]] = 0.0
        if settings.scheme != IMPLICIT:
            self._take_published(passed, work.prediction, state)
        actuators = len(network.line_a)
        speed = rows.whitened_jacobian[:actuators] @ workspace.multibody.u if rows.count[0] else np.zeros(actuators)
        delivered = work.network.step_accounts.delivered
        return np.concatenate(
            (passed / settings.step, delivered / settings.step, network.area_a * speed, network.area_b * speed)
        )

    def _take_published(self, passed: np.ndarray, prediction: Prediction, state: State) -> None:
        """Sets the volumes through the valves from what the published schemes say of their cylinders.

        They say how much comes from the supply in all. It is assigned to the edge to a; the rest is the tank's.
        """
        system, step = self._system.hydraulics, self._system.settings.step
        for cylinder, valve in enumerate(system.geometry.valve.tolist()):
            edges = np.flatnonzero((system.network.kind == SPOOL) & (system.network.source == valve))
            supply = state.hydraulics.pressure[system.network.origin[edges[0]]]
            supplied = prediction.supply_power[cylinder] / supply
            into_a, into_b = prediction.flow[cylinder]
            passed[edges] = step * np.array([supplied, supplied - into_a, 0.0, -into_b])


def _ends(
    network: HydraulicNetwork, owners: Sequence[Owner], simulated: Machine
) -> tuple[np.ndarray, list[Owner], np.ndarray, np.ndarray]:
    """Both ends of all volumes: line, element, number among the volumes, and whether it leaves (1) or enters (-1)."""
    pumps = [("pumps", pump.name) for pump in simulated.pumps if pump.displacement is not None]
    actuators = [(field, one.name) for field in _ACTUATOR_PORTS for one in getattr(simulated, field)]
    numbers = np.arange(len(owners) + len(pumps) + 2 * len(actuators))
    passing, pumping, side_a, side_b = np.split(numbers, np.cumsum([len(owners), len(pumps), len(actuators)]))
    ends = (
        (network.origin, owners, passing, 1.0),
        (network.end, owners, passing, -1.0),
        (network.inlet, pumps, pumping, 1.0),
        (network.outlet, pumps, pumping, -1.0),
        (network.line_a, actuators, side_a, 1.0),
        (network.line_b, actuators, side_b, -1.0),
    )
    return (
        np.concatenate([line for line, _, _, _ in ends]),
        [element for _, elements, _, _ in ends for element in elements],
        np.concatenate([number for _, _, number, _ in ends]),
        np.concatenate([np.full(len(line), sign) for line, _, _, sign in ends]),
    )
