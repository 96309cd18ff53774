"""First-order systems with dry friction and limits, and their simulation.

    E y' = f(y, u(t), t) - sum_i g_i F_i,    F_i against the speed v_i = w_i . y,    low_k <= y_k <= high_k,

by the implicit Euler scheme of Mikhailova (2004). With matrices f = A y + B u; a compiled function may be anything.
A friction force is at rest or slides, and each state has its own level (`reduced`). A limit holds its variable, whose
equation is then left out: an algebraic variable (a row of zeros in E) with limits is a signal that saturates. Where
another equation gives way, the one of a speed, what holds a place at its limit is the force of a stop.
"""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grouser.physics.base.checks import STEPS_MAX, as_float, require_count, require_items
from grouser.physics.base.errors import ConvergenceError, DivergenceError, ParameterError
from grouser.studies.friction.reduced import make_reduced
from grouser.studies.friction.right_side import RightSide
from grouser.studies.friction.stepping import HALVINGS, NewtonBuffers, run_function, run_matrices

_Vector = Sequence[float] | np.ndarray


@dataclass(frozen=True)
class DryFriction:
    """A dry friction force of two states.

    Attributes:
        speed: w, the speed that it acts against is w . y, (n,).
        static, kinetic: level at rest, and sliding [N or N m], the latter at most the former.
        effect: g, what the force takes from the right side of the equations, (n,); None for `speed`.
        rest_speed: below it a fictitious viscosity stands for rest: 1e-10 of a speed that is typical of the system.
        name: for messages.
    """

    speed: _Vector
    static: float
    kinetic: float
    effect: _Vector | None = None
    rest_speed: float = 1e-10
    name: str = "friction"


@dataclass(frozen=True)
class VariableLimit:
    """Limits of a variable.

    Attributes:
        variable: its place in y.
        lower, upper: lowest and highest value.
        effect: what gives way for it: the right side changes by a multiple of this, (n,), that raises the variable
            where positive; None for the equation of the variable itself.
        name: for messages.
    """

    variable: int
    lower: float = -math.inf
    upper: float = math.inf
    effect: _Vector | None = None
    name: str = "limit"


@dataclass(frozen=True)
class FrictionRun:
    """The motion of a system, at the start and after each step.

    Attributes:
        time: (steps + 1,) [s].
        state: y, (steps + 1, n).
        force: of each friction, against its speed where positive, (steps + 1, m); zero at the start.
        sliding: state of each friction, (steps + 1, m).
        event_time: times at which a friction force changed its state, (events,) [s].
        event_friction: which one, (events,).
        event_slips: whether it began to slide, else came to rest, (events,).
        halved: steps that did not converge in one and were made in parts.
    """

    time: np.ndarray
    state: np.ndarray
    force: np.ndarray
    sliding: np.ndarray
    event_time: np.ndarray = field(repr=False)
    event_friction: np.ndarray = field(repr=False)
    event_slips: np.ndarray = field(repr=False)
    halved: int = 0


