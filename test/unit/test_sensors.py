"""Readings of an inertial measurement unit."""

import math

import numpy as np
import pytest

from grouser import ParameterError, Simulation
from grouser.physics.base.errors import MachineError
from grouser.physics.description import parse_machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import quaternion_from_rpy
from grouser.physics.description.data.world import World

STEP = 1e-3
GRAVITY = np.array([0.0, 0.0, -9.81])

BODY = """<robot name="r"><link name="{root}"/>
<link name="body"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
<joint name="hinge" type="{joint}"><parent link="{root}"/><child link="body"/><axis xyz="0 0 1"/></joint>
<grouser><sensor name="unit" type="imu" link="body" xyz="0.3 0.1 -0.2" rpy="0.4 -0.2 0.9"/>{more}</grouser></robot>"""


def simulate(root="base", joint="fixed", world=World(), more=""):
    return Simulation(parse_machine(BODY.format(root=root, joint=joint, more=more), "r.urdf"), world, step=STEP)


def test_imu_at_rest_measures_the_reaction_to_gravity():
    resting = simulate(root="world")
    resting.step(3)
    (reading,) = resting.sensors.imu.values()
    turn = rotation(quaternion_from_rpy(0.4, -0.2, 0.9))
    np.testing.assert_allclose(reading.specific_force, -GRAVITY @ turn, atol=1e-12)
    np.testing.assert_allclose(reading.angular_velocity, 0.0)
    np.testing.assert_allclose(rotation(reading.orientation), turn, atol=1e-12)


def test_imu_in_free_fall_measures_the_centripetal_acceleration():
    """Thrown and spinning about a principal axis: the sensor, off the centre, measures w x (w x r)."""
    falling = simulate(world=World(ground=None, spawn=Pose((0.0, 0.0, 5.0))))
    falling.state.v[:] = [1.0, 2.0, 3.0, 0.0, 0.0, 4.0]
    falling.step(500)
    reading = falling.sensors.imu["unit"]
    turn = rotation(quaternion_from_rpy(0.4, -0.2, 0.9))
    np.testing.assert_allclose(reading.angular_velocity, np.array([0.0, 0.0, 4.0]) @ turn, atol=1e-9)
    # mean over a step of an acceleration that turns by 4 mrad: turned by half of that, and (4 mrad)^2 / 24 too short
    half = 0.5 * 4.0 * STEP
    centripetal = -16.0 * np.array([0.3, 0.1, 0.0])
    mean = np.array(
        [[math.cos(half), math.sin(half), 0.0], [-math.sin(half), math.cos(half), 0.0], [0.0, 0.0, 1.0]]
    ) @ (centripetal * math.sin(half) / half)
    np.testing.assert_allclose(reading.specific_force, mean @ turn, atol=1e-9)


def test_imu_on_an_accelerating_turntable_measures_the_tangential_acceleration():
    table = simulate(
        root="world", joint="continuous", more='<servo_drive joint="hinge" mode="effort" effort_limit="9"/>'
    )
    inertia = 0.1  # about the axis through the body's centre of mass
    table.command["hinge"] = 0.5
    table.step(1)
    reading = table.sensors.imu["unit"]
    # after one step of 5 rad/s2 from rest the centripetal part is (5e-3)^2 r
    expected = 0.5 / inertia * np.cross([0.0, 0.0, 1.0], [0.3, 0.1, 0.0]) - GRAVITY
    turn = rotation(quaternion_from_rpy(0.0, 0.0, table.joint_position["hinge"])) @ rotation(
        quaternion_from_rpy(0.4, -0.2, 0.9)
    )
    np.testing.assert_allclose(reading.specific_force, expected @ turn, atol=2e-5)


def test_imu_is_cleared_by_a_restart():
    falling = simulate(world=World(ground=None, spawn=Pose((0.0, 0.0, 5.0))))
    falling.step(10)
    saved = falling.snapshot()
    falling.step(1)
    shown = falling.sensors.imu["unit"].specific_force
    falling.restore(saved)
    # before the first step there is no acceleration
    np.testing.assert_allclose(np.linalg.norm(falling.sensors.imu["unit"].specific_force), 9.81)
    falling.step(1)
    np.testing.assert_array_equal(falling.sensors.imu["unit"].specific_force, shown)


def test_imu_is_rejected_with_the_midpoint_rule():
    with pytest.raises(ParameterError, match="imu"):
        simulate(root="world", joint="continuous", more='<integrator method="implicit_midpoint"/>')


@pytest.mark.parametrize("name", ["body", "hinge"])
def test_imu_frame_needs_a_unique_name(name):
    text = BODY.format(root="base", joint="fixed", more="").replace('name="unit"', f'name="{name}"')
    with pytest.raises(MachineError, match="is that of a link or joint"):
        parse_machine(text, "r.urdf")


def rotation(quaternion):
    x, y, z, w = quaternion
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2.0 * w * skew + 2.0 * skew @ skew
