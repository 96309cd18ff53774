"""Clumps outside of the step: their rows of the state, and what is read of them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from grouser.physics.base.spatial import cross_products, matrix
from grouser.physics.description.data.clump import ClumpShape
from grouser.physics.granular.arrays import OF_CLUMPS, State
from grouser.physics.granular.clump_births import random_turn

_WIDTHS = {"clump_position": 3, "clump_turn": 4, "clump_velocity": 4, "clump_momentum": 3, "clump_inertia": 3}


class Clumps(NamedTuple):
    """Clumps now; velocities and momenta belong to half a step before the positions.

    Attributes:
        position: of the centres of mass [m], (clumps, 3).
        orientation: quaternions of the principal axes (x, y, z, w), (clumps, 4).
        velocity: of the centres of mass [m/s], (clumps, 3).
        angular_momentum: about the centres of mass, world axes [N m s], (clumps, 3).
        mass: [kg], (clumps,).
        inertia: principal moments [kg m2], (clumps, 3).
    """

    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    angular_momentum: np.ndarray
    mass: np.ndarray
    inertia: np.ndarray


def clumps_of(state: State) -> Clumps:
    """The clumps of a state, copied."""
    position, turn, velocity, momentum, inertia = (
        getattr(state, name)[: int(state.clumps[0])].copy() for name in OF_CLUMPS
    )
    return Clumps(position, turn, velocity[:, :3], momentum, 1.0 / velocity[:, 3], inertia)


def momentum_of(state: State, step: float) -> np.ndarray:
    """Linear momentum of all grains, and angular momentum about the world's origin [N s, N m s], (6,).

    Args:
        state: of the grains.
        step: of the contacts [s].
    """
    rows = np.arange(len(state.ident))
    lone = (rows < state.number[0]) & (state.ident >= 0) & (state.clump < 0)
    turning, clumps = state.spin[lone, 3:], clumps_of(state)
    # an infinite inertia has no finite momentum: it is left out
    own = np.divide(state.spin[lone, :3], turning, out=np.zeros((len(turning), 3)), where=turning > 0.0)
    velocity = np.concatenate([state.velocity[lone, :3], clumps.velocity])
    mass = np.concatenate([1.0 / state.velocity[lone, 3], clumps.mass])
    place = np.concatenate([state.position[lone, :3], clumps.position]) - 0.5 * step * velocity
    linear = mass[:, np.newaxis] * velocity
    angular = np.concatenate([own, clumps.angular_momentum]) + cross_products(place, linear)
    return np.concatenate([linear.sum(axis=0), angular.sum(axis=0)])


def plain_rows(rows: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Rows of grains that are no spheres of clumps: with numbers, and without clumps."""
    n = len(rows["position"])
    none = {name: np.zeros((0, width)) for name, width in _WIDTHS.items()}
    return {**rows, "ident": np.arange(n), "clump": np.full(n, -1), "offset": np.zeros((n, 3)), **none}


def clump_rows(shape: ClumpShape, rows: Mapping[str, np.ndarray], turn: np.ndarray) -> dict[str, np.ndarray]:
    """Rows of clumps and of their spheres.

    Args:
        shape: of all.
        rows: those of spheres of the same volumes and material at the places of the clumps.
        turn: quaternions of their principal axes, (clumps, 4).
    """
    body, n = shape.body, len(turn)
    size, spin = rows["position"][:, 3:], rows["spin"][:, :3]
    velocity = rows["velocity"] / (1.0, 1.0, 1.0, shape.relative_mass)
    axes = _matrices(turn)
    offset = (size[:, np.newaxis] * body.centre).reshape(-1, 3)
    clump = np.repeat(np.arange(n), len(body.radius))
    arm = np.einsum("nij,nj->ni", axes[clump], offset)
    radius = (size * body.radius).ravel()
    mass = np.tile(shape.shares, n) / velocity[clump, 3]
    inertia = body.inertia * size**2 / velocity[:, 3:]
    momentum = np.einsum("nij,nj->ni", axes, inertia * np.einsum("nji,nj->ni", axes, spin))
    return {
        "position": np.column_stack([rows["position"][clump, :3] + arm, radius]),
        "velocity": np.column_stack([velocity[clump, :3] + cross_products(spin[clump], arm), 1.0 / mass]),
        "spin": np.column_stack([spin[clump], 2.5 / (mass * radius**2)]),
        "material": rows["material"][clump],
        "ident": np.arange(len(clump)),
        "clump": clump,
        "offset": offset,
        "clump_position": rows["position"][:, :3],
        "clump_turn": turn,
        "clump_velocity": velocity,
        "clump_momentum": momentum,
        "clump_inertia": inertia,
    }


def joined(kinds: Sequence[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Rows of several kinds of grains, numbered in succession."""
    grains = clumps = 0
    for rows in kinds:
        rows["ident"] = rows["ident"] + grains
        rows["clump"] = np.where(rows["clump"] >= 0, rows["clump"] + clumps, -1)
        grains, clumps = grains + len(rows["ident"]), clumps + len(rows["clump_position"])
    return {name: np.concatenate([rows[name] for rows in kinds]) for name in kinds[0]}


def random_turns(count: int, seed: int) -> np.ndarray:
    """Quaternions of random rotations, (count, 4)."""
    # numbers of their own: those of `filling` begin with the same seed
    numbers = np.random.default_rng((seed, 1)).uniform(size=(count, 3))
    return np.array([random_turn(*one) for one in numbers.tolist()])


def _matrices(turn: np.ndarray) -> np.ndarray:
    """Rotation matrices of quaternions, (n, 3, 3)."""
    return np.array([matrix(one) for one in turn])
