"""Bulldozing: displaced soil is deposited around the contact, and slides down slopes steeper than the repose angle."""

import math

from grouser.physics.base.kernel import inlined, kernel
from grouser.physics.soil.slopes import add_flows, find_flows
from grouser.physics.soil.strata import heave_surface
from grouser.physics.soil.tiles import SURFACE, TYPE, SoilState
from grouser.physics.soil.wheels import MARGIN, RIM, Wheels, WheelWorkspace


@kernel
def deposit_soil(wheels: Wheels, w, flow, origin, state: SoilState, work: WheelWorkspace):
    """Deposits the volume displaced under a wheel on the rim cells around the contact.

    The rim cell in the direction o from the displaced volume gets a share in proportion to 1 + o . d: soil that is
    pushed along d goes ahead and beside, none back; soil that is pressed straight down (d = 0) goes equally to all.

    Args:
        wheels, w: the wheel.
        flow: displaced volume [m3], its position from the wheel's centre [m] and its direction d, (5,).
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
    # position of the displaced volume, in cells of the window
    x = (origin[0] + work.centre[w, 0] + flow[1]) / spacing - work.window[w, 0]
    y = (origin[1] + work.centre[w, 1] + flow[2]) / spacing - work.window[w, 1]
    total = 0.0
    for r in range(rims):
        total += _share(rim[r], columns, x, y, flow)
    height = flow[0] / (spacing * spacing * total)
    for r in range(rims):
        heave_surface(state.soil_cell, place[rim[r]], height * _share(rim[r], columns, x, y, flow))


@inlined
def _share(at, columns, x, y, flow):
    """1 + o . d of a cell of the window."""
    x, y = at // columns - x, at % columns - y
    return 1.0 + (x * flow[3] + y * flow[4]) / max(math.sqrt(x * x + y * y), 1e-9)


@kernel
def slide_slopes(wheels: Wheels, w, state: SoilState, work: WheelWorkspace):
    """One step of sliding down slopes steeper than the soil's angle of repose, around a wheel.

    Soil under the wheel stays. The volume is conserved.

    Args:
        wheels, w: the wheel.
        state: with the cells, changed.
        work: with labels.
    """
    window = work.window[w]
    i_first, j_first = max(window[4] - MARGIN, 0), max(window[6] - MARGIN, 0)
    rows = min(window[5] + MARGIN, window[2] - 1) - i_first + 1
    columns = min(window[7] + MARGIN, window[3] - 1) - j_first + 1
    cell, place, label, soils, width = state.soil_cell, work.place[w], work.label[w], wheels.soils, window[3]
    surface, steepest, change = work.surface[: rows * columns], work.steepest, work.change
    for i in range(rows):
        for j in range(columns):
            at, here = i * columns + j, (i_first + i) * width + j_first + j
            k = int(cell[place[here] + TYPE])
            surface[at] = cell[place[here] + SURFACE]
            # nothing slides on rigid ground, under the wheel (loose soil behind it carries no load), or far away
            free = k >= 0 and (label[here] == 0 or label[here] == RIM)
            border = i == 0 or j == 0 or i == rows - 1 or j == columns - 1
            steepest[at] = wheels.cell[0] * soils.repose[k] if free and not border else math.inf
    find_flows(surface, steepest, columns, work.flows)
    add_flows(work.flows, columns, change[: rows * columns])
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            if change[i * columns + j] != 0.0:
                heave_surface(cell, place[(i_first + i) * width + j_first + j], change[i * columns + j])
