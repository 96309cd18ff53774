"""Wheels on soft ground for the verification of soil: a wheel in a bed, loose wheels, plates and carts."""

import math
from dataclasses import replace

from grouser import Simulation, World
from grouser.physics.description import parse_machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.soil import Soil, SoilGround, Wheel
from grouser.physics.description.data.world import Ground

GRAVITY = 9.81
# Lunar simulant of Ishigami et al. (2007); the reference tables are for a wheel of 15 cm on it.
LUNAR = Soil(
    name="lunar simulant",
    source="Ishigami et al. 2007",
    cohesive_modulus=1370.0,
    frictional_modulus=8.14e5,
    exponent=1.0,
    cohesion=800.0,
    friction_angle=math.radians(37.2),
    shear_displacement_modulus=0.036,
    density=1600.0,
    repose_angle=math.radians(37.2),
)
# The same with the parameters of all three levels; all displaced soil heaves up.
SAND = replace(
    LUNAR,
    name="sand",
    source="test",
    density=1500.0,
    repose_angle=math.radians(32.0),
    heave=1.0,
    soil_stiffness=1e7,
    soil_viscosity=2e5,
    plastic_modulus=1e6,
    yield_stress=3e3,
)
LEVELS = ("cells", "stress", "deformable")
RADIUS, WIDTH = 0.15, 0.15


def soft(
    level="deformable", cell=0.02, *soils: Soil, gravity=GRAVITY, spawn=Pose(), bulldozing=True, **ground
) -> World:
    """A world of soft ground; `types`, `types_cell` and `types_origin` go to the soil, the rest to the ground."""
    types = {name: ground.pop(name) for name in ("types", "types_cell", "types_origin") if name in ground}
    soil = SoilGround(soils or (SAND,), level, cell, bulldozing, **types)
    return World(gravity=(0.0, 0.0, -gravity), ground=Ground(soil=soil, **ground), spawn=spawn)


def _link(name, mass, inertia=1.0, shape=""):
    collision = f"<collision>{shape}</collision>" if shape else ""
    return (
        f'<link name="{name}"><inertial><mass value="{mass}"/><inertia ixx="{inertia}" iyy="{inertia}" '
        f'izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial>{collision}</link>'
    )


def _joint(name, kind, parent, child, axis, xyz=(0, 0, 0), yaw=0.0):
    limit = '<limit lower="-1e3" upper="1e3" effort="1e9" velocity="1e9"/>' if kind in ("prismatic", "revolute") else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz[0]} {xyz[1]} {xyz[2]}" rpy="0 0 {yaw}"/>'
        f'<axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>{limit}</joint>'
    )


def _drive(joint, mode="velocity", **numbers):
    numbers = {"damping": 1e9, "effort_limit": 1e8} | numbers
    text = " ".join(f'{name}="{value}"' for name, value in numbers.items())
    return f'<servo_drive joint="{joint}" mode="{mode}" {text}/>'


def bed(
    world: World, load: float, wheel: Wheel | None = None, heading=0.0, steer=0.0, height=0.0, step=1e-3, collision=""
) -> Simulation:
    """A wheel in a bed: a carriage of given speed along the heading, a free vertical slide and a wheel of given speed.

    Args:
        world: soft ground.
        load: weight of slide and wheel [N].
        wheel: on the link "wheel".
        heading: of the carriage, about the vertical [rad].
        steer: of the wheel against the carriage [rad].
        height: of the wheel's lowest point above z = 0 at the start [m].
        step: [s].
        collision: shape of the wheel for contacts.
    """
    wheel = wheel or Wheel("wheel", RADIUS, WIDTH)
    gravity = math.hypot(*world.gravity)
    mass = 0.2 * load / gravity
    parts = (
        '<link name="world"/>',
        _link("carriage", 1.0),
        _link("slide", load / gravity - mass),
        _link("wheel", mass, 0.4 * mass * wheel.radius**2, collision),
        _joint("rail", "prismatic", "world", "carriage", (1, 0, 0), yaw=heading),
        _joint("lift", "prismatic", "carriage", "slide", (0, 0, 1), (0, 0, wheel.radius + height), steer),
        _joint("spin", "continuous", "slide", "wheel", (0, 1, 0)),
        f"<grouser>{_drive('rail')}{_drive('spin')}</grouser>",
    )
    machine = replace(parse_machine(f'<robot name="bed">{"".join(parts)}</robot>', "bed.urdf"), wheels=(wheel,))
    return Simulation(machine, world, step)


