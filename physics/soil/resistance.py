"""Resistance of the soil to a wheel's twist: a symmetric matrix, of which the lower triangle is stored."""

from grouser.physics.base.kernel import inlined


@inlined
def add_at(slope, x, y, z, xx, yx, yy, zx, zy, zz):
    """Adds the resistance at the point x, y, z, a symmetric matrix over its velocity."""
    slope[0, 0] += xx
    slope[1, 0] += yx
    slope[1, 1] += yy
    slope[2, 0] += zx
    slope[2, 1] += zy
    slope[2, 2] += zz
    # moments of the resisting force, by each velocity component of the centre
    ax, ay, az = y * zx - z * yx, z * xx - x * zx, x * yx - y * xx
    bx, by, bz = y * zy - z * yy, z * yx - x * zy, x * yy - y * yx
    cx, cy, cz = y * zz - z * zy, z * zx - x * zz, x * zy - y * zx
    slope[3, 0] += ax
    slope[3, 1] += bx
    slope[3, 2] += cx
    slope[4, 0] += ay
    slope[4, 1] += by
    slope[4, 2] += cy
    slope[5, 0] += az
    slope[5, 1] += bz
    slope[5, 2] += cz
    slope[3, 3] += y * cx - z * bx
    slope[4, 3] += y * cy - z * by
    slope[4, 4] += z * ay - x * cy
    slope[5, 3] += y * cz - z * bz
    slope[5, 4] += z * az - x * cz
    slope[5, 5] += x * bz - y * az
