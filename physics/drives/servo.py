"""Servo drive as a limited spring and damper, taken implicitly: any stiffness is stable at any step."""

from grouser.physics.kernel import kernel

POSITION, VELOCITY, EFFORT = range(3)
MODES = {"position": POSITION, "velocity": VELOCITY, "effort": EFFORT}


@kernel
def servo_spring(mode, stiffness, damping, position, command, step):
    """Spring of a row for a drive: conductance g and target speed b (see `constraints.rows`).

    The effort -k (position + h v - command) - d v at the end of the step, times the step. A velocity drive has d only,
    towards its commanded speed; an effort drive has no spring.

    Args:
        mode: POSITION, VELOCITY or EFFORT.
        stiffness: k [N m/rad or N/m].
        damping: d [N m s/rad or N s/m].
        position: of the joint [rad or m].
        command: position or speed wanted [rad, m, rad/s or m/s].
        step: h [s].
    """
    if mode == POSITION:
        resistance = step * stiffness + damping
        return step * resistance, -stiffness * (position - command) / resistance
    if mode == VELOCITY:
        return step * damping, command
    return 0.0, 0.0
