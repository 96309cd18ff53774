"""Elastic links as a whole: the masses that their coordinates move, as stations, and the shapes of these as tables.

The dynamics of a step need of a station only its mass, not a body with columns of its own. Such stations are bodies
behind all others, *carried* ones, which only readings place.
"""

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base import spatial
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Joint

# Fields of a machine that mention a link without acting on it, or whose links are looked at one by one.
_NOT_ACTING = {"links", "joints", "disabled_collisions", "flexible_links"}


class ElasticLinks(NamedTuple):
    """The elastic links, with the stations that make up their mass; vectors are in the axes of the link.

    Attributes:
        carried: number of the first carried body; the number of bodies if there is none, (1,).
        body: that carries the link's frame, -1 for the world, (links,).
        rotation, position: the link's frame in the body's frame, (links, 3, 3) and (links, 3) [m].
        q, rate, count: first index of its coordinates in q and in v, and their number, (links,).
        station_start: stations of link l are station_start[l] to station_start[l + 1].
        row_start: coordinate a of station p of link l has row row_start[l] + (p - station_start[l]) count[l] + a.
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
    count: np.ndarray
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
        count: their number.
    """

    q: int
    rate: int
    count: int


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
    stations: dict[str, list[Joint]] = {name: [] for name in coordinates}
    for joint in carried:
        if inertials[joint.child] is not None:
            stations[joint.parent].append(joint)
    names, joints = list(stations), [joint for own in stations.values() for joint in own]
    counts = [coordinates[name].count for name in names]
    sizes = [len(own) for own in stations.values()]
    shapes = [[_in_link_axes(joint) for joint in own] for own in stations.values()]
    moved = [
        [_extent(np.reshape(own, (-1, n, 6))[:, :, k]) for k in range(6)] for own, n in zip(shapes, counts, strict=True)
    ]
    squares = [[_shortening(joint, n) for joint in own] for own, n in zip(stations.values(), counts, strict=True)]
    bent = [_extent(np.reshape(own, (-1, n))) for own, n in zip(squares, counts, strict=True)]
    parts = [h[first:last, first:last].ravel() for own, (first, last) in zip(squares, bent, strict=True) for h in own]
    inertia = np.array([_inertia(joint, inertials[joint.child]) for joint in joints]).reshape(-1, 6)
    station_start = np.cumsum([0, *sizes])
    turns = [bool(inertia[a:b].any()) for a, b in pairwise(station_start)]
    turned = [_extent(np.reshape(own, (-1, n, 6))[:, :, 3:].any(axis=2)) for own, n in zip(shapes, counts, strict=True)]
    return ElasticLinks(
        carried=np.array([bodies]),
        body=np.array([pose[name][0] for name in names], dtype=np.int64),
        rotation=np.array([pose[name][1] for name in names]).reshape(-1, 3, 3),
        position=np.array([pose[name][2] for name in names]).reshape(-1, 3),
        q=_places([coordinates[name].q for name in names]),
        rate=_places([coordinates[name].rate for name in names]),
        count=_places(counts),
        station_start=_places(station_start),
        row_start=_places(np.cumsum([0, *(n * size for n, size in zip(counts, sizes, strict=True))])),
        turns=np.array(turns, dtype=np.bool_),
        turned=_places(turned).reshape(-1, 2),
        moved=_places(moved).reshape(-1, 6, 2),
        bent=_places(bent).reshape(-1, 2),
        shape=np.hstack([np.zeros((6, 0)), *(own.reshape(-1, 6).T for own in map(np.array, shapes))]).copy(),
        shortening_start=_places(np.cumsum([0, *map(len, parts)])),
        shortening=np.concatenate([np.zeros(0), *parts]),
        place=np.array([joint.pose.position for joint in joints], dtype=float).reshape(-1, 3),
        axis=np.array([_axes(joint) @ np.array(joint.elastic_shape.axis) for joint in joints]).reshape(-1, 3),
        contraction=np.array([joint.elastic_shape.contraction for joint in joints], dtype=float),
        mass=np.array([inertials[joint.child].mass for joint in joints], dtype=float),
        inertia=inertia,
    )


def _places(values: Any) -> np.ndarray:
    """Places in arrays, unsigned: numba tests signed ones for wrap-around."""
    return np.array(values, dtype=np.uintp)


def _axes(joint: Joint) -> np.ndarray:
    return spatial.matrix(joint.pose.quaternion)


def _in_link_axes(joint: Joint) -> np.ndarray:
    """Translation and rotation vectors of a joint's shape in the axes of its link, (n, 6)."""
    turn, shape = _axes(joint).T, joint.elastic_shape
    return np.hstack([np.reshape(shape.translation, (-1, 3)) @ turn, np.reshape(shape.rotation, (-1, 3)) @ turn])


def _shortening(joint: Joint, count: int) -> np.ndarray:
    given = np.array(joint.elastic_shape.shortening, dtype=float)
    return given.reshape(count, count) if given.size else np.zeros((count, count))


def _inertia(joint: Joint, inertial: Any) -> list[float]:
    """Inertia of a station in the axes of its link."""
    turn = _axes(joint) @ spatial.matrix(inertial.pose.quaternion)
    xx, xy, xz, yy, yz, zz = inertial.inertia
    i = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
    return [i[0, 0], i[0, 1], i[0, 2], i[1, 1], i[1, 2], i[2, 2]]


def _extent(rows: np.ndarray) -> tuple[int, int]:
    """First and last (exclusive) column with an entry that is not zero; 0 and 0 if there is none."""
    found = np.flatnonzero(rows.any(axis=0))
    return (int(found[0]), int(found[-1]) + 1) if len(found) else (0, 0)
