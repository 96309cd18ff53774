"""Writes docs/soils.md from the presets and the table of the parameters of a soil.

python -m grouser.docs_pages.soils > docs/soils.md
"""

import math
import sys
from collections.abc import Iterator

from grouser.physics.description.data.soil import Soil
from grouser.physics.description.soils.presets import PRESETS, Preset
from grouser.physics.description.soils.schema import KEYS, SoilKey

_INTRODUCTION = """# Soils

A world file gives the soil of its ground by name, by changes to a named soil, or by all parameters (`ground.soil` in
[world_files.md](world_files.md)). The same works in Python:

```python
sand = grouser.load_soil("dry_sand")
damp = grouser.load_soil({"preset": "dry_sand", "cohesion": 2500, "density": 1750})
```

A parameter that is out of range, seems to be in another unit (kPa, mm, radians) or contradicts another one is refused.
The message gives its name, its value and the valid values.

This page is generated from the tables in `physics/description/soils/` (`presets.py`, `schema.py`).

## Meaning of the parameters

Under a plate whose smaller side is b, pressure and sinkage z follow p = (k_c / b + k_phi) z^n (Bekker), or
p = (k_1 + k_2 b) (z / b)^n (Wong and Reece). The moduli of the two forms have different units: a soil has those of one
form, which selects the form. The shear stress at the shear displacement j is (c + p tan phi) (1 - exp(-j / K)).

The parameters are fitted to plate tests, mostly with loads and widths of vehicles. Each soil has a range of validity;
the first wheel outside of it causes one warning:

- wheels with a diameter of at least 0.5 m: smaller ones sink differently from plates (Meirion-Griffith and Spenko,
  J. Terramechanics 48, 2011). Soils that were compared with a smaller wheel are valid for that wheel, too;
- sinkage up to a third of the diameter (Bekker 1969);
- the measured widths and pressures, if the source gives them. Most sources do not.

## Presets
"""

_CHOSEN = """
### Sources

Parameters that a source does not give are chosen, and listed below; a chosen angle of repose is the angle of friction.
"""

_KEYS_INTRODUCTION = """
## Keys of a soil

A number without default is required. With `preset`, only the given keys change. The level `cells` requires the four
parameters of a cell, which are given together. Unloading must be stiffer than loading.

How sinkage grows with slip s is `none`, `exponent`: n + n_1 abs(s) (Ding et al. 2011), or `lyasko`:
z (1 + s) / (1 - 0.5 s) (Lyasko 2010).

| key | unit | default | valid | meaning |
|---|---|---|---|---|
| `preset` | - | none | a soil of this page | soil whose parameters are the defaults |
| `name` | - | that in `types`, the preset's, or soil | a text | name in messages |
| `source` | - | the preset's | a text | source of the parameters |
| `slip_sinkage` | - | none | none, exponent or lyasko | how sinkage grows with slip |"""

_VALIDITY = """| `lumps` | - | false | true or false | whether what tools cut becomes [grains](digging.md#lumps) |
| `valid_width` | m | not given | least and greatest, rising | measured widths of plates or wheels |
| `valid_pressure` | Pa | not given | above 0 | largest measured pressure |
| `valid_diameter` | m | not given | 0 or more | least diameter of a wheel |
| `valid_sinkage` | - | 1/3 | above 0 | largest sinkage of a wheel over its diameter (Bekker 1969) |
"""


def soils_page() -> str:
    """Returns the text of docs/soils.md."""
    return "\n".join(
        [
            _INTRODUCTION,
            *_presets(),
            _CHOSEN,
            *(line for preset in PRESETS.values() for line in _source(preset)),
            _slip_sinkage(),
            _KEYS_INTRODUCTION,
            *(_row(key) for key in KEYS),
            _VALIDITY,
        ]
    )


def _presets() -> Iterator[str]:
    yield "| soil | form | k_c or k_1 | k_phi or k_2 | n | c [Pa] | phi [degree] | K [m] | density [kg/m3] | cells |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for name, preset in PRESETS.items():
        soil = preset.soil
        form, first, second = _form(soil)
        numbers = (first, second, soil.exponent, soil.cohesion, math.degrees(soil.friction_angle))
        more = (soil.shear_displacement_modulus, soil.density)
        cells = [f"{value:.6g}" for value in (*numbers, *more)]
        yield f"| `{name}` | {form} | {' | '.join(cells)} | {'no' if soil.soil_stiffness is None else 'yes'} |"


def _form(soil: Soil) -> tuple[str, float, float]:
    if soil.reece_k1 is None or soil.reece_k2 is None:
        return "Bekker", soil.cohesive_modulus, soil.frictional_modulus
    return "Reece", soil.reece_k1, soil.reece_k2


def _source(preset: Preset) -> Iterator[str]:
    soil = preset.soil
    yield f"- **`{soil.name}`**: {soil.source}."
    yield f"  Validity: {_validity(soil)}. Chosen: {', '.join(f'`{_written(field)}`' for field in preset.chosen)}."


def _slip_sinkage() -> str:
    names = [f"`{name}`" for name, preset in PRESETS.items() if preset.soil.slip_sinkage != "none"]
    return f"""
Sinkage grows with slip on {", ".join(names)} only: on other soils a spinning wheel hardly digs in."""


def _validity(soil: Soil) -> str:
    (least, greatest), pressure = soil.validity.width, soil.validity.pressure
    widths = f"widths of {least:g} to {greatest:g} m" if math.isfinite(greatest) else "widths not given"
    pressures = f"pressures {f'up to {pressure:g} Pa' if math.isfinite(pressure) else 'not given'}"
    diameter = soil.validity.diameter
    wheels = f"wheels of {diameter:g} m diameter or more" if diameter else "wheels not given"
    return f"{wheels}, {widths}, {pressures}"


def _written(field: str) -> str:
    return next(key.name for key in KEYS if key.field == field)


def _row(key: SoilKey) -> str:
    return f"| `{key.name}` | {key.unit} | {key.default or 'required'} | {key.valid()} | {key.meaning} |"


if __name__ == "__main__":
    sys.stdout.write(soils_page())
