"""Hanging chains that swing: time of a step and error of energy, beside MuJoCo's `Euler` and `implicitfast`.

A chain of even bars on hinges starts straight, inclined and at rest. Without friction its energy stays; the error is
the largest difference from the start, as a share of what the chain would lose by hanging straight down.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import grouser
from grouser.benchmarks.figure import Figure, alternating_medians
from grouser.benchmarks.peers import require
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Inertial, InitialPosition, Joint, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.world import World

DESCRIPTION = "swinging chains of 10 to 200 links: step and error of energy, beside MuJoCo"

LINKS = (10, 25, 50, 100, 200)
STEP = 0.001  # [s]
INTEGRATORS = ("Euler", "implicitfast")

_LENGTH, _THICKNESS, _MASS = 0.2, 0.02, 1.0  # of a link [m, m, kg]
_START = 0.5  # inclination [rad]
_GRAVITY = 9.81
_ACROSS = _MASS * (_LENGTH**2 + _THICKNESS**2) / 12.0  # moments of inertia [kg m2]
_ALONG = _MASS * _THICKNESS**2 / 6.0
_STEPS = 200
_REPEATS = 9
_DURATION = 10.0  # of the error of energy [s]
_LOOK = 10  # steps between two readings of the energy


def run() -> list[Figure]:
    """Measures all lengths."""
    mujoco = require("mujoco")
    return [figure for links in LINKS for figure in _measure(mujoco, links)]


def chain(links: int) -> Machine:
    """A chain on a fixed point; its hinges have the axis y."""
    inertial = Inertial(Pose((0.0, 0.0, -0.5 * _LENGTH)), _MASS, (_ACROSS, 0.0, 0.0, _ACROSS, 0.0, _ALONG))
    below = Pose((0.0, 0.0, -_LENGTH))
    return Machine(
        "chain",
        (Link("point"), *(Link(f"l{k}", inertial) for k in range(links))),
        tuple(
            Joint(
                f"j{k}", "continuous", f"l{k - 1}" if k else "point", f"l{k}", below if k else Pose(), (0.0, 1.0, 0.0)
            )
            for k in range(links)
        ),
        "point",
        floating_base=False,
        initial_positions=(InitialPosition("j0", _START),),
    )


def mujoco_text(links: int, integrator: str, with_energy: bool) -> str:
    """The same chain as text for MuJoCo."""
    text = ""
    for k in reversed(range(links)):
        place = -_LENGTH if k else 0.0
        text = (
            f'<body pos="0 0 {place}"><joint name="j{k}" type="hinge" axis="0 1 0"/>'
            f'<inertial pos="0 0 {-0.5 * _LENGTH}" mass="{_MASS}" diaginertia="{_ACROSS!r} {_ACROSS!r} {_ALONG!r}"/>'
            f"{text}</body>"
        )
    flag = '<flag energy="enable"/>' if with_energy else ""
    option = f'<option timestep="{STEP}" integrator="{integrator}" gravity="0 0 {-_GRAVITY}">{flag}</option>'
    return f"<mujoco>{option}<worldbody>{text}</worldbody></mujoco>"


def fall(links: int) -> float:
    """Energy that a chain has at its start above hanging straight down [J]."""
    return 0.5 * links**2 * _MASS * _GRAVITY * _LENGTH * (1.0 - math.cos(_START))


class MuJoCoChain:
    """A chain in MuJoCo."""

    def __init__(self, mujoco: Any, links: int, integrator: str, with_energy: bool = False):
        self.name = f"MuJoCo {mujoco.__version__}, {integrator}"
        self._mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_string(mujoco_text(links, integrator, with_energy))
        self.data = mujoco.MjData(self.model)
        self.data.qpos[0] = _START
        mujoco.mj_forward(self.model, self.data)

    def step(self, count: int) -> None:
        """Makes steps."""
        self._mujoco.mj_step(self.model, self.data, nstep=count)

    def energy(self) -> float:
        """At the start of the last step, if it was made with energy [J]."""
        return float(self.data.energy.sum())


def simulation(links: int) -> grouser.Simulation:
    """A chain in grouser, in free space."""
    return grouser.Simulation(chain(links), World(gravity=(0.0, 0.0, -_GRAVITY), ground=None), step=STEP)


def energy_error(program: Any, energy: Callable[[], float], duration: float) -> float:
    """Largest difference of the energy from that at the start, over a duration [s], in J."""
    start, largest = energy(), 0.0
    for _ in range(round(duration / STEP / _LOOK)):
        program.step(_LOOK)
        largest = max(largest, abs(energy() - start))
    return largest


def _measure(mujoco: Any, links: int) -> Iterator[Figure]:
    ours = simulation(links)
    ours.step(1)  # Compiles.
    peers = [MuJoCoChain(mujoco, links, integrator) for integrator in INTEGRATORS]
    own, *others = alternating_medians(_REPEATS, *[lambda made=made: made.step(_STEPS) for made in (ours, *peers)])
    for peer, other in zip(peers, others, strict=True):
        time, their_time = 1e6 / _STEPS * own, 1e6 / _STEPS * other
        details = {"a link [µs]": time / links, "a link, MuJoCo [µs]": their_time / links}
        yield Figure(f"step, chain of {links}", time, "µs", peer.name, their_time, details)
    ours = simulation(links)

    def energy() -> float:
        now = ours.energy()
        return now.kinetic + now.potential

    share = 100.0 / fall(links)
    error = share * energy_error(ours, energy, _DURATION)
    peers = [MuJoCoChain(mujoco, links, integrator, with_energy=True) for integrator in INTEGRATORS]
    errors = {peer.name: share * energy_error(peer, peer.energy, _DURATION) for peer in peers}
    details = {f"{name} [%]": value for name, value in errors.items()} | {"fall [J]": fall(links)}
    first = peers[0].name
    yield Figure(f"energy error in {_DURATION:g} s, chain of {links}", error, "%", first, errors[first], details)
