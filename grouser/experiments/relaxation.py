"""Masses on springs with dry friction, pulled slowly: loads, events, cycles and kinds of motion.

After Mikhailova, "Relaxation self-oscillations of controlled systems with dry friction and elasticity" (2004). All is
in the paper's dimensionless quantities: time by the first mass's natural frequency on its spring, speed by that of
the load.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Parameter, count_steps, positive
from grouser.studies.friction.system import FrictionRun, FrictionSystem

# Below this speed a mass is at rest; the load's speed is 1.
REST_SPEED = 1e-10
LOADS = ("ramp", "triangle", "harmonic")

# Number of equal cycles of a periodic motion, and their tolerance as a share of their length.
_CYCLES, _AGREE = 5, 0.01
# Share of the load's greatest speed by which a speed has to fall short of the load's for that to be an oscillation.
_SWING = 0.1


def common_parameters(
    damping_ratio: float, kinetic_friction: float, load_frequency: float, step: float, duration: float
) -> dict[str, Parameter]:
    """Parameters of both experiments, with these defaults."""
    return {
        "damping_ratio": Parameter(damping_ratio, "-", "zeta, of every mass", minimum=0.0),
        "kinetic_friction": Parameter(kinetic_friction, "-", "R, friction of a sliding mass", minimum=0.0),
        "static_excess": Parameter(0.2, "-", "f1: a mass at rest holds (1 + f1) R", minimum=0.0),
        "load": Parameter("ramp", "-", "how the load grows", choices=LOADS),
        "load_frequency": positive(load_frequency, "-", "Om, of a load that turns"),
        "step": Parameter(step, "-", "of time", minimum=1e-5, maximum=0.1),
        "duration": positive(duration, "-", "time simulated"),
    }


def load_at(load: str, frequency: float, time: np.ndarray) -> np.ndarray:
    """Load P: `ramp`, the time itself; `triangle`, rising and falling with speed 1 at a period of 2 pi / Om;
    `harmonic`, pi / (2 Om) (1 - cos Om time), as high and on average as fast as the triangle.
    """
    if load == "ramp":
        return np.array(time)
    height = math.pi / frequency
    if load == "triangle":
        return height - np.abs(height - np.mod(time, 2.0 * height))
    return 0.5 * height * (1.0 - np.cos(frequency * time))


def load_speed(load: str, frequency: float, time: np.ndarray) -> np.ndarray:
    """Rate of the load."""
    if load == "ramp":
        return np.ones_like(time)
    if load == "triangle":
        return np.where(np.mod(time, 2.0 * math.pi / frequency) < math.pi / frequency, 1.0, -1.0)
    return 0.5 * math.pi * np.sin(frequency * time)


@dataclass(frozen=True)
class StickSlipMotion:
    """Events of a run.

    Attributes:
        run: the run; states are all positions, then all velocities.
        time: when a mass slipped or stopped, (events,).
        mass: which one, from 0, (events,).
        slips: whether it slipped, (events,).
        direction: sign of its speed after the slip, or before the stop, (events,).
    """

    run: FrictionRun
    time: np.ndarray
    mass: np.ndarray
    slips: np.ndarray
    direction: np.ndarray


def read_events(system: FrictionSystem, run: FrictionRun, load: np.ndarray) -> StickSlipMotion:
    """Finds the times, within their steps, at which masses slipped and stopped.

    A mass slips when what pulls at it reaches the static friction: the pull is taken to change evenly over the step
    in which it would have exceeded it, had the mass stayed. It stops when its speed, which goes on to change as in
    the step before, comes to zero.

    Args:
        system: positions, then velocities; one friction for each mass.
        run: its motion.
        load: at the instants of the run.
    """
    count = len(system.frictions)
    index = np.rint((run.event_time - run.time[0]) / (run.time[1] - run.time[0])).astype(int)
    which, state = run.event_friction, run.state
    position, velocity = which, count + which
    every = np.arange(len(index))

    held = state[index].copy()
    held[every, position], held[every, velocity] = state[index - 1, position], 0.0
    inertia = 1.0 / system.effects[velocity, which]

    def pull(at: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Pull on the masses of the events."""
        right = at @ system.matrix.T + load[step, np.newaxis] * system.inputs[:, 0]
        return np.abs(right[every, velocity] * inertia)

    static = np.array([friction.static for friction in system.frictions])[which]
    before, after = pull(state[index - 1], index - 1), pull(held, index)
    last, previous = state[index - 1, velocity], state[np.maximum(index - 2, 0), velocity]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(run.event_slips, (static - before) / (after - before), last / (previous - last))
    share = np.clip(np.nan_to_num(share, nan=1.0), 0.0, 1.0)
    time = run.time[index - 1] + share * (run.time[index] - run.time[index - 1])
    order = np.argsort(time, kind="stable")
    direction = np.sign(state[np.where(run.event_slips, index, index - 1), velocity])
    return StickSlipMotion(run, time[order], which[order], run.event_slips[order], direction[order])


def pull(
    system: FrictionSystem, parameters: Mapping[str, Any]
) -> tuple[StickSlipMotion, np.ndarray | None, float | None, slice]:
    """Pulls masses from rest.

    Args:
        system: positions, then velocities; one friction for each mass, and the load for input.
        parameters: of the experiment.

    Returns:
        The motion, its last cycles that are alike, their period, and which steps they take; None, None and all steps
        where there are none.

    Raises:
        ParameterError: a duration shorter than a step, or of too many steps.
    """
    steps, step = count_steps(parameters), parameters["step"]
    load = load_at(parameters["load"], parameters["load_frequency"], step * np.arange(steps + 1))
    run = system.run(np.zeros(len(system.matrix)), step, steps, load)
    motion = read_events(system, run, load)
    cycles = last_cycles(motion, cycles_end(parameters))
    if cycles is None:
        return motion, None, None, slice(None)
    start, end = motion.time[cycles[[0, -1], 0]]
    period = float((end - start) / (len(cycles) - 1))
    return motion, cycles, period, slice(*np.searchsorted(run.time, (start, end)))


