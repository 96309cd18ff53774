"""Grains that are given from outside: their rows of the state, which they enter and leave."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grouser.physics.base.checks import (
    VALUE_MAX,
    require_count,
    require_items,
    require_quaternion,
    require_size,
    require_type,
)
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.clump import ClumpShape
from grouser.physics.description.data.granular import MOST_GRAINS, WIDEST_RANGE, GrainMaterial
from grouser.physics.granular.arrays import OF_CLUMPS, State, with_capacity
from grouser.physics.granular.clumps import clump_rows, joined, plain_rows, random_turns


@dataclass(frozen=True)
class Grains:
    """Spheres, or clumps of one shape, at the start.

    Attributes:
        position: of the centres [m], (grains, 3); of clumps the centres of mass.
        radius: [m], one for all or (grains,); of clumps that of a sphere of their volume.
        material: name, one for all or one each.
        velocity: [m/s], (grains, 3); None: at rest.
        spin: angular velocity [rad/s], (grains, 3); None: none.
        turns: whether they may turn; else their inertia is infinite. Clumps do.
        shape: of clumps; None: spheres.
        orientation: of clumps: quaternions of their principal axes (x, y, z, w), (grains, 4); None: random.
        seed: of random orientations.
    """

    position: np.ndarray
    radius: float | np.ndarray
    material: str | Sequence[str]
    velocity: np.ndarray | None = None
    spin: np.ndarray | None = None
    turns: bool = True
    shape: ClumpShape | None = None
    orientation: np.ndarray | None = None
    seed: int = 1


def grain_rows(grains: Grains | Sequence[Grains], materials: Sequence[GrainMaterial]) -> dict[str, np.ndarray]:
    """Checked rows of the state, of grains, spheres of clumps, and clumps.

    Raises:
        ParameterError: names the value, and what is valid.
    """
    rows = joined([_rows(kind, materials) for kind in _kinds(grains)])
    require_count("number of grains and of the spheres of clumps", len(rows["position"]), 1, MOST_GRAINS)
    radius = rows["position"][:, 3]
    if radius.max() > WIDEST_RANGE * radius.min():
        spread = f"{radius.min():g} to {radius.max():g} m"
        raise ParameterError(
            "radius", spread, f"radii of which the largest is at most {WIDEST_RANGE:g} times the least"
        )
    return rows


def least_share(grains: Grains | Sequence[Grains]) -> float:
    """Least effective mass of a sphere of a clump by that of the sphere alone, at most 1 [-]."""
    return min([1.0, *(kind.shape.least_share for kind in _kinds(grains) if kind.shape is not None)])


def require_no_larger(radius: np.ndarray, most: float) -> None:
    """Refuses radii [m] above that of the largest grain for which there are lists."""
    if radius.max() > most:
        raise ParameterError("radius", radius.max(), f"at most {most:g} m, that of the largest grain at the start")


def with_more_grains(state: State, rows: dict[str, np.ndarray]) -> tuple[State, np.ndarray]:
    """A copy of a state with more grains behind its own, without contacts yet, and their numbers.

    Args:
        state: of the grains.
        rows: as of `grain_rows`.
    """
    n, clumps, more, clumped = (
        int(state.number[0]),
        int(state.clumps[0]),
        *map(len, (rows["ident"], rows["clump_turn"])),
    )
    new = with_capacity(state, n + more, len(state.pair_other), len(state.boundary_shape), clumps + clumped)
    new = State(*(array.copy() for array in new))
    numbers = rows["ident"] + state.born[0]
    rows = {**rows, "ident": numbers, "clump": np.where(rows["clump"] < 0, -1, rows["clump"] + clumps)}
    for name, values in rows.items():
        begin = clumps if name in OF_CLUMPS else n
        getattr(new, name)[begin : begin + len(values)] = values
    new.still[n:], new.asleep[n:], new.rest[n:] = 0, False, np.inf
    new.pair_start[n + 1 :], new.boundary_start[n + 1 :] = new.pair_start[n], new.boundary_start[n]
    new.number[0], new.clumps[0], new.stale[0] = n + more, clumps + clumped, 1
    new.born[0] += more
    return new, numbers


def mark_removed(state: State, numbers: np.ndarray | Sequence[int]) -> float:
    """Marks grains, and all spheres of their clumps, to be removed when the lists are built again.

    Args:
        state: of the grains.
        numbers: of the grains.

    Returns:
        Their mass [kg].

    Raises:
        ParameterError: there is no such grain.
    """
    given, n = np.asarray(numbers), int(state.number[0])
    ident, clump = state.ident[:n], state.clump[:n]
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ParameterError("numbers of grains", given.dtype, "a list of whole numbers, of `ident`")
    unknown = given[(given < 0) | ~np.isin(given, ident)]
    if unknown.size:
        raise ParameterError("number of a grain", int(unknown[0]), "one of `ident`")
    gone = np.isin(ident, given)
    gone |= (clump >= 0) & np.isin(clump, clump[gone])
    mass = float((1.0 / state.velocity[:n][gone, 3]).sum())
    ident[gone] = -1
    state.stale[0] = 1
    return mass


def _kinds(grains: Grains | Sequence[Grains]) -> list[Grains]:
    return [grains] if isinstance(grains, Grains) else list(require_items("grains", grains, Grains, "Grains"))


def _rows(grains: Grains, materials: Sequence[GrainMaterial]) -> dict[str, np.ndarray]:
    """Checked rows of one kind of grains."""
    position = np.asarray(grains.position, dtype=float)
    if position.ndim != 2 or position.shape[1] != 3 or not np.isfinite(position).all():
        raise ParameterError("position", position.shape, "(grains, 3), finite [m]")
    n = require_count("number of grains", len(position), 1, MOST_GRAINS)
    radius = np.broadcast_to(np.asarray(grains.radius, dtype=float), (n,))
    for one in (radius.min(), radius.max()):
        require_size("radius", one)
    names = [one.name for one in materials]
    chosen = [grains.material] * n if isinstance(grains.material, str) else list(grains.material)
    if len(chosen) != n or set(chosen) - set(names):
        raise ParameterError("material", chosen[:3], f"one for all or for each grain, of {', '.join(names)}")
    material = np.array([names.index(name) for name in chosen])
    mass = np.array([one.density for one in materials])[material] * 4.0 / 3.0 * math.pi * radius**3
    turning = 2.5 / (mass * radius**2) if grains.turns else np.zeros(n)
    rows = {
        "position": np.column_stack([position, radius]),
        "velocity": np.column_stack([_vectors("velocity", grains.velocity, n), 1.0 / mass]),
        "spin": np.column_stack([_vectors("spin", grains.spin, n), turning]),
        "material": material,
    }
    return plain_rows(rows) if grains.shape is None else _clump_rows(grains, grains.shape, rows)


def _clump_rows(grains: Grains, shape: ClumpShape, rows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    require_type("shape of grains", shape, ClumpShape, "a ClumpShape")
    if not grains.turns:
        raise ParameterError("turns", False, "true for clumps")
    n = len(rows["position"])
    if grains.orientation is None:
        return clump_rows(shape, rows, random_turns(n, require_count("seed", grains.seed, 0, 2**63 - 1)))
    turn = np.asarray(grains.orientation, dtype=float)
    if turn.shape != (n, 4):
        raise ParameterError("orientation", turn.shape, f"({n}, 4), quaternions (x, y, z, w)")
    return clump_rows(shape, rows, np.array([require_quaternion("orientation", one) for one in turn]))


def _vectors(name: str, given: np.ndarray | None, n: int) -> np.ndarray:
    if given is None:
        return np.zeros((n, 3))
    vectors = np.asarray(given, dtype=float)
    if vectors.shape != (n, 3) or not (np.abs(vectors) <= VALUE_MAX).all():
        raise ParameterError(name, vectors.shape, f"({n}, 3), finite")
    return vectors
