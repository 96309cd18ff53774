"""Brakes of driven joints: drives on emergency stop, and holding brakes, which also engage at a command of 0."""

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.drives.servo import Drives
from grouser.physics.drives.springs import NO_DRIVE


@kernel
def brake_drives(laws, drives: Drives, v, command, brake):
    """Finds the greatest effort that brakes each joint, besides its dry friction and the spring of its drive.

    Args:
        laws, drives: of the machine.
        v: coordinate rates at the start of the step.
        command: of the drives.
        brake: of each law [N m or N], result.
    """
    for law in range(laws.rate_index.shape[0]):
        brake[law], d = 0.0, laws.drive[law]
        if d != NO_DRIVE:
            stopped = command.emergency_stop[drives.member[d]]
            brake[law] = _braking_effort(drives, d, v[laws.rate_index[law]], command.drive[d], stopped)


@inlined
def _braking_effort(drives: Drives, d, speed, command, stopped):
    """Of drive d: without an emergency stop its holding brake spares fast joints, which the drive's damping brakes."""
    holding = drives.holding_effort[d]
    if stopped:
        return drives.effort_limit[d] + holding
    return holding if command == 0.0 and drives.damping[d] * abs(speed) <= holding else 0.0
