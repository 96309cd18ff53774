"""Collision shapes -> candidate points, with the surface that each belongs to.

Against a plane a convex shape touches with its lowest point. A sphere has one candidate, a box its corners, a mesh the
vertices of its hull. A cylinder has the lowest point of each rim, which moves round as it rolls, and four fixed points
on each rim, so that it stands firmly on a face. A candidate keeps its number for good: contact impulses are remembered
by it.
"""

from typing import NamedTuple

import numpy as np

from grouser.physics import spatial
from grouser.physics.description.machine import Box, ContactMaterial, Cylinder, Geometry, Ground, Machine, Sphere
from grouser.physics.errors import MachineError
from grouser.physics.model import Names

_RIM_POINTS = 4


class ContactCandidates(NamedTuple):
    """Points that may touch, and the ground that they may touch.

    Attributes:
        body: body of each candidate, (candidates,).
        link: its link, index into the machine's links.
        point: centre in the body frame [m], (candidates, 3).
        radius: of the sphere around `point` that touches, or of the rim [m].
        axis: unit axis of the rim in the body frame, (candidates, 3); zero for a point or a sphere.
        friction, restitution: of the pair candidate and ground [-].
        stiffness, damping: of the contact [N/m, N s/m]; stiffness 0 means rigid.
        surface_rate: coordinate rate that moves the surface, -1 for none.
        surface_direction: in the body frame, times the surface speed per joint speed [m], (candidates, 3).
        ground_point: a point of the ground [m], (3,).
        ground_normal: its unit normal, (3,).
    """

    body: np.ndarray
    link: np.ndarray
    point: np.ndarray
    radius: np.ndarray
    axis: np.ndarray
    friction: np.ndarray
    restitution: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    surface_rate: np.ndarray
    surface_direction: np.ndarray
    ground_point: np.ndarray
    ground_normal: np.ndarray


def make_candidates(machine: Machine, names: Names, ground: Ground | None) -> ContactCandidates:
    """Candidates of every collision shape on a moving body; none without a ground.

    Friction is the link's where given, but never more than the ground's; restitution is the link's or the ground's,
    whichever is larger.

    Raises:
        MachineError: a surface is moved by a joint that has not one coordinate of its own.
    """
    materials = {material.link: material for material in machine.contacts}
    body, link, point, radius, axis, surface = [], [], [], [], [], []
    for index, description in enumerate(machine.links):
        if names.link_body[index] < 0 or ground is None:
            continue
        for shape in description.collisions:
            turn = names.link_rotation[index] @ spatial.matrix(shape.pose.quaternion)
            at = names.link_position[index] + names.link_rotation[index] @ np.array(shape.pose.position)
            for local, size, rim in _shape_points(shape.geometry):
                body.append(names.link_body[index])
                link.append(index)
                point.append(at + turn @ local)
                radius.append(size)
                axis.append(turn @ rim)
                surface.append(materials.get(description.name, ContactMaterial(description.name)))
    ground = ground or Ground()
    moved = [_surface_motion(machine, names, index, material) for index, material in zip(link, surface, strict=True)]
    candidates = ContactCandidates(
        body=np.array(body, dtype=np.int64),
        link=np.array(link, dtype=np.int64),
        point=np.array(point, dtype=float).reshape(-1, 3),
        radius=np.array(radius, dtype=float),
        axis=np.array(axis, dtype=float).reshape(-1, 3),
        friction=np.array(
            [ground.friction if m.friction is None else min(m.friction, ground.friction) for m in surface], dtype=float
        ),
        restitution=np.array([max(m.restitution, ground.restitution) for m in surface], dtype=float),
        stiffness=np.array([m.stiffness or 0.0 for m in surface], dtype=float),
        damping=np.array([m.damping for m in surface], dtype=float),
        surface_rate=np.array([rate for rate, _ in moved], dtype=np.int64),
        surface_direction=np.array([direction for _, direction in moved], dtype=float).reshape(-1, 3),
        ground_point=np.array(ground.point, dtype=float),
        ground_normal=np.array(ground.normal, dtype=float),
    )
    for array in candidates:
        array.flags.writeable = False
    return candidates


def _shape_points(geometry: Geometry):
    """(point, radius, rim axis) of each candidate in the shape's own frame."""
    none = np.zeros(3)
    if isinstance(geometry, Sphere):
        return [(none, geometry.radius, none)]
    if isinstance(geometry, Box):
        half = 0.5 * np.array(geometry.size)
        signs = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
        return [(half * sign, 0.0, none) for sign in signs]
    if isinstance(geometry, Cylinder):
        up = np.array([0.0, 0.0, 1.0])
        caps = [0.5 * geometry.length * side * up for side in (-1.0, 1.0)]
        angles = 2.0 * np.pi * np.arange(_RIM_POINTS) / _RIM_POINTS
        rim = geometry.radius * np.stack([np.cos(angles), np.sin(angles), np.zeros(_RIM_POINTS)], axis=1)
        return [(cap, geometry.radius, up) for cap in caps] + [(cap + edge, 0.0, none) for cap in caps for edge in rim]
    return [(vertex, 0.0, none) for vertex in geometry.hull]


def _surface_motion(machine: Machine, names: Names, link_index: int, material: ContactMaterial):
    """Coordinate rate and scaled direction (body frame) of a moving surface."""
    if material.surface_joint is None:
        return -1, np.zeros(3)
    coordinate = names.joints.get(material.surface_joint)
    if coordinate is None:
        raise MachineError(
            f'surface_joint="{material.surface_joint}" is not a joint with one coordinate',
            file=machine.file,
            element=f'<contact link="{material.link}">',
        )
    scale = material.surface_radius * coordinate.multiplier
    return coordinate.v, scale * names.link_rotation[link_index] @ np.array(material.surface_direction)
