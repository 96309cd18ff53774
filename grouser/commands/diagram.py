"""`grouser diagram`: checks a control program of blocks against a machine, lists its blocks, and draws it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grouser import catalogue
from grouser.arguments import Parser, require_new_file
from grouser.commands.machine_options import read_arguments
from grouser.function_blocks.diagram import Diagram
from grouser.function_blocks.drawing import draw
from grouser.function_blocks.reader import load_diagram
from grouser.json_output import SCREEN, add_json, write_json
from grouser.text_table import table


def main(arguments: Sequence[str]) -> int:
    """Runs `grouser diagram`.

    Args:
        arguments: what follows the word `diagram`.

    Returns:
        The exit status.
    """
    description = "Checks a control program of function blocks (docs/function_blocks.md), lists it and draws it."
    parser = Parser(prog="grouser diagram", description=description)
    parser.add_argument("file", help="YAML file, or the name of a program")
    parser.add_argument(
        "--machine", help="machine it is for: name or file; its signals and actuators are looked up then"
    )
    parser.add_argument("arguments", nargs="*", metavar="NAME:=VALUE", help="xacro arguments of the machine")
    parser.add_argument("--draw", type=Path, metavar="FILE", help="write a picture, by graphviz: svg, png, pdf, or dot")
    parser.add_argument("--overwrite", action="store_true", help="write over a file that exists")
    add_json(parser)
    options = parser.parse_args(arguments)
    if options.draw:
        require_new_file(options.draw, "--draw", options.overwrite)
    diagram = load_diagram(catalogue.program_file(options.file))
    order, units = list(diagram.blocks), dict[str, str]()
    if options.machine:
        order, units = _suited(diagram, options.machine, read_arguments(options.arguments))
    found = {
        "cycle": diagram.cycle,
        "blocks": {name: _listed(diagram, name, units) for name in order},
        "commands": {actuator: str(wire) for actuator, wire in diagram.commands.items()},
    }
    if options.json is not None:
        write_json(options.json, found)
    if options.json != SCREEN:
        _print(diagram, found, bool(units))
    if options.draw:
        draw(diagram, options.draw)
        print(f"{options.draw}: written")
    return 0


def _suited(diagram: Diagram, machine: str, arguments: dict[str, str]) -> tuple[list[str], dict[str, str]]:
    """Order of the blocks and units of their outputs, for a machine; MachineError if it does not suit it."""
    import grouser
    from grouser.function_blocks.run import DiagramRun
    from grouser.runtime.vehicle_parts import driven_vehicle

    simulation = grouser.Simulation(grouser.load_machine(machine, arguments), grouser.load_world("flat"))
    run = DiagramRun(diagram, simulation.signals, driven_vehicle(simulation.machine) is not None)
    return [name for name, _, _ in run.plan.blocks], run.units


def _listed(diagram: Diagram, name: str, units: dict[str, str]) -> dict[str, Any]:
    placed = diagram.blocks[name]
    return {
        "type": placed.block.type,
        "inputs": {one: str(wire) for one, wire in placed.wires.items()},
        "outputs": {one: units.get(f"{name}.{one}", "") for one in placed.block.outputs},
    }


def _print(diagram: Diagram, found: dict[str, Any], known: bool) -> None:
    print(f"{diagram.file}: {len(diagram.blocks)} blocks, every {diagram.cycle:g} s")
    rows = []
    for name, one in found["blocks"].items():
        inputs = ", ".join(f"{port} = {wire}" for port, wire in one["inputs"].items())
        outputs = ", ".join(f"{port} [{unit}]" if known else port for port, unit in one["outputs"].items())
        rows.append((name, one["type"], inputs, outputs))
    print(*table(("block", "type", "inputs", "outputs"), rows), sep="\n")
    print(*table(("command", "from"), list(found["commands"].items())), sep="\n")
