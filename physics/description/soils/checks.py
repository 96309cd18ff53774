"""Checks of the parameters of a soil."""

import math
from collections.abc import Iterator

from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.soil import LEVELS, SLIP_SINKAGE, Soil
from grouser.physics.description.soils.schema import BEKKER_KEYS, CELL_KEYS, KEYS, REECE_KEYS, SoilKey
from grouser.physics.description.text.names import closest

# Depths and plate width at which loading and unloading are compared [m].
_DEPTHS = (0.01, 0.1)
_WIDTH = 0.1
# Rounding of angles [rad].
_ROUNDING = 1e-9


def check_soil(soil: Soil) -> None:
    """Checks a soil.

    Raises:
        ParameterError: a parameter is out of range, seems to be in another unit, or contradicts another one. Name and
            value are as written (`friction_angle_deg`).
    """
    if soil.slip_sinkage not in SLIP_SINKAGE:
        raise ParameterError("slip_sinkage", soil.slip_sinkage, closest(str(soil.slip_sinkage), SLIP_SINKAGE))
    for key in KEYS:
        _check_range(key, key.written(soil))
    _check_form(soil)
    _check_repose(soil)
    _check_stress(soil)
    _check_unloading(soil)
    _check_validity(soil)
    missing = _missing_for_cells(soil)
    if missing and len(missing) < len(CELL_KEYS):
        raise ParameterError(missing[0], None, f"cells need all of {', '.join(CELL_KEYS)}")


def check_level(soil: Soil, level: str) -> None:
    """Checks that a soil has the parameters of a contact model.

    Raises:
        ParameterError: a parameter is missing, or the level is unknown.
    """
    if level not in LEVELS:
        raise ParameterError("level", level, closest(level, LEVELS))
    missing = _missing_for_cells(soil) if level == "cells" else ()
    if missing:
        raise ParameterError("level", level, f"soil '{soil.name}' has no {', '.join(missing)}")


def _missing_for_cells(soil: Soil) -> tuple[str, ...]:
    return tuple(name for name in CELL_KEYS if getattr(soil, name) is None)


def _check_range(key: SoilKey, value: float | None) -> None:
    if value is None or (value == math.inf and key.name == "sliding_friction"):
        return
    suspect = 0.0 < value < key.suspect
    if suspect or not key.low <= value <= key.high:
        hinted = key.hint and (suspect or (not key.suspect and value > key.high))
        valid = key.valid_with_unit()
        raise ParameterError(key.name, value, f"{valid}; {key.hint}" if hinted else valid)


def _check_form(soil: Soil) -> None:
    """The pressure-sinkage relation is given in one form, with a stiffness above zero."""
    given = [name for name in REECE_KEYS if getattr(soil, name) is not None]
    if not given:
        if soil.cohesive_modulus + soil.frictional_modulus == 0.0:
            raise ParameterError("frictional_modulus", 0.0, "above 0 where cohesive_modulus is 0")
    elif len(given) < len(REECE_KEYS):
        missing = next(name for name in REECE_KEYS if name not in given)
        raise ParameterError(missing, None, f"Reece's form needs it beside {given[0]}")
    else:
        for name in BEKKER_KEYS:
            if getattr(soil, name) != 0.0:
                valid = "nothing beside reece_k1 and reece_k2: it is of Bekker's form, whose units are others"
                raise ParameterError(name, getattr(soil, name), valid)
        if soil.reece_k1 == soil.reece_k2 == 0.0:
            raise ParameterError("reece_k2", 0.0, "above 0 where reece_k1 is 0")


def _check_repose(soil: Soil) -> None:
    """A plane slope without cohesion fails where it is steeper than the angle of friction, by statics."""
    if soil.cohesion == 0.0 and soil.repose_angle > soil.friction_angle + _ROUNDING:
        friction = math.degrees(soil.friction_angle)
        raise ParameterError(
            "repose_angle_deg",
            round(math.degrees(soil.repose_angle), 9),
            f"without cohesion at most friction_angle_deg, {friction:.6g} degrees: steeper slopes need cohesion",
        )


def _check_stress(soil: Soil) -> None:
    if (soil.slip_sinkage == "exponent") != (soil.slip_exponent > 0.0):
        valid = f"above 0 with slip_sinkage: exponent, and 0 without; slip_sinkage is {soil.slip_sinkage}"
        raise ParameterError("slip_exponent", soil.slip_exponent, valid)
    highest = next(key.high for key in KEYS if key.name == "exponent")
    if soil.exponent + soil.slip_exponent > highest:
        raise ParameterError("slip_exponent", soil.slip_exponent, f"together with the exponent at most {highest:g}")
    if not 0.0 <= soil.max_stress_a0 + soil.max_stress_a1 <= 1.0:
        raise ParameterError("max_stress_a1", soil.max_stress_a1, "max_stress_a0 + max_stress_a1 is from 0 to 1")


def _check_unloading(soil: Soil) -> None:
    """Unloading is stiffer than loading: otherwise the soil would return more energy than it took."""
    for depth, stiffness in _secants(soil):
        if soil.unloading_stiffness + soil.unloading_slope * depth <= stiffness:
            raise ParameterError(
                "unloading_stiffness",
                soil.unloading_stiffness,
                f"with unloading_slope times the depth above {stiffness:.3g} N/m3, the soil's pressure over sinkage at "
                f"{depth:g} m under a plate of {_WIDTH:g} m",
            )


def _secants(soil: Soil) -> Iterator[tuple[float, float]]:
    """Depths [m] with the secant stiffness there, pressure over sinkage [N/m3]."""
    if soil.reece_k1 is None or soil.reece_k2 is None:
        modulus = soil.cohesive_modulus / _WIDTH + soil.frictional_modulus
    else:
        modulus = (soil.reece_k1 + soil.reece_k2 * _WIDTH) / _WIDTH**soil.exponent
    for depth in _DEPTHS:
        yield depth, modulus * depth ** (soil.exponent - 1.0)


def _check_validity(soil: Soil) -> None:
    least, greatest = soil.validity.width
    if not 0.0 <= least <= greatest:
        raise ParameterError("valid_width", soil.validity.width, "least and greatest width [m], 0 or more, rising")
    if not soil.validity.pressure > 0.0:
        raise ParameterError("valid_pressure", soil.validity.pressure, "above 0 Pa")
    if not soil.validity.diameter >= 0.0:
        raise ParameterError("valid_diameter", soil.validity.diameter, "0 m or more")
    if not soil.validity.sinkage > 0.0:
        raise ParameterError("valid_sinkage", soil.validity.sinkage, "above 0, a share of the wheel's diameter")
