"""Phases of springs and dampers along coordinates."""

from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import kernel
from grouser.physics.base.labels import ANEW, SPRING
from grouser.physics.base.refusal import SMOOTH_TREES, Refused, present
from grouser.physics.compliance.coordinates import apply_coordinate_springs
from grouser.physics.compliance.springs import JointSprings, hysteresis_after
from grouser.physics.constraints.work import account_dampers, account_springs
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
