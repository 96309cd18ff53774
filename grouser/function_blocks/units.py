"""Units of what flows along a wire, as powers of base units; angles are numbers, as in SI."""

import re
from collections.abc import Mapping

Unit = tuple[tuple[str, int], ...]  # base unit and power, in the order of names
NUMBER: Unit = ()

_NAMED: Mapping[str, Mapping[str, int]] = {
    "-": {},
    "rad": {},
    "N": {"kg": 1, "m": 1, "s": -2},
    "Pa": {"kg": 1, "m": -1, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
    "W": {"kg": 1, "m": 2, "s": -3},
    "Hz": {"s": -1},
}
_BASE = ("kg", "m", "s", "K", "deg")
_FACTOR = re.compile(r"([A-Za-z]+|-)(-?\d+)?")


def parse_unit(text: str) -> Unit:
    """The unit of a text such as ``m/s2``, ``N m``, ``kg/(m s)`` or ``-``.

    Raises:
        ValueError: it is no unit; says which are known.
    """
    above, *below = text.replace("(", " ").replace(")", " ").split("/")
    powers: dict[str, int] = {}
    for sign, part in ((1, above), *((-1, one) for one in below)):
        for factor in part.split():
            if factor == "1":
                continue
            found = _FACTOR.fullmatch(factor)
            name = found[1] if found else factor
            if not found or not (name in _NAMED or name in _BASE):
                raise ValueError(
                    f"{text!r} is no unit: it is made of {', '.join((*_BASE, *_NAMED))}, as in N m or m/s2"
                )
            for base, power in _NAMED.get(name, {name: 1}).items():
                powers[base] = powers.get(base, 0) + sign * power * int(found[2] or 1)
    return _unit(powers)


def multiplied(one: Unit, other: Unit, power: int = 1) -> Unit:
    """The unit of a product, with the other factor to a power."""
    powers = dict(one)
    for base, exponent in other:
        powers[base] = powers.get(base, 0) + power * exponent
    return _unit(powers)


def unit_text(unit: Unit) -> str:
    """A unit as it is written; one with a name of its own by that name."""
    for name, powers in _NAMED.items():
        if name not in ("rad", "Hz") and _unit(powers) == unit:
            return name
    above = [_factor(base, power) for base, power in unit if power > 0]
    below = [_factor(base, -power) for base, power in unit if power < 0]
    text = " ".join(above) or "1"
    if not below:
        return text
    return f"{text}/{below[0]}" if len(below) == 1 else f"{text}/({' '.join(below)})"


def _factor(base: str, power: int) -> str:
    return base if power == 1 else f"{base}{power}"


def _unit(powers: Mapping[str, int]) -> Unit:
    return tuple(sorted((base, power) for base, power in powers.items() if power))