def last_cycles(motion: StickSlipMotion, end: float) -> np.ndarray | None:
    """The events of the last five cycles, where these are alike.

    Cycles are alike where the same masses slip and stop in the same order and direction, and each event comes as long
    after the same one of the cycle before, to 1 % of a cycle.

    Args:
        motion: all events.
        end: when to look back from.

    Returns:
        Places of the events, (6, events of a cycle), the rows as far apart as these cycles; None where they are not
        alike.
    """
    events = np.flatnonzero(motion.time <= end)
    time, token = motion.time[events], (2 * motion.mass[events] + motion.slips[events] + 1) * motion.direction[events]
    for length in range(2, len(events) // (_CYCLES + 1) + 1):
        times = time[-(_CYCLES + 1) * length :].reshape(-1, length)
        tokens = token[-(_CYCLES + 1) * length :].reshape(-1, length)
        cycles = np.diff(times, axis=0)
        if (tokens == tokens[0]).all() and (np.abs(cycles - cycles[-1, -1]) <= _AGREE * cycles[-1, -1]).all():
            return events[-(_CYCLES + 1) * length :].reshape(-1, length)
    return None


def regime_of(
    motion: StickSlipMotion,
    parameters: Mapping[str, Any],
    compliance: Sequence[float] | np.ndarray,
    natural_period: float,
) -> str | None:
    """The kind of motion.

    Under a load that turns, looked at is its last whole half period, or as many as a natural period needs. *Free* is
    a motion in which no mass rests for more than a step (as it may where it turns), and *long* where it lasts longer
    than the longest natural period. It *oscillates* where a mass that has been faster than the load moves the springs
    falls short of that speed again, without a stop, by more than a tenth of its greatest value.

    Args:
        motion: what happened.
        parameters: of the experiment.
        compliance: displacement of each mass under a constant load 1.
        natural_period: the longest one.

    Returns:
        Under a ramp, `stick_slip` where masses stop again and again: the motion does not end in a long free one. Where
        it does, it is `decaying` if that oscillates and `sliding` if not.
        Under a load that turns, `stick_slip` where there is no long free motion. Where there is, `mixed` if masses rest
        besides and it oscillates, or if it does not, but masses also stop and go on in the same direction; `decaying`
        if no mass ever rests and it oscillates; `sliding` if nothing oscillates, and masses rest at most where the load
        turns.
        None: no slip, or less than a natural period since.
    """
    time, slides = motion.run.time, motion.run.sliding
    if len(motion.time) == 0:
        return None
    begin, end = motion.time[0], time[-1]
    turns = parameters["load"] != "ramp"
    whole = whole_halves(parameters)
    if turns and whole > 0:
        half = math.pi / parameters["load_frequency"]
        begin, end = max(begin, (whole - math.ceil(natural_period / half)) * half), whole * half
    if end - begin < natural_period:
        return None
    first, last = np.searchsorted(time, (begin, end), side="right")
    free: np.ndarray = np.all(slides[first:last], axis=1)
    free[1:-1] |= free[:-2] & free[2:]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], free, [False]]).astype(int))).reshape(-1, 2) + first
    long = [(a, b) for a, b in edges if time[b - 1] - time[a] > natural_period and (turns or b == last)]
    if not long:
        return "stick_slip"
    expected = load_speed(parameters["load"], parameters["load_frequency"], time)[:, np.newaxis] * compliance
    excess = (motion.run.state[:, slides.shape[1] :] - expected) * np.sign(expected)
    excess /= np.abs(expected[first:last]).max(axis=0)
    swings = any(_oscillates(excess[a:b]) for a, b in long)
    if turns and not free.all() and (swings or _goes_on(motion, begin, end)):
        return "mixed"
    return "decaying" if swings else "sliding"


def whole_halves(parameters: Mapping[str, Any]) -> int:
    """Whole half periods of the load in a run; none of a ramp."""
    if parameters["load"] == "ramp":
        return 0
    return math.floor(parameters["duration"] * parameters["load_frequency"] / math.pi + 1e-9)


def _oscillates(excess: np.ndarray) -> bool:
    """Whether a speed, of each mass in a column, falls short of the load's after it has exceeded it."""
    return any((column[np.argmax(column > 0.0) :] < -_SWING).any() for column in excess.T if (column > 0.0).any())


def _goes_on(motion: StickSlipMotion, begin: float, end: float) -> bool:
    """Whether a mass that stops goes on in the same direction, between two instants."""
    within = (motion.time > begin) & (motion.time < end)
    for mass in range(motion.run.sliding.shape[1]):
        direction = motion.direction[within & (motion.mass == mass)]
        slips = motion.slips[within & (motion.mass == mass)]
        if (slips[1:] & (direction[1:] == direction[:-1])).any():
            return True
    return False


def cycles_end(parameters: Mapping[str, Any]) -> float:
    """When to look back for cycles: the last turn of the load, or the end."""
    whole = whole_halves(parameters)
    return whole * math.pi / parameters["load_frequency"] if whole > 0 else parameters["duration"]


def draw_curve(panel: Any, time: Any, values: Any, reference: Reference, theirs: str) -> None:
    """A curve over time, with a column of the reference over its `tau` beside it, where present."""
    panel.plot(time, values, label="simulation", linewidth=0.8)
    draw_reference(panel, reference, "tau", theirs)
    panel.grid(alpha=0.3)
