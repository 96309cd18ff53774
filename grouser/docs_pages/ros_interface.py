"""Writes docs/ros_interface.md: topics, services, actions and parameters of the nodes, read from running nodes.

python -m grouser.docs_pages.ros_interface > docs/ros_interface.md

Each node is created without ROS arguments, the simulator once for every shipped machine, and its publishers,
subscriptions, services and actions are listed; nothing is simulated. Parameters come from the
`DECLARATIONS` of the module of the node's class or its base class.
"""

import inspect
import math
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

import rclpy
import yaml
from rclpy.action.graph import get_action_client_names_and_types_by_node, get_action_server_names_and_types_by_node
from rclpy.lifecycle import LifecycleNode
from rclpy.logging import LoggingSeverity, get_logger_effective_level, set_logger_level
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from grouser import catalogue
from grouser.bridges.protocols import KINDS
from grouser.nodes.shared import topics
from grouser.nodes.shared.parameters import Declaration
from grouser.nodes.simulator import trajectory_parameters
from grouser.nodes.simulator.fault_parameters import declaration_of
from grouser.nodes.simulator.node import SimulatorNode
from grouser.nodes.simulator.parameters import DECLARATIONS
from grouser.nodes.viewer.node import Viewer
from grouser.physics.description import load_machine
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.world import World
from grouser.physics.hydraulics.faults import machine_faults
from grouser.resources import share_path
from grouser.runtime.streams import ALWAYS, STREAMS, Given
from grouser.runtime.vehicle_parts import driven_vehicle

# Executables with a node of their own, in the order of the page, and their modules.
NODES = {
    "simulator": "grouser.nodes.simulator.node",
    "attitude_controller": "grouser.nodes.attitude.controller",
    "goal_follower": "grouser.nodes.navigation.goal_follower",
    "joystick_bridge": "grouser.nodes.bridges.joystick_bridge",
    "can_bridge": "grouser.nodes.bridges.can_bridge",
    "plc_bridge": "grouser.nodes.bridges.plc_bridge",
    "serial_bridge": "grouser.nodes.bridges.serial_bridge",
    "fmu_bridge": "grouser.nodes.bridges.fmu_bridge",
    "operator": "grouser.nodes.operator.node",
    "viewer": "grouser.nodes.viewer.node",
    "world_map": "grouser.nodes.navigation.world_map",
}
# Worlds with and without soil.
WORLDS = ("flat", "sand")
_TIP_PATTERN = "excavator_tip"  # with which the operator hears the machine
_NAMESPACE = "/robot"
_EVERY_LOGGER = ""
_HEADINGS = {
    "out": "Topics it publishes",
    "in": "Topics it hears",
    "serves": "Services",
    "acts": "Actions",
    "asks": "Services it calls",
    "orders": "Actions it calls",
}
_INTRODUCTION = """# The ROS 2 interface

What every node says, hears and serves, and its parameters. This page is made by the nodes themselves:
`python -m grouser.docs_pages.ros_interface > docs/ros_interface.md`.

Names are relative to the node's namespace unless they begin with `/`; `~` is the node's own name. All can be remapped.
A rate is a parameter of the node, with its default. What every node of ROS 2 has (`/rosout`, `/parameter_events`,
services for parameters, and those of a lifecycle node) is left out.
"""


_FOLLOWING = Given(
    "drives in position or velocity mode", lambda machine, world: any(one.mode != "effort" for one in machine.drives)
)

_DIAGRAM = Given("a program of function blocks", lambda machine, world: False)


def _can_drive(machine: Machine, world: World) -> bool:
    return driven_vehicle(machine) is not None


_DRIVEN = Given("a floating base and driven wheels or tracks", _can_drive)


@dataclass(frozen=True)
class Meaning:
    """Description of an endpoint.

    Attributes:
        words: its meaning.
        rate: parameter of the simulator for its rate; "": none.
        given: condition for the simulator to have it.
    """

    words: str
    rate: str = ""
    given: Given = ALWAYS


