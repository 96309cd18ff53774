"""Force-torque sensors: weights at rest, joints that move, external contacts, soil, loops, fixed joints."""

import math

import numpy as np
import pytest

from grouser import Simulation, load_machine, load_world
from grouser.catalogue import machine_file, world_file
from grouser.physics.base.errors import MachineError
from grouser.physics.description import parse_machine
from grouser.physics.description.data.world import World
from grouser.physics.simulation.pushes import Push

BODY = '<inertial>{at}<mass value="{mass}"/><inertia ixx="0.2" iyy="0.3" izz="0.4"/></inertial>'
FREE = World(ground=None)
G = 9.81


def link(name, mass, at="0 0 0", more=""):
    return f'<link name="{name}">{BODY.format(mass=mass, at=f"<origin xyz={chr(34)}{at}{chr(34)}/>")}{more}</link>'


def joint(name, kind, parent, child, more=""):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{more}'
        '<limit lower="-1" upper="1" effort="1e9" velocity="9"/></joint>'
    )


def simulated(*parts, world=FREE, base=None):
    return Simulation(parse_machine(f'<robot name="r">{"".join(parts)}</robot>', "r.urdf", base), world)


def test_a_push_beyond_a_joint_passes_through_it():
    tool = (
        '<link name="world"/>',
        link("tool", 3.0, "0.2 0 0"),
        joint("flange", "fixed", "world", "arm"),
        link("arm", 5.0),
        joint("wrist", "revolute", "arm", "tool", '<axis xyz="0 1 0"/>'),
        '<grouser><servo_drive joint="wrist" mode="position" stiffness="1e7" damping="1e5"/>',
        '<force_torque_sensor name="cell" joint="wrist"/></grouser>',
    )
    simulation = simulated(*tool)
    simulation.pushes["tool"] = Push((10.0, 20.0, -30.0), (0.2, 0.0, 0.0))
    simulation.step(3000)
    cell = simulation.sensors.force_torque_sensor["cell"]
    np.testing.assert_allclose(cell, [-10.0, -20.0, 3.0 * G + 30.0, 0.0, -0.2 * (3.0 * G + 30.0), -4.0], atol=1e-3)
    del simulation.pushes["tool"]
    simulation.step(3000)
    cell = simulation.sensors.force_torque_sensor["cell"]
    np.testing.assert_allclose(cell, [0.0, 0.0, 3.0 * G, 0.0, -0.6 * G, 0.0], atol=1e-3)


def test_weight_on_a_fixed_joint_beyond_a_driven_one():
    """A tool of 3 kg, its centre 0.2 m ahead of the flange, on an arm of 5 kg that a drive holds level."""
    arm = (
        '<link name="world"/>',
        link("arm", 5.0),
        joint("shoulder", "revolute", "world", "arm", '<axis xyz="0 1 0"/>'),
        link("tool", 3.0, "0.2 0 0"),
        joint("flange", "fixed", "arm", "tool", '<origin xyz="0.5 0 0" rpy="0 0 0.3"/>'),
        '<grouser><servo_drive joint="shoulder" mode="position" stiffness="1e7" damping="1e5"/>',
        '<force_torque_sensor name="wrist" joint="flange"/>',
        '<force_torque_sensor name="back" joint="flange" direction="child_to_parent"/>',
        '<force_torque_sensor name="root" joint="shoulder" xyz="0 0 0.1" rpy="0 1.5707963267948966 0"/></grouser>',
    )
    simulation = simulated(*arm)
    simulation.step(3000)
    # the drive gives way by 20 N m / 1e7 N m/rad, which turns forces of up to 78 N
    weight, give = 3.0 * G, 2e-4
    wrist = simulation.sensors.force_torque_sensor["wrist"]
    np.testing.assert_allclose(wrist, [0.0, 0.0, weight, 0.0, -0.2 * weight, 0.0], atol=give)
    np.testing.assert_allclose(simulation.sensors.force_torque_sensor["back"], -wrist, rtol=1e-14)
    # about a point 0.1 m above the joint; x of the frame points down, z along the arm
    x = (3.0 * (0.5 + 0.2 * math.cos(0.3))) / 8.0
    y = 3.0 * 0.2 * math.sin(0.3) / 8.0
    whole = 8.0 * G
    root = simulation.sensors.force_torque_sensor["root"]
    np.testing.assert_allclose(root, [-whole, 0.0, 0.0, 0.0, -x * whole, y * whole], atol=give)


def test_sensor_does_not_change_the_motion():
    """The body beyond a measured fixed joint moves as if it were lumped with the one before it."""
    parts = (
        link("a", 2.0, "0.1 0 0"),
        link("b", 1.0, "0 0.2 0"),
        joint("weld", "fixed", "a", "b", '<origin xyz="0.3 0 0.1" rpy="0.2 0.1 0.4"/>'),
        link("c", 1.5, "0 0 -0.3"),
        joint("hinge", "continuous", "b", "c", '<axis xyz="0 1 0"/><origin xyz="0 0 0.2"/>'),
    )
    plain, measured = (
        simulated(*parts, extra) for extra in ("", '<grouser><force_torque_sensor name="s" joint="weld"/></grouser>')
    )
    for one in (plain, measured):
        one.state.v[:] = [0.1, 0.2, 0.3, 0.5, -0.4, 0.3, 2.0]
        one.step(500)
    np.testing.assert_allclose(measured.state.q, plain.state.q, atol=1e-11)


