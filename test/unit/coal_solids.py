"""Distances of solids by the library coal, to compare with."""

import coal
import numpy as np
from contact_scene import free_bodies

from grouser.physics.base import spatial
from grouser.physics.contact.shapes import make_shapes
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Sphere
from grouser.physics.description.data.world import World
from grouser.physics.model.build import build_model


def in_coal(geometry):
    """The geometry in coal."""
    if isinstance(geometry, Sphere):
        return coal.Sphere(geometry.radius)
    if isinstance(geometry, Capsule):
        return coal.Capsule(geometry.radius, geometry.length)
    if isinstance(geometry, Box):
        return coal.Box(*geometry.size)
    if isinstance(geometry, Cylinder):
        return coal.Cylinder(geometry.radius, geometry.length)
    shapes = make_shapes(free_bodies(geometry), build_model(free_bodies(geometry))[1], World())
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for vertex in shapes.vertex:
        points.append(vertex + shapes.position[0])
    for corner in shapes.face_corner.tolist():
        triangles.append(coal.Triangle(*corner))
    return coal.Convex(points, triangles)


def coal_distance(one, pose, other, other_pose):
    """Signed distance of two geometries and the normal from the second to the first, by coal."""
    request, result = coal.DistanceRequest(True), coal.DistanceResult()
    request.gjk_tolerance, request.epa_tolerance = 1e-10, 1e-9
    placed = [coal.Transform3s(spatial.matrix(q), np.array(p, dtype=float)) for p, q in (pose, other_pose)]
    coal.distance(in_coal(one), placed[0], in_coal(other), placed[1], request, result)
    return result.min_distance, -result.normal
