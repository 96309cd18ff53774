"""Soil as the page draws it: in a bucket, and in the air."""

import numpy as np
import pytest
import trimesh
from shipped import shipped_machine

from grouser.nodes.viewer.buckets import cut_section, fill, plate_axes, soil_mesh
from grouser.nodes.viewer.falling import clods

SLOPE = 0.6
_ENDS = (slice(None, -1), slice(1, None))


@pytest.fixture(scope="module")
def bucket():
    return next(shovel for shovel in shipped_machine("excavator").shovels if shovel.profile)


def vertical(degrees: float) -> np.ndarray:
    """The zenith in the axes of the plate, which is level at 0 degrees with the opening up."""
    return np.array([np.sin(np.radians(degrees)), -np.cos(np.radians(degrees))])


def filled(section, surface: np.ndarray) -> float:
    """Volume below a surface, by trapezoids."""
    thickness = surface - section.low[:, np.newaxis]
    assert (thickness >= 0.0).all()
    corners = [thickness[rows, columns] for rows in _ENDS for columns in _ENDS]
    return 0.25 * section.area * float(sum(corners).sum())


@pytest.mark.parametrize("degrees", [-30.0, 0.0, 20.0, 60.0])
def test_the_surface_encloses_the_volume_and_is_level_below_the_rim(bucket, degrees):
    section = cut_section(bucket, vertical(degrees), SLOPE)
    volume = 0.2 * bucket.width * bucket.opening**2 * 0.5
    surface = fill(section, volume)
    assert filled(section, surface) == pytest.approx(volume, rel=1e-3)
    wet = surface > section.low[:, np.newaxis] + 1e-6
    free = wet & (surface < section.most - 1e-6)
    assert free.any() and np.ptp(surface[free]) < 1e-9


def test_a_level_bucket_holds_its_struck_volume_and_a_heap(bucket):
    section = cut_section(bucket, vertical(0.0), SLOPE)
    x, y = np.array(bucket.profile).T
    struck = 0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) * bucket.width
    held = filled(section, fill(section, 1e3))
    short, long = sorted((bucket.width, bucket.opening))
    heap = SLOPE * (long * short**2 / 4.0 - short**3 / 12.0)
    assert held == pytest.approx(struck + heap, rel=0.05)  # columns and lumps


def test_the_mesh_lies_in_the_bucket(bucket):
    axes = plate_axes(bucket)
    up = -axes[2]  # the opening is up
    vertices, faces = soil_mesh(bucket, axes, SLOPE, 0.02, up)
    local = (vertices - axes[0]) @ axes[1:].T
    profile = np.array(bucket.profile)
    assert (np.abs(local[:, 2]) < 0.5 * bucket.width).all()
    used = local[np.unique(faces)]
    assert (used[:, 1] <= profile[:, 1].max() + 1e-9).all() and (used[:, 1] > -0.5 * bucket.opening).all()
    assert ((used[:, 0] >= profile[:, 0].min() - 1e-9) & (used[:, 0] <= profile[:, 0].max() + 1e-9)).all()
    assert trimesh.Trimesh(vertices, faces).area > 0.3 * bucket.width * bucket.opening


def test_clods_have_the_volume_of_their_lots_and_lie_across_the_lip():
    lots = {"x": [1.0, 2.0], "y": [0.0, 0.0], "z": [0.5, 0.6], "half_x": [0.0, 0.0], "half_y": [0.2, 0.3]}
    columns = {name: np.array(values) for name, values in lots.items()} | {"mass": np.array([0.2, 0.4])}
    places, radii = clods(columns, 1300.0)
    assert (4.0 / 3.0 * np.pi * radii**3).sum() == pytest.approx(0.6 / 1300.0, rel=1e-5)
    assert (np.abs(places[:5, 1]) <= 0.2).all() and np.ptp(places[:5, 1]) > 0.3
    assert (np.abs(places[5:, 1]) <= 0.3).all() and np.ptp(places[5:, 1]) > 0.45
    assert sorted(set(places[:, 0].tolist())) == [1.0, 2.0]
