"""The oil of all circuits in a step, by implicit sub-steps that their error chooses."""

from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import kernel
from grouser.physics.hydraulics.advance import advance_other_parts, begin_parts, finish_parts
from grouser.physics.hydraulics.piston_rows import measure_mobilities


@kernel
def predict(context: Context):
    """How the actuators move each other, and where the oil begins."""
    system, work = context.system.hydraulics, context.workspace.hydraulics
    rows, step = context.workspace.constraints.rows, context.system.settings.step
    measure_mobilities(system.network, work.turning, step, rows, work.network.loads)
    begin_parts(system.geometry, system.network, context.state.hydraulics, work.network, work.prediction)


@kernel
def advance(context: Context):
    """Integrates the oil that has not been integrated yet, and ends its step."""
    system, work, step = context.system.hydraulics, context.workspace.hydraulics, context.system.settings.step
    network, geometry = system.network, system.geometry
    advance_other_parts(network, geometry, work.valve_command, step, work.network, work.prediction)
    finish_parts(geometry, network, context.state.hydraulics, step, work.network, work.prediction)
