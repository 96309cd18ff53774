"""Tries the robots of packages and of cloned repositories, and writes docs/robots.md.

    python -m grouser.benchmarks.robot_survey try docs/robots.json NAME=FOLDER ...
    python -m grouser.benchmarks.robot_survey page docs/robots.json > docs/robots.md

NAME is what the page calls the repository in FOLDER, as owner/name. The packages example-robot-data and pybullet are
tried without a folder, where they are installed. Nothing is fetched. Robots of other sources stay in the file.
"""

import argparse
import json
import platform
import re
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib import metadata
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from grouser.benchmarks.figure import SkippedError
from grouser.benchmarks.robot_files import PACKAGE, package_version, robots_folder
from grouser.benchmarks.robot_trial import EMPTY, FAILED, RAN, Outcome, send_trial, warm_up
from grouser.benchmarks.robots_page import robots_page

SECONDS = 300.0  # that one robot may take
_PYBULLET = "pybullet"
_SEARCHED = re.compile("; looked in .*", re.DOTALL)  # where a package was looked for on this computer
# Folders of things that are no robots, thousands in pybullet.
_OTHER_THINGS = (".git", "random_urdfs", "tray", "plane", "toys", "objects", "accessories")


class Source(NamedTuple):
    """Where robots come from: a name, what tells its version, and a folder."""

    name: str
    version: str
    folder: Path


def main(arguments: Sequence[str]) -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(
        prog="robot_survey", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("command", choices=("try", "page"))
    parser.add_argument("results", type=Path, help="JSON file of the results")
    parser.add_argument("repositories", nargs="*", metavar="NAME=FOLDER")
    parser.add_argument("--failed", action="store_true", help="only robots that did not run the last time")
    parser.add_argument("--argument", action="append", default=[], metavar="NAME:=VALUE", help="of the xacro files")
    options = parser.parse_intermixed_args(arguments)
    results = json.loads(options.results.read_text()) if options.results.exists() else []
    if options.command == "page":
        sys.stdout.write(robots_page(results))
        return
    given = [_repository(text, parser) for text in options.repositories]
    values = dict(text.split(":=", 1) for text in options.argument)
    warm_up()
    for source in given or _packages():
        before = [one for one in results if one["source"] == source.name]
        kept = [one for one in before if options.failed and one["result"] == RAN]
        results = [one for one in results if one["source"] != source.name] + kept
        for outcome in survey(source, {one["file"] for one in kept}, values):
            results.append(outcome)
            results.sort(key=lambda one: (one["source"].lower(), one["file"]))
            lines = ",\n".join(json.dumps(one, allow_nan=False) for one in results)
            options.results.write_text(f"[\n{lines}\n]\n")


def survey(source: Source, known: Collection[str], arguments: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Tries the robots of a source that are not known, each in its own process; yields a record of each.

    Args:
        source: of the robots.
        known: files that are left out, relative to its folder.
        arguments: of its xacro files.
    """
    for file in robot_files(source.folder):
        name = str(file.relative_to(source.folder))
        if name in known:
            continue
        print(f"{source.name}: {name}", end=": ", file=sys.stderr, flush=True)
        outcome = try_robot(file, arguments)
        print(outcome.result, outcome.message[:120], file=sys.stderr, flush=True)
        if outcome.result != EMPTY:
            record = {"source": source.name, "version": source.version, "processor": _processor(), "file": name}
            told = asdict(outcome) | {"message": _SEARCHED.sub("", outcome.message)}
            text = json.dumps(record | told)
            yield json.loads(text.replace(f"{source.folder}/", "").replace(str(source.folder), "."))


def try_robot(file: Path, arguments: Mapping[str, str]) -> Outcome:
    """The outcome of a robot in a process of its own, which may take `SECONDS` and `robot_trial.MEMORY`."""
    context = get_context("fork")  # the parent has the compiled physics
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=send_trial, args=(file, arguments, sender))
    process.start()
    sender.close()
    try:
        if not receiver.poll(SECONDS):
            return Outcome(FAILED, f"it takes more than {SECONDS:g} s")
        return receiver.recv()
    except EOFError:
        process.join()
        return Outcome(FAILED, f"its process ended with status {process.exitcode}")
    finally:
        process.kill()
        process.join()


def robot_files(folder: Path) -> list[Path]:
    """Robots in a folder: URDF files with a joint that moves, and xacro files ``.urdf.xacro`` that name their robot."""
    files = (*sorted(folder.rglob("*.urdf")), *sorted(folder.rglob("*.urdf.xacro")))
    others = {path for path in files if set(path.relative_to(folder).parts[:-1]) & set(_OTHER_THINGS)}
    return [path for path in files if path not in others and _is_robot(path)]


def _is_robot(path: Path) -> bool:
    """Whether a file has a robot; one that is no XML counts, so that its refusal is seen."""
    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, OSError, ValueError):
        return True
    if path.suffix == ".xacro":
        return root.get("name") is not None
    return any(joint.get("type") not in (None, "fixed") for joint in root.iter("joint"))


def _packages() -> list[Source]:
    """The installed packages with robots."""
    found = []
    with suppress(SkippedError):
        found.append(Source(PACKAGE, package_version(), robots_folder()))
    specification = find_spec("pybullet_data")
    if specification is not None and specification.origin is not None:
        found.append(Source(_PYBULLET, metadata.version(_PYBULLET), Path(specification.origin).parent))
    return found


def _repository(text: str, parser: argparse.ArgumentParser) -> Source:
    name, _, folder = text.partition("=")
    path = Path(folder).absolute()
    if not name or not folder or not path.is_dir():
        parser.error(f"{text}: give NAME=FOLDER, with a folder that exists")
    command = ["git", "-C", str(path), "rev-parse", "--short=10", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Source(name, done.stdout.strip(), path)


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


if __name__ == "__main__":
    main(sys.argv[1:])
