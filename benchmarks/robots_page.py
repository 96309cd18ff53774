"""The page docs/robots.md, from the results of `robot_survey`."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from statistics import median
from typing import Any

from grouser.benchmarks.robot_trial import DIVERGED, FAILED, INCOMPLETE, RAN, REFUSED

Record = Mapping[str, Any]
_SAME = 1e-9  # difference of masses that is rounding, as a share
_WARNINGS_SHOWN = 3
_TEXT = 220  # characters of a message
_INTRODUCTION = """# Robots that were tried

Robots of public packages and repositories, as their makers published them. Each is loaded, placed a millimetre above
level ground (free, unless its root link is named `world`), left to fall for 500 steps of 1 ms without any drive, and
measured in the next 500. Nothing was changed in their files, and nothing of them is part of grouser. The copies of the
repositories were without files of 4 MB and more: visual meshes that are told as missing may be such files.

- *result*: `ran`, with the number of warnings, which are listed below the table; `refused`, with the message;
  `incomplete`: the file refers to a package of another repository or to a mesh that was not there, or it needs
  arguments that have no default.
- *freedoms*: degrees of freedom. *contacts*: after the steps, ours and MuJoCo's.
- *step*: median processor time of a step. *by MuJoCo's*: its ratio to the time of MuJoCo for the same URDF, with
  MuJoCo's usual settings; below 1, grouser takes less. MuJoCo reads neither `package://` nor all formats of meshes: it
  gets the convex hulls as STL. Where it refuses the robot, a dash.
- *mass*: total mass and that of Pinocchio, which reads the same text: `=` where they agree to 1e-9.

This page is made by

    python -m grouser.benchmarks.robot_survey try docs/robots.json
    python -m grouser.benchmarks.robot_survey try docs/robots.json OWNER/NAME=FOLDER ...
    python -m grouser.benchmarks.robot_survey try docs/robots.json --failed --argument NAME:=VALUE OWNER/NAME=FOLDER
    python -m grouser.benchmarks.robot_survey page docs/robots.json > docs/robots.md

The first line tries the robots of the packages example-robot-data (`pip install "grouser[robots]"`) and pybullet; the
second those of repositories that you have cloned to FOLDER. Each robot has a process of its own, with a limit of time
and memory. The third tries only those that did not run, with arguments for their xacro files.
"""
_HEADINGS = ("robot", "result", "freedoms", "contacts", "step [µs]", "by MuJoCo's", "mass [kg]")


def robots_page(records: Sequence[Record]) -> str:
    """Returns the text of the page."""
    return "\n".join([_INTRODUCTION, *_summary(records), *_sources(records)]) + "\n"


def _summary(records: Sequence[Record]) -> Iterator[str]:
    results = Counter(record["result"] for record in records)
    ratios = [record["step"] / record["peer_step"] for record in records if record["peer_step"]]
    yield "## Summary"
    yield ""
    sources = {record["source"] for record in records}
    counts = [f"{results[kind]} {kind}" for kind in (RAN, REFUSED, DIVERGED, FAILED, INCOMPLETE) if results[kind]]
    yield f"{len(records)} robots of {len(sources)} sources: {', '.join(counts)}."
    if ratios:
        below = sum(ratio <= 1.0 for ratio in ratios)
        yield (
            f"Beside MuJoCo: {len(ratios)} robots, the median of the ratios is {median(ratios):.2f}, and {below} take "
            f"no longer. Times are those of {records[0]['processor']}, while other programs ran."
        )
    yield ""


def _sources(records: Sequence[Record]) -> Iterator[str]:
    for (source, version), group in groupby(records, key=lambda record: (record["source"], record["version"])):
        robots = list(group)
        yield f"## {source}"
        yield ""
        if version:
            yield f"Version {version}."
            yield ""
        yield f"| {' | '.join(_HEADINGS)} |"
        yield "|---" * len(_HEADINGS) + "|"
        for robot in robots:
            yield f"| {' | '.join(_cells(robot))} |"
        yield ""
        yield from _warnings(robots)


def _cells(robot: Record) -> Iterator[str]:
    yield f"`{robot['file']}`"
    if robot["result"] != RAN:
        yield f"{robot['result']}: {_text(robot['message'])}"
        yield from [""] * (len(_HEADINGS) - 2)
        return
    count = len(robot["warnings"])
    yield RAN if not count else f"{RAN}, {count} warning{'s' if count > 1 else ''}"
    yield str(robot["freedoms"])
    peer = robot["peer_step"]
    yield f"{robot['contacts']}" + (f" / {robot['peer_contacts']}" if peer else "")
    yield f"{robot['step']:.3g}"
    yield f"{robot['step'] / peer:.2f}" if peer else "-"
    yield _mass(robot)


def _mass(robot: Record) -> str:
    mass, reference = robot["mass"], robot["reference_mass"]
    if reference is None:
        return f"{mass:.4g}"
    if abs(mass - reference) <= _SAME * max(abs(reference), abs(mass)):
        return f"{mass:.4g} ="
    return f"{mass:.4g}, {robot['reference']}: {reference:.4g}"


def _warnings(robots: Sequence[Record]) -> Iterator[str]:
    told = [robot for robot in robots if robot["warnings"]]
    if not told:
        return
    yield "Warnings:"
    yield ""
    for robot in told:
        more = len(robot["warnings"]) - _WARNINGS_SHOWN
        shown = [_text(warning) for warning in robot["warnings"][:_WARNINGS_SHOWN]]
        yield f"- `{robot['file']}`: {'; '.join(shown)}" + (f"; and {more} more" if more > 0 else "")
    yield ""


def _text(message: str) -> str:
    """A message in a cell of the table: on one line, shortened."""
    line = " ".join(message.split()).replace("|", "\\|").replace("<", "\\<")
    return line if len(line) <= _TEXT else f"{line[:_TEXT].rpartition(' ')[0]} ..."
