"""Streams of a machine that digs: load, force, soil in the air, ground, and the balance of mass."""

import numpy as np
import pytest
from control_msgs.msg import DynamicInterfaceGroupValues
from diagnostic_msgs.msg import DiagnosticArray
from sensor_msgs.msg import PointCloud2
from std_srvs.srv import Trigger

import grouser
from grouser.nodes.shared import topics

SOIL = "ground: {soil: {cell: 0.05, type: {preset: sandy_loam, cohesion: 2000}}}"
LINK = """<link name="{0}"><inertial><mass value="50"/>
  <inertia ixx="5" iyy="5" izz="5" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/><origin xyz="0 0 {4}"/><axis xyz="{5}"/>
  <limit lower="-20" upper="20" effort="1e6" velocity="50"/></joint>"""
# A bucket whose edge is 0.1 m deep, on a gantry that lifts and tips it.
PARTS = [
    '<link name="rail"/>',
    *(LINK.format(name) for name in ("carriage", "mast", "tool")),
    JOINT.format("x", "prismatic", "rail", "carriage", 0, "1 0 0"),
    JOINT.format("z", "prismatic", "carriage", "mast", -0.1, "0 0 1"),
    JOINT.format("pitch", "revolute", "mast", "tool", 0, "0 1 0"),
]
DRIVES = "".join(f'<servo_drive joint="{joint}" mode="velocity" damping="1e9"/>' for joint in ("x", "z", "pitch"))
SHOVEL = """<shovel name="bucket" link="tool" cutting_edge="0 -0.25 0  0 0.25 0" top_edge="-0.3 -0.25 0.3 -0.3 0.25 0.3"
  cutting_direction="1 0 0" profile="0 0 0  -0.3 0 -0.05  -0.4 0 0.15  -0.3 0 0.3"/>"""
MACHINE = f'<robot name="gantry">{"".join(PARTS)}<grouser>{DRIVES}{SHOVEL}</grouser></robot>'
SPEEDS = {"x": 1.0, "z": 0.5, "pitch": 2.0}
STEPS = 400  # it has dug, lifts and dumps


def columns(cloud: PointCloud2) -> dict[str, np.ndarray]:
    values = np.frombuffer(bytes(cloud.data), "<f4").reshape(-1, len(cloud.fields))
    return {field.name: values[:, number] for number, field in enumerate(cloud.fields)}


def test_streams_of_a_bucket_that_digs_are_the_readings_of_the_simulation(peer, start_simulator, tmp_path) -> None:
    files = {"machine": MACHINE, "world": SOIL}
    commands = [f"{{time: 0.0, joint: {joint}, value: {speed}}}" for joint, speed in SPEEDS.items()]
    files["program"] = f"commands: [{', '.join(commands)}]"
    for name, text in files.items():
        (tmp_path / f"{name}.{'urdf' if name == 'machine' else 'yaml'}").write_text(text)
    start_simulator(
        **{file.stem: str(file) for file in tmp_path.iterdir()},
        base="fixed",
        start_paused=True,
        step_request_count=STEPS,
        diagnostics_rate=20.0,
        falling_rate=50.0,
        terrain_rate=10.0,
    )
    load, force = (peer.hear(DynamicInterfaceGroupValues, name) for name in ("bucket/load", "digging/force"))
    falling = peer.hear(PointCloud2, "terrain/falling", topics.SENSOR_DATA)
    terrain = peer.hear(PointCloud2, "terrain", topics.LATCHED)
    diagnostics = peer.hear(DiagnosticArray, "/diagnostics")
    assert peer.ask(Trigger, "/simulator/step", Trigger.Request()).success

    def last(inbox):
        return inbox.wait_ever(lambda message: message.header.stamp.nanosec == STEPS * 1_000_000, "the last step")

    machine = grouser.load_machine(tmp_path / "machine.urdf", base="fixed")
    simulation = grouser.Simulation(machine, grouser.load_world(tmp_path / "world.yaml"), step=0.001)
    simulation.command.update(SPEEDS)
    simulation.step(STEPS)
    found, lots = simulation.bucket_load("bucket"), simulation.falling_soil()
    assert found.mass > 0.1 and len(lots) > 3
    values = last(load).interface_values[0]
    assert list(values.interface_names) == ["mass", "centre_x", "centre_y", "centre_z", "volume", "fill_factor"]
    assert list(values.values) == [found.mass, *found.centre, found.volume, found.fill_factor]
    values = last(force).interface_values[0]
    acting = dict(zip(values.interface_names, values.values, strict=True))
    assert acting["specific_energy"] == simulation.digging_force("bucket").specific_energy > 0.0
    assert max(message.interface_values[0].values[0] for message in force.all()) > 100.0  # separation
    fell = columns(last(falling))
    assert list(fell) == ["x", "y", "z", "half_x", "half_y", "mass"]
    np.testing.assert_allclose(np.stack(list(fell.values()), axis=1), lots, rtol=1e-6, atol=1e-6)
    ground = columns(last(terrain))
    patch = simulation.terrain_patch(10.0)
    np.testing.assert_array_equal(ground["loose"], patch.loose.astype("f4"))
    assert ground["loose"].max() > 0.01 and ground["rut"].max() > 0.1
    message = last(diagnostics)
    (status,) = [status for status in message.status if status.name == "simulator: soil"]
    balance = {pair.key: float(pair.value) for pair in status.values}
    assert balance["carried [kg]"] == pytest.approx(found.mass, rel=1e-5)
    assert balance["falling [kg]"] == pytest.approx(lots[:, 5].sum(), rel=1e-5)
    assert abs(balance["relative_residual"]) < 1e-9
