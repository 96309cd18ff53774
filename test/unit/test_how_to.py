"""The blocks of Python of how-to pages run as they stand, and tables of keys are those of the readers."""

import re
from pathlib import Path

import pytest
import yaml

from grouser.function_blocks import reader
from grouser.function_blocks.reader import parse_control_program
from grouser.loading import load_machine
from grouser.program import _COMMAND_KEYS, _KINDS, _TOP_KEYS

DOCS = Path(__file__).parents[2] / "docs"


def text_of(page):
    return (DOCS / f"{page}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["change_machine", "choose_step", "slow_or_stopped"])
def test_blocks_run(page, capsys):
    namespace = {}
    for block in re.findall(r"```python\n(.*?)```", text_of(page), re.DOTALL):
        exec(compile(block, f"{page}.md", "exec"), namespace)
    assert capsys.readouterr().out


def keys(page, heading):
    (table,) = re.findall(
        rf"^\| {heading} \| default \| meaning \|\n\|---\|---\|---\|\n((?:\|.*\n)+)", page, re.MULTILINE
    )
    return sorted(re.findall(r"`(\w+)`", " ".join(row.split("|")[1] for row in table.splitlines())))


def test_keys_of_program_files():
    timed, blocks = text_of("program_files").split("## Function blocks")
    assert keys(timed, "key") == sorted(_TOP_KEYS)
    assert keys(timed, "key of a command") == sorted({*_COMMAND_KEYS, *_KINDS})
    assert keys(blocks, "key") == sorted(reader._TOP_KEYS)
    assert keys(blocks, "key of an input") == sorted(reader._INPUT_KEYS)


def test_programs_of_the_page_command_the_lift():
    timed, diagram = re.findall(r"```yaml\n(.*?)```", text_of("program_files"), re.DOTALL)
    program = parse_control_program(timed, "timed.yaml")
    program.check([valve.name for valve in load_machine("hydraulic_lift").valves], [])
    assert program.period == yaml.safe_load(timed)["period"]
    assert list(parse_control_program(diagram, "diagram.yaml").commands) == ["lift_valve"]
