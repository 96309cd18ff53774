"""Stress integrals: stresses of soil under a rolling wheel and their resultant forces, without cells.

After Bekker (1969), Wong and Reece (1967), Janosi and Hanamoto (1961), Ishigami et al. (2007). Angles theta are
measured from the wheel's lowest point, forward positive; the entry angle is theta_1, the exit angle theta_2, and the
greatest pressure at theta_m = (a_0 + a_1 |s|) theta_1:

    p(theta) = K z^n,  z = z_0 - r (1 - cos theta)                                      in front of theta_m
    p(theta) = p(theta_1 - (theta - theta_2) / (theta_m - theta_2) (theta_1 - theta_m))          behind it

Soil that was pressed to the depth z_u before follows p = p_u - (k_0 + A_u z_u) (z_u - z) up to z_u (Wong).

The rim slides over the soil with r_s w - v cos theta along the wheel and v_y across it. The contact time follows from
the fastest of the motions: dt = r dtheta / max(r w, v, |v_y|). With a, b, c the speeds r w, v, v_y over the greatest of
them,

    j_x = r_s a (theta_1 - theta) - r b (sin theta_1 - sin theta),  j_y = r c (theta_1 - theta).

For a driven wheel a = 1, b = 1 - s, the published form; for a braked one b = 1, a = 1 + s. Both are finite for
spinning and locked wheels. Both directions share the soil's strength (Jia et al. 2012):

    (tau_x, tau_y) = (c + p tan phi) (1 - exp(-J)) / J (j_x / K_x, j_y / K_y),  J = |(j_x / K_x, j_y / K_y)|.

The stress is within the strength in any direction; for straight motion it is the law of Janosi and Hanamoto.
"""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.soil.laws import Soils, pressure_stiffness, shear_strength, sinkage_exponent, sinkage_growth

# Share of a grouser's height that adds to the shear radius: r_s = r + h (Jia et al. 2012).
GROUSER_SHARE = 1.0
# Greatest theta_m as a share of theta_1: closer to the entry no soil would carry the wheel.
_FOREMOST = 0.95
# Gauss-Legendre nodes over 0 to 1, for each smooth piece of each half of the contact. They are squared, from the edge
# of the contact inwards: near the edge p is proportional to a power n, which is not a polynomial.
_NODES = 8
_PLACES, _WEIGHTS = (0.5 * (np.polynomial.legendre.leggauss(_NODES)[i] + (1.0, 0.0)[i]) for i in range(2))


class Motion(NamedTuple):
    """Motion of a wheel over the soil.

    Attributes:
        slip: s, in -1 to 1: (r w - v) / (r w) driving, (r w - v) / v braking.
        rolling, forward, sideways: a, b, c: speed of the rim, of the wheel along and across, over the fastest of them;
            all smaller while the wheel starts to move.
        rolled: 1 for a rolling wheel, 0 for one pressed straight down: the contact is then symmetric to front and rear.
    """

    slip: float
    rolling: float
    forward: float
    sideways: float
    rolled: float


class WheelStress(NamedTuple):
    """Forces of soil on a wheel; axes at its centre: x ahead, y along its axle, z away from the soil.

    Attributes:
        sinkage: z_0, of the wheel's lowest point [m].
        entry_angle, exit_angle: theta_1 and theta_2 [rad].
        normal_force: W [N].
        thrust: H, by shear [N].
        resistance: R, by pressure [N].
        drawbar_pull: H - R, the force along x [N].
        torque: T of the soil's shear against the rotation [N m].
        side_force: along y, by shear and by soil that is pushed aside [N].
        tilting_moment, aligning_moment: of the side force about x and z [N m].
        peak_pressure, peak_shear: the latter at theta_m and the nodes, up to 5 % below the greatest between them [Pa].
        rebound_energy: elastic energy of the pressed soil, which a rise of the wheel sets free [J].
    """

    sinkage: float
    entry_angle: float
    exit_angle: float
    normal_force: float
    thrust: float
    resistance: float
    drawbar_pull: float
    torque: float
    side_force: float
    tilting_moment: float
    aligning_moment: float
    peak_pressure: float
    peak_shear: float
    rebound_energy: float


class _Press(NamedTuple):
    """Pressure law of the soil under the wheel.

    Attributes:
        stiffness, exponent: K and n of p = K z^n.
        rut, rut_pressure: z_u and p_u.
        reloading: slope of the pressure below z_u [N/m3].
        surface: depth of the soil's surface in front [m].
        unloading, unloading_slope: k_0 and A_u.
    """

    stiffness: float
    exponent: float
    rut: float
    rut_pressure: float
    reloading: float
    surface: float
    unloading: float
    unloading_slope: float


