"""`grouser inspect`: the contents of a URDF or xacro file, as text or JSON."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from grouser.arguments import Parser
from grouser.catalogue import machine_file
from grouser.commands import bridge_inspection
from grouser.commands.cylinder_forces import cylinder_forces, overload_text
from grouser.commands.elastic_inspection import flexible_link_facts, flexible_link_lines
from grouser.commands.hydraulic_inspection import hydraulic_facts, hydraulic_report
from grouser.commands.machine_options import add_argument, add_base, add_packages, read_arguments
from grouser.commands.running_gear_inspection import running_gear_facts, running_gear_lines
from grouser.commands.sensor_inspection import sensor_facts, sensor_lines
from grouser.commands.shovel_inspection import shovel_facts, shovel_lines
from grouser.json_output import SCREEN, add_json, write_json
from grouser.physics.base.errors import MachineError
from grouser.physics.description import load_machine
from grouser.physics.description.data.compliance import LoopJoint
from grouser.physics.description.data.drives import ServoDrive
from grouser.physics.description.data.hydraulics import HydraulicCylinder
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Joint
from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.text.packages import read_packages
from grouser.physics.description.urdf.placement import initial_positions, link_poses, point_on_link, subtree_masses
from grouser.physics.simulation.simulation import Simulation
from grouser.progress import showing_compilation
from grouser.text_table import table

_FREEDOM = {"fixed": 0, "revolute": 1, "continuous": 1, "prismatic": 1, "planar": 3, "floating": 6, "spherical": 3}
# A tree is indented no deeper than this many levels: a chain of thousands would fill the screen with blanks.
_INDENTED_LEVELS = 30


def main(words: Sequence[str]) -> int:
    """Runs `grouser inspect`.

    Args:
        words: what follows the word `inspect`.

    Returns:
        The exit status.

    Raises:
        MachineError: the file cannot be loaded.
        ParameterError: a xacro argument or a package is not of the right form.
    """
    parser = Parser(prog="grouser inspect", description="Shows what a URDF or xacro file describes.")
    parser.add_argument(
        "file", nargs="?", default="", help="URDF or xacro file, or the name of a machine that comes with grouser"
    )
    parser.add_argument("arguments", nargs="*", metavar="name:=value", help="the same as --argument name:=value")
    add_argument(parser)
    add_base(parser)
    add_packages(parser)
    add_json(parser)
    parser.add_argument(
        "--hydraulics", action="store_true", help="draw the circuit, and list what its cylinders and motors can do"
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        type=Path,
        help="of --hydraulics: the drawing, an .svg; default: the machine's name with _circuit.svg",
    )
    parser.add_argument(
        "--bridge", metavar="FILE", default="", help="show a bridge's mapping instead: a file, or a shipped one's name"
    )
    options = parser.parse_args(words)
    if bool(options.bridge) == bool(options.file):
        parser.error("give a machine, or a mapping with --bridge")
    if options.bridge:
        bridge_inspection.show(options.bridge, options.json)
        return 0
    if options.output is not None and not options.hydraulics:
        parser.error("--output goes with --hydraulics")
    packages = read_packages(options.package)
    arguments = read_arguments([*options.arguments, *options.argument])
    machine = load_machine(machine_file(options.file), arguments, options.base, packages)
    if options.hydraulics:
        facts = hydraulic_facts(machine, options.output or Path(f"{machine.name}_circuit.svg"))
        lines = hydraulic_report(facts)
    else:
        facts = machine_facts(machine)
        lines = report(machine, facts)
    if options.json is not None:
        write_json(options.json, facts)
    if options.json != SCREEN:
        for line in lines:
            print(line)
    return 0


def machine_facts(machine: Machine) -> dict[str, Any]:
    """Returns the facts of a machine, in plain types with finite numbers (None: no limit).

    Facts that need a simulation, such as vibrations, are those of the default step on flat ground.
    """
    simulation, problems = _simulated(machine)
    positions = initial_positions(machine)
    starts = {joint.joint: joint.rpy for joint in machine.spherical_joints}
    poses = link_poses(machine, positions)
    whole = subtree_masses(machine, poses)[machine.root]
    base_freedom = 6 if machine.floating_base else 0
    return {
        "name": machine.name,
        "file": machine.file,
        "root": machine.root,
        "floating_base": machine.floating_base,
        "arguments": dict(machine.arguments),
        "degrees_of_freedom": base_freedom + sum(_freedom(joint) for joint in machine.joints),
        "total_mass": whole.mass,
        "centre_of_mass": [float(value) for value in whole.centre],
        "links": [
            {
                "name": link.name,
                "mass": 0.0 if link.inertial is None else link.inertial.mass,
                "collisions": len(link.collisions),
                "visuals": len(link.visuals),
            }
            for link in machine.links
        ],
        "joints": [_joint_facts(joint, positions, starts.get(joint.name)) for joint in machine.joints],
        "fluid": None
        if machine.fluid is None
        else {"density": machine.fluid.density, "bulk_modulus": machine.fluid.bulk_modulus},
        "pumps": [
            {
                "name": pump.name,
                "supply_pressure": pump.supply_pressure,
                "tank_pressure": pump.tank_pressure,
                "control": pump.control or None,
                "setting": pump.setting,
                "flow": None if pump.displacement is None else pump.displacement * (pump.speed or 0.0),
            }
            for pump in machine.pumps
        ],
        "valves": [valve.name for valve in machine.valves],
        "cylinders": [_cylinder_facts(machine, cylinder, poses) for cylinder in machine.cylinders],
        "drives": [
            {
                "joint": drive.joint,
                "mode": drive.mode,
                "effort_limit": drive.effort_limit,
                "motor": _motor(drive),
                "gear_ratio": None if drive.gear is None else drive.gear.ratio,
            }
            for drive in machine.drives
        ],
        "contacts": [
            {
                "link": contact.link,
                "friction": contact.friction,
                "restitution": contact.restitution,
                "surface_joint": contact.surface_joint,
            }
            for contact in machine.contacts
        ],
        "frictions": [
            {
                "joint": item.joint,
                "law": item.law,
                "static": item.static,
                "kinetic": item.kinetic,
                "viscous": item.viscous,
            }
            for item in machine.frictions
        ],
        "loop_joints": [_loop_facts(loop) for loop in machine.loop_joints],
        "compliant_joints": [_plain(compliance) for compliance in machine.compliant_joints],
        "flexible_links": flexible_link_facts(machine),
        **running_gear_facts(machine),
        "shovels": shovel_facts(machine, simulation),
        "sensors": sensor_facts(machine),
        "integrator": machine.integrator.method,
        "step": None if simulation is None else simulation.step_size,
        "vibrations": []
        if simulation is None
        else [_plain(vibration) for vibration in simulation.vibration.numerical_damping()],
        "warnings": [*machine.warnings, *problems],
    }


def _simulated(machine: Machine) -> tuple[Simulation | None, Sequence[str]]:
    """A simulation with the default step on flat ground, and warnings; None if there can be none."""
    try:
        with showing_compilation():
            simulation = Simulation(machine)
    except MachineError as error:
        return None, [f"it cannot be simulated: {error}"]
    return simulation, simulation.warnings


def report(machine: Machine, facts: dict[str, Any]) -> Iterator[str]:
    """Yields the lines of the text form of `machine_facts`."""
    base = "floating" if machine.floating_base else "fixed"
    x, y, z = facts["centre_of_mass"]
    yield f"{machine.name}  ({machine.file})"
    yield f"{_count(machine.links, 'link')}, {_count(machine.joints, 'joint')}, {base} base '{machine.root}'"
    if machine.arguments:
        given = (_argument(name, default) for name, default in machine.arguments.items())
        yield f"xacro arguments     {', '.join(given)}"
    of_base = "  (6 of them the base)" if machine.floating_base else ""
    of_tree = "  (before the loops close)" if machine.loop_joints else ""
    yield f"degrees of freedom  {facts['degrees_of_freedom']}{of_base}{of_tree}"
    yield f"total mass          {facts['total_mass']:.6g} kg"
    yield f"centre of mass      {x:.4f} {y:.4f} {z:.4f} m  (in the frame of '{machine.root}', initial positions)"
    yield f"integrator          {facts['integrator']}"
    yield ""
    yield from _tree_lines(machine, facts)
    yield from _hydraulic_lines(facts)
    yield from running_gear_lines(facts)
    yield from shovel_lines(facts["shovels"])
    yield from _elastic_lines(facts)
    yield from sensor_lines(machine)
    if facts["drives"]:
        yield from ("", "servo drives")
        yield from table(
            ("joint", "mode", "effort limit", "motor", "gear ratio"),
            [
                (
                    drive["joint"],
                    drive["mode"],
                    f"{drive['effort_limit']:g}",
                    drive["motor"] or "-",
                    "-" if drive["gear_ratio"] is None else f"{drive['gear_ratio']:g}",
                )
                for drive in facts["drives"]
            ],
        )
    if facts["contacts"]:
        yield from ("", "contacts")
        rows = [
            (
                contact["link"],
                "ground's" if contact["friction"] is None else f"{contact['friction']:g}",
                f"{contact['restitution']:g}",
                contact["surface_joint"] or "-",
            )
            for contact in facts["contacts"]
        ]
        yield from table(("link", "friction", "restitution", "moved by"), rows)
    if facts["frictions"]:
        yield from ("", "joint friction")
        levels = ("static", "kinetic", "viscous")
        yield from table(
            ("joint", "law", *levels),
            [(item["joint"], item["law"], *(f"{item[key]:g}" for key in levels)) for item in facts["frictions"]],
        )
    yield ""
    if facts["warnings"]:
        yield _count(facts["warnings"], "warning")
        for warning in facts["warnings"]:
            yield f"  - {warning}"
    else:
        yield "no warnings"


def _count(things: Sequence[Any], word: str) -> str:
    return f"{len(things)} {word}" + ("" if len(things) == 1 else "s")


def _argument(name: str, default: str | None) -> str:
    """A xacro argument with its default, as a shell reads it."""
    return f"{name} (given)" if default is None else f"{name}:={quote(default)}"


def _freedom(joint: Joint) -> int:
    return 0 if joint.mimic is not None else _FREEDOM[joint.type]


def _motor(drive: ServoDrive) -> str | None:
    """Kind of a drive's motor."""
    if drive.dc_motor is not None:
        return "dc_motor"
    return None if drive.permanent_magnet_motor is None else "permanent_magnet_motor"


