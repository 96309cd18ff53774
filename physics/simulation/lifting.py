"""Machines that start inside the ground or an obstacle: they are reported, and lifted until they stand."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from grouser.physics.base.phases import NOTHING
from grouser.physics.contact.room import detect, request
from grouser.physics.contact.rows import CONTACT_SLOP
from grouser.physics.contact.terrain import ground_surface, type_at
from grouser.physics.multibody.kinematics import update_kinematics
from grouser.physics.simulation.engine import Engine
from grouser.physics.simulation.placing import member_bases
from grouser.physics.tracks.belts import most_pads
from grouser.physics.tracks.shoes import AREA, FACE_AHEAD, SIDE_LEFT, UP, place_pads

# What happens to a machine that starts inside something: values of the setting `spawn`.
LIFTED, AS_GIVEN = "lifted", "as_given"
SPAWNS = (LIFTED, AS_GIVEN)
# Machines that overlap something by less, or would have to be lifted by less, are left where they are [m].
_OVERLAP = 1e-3
# Slope of a normal above which lifting by the depth along it ends an overlap: cosine of its angle with the vertical.
_STEEP = 0.3
# Least lift by which a way out is sought where normals do not tell it [m], and its growth from one trial to the next.
_FIRST_STEP, _GROWTH = 0.01, 1.2
_MOST_TRIALS = 100
# Resolution of a lift [m].
_RESOLUTION = 1e-6
# Points around a wheel, and across it, whose depth in soft ground is measured.
_AROUND, _ACROSS = 64, 5


class _Depths(NamedTuple):
    """Overlaps of machines with what does not move: depth in rigid ground or obstacles, or in the surface of soil.

    Attributes:
        member: number of each machine, (overlaps,).
        name: of its link.
        other: what it overlaps.
        in_ground: whether this is the ground.
        depth: along the normal [m].
        rise: upward component of the normal, from what is overlapped to the machine [-].
        stiffness: of the contact [N/m]; 0 for a rigid one.
    """

    member: np.ndarray
    name: list[str]
    other: list[str]
    in_ground: np.ndarray
    depth: np.ndarray
    rise: np.ndarray
    stiffness: np.ndarray


def lift_out(engine: Engine, spawn: str) -> tuple[str, ...]:
    """Changes the initial state of machines that start inside the ground or an obstacle; returns warnings about all.

    A machine with a floating base is lifted against gravity by the least distance at which it overlaps nothing by more
    than rest would give: rigid contacts not at all, elastic ones and tracks by what carries its weight, and wheels
    stand on the surface of soft ground. Overlaps with other machines that can move do not count.

    Args:
        engine: with its initial state; its workspace is changed.
        spawn: LIFTED or AS_GIVEN, which only reports.
    """
    setup = engine.setup
    system = setup.system
    if setup.integrator != "semi_implicit" or not (
        _touches(engine) or len(system.soil.body) or len(system.tracks.body)
    ):
        return ()
    state, workspace = engine.state, engine.workspace
    warnings = _lift_out(engine, spawn)
    if warnings and engine.workspace is not workspace:  # trials have made room, which the first step may not need
        engine.workspace = workspace
        engine.use_state(state)
    engine.state.q[:] = engine.initial.q
    return warnings


def _lift_out(engine: Engine, spawn: str) -> tuple[str, ...]:
    """As `lift_out`, with trials in the engine's buffers."""
    scene = _Scene(engine)
    found = scene.depths(np.zeros(scene.count))
    inside = scene.missing(found, _OVERLAP) > _OVERLAP
    if not inside.any():
        return ()
    lifted = inside & scene.floats if spawn == LIFTED else np.zeros(scene.count, dtype=bool)
    lift, free = scene.least_lift(lifted)
    for member in np.flatnonzero(free):
        first = scene.base[member]
        engine.initial.q[first : first + 3] += lift[member] * scene.up
    members = np.flatnonzero(inside).tolist()
    return tuple(_warning(scene, found, member, lift[member], free[member]) for member in members)


def _touches(engine: Engine) -> bool:
    """Whether contacts are possible."""
    contact = engine.setup.system.contact
    return len(contact.candidates.shape) > 0 or len(contact.pairs.first) > 0


def _warning(scene: "_Scene", found: _Depths, member: int, lift: float, free: bool) -> str:
    """Text about a machine: its deepest link, and what is done."""
    own = np.flatnonzero((found.member == member) & (found.depth > _OVERLAP))
    deepest = own[np.argmax(found.depth[own])]
    others = len({found.name[k] for k in own}) - 1
    more = f" (and {others} more link{'s' if others > 1 else ''} of the machine)" if others else ""
    where = f'"{found.other[deepest]}"' if found.other[deepest] != "ground" else "the ground"
    text = f'"{found.name[deepest]}"{more} starts {1000.0 * found.depth[deepest]:.1f} mm inside {where}: '
    if free:
        return f'{text}lifted by {1000.0 * lift:.1f} mm; spawn "{AS_GIVEN}" leaves it there'
    if not scene.floats[member]:
        return f"{text}the machine is fixed to the world and stays there"
    return f"{text}it is pushed out slowly"


