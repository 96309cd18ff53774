"""Prints the packages that grouser depends on, directly and by others, with version and licence as they declare them.

python tooling/licences.py [EXTRA ...]

Without names of extras: of what `pip install grouser` brings. Packages that are not installed have no licence to show.
"""

import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement


def dependencies(name: str, extras: Sequence[str] = ()) -> dict[str, Distribution | None]:
    """Packages that an installed package needs, and those that they need, by name; None where one is not installed."""
    found: dict[str, Distribution | None] = {}
    waiting = [(name, tuple(extras))]
    seen = set()
    while waiting:
        package, wanted = waiting.pop()
        if (package, wanted) in seen:
            continue
        seen.add((package, wanted))
        found[package] = _installed(package)
        for requirement in _requirements(found[package], wanted):
            waiting.append((requirement.name.lower(), tuple(sorted(requirement.extras))))
    del found[name]
    return dict(sorted(found.items()))


def licence(package: Distribution) -> str:
    """What a package says about its licence: the expression, the classifiers, or the first line of the text."""
    said = package.metadata
    expressions = said.get_all("License-Expression") or []
    classifiers = [line.split(" :: ")[-1] for line in said.get_all("Classifier") or () if line.startswith("License ::")]
    first_lines = [text.strip().split("\n")[0] for text in said.get_all("License") or ()]
    return next((", ".join(found) for found in (expressions, classifiers, first_lines) if any(found)), "not declared")


def _installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _requirements(package: Distribution | None, extras: Sequence[str]) -> Iterator[Requirement]:
    for text in (package.requires or ()) if package else ():
        requirement = Requirement(text)
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement


if __name__ == "__main__":
    for name, package in dependencies("grouser", sys.argv[1:]).items():
        print(f"{name:28}{package.version:14}{licence(package)}" if package else f"{name:28}not installed")
