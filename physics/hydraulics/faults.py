"""Faults of hydraulic components: the faults that a machine can have, and their effect on a step.

A fault is a number or a boolean; 0 and false are healthy. The values are part of `Command`, and so of each snapshot and
each copy in a batch. Leaks are flow elements that are closed without a fault; other faults change the parameters of a
flow element, a spool, a pump or the oil.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.description.data.hydraulics import CounterbalanceValve, ReliefValve
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.elements.hydraulics.circuit import PORTS, circuit_lines, constant_pressures
from grouser.physics.hydraulics.network import FAULT, PRESSURES, HydraulicNetwork

# Component name of the oil.
OIL = "oil"
# Unit of each fault, empty for a boolean, and the meaning of its value.
_MEANING = {
    "stuck_spool": ("", "Whether the spool stays where it is, whatever is commanded."),
    "slow_spool": ("-", "Share of its speed that the spool has lost [-]."),
    "stop": ("", "Whether the pump stands still."),
    "low_setting": ("Pa", "How much too low the pressure is set at which the valve opens [Pa]."),
    "low_holding_pressure": ("Pa", "How much too low the pressure is set at which the load opens the valve [Pa]."),
    "burst_hose": ("m2", "Area of the tear through which oil leaves to the open air [m2]."),
    "burst": ("m2", "Area of the tear through which oil leaves to the open air [m2]."),
    "worn_seal": ("m3/(s Pa)", "Additional leakage across the piston at 313.15 K [m3/(s Pa)]."),
    "worn_motor": ("m3/(s Pa)", "Additional leakage from one side to the other at 313.15 K [m3/(s Pa)]."),
    "sensor_offset_piston_side": ("Pa", "What the sensor of the pressure on the piston side shows too much [Pa]."),
    "sensor_offset_rod_side": ("Pa", "What the sensor of the pressure on the rod side shows too much [Pa]."),
    "entrained_air": ("-", "Additional free air at 1e5 Pa, as a share of the oil's volume [-]."),
}
# Fields of `Command` that the published schemes read, or that concern no scheme.
_PLAIN = ("stuck_spool", "slow_spool", "sensor_offset")
# Greatest loss of speed of a spool that is not stuck [-].
_SLOWEST = 0.99
# Largest tear of a line [m2]: a bore of 36 mm.
_WIDEST = 1e-3
# Largest leakage past a worn piston or rotor [m3/(s Pa)]: at 10 MPa 10 l/s.
_WORN_OUT = 1e-9
# Largest share of entrained air [-].
_FOAM = 0.5
# Largest error of a pressure sensor [Pa].
_OFFSET = 1e8


@dataclass(frozen=True)
class Fault:
    """A fault that a component can have.

    Attributes:
        component: name of the component or line, or `OIL`.
        name: of the fault.
        unit: "" for a boolean.
        lowest, highest: range of the value.
        description: meaning of the value.
        field, place: field of `Command`, and index within it.
        plain: whether the published schemes support it.
    """

    component: str
    name: str
    unit: str
    lowest: float
    highest: float
    description: str
    field: str
    place: tuple[int, ...]
    plain: bool = False

    @property
    def full_name(self) -> str:
        """Name of the ROS parameter, also used in messages."""
        return f"faults.{self.component}.{self.name}"

    @property
    def healthy(self) -> bool | float:
        """Value without the fault, of the type of its values."""
        return 0.0 if self.unit else False

    def renamed(self, component: str) -> "Fault":
        """The same fault with another component name."""
        return replace(self, component=component)

    @property
    def valid(self) -> str:
        """The valid values, in words."""
        return f"a number from {self.lowest:g} to {self.highest:g} [{self.unit}]" if self.unit else "true or false"


class Leak(NamedTuple):
    """A flow element that is closed without a fault.

    Attributes:
        field: of `Machine` that holds the component.
        component, fault: names.
        line: line that leaks to the open air; "" for leakage past the piston or rotor of the component.
        highest: greatest value, [m2] to the open air, else [m3/(s Pa)].
    """

    field: str
    component: str
    fault: str
    line: str
    highest: float


def leaks(machine: Machine) -> tuple[Leak, ...]:
    """All leaks that a machine can have: of hoses, lines, pistons by cylinder, and rotors by motor."""
    constant = constant_pressures(machine)
    lines = [line for line in circuit_lines(machine) if line not in constant]
    hoses = [(hose, hose.outlet if hose.outlet in lines else hose.inlet) for hose in machine.hoses]
    return (
        *(Leak("hoses", hose.name, "burst_hose", line, math.pi / 4.0 * hose.diameter**2) for hose, line in hoses),
        *(Leak("lines", line, "burst", line, _WIDEST) for line in lines),
        *(Leak("cylinders", cylinder.name, "worn_seal", "", _WORN_OUT) for cylinder in machine.cylinders),
        *(Leak("hydraulic_motors", motor.name, "worn_motor", "", _WORN_OUT) for motor in machine.hydraulic_motors),
    )


def machine_faults(machine: Machine) -> tuple[Fault, ...]:
    """All faults that the components of a machine can have; the pair of component and name is unique."""
    return tuple(_faults(machine)) if any(getattr(machine, field) for field in PORTS) else ()


def _faults(machine: Machine) -> Iterator[Fault]:
    for number, valve in enumerate(machine.valves):
        yield _fault(valve.name, "stuck_spool", "stuck_spool", number)
        yield _fault(valve.name, "slow_spool", "slow_spool", number, highest=_SLOWEST)
    displacement = [pump for pump in machine.pumps if pump.displacement is not None]
    supplies = [pump for pump in machine.pumps if pump.displacement is None]
    for number, pump in enumerate([*displacement, *supplies]):
        yield _fault(pump.name, "stop", "stopped_pump", number)
    reliefs: list[ReliefValve | CounterbalanceValve] = [*machine.relief_valves, *machine.counterbalance_valves]
    for number, relief in enumerate(reliefs):
        name = "low_setting" if isinstance(relief, ReliefValve) else "low_holding_pressure"
        yield _fault(relief.name, name, "relief_drop", number, highest=relief.pressure)
    for number, leak in enumerate(leaks(machine)):
        yield _fault(leak.component, leak.fault, "leak", number, highest=leak.highest)
    for number, cylinder in enumerate(machine.cylinders):
        for column, side in enumerate(("piston_side", "rod_side")):
            if getattr(cylinder, side):
                name = f"sensor_offset_{side}"
                yield _fault(cylinder.name, name, "sensor_offset", number, column, lowest=-_OFFSET, highest=_OFFSET)
    yield _fault(OIL, "entrained_air", "entrained_air", 0, highest=_FOAM)


def _fault(component, name, field, *place, lowest=0.0, highest=1.0):
    unit, description = _MEANING[name]
    return Fault(component, name, unit, lowest, highest, description, field, place, field in _PLAIN)


class Faults(NamedTuple):
    """The faults of a step, in its workspace; `Command` explains the numbers.

    Attributes:
        stuck_spool, slow_spool, stopped_pump, relief_drop, leak, entrained_air: as commanded.
        leaking: whether there is a leak, (1,).
    """

    stuck_spool: np.ndarray
    slow_spool: np.ndarray
    stopped_pump: np.ndarray
    relief_drop: np.ndarray
    leak: np.ndarray
    entrained_air: np.ndarray
    leaking: np.ndarray


def make_faults(network: HydraulicNetwork, valves: int) -> Faults:
    """Buffers without faults, for this number of valves."""

    def count(kind):
        return int(network.source[network.kind == kind].max(initial=-1)) + 1

    return Faults(
        stuck_spool=np.zeros(valves, dtype=np.bool_),
        slow_spool=np.zeros(valves),
        stopped_pump=np.zeros(len(network.outlet) + len(network.supply), dtype=np.bool_),
        relief_drop=np.zeros(count(PRESSURES)),
        leak=np.zeros(count(FAULT)),
        entrained_air=np.zeros(1),
        leaking=np.zeros(1, dtype=np.bool_),
    )


@kernel
def take_faults(command, faults: Faults):
    """Copies the faults of a command into those of a step."""
    for valve in range(faults.stuck_spool.shape[0]):
        faults.stuck_spool[valve] = command.stuck_spool[valve]
        faults.slow_spool[valve] = command.slow_spool[valve]
    for pump in range(faults.stopped_pump.shape[0]):
        faults.stopped_pump[pump] = command.stopped_pump[pump]
    for valve in range(faults.relief_drop.shape[0]):
        faults.relief_drop[valve] = command.relief_drop[valve]
    leaking = False
    for leak in range(faults.leak.shape[0]):
        faults.leak[leak] = command.leak[leak]
        leaking = leaking or command.leak[leak] != 0.0
    faults.leaking[0] = leaking
    faults.entrained_air[0] = command.entrained_air[0]


@kernel
def spool_speed(faults: Faults, valve):
    """Speed of a valve's spool as a share of that of a healthy one [-]; 0 when it is stuck."""
    return 0.0 if faults.stuck_spool[valve] else 1.0 - faults.slow_spool[valve]
