"""Records of the solver's convergence."""

from grouser.physics.base.kernel import inlined


@inlined
def record_nonconvergence(state, rate, work):
    """Counts a step whose iteration did not converge.

    Args:
        state: of the step.
        rate: coordinate rate that still changed.
        work: the solver's (`constraints.room.Workspace`).
    """
    work.unsettled[2] += 1
    if work.unsettled[0] == 0:
        work.unsettled[0], work.unsettled[1] = state.step_count[0] + 1, rate


@inlined
def record_convergence(sweeps, residual, work):
    """Records the solver's figures of a step: the last and the largest since cleared."""
    work.sweeps[0] = sweeps
    work.sweeps[1] = max(work.sweeps[1], sweeps)
    work.residual[0] = residual
    work.residual[1] = max(work.residual[1], residual)