# Packages that are no dependency; their interfaces are described in a paragraph of their own.
_OPTIONAL = ("ros_gz_interfaces", "simulation_interfaces")


def _optional(kind: str) -> bool:
    return kind.split("/")[0] in _OPTIONAL


MEANINGS: dict[str, Meaning] = {
    **{
        stream.shown: Meaning(stream.meaning, stream.rate.parameter if stream.rate else "", stream.given)
        for stream in STREAMS.values()
        if not _optional(stream.type)
    },
    topics.VALVE_COMMANDS: Meaning("a group for each valve, with the one interface `spool_command`, in [-1, 1]"),
    topics.VALVE_COMMANDS_ARRAY: Meaning("the same in the order of the parameter `valves`"),
    topics.JOINT_COMMANDS: Meaning("position, velocity or effort of each joint, as its drive's mode says"),
    topics.JOINT_TRAJECTORY: Meaning("a trajectory to follow", given=_FOLLOWING),
    topics.FOLLOW_JOINT_TRAJECTORY: Meaning("a trajectory to follow; docs/trajectories.md", given=_FOLLOWING),
    topics.CMD_VEL: Meaning("TwistStamped with `enable_stamped_cmd_vel`, else Twist", given=_DRIVEN),
    topics.EMERGENCY_STOP: Meaning("stops this machine; latched until `~/clear_emergency_stop` or a reset"),
    topics.PUSH: Meaning(
        "pushes the link of its frame, or a plain object: force at the frame's origin, and moment, along its axes, "
        "for `push_timeout`; zeros end it; docs/pushes.md"
    ),
    topics.STOP_OF_ALL: Meaning("the same for all machines of the simulation"),
    topics.JOY: Meaning("levers and buttons of the joystick"),
    topics.MAP: Meaning("where a machine cannot drive"),
    topics.SOIL_COSTS: Meaning("with `machine`: costs of soil and ruts on the cells of the map"),
    topics.INITIAL_POSE: Meaning("where the machine is on the map"),
    topics.GOAL_POSE: Meaning("where to go"),
    topics.RESET: Meaning("back to the start"),
    topics.PAUSE: Meaning("stand still, or go on"),
    topics.STEP: Meaning("advance a paused simulation by `step_request_count` steps"),
    topics.RECORD: Meaning("true: record from now on, in `record_file`; false: end; docs/record_replay.md"),
    topics.CLEAR_FAULTS: Meaning("all components are healthy again"),
    topics.BRIDGE_STATE: Meaning("whether the device or bus is open, and the state of every link, at each change"),
    topics.PROGRAM_INPUTS: Meaning("inputs of the function block diagram", given=_DIAGRAM),
    topics.PROGRAM_STATE: Meaning("what is on the wires of the function block diagram", given=_DIAGRAM),
    topics.BRIDGE_FAULTS: Meaning("active faults of a bridge, at each change; the simulator records them"),
    topics.BRIDGE_COMMANDS: Meaning("what each bridge commands: no two may command one actuator"),
    topics.ACKNOWLEDGE: Meaning("latched links are checked again; refused while one is silent or not neutral"),
    topics.CLEAR_EMERGENCY_STOP: Meaning("releases emergency stops; refused while a command is not neutral"),
}
# Arguments of machines: without them no shipped machine has flexible links.
_SENSORS = ("lidar_3d", "depth_camera", "gnss", "wheel_forces")
ARGUMENTS = {"four_bar": {"variant": "flexible"}, "rover": dict.fromkeys(_SENSORS, "true")}
_CONTACTS = STREAMS["contacts"]
_WITH_OTHERS = f"""Where `ros_gz_interfaces` is installed, the simulator also publishes `{_CONTACTS.topic}`
({_CONTACTS.type}, best effort, depth {_CONTACTS.quality.depth}, `contact_rate`): {_CONTACTS.meaning} of machines
with {_CONTACTS.given.words}. The second of a pair is `ground` (a MODEL; soil under wheels is not in
it), the name of an obstacle of the world (a MODEL), a link of the same machine (a LINK) or `<robot>/<link>` of another
one (a MODEL). Where `simulation_interfaces` is installed, it has its
[services and its action](simulation_interfaces.md).

The log warns of a second simulator in the same ROS domain: of another publisher of `/clock`, of a node with the same
name, and of frames that somebody else has on `/tf` at the start. Run it in another domain (`ROS_DOMAIN_ID`).
"""


