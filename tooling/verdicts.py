"""Runs experiments and stores how they compare with their references: `python tooling/verdicts.py [NAME ...]`.

Updates docs/verdicts.json, from which `python -m grouser.docs_pages.verdicts > docs/verdicts.md` makes the page.
Without names it runs all experiments; with `--missing`, those of which a case has no verdict.
"""

import json
import sys

from grouser import __version__, experiments
from grouser.docs_pages.verdicts import VERDICTS
from grouser.experiments.protocol import complete_parameters
from grouser.references.comparison import compare
from grouser.references.data import Case
from grouser.references.reader import load_references
from grouser.references.words import cells


def verdict(name: str, case: Case) -> list[list[str]]:
    """Runs a case; returns the rows of its table of comparisons."""
    experiment = experiments.load(name)
    parameters = complete_parameters(experiment, case.parameters)
    return [cells(item) for item in compare(case, parameters, experiment.run(**parameters))]


def chosen(words: list[str], stored: dict) -> list[str]:
    """Names of the experiments to run."""
    if words == ["--missing"]:
        return [name for name in experiments.NAMES if not cases(name) <= set(stored.get(name, {}).get("cases", {}))]
    for name in words:
        if name not in experiments.NAMES:
            raise SystemExit(f"no experiment is called '{name}': {', '.join(experiments.NAMES)}")
    return words or list(experiments.NAMES)


def cases(name: str) -> set[str]:
    """Names of the cases of an experiment's references."""
    return {case.name for case in load_references(name).cases}


def main() -> None:
    """Runs them one by one; each is stored as soon as it has ended."""
    stored = json.loads(VERDICTS.read_text(encoding="utf-8")) if VERDICTS.exists() else {}
    for name in chosen(sys.argv[1:], stored):
        found = {case.name: verdict(name, case) for case in load_references(name).cases}
        stored = dict(sorted((stored | {name: {"version": __version__, "cases": found}}).items()))
        VERDICTS.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(name, flush=True)


if __name__ == "__main__":
    main()
