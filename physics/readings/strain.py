"""Strain and curvature of flexible links with modes: linear functions of their elastic coordinates."""

from typing import NamedTuple

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.flexible_links.stationed import modal_beam
from grouser.physics.readings.flexible_links import Beam


class StrainMap(NamedTuple):
    """What q says of strain: value = row @ q[position_index], row by row.

    Attributes:
        position_index: of the elastic coordinates in q, (n,).
        row: per unit of each coordinate, (values, n).
    """

    position_index: np.ndarray
    row: np.ndarray

    def values(self, q: np.ndarray) -> np.ndarray:
        """Values at the positions of all joints, (values,)."""
        return self.row @ q[self.position_index]


def strain_maps(machine: Machine, beams: tuple[Beam, ...]) -> tuple[StrainMap, ...]:
    """Maps to the strain of each strain gauge [-], one value each, positive in tension.

    Args:
        machine: as described.
        beams: its flexible links, in their order.
    """
    flexible = {one.link: (one, beam) for one, beam in zip(machine.flexible_links, beams, strict=True)}
    maps = []
    for gauge in machine.strain_gauges:
        link, beam = flexible[gauge.link]
        row = modal_beam(link).strain(gauge.at, gauge.y, gauge.z)
        maps.append(StrainMap(beam.position_index, row[None]))
    return tuple(maps)


def curvature_map(machine: Machine, beams: tuple[Beam, ...], link: str, places: np.ndarray) -> StrainMap:
    """Map to the curvatures about y and about z of the elastic frame [1/m], two values for each place.

    Args:
        machine: as described.
        beams: its flexible links, in their order.
        link: name of one that has modes.
        places: along its elastic axis [m].
    """
    number = [one.link for one in machine.flexible_links].index(link)
    curvature = modal_beam(machine.flexible_links[number]).curvature(places)
    return StrainMap(beams[number].position_index, curvature.transpose(0, 2, 1).reshape(2 * len(places), -1))
