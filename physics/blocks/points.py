"""Material points of blocks: where they are, and what a force at one does to its block."""

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import cross, rotated, rotated_back


@kernel
def shape_times(phi, q):
    """Phi(X) q, or Phi(X) q', in the block's axes."""
    x = y = z = 0.0
    for a in range(q.shape[0]):
        x += phi[0, a] * q[a]
        y += phi[1, a] * q[a]
        z += phi[2, a] * q[a]
    return x, y, z


@kernel
def displaced(point, phi, q):
    """X + Phi(X) q in the block's axes."""
    x, y, z = shape_times(phi, q)
    return point[0] + x, point[1] + y, point[2] + z


@kernel
def shift_of(state, block, point, phi):
    """Displacement of a material point by rotation and modes in the world; no rounding of the size of the block."""
    mx, my, mz = shape_times(phi, state.q[block])
    x, y, z = point[0] + mx, point[1] + my, point[2] + mz
    turn = state.quaternion[block]
    tx, ty, tz = cross(turn[0], turn[1], turn[2], 2.0 * x, 2.0 * y, 2.0 * z)
    rx, ry, rz = cross(turn[0], turn[1], turn[2], tx, ty, tz)
    w = turn[3]
    return mx + (w * tx + rx), my + (w * ty + ry), mz + (w * tz + rz)


@kernel
def lever_of(state, work, block, point, phi):
    """From the centre to a material point in the world."""
    return rotated(work.rotation[block], *displaced(point, phi, state.q[block]))


@kernel
def velocity_of(state, work, block, lx, ly, lz, phi):
    """Of a material point in the world, with the lever (lx, ly, lz) from the centre."""
    spin = state.angular_velocity[block]
    tx, ty, tz = cross(spin[0], spin[1], spin[2], lx, ly, lz)
    sx, sy, sz = rotated(work.rotation[block], *shape_times(phi, state.rate[block]))
    return (
        state.velocity[block, 0] + tx + sx,
        state.velocity[block, 1] + ty + sy,
        state.velocity[block, 2] + tz + sz,
    )


@kernel
def add_force(work, block, lx, ly, lz, phi, fx, fy, fz):
    """Adds a force in the world with the lever (lx, ly, lz); `phi` are the mode shapes where it acts."""
    force, torque, modal = work.force[block], work.torque[block], work.modal[block]
    force[0] += fx
    force[1] += fy
    force[2] += fz
    tx, ty, tz = cross(lx, ly, lz, fx, fy, fz)
    torque[0] += tx
    torque[1] += ty
    torque[2] += tz
    bx, by, bz = rotated_back(work.rotation[block], fx, fy, fz)
    for a in range(modal.shape[0]):
        modal[a] += phi[0, a] * bx + phi[1, a] * by + phi[2, a] * bz


@kernel
def copy_row(target, row, source, from_row):
    """Copies one row of a matrix to a row of another one."""
    for column in range(source.shape[1]):
        target[row, column] = source[from_row, column]
