"""Check of a machine for the second-order integrators: what acts on it must not start and stop."""

from grouser.physics.base.errors import MachineError
from grouser.physics.base.refusal import SMOOTH, Refused
from grouser.physics.integrators.context import System, refused_by_rooms


def check_smooth(system: System, integrator: str, file: str) -> None:
    """Rejects a system with anything that an integrator cannot simulate.

    Args:
        system: the machine.
        integrator: "implicit_midpoint" or "variational".
        file: of the machine, for the error.

    Raises:
        MachineError: names the first such element.
    """
    refused: Refused = {what: by for what, by in refused_by_rooms(system).items() if integrator in by}
    if not refused:
        return
    # what no smooth integrator can simulate comes first: for it, another smooth integrator is no remedy
    what = min(refused, key=lambda name: refused[name] != SMOOTH)
    kind, other = ("mechanisms", "semi_implicit") if refused[what] == SMOOTH else ("trees", "implicit_midpoint")
    raise MachineError(
        f"the integrator {integrator} is for smooth {kind}, and there are {what}",
        file=file,
        remedy=f"use the integrator {other}",
    )
