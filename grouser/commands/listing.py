"""`grouser list`: what comes with grouser, by kind and name."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from grouser import catalogue
from grouser.arguments import Parser
from grouser.json_output import SCREEN, add_json, write_json


def main(arguments: Sequence[str]) -> int:
    """Runs `grouser list`.

    Args:
        arguments: what follows the word `list`.

    Returns:
        The exit status.
    """
    description = "Lists the machines, worlds and other things that come with grouser."
    parser = Parser(prog="grouser list", description=description)
    parser.add_argument("kind", nargs="?", choices=KINDS, help="one of " + ", ".join(KINDS) + "; default: all")
    add_json(parser)
    options = parser.parse_args(arguments)
    kinds = [options.kind] if options.kind else list(KINDS)
    found = {kind: KINDS[kind]() for kind in kinds}
    if options.json is not None:
        write_json(options.json, found)
    if options.json == SCREEN:
        return 0
    if options.kind:
        print(*found[options.kind], sep="\n")
    else:
        for kind, names in found.items():
            print(f"{kind:12}{' '.join(names)}")
        print("\ngrouser list KIND prints one name a line", file=sys.stderr)
    return 0


def _names(files: Callable[[], list[Path]]) -> Callable[[], list[str]]:
    return lambda: sorted({file.name.split(".")[0] for file in files()})


def _experiments() -> list[str]:
    from grouser import experiments

    return list(experiments.NAMES)


def _soils() -> list[str]:
    from grouser.physics.description.soils.presets import PRESETS

    return sorted(PRESETS)


# Kind -> function that returns the names.
KINDS: dict[str, Callable[[], list[str]]] = {
    "machines": _names(catalogue.machine_files),
    "worlds": _names(catalogue.world_files),
    "fleets": _names(catalogue.fleet_files),
    "programs": _names(catalogue.program_files),
    "patterns": _names(catalogue.pattern_files),
    "mappings": _names(catalogue.bridge_files),
    "experiments": _experiments,
    "soils": _soils,
}
