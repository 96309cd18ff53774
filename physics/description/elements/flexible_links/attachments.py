"""What may be attached to a flexible link, and where."""

from collections.abc import Iterator

from grouser.physics.description.data.compliance import FlexibleLink
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.sensors import MOUNTED
from grouser.physics.description.elements.flexible_links.places import ROUNDING
from grouser.physics.description.table.family import Extension
from grouser.physics.description.urdf.placement import along_axis


def check_flexible_links(machine: Machine, extension: Extension) -> None:
    """Checks that flexible links have a mass, and that what is on them can be.

    Raises:
        MachineError: a link has no mass, something is attached before its start or beyond its end, or a wheel, a
            sprocket or a moving surface is on it.
    """
    inertials = {link.name: link.inertial for link in machine.links}
    for entry in extension["flexible_links"]:
        flexible, element = entry.value, entry.element
        inertial = inertials[flexible.link]
        if inertial is None or inertial.mass == 0.0:
            raise element.error(f"link '{flexible.link}' has no mass", "give it an <inertial> or a <density>")
        slack = ROUNDING * flexible.length
        # from the link's frame to the start of the axis it is rigid
        first = min(0.0, along_axis(flexible, (0.0, 0.0, 0.0)))
        for what, xyz in _attached(machine, flexible):
            along = along_axis(flexible, xyz)
            if along < first - slack:
                raise element.error(
                    f"{what} is attached at {along:.6g} m along the elastic axis, before its start and the link's "
                    f"frame; valid: from {first:.6g} m",
                    "start the axis there, or attach it to the link before",
                )
            if along > flexible.length + slack:
                raise element.error(
                    f"{what} is attached at {along:.6g} m along the elastic axis, beyond its length of "
                    f"{flexible.length:g} m",
                    "lengthen the axis, or fix a rigid link to its end",
                )
        for what in _rigid_only(machine, flexible):
            raise element.error(f"{what} cannot be on flexible link '{flexible.link}'", "put it on a rigid link")


def _attached(machine: Machine, flexible: FlexibleLink) -> Iterator[tuple[str, Vector3]]:
    """Joints, loop joints, cylinders and sensors on the link, and their places in its frame."""
    for joint in machine.joints:
        if joint.parent == flexible.link:
            yield f"joint '{joint.name}'", joint.pose.position
    for loop in machine.loop_joints:
        for frame in (loop.parent, loop.child):
            if frame.link == flexible.link:
                yield f"loop joint '{loop.name}'", frame.xyz
    for cylinder in machine.cylinders:
        for end in (cylinder.barrel, cylinder.rod):
            if end.link == flexible.link:
                yield f"cylinder '{cylinder.name}'", end.xyz
    for field in MOUNTED:
        for sensor in getattr(machine, field):
            if sensor.link == flexible.link:
                yield f"sensor '{sensor.name}'", sensor.xyz


def _rigid_only(machine: Machine, flexible: FlexibleLink) -> Iterator[str]:
    """Wheels, tracks and moving surfaces on the link."""
    above = {joint.name: joint for joint in machine.joints}
    for wheel in machine.wheels:
        if wheel.link == flexible.link:
            yield "a <wheel>"
    for track in machine.tracks:
        if flexible.link in (above[track.sprocket].parent, above[track.sprocket].child):
            yield f"track '{track.name}'"
    for running in machine.track_wheels:
        if running.link == flexible.link:
            yield "a <track_wheel>"
    for contact in machine.contacts:
        if contact.link == flexible.link and contact.surface_joint is not None:
            yield "a moving surface"
