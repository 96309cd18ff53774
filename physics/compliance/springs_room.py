"""Phases of springs and dampers along coordinates."""

from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base.accounts import AccountView, Ledger
from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import kernel
from grouser.physics.base.labels import ANEW, SPRING
from grouser.physics.base.packed import Packed
from grouser.physics.base.refusal import SMOOTH_TREES, Refused, present
from grouser.physics.compliance.coordinates import apply_coordinate_springs
from grouser.physics.compliance.springs import JointSprings, hysteresis_after, joint_spring_energy
from grouser.physics.constraints.work import DAMPER, account_dampers, account_springs
from grouser.physics.constraints.work import SPRING as SPRING_WORK
from grouser.physics.model.multibody import MultibodyModel


class State(NamedTuple):
    """What a restart needs.

    Attributes:
        hysteresis: effort of the hysteresis of each spring of a joint [N m or N].
        rate_work: work of each coordinate's damper and spring on the machine [J], (coordinates, 2).
        work: of each spring of a joint on the machine [J].
    """

    hysteresis: np.ndarray
    rate_work: np.ndarray
    work: np.ndarray


LABELS: Any = State(hysteresis=SPRING, rate_work=ANEW, work=ANEW)


class Workspace(NamedTuple):
    """Buffers of a step.

    Attributes:
        law: conductance and target of each spring of a joint, (springs, 2).
    """

    law: np.ndarray


def make_state(springs: JointSprings, model: MultibodyModel) -> State:
    """Relaxed hysteresis, empty accounts."""
    count = len(springs.rate_index)
    return State(np.zeros(count), np.zeros((len(model.rate_damping), 2)), np.zeros(count))


def make_workspace(springs: JointSprings) -> Workspace:
    """Buffers of the right sizes."""
    return Workspace(np.zeros((len(springs.rate_index), 2)))


def acts(springs: JointSprings, model: MultibodyModel) -> bool:
    """Whether there are dampers or springs."""
    return bool(len(springs.rate_index) or len(model.spring_rate) or model.rate_damping.any())


def refused(springs: JointSprings) -> Refused:
    """Refused by smooth integrators: backlash and hysteresis are not smooth."""
    things = {
        "backlash of a joint": bool((springs.half_gap > 0.0).any()),
        "hysteresis of a joint": bool((springs.hysteresis > 0.0).any()),
    }
    return present(things, SMOOTH_TREES)


@kernel
def apply_forces(context: Context):
    """Adds the springs and dampers to mass matrix and force."""
    system, state, motion = context.system, context.state, context.workspace.multibody
    apply_coordinate_springs(
        *(system.multibody, system.springs, state.q, state.v, state.springs.hysteresis, system.settings.step),
        *(motion.mass, motion.force, context.workspace.springs.law),
    )


@kernel
def account(context: Context):
    """Adds the work of the springs and dampers, and advances the hysteresis."""
    system, state, motion = context.system, context.state, context.workspace.multibody
    springs, own, step = system.springs, state.springs, system.settings.step
    account_dampers(system.multibody.rate_damping, step, motion.velocity, motion.velocity_mean, own.rate_work)
    account_springs(
        *(system.multibody, springs, state.q, motion.velocity, motion.velocity_mean, step, step),
        *(context.workspace.springs.law, own.rate_work, own.work),
    )
    for s in range(springs.rate_index.shape[0]):
        d = springs.rate_index[s]
        own.hysteresis[s] = hysteresis_after(springs, s, own.hysteresis[s], state.v[d], motion.velocity[d], step)


def open_accounts(view: AccountView) -> None:
    """Springs owe what they hold."""
    model, state = view.system.multibody, view.state.springs
    state.rate_work[...] = 0.0
    np.add.at(state.rate_work[:, SPRING_WORK], model.spring_rate, -_coordinate_energies(model, view.state.q))
    state.work[:] = -_spring_energies(view.system.springs, view.state.q)


def read_accounts(view: AccountView, ledger: Ledger) -> None:
    """Losses in dampers, and in springs: the work done on these, less the energy that they hold."""
    system, state, names = view.system, view.state.springs, ledger.owners
    for rate, name in enumerate(names.rate):
        ledger.add_loss(f"damping of {name}", -state.rate_work[rate, DAMPER])
    held = np.zeros(len(names.rate))
    np.add.at(held, system.multibody.spring_rate, _coordinate_energies(system.multibody, view.state.q))
    losses: dict[str, float] = {}
    for rates, works, energies in (
        (range(len(names.rate)), state.rate_work[:, SPRING_WORK], held),
        (system.springs.rate_index, state.work, _spring_energies(system.springs, view.state.q)),
    ):
        for rate, work, energy in zip(rates, works, energies, strict=True):
            losses[names.rate[rate]] = losses.get(names.rate[rate], 0.0) - float(work) - float(energy)
    for name, loss in losses.items():
        ledger.add_loss(f"elasticity of {name}", loss)


def _coordinate_energies(model: MultibodyModel, q: np.ndarray) -> np.ndarray:
    """Energy in each elastic coordinate [J]."""
    return 0.5 * model.spring_stiffness * q[model.spring_position] ** 2


def _spring_energies(springs: JointSprings, q: np.ndarray) -> np.ndarray:
    """Energy in each spring of a joint [J]."""
    each = [type(springs)(*[array[s : s + 1] for array in springs]) for s in range(len(springs.stiffness))]
    return np.array([joint_spring_energy(Packed(one), q) for one in each])
