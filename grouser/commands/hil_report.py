"""`grouser hil-report`: links, latencies, drops, overruns and scheduling of running bridges and simulators."""

import sys
import time
from collections.abc import Sequence
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from grouser.arguments import Parser
from grouser.json_output import SCREEN, add_json, write_json
from grouser.nodes.shared import topics
from grouser.ros_arguments import split_ros_arguments

EXIT_NOTHING_FOUND = 2
_LEVELS = {
    DiagnosticStatus.OK: "ok",
    DiagnosticStatus.WARN: "warning",
    DiagnosticStatus.ERROR: "error",
    DiagnosticStatus.STALE: "stale",
}
_HARDWARE = "grouser"


def main(arguments: Sequence[str]) -> int:
    """Runs `grouser hil-report`.

    Args:
        arguments: what follows the word `hil-report`; what follows ``--ros-args`` goes to ROS.

    Returns:
        The exit status: 0, or 2 if nothing of grouser's publishes diagnostics.
    """
    own, ros = split_ros_arguments(arguments)
    parser = Parser(prog="grouser hil-report", description=__doc__)
    parser.add_argument(
        "--duration", type=float, default=3.0, metavar="SECONDS", help="how long to listen (%(default)g s)"
    )
    add_json(parser)
    options = parser.parse_args(own)
    facts = listen(options.duration, ros)
    if not facts:
        print(f"grouser hil-report: nothing of grouser's on {topics.DIAGNOSTICS}", file=sys.stderr)
        return EXIT_NOTHING_FOUND
    if options.json is not None:
        write_json(options.json, facts)
    if options.json != SCREEN:
        for line in report_lines(facts):
            print(line)
    return 0


def listen(duration: float, ros_arguments: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """Returns the latest status of each part of each node by its name: level, message and values, as texts.

    Args:
        duration: how long to listen [s].
        ros_arguments: of the listening node.
    """
    latest: dict[str, dict[str, Any]] = {}

    def take(message: DiagnosticArray) -> None:
        for status in message.status:
            if status.hardware_id == _HARDWARE:
                values = {pair.key: pair.value for pair in status.values}
                latest[status.name] = {"level": _LEVELS[status.level], "message": status.message, "values": values}

    context = Context()
    rclpy.init(args=list(ros_arguments), context=context)
    try:
        node = Node("hil_report", context=context, start_parameter_services=False, enable_rosout=False)
        node.create_subscription(DiagnosticArray, topics.DIAGNOSTICS, take, topics.RELIABLE)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        end = time.monotonic() + duration
        while (left := end - time.monotonic()) > 0.0:
            executor.spin_once(left)
        executor.shutdown()
        node.destroy_node()
    finally:
        rclpy.shutdown(context=context)
    return dict(sorted(latest.items()))


def report_lines(facts: dict[str, dict[str, Any]]) -> list[str]:
    """Returns a line for each part, and one for each of its values."""
    lines = []
    for name, part in facts.items():
        lines.append(f"{name:40}{part['level']:9}{part['message']}".rstrip())
        lines += [f"    {key:36}{value}" for key, value in part["values"].items()]
    return lines
