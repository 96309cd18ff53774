"""Balance of mechanical energy by name, from the accounts of work."""

import numpy as np

from grouser.physics.base.accounts import AccountView, Ledger, Owners
from grouser.physics.description.data.machine import Machine
from grouser.physics.integrators.context import ACCOUNTS, State, System
from grouser.physics.model.names import Names
from grouser.physics.readings.measurements import Energy, EnergyBalance


def balance_energy(
    machine: Machine, system: System, names: Names, state: State, now: Energy, loop_energy: np.ndarray
) -> EnergyBalance:
    """The balance since the accounts in `state` were opened.

    Args:
        machine, system, names: the machine.
        state: with its accounts.
        now: energy at present.
        loop_energy: in the springs of each loop joint at present [J].
    """
    ledger = Ledger(_owners(machine, names))
    for room in ACCOUNTS:
        room.read_accounts(AccountView(system, state, loop_energy), ledger)
    start = Energy(*state.energy_start.tolist())
    changes = (now.kinetic - start.kinetic, now.potential - start.potential, now.elastic - start.elastic)
    residual = sum(ledger.work.values()) - sum(ledger.losses.values()) - sum(changes)
    return EnergyBalance(*changes, ledger.work, ledger.losses, residual)


def open_accounts(system: System, state: State, now: Energy, loop_energy: np.ndarray) -> None:
    """Opens the accounts of work; arguments as of `balance_energy`."""
    state.energy_start[:] = now.kinetic, now.potential, now.elastic
    for room in ACCOUNTS:
        room.open_accounts(AccountView(system, state, loop_energy))


def _owners(machine: Machine, names: Names) -> Owners:
    return Owners(
        rate=names.rate_joint,
        drive=[drive.joint for drive in machine.drives],
        actuator=[*(one.name for one in machine.cylinders), *(one.name for one in machine.hydraulic_motors)],
        belts=_belts(machine, names),
        loop_joint=[joint.name for joint in machine.loop_joints],
        wheel=[wheel.link for wheel in machine.wheels],
        track=[track.name for track in machine.tracks],
        shovel=[shovel.name for shovel in machine.shovels],
        link=names.links,
    )


def _belts(machine: Machine, names: Names) -> dict[int, list[tuple[str, float]]]:
    """Belts with friction by the coordinate rate that drives them, see `Owners`."""
    belts: dict[int, list[tuple[str, float]]] = {}
    for track in machine.tracks:
        if track.friction > 0.0:
            drive = names.joints[track.sprocket]
            torque = abs(drive.multiplier) * (track.friction * track.radius)
            belts.setdefault(drive.v, []).append((track.name, torque))
    return belts
