"""Commands have one spelling in README and docs: those of the active environment."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
ACTIVATION = ". .venv/bin/activate"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_are_those_of_the_active_environment(page):
    text = page.read_text(encoding="utf-8").replace(ACTIVATION, "")
    assert not re.findall(r"^.*venv/bin/.*$", text, re.MULTILINE)
    assert not re.findall(r"^.*python3? -m grouser\.cli.*$", text, re.MULTILINE)


def test_the_readme_activates_the_environment_before_the_first_command():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first = re.search(r"(?:^ {4,}|`)grouser \w", text, re.MULTILINE)
    assert ACTIVATION in text[: first.start()]
