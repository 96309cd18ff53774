"""Scenes of boxes on level ground, each as a fleet of grouser and as a model of MuJoCo.

A scene is a list of bodies. A body is free, or slides on a driven prismatic joint, which stands in the world or on a
free body. All shapes are boxes, and all axes are parallel to the world's at the start.
"""

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

import grouser
from grouser.physics.description.data.contact import ContactMaterial
from grouser.physics.description.data.drives import ServoDrive
from grouser.physics.description.data.machine import Machine, Member
from grouser.physics.description.data.mechanism import Collision, Inertial, Joint, Link
from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.shapes import Box
from grouser.physics.description.data.world import Ground, World

STEP = 0.001  # [s]
FRICTION = 0.6  # of all surfaces [-]
GAP = 0.001  # between bodies at the start [m]

_CUBE = (0.2, 0.2, 0.2)
_BRICK = (0.4, 0.2, 0.2)
_BRICK_MASS = 16.0
_JOINT_GAP = 0.005  # between the bricks of a course [m]
_PITCH = _BRICK[0] + _JOINT_GAP
_RAIL = "rail"
_MUJOCO_HARDNESS = 'solref="0.004 1" solimp="0.99 0.999 0.001"'


@dataclass(frozen=True)
class Drive:
    """A driven prismatic joint, at zero at the start.

    Attributes:
        axis: unit vector.
        target: position wanted [m].
        stiffness, damping: [N/m, N s/m].
        on: free body that it stands on; "" for the world.
    """

    axis: Vector3
    target: float
    stiffness: float
    damping: float
    on: str = ""


@dataclass(frozen=True)
class Body:
    """A body whose frame is at its centre of mass.

    Attributes:
        name: unique in its scene.
        size: extents of the box that has its mass [m].
        mass: [kg].
        position: of its centre in the world at the start [m].
        drive: None for a free body.
        feet: centres of further boxes of the size `foot`, without mass, in the body's frame [m].
        foot: [m].
        linear, angular: velocity of a free body at the start, in the world's axes [m/s, rad/s].
    """

    name: str
    size: Vector3
    mass: float
    position: Vector3
    drive: Drive | None = None
    feet: tuple[Vector3, ...] = ()
    foot: Vector3 = (0.0, 0.0, 0.0)
    linear: Vector3 = (0.0, 0.0, 0.0)
    angular: Vector3 = (0.0, 0.0, 0.0)

    @property
    def inertia(self) -> Vector3:
        """Principal moments of inertia of the even box [kg m2]."""
        x, y, z = (self.mass * side**2 / 12.0 for side in self.size)
        return y + z, x + z, x + y

    @property
    def boxes(self) -> tuple[tuple[Vector3, Vector3], ...]:
        """Centre in the body's frame and extents of each of its shapes [m]."""
        return ((0.0, 0.0, 0.0), self.size), *((centre, self.foot) for centre in self.feet)


@dataclass(frozen=True)
class Scene:
    """Bodies on level ground."""

    name: str
    bodies: tuple[Body, ...]

    def carried_by(self, name: str) -> tuple[Body, ...]:
        """The driven bodies on a free body, or those on the world for ""."""
        return tuple(body for body in self.bodies if body.drive is not None and body.drive.on == name)


# --- scenes ---------------------------------------------------------------------------------------------------------


def stack(boxes: int = 10) -> Scene:
    """Equal cubes that fall onto each other from a millimetre apart."""
    side = _CUBE[2]
    heights = [(0.5 * side + GAP) + k * (side + GAP) for k in range(boxes)]
    return Scene(
        f"stack of {boxes}", tuple(Body(f"b{k}", _CUBE, 8.0, (0.0, 0.0, height)) for k, height in enumerate(heights))
    )


def wall(bricks: int = 12, courses: int = 6) -> Scene:
    """Bricks in running bond, ends flush: odd courses begin with half a brick and end with one and a half."""
    bodies = []
    for course in range(courses):
        shares = [0.5, *[1.0] * (bricks - 2), 1.5] if course % 2 else [1.0] * bricks
        ends = np.cumsum([0.0, *shares])
        for brick, share in enumerate(shares):
            centre = _PITCH * 0.5 * float(ends[brick] + ends[brick + 1])
            size = (_PITCH * share - _JOINT_GAP, *_BRICK[1:])
            bodies.append(Body(f"c{course}b{brick}", size, _BRICK_MASS * share, (centre, 0.0, _level(course))))
    return Scene(f"wall of {len(bodies)}", tuple(bodies))


def pyramid(base: int = 10) -> Scene:
    """Rows of bricks, each a brick shorter than the row below."""
    bodies = [
        Body(f"r{row}b{brick}", _BRICK, _BRICK_MASS, (_PITCH * (brick + 0.5 * row), 0.0, _level(row)))
        for row in range(base)
        for brick in range(base - row)
    ]
    return Scene(f"pyramid of {len(bodies)}", tuple(bodies))


