"""What resists the motion of a wheel, a symmetric matrix over its twist, of which the lower triangle is kept."""

from grouser.physics.kernel import inlined


@inlined
def add_all_round(slope, x, y, z, value):
    """Adds what resists motion of the point x, y, z alike in all directions."""
    slope[0, 0] += value
    slope[1, 1] += value
    slope[2, 2] += value
    slope[3, 1] -= value * z
    slope[3, 2] += value * y
    slope[4, 0] += value * z
    slope[4, 2] -= value * x
    slope[5, 0] -= value * y
    slope[5, 1] += value * x
    slope[3, 3] += value * (y * y + z * z)
    slope[4, 3] -= value * x * y
    slope[4, 4] += value * (x * x + z * z)
    slope[5, 3] -= value * x * z
    slope[5, 4] -= value * y * z
    slope[5, 5] += value * (x * x + y * y)


@inlined
def add_direction(slope, x, y, z, ex, ey, ez, value):
    """Adds what resists motion of the point x, y, z along one direction."""
    mx, my, mz = y * ez - z * ey, z * ex - x * ez, x * ey - y * ex
    gx, gy, gz, hx, hy, hz = value * ex, value * ey, value * ez, value * mx, value * my, value * mz
    slope[0, 0] += gx * ex
    slope[1, 0] += gy * ex
    slope[1, 1] += gy * ey
    slope[2, 0] += gz * ex
    slope[2, 1] += gz * ey
    slope[2, 2] += gz * ez
    slope[3, 0] += hx * ex
    slope[3, 1] += hx * ey
    slope[3, 2] += hx * ez
    slope[3, 3] += hx * mx
    slope[4, 0] += hy * ex
    slope[4, 1] += hy * ey
    slope[4, 2] += hy * ez
    slope[4, 3] += hy * mx
    slope[4, 4] += hy * my
    slope[5, 0] += hz * ex
    slope[5, 1] += hz * ey
    slope[5, 2] += hz * ez
    slope[5, 3] += hz * mx
    slope[5, 4] += hz * my
    slope[5, 5] += hz * mz
