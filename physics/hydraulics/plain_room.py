"""Phase of the hydraulics that integrates plain parts in lockstep."""

from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import kernel
from grouser.physics.hydraulics.plain_parts import advance_plain_parts


@kernel
def advance(context: Context):
    """Integrates the plain parts that the lockstep scheme covers in this step."""
    system, work, step = context.system.hydraulics, context.workspace.hydraulics, context.system.settings.step
    advance_plain_parts(system.network, system.geometry, work.valve_command, step, work.network, work.prediction)
