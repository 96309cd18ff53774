"""The families of elements of ``<grouser>``, in the order of docs/urdf_extension.md.

A new family is a file in `elements` with its rows, its checks and a `FAMILY`, and a line here. Where the physics reads
its elements, it does so by `Machine.elements`, or by a field of `Machine` of the same name.
"""

from grouser.physics.description.elements import (
    compliant_joints,
    contact,
    decomposition,
    density,
    initial_positions,
    integrator,
    joint_friction,
    loop_joints,
    servo_drives,
    shovels,
    spherical_joints,
    tracks,
    wheels,
)
from grouser.physics.description.elements.flexible_links import family as flexible_links
from grouser.physics.description.elements.hydraulics import family as hydraulics
from grouser.physics.description.elements.sensors import family as sensors
from grouser.physics.description.table.attributes import ElementKind
from grouser.physics.description.table.family import Family

FAMILIES: tuple[Family, ...] = (
    hydraulics.FAMILY,
    contact.FAMILY,
    joint_friction.FAMILY,
    servo_drives.FAMILY,
    sensors.FAMILY,
    initial_positions.FAMILY,
    spherical_joints.FAMILY,
    compliant_joints.FAMILY,
    loop_joints.FAMILY,
    flexible_links.FAMILY,
    wheels.FAMILY,
    tracks.FAMILY,
    shovels.FAMILY,
    density.FAMILY,
    decomposition.FAMILY,
    integrator.FAMILY,
)
ELEMENTS: tuple[ElementKind, ...] = tuple(kind for family in FAMILIES for kind in family.elements)
