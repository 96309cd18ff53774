"""What a simulator starts with: a machine with the names of the node, perhaps others beside it, or a fleet."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from grouser import catalogue
from grouser.fleet import load_fleet
from grouser.function_blocks.diagram import Diagram
from grouser.function_blocks.reader import load_control_program
from grouser.nodes.simulator.parameters import DECLARATIONS, SimulatorParameters
from grouser.physics.base.errors import ParameterError
from grouser.physics.description import load_machine
from grouser.physics.description.data.machine import Member
from grouser.physics.description.data.world import World
from grouser.physics.description.text.packages import read_packages
from grouser.program import CommandProgram
from grouser.runtime.lockstep import Lockstep
from grouser.runtime.mailbox import Mailbox
from grouser.runtime.report import LoopReport

# Parameters about the machine of the parameter `machine`.
_OF_ONE = ("beside", "machine_arguments", "base", "program", "valves")


@dataclass(frozen=True)
class Start:
    """Machines at the start, and the program that the one without a name plays.

    Attributes:
        members: by name; that of the parameter `machine` is "", in the pose that the world gives.
        program: control program; None: none.
    """

    members: dict[str, Member]
    program: CommandProgram | Diagram | None = None


def load_start(parameters: SimulatorParameters, world: World) -> Start:
    """Loads machines, to be placed in a world, and the program.

    Raises:
        GrouserError: a parameter, a machine or the program is not valid.
    """
    packages = read_packages(parameters.packages)
    if parameters.fleet:
        for name in _OF_ONE:
            value = getattr(parameters, name)
            if value not in ((), DECLARATIONS[name].default):
                raise ParameterError(name, value, "empty beside a fleet, whose machines have entries of their own")
        return Start(_placed(parameters.fleet, packages, world))
    machine = load_machine(
        catalogue.machine_file(parameters.machine), parameters.xacro_arguments(), parameters.base or None, packages
    )
    program = load_control_program(catalogue.program_file(parameters.program)) if parameters.program else None
    beside = _placed(parameters.beside, packages, world) if parameters.beside else {}
    return Start({"": Member(machine), **beside}, program)


def _placed(fleet: str, packages: Mapping[str, Path], world: World) -> dict[str, Member]:
    """The machines of a fleet, each with a pose."""
    loaded = load_fleet(fleet, packages)
    return {name: replace(member, pose=member.pose or world.spawn) for name, member in loaded.items()}


def make_lockstep(
    parameters: SimulatorParameters, known: Collection[str], mailbox: Mailbox, warn: Callable[[str], None]
) -> Lockstep:
    """The lockstep with the sources of commands that the parameters name.

    Args:
        parameters: of the simulator.
        known: all sources.
        mailbox: that gets the commands.
        warn: takes a warning for the user.

    Raises:
        ParameterError: a source is unknown.
    """
    for name in parameters.lockstep_sources:
        if name not in known:
            raise ParameterError("lockstep_sources", name, f"one of {', '.join(known)}")
    period = max(1, round(parameters.lockstep_period / parameters.step))
    return Lockstep(parameters.lockstep_sources, period, parameters.lockstep_deadline, mailbox, warn)


def start_text(report: LoopReport) -> str:
    """What a simulation does at its start, in words."""
    if not report.active:
        return "ready, not active"
    return "ready, paused" if report.paused else "running"