def _joint_facts(joint: Joint, positions: dict[str, float], rpy: Vector3 | None) -> dict[str, Any]:
    return {
        "name": joint.name,
        "type": joint.type,
        "parent": joint.parent,
        "child": joint.child,
        "axis": list(joint.axis) if joint.type not in ("fixed", "floating", "spherical") else None,
        "lower": joint.limit.lower,
        "upper": joint.limit.upper,
        "effort": joint.limit.effort if math.isfinite(joint.limit.effort) else None,
        "velocity": joint.limit.velocity if math.isfinite(joint.limit.velocity) else None,
        "initial_position": positions.get(joint.name),
        "initial_rpy": None if rpy is None else list(rpy),
        "mimic": None
        if joint.mimic is None
        else {"joint": joint.mimic.joint, "multiplier": joint.mimic.multiplier, "offset": joint.mimic.offset},
    }


def _cylinder_facts(machine: Machine, cylinder: HydraulicCylinder, poses: dict[str, Pose]) -> dict[str, Any]:
    piston_area = math.pi / 4.0 * cylinder.bore**2
    rod_side_area = math.pi / 4.0 * (cylinder.bore**2 - cylinder.rod_diameter**2)
    forces = cylinder_forces(machine, cylinder)
    ends = [point_on_link(poses[end.link], end.xyz) for end in (cylinder.barrel, cylinder.rod)]
    return {
        "name": cylinder.name,
        "valve": cylinder.valve,
        "piston_side_area": piston_area,
        "rod_side_area": rod_side_area,
        "extending_force": forces.push,
        "retracting_force": forces.pull,
        "overload_pushed_in": forces.overload_push,
        "overload_pulled_out": forces.overload_pull,
        "stroke": cylinder.stroke,
        "initial_position": float(np.linalg.norm(ends[1] - ends[0])) - cylinder.retracted_length,
        "holding_brake": cylinder.holding_brake,
    }


