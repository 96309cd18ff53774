"""Laws of dry friction at joints: levels that go with the speed, and bristles that bend before they slide.

LuGre (Canudas de Wit, Olsson, Åström and Lischinsky, 1995): z' = v - sigma_0 |v| z / g(v), F = sigma_0 z + sigma_1 z',
with the Stribeck curve g(v) = F_k + (F_s - F_k) exp(-(v / v_s)^2). With g alone it is the law of Stribeck, and with
v_s = 0 that of two levels.
"""

import math

from grouser.physics.base.kernel import inlined, kernel

# Of the search for the level at which a row slides: rounds, and share of the static level at which it ends.
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
def settled_level(static, kinetic, stribeck_speed, speed, level, mobility):
    """Level that goes with the speed to which it leads; the static one where it comes to rest.

    The speed is w + K (level - level'), a way on which each round raises the level, or lowers it, as the one before.

    Args:
        static, kinetic, stribeck_speed: of the law.
        speed: w >= 0, at the present level [m/s or rad/s].
        level: the present one [N or N m].
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
        deflection: z at its start [m or rad].
        speed: v at its end [m/s or rad/s].
        step: h [s].
    """
    return (deflection + step * speed) / (1.0 + step * stiffness * abs(speed) / level)


@inlined
def deflection_slope(stiffness, level, deflection, speed, step):
    """How `deflection_after` grows with the speed, at least 0 [s]; at rest the steeper of both sides."""
    relaxed = 1.0 + step * stiffness * abs(speed) / level
    bent = stiffness * deflection / level
    if speed == 0.0:
        bent = -abs(bent)
    elif speed < 0.0:
        bent = -bent
    return step * max(1.0 - bent, 0.0) / (relaxed * relaxed)
