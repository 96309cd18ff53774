"""Pressure of the ground on a pad, in series with the belt between two wheels, and against its side."""

import math

from grouser.physics.base.kernel import kernel

# Newton's iterations for a depth on the yield curve, and their tolerance relative to the depth [-].
_ROUNDS = 30
_PRECISION = 1e-9
# Depth below which the slope of the yield curve is that of this depth [m].
_SHALLOW = 1e-9


@kernel
def soil_pressure(stiffness, exponent, unloading, unloading_slope, sinkage, pressure, depth, give, step: float):
    """Pressure of soil below a belt that gives way: `soil.bekker_cell` at the depth z - w p.

    Between two wheels the belt is a membrane under tension T, which a pressure p over the width b deflects by
    w p = b x (l - x) p / (2 T) at the distance x from one wheel, if p is even over the span l.

    Args:
        stiffness, exponent: K [Pa/m^n], n.
        unloading, unloading_slope: k_0 [N/m3], A_u [N/m4].
        sinkage, pressure: at which the cell yielded last [m, Pa].
        depth: z of the belt's path at the end of the step [m].
        give: w [m/Pa].
        step: h [s].

    Returns:
        Pressure [Pa], its derivative by the rate of the depth [Pa s/m], sinkage and pressure of the last yield.
    """
    modulus = unloading + unloading_slope * sinkage
    elastic = (pressure + modulus * (depth - sinkage)) / (1.0 + give * modulus)
    if elastic <= 0.0:
        return 0.0, 0.0, sinkage, pressure
    pressed = depth - give * elastic
    yielding = stiffness * pressed**exponent if pressed > 0.0 else 0.0
    if elastic <= yielding:
        return elastic, step * modulus / (1.0 + give * modulus), sinkage, pressure
    if give > 0.0:
        pressed, yielding = _yielding_depth(stiffness, exponent, depth, give, pressed, yielding)
    slope = min(exponent * yielding / max(pressed, _SHALLOW), modulus)
    return yielding, step * slope / (1.0 + give * slope), pressed, yielding


@kernel
def _yielding_depth(stiffness, exponent, depth, give, pressed, yielding):
    """The depth d of d + w K d^n = z, and K d^n, by Newton's method within a bracket, from a depth and its K d^n."""
    low, high = 0.0, depth
    for _ in range(_ROUNDS):
        excess = pressed + give * yielding - depth
        if excess > 0.0:
            high = pressed
        else:
            low = pressed
        before = pressed
        pressed -= excess / (1.0 + give * exponent * yielding / max(pressed, _SHALLOW))
        if not low < pressed < high:
            pressed = 0.5 * (low + high)
        yielding = stiffness * pressed**exponent
        if abs(pressed - before) <= _PRECISION * depth:
            break
    return pressed, yielding


@kernel
def rigid_pressure(stiffness, damping, depth, rate, give, step: float):
    """Pressure of rigid ground on a pad that is a spring with a damper, and its derivative by the rate.

    Args:
        stiffness, damping: of the pad, per area [N/m3, N s/m3].
        depth: at the start of the step [m].
        rate: of the depth [m/s].
        give: of the belt [m/Pa].
        step: h [s].
    """
    if depth + step * rate <= 0.0:
        return 0.0, 0.0
    softer = 1.0 + give * stiffness
    pressure = (stiffness * (depth + step * rate) + damping * rate) / softer
    if pressure <= 0.0:
        return 0.0, 0.0
    return pressure, (step * stiffness + damping) / softer


@kernel
def curved_contact(depth, rise, curvature, length):
    """Contact of a face that bends away from rigid ground: the depth at u from its middle is d - r u - c u^2.

    Args:
        depth: d [m].
        rise: r, of the face along the belt [-].
        curvature: c [1/m].
        length: of the face [m].

    Returns:
        Mean depth of what is in the ground [m], its length, and how far from the middle a pressure that is proportional
        to the depth acts [m]. Of a face that does not touch: the depth and the length of all, and zero.
    """
    inside = rise * rise + 4.0 * curvature * depth
    if inside <= 0.0:
        return depth, length, 0.0
    root = math.sqrt(inside)
    low = max(-0.5 * length, -0.5 * (rise + root) / curvature)
    high = min(0.5 * length, 0.5 * (root - rise) / curvature)
    if low >= high:
        return depth, length, 0.0
    middle, share = 0.5 * (low + high), (high - low) ** 2 / 12.0
    mean = depth - rise * middle - curvature * (middle * middle + share)
    if mean <= 0.0:
        return depth, length, 0.0
    return mean, high - low, middle - (rise + 2.0 * curvature * middle) * share / mean


@kernel
def passive_pressure(density, gravity, cohesion, friction, depth):
    """Force per length that pushes soil aside on a sunken side, a wedge of Rankine's passive state [N/m].

    Args:
        density: [kg/m3].
        gravity: [m/s2].
        cohesion: [Pa].
        friction: tan phi [-].
        depth: of the side [m].
    """
    root = math.sqrt(1.0 + friction * friction) + friction
    return 0.5 * density * gravity * depth * depth * root * root + 2.0 * cohesion * depth * root