def heavy_on_light(ratio: float = 1e4) -> Scene:
    """A box on a cube of a kilogram, heavier by a ratio of masses."""
    side, above = _CUBE[2], 0.4
    return Scene(
        f"mass ratio {ratio:.0e}",
        (
            Body("light", _CUBE, 1.0, (0.0, 0.0, 0.5 * side + GAP)),
            Body("heavy", (above,) * 3, ratio, (0.0, 0.0, side + 0.5 * above + 2.0 * GAP)),
        ),
    )


def grip(fingers: int = 2) -> Scene:
    """A box in the air, squeezed by two or four stiff fingers that carry it by friction, many times redundant."""
    side, thickness, force = 0.2, 0.05, 200.0
    reach = 0.5 * side + 0.5 * thickness + GAP
    height, stiffness = 1.0, 1e5
    box = Body("box", (side,) * 3, 5.0, (0.0, 0.0, height))
    parts = []
    for k in range(fingers):
        turn = 2.0 * math.pi * k / fingers
        x, y = round(math.cos(turn)), round(math.sin(turn))
        size = (thickness, 0.1, 0.1) if x else (0.1, thickness, 0.1)
        drive = Drive((-x, -y, 0.0), GAP + force / stiffness, stiffness, 1e3)
        parts.append(Body(f"finger{k}", size, 1.0, (reach * x, reach * y, height), drive))
    return Scene(f"grip of {fingers} fingers", (box, *parts))


def braced_feet(legs: int = 4) -> Scene:
    """A chassis on stiff struts, inclined outwards within the cone of friction, that press against each other."""
    chassis, mass, height = (2.0, 1.2, 0.4), 3000.0, 0.8
    foot, lean, stroke = (0.3, 0.3, 0.1), math.radians(25.0), 0.05
    clearance = height - GAP - 0.5 * foot[2]
    parts = []
    for k in range(legs):
        turn = 2.0 * math.pi * (k + 0.5) / legs
        x, y = math.cos(turn), math.sin(turn)
        axis = (math.sin(lean) * x, math.sin(lean) * y, -math.cos(lean))
        drive = Drive(axis, stroke, 2e6, 4e4, "chassis")
        parts.append(Body(f"foot{k}", foot, 40.0, (1.5 * x, 1.2 * y, height - clearance), drive))
    return Scene(f"braced on {legs} feet", (Body("chassis", chassis, mass, (0.0, 0.0, height)), *parts))


def tracks(feet: int = 8) -> Scene:
    """A chassis on two rows of feet, as on tracks, that slides and turns until it stands."""
    chassis, foot = (3.0, 1.6, 1.0), (0.2, 0.4, 0.1)
    places = np.linspace(-1.4, 1.4, feet)
    centres = tuple((float(x), y, -0.55) for x, y in product(places, (-0.9, 0.9)))
    body = Body("chassis", chassis, 20000.0, (0.0, 0.0, 0.6 + GAP), None, centres, foot, (1.0, 0.0, 0.0), (0, 0, 0.5))
    return Scene(f"tracks of {feet} feet", (body,))


