"""Phases of the hydraulics with the implicit scheme: sub-steps of adaptive length."""

from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import kernel
from grouser.physics.hydraulics.advance import advance_other_parts, begin_parts, finish_parts
from grouser.physics.hydraulics.piston_rows import measure_mobilities


@kernel
def predict(context: Context):
    """Finds the mobilities of the actuators, and loads the state of the circuits."""
    system, work = context.system.hydraulics, context.workspace.hydraulics
    rows, step = context.workspace.constraints.rows, context.system.settings.step
    measure_mobilities(system.network, work.jacobian_rate, step, rows, work.network.loads)
    begin_parts(system.geometry, system.network, context.state.hydraulics, work.network, work.prediction)


@kernel
def advance(context: Context):
    """Integrates the parts that `plain_room` has left out, and ends the step of the circuits."""
    system, work, step = context.system.hydraulics, context.workspace.hydraulics, context.system.settings.step
    network, geometry = system.network, system.geometry
    advance_other_parts(network, geometry, work.valve_command, step, work.network, work.prediction)
    finish_parts(geometry, network, context.state.hydraulics, step, work.network, work.prediction)