@kernel
def _press_of(soils: Soils, k, width, slip, rut):
    """Pressure law of soil k under a slipping wheel, in a rut."""
    exponent = sinkage_exponent(soils, k, slip)
    # A wheel's load is proportional to z^(n + 1/2): pressure times contact length.
    softer = sinkage_growth(soils, k, slip) ** (exponent + 0.5)
    stiffness = pressure_stiffness(soils, k, width, exponent) / softer
    unloading, slope = soils.unloading_stiffness[k], soils.unloading_slope[k]
    if rut <= 0.0:
        return _Press(stiffness, exponent, 0.0, 0.0, unloading, 0.0, unloading, slope)
    pressure = stiffness * rut**exponent
    # Soil does not rebound above its original level.
    reloading = max(unloading + slope * rut, pressure / rut)
    return _Press(stiffness, exponent, rut, pressure, reloading, rut - pressure / reloading, unloading, slope)


@kernel
def rebounded_surface(soils: Soils, k, width, slip, rut):
    """Depth of the surface of soil that was pressed to `rut` before, after its elastic rebound [m]."""
    return _press_of(soils, k, width, slip, rut).surface


@inlined
def _pressure(press, depth):
    """Pressure at a depth [Pa]."""
    # At the edge of the contact rounding makes the depth negative.
    if depth <= 0.0:
        return 0.0
    if depth < press.rut:
        pressure = press.rut_pressure - press.reloading * (press.rut - depth)
        return 0.0 if pressure < 0.0 else pressure
    return press.stiffness * depth**press.exponent


@inlined
def _remaining_share(modulus, pressure, lift):
    """Remaining share of pressure and strength after the wheel has risen by `lift` [-]."""
    if lift == 0.0:
        return 1.0
    kept = 1.0 - modulus * lift / pressure
    return 0.0 if kept < 0.0 else kept


@inlined
def _displaced(angle, rise, rolled, moved, across):
    """Shear displacement since entry over its moduli, along and across the wheel, and its length, never 0.

    Args:
        angle, rise: theta_1 - theta; sin theta_1 - sin theta.
        rolled, moved, across: r_s a / K_x, r b / K_x, r c / K_y.
    """
    x, y = rolled * angle - moved * rise, across * angle
    return x, y, math.sqrt(x * x + y * y) + 1e-300


@kernel
def _shear_reversal(entry, exit_, rolling, forward):
    """Angle at which j_x of a braked wheel changes sign; `entry` if it does not.

    There rolling (theta_1 - theta) = forward (sin theta_1 - sin theta).
    """
    if not rolling < forward or not math.cos(entry) * forward < rolling:
        return entry
    steepest = math.acos(rolling / forward)
    end, angle = math.sin(entry), max(2.0 * steepest - entry, exit_)
    # Newton's method on a convex function; the split of the integral need not be exact.
    for _ in range(3):
        missed = rolling * (entry - angle) - forward * (end - math.sin(angle))
        slope = forward * math.cos(angle) - rolling
        angle = min(max(angle - missed / slope, exit_), 0.5 * (steepest + angle))
    return angle if angle > exit_ else entry


