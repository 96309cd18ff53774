"""The visco-elasto-plastic law of a soil cell (Zuo et al. 2009, equations (1) and (2)), with yield and separation.

A cell is a spring c_f parallel to a damper eta, in series with a plastic element that yields at mu_p and hardens with
mu_v. With z the sinkage, z_p its plastic part and w = z_p' >= 0:

    p = max(0, c_f (z - z_p) + eta (z' - w))          w = max(0, (c_f (z - z_p) + eta z' - mu_p - mu_v z_p) / eta)

so that p = mu_p + mu_v z_p during yield.
"""

import math

from grouser.physics.base.kernel import inlined, kernel


@inlined
def visco_plastic_pressure(stiffness, viscosity, plastic_modulus, yield_stress, plastic, depth, rate, step: float):
    """One implicit Euler step in closed form: p is continuous, piecewise linear in z', and never decreases with it.

    Args:
        stiffness, viscosity, plastic_modulus, yield_stress: c_f [N/m3], eta [Pa s/m], mu_v [N/m3], mu_p [Pa].
        plastic: z_p at the start of the step [m].
        depth: z at its end [m].
        rate: z' over the step [m/s].
        step: [s].

    Returns:
        Pressure at the end of the step [Pa], its slope dp/dz' [Pa s/m], and z_p at the end [m].
    """
    # Before contact, at the plastic sinkage, the damper is not strained.
    touched = max(depth - step * rate, plastic)
    slope = step * stiffness + viscosity
    elastic = stiffness * (depth - plastic) + viscosity * (depth - touched) / step
    if elastic <= 0.0:
        return 0.0, 0.0, plastic
    excess = elastic - yield_stress - plastic_modulus * plastic
    if excess <= 0.0:
        return elastic, slope, plastic
    flow = excess / (slope + step * plastic_modulus)
    sunk = plastic + step * flow
    return (
        yield_stress + plastic_modulus * sunk,
        slope * step * plastic_modulus / (slope + step * plastic_modulus),
        sunk,
    )


@kernel
def steady_visco_plastic_pressure(stiffness, viscosity, plastic_modulus, yield_stress, rate, time):
    """Exact solution of a fresh cell pressed down at a constant rate from z = 0.

    Args:
        stiffness, viscosity, plastic_modulus, yield_stress: c_f, eta, mu_v, mu_p; the viscosity above 0.
        rate: z', above 0 [m/s].
        time: since contact, above 0 [s].

    Returns:
        Pressure [Pa] and plastic sinkage [m].
    """
    yields = max(yield_stress - viscosity * rate, 0.0) / (stiffness * rate)
    if time <= yields:
        return stiffness * rate * time + viscosity * rate, 0.0
    # eta z_p' = c_f v t + eta v - mu_p - (c_f + mu_v) z_p: a straight line, approached exponentially.
    total = stiffness + plastic_modulus
    relaxation = total / viscosity
    slope = stiffness * rate / total
    line = (stiffness * rate * yields + viscosity * rate - yield_stress - viscosity * slope) / total
    since = time - yields
    plastic = line + slope * since - line * math.exp(-relaxation * since)
    return yield_stress + plastic_modulus * plastic, plastic
