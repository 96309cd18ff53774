"""Several nodes in one process, which then exchange messages within it.

    composed simulator operator --ros-args -p simulator:machine:=rover -p operator:pattern:=rover

A parameter for one of the nodes begins with its name. A bridge in the simulator's process reaches the machine in its
namespace without messages, if the simulation itself has all signals of its mapping: all but `joy` and `odom`. The
viewer always has its own process: drawing would slow the physics down.
"""

import argparse
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from typing import NoReturn

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from grouser.bridges.loop_plant import LoopPlant, has_all
from grouser.bridges.mapping.data import BridgeMapping
from grouser.nodes.shared.process import EXIT_BAD_INPUT, spin_until, stop_on_signals
from grouser.nodes.simulator.node import SimulatorNode, failure_text, leave, spinning
from grouser.physics.base.errors import GrouserError
from grouser.ros_arguments import split_ros_arguments

SIMULATOR = "simulator"
# Module and class of the other nodes.
OTHERS = {
    "operator": ("operator.node", "OperatorNode"),
    "attitude_controller": ("attitude.controller", "AttitudeControllerNode"),
    "goal_follower": ("navigation.goal_follower", "GoalFollowerNode"),
    "world_map": ("navigation.world_map", "WorldMapNode"),
    "joystick_bridge": ("bridges.joystick_bridge", "JoystickBridgeNode"),
    "can_bridge": ("bridges.can_bridge", "CanBridgeNode"),
    "plc_bridge": ("bridges.plc_bridge", "PlcBridgeNode"),
    "serial_bridge": ("bridges.serial_bridge", "SerialBridgeNode"),
    "fmu_bridge": ("bridges.fmu_bridge", "FmuBridgeNode"),
}


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the nodes until Ctrl-C or SIGTERM, or until one of them fails, then ends the process.

    The exit status is 0; 2 if a name, a parameter, the machine or the world is not valid; 1 if a thread failed.

    Args:
        arguments: the command line, its program's name first; None: that of the process.
    """
    own, ros = split_ros_arguments(sys.argv if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="composed", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("node", nargs="+", choices=(SIMULATOR, *OTHERS), help="node to run")
    names = list(dict.fromkeys(parser.parse_args(own[1:]).node))
    stop = threading.Event()
    stop_on_signals(stop)
    rclpy.init(args=["composed", *ros], signal_handler_options=SignalHandlerOptions.NO)
    simulator: SimulatorNode | None = None
    with ExitStack() as stack:
        try:
            simulator = SimulatorNode(ended=stop) if SIMULATOR in names else None
            others = [_make(name, simulator) for name in names if name != SIMULATOR]
        except GrouserError as error:
            if simulator is not None:
                simulator.destroy_node()
            print(f"composed: {error}", file=sys.stderr)
            leave(EXIT_BAD_INPUT)
        if simulator is not None:
            stack.enter_context(spinning(simulator))
        stack.enter_context(_spinning_others(others, stop))
        stop.wait()
    if simulator is not None and simulator.error is not None:
        print(f"composed: {failure_text(simulator.error)}", file=sys.stderr)
        leave(simulator.exit_status)
    leave(0)


def _make(name: str, simulator: SimulatorNode | None) -> Node:
    module, node_class = OTHERS[name]
    make: Callable[..., Node] = getattr(import_module(f"grouser.nodes.{module}"), node_class)
    if simulator is None or not module.startswith("bridges."):
        return make()
    return make(nearer=partial(_nearer, simulator))


def _nearer(simulator: SimulatorNode, namespace: str, mapping: BridgeMapping) -> LoopPlant | None:
    """The simulated machine in a namespace as a bridge's plant; None: the mapping has signals that only topics have."""
    found = simulator.machine_at(namespace)
    if found is None or not has_all(found[1], mapping):
        return None
    return LoopPlant(lambda: simulator.mailbox, found[0])


@contextmanager
def _spinning_others(nodes: Sequence[Node], stop: threading.Event) -> Iterator[None]:
    """Runs nodes in one thread; a callback that fails ends them all."""
    executor = SingleThreadedExecutor()
    for node in nodes:
        executor.add_node(node)
    ending = threading.Event()
    failure: list[BaseException] = []

    def spin() -> None:
        try:
            spin_until(ending.is_set, executor)
        except BaseException as error:
            failure.append(error)
            stop.set()
            raise

    thread = threading.Thread(target=spin, name="nodes")
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()
        executor.shutdown()
        for node in nodes:
            if not failure and hasattr(node, "finish"):
                node.finish()  # publishes final messages: the operator publishes neutral commands
            node.destroy_node()
    if failure:
        leave(1)


if __name__ == "__main__":
    main()