def boxes_apart(count: int) -> Scene:
    """Boxes on the ground, a metre from each other."""
    side = math.ceil(math.sqrt(count))
    bodies = [Body(f"b{k}", (0.4,) * 3, 10.0, (float(k % side), float(k // side), 0.2 + GAP)) for k in range(count)]
    return Scene(f"{count} boxes apart", tuple(bodies))


def _level(course: int) -> float:
    """Height of the centre of a brick of a course [m]."""
    return 0.5 * _BRICK[2] + GAP + course * (_BRICK[2] + GAP)


# --- in grouser -----------------------------------------------------------------------------------------------------


def fleet(scene: Scene) -> Machine:
    """A scene as a fleet of its members."""
    return grouser.combine(members(scene))


def members(scene: Scene) -> dict[str, Member]:
    """The machines of a scene: each free body with those on it is one, those on the world are the member `rail`."""
    found = {
        body.name: Member(_machine(body, scene.carried_by(body.name)), Pose(body.position))
        for body in scene.bodies
        if body.drive is None
    }
    fixed = scene.carried_by("")
    if fixed:
        found[_RAIL] = Member(_machine(None, fixed), Pose())
    return found


def simulation(scene: Scene, **settings: Any) -> grouser.Simulation:
    """A simulation of a scene at its start, its drives commanded.

    Args:
        scene: the scene.
        settings: of `grouser.Simulation`.
    """
    world = World(ground=Ground(friction=FRICTION))
    made = grouser.Simulation(fleet(scene), world, **({"step": STEP} | settings))
    start(made, scene)
    return made


def link_name(body: Body) -> str:
    """Name of a body's link in the fleet."""
    member = body.name if body.drive is None else body.drive.on or _RAIL
    return f"{member}/{body.name}"


def start(made: grouser.Simulation, scene: Scene) -> None:
    """Puts a simulation of a scene back to the start."""
    made.reset()
    made.clear_diagnostics()
    for body in scene.bodies:
        if body.drive is not None:
            made.command[link_name(body)] = body.drive.target
        elif any(body.linear) or any(body.angular):
            made.part(body.name).place(body.position, Pose().quaternion, body.linear, body.angular)


def _machine(base: Body | None, driven: tuple[Body, ...]) -> Machine:
    root = _RAIL if base is None else base.name
    origin = (0.0, 0.0, 0.0) if base is None else base.position
    joints, drives = [], []
    for body in driven:
        assert body.drive is not None
        x, y, z = (at - start for at, start in zip(body.position, origin, strict=True))
        joints.append(Joint(body.name, "prismatic", root, body.name, Pose((x, y, z)), body.drive.axis))
        drives.append(ServoDrive(body.name, "position", body.drive.stiffness, body.drive.damping, math.inf))
    return Machine(
        name=root,
        links=(Link(_RAIL) if base is None else _link(base), *map(_link, driven)),
        joints=tuple(joints),
        root=root,
        floating_base=base is not None,
        drives=tuple(drives),
        contacts=tuple(ContactMaterial(body.name, friction=FRICTION) for body in (base, *driven) if body is not None),
    )


def _link(body: Body) -> Link:
    x, y, z = body.inertia
    inertial = Inertial(Pose(), body.mass, (x, 0.0, 0.0, y, 0.0, z))
    return Link(body.name, inertial, tuple(Collision("", Pose(centre), Box(size)) for centre, size in body.boxes))


# --- in MuJoCo ------------------------------------------------------------------------------------------------------


def mujoco_text(scene: Scene, tolerance: float = 1e-8) -> str:
    """A scene as text for MuJoCo: elliptic cones, Newton's method with a tolerance, the same step and friction.

    Its contacts are nearly rigid: with MuJoCo's usual ones a grip slips by 4 mm/s, and a heavy box pushes a light one
    into the ground. They take no more time.
    """
    roots = [body for body in scene.bodies if body.drive is None or not body.drive.on]
    parts = "".join(_mujoco_body(scene, body, (0.0, 0.0, 0.0)) for body in roots)
    actuators = "".join(
        f'<position joint="{body.name}" kp="{body.drive.stiffness!r}" kv="{body.drive.damping!r}"/>'
        for body in scene.bodies
        if body.drive is not None
    )
    option = f'timestep="{STEP}" integrator="implicitfast" solver="Newton" cone="elliptic" tolerance="{tolerance!r}"'
    geom = f'friction="{FRICTION} 0.005 0.0001" condim="3" {_MUJOCO_HARDNESS}'
    return (
        f"<mujoco><option {option}/><default><geom {geom}/></default>"
        f'<worldbody><geom type="plane" size="0 0 1"/>{parts}</worldbody><actuator>{actuators}</actuator></mujoco>'
    )


def mujoco_start(mujoco: Any, model: Any, data: Any, scene: Scene) -> None:
    """Puts MuJoCo's data of a scene back to the start; angular velocities are in the body's axes, parallel at first."""
    mujoco.mj_resetData(model, data)
    data.ctrl[:] = [body.drive.target for body in scene.bodies if body.drive is not None]
    for body in scene.bodies:
        if body.drive is None:
            data.joint(f"free_{body.name}").qvel[:] = [*body.linear, *body.angular]


def _mujoco_body(scene: Scene, body: Body, origin: Vector3) -> str:
    place = [at - start for at, start in zip(body.position, origin, strict=True)]
    if body.drive is None:
        joint = f'<freejoint name="free_{body.name}"/>'
    else:
        joint = f'<joint name="{body.name}" type="slide" axis="{_numbers(body.drive.axis)}"/>'
    geoms = "".join(
        f'<geom type="box" pos="{_numbers(centre)}" size="{_numbers(0.5 * side for side in size)}"/>'
        for centre, size in body.boxes
    )
    inside = "".join(_mujoco_body(scene, part, body.position) for part in scene.carried_by(body.name))
    inertial = f'<inertial pos="0 0 0" mass="{body.mass!r}" diaginertia="{_numbers(body.inertia)}"/>'
    return f'<body name="{body.name}" pos="{_numbers(place)}">{joint}{inertial}{geoms}{inside}</body>'


def _numbers(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)
