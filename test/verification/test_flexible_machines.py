"""Machines with flexible links: an arm of two, a satellite with an arm of five, the crane with a flexible boom."""

import math

import numpy as np
import pytest
from momentum import centre_of_mass, momentum_of
from shipped import shipped_machine

from grouser import MachineError, Simulation, World, load_machine
from grouser.catalogue import machine_file, program_file, world_file
from grouser.physics.description import load_world
from grouser.program import load_program

# Box section of the crane's boom.
BOOM, EYE, HEIGHT = 1.0, 0.5, 0.1
AREA = 0.1 * 0.08 - 0.088 * 0.068
PUBLISHED = World(gravity=(0.0, 0.0, -9.8), ground=None)
STIFFNESS = 210e9 * (0.08 * 0.1**3 - 0.068 * 0.088**3) / 12.0


def played(name, world, duration):
    """The machine with its program."""
    machine, program = shipped_machine(name), load_program(program_file(name))
    program.check([valve.name for valve in machine.valves], [drive.joint for drive in machine.drives])
    simulation = Simulation(machine, world)
    while simulation.time < duration:
        for joint, value in program.values(simulation.time).items():
            simulation.command[joint] = value
        simulation.step(10)
    return simulation


def test_forearm_carries_its_tool_and_itself():
    """Against the cantilever under tool and own weight; what is left out goes with the square of its slope, 4e-4."""
    simulation = Simulation(shipped_machine("flexible_arm"), World(ground=None))
    simulation.command["shoulder"], simulation.command["elbow"] = -0.3, 0.3
    simulation.step(8000)
    (x, _, z, w) = simulation.link_pose("forearm")[1]
    across = 9.81 * (1.0 - 2.0 * (x * x + simulation.link_pose("forearm")[1][1] ** 2))
    second_moment, area = math.pi / 64 * (0.04**4 - 0.036**4), math.pi / 4 * (0.04**2 - 0.036**2)
    length, line = 1.5, 2700 * area
    # the tool is a solid cube, whose centre is at the end
    expected = -across * (1.5 * length**3 / 3 + line * length**4 / 8) / (70e9 * second_moment)
    state = simulation.flexible_link["forearm"]
    assert state.tip_deflection_z == pytest.approx(expected, rel=1e-3)
    assert state.tip_deflection_y == pytest.approx(0.0, abs=1e-9)
    assert abs(z) < 1e-9 < w


def test_flexible_arm_vibrates_after_its_stop():
    simulation = played("flexible_arm", World(ground=None), 1.9)
    tips = []
    for _ in range(100):
        simulation.step(10)
        tips.append(simulation.flexible_link["upper_arm"].tip_deflection_z)
    assert np.ptp(tips) > 0.01
    assert max(map(abs, tips)) < 1.5 / 3.0


def test_satellite_turns_against_its_arm_and_the_centre_of_mass_rests():
    world = load_world(world_file("weightless"))
    start = centre_of_mass(Simulation(shipped_machine("space_arm"), world))[0]
    simulation = played("space_arm", world, 3.0)
    position, velocity = centre_of_mass(simulation)
    assert position == pytest.approx(start, abs=1e-12)
    assert velocity == pytest.approx(np.zeros(3), abs=1e-13)
    z, w = simulation.link_pose("satellite")[1][2:]
    assert simulation.joint_position["joint_1"] > 0.5
    assert 2.0 * math.atan2(z, w) < -0.1


def test_momenta_of_the_free_satellite_are_kept_by_torques_within():
    """Torques on all joints and vibrating links: both momenta to rounding, in a flight that turns."""
    machine = load_machine(machine_file("space_arm"), {"drive": "effort"})
    simulation = Simulation(machine, load_world(world_file("weightless")), tolerance=1e-14)
    assert simulation.integrator == "variational"
    simulation.state.v[:6] = [0.1, 0.2, -0.1, 0.3, 0.1, -0.2]
    torques = dict(zip((f"joint_{k}" for k in range(1, 6)), (10.0, -8.0, 4.0, 2.0, -0.5), strict=True))
    before = momentum_of(simulation)
    for k in range(10):
        for joint, torque in torques.items():
            simulation.command[joint] = torque * (1 if k < 5 else -1)
        simulation.step(30)
    after = momentum_of(simulation)
    assert (
        max(
            abs(link.strain_energy)
            for link in map(simulation.flexible_link.__getitem__, map("link_{}".format, range(1, 6)))
        )
        > 0.1
    )
    for part in (slice(0, 3), slice(3, 6)):
        assert after[part] == pytest.approx(before[part], abs=1e-12 * np.linalg.norm(before[part]))


@pytest.mark.parametrize("payload", [20.0, 100.0])
def test_flexible_boom_of_the_crane_rests_as_a_beam_on_pivot_and_cylinder(payload):
    """Deflection from the tangent at the pivot, and strain on the boom. Left out: 0.2 % that the thrust adds,
    and 0.5 % by which the curvature of an element, linear along it, differs at the gauge."""
    arguments = {"flexible": "true", "payload_mass": repr(payload)}
    simulation = Simulation(load_machine(machine_file("loader_crane"), arguments), PUBLISHED)
    simulation.step(500)
    across = 9.8 * math.cos(simulation.joint_position["boom"])
    tip, line = payload * across, 500.0 * across / BOOM
    carried = (tip * BOOM + line * BOOM**2 / 2) / EYE
    expected = tip * BOOM**3 / 3 + line * BOOM**4 / 8 - carried * EYE**2 * (3 * BOOM - EYE) / 6
    assert simulation.flexible_link["boom_link"].tip_deflection_z == pytest.approx(-expected / STIFFNESS, rel=5e-3)
    reach = 0.4 * BOOM
    moment = tip * reach + line * reach**2 / 2
    # an element of the axial displacement has the mean thrust of its half
    thrust = (payload + 500.0 / 4) * 9.8 * math.sin(simulation.joint_position["boom"])
    strain = moment * HEIGHT / 2 / STIFFNESS - thrust / (210e9 * AREA)
    assert simulation.sensors.strain_gauge["boom_top"] == pytest.approx(strain, rel=0.01)


def test_flexible_crane_has_the_mass_of_the_rigid_one():
    energies = []
    for word in ("false", "true"):
        machine = load_machine(machine_file("loader_crane"), {"flexible": word})
        simulation = Simulation(machine, PUBLISHED)
        simulation.state.v[0] = 0.3  # of the boom
        assert simulation.joint_velocity["boom"] == 0.3
        energies.append((simulation.energy().kinetic, simulation.energy().potential))
    assert energies[0] == pytest.approx(energies[1], rel=1e-12)


def test_words_for_flexible_are_true_and_false():
    with pytest.raises(MachineError, match="maybe"):
        load_machine(machine_file("loader_crane"), {"flexible": "maybe"})
