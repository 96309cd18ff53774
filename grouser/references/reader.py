"""Reader of `config/references/<experiment>.yaml`.

    heading: published           # or reference
    source: Strashnov and Mironenko (2023), ...
    standing: The figure is a picture; a converged solution stands in.
    free: [step, scheme]
    cases:
      published:
        parameters: {load_mass: 100.0}
        checks:
          - values: {steady_speed: 0.2313, period: 1.2}
            relative: 0.002
          - table: {slip: [0.1, 0.3], torque: [2.3, 4.2]}
            absolute: {torque: 0.01}
          - trends: {resistance: falls}
          - file: hydraulic_lift.csv
            columns: {t: time, xp: position}
            absolute: 1.0e-4

A tolerance is one number for all, or by address. The first column of a table or file is the one that the others are
over. `units` are those of a publication, where they are not SI units. Numbers of a file are read by its headings;
`columns` says which result each is.
"""

import csv
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from grouser.physics.base.errors import ParameterError
from grouser.references.data import Case, Column, References, Table, Tolerance, Trend, Value
from grouser.resources import share_path

_KEYS = {"heading", "source", "standing", "free", "cases"}
_CHECK_KEYS = {"values", "trends", "table", "file", "columns", "relative", "absolute", "units"}
_HEADINGS = ("published", "reference")
# Units of publications by the SI unit.
_UNITS = {"deg": math.degrees(1.0), "in": 1.0 / 0.0254, "lbf": 1.0 / 4.4482216152605, "lbf ft": 1.0 / 1.3558179483314}
TABLE = "a CSV file with one line of headings and lines with as many numbers"


def load_references(experiment: str) -> References:
    """Returns the references of an experiment.

    Raises:
        FileNotFoundError: there are none.
        ParameterError: the file is not as it has to be.
    """
    return read_references(share_path("config", "references", f"{experiment}.yaml"))


def read_references(path: Path) -> References:
    """Returns the references in a file.

    Raises:
        ParameterError: the file is not as it has to be.
    """
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        if not isinstance(document, dict) or set(document) - _KEYS:
            raise ValueError(f"a mapping with the keys {', '.join(sorted(_KEYS))}")
        if document["heading"] not in _HEADINGS:
            raise ValueError("heading: " + " or ".join(_HEADINGS))
        cases = tuple(_case(path.parent, name, entry) for name, entry in document["cases"].items())
        return References(
            document["heading"], " ".join(document["source"].split()), " ".join(document.get("standing", "").split()),
            tuple(document.get("free", ())), cases,
        )  # fmt: skip
    except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as problem:
        raise ParameterError("reference file", str(path), f"a file of references ({problem})") from None


def read_columns(path: Path, name: str = "--reference") -> dict[str, np.ndarray]:
    """Returns the columns of a CSV file with one line of headings.

    Args:
        path: of the file.
        name: of the parameter that names it, for messages.

    Raises:
        ParameterError: it cannot be read, or a line does not hold one number per heading.
    """
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            lines = [line for line in csv.reader(stream) if line and not line[0].lstrip().startswith("#")]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ParameterError(name, str(path), f"a CSV file that can be read ({error})") from None
    if len(lines) < 2:
        raise ParameterError(name, str(path), TABLE)
    try:
        numbers = np.array([[float(cell) for cell in line] for line in lines[1:]])
    except ValueError:
        raise ParameterError(name, str(path), TABLE) from None
    if numbers.ndim != 2 or numbers.shape[1] != len(lines[0]):
        raise ParameterError(name, str(path), TABLE)
    return {heading.strip(): numbers[:, column] for column, heading in enumerate(lines[0])}


def _case(folder: Path, name: str, entry: Mapping[str, Any]) -> Case:
    values: list[Value] = []
    tables: list[Table] = []
    trends: list[Trend] = []
    for check in entry["checks"]:
        if set(check) - _CHECK_KEYS:
            raise ValueError(f"case {name}: a check has the keys {', '.join(sorted(_CHECK_KEYS))}")
        if "values" in check:
            values += [
                Value(address, expected, _tolerance(check, address), *_unit(check, address))
                for address, expected in check["values"].items()
            ]
            continue
        if "trends" in check:
            trends += [Trend(address, direction) for address, direction in check["trends"].items()]
            continue
        if "file" in check:
            read = read_columns(folder / check["file"], check["file"])
            found = {address: read[heading] for heading, address in check["columns"].items()}
        else:
            found = {address: np.array(numbers, dtype=float) for address, numbers in check["table"].items()}
        across, *others = (
            Column(address, numbers, _tolerance(check, address), *_unit(check, address))
            for address, numbers in found.items()
        )
        if len({len(column.values) for column in (across, *others)}) != 1:
            raise ValueError(f"case {name}: the columns of a table have one length")
        tables.append(Table(across, tuple(others)))
    return Case(name, entry.get("parameters") or {}, tuple(values), tuple(tables), tuple(trends))


def _tolerance(check: Mapping[str, Any], address: str) -> Tolerance:
    def number(key: str) -> float:
        given = check.get(key, 0.0)
        return float(given.get(address, 0.0) if isinstance(given, dict) else given)

    return Tolerance(number("relative"), number("absolute"))


def _unit(check: Mapping[str, Any], address: str) -> tuple[float, str]:
    """Factor from the SI unit to that of the reference, and its name."""
    unit = check.get("units", {}).get(address, "")
    if unit and unit not in _UNITS:
        raise ValueError(f"units: {', '.join(_UNITS)}; not {unit!r}")
    return _UNITS.get(unit, 1.0), unit
