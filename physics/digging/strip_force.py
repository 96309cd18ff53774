"""Force on a strip of a blade in real ground: of the wedge against the plate, or of a dead wedge, whichever is less.

In front of a steep plate soil may stick and cut in its place (`dead_wedge`). Both wedges are found over the profile of
the cells ahead.
"""

import math
from typing import NamedTuple

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.digging.profile_wedge import profile_wedge
from grouser.physics.digging.wedge import CutSoil, Face, face_of


class StripForce(NamedTuple):
    """Force on a strip, a width, and the planes of failure.

    Attributes:
        draught: horizontal, against the motion ahead [N/m].
        pull: downwards [N/m]; negative: upwards.
        momentum: part of the draught by the momentum that the wedge takes up [N/m].
        mass: draught by the mass of the wedge over the acceleration of the blade [kg/m].
        failure, inner_failure: angles of the planes of failure of both wedges [rad]; NaN for none.
    """

    draught: float
    pull: float
    momentum: float
    mass: float
    failure: float
    inner_failure: float


class Blade(NamedTuple):
    """Both faces of a blade at a rake in a soil.

    Attributes:
        plate: itself.
        inner: the plane of a dead wedge, on which soil slides on soil.
        lead: how far the tip of a dead wedge is ahead of the edge, over the depth of the edge; not above 0: none [-].
        soil_slip, plate_slip: tangents of the angles of friction, in the soil and between plate and soil [-].
    """

    plate: Face
    inner: Face
    lead: float
    soil_slip: float
    plate_slip: float


@kernel
def blade_of(rake, friction, tool_friction):
    """A blade at a rake between 0 and pi in soil, by its angles of friction [rad]."""
    inner_rake = 0.25 * math.pi + 0.5 * friction
    plate, inner = face_of(rake, friction, tool_friction), face_of(inner_rake, friction, friction)
    lead = inner.cot_rake - plate.cot_rake
    return Blade(plate, inner, lead, math.tan(friction), math.tan(tool_friction))


@kernel
def strip_force(heights, loose, shifted, spacing, depth, blade, soil, gravity, flux, last, inner_last):
    """The lesser of both wedges by their draught.

    Args:
        heights: of the ground ahead above the edge at (k + 1/2) spacings [m], (cells,).
        loose: thickness of the loose soil in the same cells [m], (cells,).
        shifted: buffers, (2, cells).
        spacing: of the cells [m].
        depth: of the edge below the ground above it [m], above 0.
        blade: as of `blade_of`.
        soil: `CutSoil`, with the angles of the blade.
        gravity: [m/s2].
        flux: momentum that soil at the speed of the blade would take up in a second [N/m].
        last, inner_last: planes of failure in the last step [rad]; NaN for none.
    """
    found = profile_wedge(heights, loose, spacing, depth, blade.plate, soil, gravity, flux, last)
    draught, pull = _turned(found.force, blade.plate, depth, soil)
    along = blade.plate.sin_force
    plane = StripForce(draught, pull, along * found.momentum, along * found.mass, found.failure, math.nan)
    if blade.lead <= 0.0:
        return plane
    within = CutSoil(soil.density, soil.friction, soil.cohesion, soil.friction, soil.cohesion)
    length = depth * blade.lead
    count = heights.shape[0]
    tip = _shift(heights, shifted[0, :count], spacing, depth, length)
    _shift(loose, shifted[1, :count], spacing, loose[0], length)
    if tip <= 0.0:
        return plane
    inner = profile_wedge(
        shifted[0, :count], shifted[1, :count], spacing, tip, blade.inner, within, gravity, flux, inner_last
    )
    ahead, down = _turned(inner.force, blade.inner, tip, within)
    dead = 0.25 * (depth + tip) * length * soil.density
    down += dead * gravity
    total = ahead + blade.soil_slip * max(0.0, down) + soil.cohesion * length
    holds = total * blade.plate_slip
    # a plane wedge that jams leaves the dead wedge, which slips up the plate where the plate does not hold it
    if total < draught and (down + holds >= 0.0 or math.isinf(draught)):
        along = blade.inner.sin_force + (blade.soil_slip * blade.inner.cos_force if down > 0.0 else 0.0)
        momentum, mass = along * inner.momentum, along * inner.mass + dead
        return StripForce(total, max(min(0.0, down), -holds), momentum, mass, found.failure, inner.failure)
    return StripForce(draught, pull, plane.momentum, plane.mass, found.failure, inner.failure)


@inlined
def _turned(force, face, depth, soil):
    """Draught and downward pull of a force at the angle of tool friction to a face's normal, with adhesion."""
    sticking = soil.adhesion * depth
    return force * face.sin_force + sticking * face.cot_rake, force * face.cos_force - sticking


@inlined
def _shift(heights, shifted, spacing, depth, length):
    """Heights of the ground ahead of a place that is further ahead by a length; returns the height there [m]."""
    count = heights.shape[0]
    tip = 0.0
    for k in range(-1, count):
        place = (length + (k + 0.5) * spacing if k >= 0 else length) / spacing - 0.5
        cell = min(max(int(math.floor(place)), -1), count - 1)
        before = depth if cell < 0 else heights[cell]
        after = heights[min(cell + 1, count - 1)]
        # the first piece, from the edge to the middle of its cell, is half as long
        share = min(place - cell, 1.0) if cell >= 0 else 2.0 * (place + 0.5)
        height = before + share * (after - before)
        if k < 0:
            tip = height
        else:
            shifted[k] = height
    return tip