def _loop_facts(loop: LoopJoint) -> dict[str, Any]:
    return {**_plain(loop), "parent": _plain(loop.parent), "child": _plain(loop.child)}


def _plain(record: Any) -> dict[str, Any]:
    """The fields of a dataclass in the types of JSON."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _tree_lines(machine: Machine, facts: dict[str, Any]) -> Iterator[str]:
    masses = {link["name"]: link["mass"] for link in facts["links"]}
    joints = {joint["name"]: joint for joint in facts["joints"]}
    children: dict[str, list[Joint]] = {}
    for joint in machine.joints:
        children.setdefault(joint.parent, []).append(joint)
    yield f"{machine.root}  {masses[machine.root]:.6g} kg"
    waiting = [(joint, 0) for joint in reversed(children.get(machine.root, []))]
    while waiting:
        joint, depth = waiting.pop()
        indent = "   " * depth if depth <= _INDENTED_LEVELS else "   " * _INDENTED_LEVELS + f"... level {depth + 1}: "
        yield f"{indent}+- {joint.child}  {masses[joint.child]:.6g} kg  <- {_joint_text(joints[joint.name])}"
        waiting.extend((child, depth + 1) for child in reversed(children.get(joint.child, [])))


def _joint_text(joint: dict[str, Any]) -> str:
    text = f"{joint['name']}: {joint['type']}"
    if joint["axis"] is not None:
        text += " axis " + " ".join(f"{value:.4g}" for value in joint["axis"])
    unit = "m" if joint["type"] == "prismatic" else "rad"
    if joint["lower"] is not None:
        text += f", {joint['lower']:.4g} to {joint['upper']:.4g} {unit}"
    if joint["mimic"] is not None:
        text += f", {joint['mimic']['multiplier']:g} x {joint['mimic']['joint']} + {joint['mimic']['offset']:g}"
    if joint["initial_position"]:
        text += f", starts at {joint['initial_position']:.4g} {unit}"
    if joint["initial_rpy"] is not None:
        text += ", starts at rpy " + " ".join(f"{angle:.4g}" for angle in joint["initial_rpy"]) + " rad"
    return text


def _hydraulic_lines(facts: dict[str, Any]) -> Iterator[str]:
    if not facts["cylinders"]:
        return
    fluid = facts["fluid"]
    yield from ("", "hydraulics")
    for pump in facts["pumps"]:
        yield f"  pump '{pump['name']}' {_pump_text(pump)}"
    yield f"  oil {fluid['density']:g} kg/m3, bulk modulus {fluid['bulk_modulus'] / 1e9:g} GPa"
    rows = [
        (
            cylinder["name"],
            cylinder["valve"] or "-",
            f"{cylinder['piston_side_area'] * 1e4:.2f} / {cylinder['rod_side_area'] * 1e4:.2f}",
            f"{cylinder['extending_force'] / 1e3:.1f} / {cylinder['retracting_force'] / 1e3:.1f}",
            overload_text(cylinder["overload_pushed_in"], cylinder["overload_pulled_out"]),
            f"{cylinder['initial_position']:.3f} of {cylinder['stroke']:.3f}",
            "yes" if cylinder["holding_brake"] else "no",
        )
        for cylinder in facts["cylinders"]
    ]
    headings = ("cylinder", "valve", "areas [cm2]", "pushes / pulls [kN]", "gives way [kN]", "starts at [m]", "brake")
    yield from table(headings, rows)


def _pump_text(pump: dict[str, Any]) -> str:
    if pump["supply_pressure"] is not None:
        return f"{pump['supply_pressure'] / 1e6:g} MPa, tank {pump['tank_pressure'] / 1e6:g} MPa"
    setting = "" if pump["setting"] is None else f" to {pump['setting'] / 1e6:g} MPa"
    return f"{pump['flow'] * 6e4:.4g} l/min, {pump['control'].replace('_', ' ')} displacement{setting}"


def _elastic_lines(facts: dict[str, Any]) -> Iterator[str]:
    """Lines of loop joints, elastic joints and links, and vibrations."""
    if facts["loop_joints"]:
        yield from ("", "loop joints")
        loops = [
            (
                f"{loop['name']}: {loop['type']} {loop['axis']}",
                f"{loop['parent']['link']} - {loop['child']['link']}",
                _triple_text(loop["stiffness"]),
                _triple_text(loop["rotational_stiffness"]),
            )
            for loop in facts["loop_joints"]
        ]
        yield from table(("joint", "links", "stiffness [N/m]", "rotational [N m/rad]"), loops)
    if facts["compliant_joints"]:
        yield from ("", "elastic joints  (0: rigid, or no spring along the joint's coordinate)")
        laws = ("axial_stiffness", "cubic_stiffness", "backlash", "hysteresis")
        rows = [
            (
                joint["joint"],
                _triple_text(joint["stiffness"]),
                _triple_text(joint["rotational_stiffness"]),
                *(f"{joint[law]:g}" for law in laws),
            )
            for joint in facts["compliant_joints"]
        ]
        headings = ("joint", "stiffness [N/m]", "rotational [N m/rad]", "axial", "cubic", "backlash", "hysteresis")
        yield from table(headings, rows)
    if facts["flexible_links"]:
        yield from flexible_link_lines(facts["flexible_links"])
    if facts["vibrations"]:
        yield from ("", f"slowest vibrations, and what a step of {facts['step'] * 1e3:g} ms adds to their damping")
        vibrations = [
            (vibration["part"], f"{vibration['frequency']:.4g}", f"{vibration['damping_ratio']:.2g}")
            for vibration in facts["vibrations"]
        ]
        yield from table(("joint or link", "frequency [Hz]", "damping ratio"), vibrations)


def _triple_text(values: list[float] | None) -> str:
    """Three stiffnesses; none of a rigid joint."""
    return "rigid" if values is None else " ".join(f"{value:g}" for value in values)