@dataclass
class Endpoint:
    """Endpoints of one name.

    Attributes:
        types: of the messages.
        qualities: of service; empty for services and actions.
    """

    types: set[str] = field(default_factory=set)
    qualities: list[str] = field(default_factory=list)


Endpoints = dict[tuple[str, str], Endpoint]  # (key of _HEADINGS, name)


def interface_page() -> str:
    """Returns the text of docs/ros_interface.md."""
    with ros_context():
        sections = [_section(name, node_class, declarations) for name, node_class, declarations in node_classes()]
    return "\n".join([_INTRODUCTION, *sections])


@contextmanager
def ros_context() -> Iterator[None]:
    """A ROS context with a namespace, which distinguishes relative from absolute names."""
    rclpy.init(args=["--ros-args", "-r", f"__ns:={_NAMESPACE}"])
    level = get_logger_effective_level(_EVERY_LOGGER)
    set_logger_level(_EVERY_LOGGER, LoggingSeverity.ERROR)
    try:
        yield
    finally:
        set_logger_level(_EVERY_LOGGER, level)  # the level is global, not of the context
        rclpy.try_shutdown()


def node_classes() -> Iterator[tuple[str, type[Node], Mapping[str, Declaration]]]:
    """Name, class and parameters of every node, the simulator first."""
    for name, module_name in NODES.items():
        module = import_module(module_name)
        for one in vars(module).values():
            if inspect.isclass(one) and issubclass(one, Node) and one.__module__ == module_name:
                yield name, one, _declarations(one)


def _declarations(node_class: type[Node]) -> Mapping[str, Declaration]:
    """`DECLARATIONS` of the module of a node's class or of its base class; without any, the simulator's."""
    modules = (vars(sys.modules[one.__module__]) for one in node_class.__mro__)
    return next((names["DECLARATIONS"] for names in modules if "DECLARATIONS" in names), DECLARATIONS)


@cache
def simulator_offers(machine: str, world: str) -> Endpoints:
    """Endpoints of the simulator with a machine in one of the `WORLDS`; in the first one cmd_vel is stamped."""
    arguments = [f"{name}:={value}" for name, value in ARGUMENTS.get(machine, {}).items()] or [""]
    parameters = {"machine": machine, "machine_arguments": arguments, "world": world}
    return _offers(SimulatorNode, {**parameters, "enable_stamped_cmd_vel": world == WORLDS[0]})


def machine_names() -> list[str]:
    """Names of the shipped machines."""
    return sorted(file.name.split(".")[0] for file in share_path("urdf").glob("*.urdf.xacro"))


def _section(name: str, node_class: type[Node], declarations: Mapping[str, Declaration]) -> str:
    lines = [f"## {name}", "", (inspect.getdoc(node_class) or "").split("\n\n")[0].replace("\n", " ")]
    simulator = node_class is SimulatorNode
    if issubclass(node_class, LifecycleNode):
        lines[-1] += " A lifecycle node; with `autostart` it goes to active by itself."
    lines.append("")
    offers = _all_offers(name, node_class, declarations)
    for key, heading in _HEADINGS.items():
        rows = _rows(offers, key, simulator)
        if rows:
            lines += [f"### {heading}", "", *rows, ""]
    if simulator:
        lines.append(_WITH_OTHERS)
        declarations = {**declarations, **_per_machine()}
    return "\n".join([*lines, "### Parameters", "", *_parameter_rows(declarations), ""])


