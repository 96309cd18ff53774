"""The loader crane: its published geometry and balance, its motion before the stroke's end, and the test rig."""

import math

import numpy as np
import pytest
from shipped import shipped_machine

from grouser import Simulation, World, load_machine
from grouser.catalogue import machine_file, program_file
from grouser.physics.description.urdf.placement import link_poses, point_on_link
from grouser.program import load_program

GRAVITY = 9.8  # [m/s2], of the published crane
# The published start: forces in balance [N, Pa].
FORCE, PRESSURES = 6860.0, (4033113.01, 3.3e6)
# Solution of the published equations by Radau, rtol 1e-10: time [s], boom's angle, payload's from the downward
# vertical [rad], spool [-], pressures [Pa], cylinder's length [m].
REFERENCE = (
    (1.0, 0.53296954, 0.007666, 0.198181, 3812482.4, 2634090.2, 0.50407393),
    (2.0, 0.60472630, 0.006897, 0.598181, 4103661.9, 2384670.8, 0.53624388),
    (4.0, 0.80627528, 0.000262, 0.600000, 3942828.5, 2492124.1, 0.63288597),
    (5.0, 0.90495849, -0.003454, 0.600000, 3874699.0, 2536997.4, 0.68193865),
)


@pytest.fixture(scope="module")
def crane():
    return shipped_machine("loader_crane")


def cylinder_length(machine, boom):
    """Distance of the cylinder's eyes [m] with the boom at an angle [rad]."""
    poses = link_poses(machine, {"boom": boom})
    cylinder = machine.cylinders[0]
    barrel, rod = (point_on_link(poses[end.link], end.xyz) for end in (cylinder.barrel, cylinder.rod))
    return float(np.linalg.norm(rod - barrel))


@pytest.mark.parametrize("row", REFERENCE, ids=lambda row: f"{row[0]:g}s")
def test_loader_crane_cylinder_length_is_as_published(crane, row):
    assert cylinder_length(crane, row[1]) == pytest.approx(row[6], abs=1e-8)  # the digits of the reference


def test_loader_crane_published_start_is_in_balance(crane):
    cylinder = crane.cylinders[0]
    start = math.radians(30)
    assert cylinder_length(crane, start) == pytest.approx(0.5, abs=1e-15)
    assert cylinder.retracted_length + 0.5 * cylinder.stroke == pytest.approx(0.5, abs=1e-15)
    lever = (cylinder_length(crane, start + 1e-5) - cylinder_length(crane, start - 1e-5)) / 2e-5
    masses = {link.name: link.inertial.mass for link in crane.links if link.inertial}
    moment = GRAVITY * math.cos(start) * (0.5 * masses["boom_link"] + masses["payload_link"])
    assert moment / lever == pytest.approx(FORCE, rel=1e-8)
    piston = math.pi / 4 * cylinder.bore**2
    ring = piston - math.pi / 4 * cylinder.rod_diameter**2
    assert piston * PRESSURES[0] - ring * PRESSURES[1] == pytest.approx(FORCE, rel=1e-6)


def test_loader_crane_program_moves_it_as_published(crane):
    simulation = Simulation(crane, World(gravity=(0.0, 0.0, -GRAVITY), ground=None))
    start = simulation.pressure["lift"]
    # the digits of the publication
    assert (start.piston_side, start.rod_side) == pytest.approx(PRESSURES, abs=5e-3)
    program = load_program(program_file("loader_crane"))
    program.check([valve.name for valve in crane.valves], [])
    for time, boom, payload, spool, piston_side, rod_side, length in REFERENCE:
        while simulation.time < time - 1e-9:
            middle = simulation.time + 0.5 * simulation.step_size
            simulation.command["lift_valve"] = program.values(middle).get("lift_valve", 0.0)
            simulation.step()
        angles = simulation.joint_position
        cylinder = simulation.cylinder["lift"]
        assert angles["boom"] == pytest.approx(boom, abs=1e-4)
        assert angles["boom"] + angles["payload"] == pytest.approx(payload, abs=1e-4)
        assert cylinder.spool_position == pytest.approx(spool, abs=1e-4)
        assert cylinder.pressure_piston_side == pytest.approx(piston_side, rel=1e-3)
        assert cylinder.pressure_rod_side == pytest.approx(rod_side, rel=1e-3)
        assert cylinder.position == pytest.approx(length - crane.cylinders[0].retracted_length, abs=1e-4)


def test_hydraulic_lift_machine_equals_the_experiment():
    arguments = {"load_mass": "150", "stroke": "0.4"}
    rig = load_machine(machine_file("loader_crane"), {"variant": "lift", **arguments})
    alone = load_machine(machine_file("hydraulic_lift"), arguments)
    for parts in ("links", "joints", "fluid", "pumps", "valves", "cylinders"):
        assert getattr(rig, parts) == getattr(alone, parts)
    assert rig.cylinders[0].stroke == 0.4