class _Scene:
    """The machines at their start, each raised by a distance of its own.

    Args:
        engine: its state is used for trials.

    Attributes:
        count: of machines.
        base: first index of each machine's base in q, -1 for a fixed one, (count,).
        floats: whether the base of each is free, (count,).
        up: unit vector against gravity; the normal of level ground without any.
        ground_above: whether gravity pulls away from the ground, so that lifting goes deeper into it.
    """

    def __init__(self, engine: Engine):
        setup = engine.setup
        model = setup.system.multibody
        self._engine = engine
        self.base = np.array([base.q for base in member_bases(setup)], dtype=np.int64)
        self.count = len(self.base)
        self.floats = self.base >= 0
        pull = float(np.linalg.norm(model.gravity))
        self.up = -model.gravity / pull if pull > 0.0 else np.array([0.0, 0.0, 1.0])
        self.ground_above = float(setup.system.contact.terrain.normal @ self.up) < 0.0
        mass = np.bincount(setup.membership.body, model.body_mass, self.count)
        self._weight = pull * mass

    def depths(self, lift: np.ndarray) -> _Depths:
        """All overlaps when each machine with a free base is raised by its lift [m], (count,)."""
        engine = self._engine
        engine.state.q[:] = engine.initial.q
        for member in np.flatnonzero(self.floats):
            first = self.base[member]
            engine.state.q[first : first + 3] += lift[member] * self.up
        # a zero state of motion: contacts within reach are those that exist
        motion = engine.context.workspace.multibody
        update_kinematics(engine.packed.multibody, engine.state.q, np.zeros_like(engine.state.v), motion.kinematics)
        parts = [self._of_contacts()] if _touches(engine) else []
        return _joined([*parts, self._of_wheels(), self._of_tracks()])

    def missing(self, found: _Depths, tolerance: float) -> np.ndarray:
        """Lift that each machine still needs, as far as the normals tell, (count,) [m]; 0 for one that stands.

        Args:
            found: the overlaps.
            tolerance: depth of a rigid contact that counts as none [m].
        """
        lift = np.zeros(self.count)
        upward = found.rise > _STEEP
        soft = (found.stiffness > 0.0) & upward
        deep = (found.depth > tolerance) & ~soft
        needed = np.where(upward, found.depth / np.maximum(found.rise, _STEEP), np.maximum(found.depth, _FIRST_STEP))
        np.maximum.at(lift, found.member[deep], needed[deep])
        springs = found.stiffness * found.depth * found.rise
        force = np.bincount(found.member[soft], springs[soft], self.count)
        rate = np.bincount(found.member[soft], (found.stiffness * found.rise**2)[soft], self.count)
        pressed = np.zeros(self.count)
        np.maximum.at(pressed, found.member[soft], found.depth[soft])
        over = (force > self._weight) & (pressed > tolerance)
        lift[over] = np.maximum(lift[over], (force[over] - self._weight[over]) / rate[over] + 0.5 * _RESOLUTION)
        return lift

    def least_lift(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Least lift of each chosen machine at which it stands [m], (count,), and whether one was found, (count,)."""
        low, high = np.zeros(self.count), np.zeros(self.count)
        below, sunk, growth = chosen.copy(), np.zeros(self.count, dtype=bool), 1.0
        for _ in range(_MOST_TRIALS):
            found = self.depths(high)
            needed = self.missing(found, CONTACT_SLOP)
            sunk[found.member[found.in_ground]] = self.ground_above
            below &= (needed > 0.0) & ~sunk
            if not below.any():
                break
            low[below] = high[below]
            high[below] += growth * needed[below]
            growth *= _GROWTH
        free = chosen & ~below & ~sunk
        while (free & (high - low > np.maximum(_RESOLUTION, 2.0 * np.spacing(high)))).any():
            middle = 0.5 * (low + high)
            stands = self.missing(self.depths(np.where(free, middle, 0.0)), CONTACT_SLOP) == 0.0
            high, low = np.where(free & stands, middle, high), np.where(free & ~stands, middle, low)
        return np.where(free, high, 0.0), free

    def _of_contacts(self) -> _Depths:
        """Overlaps of shapes with the ground, obstacles and links that are fixed to the world."""
        engine, setup = self._engine, self._engine.setup
        while (asked := request(engine.context)) != NOTHING:
            engine.answer(asked)
        detect(engine.context)
        contacts, shapes = engine.workspace.contact.contacts, setup.system.contact.shapes
        some = slice(0, int(contacts.count[0]))
        shape, other, gap = contacts.shape[some], contacts.other_shape[some], contacts.gap[some]
        still = (gap < 0.0) & ((other < 0) | (shapes.body[other] < 0))
        still &= setup.membership.shape[shape] >= 0
        return _Depths(
            setup.membership.shape[shape][still],
            [setup.shape_names[number] for number in shape[still]],
            [setup.shape_names[number] for number in other[still]],
            other[still] < 0,
            -gap[still],
            (contacts.normal[some] @ self.up)[still],
            setup.system.contact.laws.stiffness[contacts.law[some]][still],
        )

    def _of_wheels(self) -> _Depths:
        """Depths of the wheels below the surface of soft ground, without their grousers."""
        setup, wheels = self._engine.setup, self._engine.setup.system.soil
        kinematics, ground = self._engine.workspace.multibody.kinematics, setup.world.ground
        depth, rise = np.zeros(len(wheels.body)), np.ones(len(wheels.body))
        for wheel, body in enumerate(wheels.body):
            turn = kinematics.rotation[body]
            centre = kinematics.origin + kinematics.position[body] + turn @ wheels.position[wheel]
            axis, radius, half_width = turn @ wheels.axis[wheel], wheels.radius[wheel], wheels.half_width[wheel]
            for x, y, z in _rim_points(centre, axis, radius, half_width):
                height, *normal = ground_surface(ground, x, y)
                if (height - z) * normal[2] > depth[wheel]:
                    depth[wheel], rise[wheel] = (height - z) * normal[2], np.dot(normal, self.up)
        sunk = depth > 0.0
        links = np.array(setup.elements.wheel, dtype=object)[sunk].tolist()
        return _Depths(
            setup.membership.wheel[: len(sunk)][sunk],
            links,
            ["ground"] * len(links),
            np.ones(len(links), dtype=bool),
            depth[sunk],
            rise[sunk],
            np.zeros(len(links)),
        )

    def _of_tracks(self) -> _Depths:
        """Depths of the shoes of tracks below the natural ground, which is a spring under each of them."""
        setup, tracks = self._engine.setup, self._engine.setup.system.tracks
        kinematics, ground = self._engine.workspace.multibody.kinematics, setup.world.ground
        found: list[tuple[int, float, float, float]] = []
        for t, body in enumerate(tracks.body):
            turn = kinematics.rotation[body] if body >= 0 else np.eye(3)
            place = kinematics.origin + kinematics.position[body] if body >= 0 else np.zeros(3)
            pads = np.zeros((most_pads(tracks, t), AREA + 1))
            count = place_pads(self._engine.packed.tracks, t, self._engine.state.q[tracks.position[t]], pads)
            pads = pads[:count]
            frame = turn @ tracks.frame[t]
            places = place + turn @ tracks.place[t] + pads[:, : UP + 1] @ frame.T
            faces, sides = pads[:, FACE_AHEAD:SIDE_LEFT] @ frame[:, [0, 2]].T, pads[:, SIDE_LEFT, None] * frame[:, 1]
            for (x, y, z), face, side, area in zip(places, faces, sides, pads[:, AREA], strict=True):
                height, *upward = ground_surface(ground, x, y)
                depth = (height - z) * upward[2]
                if depth > 0.0 and max(face @ upward, side @ upward) > 0.0:
                    stiffness = area * self._stiffness(t, x, y, height - z)
                    found.append((t, depth, float(np.dot(upward, self.up)), stiffness))
        of = np.array([row[0] for row in found], dtype=np.int64)
        names = [f"track {setup.elements.track[t]}" for t in of.tolist()]
        return _Depths(
            setup.membership.track[of],
            names,
            ["ground"] * len(names),
            np.ones(len(names), dtype=bool),
            *(np.array([row[k] for row in found], dtype=float) for k in (1, 2, 3)),
        )

    def _stiffness(self, t: int, x: float, y: float, depth: float) -> float:
        """Pressure over depth of a shoe of a track on the ground at a place [N/m3]."""
        system = self._engine.setup.system
        tracks, soils = system.tracks, system.soil.soils
        k = type_at(system.contact.terrain, x, y)
        if k < 0:
            return float(tracks.stiffness[t])
        return float(tracks.soil_stiffness[t, k] * depth ** (soils.exponent[k] - 1.0))


def _rim_points(centre: np.ndarray, axis: np.ndarray, radius: float, half_width: float) -> Iterator[np.ndarray]:
    """Points on the surface of a wheel."""
    side = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    side /= np.linalg.norm(side)
    across = np.cross(axis, side)
    for angle in 2.0 * np.pi * np.arange(_AROUND) / _AROUND:
        spoke = centre + radius * (np.cos(angle) * side + np.sin(angle) * across)
        for shift in np.linspace(-half_width, half_width, _ACROSS):
            yield spoke + shift * axis


def _joined(parts: list[_Depths]) -> _Depths:
    """Several lists of overlaps as one."""
    return _Depths(
        np.concatenate([part.member for part in parts]),
        [name for part in parts for name in part.name],
        [name for part in parts for name in part.other],
        *[np.concatenate([part[k] for part in parts]) for k in range(3, 7)],
    )
