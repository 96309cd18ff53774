"""Writes docs/verdicts.md, the verification report, from the stored comparisons of the experiments.

python -m grouser.docs_pages.verdicts > docs/verdicts.md
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from grouser import experiments
from grouser.docs_pages.experiments import cell, sentence, words
from grouser.references.data import Case, References
from grouser.references.reader import load_references
from grouser.references.words import AGREES, headings

VERDICTS = Path(__file__).parents[2] / "docs" / "verdicts.json"

_NOT_RUN = "not run for this report"
_INTRODUCTION = """# Verification report

What the publications say beside what grouser gives: for each case of each [experiment](experiments.md) the
reference, the result, their difference, the largest difference that agrees, and the verdict. Where a list has many
values the worst is shown. Reasons of the tolerances are in `config/references`; [accuracy.md](accuracy.md) sums up,
and tells the rules of the references. `grouser reproduce NAME --case CASE` repeats one, `grouser reproduce --all` all,
with plots.

This page is made from the stored results of the version named with each:

    python tooling/verdicts.py                                    # runs the experiments, docs/verdicts.json
    python -m grouser.docs_pages.verdicts > docs/verdicts.md

| experiment | cases | values | verdict |
|---|---|---|---|"""


def verdicts_page(stored: Mapping[str, Any]) -> str:
    """Returns the text of docs/verdicts.md.

    Args:
        stored: what docs/verdicts.json holds: for each experiment the ``version`` that ran and its ``cases``, by
            name the rows of the table of comparisons.
    """
    rows = [_summary(name, stored.get(name, {})) for name in experiments.NAMES]
    sections = [line for name in experiments.NAMES for line in _section(name, stored.get(name, {}))]
    return "\n".join([_INTRODUCTION, *rows, "", *sections])


def _summary(name: str, stored: Mapping[str, Any]) -> str:
    cases = stored.get("cases", {})
    verdicts = [row[-1] for rows in cases.values() for row in rows]
    wrong = sum(verdict != AGREES for verdict in verdicts)
    verdict = _NOT_RUN if not verdicts else f"{wrong} DISAGREE" if wrong else AGREES
    return f"| [{name}](#{name}) | {len(cases)} | {len(verdicts)} | {verdict} |"


def _section(name: str, stored: Mapping[str, Any]) -> Iterator[str]:
    references = load_references(name)
    yield f"## `{name}`"
    yield ""
    yield sentence(experiments.load(name).DESCRIPTION)
    yield ""
    yield f"- {references.heading.capitalize()}: {words(references.source)}"
    if references.standing:
        yield f"- In place of the publication: {words(references.standing)}"
    yield f"- [Parameters](experiments.md#{name})"
    if stored:
        yield f"- Run by grouser {stored['version']}"
    yield ""
    for case in references.cases:
        yield from _case(references, case, stored.get("cases", {}).get(case.name))


def _case(references: References, case: Case, rows: list[list[str]] | None) -> Iterator[str]:
    given = ", ".join(f"`{key}` {value}" for key, value in case.parameters.items())
    yield f"**{case.name}**" + (f": {given}" if given else "")
    yield ""
    if rows is None:
        yield f"{_NOT_RUN.capitalize()}."
    else:
        yield "| " + " | ".join(headings(references.heading)) + " |"
        yield "|---|---|---|---|---|---|"
        for row in rows:
            yield "| " + " | ".join(cell(text) for text in row) + " |"
    yield ""


if __name__ == "__main__":
    sys.stdout.write(verdicts_page(json.loads(VERDICTS.read_text(encoding="utf-8"))))
