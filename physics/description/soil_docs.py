"""Writes docs/soils.md from the presets and from the table of a soil's numbers, so that the page cannot lag behind.

python -m grouser.docs_pages.soils > docs/soils.md
"""

import math
import sys
from collections.abc import Iterator

from grouser.physics.description.data.soil import Soil
from grouser.physics.description.soils.presets import PRESETS, Preset
from grouser.physics.description.soils.schema import KEYS, SoilKey

_INTRODUCTION = """# Soils

A world says what its ground is made of by the name of a soil, by changes to one, or by all its numbers
(`ground.soil` in [world_files.md](world_files.md)); so does Python:

```python
sand = grouser.load_soil("dry_sand")
damp = grouser.load_soil({"preset": "dry_sand", "cohesion": 2500, "density": 1750})
```

A number that is out of range, looks like another unit (kPa, mm, radians) or contradicts another one is refused with its
name, its value and what is valid.

This page is made from the tables that the reader works by (`physics/description/soils/presets.py`, `soil_schema.py`).

## What the numbers are

Under a plate whose smaller side is b, pressure and sinkage z follow p = (k_c / b + k_phi) z^n (Bekker), or
p = (k_1 + k_2 b) (z / b)^n (Wong and Reece). The moduli of one form mean nothing in the other, and their units differ:
a soil has those of one, and which it has says which form is meant. It shears with
(c + p tan phi) (1 - exp(-j / K)) at the shear displacement j.

Such numbers are fitted to plates, mostly under loads and widths of vehicles. What they hold for is part of a soil, and
of a wheel beyond it one warning says so, once:

- wheels of half a metre of diameter and more: smaller ones sink otherwise than plates (Meirion-Griffith and Spenko,
  J. Terramechanics 48, 2011). Soils whose numbers were compared with a smaller wheel hold for that one, too;
- sinkage up to a third of the diameter (Bekker 1969);
- widths and pressures, where a source says within which it measured. Most do not, which is no promise.

## Soils that come along
"""

_CHOSEN = """
### Where they come from

What a source does not give is chosen here, and named below; the angle of repose is then the angle of friction.
"""

_KEYS_INTRODUCTION = """
## Keys of a soil

A number without default is needed, unless a `preset` is changed: then only what is named changes. The four numbers of
a cell go together, and the level `cells` needs them. Unloading must be stiffer than loading.

How sinkage grows with slip s is `none`, `exponent`: n + n_1 abs(s) (Ding et al. 2011), or `lyasko`:
z (1 + s) / (1 - 0.5 s) (Lyasko 2010).

| key | unit | default | valid | meaning |
|---|---|---|---|---|
| `preset` | - | none | a soil of this page | soil whose numbers hold where no other is given |
| `name` | - | that in `types`, the preset's, or soil | a text | what messages call it |
| `source` | - | the preset's | a text | where its numbers come from |
| `slip_sinkage` | - | none | none, exponent or lyasko | how sinkage grows with slip |"""

_VALIDITY = """| `valid_width` | m | not said | least and greatest, rising | of what the numbers were measured with |
| `valid_pressure` | Pa | not said | above 0 | greatest pressure that they were measured with |
| `valid_diameter` | m | not said | 0 or more | least of a wheel |
| `valid_sinkage` | - | 1/3 | above 0 | greatest of a wheel, over its diameter (Bekker 1969) |
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
Sinkage grows with slip on {", ".join(names)} alone: on the others a wheel that spins hardly digs itself in."""


def _validity(soil: Soil) -> str:
    (least, greatest), pressure = soil.validity.width, soil.validity.pressure
    widths = f"widths of {least:g} to {greatest:g} m" if math.isfinite(greatest) else "widths not said"
    pressures = f"pressures {f'up to {pressure:g} Pa' if math.isfinite(pressure) else 'not said'}"
    wheels = f"wheels of {soil.validity.diameter:g} m diameter or more" if soil.validity.diameter else "wheels not said"
    return f"{wheels}, {widths}, {pressures}"


def _written(field: str) -> str:
    return next(key.name for key in KEYS if key.field == field)


def _row(key: SoilKey) -> str:
    return f"| `{key.name}` | {key.unit} | {key.default or 'needed'} | {key.valid()} | {key.meaning} |"


if __name__ == "__main__":
    sys.stdout.write(soils_page())
