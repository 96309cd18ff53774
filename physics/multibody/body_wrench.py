"""Wrenches on single bodies, from outside: their force on the coordinates, and their power; the twist of a body."""

from grouser.physics.base.kernel import inlined
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.multibody.kinematics import force_along


@inlined
def add_wrench(model: MultibodyModel, column, body, wrench, force):
    """Adds a wrench on a body to the generalised force: on the coordinates that move the body, along their columns.

    Args:
        model, column: of the machine, columns as of `Kinematics`.
        body: number of the body.
        wrench: force and moment about the origin, world axes (6) [N, N m].
        force: changed.
    """
    while body >= 0:
        for c in range(model.column_start[body], model.column_start[body + 1]):
            force[model.column_rate[c]] += force_along(
                column, c, wrench[0], wrench[1], wrench[2], wrench[3], wrench[4], wrench[5]
            )
        body = model.body_parent[body]


@inlined
def power_of_wrench(model: MultibodyModel, column, body, wrench, velocity):
    """Power of a wrench on a body at coordinate rates [W]; arguments as of `add_wrench`."""
    power = 0.0
    while body >= 0:
        for c in range(model.column_start[body], model.column_start[body + 1]):
            speed = velocity[model.column_rate[c]]
            power += speed * force_along(column, c, wrench[0], wrench[1], wrench[2], wrench[3], wrench[4], wrench[5])
        body = model.body_parent[body]
    return power


@inlined
def find_twist(model: MultibodyModel, column, body, velocity, twist):
    """Fills the twist of a body at coordinate rates, world axes about the origin; arguments as of `add_wrench`."""
    twist[:] = 0.0
    while body >= 0:
        for c in range(model.column_start[body], model.column_start[body + 1]):
            speed = velocity[model.column_rate[c]]
            for k in range(6):
                twist[k] += speed * column[c, k]
        body = model.body_parent[body]
