"""Tracks whose wheels move on suspensions, against the equations of equilibrium."""

import math

import numpy as np
import pytest
from sprung_track import END_HEIGHT, RADIUS, ROAD_RADIUS, THICKNESS, arm, inertial, joint, sprung_track

from grouser import Simulation, World
from grouser.physics.description.data.soil import Soil, SoilGround
from grouser.physics.description.data.world import Ground
from grouser.physics.description.urdf.belt_path import lay_belt
from grouser.physics.tracks.running_wheels import sprung_force, sprung_wheels

GRAVITY = 9.81
WEIGHT = 2e4
PLACES = (-0.45, -0.15, 0.15, 0.45)
UP = THICKNESS + ROAD_RADIUS


def loads(simulation):
    """Forces on the sprung wheels, ahead and up [N], in the order of the path: from the front to the rear."""
    tracks, work = simulation.arrays.context.system.tracks, simulation.arrays.context.workspace.tracks
    return np.array([sprung_force(tracks, work, t, wheel)[[0, 2]] for t, wheel in sprung_wheels(tracks)])


def joined(*pairs):
    return "".join(pair[0] for pair in pairs), "".join(pair[1] for pair in pairs)


def test_road_wheels_on_torsion_bars_carry_the_hull_as_deep_as_equilibrium_says():
    """Without friction: each arm turns until its bar balances its wheel; the belt pulls down sprocket and idler."""
    stiffness, length, rise, tension = 1.2e4, 0.25, 0.1, 2e4
    arms = [arm(f"road_{k}", place, stiffness, 600.0, length, rise) for k, place in enumerate(PLACES)]
    machine = sprung_track(*joined(*arms), pretension=tension, friction=0.0, weight=WEIGHT, track='stiffness="1e9"')
    simulation = Simulation(machine, World(), spawn="as_given")
    simulation.step(5000)
    turns = np.array([simulation.joint_position[f"road_{k}_pivot"] for k in range(4)])
    # a positive turn lifts the wheel behind its pivot
    ahead = np.array(PLACES) + length - length * np.cos(turns) - rise * np.sin(turns)
    up = UP + rise + length * np.sin(turns) - rise * np.cos(turns)
    assert simulation.joint_position["slide"] == pytest.approx(-(up - UP).mean(), abs=3e-3)
    centres = np.column_stack([[-0.8, 0.8, *ahead], [END_HEIGHT, END_HEIGHT, *up]])
    path = lay_belt(centres, np.array([RADIUS, RADIUS, *[ROAD_RADIUS] * 4]), THICKNESS)
    steep = np.abs(path.direction[(path.radius == 0.0) & (path.length > 0.2), 1])
    pulled = tension * np.sort(steep)[-2:].sum()
    found = loads(simulation)
    weight = sum(link.inertial.mass for link in machine.links if link.inertial is not None) * GRAVITY
    assert simulation.track["belt"].normal_force == pytest.approx(weight, rel=1e-3)
    # shoes on the arcs of the outer wheels hang in the belt by a part of their load
    assert found[:, 1].sum() == pytest.approx(weight + pulled, rel=5e-3)
    reach = length * np.cos(turns) + rise * np.sin(turns)
    # the two wheels in the middle are on the straight run: the belt presses them by nothing but the ground
    assert found[1:3, 1] == pytest.approx((stiffness * turns / reach)[1:3], rel=5e-3)


