"""Convergence of the solver of impulses over many steps, and what is wanted of it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import grouser
from grouser.benchmarks.figure import Target

MEAN_SWEEPS = 15.0
RESIDUAL = 1e-6  # [m/s]


@dataclass(frozen=True)
class SolverEffort:
    """Convergence over some steps.

    Attributes:
        mean_sweeps, most_sweeps: of a step.
        residual: largest change of a row's own speed in the last sweep of a step [m/s or rad/s].
        limited: share of the steps whose sweeps ended at their limit.
    """

    mean_sweeps: float
    most_sweeps: int
    residual: float
    limited: float

    @classmethod
    def of(cls, simulation: grouser.Simulation, sweeps: Collection[int], steps: int) -> "SolverEffort":
        """The effort since the diagnostics were cleared.

        Args:
            simulation: with its diagnostics.
            sweeps: of each step, or of a sample of them.
            steps: number of steps since then.
        """
        diagnostics = simulation.diagnostics
        mean, limited = sum(sweeps) / len(sweeps), diagnostics.unsettled_steps / steps
        return cls(mean, diagnostics.iterations_max, diagnostics.residual_max, limited)

    @property
    def details(self) -> Mapping[str, float | int]:
        """For a figure."""
        return {
            "sweeps, mean": self.mean_sweeps,
            "sweeps, most": self.most_sweeps,
            "residual, largest [m/s]": self.residual,
            "steps at the limit of sweeps, share": self.limited,
        }

    @property
    def targets(self) -> tuple[Target, ...]:
        """Few sweeps, no step at their limit, a small residual."""
        return (
            Target("sweeps, mean", self.mean_sweeps, MEAN_SWEEPS),
            Target("residual [m/s]", self.residual, RESIDUAL),
            Target("share of steps at the limit of sweeps", self.limited, 0.0),
        )


def step_and_watch(simulation: grouser.Simulation, steps: int) -> SolverEffort:
    """Makes steps and returns the solver's effort in them."""
    simulation.clear_diagnostics()
    sweeps = []
    for _ in range(steps):
        simulation.step()
        sweeps.append(simulation.diagnostics.iterations)
    return SolverEffort.of(simulation, sweeps, steps)
