"""The parameters of the simulator node: their declarations, and their values as a dataclass."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rclpy.node import Node
from rclpy.parameter import Parameter

from grouser.nodes.shared.parameters import Declaration, declare, plain_value, stamped_by_default
from grouser.nodes.shared.scheduling import scheduling_declarations
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.machine_file.loader import BASES
from grouser.physics.simulation.building import integrator_names, scheme_names
from grouser.physics.simulation.lifting import LIFTED, SPAWNS
from grouser.runtime.sampling import Limits
from grouser.runtime.streams import DIAGNOSTICS_RATE, RATES, Rate

_HIGHEST_RATE = 10_000.0
PUBLISH_MAP_TF = "publish_map_tf"


def _rate(rate: Rate) -> Declaration:
    if rate.wall:
        return Declaration(rate.default, f"Rate of {rate.streams} [Hz of wall time].", False, 0.01, 100.0)
    text = f"Rate of {rate.streams} [Hz of simulation time]; 0: every step."
    return Declaration(rate.default, text, False, 0.0, _HIGHEST_RATE)


# An empty list has no type in ROS: a list of texts that contains only "" counts as empty.
DECLARATIONS: dict[str, Declaration] = {
    "autostart": Declaration(
        True, "Whether the node configures and activates itself; else it waits for transitions of its lifecycle."
    ),
    "machine": Declaration(
        "demolition_robot", "Machine: path of a URDF or xacro file, or the name of one that comes with grouser."
    ),
    "fleet": Declaration(
        "",
        "Several machines instead: path of a YAML file, the name of one that comes along, or its text; '': none.",
    ),
    "beside": Declaration(
        "", "Machines that stand beside the machine from the start, as of a fleet: a file, a name or a text; '': none."
    ),
    "machine_arguments": Declaration(("",), "Arguments of the machine's xacro file, each as name:=value."),
    "base": Declaration(
        "",
        "Base of the machine, fixed or floating; '': fixed if the root link is named world, else floating.",
        choices=("", *BASES),
    ),
    "packages": Declaration(
        ("",), "Folders of ROS packages that the machine's file names, each as NAME=FOLDER; others are searched for."
    ),
    "world": Declaration("flat", "World: path of a YAML file, or the name of one that comes with grouser."),
    "step": Declaration(0.001, "Size of a simulation step [s].", True, 1e-5, 0.1),
    "scheme": Declaration("implicit", "How hydraulics and mechanism are coupled.", choices=scheme_names()),
    "integrator": Declaration(
        "", "How the motion is integrated; '': as the machine says.", choices=("", *integrator_names())
    ),
    "spawn": Declaration(
        LIFTED,
        "What happens to a machine that starts inside the ground or an obstacle: it is lifted, or stays as given.",
        choices=SPAWNS,
    ),
    "sleeping": Declaration(True, "Whether free bodies at rest sleep until something touches them; machines do not."),
    "program": Declaration(
        "", "Control program that the node plays, timed or of blocks: path of a YAML file, or a name; '': none."
    ),
    "valves": Declaration(("",), "Order of the valves on valve_commands_array; empty: as in the machine's file."),
    **{name: _rate(rate) for name, rate in RATES.items()},
    "wall_rates": Declaration(
        False,
        "Whether rates of streams, but for those of sensors, are of wall time while the simulation is faster than it.",
    ),
    "terrain_reach": Declaration(
        10.0, "How far from wheels, tracks and shovels terrain and its maps go, along x and y [m].", False, 0.1, 1000.0
    ),
    "granular_count": Declaration(
        10_000,
        "How many grains granular/points has at most; of more every second, third or so on.",
        False,
        1,
        10_000_000,
    ),
    DIAGNOSTICS_RATE.parameter: _rate(DIAGNOSTICS_RATE),
    "publish_link_tf": Declaration(
        True, "Whether the links' transforms are published; false beside a robot_state_publisher: ball joints only."
    ),
    PUBLISH_MAP_TF: Declaration(
        True,
        "Whether the transform from map_frame to odom_frame or to a fixed base is published; false beside a localizer.",
        False,
    ),
    "publish_object_tf": Declaration(
        False, "Whether the poses of plain objects are also on /tf, as frames with their names below map_frame."
    ),
    "map_frame": Declaration(
        "map", "Frame of the world, in which ground_truth/odom, objects, contacts and terrain are given."
    ),
    "odom_frame": Declaration("odom", "Frame in which the machine moves, by its wheels' turning if it has any."),
    "base_footprint_frame": Declaration("base_footprint", "Frame below the base, on the ground, with its yaw only."),
    **scheduling_declarations("the threads that step and publish"),
    "start_paused": Declaration(False, "Whether the simulation waits for ~/pause or ~/step at the start."),
    "real_time_factor": Declaration(
        1.0, "Simulated seconds per wall second [-]; 0: as fast as possible.", False, 0.0, 1000.0
    ),
    "overrun_limit": Declaration(
        0.1, "How far the simulation may fall behind the wall clock before it gives up pace [s].", False, 1e-3, 10.0
    ),
    "command_timeout": Declaration(
        0.5,
        "Silence of a command source after which its actuators go to safety [s of simulation time]; 0: never.",
        False,
        0.0,
        3600.0,
    ),
    "cmd_vel_timeout": Declaration(
        0.5, "Silence on cmd_vel after which the vehicle stops [s of simulation time]; 0: never.", False, 0.0, 3600.0
    ),
    "push_timeout": Declaration(
        0.5, "Silence after which a push on a link ends [s of simulation time]; 0: never.", False, 0.0, 3600.0
    ),
    "enable_stamped_cmd_vel": Declaration(
        stamped_by_default(),
        "Whether cmd_vel is a TwistStamped or a Twist; by default as the ROS distribution has it: stamped from Kilted.",
    ),
    "lockstep_sources": Declaration(
        ("",), "Topics of commands that the simulation waits for at the start of every lockstep_period; empty: none."
    ),
    "lockstep_period": Declaration(
        0.01, "Simulation time between two commands of the lockstep_sources [s].", True, 1e-5, 10.0
    ),
    "lockstep_deadline": Declaration(
        1.0, "Longest wait for the lockstep_sources [s of wall time]; 0: any.", False, 0.0, 3600.0
    ),
    "record": Declaration("", "File to record the run in, for `grouser replay`: a new one, .mcap; '': none."),
    "record_file": Declaration(
        "", "File of the recording that ~/record begins: a new one, .mcap; '': recording_<date and time>.mcap.", False
    ),
    "bag": Declaration("", "Folder of a ROS 2 bag to record what is published in: a new one; '': none."),
    "replay": Declaration(
        "", "Recording to replay instead of a simulation, with its own machine, world and settings; '': none."
    ),
    "replay_time": Declaration(
        0.0, "Setting it shows the moment of a replay so long after its start [s].", False, 0.0, 1e7
    ),
    "replay_backward": Declaration(False, "Whether a replay goes back.", False),
    "step_request_count": Declaration(1, "Number of steps that one call of ~/step advances.", False, 1, 100_000),
    "reset_rewinds_time": Declaration(False, "Whether ~/reset sets simulation time back to zero too.", False),
}


@dataclass(frozen=True)
class SimulatorParameters:
    """Values of the parameters; each field is described in `DECLARATIONS` under its name, `rates` by its keys."""

    autostart: bool
    machine: str
    fleet: str
    beside: str
    machine_arguments: tuple[str, ...]
    base: str
    packages: tuple[str, ...]
    world: str
    step: float
    scheme: str
    integrator: str
    spawn: str
    sleeping: bool
    program: str
    valves: tuple[str, ...]
    rates: Mapping[str, float]
    wall_rates: bool
    terrain_reach: float
    granular_count: int
    diagnostics_rate: float
    publish_link_tf: bool
    publish_map_tf: bool
    publish_object_tf: bool
    map_frame: str
    odom_frame: str
    base_footprint_frame: str
    scheduling: str
    priority: int
    cpu: int
    lock_memory: bool
    start_paused: bool
    real_time_factor: float
    overrun_limit: float
    command_timeout: float
    cmd_vel_timeout: float
    push_timeout: float
    enable_stamped_cmd_vel: bool
    lockstep_sources: tuple[str, ...]
    lockstep_period: float
    lockstep_deadline: float
    record: str
    record_file: str
    bag: str
    replay: str
    replay_time: float
    replay_backward: bool
    step_request_count: int
    reset_rewinds_time: bool

    @property
    def limits(self) -> Limits:
        """How much of the ground and of grains is sampled."""
        return Limits(self.terrain_reach, self.granular_count)

    def xacro_arguments(self) -> dict[str, str]:
        """`machine_arguments` as names and values.

        Raises:
            ParameterError: an entry is not of the form name:=value.
        """
        arguments = {}
        for entry in self.machine_arguments:
            name, separator, value = entry.partition(":=")
            if not separator or not name:
                raise ParameterError("machine_arguments", entry, "each entry reads name:=value")
            arguments[name] = value
        return arguments


def declare_parameters(node: Node) -> SimulatorParameters:
    """Declares every parameter on a node and reads them.

    With `autostart` they are read-only for ROS; otherwise `fixed_parameter` refuses changes between configuration and
    cleanup.

    Raises:
        GrouserError: a parameter was set to a value of the wrong type, or out of its range.
    """
    first = declare(node, {"autostart": DECLARATIONS["autostart"]})
    others = {name: one for name, one in DECLARATIONS.items() if name not in first}
    if not first["autostart"]:
        others = {name: replace(one, read_only=False) for name, one in others.items()}
    values = {**first, **declare(node, others)}
    return SimulatorParameters(rates={name: values.pop(name) for name in RATES}, **values)


def fixed_parameter(changes: list[Parameter]) -> str:
    """Name of the first of some parameters that a configured simulator cannot change; empty if there is none."""
    return next((one.name for one in changes if one.name in DECLARATIONS and DECLARATIONS[one.name].read_only), "")


def updated(parameters: SimulatorParameters, changes: list[Parameter]) -> SimulatorParameters:
    """The parameters after a change while the node runs; other names are ignored."""
    changed = {change.name: plain_value(change.value) for change in changes if change.name in DECLARATIONS}
    rates = {name: changed.pop(name, rate) for name, rate in parameters.rates.items()}
    return replace(parameters, rates=rates, **changed)
