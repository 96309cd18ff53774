"""Commands, pushes and faults of a machine."""

from typing import NamedTuple

import numpy as np


class Command(NamedTuple):
    """Commands of a machine, pushes on it, and faults of its components; kept until changed.

    Attributes:
        valve: spool command of each valve [-], -1 to 1.
        drive: setpoint of each drive: position, speed or effort [rad, m, rad/s, m/s, N m or N].
        emergency_stop: of each machine: valves to neutral, holding brakes on, drives braked, (machines,).
        pushed: whether each link is pushed, (links,).
        push: force and moment on each link [N, N m], world axes, and the place of the force in the frame of the link's
            body [m], (links, 9).
        stuck_spool: whether the spool of each valve is stuck.
        slow_spool: loss of speed of each spool, as a share [-].
        stopped_pump: whether each pump is stopped; displacement pumps before supplies of constant pressure.
        relief_drop: drop of the setting of each relief valve, then of each counterbalance valve [Pa].
        leak: by `hydraulics.faults.leaks`, area of a tear [m2], or leakage past a piston or rotor [m3/(s Pa)].
        entrained_air: added to that of the oil, volume at 1e5 Pa as a share of the oil's volume [-], (1,).
        sensor_offset: errors of the pressure sensors on the piston and rod side of each cylinder [Pa], (cylinders, 2).
    """

    valve: np.ndarray
    drive: np.ndarray
    emergency_stop: np.ndarray
    pushed: np.ndarray
    push: np.ndarray
    stuck_spool: np.ndarray
    slow_spool: np.ndarray
    stopped_pump: np.ndarray
    relief_drop: np.ndarray
    leak: np.ndarray
    entrained_air: np.ndarray
    sensor_offset: np.ndarray


def make_command(
    *, valves: int, drives: int, machines: int, links: int, pumps: int, reliefs: int, leaks: int, cylinders: int
) -> Command:
    """Everything in neutral, without pushes and faults."""
    return Command(
        valve=np.zeros(valves),
        drive=np.zeros(drives),
        emergency_stop=np.zeros(machines, dtype=np.bool_),
        pushed=np.zeros(links, dtype=np.bool_),
        push=np.zeros((links, 9)),
        stuck_spool=np.zeros(valves, dtype=np.bool_),
        slow_spool=np.zeros(valves),
        stopped_pump=np.zeros(pumps, dtype=np.bool_),
        relief_drop=np.zeros(reliefs),
        leak=np.zeros(leaks),
        entrained_air=np.zeros(1),
        sensor_offset=np.zeros((cylinders, 2)),
    )
