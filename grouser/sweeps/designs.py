"""Designs: the settings of all runs of a sweep whose runs do not depend on results."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import qmc

from grouser.physics.base.errors import ParameterError
from grouser.physics.base.optional import require_package
from grouser.sweeps.parameters import Parameter

_INSIDE = 1e-12  # Least distance of a probability to 0 and 1, where distributions are infinite.


def grid(parameters: Sequence[Parameter]) -> list[dict[str, Any]]:
    """All combinations; the last parameter changes fastest."""
    names = [one.name for one in parameters]
    levels = (one.levels() for one in parameters)
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*levels)]


def latin_hypercube(parameters: Sequence[Parameter], samples: int, seed: int) -> list[dict[str, Any]]:
    """Latin hypercube: each of as many equally likely parts of every parameter is sampled once."""
    return _settings(parameters, qmc.LatinHypercube(len(parameters), seed=seed).random(samples))


def monte_carlo(parameters: Sequence[Parameter], samples: int, seed: int) -> list[dict[str, Any]]:
    """Independent random samples; more samples of one seed begin with the same ones."""
    return _settings(parameters, np.random.default_rng(seed).random((samples, len(parameters))))


def sobol(parameters: Sequence[Parameter], samples: int, seed: int, second_order: bool) -> list[dict[str, Any]]:
    """Saltelli's design for Sobol indices: (n + 2) runs a sample of n parameters, 2 n + 2 with the second order.

    Raises:
        ParameterError: samples are no power of two, or the package SALib is not installed.
    """
    if samples < 2 or samples & (samples - 1):
        raise ParameterError("samples", samples, "a power of two, as the balance of a Sobol sequence needs it")
    sampler = require_package("SALib.sample.sobol", "study", "Sobol indices")
    shares = sampler.sample(problem(parameters), samples, calc_second_order=second_order, seed=seed)
    return _settings(parameters, shares)


def problem(parameters: Sequence[Parameter]) -> Mapping[str, Any]:
    """The parameters as SALib has them, by their probabilities."""
    names = [one.name for one in parameters]
    return {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}


def _settings(parameters: Sequence[Parameter], shares: np.ndarray) -> list[dict[str, Any]]:
    inside = np.clip(shares, _INSIDE, 1.0 - _INSIDE).tolist()
    return [{one.name: one.at(share) for one, share in zip(parameters, row, strict=True)} for row in inside]
