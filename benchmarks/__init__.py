"""Benchmarks of grouser's speed: one module for each subject, with a peer in the same run where there is one.

A module has `DESCRIPTION` and `run()`, which returns its figures or raises `SkippedError`. Benchmarks assert nothing.
`grouser bench` shows the figures.
"""

from importlib import import_module
from typing import Protocol

from grouser.benchmarks.figure import Figure
from grouser.physics.simulation.named_view import unknown_name

NAMES: tuple[str, ...] = (
    "articulated_body",
    "step",
    "step_bullet",
    "four_bar",
    "batch",
    "envs",
    "machines",
    "contacts",
    "robots",
    "fleet",
    "chain",
    "flexible",
    "hydraulics",
    "granular",
    "blocks",
    "digging",
    "soil",
    "tracks",
    "friction",
    "attitude",
    "lidar",
    "ros",
    "hil",
    "objects",
    "viewer",
    "start",
    "setup_time",
)


class Benchmark(Protocol):
    """A module of this package."""

    DESCRIPTION: str

    def run(self) -> list[Figure]:
        """Measures."""


def load(name: str) -> Benchmark:
    """Returns the module of a benchmark.

    Raises:
        ParameterError: there is none of that name.
    """
    if name not in NAMES:
        raise unknown_name("benchmark", name, NAMES)
    return import_module(f"grouser.benchmarks.{name}")
