"""What a machine is told."""

from typing import NamedTuple

import numpy as np


class Command(NamedTuple):
    """What the machine is told, and which of its components fail; held until told otherwise.

    Attributes:
        valve: spool command of each valve [-], -1 to 1.
        drive: position, speed or effort wanted of each drive [rad, m, rad/s, m/s, N m or N].
        emergency_stop: of each machine: valves to neutral, holding brakes on, drives braked, (machines,).
        stuck_spool: whether the spool of each valve stays where it is.
        slow_spool: share of its speed that each spool has lost [-].
        stopped_pump: whether each pump stands still; displacement pumps before supplies of constant pressure.
        relief_drop: how much too low each relief valve, then each counterbalance valve is set [Pa].
        leak: by `hydraulics.faults.leaks`, area of a tear [m2], or leakage past a piston or rotor [m3/(s Pa)].
        entrained_air: in addition to what the oil has, at 1e5 Pa as a share of its volume [-], (1,).
        sensor_offset: what the sensors on the piston and rod side of each cylinder show too much [Pa], (cylinders, 2).
    """

    valve: np.ndarray
    drive: np.ndarray
    emergency_stop: np.ndarray
    stuck_spool: np.ndarray
    slow_spool: np.ndarray
    stopped_pump: np.ndarray
    relief_drop: np.ndarray
    leak: np.ndarray
    entrained_air: np.ndarray
    sensor_offset: np.ndarray


def make_command(
    *, valves: int, drives: int, machines: int, pumps: int, reliefs: int, leaks: int, cylinders: int
) -> Command:
    """Everything in neutral and healthy."""
    return Command(
        valve=np.zeros(valves),
        drive=np.zeros(drives),
        emergency_stop=np.zeros(machines, dtype=np.bool_),
        stuck_spool=np.zeros(valves, dtype=np.bool_),
        slow_spool=np.zeros(valves),
        stopped_pump=np.zeros(pumps, dtype=np.bool_),
        relief_drop=np.zeros(reliefs),
        leak=np.zeros(leaks),
        entrained_air=np.zeros(1),
        sensor_offset=np.zeros((cylinders, 2)),
    )
