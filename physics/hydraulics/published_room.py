"""Phase of the hydraulics with the published schemes, which show their error."""

from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import kernel
from grouser.physics.hydraulics.published_cylinder import advance_cylinders


@kernel
def advance(context: Context):
    """Integrates the oil of each cylinder."""
    system, settings = context.system.hydraulics, context.system.settings
    work = context.workspace.hydraulics
    advance_cylinders(
        *(system.geometry, system.network, context.state.hydraulics, settings.scheme, work.valve_command),
        *(
            work.brake,
            work.jacobian_rate,
            settings.step,
            context.workspace.constraints.rows,
            work.network,
            work.prediction,
        ),
    )
