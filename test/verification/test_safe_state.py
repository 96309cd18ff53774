"""The safe state, neutral and braked, of the hydraulic machines: from full motion, loaded, on slopes."""

import math

import numpy as np
import pytest

import grouser
from grouser.catalogue import machine_file
from grouser.physics.description.data.world import Ground

LOADED = """<robot name="loaded" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:include filename="{file}"/>
  <link name="load"><inertial>
    <mass value="{mass}"/><inertia ixx="2" iyy="2" izz="2" ixy="0" ixz="0" iyz="0"/>
  </inertial></link>
  <joint name="load" type="fixed"><parent link="{link}"/><child link="load"/></joint>
</robot>"""
MOST_CYLINDER = 1e-3  # [m] in the ten seconds after the trip, once it has stopped
MOST_TURN = 1e-4  # [rad] of a swing, track or wheel


def sloping_world(degrees, towards_x):
    """Hard ground that rises towards x or y, and the machine along it."""
    tilt = math.radians(degrees)
    normal = (-math.sin(tilt), 0.0, math.cos(tilt)) if towards_x else (0.0, -math.sin(tilt), math.cos(tilt))
    half = 0.5 * tilt
    axis = (0.0, -math.sin(half), 0.0) if towards_x else (math.sin(half), 0.0, 0.0)
    return grouser.World(ground=Ground(normal=normal), spawn=grouser.Pose(quaternion=(*axis, math.cos(half))))


@pytest.mark.parametrize(
    ("name", "link", "load", "arguments"),
    [
        ("excavator", "bucket_link", 150.0, {}),
        ("demolition_robot", "tool_link", 100.0, {"stance": "outriggers"}),
        ("demolition_robot", "tool_link", 100.0, {"stance": "tracks"}),
    ],
)
@pytest.mark.parametrize(("degrees", "towards_x"), [(15.0, True), (10.0, False)])
def test_a_loaded_machine_holds_after_a_trip(tmp_path, name, link, load, arguments, degrees, towards_x):
    path = tmp_path / "loaded.urdf.xacro"
    path.write_text(LOADED.format(file=machine_file(name).resolve(), link=link, mass=load))
    simulation = grouser.Simulation(grouser.load_machine(path, arguments), sloping_world(degrees, towards_x))
    second = round(1.0 / simulation.step_size)
    rng = np.random.default_rng(7)
    simulation.step(second)
    for _ in range(3):
        simulation.command.update({valve: rng.uniform(-0.6, 0.6) for valve in simulation.command.valves})
        simulation.step(round(0.7 * second))
    simulation.command.update(dict.fromkeys(simulation.command.valves, 0.0))
    simulation.step(second)
    cylinders = [cylinder.name for cylinder in simulation.machine.cylinders]
    motors = [motor.joint for motor in simulation.machine.hydraulic_motors]
    stroke = np.array([simulation.cylinder[one].position for one in cylinders])
    angle = np.array([simulation.joint_position[one] for one in motors])
    for _ in range(10):
        simulation.step(second)
        moved = np.abs([simulation.cylinder[one].position for one in cylinders] - stroke)
        turned = np.abs([simulation.joint_position[one] for one in motors] - angle)
        assert [one for one, way in zip(cylinders, moved, strict=True) if way > MOST_CYLINDER] == []
        assert [one for one, way in zip(motors, turned, strict=True) if way > MOST_TURN] == []
