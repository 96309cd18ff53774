"""Sinkage of a wheel under its load, and the forces of the soil on it, by the stress integrals."""

import math

from grouser.physics.base.errors import ParameterError
from grouser.physics.base.kernel import kernel
from grouser.physics.description.data.soil import Soil
from grouser.physics.soil.laws import Soils, make_soils, pressure_stiffness, sinkage_exponent
from grouser.physics.soil.stress import GROUSER_SHARE, Motion, WheelStress, rebounded_surface, wheel_stress

# Relative tolerance of the load; far above rounding errors.
_TOLERANCE = 1e-12


@kernel
def sinkage_under_load(soils: Soils, k, radius, width, shear_radius, load, rut, motion, gravity, rim_friction):
    """Sinkage at which soil carries a wheel [m]; NaN if the wheel would sink beyond its axle.

    The load is nearly a power of the depth: the secant method on logarithms finds it in four to eight steps, with
    bisection when it leaves the bracket.

    Args:
        soils, k: the soil.
        radius, width, shear_radius: of the wheel, see `wheel_stress` [m].
        load: [N], at least 0.
        rut: depth to which the soil was pressed before [m].
        motion: of the wheel.
        gravity: normal to the ground [m/s2].
        rim_friction: between the wheel's surface and the soil [-].
    """
    surface = rebounded_surface(soils, k, width, motion.slip, rut)
    if load == 0.0:
        return surface
    low, high = 0.0, radius
    most = wheel_stress(
        soils, k, radius, width, shear_radius, surface + high, rut, 0.0, motion, gravity, rim_friction
    ).normal_force
    if not most >= load:
        return math.nan
    usual = sinkage_exponent(soils, k, motion.slip) + 0.5
    power, last, last_carried = usual, high, most
    depth = high * (load / most) ** (1.0 / power)
    for _ in range(200):
        now = wheel_stress(
            soils, k, radius, width, shear_radius, surface + depth, rut, 0.0, motion, gravity, rim_friction
        )
        carried = now.normal_force
        if abs(carried - load) <= _TOLERANCE * load:
            break
        if carried < load:
            low = depth
        else:
            high = depth
        if not high - low > 1e-15 * (surface + high):
            break
        if carried > 0.0:
            if last_carried > 0.0 and last != depth:
                power = math.log(carried / last_carried) / math.log(depth / last)
            if not 0.1 * usual < power < 10.0 * usual:
                power = usual
            last, last_carried = depth, carried
            depth *= (load / carried) ** (1.0 / power)
        if not (carried > 0.0 and low < depth < high):
            depth = math.sqrt(low * high) if low > 0.0 else 0.1 * high
    return surface + depth


def wheel_on_soil(
    soil: Soil,
    radius: float,
    width: float,
    load: float,
    slip: float = 0.0,
    slip_angle: float = 0.0,
    grouser_height: float = 0.0,
    rut: float = 0.0,
    gravity: float = 9.81,
    rim_friction: float = math.inf,
) -> WheelStress:
    """A wheel that rolls steadily over level soil under a load.

    Args:
        soil: under the wheel.
        radius, width: of the wheel, without grousers [m].
        load: [N].
        slip: (r w - v) / (r w) driving, (r w - v) / v braking: -1 locked, 1 spinning on the spot.
        slip_angle: of its motion against its heading, positive where it moves to its left [rad].
        grouser_height: [m].
        rut: depth to which the soil was pressed before [m].
        gravity: [m/s2].
        rim_friction: between the wheel's surface and the soil; infinite: only the soil's strength limits the shear [-].

    Returns:
        Sinkage, forces and angles.

    Raises:
        ParameterError: a number is not finite or out of its range, the soil carries no load, or the wheel sinks to its
            axle under the load.
    """
    for name, value, low, high, valid in (
        ("radius", radius, math.ulp(0.0), math.inf, "above 0 [m]"),
        ("width", width, math.ulp(0.0), math.inf, "above 0 [m]"),
        ("load", load, 0.0, math.inf, "at least 0 [N]"),
        ("slip", slip, -1.0, 1.0, "from -1 (locked) to 1 (spinning on the spot)"),
        ("slip_angle", slip_angle, -math.radians(89.0), math.radians(89.0), "within 89 degrees, in rad"),
        ("grouser_height", grouser_height, 0.0, math.inf, "at least 0 [m]"),
        ("rut", rut, 0.0, math.inf, "at least 0 [m]"),
        ("gravity", gravity, 0.0, math.inf, "at least 0 [m/s2]"),
    ):
        if not (math.isfinite(value) and low <= value <= high):
            raise ParameterError(name, value, f"a finite number {valid}")
    soils = make_soils((soil,))
    stiffness = pressure_stiffness(soils, 0, width, sinkage_exponent(soils, 0, slip))
    if not (math.isfinite(stiffness) and stiffness > 0.0):
        raise ParameterError(
            f"pressure stiffness of {soil.name} under a width of {width:g} m", stiffness, "k_c / b + k_phi above 0"
        )
    motion = steady_motion(slip, slip_angle)
    shear_radius = radius + GROUSER_SHARE * grouser_height
    sinkage = sinkage_under_load(soils, 0, radius, width, shear_radius, load, rut, motion, gravity, rim_friction)
    if math.isnan(sinkage):
        surface = rebounded_surface(soils, 0, width, slip, rut)
        most = wheel_stress(
            soils, 0, radius, width, shear_radius, surface + radius, rut, 0.0, motion, gravity, rim_friction
        )
        raise ParameterError(
            "load", load, f"at most {max(most.normal_force, 0.0):.6g} N: this wheel sinks into {soil.name} to its axle"
        )
    return wheel_stress(soils, 0, radius, width, shear_radius, sinkage, rut, 0.0, motion, gravity, rim_friction)


def steady_motion(slip: float, slip_angle: float = 0.0) -> Motion:
    """Motion of a wheel that rolls with a slip, from -1 to 1, and a slip angle, within a quarter turn [rad]."""
    rolling, forward = (1.0, 1.0 - slip) if slip >= 0.0 else (1.0 + slip, 1.0)
    sideways = forward * math.tan(slip_angle)
    fastest = max(1.0, abs(sideways))
    return Motion(slip, rolling / fastest, forward / fastest, sideways / fastest, 1.0)
