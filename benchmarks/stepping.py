"""The excavator and the rover of test/data/models, with the same motion in grouser and in a peer.

Both get the same masses, shapes, drives, friction and step as far as the peer supports them. The figure's details
have the differences, the distance between the two motions and their speeds.
"""

import math
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

import grouser
from grouser.benchmarks.figure import Figure, alternating_medians
from grouser.benchmarks.peers import source_file
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.world import Ground, Heightfield, World

STEP = 0.001  # [s]
MACHINES = ("excavator", "rover")
START_HEIGHT = {"excavator": 0.62, "rover": 0.8}  # of the base above the ground [m]

_TOLERANCE = 1e-6  # tolerance of grouser's impulses [m/s]
_SETTLING_STEPS = 3000
_STEPS = 2000
_REPEATS = 9
_SWINGS = {"j_upper": 0.4, "j_boom": -0.2, "j_stick": 0.3, "j_bucket": 0.4}  # amplitude of the swing [rad]
_SWING_RATE = 1.2  # [rad/s]
_WHEEL_SPEED = 2.0  # [rad/s]
_WHEELS = [f"j_wheel{place}_{side}" for side in "lr" for place in "fmr"]


class Stepper(Protocol):
    """A machine in one of the programs."""

    name: str

    @property
    def time(self) -> float:
        """Simulated so far [s]."""

    def step(self, count: int) -> None:
        """Makes steps."""

    def command(self, values: Mapping[str, float]) -> None:
        """Commands drives: joint -> position or speed wanted."""

    def base_position(self) -> np.ndarray:
        """Of the base link's frame in the world [m]."""

    def joint_positions(self) -> Mapping[str, float]:
        """Of every joint [rad]."""

    def fastest(self) -> float:
        """Greatest rate of a coordinate now [rad/s or m/s]."""

    def effort(self) -> int:
        """Iterations of the solver in the last step."""

    def conditions(self) -> Mapping[str, float | int | str]:
        """Settings of its solver."""


@dataclass(frozen=True)
class CommandSequence:
    """Commands over time, set at an interval of steps, which are made in one call."""

    word: str
    commands: Callable[[float], Mapping[str, float]]
    steps_a_call: int

    def play(self, machine: Stepper, since: float, look: Callable[[], object] | None = None) -> None:
        """Makes `_STEPS` steps; `look` is called after each call."""
        for _ in range(_STEPS // self.steps_a_call):
            machine.command(self.commands(machine.time - since))
            machine.step(self.steps_a_call)
            if look is not None:
                look()


REST = CommandSequence("at rest", lambda time: {}, _STEPS)
MOTIONS = {
    # beginning softly, so that the tracks do not slip
    "excavator": CommandSequence(
        "moving",
        lambda time: {joint: half * (1.0 - math.cos(_SWING_RATE * time)) for joint, half in _SWINGS.items()},
        10,
    ),
    "rover": CommandSequence("moving", lambda time: dict.fromkeys(_WHEELS, _WHEEL_SPEED), _STEPS),
}


def load(machine: str) -> Machine:
    """grouser's description of a machine."""
    return grouser.load_machine(source_file("benchmarks", "data", f"{machine}.urdf.xacro"))


class Grouser:
    """A stepper of grouser."""

    name = "grouser"

    def __init__(self, machine: str, field: Heightfield | None = None, height: float | None = None):
        at = (0.0, 0.0, START_HEIGHT[machine] if height is None else height)
        world = World(spawn=Pose(at), ground=Ground(heightfield=field))
        self.simulation = grouser.Simulation(load(machine), world, step=STEP, tolerance=_TOLERANCE)

    @property
    def time(self) -> float:
        """Simulated so far [s]."""
        return self.simulation.time

    def step(self, count: int) -> None:
        """Makes steps."""
        self.simulation.step(count)

    def command(self, values: Mapping[str, float]) -> None:
        """Commands drives."""
        self.simulation.command.update(values)

    def base_position(self) -> np.ndarray:
        """Of the base link's frame in the world [m]."""
        return self.simulation.base_pose()[0]

    def joint_positions(self) -> Mapping[str, float]:
        """Of every joint [rad]."""
        return dict(self.simulation.joint_position)

    def fastest(self) -> float:
        """Greatest rate of a coordinate now [rad/s or m/s]."""
        return float(np.abs(self.simulation.state.v).max())

    def effort(self) -> int:
        """Sweeps in the last step."""
        return self.simulation.diagnostics.iterations

    def conditions(self) -> Mapping[str, float | int | str]:
        """Settings of the solver."""
        state = self.simulation.diagnostics
        return {"contacts": state.contact_count, "rows": state.row_count, "tolerance [m/s]": _TOLERANCE}


def compare(title: str, ours: Grouser, peer: Stepper, motion: CommandSequence) -> Iterator[Figure]:
    """The figures at rest and in motion."""
    for machine in (ours, peer):
        machine.step(_SETTLING_STEPS)
    yield _measure(title, ours, peer, REST)
    since = ours.time
    for machine in (ours, peer):
        motion.play(machine, since)  # The jerk of the start is not measured.
    yield _measure(title, ours, peer, motion, since)


def _measure(title, ours, peer, motion, since=0.0):
    pair = (ours, peer)
    times = alternating_medians(_REPEATS, *[lambda machine=machine: motion.play(machine, since) for machine in pair])
    own, other = (1e6 / _STEPS * time for time in times)
    details = {**ours.conditions(), **peer.conditions(), "steps a call": motion.steps_a_call}
    for machine in pair:
        rates, efforts = [], []
        look = _observer(machine, rates, efforts)
        CommandSequence(motion.word, motion.commands, min(motion.steps_a_call, 10)).play(machine, since, look)
        details[f"fastest coordinate, most, {machine.name} [rad/s or m/s]"] = max(rates)
        details[f"fastest coordinate, median, {machine.name} [rad/s or m/s]"] = statistics.median(rates)
        details[f"iterations, mean, {machine.name}"] = sum(efforts) / len(efforts)
        details[f"iterations, most, {machine.name}"] = max(efforts)
    details.update(_apart(ours, peer))
    return Figure(f"step {motion.word}, {title}", own, "µs", peer.name, other, details)


def _observer(machine, rates, efforts):
    def look():
        rates.append(machine.fastest())
        efforts.append(machine.effort())

    return look


def _apart(ours, peer):
    """Difference of the two motions: height and horizontal position of the base, and joints except wheels."""
    apart = ours.base_position() - peer.base_position()
    theirs = peer.joint_positions()
    joints = [abs(angle - theirs[joint]) for joint, angle in ours.joint_positions().items() if "wheel" not in joint]
    return {
        "apart, height [mm]": 1e3 * abs(float(apart[2])),
        "apart, across the ground [mm]": 1e3 * math.hypot(*apart[:2].tolist()),
        "apart, joints [mrad]": 1e3 * max(joints),
        "travelled, grouser [m]": float(ours.base_position()[0]),
        f"travelled, {peer.name} [m]": float(peer.base_position()[0]),
    }
