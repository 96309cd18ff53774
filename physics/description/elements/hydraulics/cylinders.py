"""Hydraulic cylinders: their values, their supply, and their fit between the attachments."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from grouser.physics.description.data.hydraulics import (
    HydraulicCylinder,
    valve_lines,
)
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.table.attributes import (
    Attribute,
    ElementKind,
    Kind,
    attachment,
    name_of,
    non_negative,
    port,
    positive,
)
from grouser.physics.description.table.family import Entry, Scope
from grouser.physics.description.table.requirements import require_with
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.placement import (
    are_rigidly_joined,
    initial_positions,
    link_poses,
    point_on_link,
    rigid_lumps,
)

# Tolerance of the initial length of a cylinder [m]: initial joint positions have few digits.
STROKE_TOLERANCE = 1e-3


CYLINDER = ElementKind(
    "cylinder",
    "A hydraulic cylinder between two points of the machine. It is connected to a valve, or its sides name lines; a "
    "side without line is open to the air. Several cylinders may share a valve or a line.",
    (
        name_of("its name"),
        Attribute(
            "valve",
            Kind.VALVE,
            "-",
            "directional valve whose a feeds the piston side and b the rod side",
            default_text="none: its sides name lines",
        ),
        port(
            "piston_side",
            "line of the side without rod",
            default="",
            default_text="the valve's a, or the air",
        ),
        port("rod_side", "line of the side with the rod", default="", default_text="the valve's b, or the air"),
        positive("bore", "m", "diameter of the piston"),
        positive("rod_diameter", "m", "diameter of the rod; below the bore"),
        positive("stroke", "m", "travel of the piston"),
        positive("retracted_length", "m", "distance of the two attachments at zero stroke"),
        non_negative("piston_mass", "kg", "piston and rod; 0: neglected"),
        non_negative("viscous_friction", "N s/m", "of the seals", default=0.0),
        non_negative("dry_friction", "N", "of the seals, in motion", default=0.0),
        non_negative("static_friction", "N", "of the seals, at standstill", default_text="dry_friction"),
        positive(
            "stribeck_speed",
            "m/s",
            "speed scale of the fall from static to dry friction",
            default=0.01,
        ),
        non_negative(
            "dead_volume_piston_side",
            "m3",
            "oil left when fully retracted, with the hose; 0 only on a line with a volume",
            default_text="required, except for an open side",
        ),
        non_negative(
            "dead_volume_rod_side",
            "m3",
            "oil left when fully extended, with the hose; 0 only on a line with a volume",
            default_text="required, except for an open side",
        ),
        non_negative("leakage", "m3/(s Pa)", "across the piston", default=0.0),
        non_negative("rod_leakage", "m3/(s Pa)", "from the rod side past the rod to the tank", default=0.0),
        non_negative(
            "cushion_length",
            "m",
            "part of the stroke at each end in which oil leaves through a throttle; 0: none",
            default=0.0,
        ),
        non_negative("cushion_diameter", "m", "of that throttle; goes with cushion_length", default=0.0),
        positive(
            "barrel_modulus",
            "Pa",
            "rise of pressure per relative growth of its chambers without dead volumes",
            default=np.inf,
            default_text="rigid",
        ),
        non_negative(
            "buffer_length",
            "m",
            "part of the stroke at each end in which a spring and damper act; 0: none",
            default=0.0,
        ),
        non_negative("buffer_stiffness", "N/m", "of these springs; goes with buffer_length", default=0.0),
        non_negative("buffer_damping", "N s/m", "of these dampers; goes with buffer_length", default=0.0),
        Attribute(
            "holding_brake", Kind.BOOLEAN, "-", "locks the cylinder at neutral and on emergency stop", default=False
        ),
        positive("holding_force", "N", "largest force of the brake", default=1e6),
    ),
    HydraulicCylinder,
    field="cylinders",
    unique="name",
    parts=(
        attachment("barrel", "attachment of the barrel"),
        attachment("rod", "attachment of the rod eye"),
    ),
)


def complete_cylinder(entry: Entry, scope: Scope) -> HydraulicCylinder:
    """Checks a cylinder, and fills in its lines, its static friction and its dead volumes.

    Args:
        entry: the cylinder as written.
        scope: with the valves.

    Raises:
        MachineError: values contradict each other, or nothing feeds it.
    """
    cylinder, element = _with_lines(entry, scope), entry.element
    if cylinder.rod_diameter >= cylinder.bore:
        raise element.error(f"rod_diameter = {cylinder.rod_diameter:g} m is not below bore = {cylinder.bore:g} m")
    if not cylinder.rod_side and cylinder.rod_leakage > 0.0:
        raise element.error(
            f"rod_leakage = {cylinder.rod_leakage:g} m3/(s Pa) leaves the rod side, which is open to the air",
            "remove it; leakage across the piston leaves through the open side",
        )
    static = cylinder.dry_friction if cylinder.static_friction is None else cylinder.static_friction
    if static < cylinder.dry_friction:
        raise element.error(
            f"static_friction = {static:g} N is below dry_friction = {cylinder.dry_friction:g} N", "swap them"
        )
    require_with(element, "stribeck_speed", "static_friction", cylinder.static_friction is not None)
    _check_cushions(element, cylinder)
    _check_buffers(element, cylinder)
    return replace(
        cylinder,
        static_friction=static,
        dead_volume_piston_side=_dead_volume(element, "piston_side", cylinder.piston_side),
        dead_volume_rod_side=_dead_volume(element, "rod_side", cylinder.rod_side),
    )


def check_cylinders_fit(machine: Machine, entries: Collection[Entry]) -> None:
    """Checks that the links of every cylinder can move relative to each other, and that it starts within its stroke.

    Raises:
        MachineError: a check failed.
    """
    if not entries:
        return
    lumps = rigid_lumps(machine)
    poses = link_poses(machine, initial_positions(machine))
    for entry in entries:
        cylinder = entry.value
        if are_rigidly_joined(machine, lumps, cylinder.barrel, cylinder.rod):
            raise entry.element.error(
                f"its links '{cylinder.barrel.link}' and '{cylinder.rod.link}' are rigidly joined: it cannot move",
                "attach its ends to links with a movable joint between them",
            )
        ends = [point_on_link(poses[end.link], end.xyz) for end in (cylinder.barrel, cylinder.rod)]
        length = float(np.linalg.norm(ends[1] - ends[0]))
        shortest, longest = cylinder.retracted_length, cylinder.retracted_length + cylinder.stroke
        if not shortest - STROKE_TOLERANCE <= length <= longest + STROKE_TOLERANCE:
            raise entry.element.error(
                f"at the initial joint positions its attachments are {length:.4f} m apart; "
                f"valid: {shortest:g} to {longest:g} m (retracted_length to retracted_length + stroke)",
                "change the initial positions, the attachments or the lengths",
            )


def _with_lines(entry: Entry, scope: Scope) -> HydraulicCylinder:
    cylinder, element = entry.value, entry.element
    if cylinder.valve is None:
        if not cylinder.piston_side and not cylinder.rod_side:
            raise element.error(
                "nothing feeds it: both its sides are open to the air",
                'give valve="...", or the lines of its sides: piston_side="..." rod_side="..."',
            )
        return cylinder
    for side in ("piston_side", "rod_side"):
        if getattr(cylinder, side):
            raise element.error(
                f"it has valve = '{cylinder.valve}' and {side} = '{getattr(cylinder, side)}'",
                f"remove {side}, or remove valve and name the lines of both sides",
            )
    a, b = valve_lines(scope.named("valves")[cylinder.valve])
    return replace(cylinder, piston_side=a, rod_side=b)


def _dead_volume(element: Element, side: str, line: str) -> float:
    name = f"dead_volume_{side}"
    if line:
        return element.number(name)
    if name in element.attributes:
        raise element.error(f"{name} is given, and its {side} is open to the air", f"give {side}, or remove {name}")
    return 0.0


def _check_cushions(element: Element, cylinder: HydraulicCylinder) -> None:
    length, diameter = cylinder.cushion_length, cylinder.cushion_diameter
    if (length > 0.0) != (diameter > 0.0):
        raise element.error(
            f"cushion_length = {length:g} m and cushion_diameter = {diameter:g} m",
            "give both above 0, or neither",
        )
    if 2.0 * length > cylinder.stroke:
        raise element.error(
            f"cushion_length = {length:g} m at each end is more than half of stroke = {cylinder.stroke:g} m"
        )
    if diameter >= cylinder.bore:
        raise element.error(f"cushion_diameter = {diameter:g} m is not below bore = {cylinder.bore:g} m")


def _check_buffers(element: Element, cylinder: HydraulicCylinder) -> None:
    length = cylinder.buffer_length
    for name in ("buffer_stiffness", "buffer_damping"):
        require_with(element, name, "buffer_length", length > 0.0)
    if length > 0.0 and cylinder.buffer_stiffness == cylinder.buffer_damping == 0.0:
        raise element.error(
            f"buffer_length = {length:g} m, and neither buffer_stiffness nor buffer_damping", "give one of them"
        )
    if 2.0 * length > cylinder.stroke:
        raise element.error(
            f"buffer_length = {length:g} m at each end is more than half of stroke = {cylinder.stroke:g} m"
        )
