"""Shear state of the ground under a wheel or a shoe: how it grows, and the axes in which it is kept."""

from grouser.physics.base.kernel import inlined, kernel


@kernel
def advance_shear(x, y, path, ux, uy, speed):
    """Implicit step of the shear state, s' = (v - |v| s) / K; it follows Janosi and Hanamoto's exponential.

    Args:
        x, y: s along both tangents [-].
        path: time over K [s/m].
        ux, uy: v, by which the face slides over the ground [m/s].
        speed: |v| [m/s].
    """
    scale = 1.0 / (1.0 + path * speed)
    return (x + path * ux) * scale, (y + path * uy) * scale


@inlined
def ground_tangents(nx, ny, nz):
    """Two tangents of a ground with this normal: the world's x and y, rotated from the vertical to the normal."""
    c = 1.0 / max(1.0 + nz, 1e-12)
    return 1.0 - c * nx * nx, -c * nx * ny, -nx, -c * nx * ny, 1.0 - c * ny * ny, -ny
