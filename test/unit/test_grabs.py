"""Grabs: two buckets that close on soil, hold it together and let it fall."""

import numpy as np
import pytest

import grouser
from grouser.physics.description import parse_machine
from grouser.physics.description.world.reader import parse_world
from grouser.physics.digging.holding import make_closed_holding

# Width, and from the hinge down to the edges [m]; density of the soil [kg/m3].
WIDTH, LENGTH, DENSITY = 0.6, 0.6, 1600.0
BULGE = np.array([(0.0, 0.0), (0.1, 0.2), (0.3, 0.35), (0.5, 0.3), (0.5, 0.0)])
AREA, CENTRE = 0.13, (0.292308, 0.146154)
INERTIAL = '<inertial><mass value="{mass}"/><inertia ixx="5" iyy="5" izz="5" ixy="0" ixz="0" iyz="0"/></inertial>'
SOIL = f"""
ground:
  soil:
    cell: 0.05
    type: {{preset: sandy_loam, cohesion: 0, friction_angle_deg: 32, density: {DENSITY}, swell: 1.25,
      repose_angle_deg: 32}}
"""


def shell(name: str, side: int) -> tuple[str, str]:
    """A shell beside the plane x = 0, which its plate is in when it is closed; and its elements."""
    profile = " ".join(f"{side * below} 0 {up - LENGTH}" for up, below in BULGE)
    return (
        f"""<link name="{name}">{INERTIAL.format(mass=60)}</link>
  <joint name="{name}" type="revolute"><parent link="head"/><child link="{name}"/><axis xyz="0 {-side} 0"/>
    <limit lower="-0.1" upper="1.4" effort="1e6" velocity="10"/></joint>""",
        f"""<servo_drive joint="{name}" mode="position" stiffness="4e5" damping="4e3"/>
  <shovel name="{name}" link="{name}" cutting_edge="0 0.3 -0.6 0 -0.3 -0.6" top_edge="0 0.3 -0.1 0 -0.3 -0.1"
    cutting_direction="0 0 -1" profile="{profile}" side_plates="true" edge_thickness="0.01"/>""",
    )


def grab() -> grouser.Machine:
    parts, elements = zip(shell("right", 1), shell("left", -1), strict=True)
    return parse_machine(
        f"""<robot name="grab"><link name="world"/><link name="head">{INERTIAL.format(mass=300)}</link>
  <joint name="hoist" type="prismatic"><parent link="world"/><child link="head"/><axis xyz="0 0 1"/>
    <limit lower="-5" upper="5" effort="1e6" velocity="10"/></joint>{"".join(parts)}
  <grouser><servo_drive joint="hoist" mode="position" stiffness="1e6" damping="2e4"/>{"".join(elements)}</grouser>
</robot>""",
        "grab.urdf",
    )


def move(simulation: grouser.Simulation, hoist: float, angle: float, duration: float) -> np.ndarray:
    """Leads hoist and shells; place of the right edge after each 20 ms [m], (samples, 2)."""
    joints, goals = ("hoist", "right", "left"), np.array([hoist, angle, angle])
    begin, count = np.array([simulation.joint_position[joint] for joint in joints]), round(duration / 0.02)
    edge = []
    for number in range(1, count + 1):
        targets = begin + (goals - begin) * number / count
        simulation.command.update(dict(zip(joints, targets.tolist(), strict=True)))
        simulation.step(20)
        height, turn = simulation.joint_position["hoist"], simulation.joint_position["right"]
        edge.append((LENGTH * np.sin(turn), height - LENGTH * np.cos(turn)))
    return np.array(edge)


def dig() -> tuple[grouser.Simulation, np.ndarray]:
    """A grab that has closed in level soil, and the way of its right edge."""
    simulation = grouser.Simulation(grab(), parse_world(SOIL, "soil.yaml"))
    simulation.reset(joint_position={"hoist": 0.5, "right": 0.9, "left": 0.9})
    return simulation, np.vstack([move(simulation, 0.26, 0.9, 0.6), move(simulation, 0.45, 0.0, 2.0)])


def loads(simulation: grouser.Simulation) -> np.ndarray:
    return np.array([simulation.bucket_load(name).mass for name in ("right", "left")])


def test_grab_takes_what_its_edges_pass_holds_it_and_lets_it_fall():
    simulation, edge = dig()
    depth = np.maximum(-edge[:, 1], 0.0)
    area = float(np.sum(0.5 * (depth[1:] + depth[:-1]) * -np.diff(edge[:, 0])))
    taken = loads(simulation)
    assert taken == pytest.approx(area * WIDTH * DENSITY, rel=0.03)
    move(simulation, 1.2, 0.0, 1.0)
    lifted = loads(simulation)
    assert lifted == pytest.approx(taken, rel=0.02)
    move(simulation, 1.2, 0.0, 0.5)
    assert loads(simulation) == pytest.approx(lifted, rel=1e-12)  # closed, it loses nothing
    move(simulation, 1.2, 0.9, 0.5)
    move(simulation, 1.2, 0.9, 1.0)
    assert loads(simulation).max() < 1e-3 * lifted.min()
    assert abs(simulation.soil_balance().relative_residual) < 1e-12


def test_one_shell_alone_spills():
    """What it would hold with the other, without it."""
    simulation, _ = dig()
    move(simulation, 1.2, 0.0, 1.0)
    held = loads(simulation)[0]
    simulation.command["left"] = 1.3
    simulation.step(1000)
    assert loads(simulation)[0] < 0.2 * held


def test_a_closed_bucket_is_full_up_to_its_higher_edge():
    holding = make_closed_holding(BULGE, WIDTH)
    level, upright, overhanging, face_down = 32, 48, 57, 0  # of 64 rakes from -180 degrees on
    assert holding.volume[[level, upright]] == pytest.approx(AREA * WIDTH)
    assert 0.0 < holding.volume[overhanging] < AREA * WIDTH
    assert holding.volume[face_down] == pytest.approx(0.0, abs=1e-12)
    assert holding.centre[upright, -1] == pytest.approx(CENTRE, abs=1e-6)
