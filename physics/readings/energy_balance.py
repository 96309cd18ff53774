"""Balance of mechanical energy by name, from the accounts of work."""

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.compliance.springs import JointSprings, joint_spring_energy
from grouser.physics.constraints.work import DAMPER, DRIVE, FRICTION, LIMIT, SPRING
from grouser.physics.description.data.machine import Machine
from grouser.physics.friction.joints import bristle_energy
from grouser.physics.integrators.context import State, System
from grouser.physics.model.multibody import MultibodyModel, Names
from grouser.physics.readings.measurements import Energy, EnergyBalance


def balance_energy(
    machine: Machine, system: System, names: Names, state: State, now: Energy, pair_energy: np.ndarray
) -> EnergyBalance:
    """The balance since the accounts in `state` were opened.

    Args:
        machine, system, names: the machine.
        state: with its accounts.
        now: energy at present.
        pair_energy: of the springs of each loop joint at present [J].
    """
    start = Energy(*state.energy_start.tolist())
    changes = (now.kinetic - start.kinetic, now.potential - start.potential, now.elastic - start.elastic)
    actuators: dict[str, float] = {}
    lost: dict[str, float] = {}

    def book(account: dict[str, float], name: str, amount: float):
        if amount != 0.0:
            account[name] = account.get(name, 0.0) + float(amount)

    drives = {law: machine.drives[drive].joint for law, drive in enumerate(system.joints.laws.drive) if drive >= 0}
    for law, name in drives.items():
        book(actuators, name, state.joints.work[law, DRIVE])
    hydraulic = [one.name for one in machine.cylinders] + [one.name for one in machine.hydraulic_motors]
    for actuator, work in zip(hydraulic, state.hydraulics.work, strict=True):
        book(actuators, actuator, work)
    bristles = bristle_energy(system.joints.laws.bristle_stiffness, state.joints.bristle)
    for law, rate in enumerate(system.joints.laws.rate_index):
        book(lost, f"friction of {names.rate_joint[rate]}", -state.joints.work[law, FRICTION] - bristles[law])
        book(lost, f"limits of {names.rate_joint[rate]}", -state.joints.work[law, LIMIT])
    for rate, name in enumerate(names.rate_joint):
        book(lost, f"damping of {name}", -state.springs.rate_work[rate, DAMPER])
    # Energy that the springs took in and no longer hold.
    for name, loss in _spring_losses(system, names, state).items():
        book(lost, f"elasticity of {name}", loss)
    for joint, work, held in zip(machine.loop_joints, state.loops.work, pair_energy, strict=True):
        book(lost, f"loop joint {joint.name}", -work - held)
    for shape, (work, held) in enumerate(zip(state.contact.work, state.contact.energy, strict=True)):
        book(lost, f"contacts of {names.links[system.contact.shapes.link[shape]]}", -work - held)
    for wheel, work in zip(machine.wheels, state.soil.soil_work, strict=False):
        book(lost, f"soil under {wheel.link}", -work)
    residual = sum(actuators.values()) - sum(lost.values()) - sum(changes)
    return EnergyBalance(*changes, actuators, lost, residual)


def open_accounts(system: System, state: State, now: Energy, pair_energy: np.ndarray) -> None:
    """Opens the accounts of work. Those of springs start with the energy that they hold, so that only losses remain.

    Args: as for `balance_energy`.
    """
    for account in (
        state.joints.work,
        state.springs.rate_work,
        state.springs.work,
        state.hydraulics.work,
        state.soil.soil_work,
    ):
        account[...] = 0.0
    state.energy_start[:] = now.kinetic, now.potential, now.elastic
    state.joints.work[:, FRICTION] = -bristle_energy(system.joints.laws.bristle_stiffness, state.joints.bristle)
    state.loops.work[:] = -pair_energy
    state.contact.work[:] = -state.contact.energy
    np.add.at(
        state.springs.rate_work[:, SPRING], system.multibody.spring_rate, -_coordinate_energies(system.multibody, state)
    )
    state.springs.work[:] = -_axial_energies(system.springs, state)


def _spring_losses(system: System, names: Names, state: State) -> dict[str, float]:
    """Losses of each elastic joint: work done on its springs, less the energy that they hold."""
    losses: dict[str, float] = {}
    for rates, works, energies in (
        (range(len(names.rate_joint)), state.springs.rate_work[:, SPRING], _rate_energies(system.multibody, state)),
        (system.springs.rate_index, state.springs.work, _axial_energies(system.springs, state)),
    ):
        for rate, work, held in zip(rates, works, energies, strict=True):
            losses[names.rate_joint[rate]] = losses.get(names.rate_joint[rate], 0.0) - float(work) - float(held)
    return losses


def _rate_energies(model: MultibodyModel, state: State) -> np.ndarray:
    """Energy in the elastic coordinates, by coordinate rate [J]."""
    energies = np.zeros(len(model.rate_damping))
    np.add.at(energies, model.spring_rate, _coordinate_energies(model, state))
    return energies


def _coordinate_energies(model: MultibodyModel, state: State) -> np.ndarray:
    return 0.5 * model.spring_stiffness * state.q[model.spring_position] ** 2


def _axial_energies(axial: JointSprings, state: State) -> np.ndarray:
    """Energy in the spring of each axial law [J]."""
    laws = [type(axial)(*[array[law : law + 1] for array in axial]) for law in range(len(axial.stiffness))]
    return np.array([joint_spring_energy(Packed(law), state.q) for law in laws])
