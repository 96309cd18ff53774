"""Writes docs/experiments.md from the experiments, their parameters and their references.

python -m grouser.docs_pages.experiments > docs/experiments.md
"""

import sys
from collections.abc import Iterator

from grouser import experiments
from grouser.experiments.protocol import Parameter
from grouser.references.reader import load_references

_INTRODUCTION = """# Experiments

`grouser reproduce NAME` runs an experiment and compares it with its references; `--set PARAMETER=VALUE` changes a
parameter and `--case CASE` takes those of a case ([reproduce.md](reproduce.md)). A verdict is the comparison of a run
with the file `config/references/NAME.yaml`, which has every value with its tolerance and the reason of it; `grouser
reproduce --all` runs all cases and writes one page with their verdicts, tables and plots.

This page is made from the experiments: `python -m grouser.docs_pages.experiments > docs/experiments.md`.
"""


def experiments_page() -> str:
    """Returns the text of docs/experiments.md."""
    return "\n".join([_INTRODUCTION, *(line for name in experiments.NAMES for line in _section(name))])


def _section(name: str) -> Iterator[str]:
    experiment, references = experiments.load(name), load_references(name)
    yield f"## `{name}`"
    yield ""
    yield sentence(experiment.DESCRIPTION)
    yield ""
    yield f"- {references.heading.capitalize()}: {words(references.source)}"
    if references.standing:
        yield f"- In place of the publication: {words(references.standing)}"
    yield f"- [Verdicts](verdicts.md#{name})"
    yield f"- Cases: {', '.join(f'`{case.name}`' for case in references.cases)}"
    yield ""
    yield "| parameter | default | valid | meaning |"
    yield "|---|---|---|---|"
    for key, parameter in experiment.PARAMETERS.items():
        yield f"| `{key}` | {_default(parameter)} | {cell(parameter.valid())} | {cell(parameter.description)} |"
    yield ""


def _default(parameter: Parameter) -> str:
    value = parameter.default
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.10g}"
    return f"`{value}`" if value != "" else ""


def sentence(text: str) -> str:
    """A description as a sentence."""
    return f"{words(text[0].upper() + text[1:])}."


def cell(text: str) -> str:
    """A text as the cell of a table of Markdown."""
    return words(text).replace("|", "\\|")


def words(text: str) -> str:
    """A text on one line of Markdown."""
    return " ".join(text.split()).replace("<", "&lt;")


if __name__ == "__main__":
    sys.stdout.write(experiments_page())
