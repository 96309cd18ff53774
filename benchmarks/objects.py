"""Plain objects beside a rover, in the simulator's node at real-time factor 1, over DDS on the loopback."""

import os

from grouser.benchmarks.figure import Figure, SkippedError, Target
from grouser.benchmarks.ros import Windows, process, require_fast_dds

DESCRIPTION = "200 boxes spawned beside the rover: time to spawn them, real-time factor, cost of their poses"

_COUNT = 200
_ONE_CORE = 100.0  # [%]
_LEAST_FACTOR = 0.98  # real-time factor that counts as real time


def run() -> list[Figure]:
    """Starts a simulator, spawns boxes one by one and together, and measures while their poses are heard and not."""
    require_fast_dds()
    try:
        import simulation_interfaces  # noqa: F401
    except ModuleNotFoundError:
        raise SkippedError("needs the package simulation_interfaces") from None
    with process("simulate", "rover") as simulator:
        alone = Windows(simulator)
        with process("populate", str(_COUNT)) as peer:
            one_by_one = peer.request("one_by_one")
            cleared = peer.request("clear")
            together = peer.request("together")
            before = peer.request("measure")
            heard = Windows(simulator)
            messages = (peer.request("measure") - before) / heard.wall
        silent = Windows(simulator)
    together_figure = (
        Figure("the same, by SpawnEntities", None, "s", reason="this version of simulation_interfaces has none")
        if together is None
        else Figure("the same, by SpawnEntities", together, "s")
    )
    conditions = {"load of the machine": os.getloadavg()[0], "cores": os.cpu_count() or 0}
    return [
        Figure(f"{_COUNT} boxes spawned one by one", one_by_one, "s", details={"deleted together [s]": cleared}),
        together_figure,
        _kept("rover alone", alone, conditions),
        _kept(f"rover and {_COUNT} boxes", silent, conditions),
        _kept("the same, poses heard", heard, {**conditions, "messages a second": messages}),
    ]


def _kept(name: str, windows: Windows, conditions: dict[str, float | int]) -> Figure:
    """Processor time of the node by simulated time, and whether it kept real time beside other programs."""
    share = windows.process / windows.factor
    return Figure(
        f"node, {name}",
        share,
        "% of a core",
        details={
            "time of a step [us]": 1e6 * windows.step,
            **{f"thread {one} [%]": taken / windows.factor for one, taken in sorted(windows.threads.items())},
            "overruns": windows.overruns,
            "samples left out": windows.dropped,
            **conditions,
        },
        targets=(
            Target("share of a core in real time [%]", share, _ONE_CORE),
            Target("real-time factor", windows.factor, _LEAST_FACTOR, at_least=True),
        ),
    )
