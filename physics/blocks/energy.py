"""Energies of an assembly."""

from typing import NamedTuple

from grouser.physics.blocks.system import BREAKING, DAMPING, FRICTION, State, System


class Energy(NamedTuple):
    """Energies and losses since the start [J].

    Attributes:
        kinetic: of motion, rotation and vibration.
        strain: in the blocks.
        springs: in joints and contacts.
        potential: of weights and loads, from the places where the blocks were made.
        damping, friction, breaking: lost.
    """

    kinetic: float
    strain: float
    springs: float
    potential: float
    damping: float
    friction: float
    breaking: float

    @property
    def total(self) -> float:
        """All together: constant where no driven block does work."""
        return sum(self)


def read_energy(system: System, before: State, after: State, springs: float, load_work: float) -> Energy:
    """Energies at the positions of a state.

    The kinetic energy is that of the product of the speeds half a step before and after: with it the sum is constant in
    linear motion without damping (central differences).

    Args:
        system: of the assembly.
        before: the state.
        after: the state a step later.
        springs: energy of joints and contacts at the positions of the state [J].
        load_work: of loads since the start [J].
    """
    bodies, lost = system.bodies, before.lost
    moving = bodies.mass @ ((before.velocity * after.velocity).sum(axis=1) + (before.rate * after.rate).sum(axis=1))
    turning = (before.angular_momentum * after.angular_velocity).sum()
    return Energy(
        0.5 * float(moving + turning),
        0.5 * float((bodies.stiffness * before.q**2).sum()),
        springs,
        -float(bodies.mass @ (before.displacement @ system.laws.gravity)) - load_work,
        float(lost[DAMPING]),
        float(lost[FRICTION]),
        float(lost[BREAKING]),
    )