def _all_offers(name: str, node_class: type[Node], declarations: Mapping[str, Declaration]) -> Endpoints:
    if node_class is SimulatorNode:
        every = [simulator_offers(machine, world) for machine in machine_names() for world in WORLDS]
    else:
        variants = _shipped_mappings(name) if "mapping" in declarations else _variants(declarations)
        every = [_offers(node_class, variant) for variant in variants]
    merged: Endpoints = {}
    for offers in every:
        for key, offer in offers.items():
            into = merged.setdefault(key, Endpoint())
            into.types |= offer.types
            into.qualities += [one for one in offer.qualities if one not in into.qualities]
    return merged


def _variants(declarations: Mapping[str, Declaration]) -> Iterator[Mapping[str, object]]:
    """Parameter values that change the endpoints of a node, one at a time."""
    yield {}
    for name, one in declarations.items():
        yield from ({name: choice} for choice in one.choices if choice != one.default)
    if "enable_stamped_cmd_vel" in declarations:
        yield from ({"enable_stamped_cmd_vel": stamped} for stamped in (False, True))
    if "pattern" in declarations:
        yield {"pattern": _TIP_PATTERN}


def _shipped_mappings(program: str) -> Iterator[Mapping[str, object]]:
    """Values of the parameter `mapping` of a bridge: the mappings that come with grouser."""
    for file in catalogue.bridge_files():
        if KINDS[yaml.safe_load(file.read_text())["bridge"]].program == program:
            yield {"mapping": file.stem}


def _offers(node_class: type[Node], parameters: Mapping[str, object]) -> Endpoints:
    """Endpoints of a node, without those that every node has."""
    if node_class is Viewer:
        parameters = {**parameters, "port": _free_port()}
    plain = (LifecycleNode if issubclass(node_class, LifecycleNode) else Node)("plain")
    known = set(_endpoints(plain))
    plain.destroy_node()
    make: Callable[..., Node] = node_class  # nodes take parameters, not a name
    node = make([Parameter(name, value=value) for name, value in parameters.items()])
    _describe(node)
    offers = {key: offer for key, offer in _endpoints(node).items() if key not in known}
    if isinstance(node, Viewer):  # with the node of its page
        offers |= {key: offer for key, offer in _endpoints(node.page.node).items() if key not in known}
        node.stop()
    node.destroy_node()
    return offers


def _describe(node: Node) -> None:
    """Gives a machine's description to a node that subscribes to it."""
    for subscription in list(node.subscriptions):
        if subscription.topic_name.endswith(f"/{topics.ROBOT_DESCRIPTION}"):
            subscription.callback(String(data=load_machine(catalogue.machine_file("rover")).urdf))


def _endpoints(node: Node) -> Endpoints:
    offers: Endpoints = {}

    def add(key: str, name: str, kind: str, quality: QoSProfile | None = None) -> None:
        if not _optional(kind):
            offer = offers.setdefault((key, _relative(name, node.get_name())), Endpoint())
            offer.types.add(kind)
            if quality is not None and _quality(quality) not in offer.qualities:
                offer.qualities.append(_quality(quality))

    for publisher in node.publishers:
        add("out", publisher.topic_name, _type_name(publisher.msg_type), publisher.qos_profile)
    for subscription in node.subscriptions:
        add("in", subscription.topic_name, _type_name(subscription.msg_type), subscription.qos_profile)
    for service in node.services:
        add("serves", node.resolve_service_name(service.srv_name), _type_name(service.srv_type))
    for client in node.clients:
        add("asks", node.resolve_service_name(client.srv_name), _type_name(client.srv_type))
    own = node.get_name(), node.get_namespace()
    for key, ask in (
        ("acts", get_action_server_names_and_types_by_node),
        ("orders", get_action_client_names_and_types_by_node),
    ):
        for name, kinds in ask(node, *own):
            add(key, name, kinds[0])
    return offers


