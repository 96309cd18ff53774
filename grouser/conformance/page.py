"""docs/conform.md, made from the tables that the checks use."""

import sys
from collections.abc import Iterator, Sequence

from grouser.conformance import standard
from grouser.conformance.standard import ACTIONS, INPUTS, OUTPUTS, PARAMETERS, SERVICES, Output

_INTRODUCTION = """\
# Checking a simulator against the ROS 2 interface

    grouser run --machine rover &
    grouser conform

`grouser conform` is a ROS 2 node. It reads the graph, subscribes, requests, pauses, steps, commands, stops and resets
any running simulator, and prints a row for each check: the requirement, the finding, and `ok`, `FAILED`, `absent` (not
offered, and not required of this machine) or `skipped` (could not be checked). The exit status is 0 if no check failed,
1 if one did, and 2 if there is no simulator, or more than one to choose from.

| option | meaning |
|---|---|
| `--node NAME` | the simulator's node, with its namespace or without; else the only one that publishes `/clock` |
| `--passive` | passive checks only: it is neither paused nor moved nor reset |
| `--only GROUP ...` | some groups of checks only |
| `--timeout SECONDS` | longest wait for an answer; increase it for a simulator that starts slowly |
| `--json FILE` | the rows as JSON too |
| `--ros-args ...` | of its own node |

Without `--passive` **the machine moves** and is reset several times, and a second one, `conform_guest`, is spawned 30 m
from the origin and deleted; afterwards the simulator runs or is paused as before, with its machine at its start. The
machine is that with the names of the node: machines of a fleet are not checked. The requirements follow from the
machine's URDF: from the `<grouser>` element ([docs](urdf_extension.md)), or without one, from links and joints. This
page is made from the tables of the checks (`grouser/conformance/standard.py`); they share no code with grouser's nodes.

## Checks

| group | checks |
|---|---|
| `graph` | types of topics, services and actions; publishers' quality of service but for their depth; one `/clock` |
| `streams` | that messages arrive; rates and order by stamps, in simulation time; one time base; finite numbers |
| `frames` | one tree below `map_frame`, with all links and frames of messages; odometry frame, footprint, base |
| `contents` | joint states; scans; clouds; depth images and their `camera_info`; fixes; REP-145; covariances; values |
| `parameters` | descriptions and ranges; a bad value is refused with a reason |
| `time` | no step while running; time stops while paused; N steps are N steps; stamps agree to an interval |
| `interfaces` | `simulation_interfaces`, where it is offered: features, states, steps, spawning in a namespace |
| `reset` | joints are at their start; time does not go back unless `reset_rewinds_time` is set |
| `commands` | those not finite, of unknown name or wrong length are refused and counted; a timeout ends the motion |
| `emergency_stop` | the machine stops, and obeys no command until it is cleared or reset, even after `false` was sent |

Commands are tried while the simulator is paused, by steps from a reset: trials differ only by the command, and the load
of the computer does not matter. A timeout is compared with a command to stop at the same moment: the difference may be
a tick.

## Limits of grouser's simulator

The integrators for smooth machines have no brakes. Under them an emergency stop takes the drives' effort away, and
joints without friction continue to move: `four_bar` fails `emergency_stop` unless it is run with
`integrator:=semi_implicit`.
"""


def page() -> str:
    """The page's text."""
    return "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
    yield from _INTRODUCTION.splitlines()
    yield from _section(
        "Out",
        ("topic", "type", "quality of service", "rate [Hz] (parameter)", "of"),
        [(_names(output), f"`{output.type}`", _quality(output), _rate(output), output.needs) for output in OUTPUTS],
    )
    yield from _section(
        "In",
        ("topic", "type", "of"),
        [(f"`{entry.name}`", " or ".join(f"`{kind}`" for kind in entry.types), entry.needs) for entry in INPUTS],
    )
    yield from _section(
        "Services and actions",
        ("name", "type", "of", "dispensable beside"),
        [(f"`{c.name}`", f"`{c.type}`", c.needs, f"`{c.instead}`" if c.instead else "") for c in SERVICES + ACTIONS],
    )
    yield from _section(
        "Parameters",
        ("name", "where there is none"),
        [(f"`{name}`", str(value).lower()) for name, value in PARAMETERS.items()],
    )


def _section(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield from ("", f"## {title}", "")
    for row in (headings, ["---"] * len(headings), *rows):
        yield f"| {' | '.join(row)} |"


def _names(output: Output) -> str:
    return f"`{output.name}`, a single one `{output.single}`" if output.single else f"`{output.name}`"


def _quality(output: Output) -> str:
    durability = "" if output.durability == standard.VOLATILE else f", {output.durability}"
    return f"{output.reliability}{durability}, depth {output.depth}"


def _rate(output: Output) -> str:
    if output.rate is None:
        return ""
    return f"{output.rate:g} (`{output.rate_parameter}`)"


if __name__ == "__main__":
    sys.stdout.write(page())
