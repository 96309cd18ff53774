"""Jacobians of the velocity of one body relative to another.

These run many times a step. They take the arrays that they use, and a row by its index: passing whole named tuples or
array views would cost more than the work.
"""

from typing import TYPE_CHECKING

from grouser.physics.base.kernel import inlined, kernel

if TYPE_CHECKING:
    from grouser.physics.model.multibody import MultibodyModel


@inlined
def point_rows(parent, column_start, column_rate, column, body, other, x, y, z, frame, rows, first):
    """Rows first, first + 1, first + 2: velocity of a point of a body relative to another body along three axes.

    Args:
        parent, column_start, column_rate: of the model.
        column: twists of the columns, world axes about the origin.
        body, other: the bodies; -1 is the world.
        x, y, z: the point, from the origin, world axes [m].
        frame: the axes, world axes, (3, 3) row by row.
        rows: result, (rows, coordinates); cleared before (`clear_rows`).
        first: index of the first row.
    """
    while body != other:
        climbing = max(body, other)
        sign = 1.0 if body == climbing else -1.0
        for c in range(column_start[climbing], column_start[climbing + 1]):
            d = column_rate[c]
            vx = sign * (column[c, 0] + column[c, 4] * z - column[c, 5] * y)
            vy = sign * (column[c, 1] + column[c, 5] * x - column[c, 3] * z)
            vz = sign * (column[c, 2] + column[c, 3] * y - column[c, 4] * x)
            rows[first, d] += frame[0, 0] * vx + frame[0, 1] * vy + frame[0, 2] * vz
            rows[first + 1, d] += frame[1, 0] * vx + frame[1, 1] * vy + frame[1, 2] * vz
            rows[first + 2, d] += frame[2, 0] * vx + frame[2, 1] * vy + frame[2, 2] * vz
        if body == climbing:
            body = parent[body]
        else:
            other = parent[other]


@inlined
def turning_rows(parent, column_start, column_rate, column, body, other, frame, rows, first):
    """Rows first, first + 1, first + 2: angular velocity of a body relative to another body about three axes.

    Args: as for `point_rows`.
    """
    while body != other:
        climbing = max(body, other)
        sign = 1.0 if body == climbing else -1.0
        for c in range(column_start[climbing], column_start[climbing + 1]):
            d = column_rate[c]
            wx, wy, wz = sign * column[c, 3], sign * column[c, 4], sign * column[c, 5]
            for k in range(3):
                rows[first + k, d] += frame[k, 0] * wx + frame[k, 1] * wy + frame[k, 2] * wz
        if body == climbing:
            body = parent[body]
        else:
            other = parent[other]


@kernel
def block_of(model: "MultibodyModel", body):
    """First and last (exclusive) coordinate of the mass matrix's block that moves a body; none for the world, -1."""
    if body < 0:
        return 0, 0
    rate = model.column_rate[model.column_start[body]]
    return model.rate_first[rate], model.rate_last[rate]


@inlined
def clear_rows(rows, count, begin, end):
    """Clears the first `count` rows over range(begin, end)."""
    for r in range(count):
        for d in range(begin, end):
            rows[r, d] = 0.0


@kernel
def list_entries(dense, count, begin, end, index, size):
    """Appends the coordinates of range(begin, end) where one of the first `count` rows is not zero.

    Args:
        dense: the rows, (rows, coordinates).
        count: number of rows.
        begin, end: range of the coordinates.
        index: result; its first `size` entries are kept.
        size: number of entries before.

    Returns:
        Number of entries.
    """
    for d in range(begin, end):
        for k in range(count):
            if dense[k, d] != 0.0:
                index[size] = d
                size += 1
                break
    return size


@kernel
def wrench_row(parent, column_start, column_rate, column, body, other, fx, fy, fz, mx, my, mz, rows, r):
    """Row r: speed of `body` relative to `other` along a wrench; the wrench acts on `body`, its reaction on `other`.

    Bodies that carry both are skipped: their entries are exactly zero. The row must have been cleared.

    Args:
        parent, column_start, column_rate: of the model.
        column: twists of the columns, world axes about the origin.
        body, other: the bodies, -1 for the world.
        fx, fy, fz, mx, my, mz: force, and moment about the origin, world axes.
        rows: result, (rows, coordinates).
        r: index of the row.
    """
    while body != other:
        # the body with the higher number is deeper or on another branch: climb from it
        climbing = max(body, other)
        sign = 1.0 if body == climbing else -1.0
        for c in range(column_start[climbing], column_start[climbing + 1]):
            rows[r, column_rate[c]] += sign * (
                column[c, 0] * fx
                + column[c, 1] * fy
                + column[c, 2] * fz
                + column[c, 3] * mx
                + column[c, 4] * my
                + column[c, 5] * mz
            )
        if body == climbing:
            body = parent[body]
        else:
            other = parent[other]
