"""`grouser inspect --hydraulics`: drawing of a machine's circuit, and the operating ranges of its actuators."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grouser.circuit_drawing import circuit_svg
from grouser.commands.actuator_ranges import SETTLING_LEAKAGE, actuator_ranges
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.elements.hydraulics.circuit import PORTS, circuit_lines
from grouser.progress import showing_compilation
from grouser.text_table import table


def hydraulic_facts(machine: Machine, drawing: Path) -> dict[str, Any]:
    """Draws a machine's circuit, and returns the ranges of its actuators in plain types (None: does not exist).

    Args:
        machine: whose circuit it is.
        drawing: SVG file for the drawing.

    Raises:
        ParameterError: the machine has no hydraulics, or the file has another ending or cannot be written.
        MachineError: the circuit cannot be simulated.
    """
    if not any(getattr(machine, field) for field in PORTS):
        raise ParameterError("machine", machine.name, "one with hydraulics")
    _draw(machine, drawing)
    with showing_compilation():
        ranges = actuator_ranges(machine)
    return {
        "name": machine.name,
        "file": machine.file,
        "drawing": str(drawing),
        "lines": list(circuit_lines(machine)),
        "actuators": [asdict(each) for each in ranges],
        "settling_leakage": SETTLING_LEAKAGE,
        "without_leakage": [each.name for each in machine.cylinders if each.leakage == each.rod_leakage == 0.0],
    }


def _draw(machine: Machine, drawing: Path) -> None:
    if drawing.suffix != ".svg":
        raise ParameterError("output", str(drawing), "a name that ends in .svg")
    try:
        drawing.write_text(circuit_svg(machine), encoding="utf-8")
    except OSError as error:
        raise ParameterError("output", str(drawing), f"a file that can be written ({error.strerror})") from error


def hydraulic_report(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yields the lines of the text form of `hydraulic_facts`."""
    yield f"{facts['name']}  ({facts['file']})"
    yield f"drawing             {facts['drawing']}"
    cylinders = [each for each in facts["actuators"] if each["kind"] == "cylinder"]
    motors = [each for each in facts["actuators"] if each["kind"] == "motor"]
    loads = "with half the load / without / helped by half the load of the other way"
    if cylinders:
        yield from ("", f"cylinders  (speeds at full spool: {loads})")
        headings = ("cylinder", "valve", "pushes / pulls [kN]", "extends [m/s]", "retracts [m/s]")
        yield from table(headings, [_range_row(each, 1e-3) for each in cylinders])
    if facts["without_leakage"]:
        yield "forces when a peak of pressure has leaked away; cylinders without leakage keep it until they move:"
        yield f"  {', '.join(facts['without_leakage'])}"
    if motors:
        yield from ("", f"motors  (speeds at full spool: {loads})")
        headings = ("motor", "valve", "torque forward / backward [N m]", "forward [rad/s]", "backward [rad/s]")
        yield from table(headings, [_range_row(each, 1.0) for each in motors])
    regenerative = [each for each in cylinders if each["regeneration"] is not None]
    if regenerative:
        yield from ("", "regeneration  (if the rod side fed the piston side while extending)")
        headings = ("cylinder", "area ratio", "loads [kN]", "faster up to [kN]", "extends without load [m/s]")
        yield from table(headings, [_regeneration_row(each) for each in regenerative])


def _range_row(actuator: Mapping[str, Any], unit: float) -> Sequence[str]:
    forces = [actuator["forward_force"], actuator["backward_force"]]
    # An actuator that moves only with the help of a load has no force.
    forces = [None if force is None or force <= 0.0 else force * unit for force in forces]
    return (
        actuator["name"],
        actuator["valve"] or "-",
        _texts(forces, 1),
        *(
            "-" if speeds is None else _texts(speeds.values(), 3)
            for speeds in (actuator["forward_speed"], actuator["backward_speed"])
        ),
    )


def _regeneration_row(cylinder: Mapping[str, Any]) -> Sequence[str]:
    regeneration = cylinder["regeneration"]
    loads = f"{-1e-3 * regeneration['helping_load']:.1f} to {1e-3 * regeneration['force']:.1f}"
    worthwhile = regeneration["worthwhile"]
    return (
        cylinder["name"],
        f"{cylinder['area_ratio']:.3f}",
        loads if regeneration["force"] > 0.0 else "-",
        "-" if worthwhile is None else f"{1e-3 * worthwhile:.1f}",
        _texts([regeneration["speed"]], 3),
    )


def _texts(values: Iterable[float | None], places: int) -> str:
    # Rounded first, to avoid a negative zero.
    return " / ".join("-" if value is None else f"{round(value, places) + 0.0:.{places}f}" for value in values)
