"""`grouser fmu`: a machine as a functional mock-up unit (FMI 2 or 3, co-simulation)."""

from collections.abc import Sequence
from pathlib import Path

from grouser.arguments import Parser
from grouser.bridges.fmu.machine_model import MachineSetup, build_machine_fmu, ports_of_machine, ports_of_mapping
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.catalogue import bridge_file, machine_file, world_file
from grouser.commands.machine_options import read_arguments
from grouser.json_output import SCREEN, add_json, write_json
from grouser.physics.base.errors import MachineError
from grouser.physics.description import load_machine

SCHEMES = ("implicit", "semi_implicit", "split")


def main(arguments: Sequence[str]) -> int:
    """Runs `grouser fmu`.

    Args:
        arguments: what follows the word `fmu`.

    Returns:
        The exit status.

    Raises:
        MachineError: the machine, world or mapping cannot be loaded, or packing failed.
        ParameterError: a number or name is not valid.
    """
    parser = Parser(prog="grouser fmu", description="Writes a machine as an FMU for co-simulation.")
    parser.add_argument("machine", help="URDF or xacro file, or the name of a machine that comes with grouser")
    parser.add_argument("arguments", nargs="*", metavar="NAME:=VALUE", help="of its xacro file")
    parser.add_argument(
        "--bridge",
        help="mapping file or name, whose fields name inputs and outputs; default: all signals by their own names, "
        "inputs after command/",
    )
    parser.add_argument("--world", default="flat", help="world file or name, default %(default)s")
    parser.add_argument("--step", type=float, default=0.001, help="of the simulation [s], default %(default)s")
    parser.add_argument("--scheme", choices=SCHEMES, default=SCHEMES[0], help="of hydraulics, default %(default)s")
    parser.add_argument("--fmi", type=int, choices=(2, 3), default=2, help="version, default %(default)s")
    parser.add_argument("--output", type=Path, help="file to write, .fmu; default: the machine's name")
    add_json(parser)
    options = parser.parse_args(arguments)
    file, xacro_arguments = machine_file(options.machine), read_arguments(options.arguments)
    output = options.output or Path(f"{file.name.partition('.')[0]}.fmu")
    if output.suffix != ".fmu":
        parser.error("--output ends with .fmu")
    if options.bridge is None:
        inputs, outputs = ports_of_machine(load_machine(file, xacro_arguments))
    else:
        mapping = load_bridge_mapping(bridge_file(options.bridge))
        if not mapping.machine or machine_file(mapping.machine).resolve() != file.resolve():
            raise MachineError(f"the mapping is of machine {mapping.machine!r}", file=mapping.file)
        inputs, outputs = ports_of_mapping(mapping)
    is_path = options.machine.endswith((".urdf", ".xacro"))
    setup = MachineSetup(
        machine=str(file.resolve()) if is_path else options.machine,
        arguments=xacro_arguments,
        step=options.step,
        scheme=options.scheme,
        inputs=inputs,
        outputs=outputs,
    )
    build_machine_fmu(setup, world_file(options.world), options.fmi, output)
    if options.json is not None:
        names = {"inputs": [port.name for port in inputs], "outputs": [port.name for port in outputs]}
        write_json(options.json, {"file": str(output), "fmi": options.fmi, "step": options.step, **names})
    if options.json == SCREEN:
        return 0
    print(f"{output}: FMI {options.fmi}, {len(inputs)} inputs, {len(outputs)} outputs, steps of {options.step:g} s")
    return 0
