"""Laws of dry friction at joints: friction levels that depend on speed, and bristles that deflect before sliding.

LuGre (Canudas de Wit, Olsson, Åström and Lischinsky, 1995): z' = v - sigma_0 |v| z / g(v), F = sigma_0 z + sigma_1 z',
with the Stribeck curve g(v) = F_k + (F_s - F_k) exp(-(v / v_s)^2). g alone is Stribeck's law; with v_s = 0
it has two levels.
"""

import math

from grouser.physics.base.kernel import inlined, kernel

# Search for the level of a sliding row: most rounds, and tolerance as a share of the static level.
_ROUNDS, _SETTLED = 100, 1e-12


@kernel
def sliding_level(static, kinetic, stribeck_speed, speed):
    """Friction force while sliding [N or N m].

    Args:
        static, kinetic: F_s, F_k [N or N m].
        stribeck_speed: v_s [m/s or rad/s]; 0: the kinetic level at any speed.
        speed: v [m/s or rad/s], of either sign.
    """
    if stribeck_speed == 0.0:
        return kinetic
    share = speed / stribeck_speed
    return kinetic + (static - kinetic) * math.exp(-share * share)


@kernel
def consistent_level(static, kinetic, stribeck_speed, speed, level, mobility):
    """Level consistent with the speed that results from it; the static level at rest.

    Fixed-point iteration with the speed w + K (level - level'); it converges monotonically.

    Args:
        static, kinetic, stribeck_speed: of the law.
        speed: w >= 0, at the current level [m/s or rad/s].
        level: current level [N or N m].
        mobility: K, speed per force over the step.
    """
    found = level
    for _ in range(_ROUNDS):
        after = sliding_level(static, kinetic, stribeck_speed, max(speed + mobility * (level - found), 0.0))
        change = abs(after - found)
        found = after
        if change <= _SETTLED * static:
            break
    return found


@inlined
def deflection_after(stiffness, level, deflection, speed, step):
    """z at the end of a step, implicit Euler [m or rad].

    Args:
        stiffness: sigma_0 [N/m or N m/rad].
        level: g at the speed [N or N m].
        deflection: z at the start [m or rad].
        speed: v at the end [m/s or rad/s].
        step: h [s].
    """
    return (deflection + step * speed) / (1.0 + step * stiffness * abs(speed) / level)


@inlined
def deflection_slope(stiffness, level, deflection, speed, step):
    """Derivative of `deflection_after` by the speed, at least 0 [s]; at rest the greater of both sides."""
    relaxed = 1.0 + step * stiffness * abs(speed) / level
    bent = stiffness * deflection / level
    if speed == 0.0:
        bent = -abs(bent)
    elif speed < 0.0:
        bent = -bent
    return step * max(1.0 - bent, 0.0) / (relaxed * relaxed)
