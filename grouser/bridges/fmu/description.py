"""What an FMU says of itself, as far as a bridge needs it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

from grouser.physics.base.errors import ParameterError

if TYPE_CHECKING:
    from fmpy.model_description import ModelDescription

# Types of both versions -> those of version 3, and the values that they hold exactly as a double.
_TYPES = {"Real": "Float64", "Integer": "Int32"}
_LIMITS: dict[str, tuple[float, float] | None] = {
    "Float64": None,
    "Float32": (-(2.0 - 2.0**-23) * 2.0**127, (2.0 - 2.0**-23) * 2.0**127),
    "Int32": (-(2**31), 2**31 - 1),
    "Int64": (-(2**53), 2**53),
    "Boolean": (0, 1),
}
VERSIONS = ("2", "3")


@dataclass(frozen=True)
class FmuVariable:
    """A variable of an FMU.

    Attributes:
        name: of the variable.
        type: Float64, Float32, Int32, Int64 or Boolean.
        causality: input, output, parameter and so on.
        reference: by which the FMU knows it.
        unit: its name; "" without one.
    """

    name: str
    type: str
    causality: str
    reference: int
    unit: str = ""

    def __str__(self) -> str:
        return self.name

    @property
    def limits(self) -> tuple[float, float] | None:
        """Values that it can hold; None: any double."""
        return _LIMITS[self.type]


@dataclass(frozen=True)
class FmuDescription:
    """An FMU for co-simulation.

    Attributes:
        file: its path.
        version: of FMI, 2 or 3.
        identifier: of its library.
        token: by which it is instantiated.
        variables: by name, those that a bridge can use.
        unusable: name -> why a bridge cannot use the variable.
        has_variable_step: whether its communication step may change.
        fixed_step: its only communication step [s]; None: any.
    """

    file: Path
    version: int
    identifier: str
    token: str
    variables: Mapping[str, FmuVariable]
    unusable: Mapping[str, str]
    has_variable_step: bool
    fixed_step: float | None


def read_description(file: Path) -> FmuDescription:
    """Reads the description in an FMU. Nothing in it is run.

    Raises:
        ValueError: it is no FMU, or of a kind that a bridge cannot step; says why.
        ParameterError: the package that reads it is not installed.
    """
    try:
        from fmpy.model_description import read_model_description
    except ModuleNotFoundError:
        raise ParameterError("FMU", "without the Python package fmpy", 'after pip install "grouser[fmi]"') from None
    try:
        read = read_model_description(str(file))
    except (OSError, BadZipFile, KeyError) as error:
        raise ValueError(f"it cannot be read: {error}") from None
    except Exception as error:  # noqa: BLE001 - what the reader raises for a description that breaks the standard
        raise ValueError(f"its description is not valid: {' '.join(str(error).split())[:200]}") from None
    version = read.fmiVersion.partition(".")[0]
    if version not in VERSIONS:
        raise ValueError(f"it is of FMI {read.fmiVersion}; valid: 2.0 and 3.0")
    if read.coSimulation is None:
        kinds = {"Model Exchange": read.modelExchange, "Scheduled Execution": read.scheduledExecution}
        names = " and ".join(name for name, kind in kinds.items() if kind is not None)
        raise ValueError(f"it is for {names} only; valid: Co-Simulation")
    variables, unusable = _variables(read)
    return FmuDescription(
        file=file,
        version=int(version),
        identifier=read.coSimulation.modelIdentifier,
        token=read.guid,
        variables=variables,
        unusable=unusable,
        has_variable_step=read.coSimulation.canHandleVariableCommunicationStepSize,
        fixed_step=read.coSimulation.fixedInternalStepSize,
    )


def _variables(read: "ModelDescription") -> tuple[dict[str, FmuVariable], dict[str, str]]:
    usable, unusable = {}, {}
    for variable in read.modelVariables:
        kind = _TYPES.get(variable.type, variable.type)
        if variable.dimensions:
            unusable[variable.name] = "it is an array"
        elif variable.clocks:
            unusable[variable.name] = "it belongs to a clock"
        elif kind not in _LIMITS:
            unusable[variable.name] = f"it is of type {variable.type}; valid: {', '.join(_LIMITS)}"
        else:
            unit = variable.unit or ""
            causality = variable.causality or "local"
            usable[variable.name] = FmuVariable(variable.name, kind, causality, variable.valueReference, unit)
    return usable, unusable