def _relative(name: str, node: str) -> str:
    inner = name.removeprefix(f"{_NAMESPACE}/")
    if inner == name:
        return name
    for stream in STREAMS.values():
        if stream.items is not None and not stream.single and inner.startswith(stream.group):
            return stream.topic
    return f"~/{inner.removeprefix(f'{node}/')}" if inner.startswith(f"{node}/") else inner


def _type_name(interface: Any) -> str:
    package, kind, *_ = interface.__module__.split(".")
    return f"{package}/{kind}/{interface.__name__}"


def _quality(profile: QoSProfile) -> str:
    reliable = profile.reliability == ReliabilityPolicy.RELIABLE
    latched = profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
    return f"{'reliable' if reliable else 'best effort'}{', transient local' if latched else ''}, depth {profile.depth}"


def _rows(offers: Endpoints, key: str, simulator: bool) -> list[str]:
    order = list(MEANINGS)
    names = sorted(
        (name for kind, name in offers if kind == key),
        key=lambda name: (order.index(name) if name in order else len(order), name),
    )
    if not names:
        return []
    quality = key in ("out", "in")
    timed, given = simulator and key == "out", simulator and key not in ("serves", "asks")
    head = ["name", "type", *(["QoS"] if quality else []), *(["rate [Hz]"] if timed else [])]
    head += [*(["for machines with"] if given else []), ""]
    rows = [head, ["---"] * len(head)]
    for name in names:
        offer, meaning = offers[key, name], MEANINGS.get(name, Meaning(""))
        rate = f"`{meaning.rate}` {DECLARATIONS[meaning.rate].default:g}" if meaning.rate else ""
        rows.append(
            [
                f"`{name}`",
                " or ".join(sorted(offer.types)),
                *(["; ".join(offer.qualities)] if quality else []),
                *([rate] if timed else []),
                *([meaning.given.words] if given else []),
                meaning.words,
            ]
        )
    return [_line(row) for row in rows]


def _per_machine() -> dict[str, Declaration]:
    """Parameters of the simulator for joints and components of its machine, by patterns of their names."""
    faults = {
        f"faults.<component>.{fault.name}": declaration_of(fault)
        for machine in machine_names()
        for fault in machine_faults(load_machine(catalogue.machine_file(machine)))
    }
    return {**trajectory_parameters.declarations(["<joint>"]), **dict(sorted(faults.items()))}


def _parameter_rows(declarations: Mapping[str, Declaration]) -> list[str]:
    rows = [["name", "type", "default", "range", "while running", ""], ["---"] * 6]
    for name, one in declarations.items():
        fixed = "fixed" if one.read_only else "changeable"
        rows.append([f"`{name}`", _type_of(one), _default(name, one), _range(one), fixed, one.description])
    return [_line(row) for row in rows]


def _type_of(declaration: Declaration) -> str:
    value = declaration.default
    entry = value[0] if isinstance(value, tuple) else value
    kind = {bool: "bool", int: "integer", float: "double", str: "string"}[type(entry)]
    return f"{kind}[]" if isinstance(value, tuple) else kind


def _default(name: str, declaration: Declaration) -> str:
    value = declaration.default
    if name == "enable_stamped_cmd_vel":
        return "by distribution"
    if isinstance(value, tuple):
        return f"`[{', '.join(_literal(one) for one in value if one != '')}]`"
    return f"`{_literal(value)}`"


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def _range(declaration: Declaration) -> str:
    if declaration.choices:
        return ", ".join(f"`{choice}`" if choice else '`""`' for choice in declaration.choices)
    if math.isinf(declaration.lowest) or isinstance(declaration.default, bool):
        return ""
    return f"{declaration.lowest:g} to {declaration.highest:g}"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    with redirect_stdout(sys.stderr):  # output of the viewer's server
        page = interface_page()
    print(page, end="")
