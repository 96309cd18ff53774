"""Optimisation in batches, whose suggestions depend on the seed and on earlier results alone."""

import math
from collections.abc import Sequence
from typing import Any

from grouser.physics.base.optional import require_package
from grouser.sweeps.parameters import Parameter

SAMPLERS = ("tpe", "random")


class Optimiser:
    """Suggests settings and is told what they gave. The same answers lead to the same suggestions.

    Args:
        parameters: with values or ranges.
        sampler: one of `SAMPLERS`: tree-structured Parzen estimators, or random.
        maximise: whether the greatest value is looked for, not the least.
        seed: of the sampler.

    Raises:
        ParameterError: the package optuna is not installed.
    """

    def __init__(self, parameters: Sequence[Parameter], sampler: str, maximise: bool, seed: int) -> None:
        optuna = require_package("optuna", "study", "an optimisation")
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        kinds = {"tpe": optuna.samplers.TPESampler, "random": optuna.samplers.RandomSampler}
        self._study = optuna.create_study(
            direction="maximize" if maximise else "minimize", sampler=kinds[sampler](seed=seed)
        )
        self._failed = optuna.trial.TrialState.FAIL
        self._parameters = {one.name: one for one in parameters}
        self._spaces = {}
        for one in parameters:
            if one.values:
                # Values may be lists, which categories may not.
                self._spaces[one.name] = optuna.distributions.CategoricalDistribution(range(len(one.values)))
            else:
                self._spaces[one.name] = optuna.distributions.FloatDistribution(one.low, one.high, log=one.log)

    def ask(self, count: int) -> list[dict[str, Any]]:
        """Returns the settings of the next runs."""
        self._asked = [self._study.ask(self._spaces) for _ in range(count)]
        return [
            {name: one.values[trial.params[name]] if one.values else trial.params[name]
             for name, one in self._parameters.items()}
            for trial in self._asked
        ]  # fmt: skip

    def tell(self, values: Sequence[float]) -> None:
        """Takes what the runs of the last `ask` gave, in their order; NaN for one that failed."""
        for trial, value in zip(self._asked, values, strict=True):
            if math.isnan(value):
                self._study.tell(trial, state=self._failed)
            else:
                self._study.tell(trial, value)