@pytest.mark.parametrize("low", [0.0, 0.1])
@pytest.mark.parametrize("share", [0.3, 0.5])
def test_bogie_shares_its_load_by_the_rule_of_the_lever(share, low):
    """The beam carries two wheels 0.5 m apart, `low` below its pivot, which is at `share` of that behind the front one.

    With the pivot at the height of the axles the belt's pull along the track, which pulls both towards each other, has
    no lever.
    """
    front, rear, mass = 0.25, -0.25, 5.0
    pivot = front - share * (front - rear)
    parts = (
        f'<link name="beam">{inertial(30.0)}</link><link name="one">{inertial(mass)}</link><link name="two"/>'
        + joint("pivot", "revolute", "hull", "beam", f"{pivot} 0 {UP + low}", limit='lower="-0.5" upper="0.5"')
        + joint("one_axle", "continuous", "beam", "one", f"{front - pivot} 0 {-low}")
        + joint("two_axle", "fixed", "beam", "two", f"{rear - pivot} 0 {-low}")
    )
    rows = "".join(f'<track_wheel track="belt" link="{name}" radius="{ROAD_RADIUS}"/>' for name in ("one", "two"))
    machine = sprung_track(parts, rows, pretension=2e3, friction=0.0, weight=WEIGHT)
    simulation = Simulation(machine, World(), spawn="as_given")
    simulation.step(4000)
    (ahead_one, one), (ahead_two, two) = loads(simulation)
    # the wheel on its axle adds its own weight
    c, s = math.cos(simulation.joint_position["pivot"]), math.sin(simulation.joint_position["pivot"])
    moment = 0.0
    for x, ahead, up in ((front - pivot, ahead_one, one - mass * GRAVITY), (rear - pivot, ahead_two, two)):
        moment += (c * x - s * low) * up + (s * x + c * low) * ahead
    assert abs(moment) < 1e-3 * WEIGHT * (front - rear)
    if low == 0.0:
        assert (one - mass * GRAVITY) / two == pytest.approx((1.0 - share) / share, rel=0.02)


@pytest.mark.parametrize("rise", [0.0, 3e5])
def test_idler_on_a_spring_gives_way_by_both_runs_of_the_belt(rise):
    """x k = 2 T, where the tensioner lets the tension fall by `rise` over the length that the path loses, 2 x."""
    spring, tension = 4e5, 8e3
    idler = (
        f'<link name="fork">{inertial(20.0)}</link><link name="idler"/>'
        + joint("yoke", "prismatic", "hull", "fork", "0.8 0 0.45", "1 0 0", 'lower="-0.3" upper="0.3"')
        + joint("idler_axle", "fixed", "fork", "idler", "0 0 0"),
        '<track_wheel track="belt" link="idler" radius="0.2"/>'
        f'<compliant_joint joint="yoke" axial_stiffness="{spring}" axial_damping="4e3"/>',
    )
    machine = sprung_track("", "", pretension=tension, track=f'tension_stiffness="{rise}"', idler=idler, base="held")
    simulation = Simulation(machine, World())
    simulation.step(2000)
    assert simulation.joint_position["yoke"] == pytest.approx(-2.0 * tension / (spring + 4.0 * rise), rel=1e-6)
    assert simulation.track["belt"].slack_tension == pytest.approx(
        tension - rise * 4.0 * tension / (spring + 4.0 * rise), rel=1e-6
    )


def _vehicle_arms():
    return joined(*(arm(f"road_{k}", place, 1.5e4, 800.0, rest=-0.3) for k, place in enumerate(PLACES)))


@pytest.mark.parametrize("soft", [False, True])
def test_sprung_track_drives_and_its_energy_is_accounted_for(soft):
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
    ground = Ground(soil=SoilGround((soil,))) if soft else Ground()
    machine = sprung_track(*_vehicle_arms(), pretension=2e4, track='mass="60"', weight=WEIGHT, base="free")
    simulation = Simulation(machine, World(ground=ground))
    simulation.step(1500)
    simulation.command["sprocket"] = 2.0
    simulation.step(3000)
    balance = simulation.energy_balance()
    spent = sum(abs(work) for work in balance.actuator_work.values())
    assert abs(balance.residual) < 0.02 * spent
    assert balance.dissipation["shear under track belt"] > 0.0
    track = simulation.track["belt"]
    assert track.belt_speed == pytest.approx(0.4, rel=1e-2)
    assert abs(track.slip_ratio) < 0.05
    assert simulation.diagnostics.unsettled_steps == 0
