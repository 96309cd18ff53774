"""Vectors of three numbers as tuples: compiled leaves."""

from grouser.physics.base.kernel import kernel
from grouser.physics.base.spatial import cross


@kernel
def dot(a, b):
    """a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def crossed(a, b):
    """a x b."""
    return cross(a[0], a[1], a[2], b[0], b[1], b[2])


@kernel
def combined(p, a, q, b):
    """p a + q b."""
    return p * a[0] + q * b[0], p * a[1] + q * b[1], p * a[2] + q * b[2]


@kernel
def times(a, b):
    """Products element by element: a diagonal matrix a times a vector b."""
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]