def held(world: World, wheel: Wheel, step=1e-3) -> Simulation:
    """A wheel whose every motion but leaning is driven: joints rail (x), cross (y), lift (z), steer and spin.

    Args:
        world: soft ground.
        wheel: on the link "wheel"; it starts on the surface.
        step: [s].
    """
    parts = (
        '<link name="world"/>',
        *(_link(name, 1.0) for name in ("along", "aside", "slide", "fork")),
        _link("wheel", 1.0, 0.01),
        _joint("rail", "prismatic", "world", "along", (1, 0, 0)),
        _joint("cross", "prismatic", "along", "aside", (0, 1, 0)),
        _joint("lift", "prismatic", "aside", "slide", (0, 0, 1), (0, 0, wheel.radius)),
        _joint("steer", "continuous", "slide", "fork", (0, 0, 1)),
        _joint("spin", "continuous", "fork", "wheel", (0, 1, 0)),
    )
    # they give way by W / damping: a load of 1 kN moves them by 1e-9 m/s
    drives = "".join(
        _drive(joint, damping=1e12, effort_limit=1e12) for joint in ("rail", "cross", "lift", "steer", "spin")
    )
    text = f'<robot name="held">{"".join(parts)}<grouser>{drives}</grouser></robot>'
    return Simulation(replace(parse_machine(text, "held.urdf"), wheels=(wheel,)), world, step)


def drive(simulation: Simulation, slip: float, speed=0.03, radius=RADIUS, direction=1.0):
    """Commands a bed: a rim speed (driving) or carriage speed (braking) and a slip; backward with direction -1."""
    rolling, ahead = (speed, speed * (1.0 - slip)) if slip >= 0.0 else (speed * (1.0 + slip), speed)
    simulation.command["spin"] = direction * rolling / radius
    simulation.command["rail"] = direction * ahead


def loose_wheel(world: World, mass: float, wheel: Wheel | None = None, step=1e-3) -> Simulation:
    """A free wheel at the world's spawn pose."""
    wheel = wheel or Wheel("wheel", RADIUS, WIDTH)
    text = f'<robot name="loose">{_link("wheel", mass, 0.4 * mass * wheel.radius**2)}</robot>'
    return Simulation(replace(parse_machine(text, "loose.urdf"), wheels=(wheel,)), world, step)


def plate(world: World, radius: float, step=1e-3) -> Simulation:
    """A round plate, the flat side of a wheel, on the vertical drive "press"."""
    parts = (
        '<link name="world"/>',
        _link("plate", 1.0),
        _joint("press", "prismatic", "world", "plate", (0, 0, 1), (0, 0, 0.05)),
        f"<grouser>{_drive('press')}</grouser>",
    )
    machine = parse_machine(f'<robot name="plate">{"".join(parts)}</robot>', "plate.urdf")
    return Simulation(replace(machine, wheels=(Wheel("plate", radius, 0.1, axis=(0.0, 0.0, 1.0)),)), world, step)


def cart(world: World, mass=20.0, step=1e-3, damping=20.0, body="") -> Simulation:
    """A body on four wheels with separate drives; its centre is at the world's spawn pose."""
    wheels = {
        f"{end}_{side}": (0.35 * x, 0.3 * y)
        for end, x in (("front", 1), ("rear", -1))
        for side, y in (("left", 1), ("right", -1))
    }
    parts = [_link("body", 0.6 * mass, 0.05 * mass, body)]
    for name, (x, y) in wheels.items():
        parts.append(_link(name, 0.1 * mass, 0.04 * mass * RADIUS**2))
        parts.append(_joint(f"{name}_spin", "continuous", "body", name, (0, 1, 0), (x, y, 0)))
    drives = "".join(_drive(f"{name}_spin", damping=damping, effort_limit=1e3) for name in wheels)
    text = f'<robot name="cart">{"".join(parts)}<grouser>{drives}</grouser></robot>'
    machine = replace(parse_machine(text, "cart.urdf"), wheels=tuple(Wheel(name, RADIUS, WIDTH) for name in wheels))
    return Simulation(machine, world, step)
