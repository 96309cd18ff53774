"""The process of a node: from its command line until it is told to stop."""

import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

import rclpy
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from grouser.physics.errors import GrouserError

EXIT_BAD_INPUT = 2
_LONGEST_DEAFNESS = 0.1  # [s]: a signal is not seen while all that there is to do is to wait for messages

AnyNode = TypeVar("AnyNode", bound=Node)


def run_node(
    name: str,
    make: Callable[[], AnyNode],
    finish: Callable[[AnyNode], None],
    arguments: Sequence[str] | None,
    spin: Callable[[AnyNode, Executor, threading.Event], None] | None = None,
) -> int:
    """Runs a node in one thread until it is told to stop.

    Args:
        name: of the program, for what it says.
        make: the node; may refuse with a GrouserError.
        finish: called with the node when its last callback has run.
        arguments: the command line; None: that of the process.
        spin: runs the callbacks until the event is set; None: each as it becomes ready.

    Returns:
        The exit status: 0, or 2 for what `make` refused, whose reason is printed.
    """
    stop = threading.Event()
    stop_on_signals(stop)
    rclpy.init(args=None if arguments is None else list(arguments), signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = make()
    except GrouserError as error:
        print(f"{name}: {error}", file=sys.stderr)
        rclpy.try_shutdown()
        return EXIT_BAD_INPUT
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    if spin is None:
        spin_until(stop.is_set, executor)
    else:
        spin(node, executor, stop)
    finish(node)
    executor.shutdown()
    node.destroy_node()
    rclpy.try_shutdown()
    return 0


def stop_on_signals(stop: threading.Event) -> None:
    """Has Ctrl-C, SIGTERM and a closed terminal set `stop` rather than end the process under running threads."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup has it ignored
            signal.signal(number, lambda *_: stop.set())


def spin_until(ended: Callable[[], bool], executor: Executor) -> None:
    """Runs each callback as it becomes ready, until `ended` says so."""
    while not ended():
        executor.spin_once(_LONGEST_DEAFNESS)
