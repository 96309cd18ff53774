"""Moves a machine with a free base to another pose."""

from dataclasses import astuple
from typing import NamedTuple

import numpy as np

from grouser.physics.base import spatial
from grouser.physics.base.checks import require_quaternion, require_vector
from grouser.physics.base.errors import ParameterError
from grouser.physics.contact.collide import slot_owners
from grouser.physics.contact.slots import forget
from grouser.physics.description.data.pose import Vector3
from grouser.physics.model.multibody import FREE, MultibodyModel
from grouser.physics.simulation.building import Setup
from grouser.physics.simulation.engine import Engine


class BaseCoordinates(NamedTuple):
    """First index of a free base in q and in v; -1 for a fixed one."""

    q: int
    v: int


def base_coordinates(model: MultibodyModel, body: int) -> BaseCoordinates:
    """Coordinates of the base with this body's number, -1 for a fixed base."""
    if body < 0 or model.body_kind[body] != FREE:
        return BaseCoordinates(-1, -1)
    return BaseCoordinates(int(model.body_q[body]), int(model.column_rate[model.column_start[body]]))


def member_bases(setup: Setup) -> list[BaseCoordinates]:
    """Coordinates of the base of each member, or of a machine by itself."""
    machine, model = setup.machine, setup.system.multibody
    if not machine.members:
        return [base_coordinates(model, 0 if machine.floating_base else -1)]
    number = {name: body for body, name in enumerate(setup.elements.body)}
    return [base_coordinates(model, number.get(member.joint, -1)) for member in machine.members]


def place_base(
    engine: Engine,
    base: BaseCoordinates,
    touching: np.ndarray,
    wheels: np.ndarray,
    tracks: np.ndarray,
    position: Vector3,
    quaternion: tuple[float, float, float, float],
    linear: Vector3,
    angular: Vector3,
) -> None:
    """Moves a machine to another pose.

    Clears the memory of its contacts, wheels and tracks, and shifts the balance of energy.

    Args:
        engine: of the simulation.
        base: of the machine.
        touching: whether each collision shape is the machine's, the ground last, (shapes + 1,).
        wheels, tracks: numbers of its wheels and tracks.
        position, quaternion, linear, angular: as of `MachineView.place`.

    Raises:
        ParameterError: the base is fixed, a value is no number or too large, or the quaternion has not length one.
    """
    q, v = base
    if q < 0:
        raise ParameterError("place", position, "for a machine whose base is free; this one's is fixed")
    at, turned = require_vector("position", position, 3, "m"), require_quaternion("quaternion", quaternion)
    speed = np.array(require_vector("linear", linear, 3, "m/s"))
    rate = np.array(require_vector("angular", angular, 3, "rad/s"))
    before = engine.energy()
    unit = np.array(turned) / float(np.linalg.norm(turned))
    system, state, turn = engine.setup.system, engine.state, spatial.matrix(tuple(unit))
    state.q[q : q + 3], state.q[q + 3 : q + 7] = at, unit
    state.v[v : v + 3], state.v[v + 3 : v + 6] = speed @ turn, rate @ turn
    bodies = system.contact.shapes.body[np.flatnonzero(touching[:-1])]
    engine.wake(np.unique(bodies[bodies >= 0]))
    memory = state.contact.memory
    owners, _ = slot_owners(system.contact, memory.slot[: memory.count[0]])
    forget(memory, touching[owners].any(axis=1))
    for array in (state.soil.wheel_motion, state.soil.rim_shear, state.soil.wheel_sinkage, state.soil.wheel_elastic):
        array[wheels[wheels < len(array)]] = 0.0  # Wheels on rigid ground have no rows.
    for track in tracks[tracks < len(system.tracks.body)].tolist():
        first, last = system.tracks.pad_start[track : track + 2]
        state.tracks.shear[first:last] = 0.0
        state.tracks.loose[track] = 0.0
    after = engine.energy()
    state.energy_start[:] += np.array(astuple(after)) - astuple(before)
    engine.clear_outputs()
