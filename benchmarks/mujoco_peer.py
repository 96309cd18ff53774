"""A model of MuJoCo that is stepped beside grouser, and the tolerance with which both are equally exact.

The residuals of both programs are speeds [m/s]. That of grouser is the largest change of a row's own speed in the last
sweep of a step. MuJoCo minimises over the acceleration a; its gradient, M a - f - J^T p with the forces p of the
constraints, is force without balance, and step * J M^-1 of it is the change of speed that it would make at the
contacts. MuJoCo gets the loosest tolerance, of powers of ten, with which this is below grouser's tolerance in all
steps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from grouser.benchmarks.solver_effort import RESIDUAL

TOLERANCES = tuple(10.0**-power for power in range(4, 17))


class MuJoCoPeer:
    """A model of MuJoCo with its state.

    Args:
        mujoco: the module.
        model: its model.
        put_at_start: puts data back to the start.

    Attributes:
        name: of the program.
        model, data: MuJoCo's.
    """

    def __init__(self, mujoco: Any, model: Any, put_at_start: Callable[[Any], None]):
        self.name = f"MuJoCo {mujoco.__version__}"
        self._mujoco, self._put_at_start = mujoco, put_at_start
        self.model, self.data = model, mujoco.MjData(model)
        self.start()

    def start(self) -> None:
        """Puts it back to the start."""
        self._put_at_start(self.data)

    def step(self, count: int) -> None:
        """Makes steps."""
        self._mujoco.mj_step(self.model, self.data, nstep=count)

    def residual(self) -> float:
        """Largest change of speed that the last step left at a row of the constraints [m/s]."""
        mujoco, model, data = self._mujoco, self.model, self.data
        if data.nefc == 0:
            return 0.0
        force, change, speed = np.zeros(model.nv), np.zeros((1, model.nv)), np.zeros(data.nefc)
        mujoco.mj_mulM(model, data, force, data.qacc)
        force -= data.qfrc_smooth + data.qfrc_constraint
        mujoco.mj_solveM(model, data, change, force[None, :])
        mujoco.mj_mulJacVec(model, data, speed, change[0])
        return model.opt.timestep * float(np.abs(speed).max())

    def iterations(self) -> int:
        """Of the solver in the last step, in the island that took most."""
        return int(np.max(self.data.solver_niter))

    def position(self, body: str) -> np.ndarray:
        """Of a body's frame in the world [m]."""
        return np.array(self.data.body(body).xpos)

    def settle_tolerance(self, steps: int) -> None:
        """Takes the loosest tolerance that leaves no larger residual than grouser's, else the tightest.

        Args:
            steps: from the start, in which the residual is observed.
        """
        for tolerance in TOLERANCES:
            self.model.opt.tolerance = tolerance
            self.start()
            if self.watch(steps, RESIDUAL).residual <= RESIDUAL:
                break
        self.start()

    def watch(self, steps: int, most: float = np.inf) -> "PeerEffort":
        """Makes steps, as long as the residual is not above the most [m/s]."""
        iterations, residual = [], 0.0
        while len(iterations) < steps and residual <= most:
            self.step(1)
            iterations.append(self.iterations())
            residual = max(residual, self.residual())
        return PeerEffort(sum(iterations) / len(iterations), max(iterations), residual)


@dataclass(frozen=True)
class PeerEffort:
    """MuJoCo's iterations and largest residual [m/s] over some steps."""

    mean: float
    most: int
    residual: float
