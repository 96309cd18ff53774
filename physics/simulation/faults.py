"""Faults by name, with checks of their values."""

import math
from collections.abc import Iterator, Mapping

import numpy as np

from grouser.physics.base.checks import as_float
from grouser.physics.base.errors import ParameterError
from grouser.physics.hydraulics.faults import Fault
from grouser.physics.model.command import Command
from grouser.physics.simulation.named_view import require_name


def check_fault(fault: Fault, value: object, scheme: str) -> bool | float:
    """A value as the fault's type.

    Raises:
        ParameterError: it is out of range, or the scheme of the hydraulics does not support the fault.
    """
    number = _as_number(fault, value)
    if not fault.lowest <= number <= fault.highest:
        raise ParameterError(fault.full_name, value, fault.valid)
    if number != 0.0 and not fault.plain and scheme != "implicit":
        valid = f"{fault.healthy}, as the scheme '{scheme}' does not support this fault; 'implicit' does"
        raise ParameterError(fault.full_name, value, valid)
    return number if fault.unit else bool(number)


def _as_number(fault, value):
    """The value as a number, or NaN if it has not the type of the fault (a number or a truth value)."""
    if fault.unit:
        return as_float(value)
    return float(value) if isinstance(value, bool | np.bool_ | int) and value in (0, 1) else math.nan


class FaultMap(Mapping):
    """The faults of each component: ``simulation.faults["boom_valve"]["stuck_spool"] = True``.

    Faults stay, also over a reset, until they are set to their healthy value (0 or False), or all by `clear`.

    Args:
        catalogue: all possible faults.
        command: buffer of the faults.
        scheme: of the hydraulics; the plain ones support only some faults.

    Attributes:
        catalogue: the same, with units and ranges.
    """

    def __init__(self, catalogue: tuple[Fault, ...], command: Command, scheme: str):
        self.catalogue = catalogue
        self._components: dict[str, ComponentFaults] = {}
        for fault in self.catalogue:
            component = self._components.setdefault(fault.component, ComponentFaults(fault.component, command, scheme))
            component.known[fault.name] = fault

    @property
    def active(self) -> dict[tuple[str, str], bool | float]:
        """Component and name of each fault that is not at its healthy value -> its value."""
        return {
            (component, name): value
            for component, faults in self._components.items()
            for name, value in faults.items()
            if value != faults.known[name].healthy
        }

    def clear(self) -> tuple[str, ...]:
        """Clears all faults.

        Returns:
            Faults that were active, as ``faults.<component>.<fault>``.
        """
        mended = [self[component].known[name] for component, name in self.active]
        for fault in mended:
            self[fault.component][fault.name] = fault.healthy
        return tuple(fault.full_name for fault in mended)

    def __getitem__(self, component: str) -> "ComponentFaults":
        return self._components[require_name("faulty component", component, self._components)]

    def __contains__(self, component: object) -> bool:
        return isinstance(component, str) and component in self._components

    def __iter__(self) -> Iterator[str]:
        return iter(self._components)

    def __len__(self) -> int:
        return len(self._components)


class ComponentFaults(Mapping):
    """The faults of one component, by name; see `FaultMap`.

    Attributes:
        known: description of each fault.
    """

    def __init__(self, component: str, command: Command, scheme: str):
        self.known: dict[str, Fault] = {}
        self._component, self._command, self._scheme = component, command, scheme

    def __setitem__(self, name: str, value: bool | float) -> None:
        fault = self._fault(name)
        getattr(self._command, fault.field)[fault.place] = check_fault(fault, value, self._scheme)

    def __getitem__(self, name: str) -> bool | float:
        fault = self._fault(name)
        return getattr(self._command, fault.field)[fault.place].item()

    def _fault(self, name):
        return self.known[require_name(f"fault of {self._component}", name, self.known)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.known

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)
