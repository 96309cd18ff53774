"""The blocks of Python of how-to pages run as they stand, one after the other."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["change_machine"])
def test_blocks_run(page, capsys):
    namespace = {}
    for block in re.findall(r"```python\n(.*?)```", (DOCS / f"{page}.md").read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, f"{page}.md", "exec"), namespace)
    assert capsys.readouterr().out
