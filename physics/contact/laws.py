"""Contact laws: one for each combination of materials that can touch."""

from typing import NamedTuple

import numpy as np

from grouser.physics.description.data.contact import ContactMaterial, MaterialPair
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.world import Ground, Obstacle, World

# Friction where neither material gives one [-].
_DEFAULT_FRICTION = Ground().friction


class ContactLaws(NamedTuple):
    """Laws of contact, one for each distinct combination of materials.

    Attributes:
        friction, restitution: [-].
        rolling, spinning: lever arms of the rolling and spinning resistance, moment per normal force [m].
        stiffness, damping: of a contact point [N/m, N s/m]; stiffness 0 means rigid.
    """

    friction: np.ndarray
    restitution: np.ndarray
    rolling: np.ndarray
    spinning: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray


class _Law(NamedTuple):
    friction: float
    restitution: float
    rolling: float
    spinning: float
    stiffness: float
    damping: float


class LawTable:
    """Collects laws without duplicates.

    Args:
        machine: gives the materials of links, and the material pairs with laws of their own.
        world: gives the materials of the ground and of obstacles.
    """

    def __init__(self, machine: Machine, world: World):
        given = {material.link: material for material in machine.contacts}
        self.links = [given.get(link.name, ContactMaterial(link.name)) for link in machine.links]
        self.obstacles = [_still_material(obstacle) for obstacle in world.obstacles]
        self.ground = _still_material(world.ground or Ground())
        self._pairs: dict[frozenset[str], MaterialPair] = {}
        for pair in machine.material_pairs:
            self._pairs.setdefault(frozenset((pair.first, pair.second)), pair)
        self._index: dict[_Law, int] = {}

    def between(self, one: ContactMaterial, other: ContactMaterial) -> int:
        """Index of the law between two materials."""
        law = combine(one, other)
        pair = self._pairs.get(frozenset((one.material, other.material)))
        if pair is not None and one.material and other.material:
            law = _overridden(law, pair)
        return self._index.setdefault(law, len(self._index))

    def arrays(self) -> ContactLaws:
        """The laws collected so far."""
        table = np.array(list(self._index), dtype=float).reshape(-1, len(_Law._fields))
        laws = ContactLaws(*[np.array(column) for column in table.T])
        for array in laws:
            array.flags.writeable = False
        return laws


def combine(one: ContactMaterial, other: ContactMaterial) -> _Law:
    """Law of two materials without a law for the pair.

    The smaller friction counts, and the larger restitution and resistances. Two springs act in series; the damping
    beside them, c = c1 (k/k1)^2 + c2 (k/k2)^2, dissipates as much as the two dampers at the same spring force.
    Compliant contacts have no restitution.
    """
    frictions = [material.friction for material in (one, other) if material.friction is not None]
    soft = [(material.stiffness, material.damping) for material in (one, other) if material.stiffness]
    stiffness = 1.0 / sum(1.0 / k for k, _ in soft) if soft else 0.0
    return _Law(
        friction=min(frictions, default=_DEFAULT_FRICTION),
        restitution=0.0 if soft else max(one.restitution, other.restitution),
        rolling=max(one.rolling_resistance, other.rolling_resistance),
        spinning=max(one.spinning_resistance, other.spinning_resistance),
        stiffness=stiffness,
        damping=sum(c * (stiffness / k) ** 2 for k, c in soft),
    )


def _overridden(law: _Law, pair: MaterialPair) -> _Law:
    """The law with the values of a material pair; a pair's stiffness comes with its own damping."""
    given = {
        "friction": pair.friction,
        "restitution": pair.restitution,
        "rolling": pair.rolling_resistance,
        "spinning": pair.spinning_resistance,
    }
    law = law._replace(**{name: value for name, value in given.items() if value is not None})
    if pair.stiffness is not None:
        law = law._replace(stiffness=pair.stiffness, damping=pair.damping or 0.0)
    elif pair.damping is not None and law.stiffness > 0.0:
        law = law._replace(damping=pair.damping)
    return law._replace(restitution=0.0) if law.stiffness > 0.0 else law


def _still_material(thing: Ground | Obstacle) -> ContactMaterial:
    """The material of the ground or an obstacle in the form of a link's."""
    return ContactMaterial("", material=thing.material, friction=thing.friction, restitution=thing.restitution)
