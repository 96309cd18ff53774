"""Where displaced soil goes: onto the rim of the contact, ahead and beside, and down slopes that are too steep."""

import math

from grouser.physics.kernel import inlined, kernel
from grouser.physics.soil.tiles import LEVEL, PRESSURE, SINKAGE, TYPE, set_back
from grouser.physics.soil.wheels import RIM

# Share of what is too steep between two neighbours that slides in a step: eight neighbours take less than there is.
_SLIDING = 0.1
# A slide of less than this ends [m].
_SETTLED = 1e-9


@kernel
def heap_up(wheels, w, flow, origin, state, work):
    """Lays the volume that gave way under a wheel onto the rim around it.

    The rim cell in the direction o from where it gave way gets a share that goes with 1 + o . d: soil that is pushed
    along goes ahead and beside, none back; what is pressed straight down (d = 0) to all alike.

    Args:
        wheels, w: the wheel.
        flow: volume [m3], its place from the wheel's centre [m] and the direction d that it is pushed along, (5,).
        origin: of the kinematics [m].
        state: with the cells, changed.
        work: with labels; `rim` and the rim's labels are filled.
    """
    label, spot, place, rim, columns = work.label[w], work.spot[w], work.place[w], work.rim, work.window[w, 3]
    rims = 0
    for n in range(work.touched[w]):
        at = spot[n]
        for step in (-columns - 1, -columns, -columns + 1, -1, 1, columns - 1, columns, columns + 1):
            if label[at + step] == 0 and state.soil_cell[place[at + step] + TYPE] >= 0.0:
                label[at + step] = RIM
                rim[rims] = at + step
                rims += 1
    if rims == 0 or flow[0] <= 0.0:
        return
    spacing = wheels.cell[0]
    # where it gave way, in cells of the window
    x = (origin[0] + work.centre[w, 0] + flow[1]) / spacing - work.window[w, 0]
    y = (origin[1] + work.centre[w, 1] + flow[2]) / spacing - work.window[w, 1]
    total = 0.0
    for r in range(rims):
        total += _share(rim[r], columns, x, y, flow)
    height = flow[0] / (spacing * spacing * total)
    for r in range(rims):
        state.soil_cell[place[rim[r]] + LEVEL] += height * _share(rim[r], columns, x, y, flow)


@inlined
def _share(at, columns, x, y, flow):
    """1 + o . d of a cell of the window."""
    x, y = at // columns - x, at % columns - y
    return 1.0 + (x * flow[3] + y * flow[4]) / max(math.sqrt(x * x + y * y), 1e-9)


@kernel
def slide(wheels, w, state, work):
    """One step of what slides down slopes steeper than the soil's repose, in the window of a wheel.

    Between each two neighbours, also across corners, flows a share of what is too high; soil under the wheel stays. The
    flow is lost by one and won by the other, so that no volume is.

    Args:
        wheels, w: the wheel.
        state: with the cells, changed.
        work: with labels.
    """
    rows, columns = work.window[w, 2], work.window[w, 3]
    cell, place, label, soils = state.soil_cell, work.place[w], work.label[w], wheels.soils
    surface, change, steepest, spacing = work.surface, work.change, work.steepest, wheels.cell[0]
    for at in range(rows * columns):
        here = place[at]
        k = int(cell[here + TYPE])
        change[at] = 0.0
        surface[at] = cell[here + LEVEL]
        # nothing slides onto or off what is rigid or under the wheel: what falls in behind it carries nothing
        steepest[at] = math.inf
        if k >= 0:
            surface[at] -= set_back(
                soils.unloading_stiffness[k], soils.unloading_slope[k], cell[here + SINKAGE], cell[here + PRESSURE]
            )
            if label[at] == 0 or label[at] == RIM:
                steepest[at] = spacing * soils.repose[k]
    diagonal = math.sqrt(2.0)
    for i in range(rows):
        _slide_along(surface, steepest, change, i * columns, columns - 1, 1, 1.0)
        if i > 0:
            _slide_along(surface, steepest, change, i * columns, columns, -columns, 1.0)
            _slide_along(surface, steepest, change, i * columns + 1, columns - 1, -columns - 1, diagonal)
            _slide_along(surface, steepest, change, i * columns, columns - 1, -columns + 1, diagonal)
    for at in range(rows * columns):
        if abs(change[at]) > _SETTLED:
            cell[place[at] + LEVEL] += change[at]


@inlined
def _slide_along(surface, steepest, change, first, count, step, distance):
    """Flows between cells first, first + 1, ... and those `step` beside them."""
    for at in range(first, first + count):
        fall = surface[at] - surface[at + step]
        most = distance * max(steepest[at], steepest[at + step])
        flow = _SLIDING * (max(fall - most, 0.0) - max(-fall - most, 0.0))
        change[at] -= flow
        change[at + step] += flow
