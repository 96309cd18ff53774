"""Transitions between states."""

from grouser.nodes.services.host import RunState
from grouser.nodes.services.request_error import Reason, RequestError

_TARGETS = (RunState.STOPPED, RunState.PLAYING, RunState.PAUSED, RunState.QUITTING)
_WITHOUT_WORLD = (RunState.NO_WORLD, RunState.LOADING_WORLD)


def check_transition(present: RunState, number: int, stepping: bool = False) -> RunState:
    """The requested state, checked.

    Args:
        present: the state now.
        number: of the requested state.
        stepping: whether a paused simulation makes requested steps, which another pause ends.

    Raises:
        RequestError: it cannot be requested, cannot follow the present one, or is the present one.
    """
    if number not in _TARGETS:
        valid = ", ".join(f"{state.value} ({state.name.lower()})" for state in _TARGETS)
        raise RequestError(Reason.INCORRECT_TRANSITION, f"state {number} cannot be asked for; valid: {valid}")
    target = RunState(number)
    if present is RunState.QUITTING and target is not present:
        raise RequestError(Reason.INCORRECT_TRANSITION, "the simulator is quitting")
    if target is present and not stepping:
        raise RequestError(Reason.ALREADY_IN_TARGET_STATE, f"already {target.name.lower()}")
    if present in _WITHOUT_WORLD and target is not RunState.QUITTING:
        what = "no world is loaded" if present is RunState.NO_WORLD else "a world is being loaded"
        raise RequestError(Reason.INCORRECT_TRANSITION, what)
    return target
