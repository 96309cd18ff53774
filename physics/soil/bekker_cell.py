"""Pressure of a soil cell under loading and unloading: Bekker (1969), with Wong's repetitive loading."""

from grouser.physics.base.kernel import kernel


@kernel
def bekker_pressure(stiffness, exponent, unloading, unloading_slope, sinkage, pressure, depth, step: float):
    """p = min(p_u - (k_0 + A_u z_u) (z_u - z), K z^n), not below zero.

    Args:
        stiffness, exponent: K [Pa/m^n], n.
        unloading, unloading_slope: k_0 [N/m3], A_u [N/m4].
        sinkage, pressure: z_u [m] and p_u [Pa], at which the cell yielded last.
        depth: z at the end of the step [m].
        step: h [s].

    Returns:
        Pressure [Pa], its derivative by the rate [Pa s/m], z_u and p_u at the end of the step.
    """
    modulus = unloading + unloading_slope * sinkage
    elastic = pressure + modulus * (depth - sinkage)
    if elastic <= 0.0:
        return 0.0, 0.0, sinkage, pressure
    yielding = stiffness * depth**exponent if depth > 0.0 else 0.0
    if elastic <= yielding:
        return elastic, step * modulus, sinkage, pressure
    return yielding, step * min(exponent * yielding / max(depth, 1e-9), modulus), depth, yielding
