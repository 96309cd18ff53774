"""Numerical damping of the elastic parts of a machine by the implicit step."""

from collections.abc import Iterable, Sequence

from grouser.physics.compliance.vibration import Mode, implicit_damping_ratio
from grouser.physics.description.data.machine import Machine
from grouser.physics.readings.measurements import NumericalDamping

# Numerical damping above this share of the critical damping is reported [-].
_NOTABLE_DAMPING = 0.01


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
    known = {*(joint.name for joint in machine.joints), *(loop.name for loop in machine.loop_joints)}
    slowest: dict[str, NumericalDamping] = {}
    for mode in modes:
        energy: dict[str, float] = {}
        for joint, share in mode.energy.items():
            # inside a flexible link the joints are `<link>.k.x` and so on
            part = joint if joint in known else joint.rsplit(".", 2)[0]
            energy[part] = energy.get(part, 0.0) + share
        part = max(energy, key=energy.__getitem__)
        ratio = implicit_damping_ratio(mode.frequency, step) if integrator == "semi_implicit" else 0.0
        slowest.setdefault(part, NumericalDamping(part, mode.frequency, ratio))
    return tuple(slowest.values())


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
