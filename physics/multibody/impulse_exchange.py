"""Impulses that others give bodies during steps of their own, within a step of the machine.

The others move between bodies that go on with the velocities at the beginning of the step. What they get is what the
bodies get, to round-off: the impulses on each body are summed, with their moments, and act on it over the step.

This exchange is explicit. It is stable while the sum k of the stiffnesses of a body's contacts stays below m/H^2, with
the body's mass m and the step H.

Rows are bodies that can be touched: `body` is the number of each, -1 for the world; `impulse` and its moment about the
body's origin at the beginning of the step [N s, N m s], (rows, 6); `stiffening` the sum over time of the stiffnesses of
the contacts [N s/m], (rows,).
"""

from grouser.physics.base.accounts import AccountView, Ledger
from grouser.physics.base.entry import Context
from grouser.physics.base.kernel import inlined
from grouser.physics.multibody.body_wrench import add_wrench, power_of_wrench


@inlined
def apply_impulses(context: Context, body, impulse, stiffening, stiffest):
    """Adds impulses to the force, along the columns of the bodies.

    Args:
        context: of the step.
        body, impulse, stiffening: rows.
        stiffest: largest k H^2/m so far, and its row, (2,); changed.
    """
    model, motion, step = context.system.multibody, context.workspace.multibody, context.system.settings.step
    for b in range(body.shape[0]):
        i = body[b]
        if i < 0 or stiffening[b] == 0.0:
            continue
        stiffness = stiffening[b] * step / max(model.body_mass[i], 1e-300)
        if stiffness > stiffest[0]:
            stiffest[0], stiffest[1] = stiffness, b
        motion.touched[i] = True
        add_wrench(model, motion.kinematics.column, i, _mean_wrench(context, i, impulse, b), motion.force)


@inlined
def add_work(context: Context, body, impulse, stiffening, work):
    """Adds the work of impulses along the mean rates to that of each row [J], (rows,); arguments as above."""
    model, motion, step = context.system.multibody, context.workspace.multibody, context.system.settings.step
    for b in range(body.shape[0]):
        i = body[b]
        if i >= 0 and stiffening[b] != 0.0:
            wrench = _mean_wrench(context, i, impulse, b)
            work[b] += step * power_of_wrench(model, motion.kinematics.column, i, wrench, motion.velocity_mean)


@inlined
def _mean_wrench(context: Context, i, impulse, b):
    """Mean force on a body over the step, and its moment about the origin of the kinematics [N, N m]."""
    step, at = context.system.settings.step, context.workspace.multibody.kinematics.position
    fx, fy, fz = impulse[b, 0] / step, impulse[b, 1] / step, impulse[b, 2] / step
    return (
        fx,
        fy,
        fz,
        impulse[b, 3] / step + at[i, 1] * fz - at[i, 2] * fy,
        impulse[b, 4] / step + at[i, 2] * fx - at[i, 0] * fz,
        impulse[b, 5] / step + at[i, 0] * fy - at[i, 1] * fx,
    )


def read_work(view: AccountView, ledger: Ledger, what: str, body, work) -> None:
    """Adds the work of each row to a ledger, by what does it and the body's first link."""
    links = view.system.pushing.body.tolist()
    for i, joules in zip(body.tolist(), work, strict=True):
        if i >= 0:
            ledger.add_work(f"{what} on {ledger.owners.link[links.index(i)]}", joules)
