"""Steps that are too long for stiff shoes on rigid ground: their load then alternates from step to step.

A step drops the shoes that would leave the ground at the speed of its start. The mass m stands on pads of the stiffness
K with dampers C; x is their depth over m g/K, w its growth in a step, r = K h^2/m and c = C h/m. A step in which they
are dropped lets it fall, w <- w + r, another one presses, w <- (w + r - r x)/(1 + r + c); then x <- x + w. They are
dropped where r (x + w) + c w is not positive. Beside the rest, x = 1 and w = 0, two motions repeat stably, whatever c:
drop, press, press from r = 3 on, and drop and press in turn from r = 4 on, with loads of none and twice the weight. A
jolt may lead to them.
"""

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.world import World
from grouser.physics.model.multibody import MultibodyModel
from grouser.physics.model.names import Names
from grouser.physics.tracks.belts import Tracks

# r from which on the load may alternate.
_ALTERNATING = 3.0
# A run is level within this sine of its slope.
_LEVEL = 0.1
# Quadrature along a span.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


def warn_alternating_load(
    machine: Machine, names: Names, model: MultibodyModel, tracks: Tracks, world: World, step: float
) -> tuple[str, ...]:
    """Warnings of machines on tracks whose load on rigid ground may alternate from step to step, one a machine.

    Args:
        machine, names, model: the machine.
        tracks: its tracks.
        world: to stand in.
        step: h [s].
    """
    if world.ground is None or not _has_rigid_ground(world):
        return ()
    roots = _roots(model)
    stiffness: dict[int, list[tuple[str, float]]] = {}
    for t, body in enumerate(tracks.body.tolist()):
        if body >= 0:
            stiffness.setdefault(roots[body], []).append((machine.tracks[t].name, _pad_stiffness(tracks, t)))
    warnings = []
    for root, found in stiffness.items():
        mass = float(model.body_mass[roots == root].sum())
        total = sum(size for _, size in found)
        limit = (_ALTERNATING * mass / total) ** 0.5
        if step > limit:
            others = f" and {len(found) - 1} more" if len(found) > 1 else ""
            warnings.append(
                f'track "{found[0][0]}"{others}: shoes of {total:.2g} N/m in all under {mass:.4g} kg: on rigid ground '
                "their load may alternate from step to step between none and twice, and their friction is then too "
                f"large; take a step of at most {1e3 * limit:.2g} ms, not {1e3 * step:g} ms"
            )
    return tuple(warnings)


def _has_rigid_ground(world: World) -> bool:
    soil = world.soil
    return soil is None or (soil.types is not None and bool((np.asarray(soil.types) < 0).any()))


def _roots(model: MultibodyModel) -> np.ndarray:
    """The body from which each body's tree begins, (bodies,)."""
    roots = np.arange(len(model.body_parent))
    for body, parent in enumerate(model.body_parent.tolist()):
        if parent >= 0:
            roots[body] = roots[parent]
    return roots


def _pad_stiffness(tracks: Tracks, t: int) -> float:
    """Stiffness of the pads on a track's level lower run, in series with the belt [N/m]."""
    path, width, stiffness = tracks.path, tracks.width[t], tracks.stiffness[t]
    segments = slice(tracks.segment_start[t], tracks.segment_start[t + 1])
    length, ahead = path.length[segments], path.direction[segments, 0]
    spans = length[(path.radius[segments] == 0.0) & (ahead < -((1.0 - _LEVEL**2) ** 0.5))]
    along = 0.5 * spans[:, np.newaxis] * (1.0 + _NODES)
    gives = width * along * (spans[:, np.newaxis] - along) / (2.0 * tracks.pretension[t])
    share = (0.5 * _WEIGHTS / (1.0 + stiffness * gives)).sum(axis=1)
    return float(stiffness * width * (spans * share).sum())
