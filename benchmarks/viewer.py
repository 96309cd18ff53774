"""Processor time of the viewer, whose page shows a moving machine, and the pictures that its browsers get."""

import itertools
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from grouser.benchmarks.figure import Figure, Target
from grouser.benchmarks.peers import require
from grouser.benchmarks.ros import Process, process, require_fast_dds

if TYPE_CHECKING:
    from grouser.benchmarks.page_reader import PageReader

DESCRIPTION = "the page that shows a moving machine at 30 Hz: one browser, Chromium, one that reads nothing, four"

# What simulator and viewer get beside the machine, by what is shown.
_SHOWN: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "excavator": ("excavator", "flat", ('program="excavator"',)),
    "robot on tracks": (
        "demolition_robot",
        "step",
        ('program="demolition_robot_step"', 'machine_arguments=["stance:=tracks","track_arms:=true"]'),
    ),
}
_SETTLING = 5.0  # [s] after a browser has come: it is sent the whole scene
_WINDOWS, _WINDOW = 10, 1.0  # [s]
_SEVERAL = 4  # browsers
_MOST = 15.0  # [% of a core]
_LEAST_RATE = 29.0  # [Hz] of 30: on a busy computer a picture is late now and then
_MOST_GROWTH = 10.0  # [MB] of memory beside a browser that reads nothing
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = ("--headless", "--no-sandbox", "--no-first-run", "--disable-background-networking")


def run() -> list[Figure]:
    """Starts a simulator and a viewer for each machine, and opens the page."""
    require_fast_dds()
    require("viser")
    return [figure for name in _SHOWN for figure in _pages(name)]


def _pages(name: str) -> Iterator[Figure]:
    """Figures of one machine."""
    from grouser.benchmarks.page_reader import opened, reading

    machine, world, settings = _SHOWN[name]
    world = f'world="{world}"'
    with ExitStack() as stack:
        stack.enter_context(process("simulate", machine, world, *settings))
        viewer = stack.enter_context(process("view", world))
        port = viewer.request("port")
        readers = [stack.enter_context(reading(port))]
        yield _figure(f"page, {name}", viewer, readers)
        with _chromium(port) as found:
            if found:
                yield _figure("the same, beside Chromium", viewer, readers)
        with opened(port, max_queue=1):  # nobody reads
            yield _figure("the same, one reads nothing", viewer, readers)
        readers += [stack.enter_context(reading(port)) for _ in range(_SEVERAL - 1)]
        yield _figure(f"the same, {_SEVERAL} browsers", viewer, readers)


def _figure(name: str, viewer: Process, readers: Sequence["PageReader"]) -> Figure:
    """Share of a core of the viewer, and what the slowest of its readers got."""
    time.sleep(_SETTLING)
    looks, begun = [viewer.request("measure")], time.monotonic()
    for _ in range(_WINDOWS):
        time.sleep(_WINDOW)
        looks.append(viewer.request("measure"))
    ended = time.monotonic()
    windows = list(itertools.pairwise(looks))

    def share(taken: Callable[[Mapping[str, Any]], float]) -> float:
        return statistics.median(100.0 * (taken(b) - taken(a)) / (b["wall"] - a["wall"]) for a, b in windows)

    arrivals = [[when for when in reader.arrivals if begun <= when <= ended] for reader in readers]
    rate = min(len(times) for times in arrivals) / (ended - begun)
    growth = 1e-6 * (looks[-1]["memory"] - looks[0]["memory"])
    process = share(lambda look: look["process"])
    return Figure(
        name,
        process,
        "% of a core",
        details={
            **{f"thread {name} [%]": share(partial(_of_thread, name)) for name in sorted(looks[0]["threads"])},
            "memory [MB]": 1e-6 * looks[-1]["memory"],
            "load of the machine": os.getloadavg()[0],
            "cores": os.cpu_count() or 0,
        },
        targets=(
            Target("share of a core [%]", process, _MOST),
            Target("pictures a second", rate, _LEAST_RATE, at_least=True),
            Target("growth of the memory [MB]", growth, _MOST_GROWTH),
        ),
    )


def _of_thread(name: str, look: Mapping[str, Any]) -> float:
    return look["threads"].get(name, 0.0)


@contextmanager
def _chromium(port: int) -> Iterator[bool]:
    """Headless Chromium with the page open; false where none is installed."""
    program = next((path for path in map(shutil.which, _CHROMIUM) if path), None)
    if program is None:
        yield False
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [
            program,
            *_FLAGS,
            "--remote-debugging-port=0",
            f"--user-data-dir={profile}",
            f"http://127.0.0.1:{port}/",
        ]
        # The rclpy wheels leave libraries to their children that are not those of Chromium.
        own = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
        browser = subprocess.Popen(command, env=own, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield True
        finally:
            browser.terminate()
            browser.wait()
