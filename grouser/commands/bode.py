"""`grouser bode`: the frequency response of a machine's servo drives."""

import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from grouser.arguments import Parser, require_new_file
from grouser.catalogue import machine_file
from grouser.commands.machine_options import read_arguments
from grouser.experiments.servo_bode import response_panels
from grouser.json_output import SCREEN, add_json, write_json
from grouser.physics.base.errors import ParameterError
from grouser.physics.base.packed import Packed
from grouser.physics.description import load_machine
from grouser.physics.description.data.drives import ServoDrive
from grouser.physics.description.data.machine import Machine
from grouser.physics.model.build import build_model
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.kinematics import make_kinematics, update_kinematics
from grouser.physics.multibody.mass import make_mass_matrix
from grouser.studies.servo.frequency_response import FrequencyResponse, frequency_response
from grouser.studies.servo.servo_loop import ServoLoop
from grouser.text_table import table

_FIGURES = (
    ("gain at rest", "dc_gain"),
    ("crossover [rad/s]", "crossover_frequency"),
    ("phase margin [deg]", "phase_margin_deg"),
    ("phase crossover [rad/s]", "phase_crossover_frequency"),
    ("gain margin [dB]", "gain_margin_db"),
    ("rightmost closed pole [1/s]", "max_real_closed_loop_pole"),
)


def main(arguments: Sequence[str]) -> int:
    """Runs `grouser bode`.

    Args:
        arguments: what follows the word `bode`.

    Returns:
        The exit status.

    Raises:
        MachineError: the file cannot be loaded.
        ParameterError: no drive with a frequency response, or a bad argument.
    """
    parser = Parser(
        prog="grouser bode",
        description="Frequency response of a position drive with a DC motor: open loop, crossovers, margins.",
    )
    parser.add_argument("file", help="URDF or xacro file, or the name of a machine that comes with grouser")
    parser.add_argument("arguments", nargs="*", metavar="name:=value", help="arguments of the xacro file")
    parser.add_argument("--joint", help="whose drive, where there are several")
    parser.add_argument(
        "--sweep", metavar="NAME=V1,V2,...", help="an argument of the xacro file with its values, a line each"
    )
    parser.add_argument("--plot", metavar="FILE", type=Path, help="draw magnitude and phase, for instance .png or .svg")
    parser.add_argument("--overwrite", action="store_true", help="write over a file that exists")
    add_json(parser)
    options = parser.parse_args(arguments)
    if options.plot is not None:
        require_new_file(options.plot, "--plot", options.overwrite)
    file, given = machine_file(options.file), read_arguments(options.arguments)
    name, values = _read_sweep(options.sweep)
    responses: list[tuple[str, FrequencyResponse]] = []
    told: dict[str, None] = {}
    for value in values:
        changed = given if name is None else {**given, name: value}
        machine = load_machine(file, changed)
        told.update(dict.fromkeys(machine.warnings))
        joint = _joint(machine, options.joint)
        responses.append((value, frequency_response(servo_loop(machine, joint))))
    for warning in told:
        print(f"grouser bode: warning: {warning}", file=sys.stderr)
    if options.json is not None:
        write_json(options.json, [_facts(name, value, response) for value, response in responses])
    if options.json != SCREEN:
        for line in _report(machine.name, joint, name, responses):
            print(line)
    if options.plot is not None:
        _draw(options.plot, name, responses)
        print(f"plot written to {options.plot}", file=sys.stderr)
    return 0


