"""The process of a node: command line, signals, spinning, exit status."""

import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

import rclpy
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from grouser.physics.base.errors import GrouserError

EXIT_BAD_INPUT = 2
_LONGEST_WAIT = 0.1  # [s] for messages: signals are handled between waits

AnyNode = TypeVar("AnyNode", bound=Node)


def run_node(
    name: str,
    make: Callable[[], AnyNode],
    finish: Callable[[AnyNode], None],
    arguments: Sequence[str] | None,
    spin: Callable[[AnyNode, Executor, threading.Event], None] | None = None,
) -> int:
    """Runs a node in one thread until a signal.

    Args:
        name: of the program, for its messages.
        make: makes the node; may raise a GrouserError.
        finish: called with the node after its last callback.
        arguments: the command line; None: that of the process.
        spin: runs the callbacks until the event is set; None: each as it becomes ready.

    Returns:
        The exit status: 0, or 2 after a GrouserError of `make`, which is printed.
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
    """Lets Ctrl-C, SIGTERM and a closed terminal set `stop` instead of ending the process."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup ignores it
            signal.signal(number, lambda *_: stop.set())


def spin_until(ended: Callable[[], bool], executor: Executor, longest_wait: float | None = _LONGEST_WAIT) -> None:
    """Runs each callback as it becomes ready, until `ended` returns True.

    Args:
        ended: asked after each callback, and after each wait.
        executor: with the nodes.
        longest_wait: for a callback [s]; None: until there is one.
    """
    while not ended():
        executor.spin_once(longest_wait)
