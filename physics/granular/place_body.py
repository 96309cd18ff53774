"""A body of a boundary, put where something else says it is."""

from grouser.physics.base.kernel import inlined
from grouser.physics.granular.arrays import State


@inlined
def move_body_to(state: State, b, place, turn, twist):
    """Puts a body at a pose, with a velocity; its travel grows by the way of its points, at most.

    Args:
        state: of the grains, changed.
        b: the body.
        place: of its origin [m], (3,).
        turn: its rotation matrix, by rows, (9,).
        twist: velocity of its origin, and angular velocity, world axes [m/s, rad/s], (6,).
    """
    way = change = 0.0
    for c in range(3):
        way += (place[c] - state.body_position[b, c]) ** 2
        state.body_position[b, c] = place[c]
        for d in range(3):
            change += (turn[3 * c + d] - state.body_rotation[b, c, d]) ** 2
            state.body_rotation[b, c, d] = turn[3 * c + d]
    # the angle of a small turn is less than the norm of the change of its matrix
    state.travel[b] += way**0.5 + change**0.5 * state.reach[b]
    for c in range(6):
        state.body_velocity[b, c] = twist[c]