def servo_loop(machine: Machine, joint: str) -> ServoLoop:
    """The loop of a joint's drive, about the machine's initial positions, with all other joints held.

    Raises:
        ParameterError: the joint has no position drive with a DC motor and a rigid gear.
    """
    drive = next((drive for drive in machine.drives if drive.joint == joint), None)
    valid = "a joint with a servo_drive in position mode that has a <dc_motor> and a rigid gear"
    if drive is None or not _is_loop(drive):
        raise ParameterError("--joint", joint, valid)
    motor, gear = drive.dc_motor, drive.gear
    assert motor is not None and gear is not None
    model, names = build_model(machine)
    coordinate, packed, kinematics = names.joints[joint], Packed(model), Packed(make_kinematics(model))
    update_kinematics(packed, model.q_initial.copy(), np.zeros(len(model.rate_damping)), kinematics)
    mass = Packed(make_mass_matrix(model))
    mass_matrix(packed, kinematics, np.zeros((len(model.body_parent), 10)), mass)
    springs = {spring.joint: spring.axial_stiffness for spring in machine.compliant_joints}
    return ServoLoop(
        gain=motor.gain,
        compensator_lead=motor.compensator_lead,
        compensator_lag=motor.compensator_lag,
        torque_feedback=motor.torque_feedback / gear.efficiency,
        resistance=motor.resistance,
        armature_time_constant=motor.armature_time_constant,
        torque_constant=gear.efficiency * motor.torque_constant,
        back_emf_constant=motor.back_emf_constant,
        motor_inertia=motor.rotor_inertia,
        gear_ratio=gear.ratio,
        load_inertia=float(mass.diagonal[coordinate.v]) - drive.rotor_inertia,
        viscous_friction=float(model.rate_damping[coordinate.v]),
        hinge_stiffness=springs.get(joint, 0.0),
        voltage_limit=motor.voltage_limit,
    )


def _is_loop(drive: ServoDrive) -> bool:
    rigid = drive.gear is not None and drive.gear.stiffness is None
    return drive.mode == "position" and drive.dc_motor is not None and rigid


def _joint(machine: Machine, wanted: str | None) -> str:
    """The named joint, or the only one with a loop."""
    if wanted is not None:
        return wanted
    joints = [drive.joint for drive in machine.drives if _is_loop(drive)]
    if len(joints) != 1:
        valid = f"name one of {', '.join(joints)}" if joints else "no joint has a position drive with a <dc_motor>"
        raise ParameterError("--joint", None, valid)
    return joints[0]


def _read_sweep(text: str | None) -> tuple[str | None, list[str]]:
    if text is None:
        return None, [""]
    name, equals, values = text.partition("=")
    found = [value for value in values.split(",") if value]
    if not equals or not name or not found:
        raise ParameterError("--sweep", text, "write NAME=V1,V2,...")
    return name, found


def _report(
    machine: str, joint: str, name: str | None, responses: Sequence[tuple[str, FrequencyResponse]]
) -> Iterator[str]:
    yield f"{machine}, drive of joint {joint}: open loop, from the error to the angle that is fed back"
    rows = [
        [*([value] if name else []), *(_shown(getattr(response, field)) for _, field in _FIGURES)]
        for value, response in responses
    ]
    yield from table([*([name] if name else []), *(heading for heading, _ in _FIGURES)], rows)
    for value, response in responses:
        if not response.margins_hold:
            of = f"{name} = {value}: " if name else ""
            yield f"{of}the open loop is unstable: its margins have no meaning; use the closed loop's poles"


def _shown(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else "none"


def _facts(name: str | None, value: str, response: FrequencyResponse) -> dict[str, Any]:
    facts: dict[str, Any] = {name: value} if name else {}
    for _, field in _FIGURES:
        found = getattr(response, field)
        facts[field] = found if math.isfinite(found) else None
    return facts | {
        "margins_hold": response.margins_hold,
        "frequency": response.frequency.tolist(),
        "magnitude_db": response.magnitude_db.tolist(),
        "phase_deg": response.phase_deg.tolist(),
    }


def _draw(path: Path, name: str | None, responses: Sequence[tuple[str, FrequencyResponse]]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 6.0), layout="constrained")
    upper, lower = response_panels(figure)
    for value, response in responses:
        label = f"{name} = {value}" if name else None
        upper.plot(response.frequency, response.magnitude_db, label=label)
        lower.plot(response.frequency, response.phase_deg, label=label)
    if name:
        upper.legend()
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise ParameterError("--plot", str(path), f"a picture's file that can be written ({error})") from None