def test_force_on_a_turning_mass_is_centripetal():
    """2 kg at 0.5 m turn about the vertical at 3 rad/s: m w2 r inwards and m g upwards; to w times half a step."""
    simulation = simulated(
        '<link name="world"/>',
        link("hub", 1.0),
        joint("spin", "continuous", "world", "hub", '<axis xyz="0 0 1"/>'),
        link("mass", 2.0, "0.5 0 0"),
        joint("weld", "fixed", "hub", "mass"),
        '<grouser><force_torque_sensor name="s" joint="weld"/></grouser>',
    )
    simulation.state.v[:] = 3.0
    simulation.step(100)
    pull = 2.0 * 9.0 * 0.5
    force = simulation.sensors.force_torque_sensor["s"][:3]
    np.testing.assert_allclose(force, [-pull, 0.0, 2.0 * G], atol=pull * 3.0 * 0.001)


def test_sensor_in_a_leg_measures_contact_less_its_own_weight():
    """A body of 10 kg on one foot plate of 2 kg: the plate gets the body's weight downwards."""
    plate = '<collision><geometry><box size="1 1 0.1"/></geometry></collision>'
    simulation = simulated(
        link("body", 10.0),
        link("plate", 2.0, more=plate),
        joint("leg", "fixed", "body", "plate", '<origin xyz="0 0 -0.5"/>'),
        '<grouser><force_torque_sensor name="s" joint="leg"/></grouser>',
        world=World(),
    )
    simulation.step(2000)
    np.testing.assert_allclose(simulation.sensors.force_torque_sensor["s"], [0, 0, -10.0 * G, 0, 0, 0], atol=0.02)


def test_sensors_in_wheel_joints_carry_the_rover_on_sand():
    """All vertical forces on the wheels are the rover's weight without its wheels, downwards."""
    rover = load_machine(machine_file("rover"))
    wheels = [wheel.link for wheel in rover.wheels]
    drives = {joint.child: joint.name for joint in rover.joints}
    sensors = "".join(f'<force_torque_sensor name="s_{w}" joint="{drives[w]}"/>' for w in wheels)
    end = rover.urdf.rindex("</grouser>")
    simulation = Simulation(
        parse_machine(rover.urdf[:end] + sensors + rover.urdf[end:], rover.file), load_world(world_file("sand"))
    )
    simulation.step(4000)
    mass = {one.name: one.inertial.mass for one in rover.links if one.inertial}
    above = sum(mass.values()) - sum(mass[w] for w in wheels)
    total = np.sum([np.linalg.norm(simulation.sensors.force_torque_sensor[f"s_{w}"][[0, 2]]) for w in wheels])
    # the settling rover still moves a little, and wheels push each other fore and aft
    assert total == pytest.approx(above * G, rel=0.01)


def test_noise_of_a_force_torque_sensor():
    parts = (
        '<link name="world"/>',
        link("arm", 5.0),
        joint("hinge", "continuous", "world", "arm", '<axis xyz="0 0 1"/>'),
        '<grouser><force_torque_sensor name="exact" joint="hinge"/>',
        '<force_torque_sensor name="noisy" joint="hinge" force_noise="2" torque_noise="0.1"/></grouser>',
    )
    simulation, errors = simulated(*parts), []
    for _ in range(400):
        simulation.step(1)
        errors.append(simulation.sensors.force_torque_sensor["noisy"] - simulation.sensors.force_torque_sensor["exact"])
    deviation = np.array(errors).reshape(-1, 2, 3).std(axis=(0, 2))
    assert deviation == pytest.approx([2.0, 0.1], rel=4.0 / math.sqrt(2.0 * 1200))


@pytest.mark.parametrize(
    ("sensor", "message"),
    [
        ('name="s" joint="elbow"', "there is no such joint"),
        ('name="hinge" joint="hinge"', "that of a link or joint"),
        ('name="s" joint="hinge" direction="up"', "direction = 'up' is not valid"),
        ('name="s" joint="hinge" force_noise="-1"', "force_noise = -1 N is out of range"),
        ('name="s" joint="bolt"', "nothing moves before or beyond it"),
    ],
)
def test_bad_force_torque_sensors_are_rejected(sensor, message):
    with pytest.raises(MachineError, match=message):
        simulated(
            '<link name="world"/>',
            link("arm", 5.0),
            joint("hinge", "continuous", "world", "arm"),
            link("plate", 1.0),
            joint("bolt", "fixed", "world", "plate"),
            f"<grouser><force_torque_sensor {sensor}/></grouser>",
        )
