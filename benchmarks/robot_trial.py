"""One robot as its maker published it: loaded, stepped, and compared with MuJoCo and Pinocchio.

`robot_survey` gives each robot a process of its own, so that none can hold up the others.
"""

import re
import resource
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import grouser
from grouser import DivergenceError, GrouserError
from grouser.benchmarks.figure import alternating_medians
from grouser.benchmarks.robots import peer_on_ground, simulation_on_ground
from grouser.catalogue import machine_file
from grouser.physics.description.data.machine import Machine

RAN, REFUSED, DIVERGED, FAILED = "ran", "refused", "diverged", "failed"
INCOMPLETE, EMPTY = "incomplete", "empty"
MEMORY = 4_000_000_000  # bytes of data that a process may have
# What messages say of files that need others, or arguments.
_LACKS = ("package '[^']*' is not found", "mesh not found", "Undefined substitution argument", "' is not defined; when")
_SETTLING_STEPS = 500
_STEPS = 100
_REPEATS = 5


@dataclass(frozen=True)
class Outcome:
    """What happened to a robot.

    Attributes:
        result: RAN; REFUSED or DIVERGED with `message`; FAILED: its process ended otherwise; INCOMPLETE: it
            refers to a package or file that is not there, or needs arguments; EMPTY: no links, macros for other files.
        message: of an error.
        warnings: of the machine and the simulation.
        name: of the robot.
        links, freedoms, contacts: their numbers, the contacts after the steps.
        step: median time [µs].
        peer_step: MuJoCo's [µs]; None where it refuses the robot.
        peer_contacts: MuJoCo's number of contacts.
        peer_message: why MuJoCo refuses it.
        mass: of all links [kg].
        reference: program that `reference_mass` is of; "" where none loads the robot.
        reference_mass: its total mass [kg].
    """

    result: str
    message: str = ""
    warnings: tuple[str, ...] = ()
    name: str = ""
    links: int = 0
    freedoms: int = 0
    contacts: int = 0
    step: float | None = None
    peer_step: float | None = None
    peer_contacts: int = 0
    peer_message: str = ""
    mass: float = 0.0
    reference: str = ""
    reference_mass: float | None = None


def run_trial(file: Path, arguments: Mapping[str, str]) -> Outcome:
    """Loads a robot, a xacro file with arguments, and makes its steps; MuJoCo's beside them where it is installed."""
    try:
        machine = grouser.load_machine(file, arguments if file.suffix == ".xacro" else None)
    except GrouserError as error:
        return Outcome(_kind(file, str(error)), str(error))
    try:
        return _stepped(machine)
    except DivergenceError as error:
        return Outcome(DIVERGED, str(error), machine.warnings, machine.name, len(machine.links))
    except GrouserError as error:
        return Outcome(REFUSED, str(error), machine.warnings, machine.name, len(machine.links))


def _kind(file: Path, message: str) -> str:
    """The kind of a refusal."""
    fragment = file.suffix == ".urdf" and "<link" not in file.read_text(errors="replace")
    if fragment or "the robot has no link" in message:
        return EMPTY
    return INCOMPLETE if any(re.search(lack, message) for lack in _LACKS) else REFUSED


def _stepped(machine: Machine) -> Outcome:
    ours, height = simulation_on_ground(machine)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeWarning)
        ours.step(_SETTLING_STEPS)
        works, peer, refusal = [partial(ours.step, _STEPS)], None, ""
        try:
            peer = peer_on_ground(_mujoco(), machine, height)
        except (ValueError, ImportError) as error:
            refusal = " ".join(str(error).split())
        else:
            peer.step(_SETTLING_STEPS)
            works.append(partial(peer.step, _STEPS))
        medians = [1e6 / _STEPS * median for median in alternating_medians(_REPEATS, *works)]
    told = (str(one.message) for one in caught if one.category is RuntimeWarning)
    reference, mass = _reference_mass(machine)
    if peer is not None and not reference and machine.floating_base:
        reference, mass = peer.name, float(peer.model.body_mass.sum())
    return Outcome(
        RAN,
        warnings=tuple(dict.fromkeys((*machine.warnings, *ours.warnings, *told))),
        name=machine.name,
        links=len(machine.links),
        freedoms=len(ours.state.v),
        contacts=ours.diagnostics.contact_count,
        step=medians[0],
        peer_step=medians[1] if peer is not None else None,
        peer_contacts=int(peer.data.ncon) if peer is not None else 0,
        peer_message=refusal,
        mass=sum(link.inertial.mass for link in machine.links if link.inertial is not None),
        reference=reference,
        reference_mass=mass,
    )


def _mujoco() -> Any:
    import mujoco

    mujoco.set_mju_user_warning(lambda _: None)  # it would write them to a file in the working folder
    return mujoco


def _reference_mass(machine: Machine) -> tuple[str, float | None]:
    """Pinocchio's total mass of the same URDF; none where it is not installed or does not load it."""
    with suppress(ImportError, ValueError, RuntimeError):
        import pinocchio

        model = pinocchio.buildModelFromXML(machine.source)
        return f"Pinocchio {pinocchio.__version__}", sum(float(inertia.mass) for inertia in model.inertias)
    return "", None


def warm_up() -> None:
    """Loads the compiled physics, which processes that are forked later share."""
    grouser.Simulation(grouser.load_machine(machine_file("rover"))).step(1)


def send_trial(file: Path, arguments: Mapping[str, str], sender: Connection) -> None:
    """Tries a robot in this process, with a limit of its memory, and sends the outcome."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    try:
        outcome = run_trial(file, arguments)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the outcome
        outcome = Outcome(FAILED, f"{type(error).__name__}: {error}")
    sender.send(outcome)
