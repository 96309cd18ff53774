"""The simulated machine: flexible links as chains of rigid elements, or as elastic links with stations."""

from dataclasses import replace

from grouser.physics.description.data.machine import Machine
from grouser.physics.flexible_links import rigid_elements, stationed


def split_flexible_links(machine: Machine) -> Machine:
    """Divides the flexible links; the result has none, but further links and joints behind those of the file.

    Raises:
        MachineError: a flexible link cannot be divided.
    """
    for flexible in machine.flexible_links:
        if flexible.discretisation == "rigid_elements":
            machine = rigid_elements.divide(machine, flexible)
        else:
            machine = stationed.divide(machine, flexible)
    return replace(machine, flexible_links=())
