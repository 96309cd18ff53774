"""Places and orientations of blocks, and their rotation by explicit steps."""

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import (
    quaternion_exponential,
    quaternion_product,
    rotated,
    rotated_back,
    rotation_matrix,
)
from grouser.physics.blocks.system import DAMPING


@kernel
def place_block(system, state, work, block):
    """Writes the position and the rotation matrix of a block to the workspace."""
    turn = state.quaternion[block]
    matrix = rotation_matrix(turn[0], turn[1], turn[2], turn[3])
    for row in range(3):
        work.position[block, row] = system.bodies.start[block, row] + state.displacement[block, row]
        for column in range(3):
            work.rotation[block, row, column] = matrix[3 * row + column]


@kernel
def turned(quaternion, wx, wy, wz, time):
    """Quaternion after a time of the constant angular velocity (wx, wy, wz) in the world."""
    turn = quaternion_exponential(time * wx, time * wy, time * wz)
    return quaternion_product(
        turn[0], turn[1], turn[2], turn[3], quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    )


@kernel
def set_normalised(quaternion, x, y, z, w):
    """Writes a quaternion, whose length is one but for rounding."""
    scale = 1.5 - 0.5 * (x * x + y * y + z * z + w * w)
    quaternion[0], quaternion[1], quaternion[2], quaternion[3] = scale * x, scale * y, scale * z, scale * w


@kernel
def angular_velocity_of(rotation, inverse_inertia, lx, ly, lz):
    """Angular velocity in the world of a body with the angular momentum (lx, ly, lz) in the world."""
    return rotated(rotation, *rotated(inverse_inertia, *rotated_back(rotation, lx, ly, lz)))


@kernel
def turn_free(system, state, work, block, step: float):
    """Turns a block by its torque: leapfrog of the angular momentum, which is kept to round-off without torque.

    The angular velocity of the middle of the step is that of the new angular momentum at the orientation there, which
    half a step with the angular velocity of the start predicts (Fincham, 1992).
    """
    inverse, quaternion = system.bodies.inverse_inertia[block], state.quaternion[block]
    torque, momentum = work.torque[block], state.angular_momentum[block]
    decay = 0.5 * system.laws.mass_damping * step
    for axis in range(3):
        momentum[axis] = (momentum[axis] * (1.0 - decay) + step * torque[axis]) / (1.0 + decay)
    lx, ly, lz = momentum[0], momentum[1], momentum[2]
    half = 0.5 * step
    now = angular_velocity_of(
        work.rotation[block], inverse, lx - half * torque[0], ly - half * torque[1], lz - half * torque[2]
    )
    middle = turned(quaternion, now[0], now[1], now[2], half)
    matrix = rotation_matrix(middle[0], middle[1], middle[2], middle[3])
    rotation = work.rotation[block]
    for row in range(3):
        for column in range(3):
            rotation[row, column] = matrix[3 * row + column]
    wx, wy, wz = angular_velocity_of(rotation, inverse, lx, ly, lz)
    spin = state.angular_velocity[block]
    spin[0], spin[1], spin[2] = wx, wy, wz
    state.lost[DAMPING] += step * system.laws.mass_damping * (lx * wx + ly * wy + lz * wz)
    x, y, z, w = turned(quaternion, wx, wy, wz, step)
    set_normalised(quaternion, x, y, z, w)
