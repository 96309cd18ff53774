"""A row of rigid shoes under a weight on soft soil, followed at a steady slip.

The belt brings a shoe down where its middle passes the front of the contact and lifts it where it passes the rear. In
between the shoe slides back over the ground at the slip times the belt's speed, and presses on the cells of ground that
are under it. Each shoe has its own shear displacement and sinkage; each cell keeps the deepest sinkage and the pressure
there.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.description.data.soil import Soil
from grouser.physics.soil.bekker_cell import bekker_pressure
from grouser.physics.soil.laws import make_soils, pressure_stiffness, shear_strength

# Cells under a shoe, about.
_CELLS = 20
# Steps while a shoe takes the place of the next: bounds, and number for each modulus of shear displacement.
_STEPS, _STEPS_A_MODULUS = (32, 256), 8.0
# Unloading is at least so many times as stiff as loading: harder ground rebounds less than the formula has it.
_STIFFER = 10.0
# Of the pressure of a shoe.
_TOLERANCE = 1e-12


@dataclass(frozen=True)
class ShoeRow:
    """A straight row of shoes, which carry the weight with a given pressure.

    Under the shoe whose middle is at x behind the front the pressure is W/(b l) (1 - a cos(2 pi m x/l)), with its peaks
    under m road wheels in the middles of m equal spaces.

    Attributes:
        weight: W, on the track [N].
        length, width: l and b of the contact [m].
        shoes: in contact at a time.
        road_wheels: m; fewer than the shoes.
        amplitude: a, from 0, uniform pressure, to 1 [-].
    """

    weight: float
    length: float
    width: float
    shoes: int
    road_wheels: int
    amplitude: float

    @property
    def mean_pressure(self) -> float:
        """W/(b l) [Pa]."""
        return self.weight / (self.width * self.length)


class Pull(NamedTuple):
    """What a row of shoes does, as means over a shoe's pitch.

    Attributes:
        thrust: of the shear under the shoes [N].
        resistance: work on ground that is pressed deeper than before, by the way of the hull [N].
        sinkage: mean of the shoes [m].
    """

    thrust: float
    resistance: float
    sinkage: float

    @property
    def drawbar_pull(self) -> float:
        """Thrust less resistance [N]."""
        return self.thrust - self.resistance


def closed_form(row: ShoeRow, soil: Soil, slip: float) -> Pull:
    """Of uniform pressure and j = i x (Bekker 1956; Wong, Theory of Ground Vehicles, chapter 2)."""
    sinkage = _plate_sinkage(row, soil, row.mean_pressure)
    resistance = row.width * _stiffness(row, soil) * sinkage ** (soil.exponent + 1.0) / (soil.exponent + 1.0)
    way = slip * row.length / soil.shear_displacement_modulus
    share = 1.0 + math.expm1(-way) / way if way > 0.0 else 0.0
    greatest = row.width * row.length * soil.cohesion + row.weight * math.tan(soil.friction_angle)
    return Pull(greatest * share, resistance, sinkage)


def steady_pull(row: ShoeRow, soil: Soil, slip: float) -> Pull:
    """Drives the row from undisturbed ground until each place under it was passed by all of the row, and a pitch more.

    Args:
        row: the shoes.
        soil: with `unloading_stiffness`, raised where the soil presses back almost as stiffly when it is first loaded.
        slip: from 0 to below 1.
    """
    pitch = row.length / row.shoes
    # New ground under a shoe is a whole number of cells, so that every pitch begins alike.
    fresh = max(1, round(_CELLS * (1.0 - slip)))
    cell = (1.0 - slip) * pitch / fresh
    transit = math.ceil(row.shoes / (1.0 - slip)) + 1
    under = math.ceil((row.length + pitch) / cell) + 2
    steps = math.ceil(_STEPS_A_MODULUS * slip * pitch / soil.shear_displacement_modulus)
    steps = min(max(steps, _STEPS[0]), _STEPS[1])
    peak = (1.0 + row.amplitude) * row.mean_pressure
    slope = max(1.0, soil.exponent) * peak / _plate_sinkage(row, soil, peak)
    unloading = max(soil.unloading_stiffness, _STIFFER * slope)
    ground = np.zeros((2, under + fresh * (transit + 1)))
    shoes = np.zeros((2, row.shoes))
    sums = np.zeros(3)
    soils = make_soils((soil,))
    for number in range(transit + 1):
        sums[:] = 0.0
        _follow_pitch(
            soils, row.width, pitch, row.mean_pressure, row.road_wheels, row.amplitude, slip, unloading,
            cell, under + number * fresh, steps, ground, shoes, sums,
        )  # fmt: skip
    thrust, work, sinkage = sums
    return Pull(float(thrust / steps), float(work / ((1.0 - slip) * pitch)), float(sinkage / (steps * row.shoes)))


def _stiffness(row: ShoeRow, soil: Soil) -> float:
    return float(pressure_stiffness(make_soils((soil,)), 0, row.width, soil.exponent))


def _plate_sinkage(row: ShoeRow, soil: Soil, pressure: float) -> float:
    return float((pressure / _stiffness(row, soil)) ** (1.0 / soil.exponent))


@kernel
def _follow_pitch(
    soils, width, pitch, mean_pressure, road_wheels, amplitude, slip, unloading, cell, front, steps, ground, shoes, sums
):
    """Follows the shoes from where one lands until the next one is about to.

    Args:
        soils: the soil, as the first of several.
        width: b [m].
        pitch: of the shoes [m].
        mean_pressure, road_wheels, amplitude: see `ShoeRow`.
        slip: i.
        unloading: k_0 [N/m3].
        cell: length of a cell [m].
        front: number of the first cell before the shoe that lands.
        steps: of the pitch.
        ground: sinkage [m] and pressure [Pa] at which each cell yielded last, (2, cells), backward to forward.
        shoes: shear displacement and sinkage of each shoe, front to rear [m], (2, shoes); of the last pitch at first.
        sums: thrust over the steps [N], work [J], sinkage over steps and shoes [m], (3,); added to.
    """
    count = shoes.shape[1]
    for k in range(count - 1, 0, -1):
        for value in range(2):
            shoes[value, k] = shoes[value, k - 1]
    shoes[0, 0] = shoes[1, 0] = 0.0
    stiffness = pressure_stiffness(soils, 0, width, soils.exponent[0])
    slide = slip * pitch / steps
    for step in range(steps):
        # In the middle of the step.
        back = front - (step + 0.5) * slide / cell
        for k in range(count):
            pressure = mean_pressure * (
                1.0 - amplitude * math.cos(2.0 * math.pi * road_wheels * (k + (step + 0.5) / steps) / count)
            )
            first = math.ceil(back - (k + 1) * pitch / cell - 0.5)
            last = math.ceil(back - k * pitch / cell - 0.5)
            shoes[1, k] = _depth_under(stiffness, soils, unloading, ground, first, last, pressure, shoes[1, k])
            area = width * cell
            sums[1] += area * _press(stiffness, soils, unloading, ground, first, last, shoes[1, k])
            sums[2] += shoes[1, k]
            # The shoe that landed with this step has been down for half of it.
            displacement = shoes[0, k] + 0.5 * slide
            shear = shear_strength(soils, 0, pressure, math.inf) * -math.expm1(-displacement / soils.shear_modulus[0])
            sums[0] += width * pitch * shear
            shoes[0, k] += slide


@kernel
def _depth_under(stiffness, soils, unloading, ground, first, last, pressure, guess):
    """Depth at which cells carry a shoe with a mean pressure [m], by Newton's method within a bracket."""
    low, high = 0.0, (pressure / stiffness) ** (1.0 / soils.exponent[0])
    for c in range(first, last):
        high = max(high, ground[0, c])
    depth = guess if low < guess < high else high
    for _ in range(100):
        carried, slope = 0.0, 0.0
        for c in range(first, last):
            own, change, _, _ = bekker_pressure(
                stiffness,
                soils.exponent[0],
                unloading,
                soils.unloading_slope[0],
                ground[0, c],
                ground[1, c],
                depth,
                1.0,
            )
            carried += own
            slope += change
        excess = carried / (last - first) - pressure
        if abs(excess) <= _TOLERANCE * pressure:
            break
        if excess > 0.0:
            high = depth
        else:
            low = depth
        if not high - low > 1e-15 * high:
            break
        depth -= excess * (last - first) / slope if slope > 0.0 else depth
        if not low < depth < high:
            depth = 0.5 * (low + high)
    return depth


@kernel
def _press(stiffness, soils, unloading, ground, first, last, depth):
    """Presses cells down to a depth; returns the work on those that yield, by area and over them all [N/m]."""
    work = 0.0
    power = soils.exponent[0] + 1.0
    for c in range(first, last):
        _, _, sinkage, pressure = bekker_pressure(
            stiffness, soils.exponent[0], unloading, soils.unloading_slope[0], ground[0, c], ground[1, c], depth, 1.0
        )
        work += stiffness * (sinkage**power - ground[0, c] ** power) / power
        ground[0, c], ground[1, c] = sinkage, pressure
    return work
