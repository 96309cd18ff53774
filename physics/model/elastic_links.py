"""Elastic links as a whole: the masses that their coordinates move, as stations, and the shapes of these as tables.

The dynamics of a step need of a station only its mass, not a body with columns of its own. Such stations are bodies
behind all others, *carried* ones, which only readings place.
"""

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base import spatial
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import ElasticShape, Inertial, Joint
from grouser.physics.description.data.pose import Vector3

# Fields of a machine that mention a link without acting on it, or whose links are looked at one by one.
_NOT_ACTING = {"links", "joints", "disabled_collisions", "flexible_links"}


class ElasticLinks(NamedTuple):
    """The elastic links, with the stations that make up their mass; vectors are in the axes of the link.

    Attributes:
        carried: number of the first carried body; the number of bodies if there is none, (1,).
        body: that carries the link's frame, -1 for the world, (links,).
        rotation, position: the link's frame in the body's frame, (links, 3, 3) and (links, 3) [m].
        q, rate, size: first index of its coordinates in q and in v, and their number, (links,).
        station_start: stations of link l are station_start[l] to station_start[l + 1].
        row_start: coordinate a of station p of link l has row row_start[l] + (p - station_start[l]) size[l] + a.
        turned: first and last (exclusive) coordinate with a part in r, (links, 2).
        turns: whether a station has rotary inertia, (links,).
        moved: first and last (exclusive) coordinate with a part in each component of t and r, (links, 6, 2).
        bent: first and last (exclusive) coordinate with a part in H, (links, 2).
        shape: t, then r of each row, component by component, (6, rows).
        shortening_start, shortening: H of station p from shortening[shortening_start[p]] on, row by row, of the
            coordinates in `bent` [m].
        place: of the straight link, (stations, 3) [m].
        axis: e, (stations, 3).
        contraction: c, (stations,) [1/m].
        mass: (stations,) [kg].
        inertia: about the place, xx xy xz yy yz zz, (stations, 6) [kg m2].
    """

    carried: np.ndarray
    body: np.ndarray
    rotation: np.ndarray
    position: np.ndarray
    q: np.ndarray
    rate: np.ndarray
    size: np.ndarray
    station_start: np.ndarray
    row_start: np.ndarray
    turned: np.ndarray
    turns: np.ndarray
    moved: np.ndarray
    bent: np.ndarray
    shape: np.ndarray
    shortening_start: np.ndarray
    shortening: np.ndarray
    place: np.ndarray
    axis: np.ndarray
    contraction: np.ndarray
    mass: np.ndarray
    inertia: np.ndarray


class LinkCoordinates(NamedTuple):
    """Where the coordinates of an elastic link are.

    Attributes:
        q, rate: first index in q and in v.
        size: their number.
    """

    q: int
    rate: int
    size: int


def carried_joints(machine: Machine) -> set[str]:
    """Fixed joints on elastic links with nothing beyond them but masses and visuals.

    The mass is that of the joint's child, with its centre at the joint: others stay bodies of the tree.
    """
    elastic = {link.name for link in machine.links if link.elastic}
    if not elastic:
        return set()
    links, beyond = {link.name: link for link in machine.links}, {link.name: [] for link in machine.links}
    for joint in machine.joints:
        beyond[joint.parent].append(joint)
    acting = set(_texts(getattr(machine, one.name) for one in fields(machine) if one.name not in _NOT_ACTING))

    def is_carried(joint: Joint, on_link: bool) -> bool:
        link = links[joint.child]
        massless = link.inertial is None or (on_link and link.inertial.pose.position == (0.0, 0.0, 0.0))
        still = joint.type == "fixed" and joint.name not in acting and link.name not in acting
        shaped = bool(link.collisions or link.elastic)
        return still and massless and not shaped and all(is_carried(one, False) for one in beyond[link.name])

    return {joint.name for joint in machine.joints if joint.parent in elastic and is_carried(joint, True)}


def _texts(value: Any) -> Iterator[str]:
    """All texts in a tree of data."""
    if isinstance(value, str):
        yield value
    elif is_dataclass(value):
        for one in fields(value):
            yield from _texts(getattr(value, one.name))
    elif isinstance(value, dict):
        yield from _texts(value.keys())
        yield from _texts(value.values())
    elif isinstance(value, Iterable) and not isinstance(value, np.ndarray):
        for one in value:
            yield from _texts(one)


