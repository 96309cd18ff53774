"""`grouser run`: simulates a machine on ROS 2 in real time, with a view in the browser and a status line."""

import argparse
import json
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NoReturn

import rclpy
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions

from grouser import __version__, catalogue
from grouser.arguments import Parser
from grouser.commands.machine_options import add_base, add_packages
from grouser.nodes.shared import topics
from grouser.nodes.shared.process import stop_on_signals
from grouser.nodes.simulator.diagnostics import KEPT_REAL_TIME
from grouser.nodes.simulator.node import SimulatorNode, failure_text, leave, spinning
from grouser.nodes.simulator.parameters import DECLARATIONS
from grouser.physics.base.compilation import Progress, progress_text
from grouser.physics.base.errors import GrouserError
from grouser.physics.simulation.lifting import SPAWNS
from grouser.progress import LiveLine
from grouser.ros_arguments import split_ros_arguments
from grouser.runtime.report import LoopReport
from grouser.runtime.streams import STREAMS

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
VIEWER_PORT = 8080
_MOST_PORTS = 100  # that are tried where no port is given
# Quiet, so that it does not write into the status line; its address is printed at the start.
_VIEWER = ("-m", "grouser.nodes.viewer", "--ros-args", "--log-level", "viewer:=warn", "-p")
# The status line says what the node's log would.
_QUIET = ("--ros-args", "--log-level", "simulator:=warn")
_VIEWER_PATIENCE = 0.5  # Time for the viewer to end by itself [s].
_PERIOD_TERMINAL = 0.25  # Interval of the live line [s].
_PERIOD_PLAIN = 1.0  # Interval of lines without a terminal [s].
_PERIOD_END = 0.002  # Shortest interval of looks at the clock [s].
_PERIOD_BUILDING = 0.1  # Longest delay of a signal while the physics is built [s].
# Streams with a topic for each of many links or joints, by what those begin with; topics that every node has.
_MANY = {stream.group: stream for stream in STREAMS.values() if stream.items and not stream.single}
_OF_EVERY_NODE = ("parameter_events", "rosout")


def main(arguments: Sequence[str]) -> NoReturn:
    """Runs `grouser run`, then ends the process.

    The exit status is 0; 1 if the simulation left the finite numbers, did not keep real time over `--duration` without
    `--allow-late`, or failed otherwise; 2 for bad input.

    Args:
        arguments: without the program's and the command's name; what follows ``--ros-args`` goes to ROS.
    """
    run(make_parser("grouser run", __doc__), arguments)


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> NoReturn:
    """Runs a simulation as the options of `make_parser` say, and those that were added to it; see `main`."""
    own, ros = split_ros_arguments(arguments)
    show(parser, parser.parse_args(own), ros)


