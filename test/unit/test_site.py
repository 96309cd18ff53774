"""The documentation site: its contents, links, generated pages, and the docstrings that it shows."""

import importlib.util
import inspect
import json
import re
import subprocess
import sys
from collections import Counter
from functools import cached_property
from pathlib import Path

import pytest

import grouser
from grouser import experiments
from grouser.benchmarks import history
from grouser.commands.registry import COMMANDS
from grouser.docs_pages.command_line import command_line_page
from grouser.docs_pages.experiments import experiments_page
from grouser.docs_pages.python_api import python_api_page
from grouser.docs_pages.verdicts import VERDICTS, verdicts_page
from grouser.experiments.protocol import complete_parameters
from grouser.references.comparison import compare
from grouser.references.reader import load_references
from grouser.references.words import AGREES, cells

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^()\s]+)\)")
# How the first lines of a docstring name the unit of a number, or that it has none.
_UNIT = re.compile(
    r"\[[^\]]+\]|\b(steps|seconds|metres|radians|share|ratio|number|index|pose|quaternion|unit|bodies)\b", re.IGNORECASE
)


def site_settings():
    spec = importlib.util.spec_from_file_location("site_settings", DOCS / "conf.py")
    settings = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(settings)
    return settings


def test_every_page_is_in_the_contents_once():
    settings = site_settings()
    listed = [page for index in settings.INDEX_PAGES for page in settings.contents((DOCS / f"{index}.md").read_text())]
    assert {name: count for name, count in Counter(listed).items() if count > 1} == {}
    pages = [*DOCS.glob("*.md"), *DOCS.glob("notebooks/*.ipynb")]
    assert {"index", *listed} == {page.relative_to(DOCS).with_suffix("").as_posix() for page in pages}


def anchors(text):
    """Anchors that GitHub makes of the headings of a page."""
    found = Counter()
    for heading in re.findall(r"^#+ +(.*)$", _FENCE.sub("", text), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        yield f"{slug}-{found[slug]}" if found[slug] else slug
        found[slug] += 1


@pytest.mark.parametrize("page", [*sorted(DOCS.glob("*.md")), ROOT / "README.md"], ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    broken = []
    for link in _LINK.findall(_FENCE.sub("", page.read_text(encoding="utf-8"))):
        target, _, anchor = link.partition("#")
        file = page.parent / target if target else page
        if ":" in link or (file.exists() and not anchor):
            continue
        if not file.exists() or anchor not in anchors(file.read_text(encoding="utf-8")):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize(
    ("name", "make"),
    [("command_line", command_line_page), ("experiments", experiments_page), ("python_api", python_api_page)],
)
def test_generated_page_is_up_to_date(name, make):
    remedy = f"run: python -m grouser.docs_pages.{name} > docs/{name}.md"
    assert (DOCS / f"{name}.md").read_text(encoding="utf-8") == make(), remedy


def test_the_verification_report_is_up_to_date():
    stored = json.loads(VERDICTS.read_text(encoding="utf-8"))
    remedy = "run: python -m grouser.docs_pages.verdicts > docs/verdicts.md"
    assert (DOCS / "verdicts.md").read_text(encoding="utf-8") == verdicts_page(stored), remedy


def test_the_history_of_the_speed_is_up_to_date():
    remedy = "run: python -m grouser.benchmarks.history page > docs/speed_history.md"
    assert (DOCS / "speed_history.md").read_text(encoding="utf-8") == history.page(history.entries()), remedy
    assert (DOCS / "images" / "speed_history.png").exists()


def test_the_command_line_page_has_every_command():
    headings = re.findall(r"^## `grouser (.+)`$", (DOCS / "command_line.md").read_text(), re.MULTILINE)
    assert headings == list(COMMANDS)


def described():
    """Public names of the package, and methods and properties of its classes, each with its function or class."""
    for name in grouser.__all__:
        value = getattr(grouser, name)
        if name == "__version__":
            continue
        yield name, value
        for member in dir(value) if inspect.isclass(value) else ():
            found = inspect.getattr_static(value, member)
            if isinstance(found, property):
                found = found.fget
            elif isinstance(found, cached_property):
                found = found.func
            found = getattr(found, "__func__", found)  # of class methods
            if not member.startswith("_") and inspect.isfunction(found) and found.__module__.startswith("grouser"):
                yield f"{name}.{member}", found


def test_every_public_name_has_a_docstring():
    missing = [name for name, value in described() if not (value.__doc__ or "").strip()]
    assert missing == []


def test_numbers_that_are_returned_have_their_unit():
    """Of functions that return a number or an array; of others the classes that they return say it."""
    without = []
    for name, value in described():
        returned = str(inspect.signature(value).return_annotation) if inspect.isfunction(value) else ""
        if re.search(r"\b(float|int|ndarray)\b", returned) and not _UNIT.search(value.__doc__ or ""):
            without.append(name)
    assert without == []


@pytest.mark.soak  # Sphinx reads all pages and imports all that they describe: half a minute
def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("sphinx", reason='needs pip install -e ".[docs]"')
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", str(DOCS), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "python_api.html").read_text(encoding="utf-8")
    assert all(f'id="grouser.{name}"' in page for name in grouser.__all__ if name != "__version__")
    assert "demolition" in (tmp_path / "searchindex.js").read_text(encoding="utf-8")


def test_stored_verdicts_are_of_the_references_and_agree():
    stored = json.loads(VERDICTS.read_text(encoding="utf-8"))
    assert set(stored) <= set(experiments.NAMES)
    for name, entry in stored.items():
        assert set(entry["cases"]) == {case.name for case in load_references(name).cases}
        assert all(row[-1] == AGREES for rows in entry["cases"].values() for row in rows), name


@pytest.mark.parametrize("name", ["planar_pendulum", "plate_sinkage"])
def test_a_stored_verdict_is_what_a_run_gives(name):
    experiment = experiments.load(name)
    stored = json.loads(VERDICTS.read_text(encoding="utf-8"))[name]["cases"]
    for case in load_references(name).cases:
        parameters = complete_parameters(experiment, case.parameters)
        rows = [cells(item) for item in compare(case, parameters, experiment.run(**parameters))]
        for row, expected in zip(rows, stored[case.name], strict=True):
            assert [row[0], row[-1]] == [expected[0], expected[-1]]
            # nine digits are stored; another processor rounds the last ones otherwise
            assert float(row[2]) == pytest.approx(float(expected[2]), rel=1e-7)