class FrictionSystem:
    """A system of first order with any number of friction forces and limits.

    Args:
        matrix: A, (n, n); or a function `f(t, y, u, out)`, compiled by numba, that writes f into `out`.
        inputs: B, (n, inputs), of a matrix A; None for none.
        mass: E, (n, n) or its diagonal (n,); None for 1.
        frictions, limits: any number.
        scale: what is typical of each variable, where `matrix` is a function, (n,): its derivatives are taken over such
            a distance times 1e-7, and its equations solved to that times 1e-9.

    Raises:
        ParameterError: shapes that do not fit, numbers that are not finite, a kinetic level above the static one, a
            negative level, limits that leave no room or share a variable.
    """

    def __init__(
        self,
        matrix: np.ndarray | Callable[..., None],
        inputs: np.ndarray | None = None,
        mass: np.ndarray | None = None,
        frictions: Sequence[DryFriction] = (),
        limits: Sequence[VariableLimit] = (),
        scale: _Vector | None = None,
    ):
        self.right_side = RightSide(matrix) if callable(matrix) else None
        if self.right_side is not None and scale is None:
            raise ParameterError("scale", scale, "needed where the right side is a function")
        self.scale = np.zeros(0) if scale is None else _finite("scale", scale)
        if self.scale.ndim != 1 or not (self.scale > 0.0).all() or (callable(matrix) and not len(self.scale)):
            raise ParameterError("scale", scale, "one number above 0 for each variable")
        n = len(self.scale)
        self.matrix = np.zeros((n, n)) if callable(matrix) else _finite("matrix", matrix)
        if self.matrix.ndim != 2 or self.matrix.shape[0] != self.matrix.shape[1]:
            raise ParameterError("matrix", self.matrix.shape, "(n, n)")
        n = len(self.matrix)
        self.inputs = np.zeros((n, 0)) if inputs is None else _finite("inputs", inputs)
        if self.inputs.ndim != 2 or len(self.inputs) != n:
            raise ParameterError("inputs", self.inputs.shape, f"({n}, number of inputs)")
        mass = np.eye(n) if mass is None else _finite("mass", mass)
        self.mass = np.diag(mass) if mass.ndim == 1 else mass
        if self.mass.shape != (n, n):
            raise ParameterError("mass", self.mass.shape, f"({n}, {n}) or ({n},)")
        self.frictions = require_items("frictions", frictions, DryFriction, "a DryFriction")
        self.limits = require_items("limits", limits, VariableLimit, "a VariableLimit")
        for friction in self.frictions:
            _check_friction(friction, n)
        for i, limit in enumerate(self.limits):
            _check_limit(limit, n)
            if limit.variable in [other.variable for other in self.limits[:i]]:
                raise ParameterError(f"variable of '{limit.name}'", limit.variable, "without limits so far")
        self.variables = np.array([limit.variable for limit in self.limits], dtype=np.int64)
        self.speeds = np.array([f.speed for f in self.frictions], dtype=float).reshape(-1, n)
        effects = [f.speed if f.effect is None else f.effect for f in self.frictions]
        effects += [np.eye(n)[k.variable] if k.effect is None else k.effect for k in self.limits]
        self.effects = np.ascontiguousarray(np.array(effects, dtype=float).reshape(-1, n).T)

    def run(
        self,
        start: _Vector,
        step: float,
        steps: int,
        inputs: np.ndarray | Callable[[np.ndarray], np.ndarray] | None = None,
        time: float = 0.0,
        sliding: Sequence[bool] | None = None,
    ) -> FrictionRun:
        """Simulates the system.

        Args:
            start: y at the start, (n,).
            step: [s].
            steps: number of steps.
            inputs: u at the start and at the end of each step, (steps + 1, inputs), linear in between; or a function
                that gives them for an array of times.
            time: at the start [s].
            sliding: state of each friction at the start; None: at rest.

        Raises:
            ParameterError: shapes that do not fit, a start beyond a limit, a step that is not above 0.
            ConvergenceError: a step did not converge, however short its parts.
            DivergenceError: the state left the finite numbers.

        Warns:
            RuntimeWarning: steps did not converge in one, and were made in parts.
        """
        n, m = len(self.matrix), len(self.frictions)
        start = _finite("start", start)
        if start.shape != (n,):
            raise ParameterError("start", start.shape, f"({n},)")
        if not 0.0 < as_float(step) < math.inf:
            raise ParameterError("step", step, "above 0 s")
        require_count("steps", steps, 0, STEPS_MAX)
        if not math.isfinite(as_float(time)):
            raise ParameterError("time", time, "a finite number")
        for limit in self.limits:
            if not limit.lower <= start[limit.variable] <= limit.upper:
                valid = f"between {limit.lower:g} and {limit.upper:g}, the limits of '{limit.name}'"
                raise ParameterError(f"start[{limit.variable}]", float(start[limit.variable]), valid)
        times = time + step * np.arange(steps + 1)
        given = inputs(times) if callable(inputs) else inputs
        wanted = (steps + 1, self.inputs.shape[1])
        samples = np.zeros(wanted) if given is None else _finite("inputs", given)
        samples = samples[:, np.newaxis] if samples.ndim == 1 else samples
        if samples.ndim != 2 or len(samples) != steps + 1 or (self.right_side is None and samples.shape != wanted):
            raise ParameterError("inputs", samples.shape, f"{wanted}, a row at the start and for each step")
        reduced = make_reduced(
            n,
            [f.static for f in self.frictions],
            [f.kinetic for f in self.frictions],
            [f.rest_speed for f in self.frictions],
            [limit.lower for limit in self.limits],
            [limit.upper for limit in self.limits],
            samples.shape[1],
        )
        if sliding is not None:
            if np.shape(sliding) != (m,):
                raise ParameterError("sliding", sliding, f"{m} times true or false, one for each friction")
            reduced.sliding[:] = sliding
        state, force = np.zeros((steps + 1, n)), np.zeros((steps + 1, m))
        slides = np.zeros((steps + 1, m), dtype=np.bool_)
        state[0], slides[0] = start, reduced.sliding
        if self.right_side is None:
            arrays = self._levels(step)
            done, halved = run_matrices(*arrays, self.variables, self.speeds, samples, reduced, state, force, slides)
        else:
            buffers = NewtonBuffers.of(self.scale, len(reduced.free))
            done, halved = run_function(
                *(self.right_side.address, self.mass, self.effects, self.variables, self.speeds, samples, time, step),
                *(reduced, buffers, state, force, slides),
            )
        if done < steps:
            _report(times[done], state[done + 1], step)
        if halved:
            warnings.warn(
                f"{halved} of {steps} steps of {step:g} s did not converge, and were made in parts",
                RuntimeWarning,
                stacklevel=2,
            )
        changes = np.argwhere(slides[1:] != slides[:-1])
        k, which = changes[:, 0], changes[:, 1]
        return FrictionRun(times, state, force, slides, times[k + 1], which, slides[k + 1, which], halved)

    def _levels(self, step: float) -> tuple[np.ndarray, ...]:
        """Matrices of a step for y, u, forces and limits, for the step and its halves.

        Raises:
            ParameterError: the equations have no unique solution; a force accelerates what it should hold.
        """
        n = len(self.matrix)
        rows = np.vstack([self.speeds, np.eye(n)[self.variables]])
        moved, driven, answers, responses = [], [], [], []
        for halving in range(HALVINGS + 1):
            inertia = self.mass * 2.0**halving / step
            try:
                inverse = np.linalg.inv(inertia - self.matrix)
            except np.linalg.LinAlgError:
                inverse = np.full((n, n), np.nan)
            if not np.isfinite(inverse).all():
                raise ParameterError("matrix", "singular", f"E / step - A with an inverse, at a step of {step:g} s")
            moved.append(inverse @ inertia)
            driven.append(inverse @ self.inputs)
            answers.append(inverse @ self.effects)
            responses.append(rows @ inverse @ self.effects)
        parts: list[DryFriction | VariableLimit] = [*self.frictions, *self.limits]
        for part, response in zip(parts, responses[-1].diagonal(), strict=True):
            if response < 0.0:
                valid = "of the other sign: as it is, it drives what it should hold"
                if part.effect is None:
                    valid += " (an algebraic variable's own coefficient in its equation is negative)"
                raise ParameterError(f"effect of '{part.name}'", part.effect, valid)
        return tuple(np.array(part) for part in (moved, driven, answers, responses))