def elastic_links(
    machine: Machine, carried: list[Joint], coordinates: dict[str, LinkCoordinates], pose: dict[str, Any], bodies: int
) -> ElasticLinks:
    """Tables of the elastic links.

    Args:
        machine: the description.
        carried: the carried joints.
        coordinates: of each elastic link.
        pose: body, rotation and position of each link.
        bodies: number of bodies that are not carried.
    """
    inertials = {link.name: link.inertial for link in machine.links}
    on_link: dict[str, list[_Station]] = {name: [] for name in coordinates}
    for joint in carried:
        inertial, shape = inertials[joint.child], joint.elastic_shape
        if inertial is not None and shape is not None:
            on_link[joint.parent].append(_station(joint, shape, inertial, coordinates[joint.parent].size))
    counts = [coordinates[name].size for name in on_link]
    sizes = [len(own) for own in on_link.values()]
    stations = [one for own in on_link.values() for one in own]
    shapes = [
        np.reshape([one.shape for one in own], (-1, n, 6)) for own, n in zip(on_link.values(), counts, strict=True)
    ]
    bent = [
        _extent(np.reshape([one.shortening for one in own], (-1, n)))
        for own, n in zip(on_link.values(), counts, strict=True)
    ]
    parts = [
        one.shortening[first:last, first:last].ravel()
        for own, (first, last) in zip(on_link.values(), bent, strict=True)
        for one in own
    ]
    bodies_of, rotations, positions = zip(*(pose[name] for name in on_link), strict=True) if on_link else ((), (), ())
    return ElasticLinks(
        carried=np.array([bodies]),
        body=np.array(bodies_of, dtype=np.int64),
        rotation=np.reshape(rotations, (-1, 3, 3)).astype(float),
        position=np.reshape(positions, (-1, 3)).astype(float),
        q=_places([coordinates[name].q for name in on_link]),
        rate=_places([coordinates[name].rate for name in on_link]),
        size=_places(counts),
        station_start=_places(np.cumsum([0, *sizes])),
        row_start=_places(np.cumsum([0, *(n * size for n, size in zip(counts, sizes, strict=True))])),
        turned=_places([_extent(np.abs(own[:, :, 3:]).sum(axis=2)) for own in shapes]).reshape(-1, 2),
        turns=np.array([any(one.inertia.any() for one in own) for own in on_link.values()], dtype=np.bool_),
        moved=_places([[_extent(own[:, :, k]) for k in range(6)] for own in shapes]).reshape(-1, 6, 2),
        bent=_places(bent).reshape(-1, 2),
        shape=np.hstack([np.zeros((6, 0)), *(own.reshape(-1, 6).T for own in shapes)]).copy(),
        shortening_start=_places(np.cumsum([0, *map(len, parts)])),
        shortening=np.concatenate([np.zeros(0), *parts]),
        place=np.reshape([one.place for one in stations], (-1, 3)).astype(float),
        axis=np.reshape([one.axis for one in stations], (-1, 3)).astype(float),
        contraction=np.array([one.contraction for one in stations], dtype=float),
        mass=np.array([one.mass for one in stations], dtype=float),
        inertia=np.reshape([one.inertia for one in stations], (-1, 6)).astype(float),
    )


class _Station(NamedTuple):
    """A station in the axes of its link; shape (n, 6) and shortening (n, n) as of `ElasticLinks`."""

    place: Vector3
    shape: np.ndarray
    shortening: np.ndarray
    axis: np.ndarray
    contraction: float
    mass: float
    inertia: np.ndarray


def _station(joint: Joint, shape: ElasticShape, inertial: Inertial, count: int) -> _Station:
    axes = spatial.matrix(joint.pose.quaternion)
    turn = axes @ spatial.matrix(inertial.pose.quaternion)
    xx, xy, xz, yy, yz, zz = inertial.inertia
    about = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
    shortening = np.array(shape.shortening or np.zeros((count, count)), dtype=float)
    moved = np.reshape(shape.translation, (-1, 3)) @ axes.T, np.reshape(shape.rotation, (-1, 3)) @ axes.T
    return _Station(
        place=joint.pose.position,
        shape=np.hstack(moved),
        shortening=shortening,
        axis=axes @ np.array(shape.axis),
        contraction=shape.contraction,
        mass=inertial.mass,
        inertia=about[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]],
    )


def _places(values: Any) -> np.ndarray:
    """Places in arrays, unsigned: numba tests signed ones for wrap-around."""
    return np.array(values, dtype=np.uintp)


def _extent(rows: np.ndarray) -> tuple[int, int]:
    """First and last (exclusive) column with an entry that is not zero; 0 and 0 if there is none."""
    found = np.flatnonzero(np.any(rows, axis=0))
    return (int(found[0]), int(found[-1]) + 1) if len(found) else (0, 0)
