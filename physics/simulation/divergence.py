"""What stopped a simulation: a step without solution, or the first quantity that is not finite."""

import math

import numpy as np

from grouser.physics.base.errors import ConvergenceError, DivergenceError
from grouser.physics.blocks.masonry import block_names
from grouser.physics.integrators.context import State
from grouser.physics.simulation.building import Setup


def divergence(setup: Setup, state: State, time: float, unsolved_rate: int) -> DivergenceError | ConvergenceError:
    """The error that names the joint of a step without solution, or the first quantity that is not finite.

    Args:
        setup: of the simulation.
        state: after the step that diverged.
        time: of it [s].
        unsolved_rate: coordinate rate that still changed in the last iteration that did not converge.
    """
    quantities = (
        (setup.names.rate_joint, state.v),
        ([cylinder.name for cylinder in setup.machine.cylinders], state.hydraulics.piston),
        ([f"line {line}" for line in setup.lines], state.hydraulics.pressure),
        (setup.names.position_joint, state.q),
    )
    for names, values in quantities:
        for name, value in zip(names, values, strict=False):  # Rotors come after the pistons of cylinders.
            if not math.isfinite(value):
                return DivergenceError(time, setup.machine.joint_title(name), float(value))
    grains = state.granular.grains
    lost = np.flatnonzero(~np.isfinite(grains.position[: grains.number[0]]).all(axis=1))
    if len(lost):
        return DivergenceError(time, f"grain {grains.ident[lost[0]]}", math.inf)
    blocks = state.blocks.blocks
    bad = np.flatnonzero(~np.isfinite(blocks.velocity).all(axis=1))
    if len(bad):
        return DivergenceError(time, f"block '{block_names(setup.world.blocks)[bad[0]]}'", math.inf)
    if setup.integrator == "variational":
        problem = (
            "the variational integrator finds no rates for "
            f"{setup.machine.joint_title(setup.names.rate_joint[unsolved_rate])}: "
            "take a smaller step, or the integrator semi_implicit"
        )
        return ConvergenceError(time, setup.system.settings.step, problem)
    return DivergenceError(time, "the sum of the pressures of a cylinder", math.inf)
