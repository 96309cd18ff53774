"""Motion of the bodies of boundaries: a prescribed vibration, or a constant velocity."""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.granular.arrays import Boundaries, State


@kernel
def move_bodies(boundaries: Boundaries, state: State, step: float):
    """Moves all bodies on to the state's time plus a step; a vibration's velocity is that half a step before.

    Args:
        boundaries: bodies.
        state: poses and velocities are changed, and `travel`; `time` is that of the start of the step.
        step: h [s].
    """
    place, moving = state.body_position, state.body_velocity
    for b in range(place.shape[0]):
        way = 0.0
        vibrates = boundaries.angular_frequency[b] > 0.0
        if vibrates:
            end = state.time[0] + step
            angle = boundaries.angular_frequency[b] * end + boundaries.phase[b]
            for c in range(3):
                to = boundaries.start[b, c] + boundaries.amplitude[b, c] * math.sin(angle)
                way += (to - place[b, c]) ** 2
                place[b, c] = to
            set_vibration_velocity(boundaries, state, b, end - 0.5 * step)
        else:
            for c in range(3):
                way += (step * moving[b, c]) ** 2
                place[b, c] += step * moving[b, c]
        turn = step * math.sqrt(moving[b, 3] ** 2 + moving[b, 4] ** 2 + moving[b, 5] ** 2)
        if turn > 0.0:
            _rotate(state, b, step)
        state.travel[b] += math.sqrt(way) + turn * state.reach[b]


@inlined
def set_vibration_velocity(boundaries: Boundaries, state: State, b, time):
    """Sets the velocity of a vibrating body to that at a time."""
    angle = boundaries.angular_frequency[b] * time + boundaries.phase[b]
    rate = boundaries.angular_frequency[b] * math.cos(angle)
    for c in range(3):
        state.body_velocity[b, c] = rate * boundaries.amplitude[b, c]


@inlined
def _rotate(state: State, b, step):
    """Turns a body by its angular velocity over a step (Rodrigues)."""
    turn, moving = state.body_rotation, state.body_velocity
    w0, w1, w2 = step * moving[b, 3], step * moving[b, 4], step * moving[b, 5]
    square = w0 * w0 + w1 * w1 + w2 * w2
    angle = math.sqrt(square)
    first, second = math.sin(angle) / angle, (1.0 - math.cos(angle)) / square
    for c in range(3):
        x, y, z = turn[b, 0, c], turn[b, 1, c], turn[b, 2, c]
        a0, a1, a2 = w1 * z - w2 * y, w2 * x - w0 * z, w0 * y - w1 * x
        turn[b, 0, c] += first * a0 + second * (w1 * a2 - w2 * a1)
        turn[b, 1, c] += first * a1 + second * (w2 * a0 - w0 * a2)
        turn[b, 2, c] += first * a2 + second * (w0 * a1 - w1 * a0)
