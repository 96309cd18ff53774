"""What a step makes of the vibrations of the elastic parts of a machine."""

import math
from collections.abc import Iterable, Sequence

from grouser.physics.compliance.vibration import Mode, implicit_damping_ratio
from grouser.physics.description.data.machine import Machine
from grouser.physics.readings.measurements import NumericalDamping

# Numerical damping above this share of the critical damping is reported [-].
_NOTABLE_DAMPING = 0.01
# A vibration with a greater phase in a step is not resolved [rad]: some six steps a period.
_RESOLVED = 1.0
_BECOMES = {
    "semi_implicit": "the step damps them out, and they follow their loads as at rest",
    "implicit_midpoint": "they keep their energy and are slower than they should be",
    "variational": "they keep their energy and are slower than they should be",
}


def numerical_damping(
    machine: Machine, modes: Iterable[Mode], integrator: str, step: float
) -> tuple[NumericalDamping, ...]:
    """Numerical damping of the slowest vibration of each elastic part; only `semi_implicit` adds any.

    Args:
        machine: as described.
        modes: of its vibration, by ascending frequency.
        integrator: of the motion.
        step: its length [s].
    """
    slowest: dict[str, NumericalDamping] = {}
    for part, frequency in _by_part(machine, modes):
        ratio = implicit_damping_ratio(frequency, step) if integrator == "semi_implicit" else 0.0
        slowest.setdefault(part, NumericalDamping(part, frequency, ratio))
    return tuple(slowest.values())


def unresolved_warnings(machine: Machine, modes: Iterable[Mode], integrator: str, step: float) -> tuple[str, ...]:
    """A warning for each flexible link with vibrations that the step does not resolve; arguments as of
    `numerical_damping`."""
    of_links: dict[str, list[float]] = {flexible.link: [] for flexible in machine.flexible_links}
    for part, frequency in _by_part(machine, modes):
        if part in of_links:
            of_links[part].append(frequency)
    limit = _RESOLVED / (2.0 * math.pi * step)
    return tuple(
        f'"{link}": {len(fast)} of its {len(every)} vibrations, from {fast[0]:.3g} Hz on, have fewer than six steps of '
        f"{1e3 * step:g} ms a period: {_BECOMES[integrator]}; a smaller step resolves more of them, and "
        "fewer modes have fewer"
        for link, every in of_links.items()
        if (fast := [frequency for frequency in every if frequency > limit])
    )


def _by_part(machine: Machine, modes: Iterable[Mode]) -> Iterable[tuple[str, float]]:
    """The elastic part with most of the energy of each mode, and the mode's frequency [Hz]."""
    known = {*(joint.name for joint in machine.joints), *(loop.name for loop in machine.loop_joints)}
    links = sorted((flexible.link for flexible in machine.flexible_links), key=len, reverse=True)
    for mode in modes:
        energy: dict[str, float] = {}
        for name, share in mode.energy.items():
            # inside a flexible link they are `<link>.k.x` and so on, or `<link>.bending_z_1` and so on
            part = name
            if name not in known:
                part = next((link for link in links if name.startswith(f"{link}.")), name)
            energy[part] = energy.get(part, 0.0) + share
        yield max(energy, key=energy.__getitem__), mode.frequency


def damping_warnings(damping: Sequence[NumericalDamping], step: float) -> tuple[str, ...]:
    """A warning, if the step damps a vibration notably."""
    damped = [part for part in damping if part.damping_ratio > _NOTABLE_DAMPING]
    if not damped:
        return ()
    worst = max(damped, key=lambda part: part.damping_ratio)
    others = f", and of {len(damped) - 1} more less (numerical_damping() lists them)" if len(damped) > 1 else ""
    warning = (
        f'"{worst.part}": a step of {1e3 * step:g} ms damps its vibration at '
        f"{worst.frequency:.3g} Hz by {worst.damping_ratio:.2g} of the critical damping{others}"
    )
    return (warning,)