def show(parser: argparse.ArgumentParser, options: argparse.Namespace, ros: Sequence[str]) -> NoReturn:
    """Runs a simulation, or replays a recording, by options that were read; see `run`."""
    port = _page_port(parser, options.port) if options.view else 0
    stop = threading.Event()
    stop_on_signals(stop)
    compiled: deque[Progress] = deque(maxlen=1)
    rclpy.init(args=["grouser", *_QUIET, *ros], signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = SimulatorNode(_overrides(options), stop, compiled.append)
    except GrouserError as error:
        if stop.is_set():  # A Ctrl-C also ends programs that were reading the machine.
            leave(0)
        print(f"{parser.prog}: {error}", file=sys.stderr)
        leave(EXIT_BAD_INPUT)
    line = StatusLine()
    with _viewer(port, node.parameters.world) as viewer, spinning(node):
        _introduce(node, port)
        _wait_until_built(node, stop, line, compiled)
        _watch(node, viewer, stop, _countdown(node, options), line)
        if viewer is not None:
            viewer.terminate()  # The viewer ends while the node does.
    leave(_verdict(parser.prog, node, options, line))


class StatusLine:
    """One line that is rewritten in a terminal; separate lines elsewhere."""

    def __init__(self) -> None:
        self._live = LiveLine(sys.stdout) if sys.stdout.isatty() else None
        self.period = _PERIOD_TERMINAL if self._live else _PERIOD_PLAIN

    def show(self, text: str) -> None:
        """Shows the present state."""
        if self._live:
            self._live.show(text)
        else:
            print(text, flush=True)

    def add(self, text: str) -> None:
        """Prints a line that stays."""
        if self._live:
            self._live.keep()
        print(text, flush=True)


def status_text(report: LoopReport) -> str:
    """Text of the status line."""
    state = "paused" if report.paused else f"real time {report.real_time_factor:4.2f}"
    parts = [
        f"t = {report.time:6.1f} s",
        state,
        *(["EMERGENCY STOP"] if report.emergency_stop else []),
        f"step {report.step_time_median * 1e3:.3f} ms",
        f"overruns {report.overruns}",
        f"residual {report.residual:.0e} m/s",
    ]
    return " | ".join(parts)


def judge(report: LoopReport, wanted_factor: float) -> tuple[bool, str]:
    """Whether a run kept real time, and the figures.

    Args:
        report: at the end of the run.
        wanted_factor: the target of the real-time factor; 0: as fast as possible, which counts as 1 here.
    """
    kept = report.elapsed_simulated / max(report.elapsed_wall, 1e-9)
    wanted = wanted_factor or 1.0
    figures = _figures(report)
    if report.failure:
        return False, report.failure
    if kept < KEPT_REAL_TIME * wanted:
        median, worst = report.step_time_median * 1e3, report.step_time_max * 1e3
        times = f"a step took {median:.3f} ms (median), {worst:.3f} ms (worst)"
        return False, f"did not keep real time: factor {kept:.3f} of {wanted:g}: {figures}; {times}"
    return True, f"kept real time: factor {kept:.3f}: {figures}"


def _figures(report: LoopReport) -> str:
    return f"{report.elapsed_simulated:.2f} s simulated in {report.elapsed_wall:.2f} s, {report.overruns} overruns"


def make_parser(program: str, description: str | None) -> argparse.ArgumentParser:
    """The options of `grouser run`, which records nothing and measures `duration` by the wall clock.

    `grouser record` adds options `record` and `bag`, and counts simulation time.
    """
    parser = Parser(prog=program, description=description)
    parser.set_defaults(record="", bag=False, replay="", simulated_duration=False)
    add = parser.add_argument
    add("--machine", default=DECLARATIONS["machine"].default, help="URDF or xacro file, or a name (%(default)s)")
    add("--argument", action="append", default=[], metavar="NAME:=VALUE", help="argument of the machine's xacro file")
    add_base(parser)
    add_packages(parser)
    add("--world", default=DECLARATIONS["world"].default, help="YAML file, or a name (%(default)s)")
    add(
        "--beside",
        default=DECLARATIONS["beside"].default,
        metavar="FLEET",
        help="machines beside it from the start: YAML file of a fleet, a name, or its text in braces",
    )
    add(
        "--program",
        help="timed commands or function blocks: YAML file, or a name; '': none (default: the machine's demonstration)",
    )
    add("--step", type=float, default=DECLARATIONS["step"].default, help="size of a step [s] (%(default)s)")
    add("--scheme", default=DECLARATIONS["scheme"].default, help="coupling of the hydraulics (%(default)s)")
    add("--integrator", default=DECLARATIONS["integrator"].default, help="of the motion (default: the machine's own)")
    add(
        "--spawn",
        choices=SPAWNS,
        default=DECLARATIONS["spawn"].default,
        help="a machine that starts inside the ground is lifted, or stays there and is pushed out (%(default)s)",
    )
    add(
        "--sleeping",
        action=argparse.BooleanOptionalAction,
        default=DECLARATIONS["sleeping"].default,
        help="free bodies at rest sleep until something touches them",
    )
    add("--real-time-factor", type=float, default=1.0, help="simulated per wall seconds; 0: as fast as possible")
    add("--wall-rates", action="store_true", help="rates of topics are of wall time while it is faster than real time")
    add("--duration", type=_positive, help="stop after so many seconds; exit status 0 only if real time was kept")
    add("--allow-late", action="store_true", help="not to keep real time over --duration is a warning, with status 0")
    add("--view", action=argparse.BooleanOptionalAction, default=True, help="show the machine in the browser")
    add(
        "--port",
        type=_port,
        help=f"of the page in the browser, which must be free (default: {VIEWER_PORT}, or the next free one)",
    )
    return parser


def _positive(text: str) -> float:
    value = float(text)
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a time above 0 s")
    return value


def _port(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port from 1 to 65535")
    return value


def _page_port(parser: argparse.ArgumentParser, wanted: int | None) -> int:
    """The port for the page: the wanted one or, without a wish, the first free one from `VIEWER_PORT`.

    Ends the process with an error if the wanted one is taken.
    """
    if wanted is not None:
        if not _is_free(wanted):
            parser.error(f"--port {wanted}: another program has this port; choose another one, or none")
        return wanted
    port = next((one for one in range(VIEWER_PORT, VIEWER_PORT + _MOST_PORTS) if _is_free(one)), None)
    if port is None:
        parser.error(f"no port from {VIEWER_PORT} on is free for the page: choose one by --port, or --no-view")
    if port != VIEWER_PORT:
        print(f"{parser.prog}: another program has port {VIEWER_PORT}; the page is at {port}", file=sys.stderr)
    return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _overrides(options: argparse.Namespace) -> list[Parameter]:
    values = {
        "machine": options.machine,
        "machine_arguments": options.argument or [""],
        "beside": options.beside,
        "base": options.base or "",
        "packages": options.package or [""],
        "world": options.world,
        "program": _program(options),
        "step": options.step,
        "scheme": options.scheme,
        "integrator": options.integrator,
        "spawn": options.spawn,
        "sleeping": options.sleeping,
        "wall_rates": options.wall_rates,
        "real_time_factor": options.real_time_factor,
        "record": options.record,
        "replay": options.replay,
        "bag": f"{Path(options.record).with_suffix('')}_bag" if options.bag else "",
    }
    return [Parameter(name, value=value) for name, value in values.items()]


def _program(options: argparse.Namespace) -> str:
    if options.program is not None:
        return options.program
    demonstration = catalogue.demonstration_of(catalogue.machine_file(options.machine))
    return "" if demonstration is None else str(demonstration)


def _introduce(node: SimulatorNode, port: int) -> None:
    machine, parameters = node.machine, node.parameters
    print(f"grouser {__version__}: {machine.name} in the world {parameters.world}, step {parameters.step * 1e3:g} ms")
    if parameters.replay:
        print(f"  replay of: {parameters.replay}")
    if port:
        print(f"  page:      http://localhost:{port}")
    print(_listed("publishes:", [publisher.topic_name for publisher in node.publishers]))
    twist = "TwistStamped" if parameters.enable_stamped_cmd_vel else "Twist"
    heard = [subscription.topic_name for subscription in node.subscriptions]
    others = (topics.CLOCK, topics.TF)  # heard to notice another simulator
    if not parameters.replay:
        print(_listed("commands:", [name for name in heard if name not in others], {topics.CMD_VEL: twist}))
    print("             (services ~/pause ~/step ~/reset)")
    if parameters.record:
        print(f"  record it: {parameters.record}{f' and the bag {parameters.bag}' if parameters.bag else ''}")
    print("  end it:    Ctrl-C", flush=True)


def _listed(title: str, names: Sequence[str], types: Mapping[str, str] | None = None) -> str:
    """Topics after a title, those of many links or joints as one, some with their type."""
    shown: dict[str, None] = {}
    for name in names:
        group, slash, _ = name.removeprefix("/").partition("/")
        if group + slash in _MANY:
            name = f"/{_MANY[group + slash].topic}"
        elif types and group in types:
            name = f"{name} ({types[group]})"
        if group not in _OF_EVERY_NODE:
            shown[name] = None
    return textwrap.fill(" ".join(shown), 110, initial_indent=f"  {title:<11}", subsequent_indent=13 * " ")


def _wait_until_built(
    node: SimulatorNode, stop: threading.Event, line: StatusLine, compiled: Sequence[Progress]
) -> None:
    """Shows the progress of compilation.

    `compiled` holds its last report, or nothing while all comes from the cache.
    """
    started = shown = time.monotonic()
    while not node.built.wait(_PERIOD_BUILDING) and not stop.is_set():
        now = time.monotonic()
        if compiled and now - shown >= line.period:
            shown = now
            line.show(progress_text(compiled[0]))
    if node.built.is_set() and node.error is None:
        line.add(f"ready after {time.monotonic() - started:.1f} s")


def _countdown(node: SimulatorNode, options: argparse.Namespace) -> Callable[[], float]:
    """A function that returns the shortest wall time [s] until the duration is over, 0 when it is."""
    now, pace = time.monotonic, 1.0
    if options.simulated_duration:
        now, pace = partial(getattr, node, "simulated_time"), node.parameters.real_time_factor
    end = float("inf") if options.duration is None else now() + options.duration

    def remaining() -> float:
        rest = end - now()
        return (max(rest / pace, _PERIOD_END) if pace else _PERIOD_END) if rest > 0.0 else 0.0

    return remaining


def _watch(
    node: SimulatorNode,
    viewer: subprocess.Popen | None,
    stop: threading.Event,
    remaining: Callable[[], float],
    line: StatusLine,
) -> None:
    """Shows the status until the run is stopped, fails, or no wall time [s] is `remaining`."""
    show_at = time.monotonic() + line.period
    while (rest := remaining()) > 0.0 and not stop.wait(min(line.period, rest)):
        if time.monotonic() < show_at:
            continue
        show_at = time.monotonic() + line.period
        if viewer is not None and viewer.poll() is not None:
            line.add(f"the viewer ended with status {viewer.returncode}; the simulation goes on without it")
            viewer = None
        report = node.report
        if report is not None:
            line.show(status_text(report))
            if report.failure:
                return


def _verdict(program: str, node: SimulatorNode, options: argparse.Namespace, line: StatusLine) -> int:
    if node.error is not None:
        line.add(f"{program}: {failure_text(node.error)}")
        return node.exit_status
    if node.recorder is not None and node.recorder.problem:
        line.add(f"{program}: {node.recorder.file} is incomplete: {node.recorder.problem}")
        return EXIT_FAILED
    if node.bag is not None and node.bag.problem:
        line.add(f"{program}: {node.bag.folder} is incomplete: {node.bag.problem}")
        return EXIT_FAILED
    report = node.report
    if report is None:
        return 0 if options.duration is None else EXIT_FAILED
    kept, text = judge(report, node.parameters.real_time_factor)
    if options.duration is None and not report.failure:
        line.add(f"ended: {_figures(report)}")
        return 0
    if options.allow_late and not kept and not report.failure:
        line.add(f"warning: this computer {text}")
        return 0
    line.add(text)
    return 0 if kept else EXIT_FAILED


@contextmanager
def _viewer(port: int, world: str) -> Iterator[subprocess.Popen | None]:
    """Runs the viewer as a process of its own, so that drawing takes no time from the physics.

    Its page is at a port; 0: there is no viewer.

    It has a session of its own: a Ctrl-C reaches it through this process only, not during its start.
    """
    if not port:
        yield None
        return
    # Quoted: ROS reads the value as YAML.
    command = [sys.executable, *_VIEWER, f"world:={json.dumps(world)}", "-p", f"port:={port}"]
    process = subprocess.Popen(command, start_new_session=True)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_VIEWER_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
