"""Modified Rodrigues parameters: an attitude as axis times tan(angle / 4).

Vectors and quaternions (x, y, z, w) are tuples; the attitude takes vectors of the body to the inertial frame. Every
attitude has two sets, sigma and its shadow -sigma / |sigma|², with lengths on either side of one; a full turn is at
infinity, where the other set is at zero. Schaub and Junkins, Analytical Mechanics of Space Systems (2003), section 3.5.
"""

from grouser.physics.base.kernel import kernel
from grouser.studies.attitude.vectors import combined, crossed, dot


@kernel
def from_quaternion(q):
    """The set with |sigma| <= 1 of a unit quaternion of either sign."""
    scale = 1.0 / (1.0 + abs(q[3]))
    if q[3] < 0.0:
        scale = -scale
    return scale * q[0], scale * q[1], scale * q[2]


@kernel
def to_quaternion(sigma):
    """Unit quaternion of a set of any length."""
    largest = max(abs(sigma[0]), abs(sigma[1]), abs(sigma[2]))
    if largest <= 1.0:
        square = dot(sigma, sigma)
        scale = 2.0 / (1.0 + square)
        return scale * sigma[0], scale * sigma[1], scale * sigma[2], (1.0 - square) / (1.0 + square)
    # by u = sigma / |sigma|², which does not overflow
    scaled = sigma[0] / largest, sigma[1] / largest, sigma[2] / largest
    shrink = 1.0 / (largest * dot(scaled, scaled))
    u = shrink * scaled[0], shrink * scaled[1], shrink * scaled[2]
    square = dot(u, u)
    scale = 2.0 / (1.0 + square)
    return scale * u[0], scale * u[1], scale * u[2], (square - 1.0) / (1.0 + square)


@kernel
def nearest_set(sigma, other):
    """Of the two sets of an attitude the one nearer to `other`; with other = 0 the one with |sigma| <= 1."""
    x, y, z, w = to_quaternion(sigma)
    short = from_quaternion((x, y, z, w))
    square = dot(short, short)
    if square == 0.0:
        return short
    long = -short[0] / square, -short[1] / square, -short[2] / square
    near, far = combined(1.0, short, -1.0, other), combined(1.0, long, -1.0, other)
    return long if dot(far, far) < dot(near, near) else short


@kernel
def rate_of(sigma, omega):
    """d sigma/dt = G(sigma) omega, 4 G = (1 - |sigma|²) I + 2 [sigma]x + 2 sigma sigma^T [1/s].

    Args:
        sigma: the attitude.
        omega: angular velocity in the body's frame [rad/s].
    """
    along = combined(0.25 * (1.0 - dot(sigma, sigma)), omega, 0.5 * dot(sigma, omega), sigma)
    return combined(1.0, along, 0.5, crossed(sigma, omega))


@kernel
def torque_of(sigma, effort):
    """G(sigma)^T effort: the torque in the body's frame that does the work effort · d sigma [N m]."""
    along = combined(0.25 * (1.0 - dot(sigma, sigma)), effort, 0.5 * dot(sigma, effort), sigma)
    return combined(1.0, along, -0.5, crossed(sigma, effort))
