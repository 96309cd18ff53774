"""Which machines the integrators of second order are for: what acts on them must not start and stop."""

from grouser.physics.base.errors import MachineError
from grouser.physics.base.refusal import SMOOTH, Refused
from grouser.physics.integrators.context import System, refused_by_rooms


def check_smooth(system: System, integrator: str, file: str) -> None:
    """Refuses a system with anything that an integrator has no place for.

    Args:
        system: the machine.
        integrator: "implicit_midpoint" or "variational".
        file: of the machine, to blame.

    Raises:
        MachineError: names the first such thing.
    """
    refused: Refused = {what: by for what, by in refused_by_rooms(system).items() if integrator in by}
    if not refused:
        return
    # what no such integrator can have comes first: there another one would not help
    what = min(refused, key=lambda name: refused[name] != SMOOTH)
    kind, other = ("mechanisms", "semi_implicit") if refused[what] == SMOOTH else ("trees", "implicit_midpoint")
    raise MachineError(
        f"the integrator {integrator} is for smooth {kind}, and there are {what}",
        file=file,
        remedy=f"use the integrator {other}",
    )
