"""Shapes of elastic links, as rows and at random."""

from dataclasses import replace

import numpy as np

from grouser.physics.description.data.mechanism import ElasticShape


def shape_of_rows(rows, shortening=()):
    """The shape of rows of translations along and rotations about x, y, z."""
    rows = np.reshape(rows, (-1, 6))
    vectors = [tuple(tuple(map(float, row)) for row in part) for part in (rows[:, :3], rows[:, 3:])]
    return ElasticShape(*vectors, shortening)


def random_shape(random, count):
    """A shape of `count` coordinates; a link without any needs none."""
    if count == 0:
        return None
    half = random.uniform(-1.0, 1.0, (count, count))
    axis = random.normal(size=3)
    shape = shape_of_rows(random.uniform(-1.0, 1.0, (count, 6)), tuple(map(tuple, half + half.T)))
    axis /= np.linalg.norm(axis)
    return replace(shape, axis=tuple(axis.tolist()), contraction=random.uniform(-0.5, 0.5))
