"""The errors that grouser raises: each names the subject, its value and the valid values."""

_SHOWN = 120  # characters of a value


def shown(value: object) -> str:
    """A value in messages: on one line and shortened."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 - a value of any class, whose text may fail in any way
        return f"a value of the type {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 20]} ... {text[-15:]}"


class GrouserError(Exception):
    """Base of every error that a user can cause and can correct."""


class MachineError(GrouserError):
    """A machine or world description that cannot be loaded.

    Args:
        problem: what is wrong, with the offending value and what is valid.
        file: path of the file with the problem, when known.
        line: 1-based line number in that file, when known.
        element: tag (and name) of the element, for instance ``<joint name="boom">``, when known.
        remedy: how to correct it, when the problem does not say so itself.
    """

    def __init__(self, problem, *, file=None, line=None, element=None, remedy=None):
        self.problem = problem
        self.file = None if file is None else str(file)
        self.line = line
        self.element = element
        self.remedy = remedy
        super().__init__(self._text())

    def _text(self):
        place = ""
        if self.file is not None:
            place = self.file if self.line is None else f"{self.file}:{self.line}"
        if self.element is not None:
            place = f"{place}: {self.element}" if place else self.element
        text = f"{place}: {self.problem}" if place else self.problem
        return f"{text} ({self.remedy})" if self.remedy else text


class OverlapError(MachineError):
    """A machine that would be placed inside another one or an obstacle."""


class ParameterError(GrouserError, ValueError):
    """A parameter, command or name that is out of its valid range or unknown.

    Args:
        name: the parameter, joint, valve or link.
        value: the value given.
        valid: the valid range or the valid names, in words.
    """

    def __init__(self, name, value, valid):
        self.name = name
        self.value = value
        self.valid = valid
        super().__init__(f"{name} = {shown(value)} is not valid: {valid}")


class BusyError(GrouserError):
    """A simulation that another thread steps or changes at this moment."""

    def __init__(self):
        super().__init__(
            "another thread steps or changes this simulation: let one thread at a time call its methods, or give each "
            "thread its own simulation (`Simulation.batch` makes copies)"
        )


class StateError(GrouserError):
    """A request that the present state of the simulation does not allow."""


class DivergenceError(GrouserError):
    """The state of the simulation is not finite.

    Args:
        time: simulation time of the step that failed [s].
        joint: name of the first joint, cylinder or valve whose state is not finite.
        value: that value.
    """

    def __init__(self, time, joint, value):
        self.time = time
        self.joint = joint
        self.value = value
        super().__init__(
            f"the simulation diverged at t = {time:.6f} s: {joint} has the value {value}; "
            "try a smaller step, or check the masses, stiffnesses and volumes around it"
        )


class ConvergenceError(GrouserError):
    """A step that did not converge, not even in shorter parts.

    Args:
        time: start of the step [s].
        part: length of the step, or of the shortest part that was tried [s].
        problem: cause and remedy, where the step was not divided into parts.
    """

    def __init__(self, time, part, problem=None):
        self.time = time
        self.part = part
        if problem is None:
            text = f"did not converge, not even in parts of {part:.3g} s"
        else:
            text = f"of {part:.3g} s did not converge: {problem}"
        super().__init__(f"the step at t = {time:.6f} s {text}")
