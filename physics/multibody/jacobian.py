"""Jacobians of points: the coordinates' share in the velocity of a point of the machine.

These run many times a step. They take the arrays that they use, and a row by its number: handing over whole named
tuples or array views would cost more than the work.
"""

from grouser.physics.kernel import inlined, kernel


@inlined
def point_rows(parent, column_start, column_rate, column, body, x, y, z, frame, rows, first):
    """Rows first, first + 1, first + 2: velocity of a point of a body along the three axes of a frame.

    Args:
        parent, column_start, column_rate: of the model.
        column: twists of the columns, world axes about the origin.
        body: the body; -1, the world, gives zero rows.
        x, y, z: the point, from the origin, world axes [m].
        frame: the axes, world axes, (3, 3) row by row.
        rows: result, (rows, coordinates).
        first: number of the first row.
    """
    for d in range(rows.shape[1]):
        rows[first, d] = 0.0
        rows[first + 1, d] = 0.0
        rows[first + 2, d] = 0.0
    while body >= 0:
        for c in range(column_start[body], column_start[body + 1]):
            d = column_rate[c]
            vx = column[c, 0] + column[c, 4] * z - column[c, 5] * y
            vy = column[c, 1] + column[c, 5] * x - column[c, 3] * z
            vz = column[c, 2] + column[c, 3] * y - column[c, 4] * x
            rows[first, d] += frame[0, 0] * vx + frame[0, 1] * vy + frame[0, 2] * vz
            rows[first + 1, d] += frame[1, 0] * vx + frame[1, 1] * vy + frame[1, 2] * vz
            rows[first + 2, d] += frame[2, 0] * vx + frame[2, 1] * vy + frame[2, 2] * vz
        body = parent[body]


@kernel
def distance_row(parent, column_start, column_rate, column, body, other, x, y, z, nx, ny, nz, rows, r):
    """Row r: rate of the distance between a point of `body` and one of `other`, along their line.

    The bodies that both hang on are left out: they move both points alike, and their entries are exactly zero.

    Args:
        parent, column_start, column_rate: of the model.
        column: twists of the columns, world axes about the origin.
        body, other: the bodies, -1 for the world.
        x, y, z: any point of the line, from the origin, world axes [m].
        nx, ny, nz: unit vector of the line, from `other` to `body`.
        rows: result, (rows, coordinates).
        r: number of the row.
    """
    for d in range(rows.shape[1]):
        rows[r, d] = 0.0
    mx, my, mz = y * nz - z * ny, z * nx - x * nz, x * ny - y * nx
    while body != other:
        # the later body is the deeper one, or on another branch: climb from it
        climbing = max(body, other)
        sign = 1.0 if body == climbing else -1.0
        for c in range(column_start[climbing], column_start[climbing + 1]):
            rows[r, column_rate[c]] += sign * (
                column[c, 0] * nx
                + column[c, 1] * ny
                + column[c, 2] * nz
                + column[c, 3] * mx
                + column[c, 4] * my
                + column[c, 5] * mz
            )
        if body == climbing:
            body = parent[body]
        else:
            other = parent[other]