@kernel
def wheel_stress(soils: Soils, k, radius, width, shear_radius, sinkage, rut, lift, motion, gravity, rim_friction):
    """Forces of soil on a wheel at a sinkage.

    Args:
        soils, k: the soil.
        radius, width: of the wheel [m].
        shear_radius: r_s, at which the soil shears: the radius plus `GROUSER_SHARE` of the grouser height [m].
        sinkage: greatest depth of the wheel's lowest point below the undisturbed ground [m].
        rut: z_u, depth to which the soil in front was pressed before [m]; 0 for fresh soil.
        lift: rise of the wheel since its greatest depth without rolling on, at least 0 [m]; each point of the contact
            follows its own unloading line.
        motion: of the wheel.
        gravity: normal to the ground [m/s2].
        rim_friction: between the wheel's surface and the soil [-].

    Returns:
        `WheelStress`; all zero where the wheel does not touch the soil.
    """
    slip = motion.slip
    press = _press_of(soils, k, width, slip, rut)
    entered = sinkage - press.surface
    if entered <= 0.0:
        return WheelStress(sinkage, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    versine = min(entered / radius, 1.0)
    entry = 2.0 * math.asin(math.sqrt(0.5 * versine))
    peak = motion.rolled * min(max(soils.max_stress_a0[k] + soils.max_stress_a1[k] * abs(slip), 0.0), _FOREMOST) * entry
    if math.isnan(soils.exit_angle_ratio[k]):
        exit_ = -2.0 * math.asin(math.sqrt(0.5 * min(soils.exit_ratio[k] * versine, 1.0)))
    else:
        exit_ = -min(soils.exit_angle_ratio[k] * entry, 0.5 * math.pi)
    exit_ = motion.rolled * exit_ - (1.0 - motion.rolled) * entry
    front, rear = entry - peak, peak - exit_

    # Kinks of the integrand, as shares of each half, from the edge of the contact.
    old, back = 1.0, 1.0
    if 0.0 < press.rut < sinkage:
        kink = 2.0 * math.asin(math.sqrt(0.5 * min((sinkage - press.rut) / radius, 1.0)))
        old = min(max((entry - kink) / front, 0.0), 1.0)
    turn = _shear_reversal(entry, exit_, shear_radius / radius * motion.rolling, motion.forward)
    if turn < entry:
        back = (entry - turn) / front if turn > peak else (turn - exit_) / rear
    first, second = math.sqrt(min(old, back)), math.sqrt(max(old, back))

    sideways = abs(motion.sideways)
    angle = math.atan2(sideways, abs(motion.forward))
    along = 1.0 / (soils.shear_modulus[k] + soils.shear_slope[k] * angle)
    across = radius * motion.sideways / (soils.lateral_modulus[k] + soils.lateral_slope[k] * angle)
    rolled, moved = along * shear_radius * motion.rolling, along * radius * motion.forward
    end = math.sin(entry)
    # Hegedus: soil that is pushed aside slides along a plane at 45 deg - phi/2; this is its cotangent.
    steepness = soils.friction[k] + math.sqrt(1.0 + soils.friction[k] ** 2)
    of_cohesion = 2.0 * steepness * soils.cohesion[k]
    of_weight = steepness * (steepness + steepness**2 * soils.friction[k]) * soils.density[k] * gravity

    depth = sinkage - 2.0 * radius * math.sin(0.5 * peak) ** 2
    pressure = _pressure(press, depth)
    modulus = press.unloading + press.unloading_slope * depth
    softness = 0.5 / modulus
    kept = _remaining_share(modulus, pressure, lift)
    greatest = kept * pressure
    _, _, far = _displaced(entry - peak, end - math.sin(peak), rolled, moved, across)
    most = kept * shear_strength(soils, k, pressure, rim_friction) * (1.0 - math.exp(-far))
    load, thrust, resistance, shear, side, tilting, aligning, rebound = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    start = 0.0
    for piece in range(3):
        stop = first if piece == 0 else second if piece == 1 else 1.0
        if stop <= start:
            continue
        for node in range(_NODES):
            place = start + (stop - start) * _PLACES[node]
            share, weight = place * place, 2.0 * place * (stop - start) * _WEIGHTS[node]
            mirrored = entry - share * front
            depth = sinkage - 2.0 * radius * math.sin(0.5 * mirrored) ** 2
            pressure = _pressure(press, depth)
            if press.unloading_slope > 0.0:
                modulus = press.unloading + press.unloading_slope * depth
                softness = 0.5 / modulus
            kept = _remaining_share(modulus, pressure, lift)
            strength = kept * shear_strength(soils, k, pressure, rim_friction)
            pressure *= kept
            others = load
            for half in range(2):
                theta = mirrored if half == 0 else exit_ + share * rear
                area = weight * (front if half == 0 else rear)
                sine, cosine = math.sin(theta), math.cos(theta)
                x, y, far = _displaced(entry - theta, end - sine, rolled, moved, across)
                mobilised = (1.0 - math.exp(-far)) / far
                pull = strength * mobilised * x
                load += area * (radius * width * pressure * cosine + shear_radius * width * pull * sine)
                resistance += area * pressure * sine
                thrust += area * pull * cosine
                shear += area * pull
                most = max(most, strength * mobilised * far)
                if sideways > 0.0:
                    height = max(sinkage - lift - radius * (1.0 - cosine), 0.0)
                    bulldozed = height * (of_cohesion + of_weight * height) * (radius - height * cosine)
                    push = area * mobilised * y * (radius * width * strength + bulldozed)
                    side += push
                    tilting += push * cosine
                    aligning += push * sine
            # p / k is the height by which this place springs back, and the force falls to zero along it
            rebound += (load - others) * pressure * softness
        start = stop
    return WheelStress(
        sinkage,
        entry,
        exit_,
        load,
        shear_radius * width * thrust,
        radius * width * resistance,
        width * (shear_radius * thrust - radius * resistance),
        shear_radius**2 * width * shear,
        -side,
        -radius * tilting,
        -radius * aligning,
        greatest,
        most,
        rebound,
    )
