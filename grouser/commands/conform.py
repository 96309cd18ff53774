"""`grouser conform`: checks a running simulator against the ROS 2 interface of working machines."""

import argparse
import sys
from collections.abc import Callable, Sequence

from grouser.arguments import Parser
from grouser.conformance.checks_commands import check_commands
from grouser.conformance.checks_contents import check_contents
from grouser.conformance.checks_emergency_stop import check_emergency_stop
from grouser.conformance.checks_frames import check_frames
from grouser.conformance.checks_graph import check_graph
from grouser.conformance.checks_interfaces import check_interfaces
from grouser.conformance.checks_parameters import check_parameters
from grouser.conformance.checks_reset import check_reset
from grouser.conformance.checks_streams import check_streams
from grouser.conformance.checks_time import check_time
from grouser.conformance.client import client_of
from grouser.conformance.discovery import NotFoundError, find_simulator
from grouser.conformance.report import Report, Section
from grouser.conformance.subject import Subject
from grouser.json_output import SCREEN, add_json, write_json
from grouser.ros_arguments import split_ros_arguments

EXIT_FAILED = 1
EXIT_NOTHING_FOUND = 2

Check = Callable[[Subject, Section], None]
# Passive checks in their order; then those that pause, move or stop the machine, the emergency stop last.
LOOKING: dict[str, Check] = {
    "graph": check_graph,
    "streams": check_streams,
    "frames": check_frames,
    "contents": check_contents,
    "parameters": check_parameters,
}
ACTING: dict[str, Check] = {
    "time": check_time,
    "interfaces": check_interfaces,
    "reset": check_reset,
    "commands": check_commands,
    "emergency_stop": check_emergency_stop,
}


def main(arguments: Sequence[str]) -> int:
    """Runs `grouser conform`.

    Args:
        arguments: without the program's and the command's name; what follows ``--ros-args`` goes to ROS.

    Returns:
        The exit status: 0 if no check failed, 1 if one did, 2 if there is no simulator, or not one.
    """
    own, ros = split_ros_arguments(arguments)
    options = _parser().parse_args(own)
    try:
        report, node = examine(options.node, options.only, options.passive, options.timeout, ros)
    except NotFoundError as error:
        print(f"grouser conform: {error}", file=sys.stderr)
        return EXIT_NOTHING_FOUND
    if options.json is not None:
        write_json(options.json, {"node": node, **report.as_dictionary()})
    if options.json != SCREEN:
        for line in report.lines():
            print(line)
    return EXIT_FAILED if report.failed else 0


def examine(
    node: str = "",
    only: Sequence[str] = (),
    passive: bool = False,
    timeout: float = 10.0,
    ros_arguments: Sequence[str] = (),
) -> tuple[Report, str]:
    """Checks a running simulator.

    Args:
        node: its name; "": the only one there is.
        only: groups of checks; none: all.
        passive: whether to skip checks that pause, move or stop the machine.
        timeout: longest wait for an answer [s].
        ros_arguments: of the client.

    Returns:
        The report, and the full name of the node.

    Raises:
        NotFoundError: there is no simulator, or more than one.
    """
    report = Report()
    with client_of(ros_arguments, timeout) as client:
        subject = Subject(client, find_simulator(client, node), passive)
        try:
            for group, check in (LOOKING if passive else {**LOOKING, **ACTING}).items():
                if not only or group in only:
                    check(subject, report.section(group))
        finally:
            subject.leave()
    return report, subject.offer.node


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="grouser conform",
        description=__doc__,
        epilog="exit status: 0 if no check failed, 1 if one did, 2 if no simulator was found",
    )
    add = parser.add_argument
    add("--node", default="", metavar="NAME", help="the simulator's node (default: the only one that publishes /clock)")
    add("--passive", action="store_true", help="look only: neither pause nor move nor reset it")
    groups = (*LOOKING, *ACTING)
    add("--only", nargs="+", default=(), choices=groups, metavar="GROUP", help=f"of checks: {', '.join(groups)}")
    add("--timeout", type=float, default=10.0, metavar="SECONDS", help="longest wait for an answer (%(default)g s)")
    add_json(parser)
    return parser
