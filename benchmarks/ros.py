"""Cost and timing of the ROS side of the simulator, at real-time factor 1, over DDS on the loopback."""

import itertools
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from grouser import catalogue
from grouser.benchmarks.figure import Figure, SkippedError
from grouser.benchmarks.peers import source_file
from grouser.physics.description import load_machine
from grouser.physics.simulation.simulation import Simulation

DESCRIPTION = "publishing all of the demolition robot, jitter of /clock, cmd_vel to motion, a listener that hangs"

_MACHINE = "demolition_robot"
_DOMAIN = "101"
_SETTLING = 3.0  # [s] time for discovery
_WINDOWS, _WINDOW = 10, 1.0  # [s]
_TWISTS = 9


def run() -> list[Figure]:
    """Starts simulators and subscribers."""
    require_fast_dds()
    physics = _physics_alone()
    with process("simulate", _MACHINE) as simulator:
        alone = Windows(simulator)
        with process("listen") as listener, process("watch_clock") as watch, process("sleep") as sleeper:
            before = listener.request("measure")
            watch.request("measure")
            sleeper.request("measure")
            heard = Windows(simulator)
            arrivals, wakings = watch.request("measure"), sleeper.request("measure")
            after = listener.request("measure")
            rates = {topic: (after[topic] - before[topic]) / heard.wall for topic in after}
            listener.signal(signal.SIGSTOP)
            hanging = Windows(simulator)
            listener.signal(signal.SIGCONT)
        with process("repeat") as peer:
            costs = [peer.request("measure") for _ in range(3)]
        again = sum(
            rate * statistics.median(cost[topic] for cost in costs)
            for topic, rate in rates.items()
            if topic in costs[0]
        )
    details = {
        "topics": len(rates),
        "messages a second": sum(rates.values()),
        "load of the machine": os.getloadavg()[0],
        "cores": os.cpu_count() or 0,
    }
    return [
        _share("publishing, no subscriber", alone, physics, "rclpy, ready messages", 100.0 * again, details),
        _share("publishing, all subscribed", heard, physics, details=details),
        _share("publishing, a listener hangs", hanging, physics),
        _jitter("jitter of /clock, p99", arrivals, wakings, {"sent": len(heard.lateness), "heard": len(arrivals)}),
        _jitter("jitter of /clock at its sender, p99", heard.lateness, wakings, {}),
        *_first_motion(),
    ]


def require_fast_dds() -> None:
    """Skips the benchmark with another middleware.

    Raises:
        SkippedError: RMW_IMPLEMENTATION selects one.
    """
    if os.environ.get("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp") != "rmw_fastrtps_cpp":
        raise SkippedError("needs Fast DDS; RMW_IMPLEMENTATION selects another middleware")


class Process:
    """One of `ros_processes`, in a ROS domain of the benchmarks."""

    def __init__(self, *arguments: str) -> None:
        profile = str(source_file("config", "fastdds_loopback.xml"))
        environment = {
            **os.environ,
            "ROS_DOMAIN_ID": _DOMAIN,
            "FASTRTPS_DEFAULT_PROFILES_FILE": profile,
            "FASTDDS_DEFAULT_PROFILES_FILE": profile,
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "grouser.benchmarks.ros_processes", *arguments],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def request(self, word: str) -> Any:
        """Sends a word; returns the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()
        return self._answer()

    def signal(self, number: int) -> None:
        """Sends a signal."""
        self._process.send_signal(number)

    def end(self) -> None:
        """Kills it."""
        self._process.kill()
        self._process.communicate()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SkippedError("one of its processes ended; rclpy may not work here")
        return json.loads(line)


@contextmanager
def process(*arguments: str) -> Iterator[Process]:
    """Runs one of `ros_processes`, after a while for discovery."""
    process = Process(*arguments)
    try:
        time.sleep(_SETTLING)
        yield process
    finally:
        process.end()


class Windows:
    """A simulator over some seconds: medians of the shares of a core that its threads take [%]."""

    def __init__(self, simulator: Process) -> None:
        simulator.request("measure")
        looks = []
        for _ in range(_WINDOWS + 1):
            looks.append(simulator.request("measure"))
            time.sleep(_WINDOW)
        pairs = list(itertools.pairwise(looks))
        walls = [b["wall"] - a["wall"] for a, b in pairs]

        def shares(taken):
            return statistics.median(100.0 * seconds / wall for seconds, wall in zip(taken, walls, strict=True))

        self.wall = sum(walls)
        self.process = shares([b["process"] - a["process"] for a, b in pairs])
        self.threads = {
            name: shares([b["threads"][name] - a["threads"][name] for a, b in pairs]) for name in looks[0]["threads"]
        }
        first, last = looks[0], looks[-1]
        self.overruns, self.dropped = (last[name] - first[name] for name in ("overruns", "dropped"))
        self.factor = (last["simulated"] - first["simulated"]) / self.wall
        self.step = statistics.median(look["step"] for look in looks)
        self.lateness = [late for look in looks[1:] for late in look["lateness"]]


def _physics_alone() -> float:
    """Share of a core that the same steps take without a node [%]."""
    simulation = Simulation(load_machine(catalogue.machine_file(_MACHINE)))
    simulation.step(1000)
    taken = []
    for _ in range(_WINDOWS):
        started = time.process_time()
        simulation.step(1000)
        taken.append(time.process_time() - started)
    return 100.0 * statistics.median(taken) / (1000 * simulation.step_size)


def _share(
    name: str,
    windows: Windows,
    physics: float,
    peer: str = "",
    peer_share: float | None = None,
    details: Mapping[str, Any] | None = None,
) -> Figure:
    return Figure(
        name,
        windows.threads["publishing"] + windows.threads["clock"],
        "%",
        peer,
        peer_share,
        {
            "process [% of a core]": windows.process,
            **{f"thread {name} [%]": share for name, share in sorted(windows.threads.items())},
            "the same steps without a node [%]": physics,
            "real-time factor": windows.factor,
            "overruns": windows.overruns,
            "samples left out": windows.dropped,
            **(details or {}),
        },
    )


def _jitter(name: str, lateness: list[float], wakings: list[float], details: Mapping[str, Any]) -> Figure:
    """Jitter of message intervals against their stamps; beside it, that of sleep on this machine.

    Where the simulation falls behind and gives up pace, that is one late message and no more.
    """
    off, asleep = (1e3 * np.abs(np.diff(times)) for times in (lateness, wakings))
    middle, most = np.percentile(off, [50.0, 100.0]).tolist()
    return Figure(
        name,
        float(np.percentile(off, 99.0)),
        "ms",
        "a loop that only sleeps",
        float(np.percentile(asleep, 99.0)),
        {"median [ms]": middle, "largest [ms]": most, **details},
    )


def _first_motion() -> list[Figure]:
    """Delay from a twist to the first motion of a wheel at rest."""
    figures = []
    for rate, words in (("100.0", "joint_states at 100 Hz"), ("0.0", "joint_states at every step")):
        with ExitStack() as stack:
            stack.enter_context(process("simulate", "rover", f"joint_state_rate={rate}"))
            driver = stack.enter_context(process("drive"))
            live = [driver.request("live") for _ in range(_TWISTS)]
            steps = [driver.request("step") for _ in range(3)] if rate == "0.0" else []
        if steps:
            figures.append(Figure("cmd_vel to first motion", float(max(steps)), "steps"))
        details = {"largest [ms]": 1e3 * max(live)}
        figures.append(Figure(f"the same, {words}", 1e3 * statistics.median(live), "ms", details=details))
    return figures
