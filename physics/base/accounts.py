"""Accounts of energy: what a room has done on the machine and lost, by name.

A room's `open_accounts(view)` sets its accounts in the state to what its springs owe, so that only losses are left in
the end; its `read_accounts(view, ledger)` enters them under the names of their owners.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np


class Owners(NamedTuple):
    """Names of what the accounts belong to, in the order of their rows.

    Attributes:
        rate: joint of each coordinate rate.
        drive: joint of each drive.
        actuator: of each hydraulic cylinder, then of each motor.
        belts: by coordinate rate that drives belts with friction: their names and the torques that they take [N m].
        loop_joint, wheel, track, shovel: of each.
        link: of each link.
    """

    rate: Sequence[str]
    drive: Sequence[str]
    actuator: Sequence[str]
    belts: Mapping[int, Sequence[tuple[str, float]]]
    loop_joint: Sequence[str]
    wheel: Sequence[str]
    track: Sequence[str]
    shovel: Sequence[str]
    link: Sequence[str]


class AccountView(NamedTuple):
    """What accounts are opened and read with.

    Attributes:
        system, state: of the simulation (`integrators.context`).
        loop_energy: in the springs of each loop joint now [J].
    """

    system: Any
    state: Any
    loop_energy: np.ndarray


@dataclass
class Ledger:
    """Sums by name [J]; nothing is entered for what is zero.

    Attributes:
        owners: names.
        work: of actuators on the machine.
        losses: dissipated energy.
    """

    owners: Owners
    work: dict[str, float] = field(default_factory=dict)
    losses: dict[str, float] = field(default_factory=dict)

    def add_work(self, name: str, amount: float) -> None:
        """Enters work of an actuator on the machine."""
        _add(self.work, name, amount)

    def add_loss(self, name: str, amount: float) -> None:
        """Enters dissipated energy."""
        _add(self.losses, name, amount)


def _add(account: dict[str, float], name: str, amount: float) -> None:
    if amount != 0.0:
        account[name] = account.get(name, 0.0) + float(amount)
