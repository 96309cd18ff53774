"""Soils by name or by their parameters: presets, changed presets and soils of one's own."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grouser.physics.base.checks import require_type
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.soil import Soil, Validity
from grouser.physics.description.soils.checks import check_soil
from grouser.physics.description.soils.presets import PRESETS
from grouser.physics.description.soils.schema import ALL_KEYS, FLAG_KEYS, KEYS, REECE_KEYS, TEXT_KEYS, VALIDITY_KEYS
from grouser.physics.description.text.names import closest

_OWN_SOURCE = "not said"


def load_soil(description: str | Mapping[str, Any], name: str | None = None) -> Soil:
    """Returns a soil.

    Args:
        description: name of a preset, or the mapping of a world file (docs/soils.md): parameters, and the texts name,
            source and slip_sinkage. The key preset names a preset to change; without it all parameters without default
            are required.
        name: default of the key name; None: the preset's name, or "soil".

    Raises:
        ParameterError: an unknown preset or key; a parameter is missing, out of range, seems to be in another unit, or
            contradicts another one.
    """
    if name is not None:
        require_type("name", name, str, "a text")
    if isinstance(description, str):
        soil = _preset(description)
        return soil if name is None else replace(soil, name=name)
    if not isinstance(description, Mapping):
        raise ParameterError("soil", description, "the name of a soil, or a mapping of its numbers")
    for key in description:
        if key not in ALL_KEYS:
            raise ParameterError("soil", key, f"no such key; {closest(str(key), ALL_KEYS)}")
    texts = {key: _text(key, description[key]) for key in TEXT_KEYS if key in description}
    numbers = {key.name: _number(key.name, description[key.name]) for key in KEYS if key.name in description}
    fields: dict[str, Any] = {key.field: key.held(numbers[key.name]) for key in KEYS if key.name in numbers}
    fields |= {key: text for key, text in texts.items() if key != "preset"}
    fields |= {
        key: require_type(key, description[key], bool, "true or false") for key in FLAG_KEYS if key in description
    }
    if name is not None:
        fields.setdefault("name", name)
    if "preset" in texts:
        base = _preset(texts["preset"])
        fields.setdefault("source", f"changed from {base.name}: {base.source}" if numbers else base.source)
        fields["validity"] = _validity(description, base.validity)
        soil = replace(base, **fields)
    else:
        _require_all(numbers)
        fields = {"name": "soil", "source": _OWN_SOURCE, "frictional_modulus": 0.0, **fields}
        if fields["friction_angle"] == 0.0 and "repose_angle" not in fields:
            raise ParameterError("repose_angle_deg", None, "needed where friction_angle_deg is 0")
        fields.setdefault("repose_angle", fields["friction_angle"])
        soil = Soil(**fields, validity=_validity(description, Validity()))
    check_soil(soil)
    return soil


def _preset(name: str) -> Soil:
    if name not in PRESETS:
        raise ParameterError("preset", name, f"no such soil; {closest(name, PRESETS)}")
    return PRESETS[name].soil


def _require_all(numbers: Mapping[str, float]) -> None:
    if "frictional_modulus" not in numbers and not any(key in numbers for key in REECE_KEYS):
        raise ParameterError("frictional_modulus", None, "needed in Bekker's form, or reece_k1 and reece_k2 in Reece's")
    for key in KEYS:
        if not key.default and key.name not in numbers:
            raise ParameterError(key.name, None, f"needed; {key.valid_with_unit()}")


def _validity(description: Mapping[str, Any], default: Validity) -> Validity:
    width_key, *number_keys = VALIDITY_KEYS
    given: dict[str, Any] = {
        key.removeprefix("valid_"): _number(key, description[key]) for key in number_keys if key in description
    }
    if width_key in description:
        ends = description[width_key]
        if isinstance(ends, str) or not hasattr(ends, "__len__") or len(ends) != 2:
            raise ParameterError(width_key, ends, "two numbers: least and greatest width [m]")
        given["width"] = (_number(width_key, ends[0]), _number(width_key, ends[1]))
    return replace(default, **given)


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ParameterError(key, value, "a text")
    return value


def _number(key: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, bool | str) or not math.isfinite(number):
        raise ParameterError(key, value, "a finite number")
    return number