def _check_friction(friction: DryFriction, n: int) -> None:
    name = friction.name
    for key, vector in (("speed", friction.speed), ("effect", friction.effect)):
        if (key == "speed" or vector is not None) and _finite(f"{key} of '{name}'", vector).shape != (n,):
            raise ParameterError(f"{key} of '{name}'", vector, f"{n} numbers")
    if not 0.0 <= as_float(friction.static) < math.inf:
        raise ParameterError(f"static friction of '{name}'", friction.static, "0 or more, and finite")
    if not 0.0 <= as_float(friction.kinetic) <= friction.static:
        valid = f"0 to the static friction, {friction.static:g}"
        raise ParameterError(f"kinetic friction of '{name}'", friction.kinetic, valid)
    if not 0.0 < as_float(friction.rest_speed) < math.inf:
        raise ParameterError(f"rest speed of '{name}'", friction.rest_speed, "above 0")


def _check_limit(limit: VariableLimit, n: int) -> None:
    require_count(f"variable of '{limit.name}'", limit.variable, 0, n - 1)
    if limit.effect is not None and _finite(f"effect of '{limit.name}'", limit.effect).shape != (n,):
        raise ParameterError(f"effect of '{limit.name}'", limit.effect, f"{n} numbers")
    if not as_float(limit.lower) <= as_float(limit.upper):
        raise ParameterError(f"limits of '{limit.name}'", (limit.lower, limit.upper), "lower at most upper")


def _finite(name: str, value: Any) -> np.ndarray:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(name, value, "numbers") from None
    if not np.isfinite(array).all():
        raise ParameterError(name, value, "finite numbers")
    return array


def _report(time: float, state: np.ndarray, step: float) -> None:
    wrong = np.flatnonzero(~np.isfinite(state))
    if len(wrong):
        raise DivergenceError(time, f"variable {wrong[0]}", float(state[wrong[0]]))
    raise ConvergenceError(time, step * 2.0**-HALVINGS)
