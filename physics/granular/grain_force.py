"""The force of a contact on a grain."""

from grouser.physics.base.kernel import inlined
from grouser.physics.granular.arrays import Workspace


@inlined
def add_grain_force(work: Workspace, i, arm, normal, force, friction, moment):
    """Adds what a contact does to a grain.

    Args:
        work: with the force and torque on each grain.
        i: the grain.
        arm: from its centre to the contact, against the normal [m].
        normal: unit normal towards the grain.
        force: on the grain, with friction [N].
        friction: of it what is tangential [N].
        moment: of rolling and twisting [N m].
    """
    n0, n1, n2 = normal
    g0, g1, g2 = friction
    work.force[i, 0] += force[0]
    work.force[i, 1] += force[1]
    work.force[i, 2] += force[2]
    work.torque[i, 0] += moment[0] - arm * (n1 * g2 - n2 * g1)
    work.torque[i, 1] += moment[1] - arm * (n2 * g0 - n0 * g2)
    work.torque[i, 2] += moment[2] - arm * (n0 * g1 - n1 * g0)
