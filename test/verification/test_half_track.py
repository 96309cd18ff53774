"""A half-track: two steered wheels in front, two tracks behind, on one machine."""

import math

import numpy as np
import pytest
from tracked_vehicle import tracked_vehicle

from grouser import Simulation, World
from grouser.physics.description.data.soil import Soil, SoilGround
from grouser.physics.description.data.world import Ground
from grouser.program import TWIST
from grouser.runtime.driving import Driver
from grouser.runtime.vehicle import DeadReckoning
from grouser.runtime.vehicle_parts import make_vehicle

WHEEL_RADIUS, AXLE, TREAD = 0.3, 1.6, 1.2
TICK = 20


def _inertial(mass, moment):
    return (
        f'<inertial><mass value="{mass}"/><inertia ixx="{moment}" iyy="{moment}" izz="{moment}" ixy="0" ixz="0" '
        'iyz="0"/></inertial>'
    )


def half_track():
    links, rows = [f'<link name="engine">{_inertial(600, 40)}</link>'], []
    links.append(
        '<joint name="bolts" type="fixed"><parent link="base"/><child link="engine"/><origin xyz="1.2 0 0.5"/></joint>'
    )
    for side, across in (("left", 0.5), ("right", -0.5)):
        links.append(
            f'<link name="{side}_knuckle">{_inertial(15, 0.5)}</link><link name="{side}_front">{_inertial(30, 1.2)}'
            f'<collision><origin rpy="{0.5 * math.pi} 0 0"/><geometry><cylinder radius="{WHEEL_RADIUS}" '
            'length="0.2"/></geometry></collision></link>'
            f'<joint name="{side}_steering" type="revolute"><parent link="base"/><child link="{side}_knuckle"/>'
            f'<origin xyz="{AXLE} {across * TREAD} {WHEEL_RADIUS}"/><axis xyz="0 0 1"/>'
            '<limit lower="-0.7" upper="0.7" effort="1e5" velocity="2"/></joint>'
            f'<joint name="{side}_axle" type="continuous"><parent link="{side}_knuckle"/><child link="{side}_front"/>'
            '<axis xyz="0 1 0"/><limit effort="1e5" velocity="100"/></joint>'
        )
        rows.append(
            f'<wheel link="{side}_front" radius="{WHEEL_RADIUS}" width="0.2" steering="{side}_steering"/>'
            f'<servo_drive joint="{side}_steering" mode="position" stiffness="1e5" damping="2e3"/>'
            f'<contact link="{side}_front" friction="0.7"/>'
        )
    return tracked_vehicle(
        weight=15e3, length=1.0, tread=1.2, shear=5e-3, pretension=2e4, links="".join(links), extra="".join(rows)
    )


def drive(machine, world, twist, seconds):
    """Drives by a twist; returns pose and odometry: x, y, yaw each, and the odometry's covariance."""
    simulation, vehicle = Simulation(machine, world), make_vehicle(machine)
    driver = Driver(vehicle, simulation)
    simulation.step(1000)
    joints = [wheel.joint for wheel in vehicle.wheels]
    steering = [wheel.steering for wheel in vehicle.wheels]

    def angles():
        return np.array([simulation.joint_position[name] for name in joints])

    def steered():
        return np.array([simulation.joint_position[name] if name else 0.0 for name in steering])

    def pose():
        position, (_, _, z, w) = simulation.link_pose("base")
        return np.array([position[0], position[1], 2.0 * math.atan2(z, w)])

    reckoning = DeadReckoning(vehicle, pose(), angles(), steered())
    commands = dict(zip(TWIST, twist, strict=True))
    for _ in range(int(seconds / TICK / simulation.step_size)):
        for name, value in driver.commands(commands, TICK * simulation.step_size).items():
            simulation.command[name] = value
        simulation.step(TICK)
        reckoning.update(TICK * simulation.step_size, angles(), steered())
    return pose(), reckoning.pose, reckoning.covariance, simulation


@pytest.mark.parametrize("soft", [False, True])
def test_half_track_drives_straight_and_turns_as_told(soft):
    soil = Soil(
        "bin",
        "",
        cohesive_modulus=990.0,
        frictional_modulus=1528430.0,
        exponent=1.1,
        cohesion=1040.0,
        friction_angle=math.radians(28.0),
        shear_displacement_modulus=0.01,
        density=1600.0,
        repose_angle=math.radians(32.0),
    )
    world = World(ground=Ground(soil=SoilGround((soil,)))) if soft else World()
    machine = half_track()
    found, _, _, simulation = drive(machine, world, (0.5, 0.0, 0.0), 5.0)
    assert found[0] == pytest.approx(2.5, rel=0.12)
    assert abs(found[1]) < 0.005 * found[0]
    assert simulation.diagnostics.unsettled_steps == 0
    found, reckoned, covariance, _ = drive(machine, world, (0.5, 0.0, 0.15), 6.0)
    # the steered wheels lead: tracks alone would skid and turn less
    assert found[2] == pytest.approx(0.9, rel=0.2)
    assert reckoned[2] == pytest.approx(found[2], abs=3.0 * math.sqrt(covariance[2, 2]) + 0.05)
