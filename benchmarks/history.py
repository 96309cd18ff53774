"""The history of the speed: `benchmarks/history`, one file an entry, and the page and plot that are made of it.

    python -m grouser.benchmarks.history take articulated_body step    # measures, and writes an entry
    python -m grouser.benchmarks.history plot docs/images/speed_history.png
    python -m grouser.benchmarks.history page > docs/speed_history.md

An entry holds what `grouser bench --json` writes, with the commit, its date, the load of the computer, and where the
figures come from.
"""

import datetime
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from grouser import benchmarks
from grouser.benchmarks.figure import Figure, SkippedError, as_json
from grouser.physics.base.figures import make_figure, save_figure

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "benchmarks" / "history"
MEASURED = "measured"
Entry = Mapping[str, Any]

_COLUMNS, _PANEL = 2, (4.6, 2.6)  # of the plot; size of a panel [inches]
_INTRODUCTION = """# History of the speed

Processor time of grouser by that of the peer in the same run, below 1 where grouser takes less, by commit. A ratio is
what can be compared between computers and loads; times, processor and load are in the files of `benchmarks/history`,
one an entry.

![Ratios over commits](images/speed_history.png)

This page is made by these; names are those of `grouser bench`, and the first measures the present commit:

    python -m grouser.benchmarks.history take articulated_body step
    python -m grouser.benchmarks.history plot docs/images/speed_history.png
    python -m grouser.benchmarks.history page > docs/speed_history.md

Entries that were not measured for the history are figures that a page had at that commit, by `grouser bench`.

| commit | date | processor | load | figures | source |
|---|---|---|---|---|---|"""


def entries() -> list[Entry]:
    """All entries, by the dates of their commits."""
    read = [json.loads(file.read_text(encoding="utf-8")) for file in FOLDER.glob("*.json")]
    return sorted(read, key=lambda entry: (entry["date"], entry["commit"]))


def take(names: Sequence[str]) -> Path:
    """Runs benchmarks and writes an entry; returns its file."""
    figures: list[Figure] = []
    skipped = {}
    for name in names:
        try:
            figures += benchmarks.load(name).run()
        except SkippedError as error:
            skipped[name] = str(error)
    commit, date = _git("show", "--no-patch", "--format=%h %cI", "HEAD").split()
    day = datetime.datetime.fromisoformat(date).date().isoformat()
    entry = {"commit": commit, "date": date, "source": MEASURED, "load": round(os.getloadavg()[0], 1)}
    file = FOLDER / f"{day}-{commit}.json"
    file.write_text(json.dumps(entry | as_json(figures, skipped), indent=1, ensure_ascii=False) + "\n", "utf-8")
    return file


def ratios(history: Sequence[Entry]) -> dict[str, list[tuple[Entry, float]]]:
    """Ratios to a peer with their entries, by the names of the figures."""
    found: dict[str, list[tuple[Entry, float]]] = {}
    for entry in history:
        for figure in entry["figures"]:
            if figure["ratio"] is not None:
                found.setdefault(figure["name"], []).append((entry, figure["ratio"]))
    return dict(sorted(found.items()))


def plot(history: Sequence[Entry], file: Path) -> None:
    """Draws the ratios over the entries, a panel for each benchmark's scene."""
    panels = _grouped(ratios(history))
    rows = -(-len(panels) // _COLUMNS)
    figure = make_figure(_COLUMNS * _PANEL[0], rows * _PANEL[1])
    axes = figure.subplots(rows, _COLUMNS, sharex=True, squeeze=False)
    places = {entry["commit"]: place for place, entry in enumerate(history)}
    for panel, (title, curves) in zip(axes.flat, panels.items(), strict=False):
        for name, points in curves.items():
            panel.plot(
                [places[entry["commit"]] for entry, _ in points], [ratio for _, ratio in points], "o-", label=name
            )
        panel.set_title(title, loc="left", fontsize="medium")
        panel.axhline(1.0, color="0.6", linewidth=0.8)
        panel.set_ylim(0.0, None)
        panel.set_xticks(range(len(history)), [entry["commit"] for entry in history], rotation=60, fontsize="small")
        panel.legend(fontsize="small")
    for panel in list(axes.flat)[len(panels) :]:
        panel.set_visible(False)
    save_figure(figure, file, "plot", dpi=100)


def page(history: Sequence[Entry]) -> str:
    """Returns the text of docs/speed_history.md."""
    lines = [_INTRODUCTION]
    for entry in history:
        machine, load = entry["machine"].get("processor", "not noted"), entry["load"]
        lines.append(
            f"| `{entry['commit']}` | {entry['date'][:10]} | {machine} | {'not noted' if load is None else load} | "
            f"{len(entry['figures'])} | {entry['source']} |"
        )
    return "\n".join([*lines, "", *_table(history), ""])


def _table(history: Sequence[Entry]) -> Iterator[str]:
    shown = [entry for entry in history if any(figure["ratio"] is not None for figure in entry["figures"])]
    yield "| figure | peer | " + " | ".join(f"`{entry['commit']}`" for entry in shown) + " |"
    yield "|---" * (2 + len(shown)) + "|"
    for name, points in ratios(history).items():
        here = {entry["commit"]: f"{ratio:.2f}" for entry, ratio in points}
        peer = next(figure["peer"] for figure in points[-1][0]["figures"] if figure["name"] == name)
        yield f"| {name} | {peer} | " + " | ".join(here.get(entry["commit"], "") for entry in shown) + " |"


def _grouped(curves: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Curves by what their names begin with, up to the comma: "stack of 10 boxes, landing"."""
    found: dict[str, dict[str, Any]] = {}
    for name, points in curves.items():
        title, _, rest = name.partition(", ")
        found.setdefault(title, {})[rest or name] = points
    return found


def _git(*words: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True).stdout


def main(arguments: Sequence[str]) -> None:
    """Takes an entry, or writes the page or the plot."""
    match arguments:
        case ["take", *names] if names:
            print(take(names))
        case ["plot", file]:
            plot(entries(), Path(file))
        case ["page"]:
            sys.stdout.write(page(entries()))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
