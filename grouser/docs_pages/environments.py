"""Writes the section of docs/gymnasium.md on the environments, from their tasks.

python -m grouser.docs_pages.environments
"""

import sys
from collections.abc import Iterator

from grouser.envs import TASKS, Quantity, Task


def environments_section() -> str:
    """The section, in Markdown."""
    return "\n".join(line for name, task in TASKS.items() for line in _environment(name, task))


def _environment(name: str, task: type[Task]) -> Iterator[str]:
    interval = 1e-3 * task.interval
    yield f"### `{name}`\n"
    yield f"{task.purpose}\n"
    yield f"A step is {interval:g} s, an episode at most {task.most_steps} steps, {interval * task.most_steps:g} s.\n"
    yield f"- Reward of a step: {task.reward}."
    yield f"- End: {task.end}.\n"
    yield from _table("action", task.actions)
    yield from _table("observation", task.observations)


def _table(title: str, quantities: tuple[Quantity, ...]) -> Iterator[str]:
    yield f"| {title} | 1 stands for |"
    yield "|---|---|"
    for quantity in quantities:
        unit = "" if quantity.unit == "-" else f" {quantity.unit}"
        yield f"| {quantity.name} | {quantity.scale:.4g}{unit} |"
    yield ""


def main() -> int:
    """Prints the section."""
    sys.stdout.write(environments_section())
    return 0


if __name__ == "__main__":
    sys.exit(main())
