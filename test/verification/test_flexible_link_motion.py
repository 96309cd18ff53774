"""Flexible links with modes in motion: the published rotating beam, loads at their ends, and bodies on them."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from grouser import Simulation, World
from grouser.physics.description.data.compliance import BeamSection, FlexibleLink
from grouser.physics.description.data.drives import ServoDrive
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Inertial, Joint, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.rotation import matrix, quaternion_from_rpy
from grouser.physics.description.data.sensors import StrainGauge
from grouser.physics.readings.strain import curvature_map, strain_maps

FREE_SPACE = World(gravity=(0.0, 0.0, 0.0), ground=None)
# Fan and Zhang (2016): a beam spun up to 4 rad/s in 15 s.
LENGTH, AREA, MOMENT, DENSITY, MODULUS = 8.0, 7.2968e-5, 8.2189e-9, 2766.7, 6.8952e10
RATE, SPIN_UP = 4.0, 15.0
HUB = 1e9  # [kg m2], so large that the beam does not slow it
BEAM = FlexibleLink(
    *("beam", "bezier", 5, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), LENGTH, 1.0, 1.0, 1.0, 0.0, MODULUS, 2.6e10, DENSITY),
    (BeamSection(0.0, AREA, MOMENT, MOMENT, 2.0 * MOMENT),),
    axial=0,
    torsion=0,
    bending="z",
)


def rotating(flexible):
    hub = Link("hub", Inertial(Pose(), HUB, (HUB, 0.0, 0.0, HUB, 0.0, HUB)))
    return Machine(
        "rotating beam",
        (Link("world"), hub, Link("beam")),
        (
            Joint("turn", "continuous", "world", "hub", axis=(0.0, 0.0, 1.0)),
            Joint("weld", "fixed", "hub", "beam"),
        ),
        "world",
        False,
        flexible_links=(flexible,),
        drives=(ServoDrive("turn", "effort", 0.0, 0.0, 1e14),),
        strain_gauges=(StrainGauge("root", "beam", 0.0, 0.02),),
    )


@pytest.mark.parametrize(
    ("discretisation", "size"), [("assumed_modes", 4), ("finite_elements", 5), ("bezier", 5), ("b_spline", 5)]
)
def test_peak_of_the_rotating_beam(discretisation, size):
    """Published: -0.5344 m at 6.77 s, within 0.5 %; the implicit step of 1 ms adds 0.3 %."""
    simulation = Simulation(rotating(replace(BEAM, discretisation=discretisation, size=size)), FREE_SPACE, step=1e-3)
    deflections = []
    for k in range(7500):
        time = (k + 0.5) * 1e-3
        simulation.command["turn"] = HUB * RATE / SPIN_UP * (1.0 - math.cos(2.0 * math.pi * time / SPIN_UP))
        simulation.step()
        if k >= 6000:
            deflections.append(simulation.flexible_link["beam"].tip_deflection_y)
    assert min(deflections) == pytest.approx(-0.5344, rel=5e-3)
    assert 6.001 + 1e-3 * int(np.argmin(deflections)) == pytest.approx(6.77, abs=0.02)


REACH, BENDING_Y, BENDING_Z, TORSION = 2.0, 5e4, 2e4, 8e3
LOAD, LEVER = 3.0, 0.5  # [kg, m]
START, RPY = (0.1, 0.2, 0.3), (0.3, -0.4, 0.5)  # the elastic frame in the link's
MOUNT = Pose((1.0, 2.0, 3.0), quaternion_from_rpy(0.7, 0.8, 0.9))
AXES = matrix(quaternion_from_rpy(*RPY))


def cantilever(discretisation, size):
    """A light beam, clamped to the world, with a mass on a lever along y at its end."""
    elastic = 1e9
    flexible = FlexibleLink(
        *("beam", discretisation, size, START, RPY, REACH, BENDING_Y, BENDING_Z, TORSION),
        # the slowest vibration under the load is about z, and critically damped
        damping=2.0 / math.sqrt(3.0 * BENDING_Z / (REACH**3 * LOAD)),
        modulus=elastic,
        shear_modulus=elastic,
        density=1e-3,
        sections=(BeamSection(0.0, 1e-2, BENDING_Y / elastic, BENDING_Z / elastic, TORSION / elastic),),
    )
    load = Inertial(Pose((0.0, LEVER, 0.0)), LOAD, (0.1, 0.0, 0.0, 0.1, 0.0, 0.1))
    tip = Pose(tuple((START + AXES[:, 0] * REACH).tolist()), quaternion_from_rpy(*RPY))
    return Machine(
        "cantilever",
        (Link("world"), Link("beam"), Link("load", load)),
        (Joint("clamp", "fixed", "world", "beam", MOUNT), Joint("bolts", "fixed", "beam", "load", tip)),
        "world",
        False,
        flexible_links=(flexible,),
        strain_gauges=(StrainGauge("gauge", "beam", 0.5, 0.02, -0.03),),
    )


@pytest.mark.parametrize(("discretisation", "size"), [("finite_elements", 2), ("bezier", 3), ("b_spline", 1)])
def test_cantilever_under_a_load_at_its_end(discretisation, size):
    """Deflection F L3 / (3 E I), twist T L / (G J), energy F2 L3 / (6 E I) + T2 L / (2 G J) + F2 L / (2 E A)."""
    acceleration = 1e-3 * np.array([0.4, 0.6, 0.8])
    world = World(gravity=tuple((matrix(MOUNT.quaternion) @ AXES @ acceleration).tolist()), ground=None)
    machine = cantilever(discretisation, size)
    simulation = Simulation(machine, world, tolerance=1e-14)
    simulation.step(2000)
    along, force_y, force_z = LOAD * acceleration
    about_x, about_z = LEVER * force_z, -LEVER * along
    y = force_y * REACH**3 / (3.0 * BENDING_Z) + about_z * REACH**2 / (2.0 * BENDING_Z)
    z = force_z * REACH**3 / (3.0 * BENDING_Y)
    twist = about_x * REACH / TORSION
    state = simulation.flexible_link["beam"]
    # the deflections are 1e-6 of the length, and turn the loads as much
    assert state.tip_deflection_y == pytest.approx(y, rel=1e-5)
    assert state.tip_deflection_z == pytest.approx(z, rel=1e-5)
    assert state.tip_twist == pytest.approx(twist, rel=1e-5)
    bent = force_y**2 * REACH**3 / 6.0 + force_y * about_z * REACH**2 / 2.0 + about_z**2 * REACH / 2.0
    energy = bent / BENDING_Z + force_z**2 * REACH**3 / (6.0 * BENDING_Y) + about_x**2 * REACH / (2.0 * TORSION)
    energy += along**2 * REACH / (2.0 * 1e9 * 1e-2)
    assert state.strain_energy == pytest.approx(energy, rel=2e-5)
    (gauge,) = strain_maps(machine, simulation._setup.beams)
    curvature_z = (force_y * (REACH - 0.5) + about_z) / BENDING_Z
    curvature_y = -force_z * (REACH - 0.5) / BENDING_Y
    strain = along / (1e9 * 1e-2) - 0.02 * curvature_z + 0.03 * -curvature_y
    assert gauge.values(simulation.state.q)[0] == pytest.approx(strain, rel=1e-4)
    bends = curvature_map(machine, simulation._setup.beams, "beam", np.array([0.5]))
    assert bends.values(simulation.state.q) == pytest.approx([curvature_y, curvature_z], rel=1e-5)


def swinging(bending, turn):
    """A thick beam that bends in one plane, on joints about three axes; `turn` is that of its link's axes against the
    beam's."""
    quaternion = quaternion_from_rpy(*turn)
    x, y, z, w = quaternion
    back = Rotation.from_quat(quaternion).inv()
    beam = FlexibleLink(
        *("beam", "bezier", 3, (0.0, 0.0, 0.0), tuple(back.as_euler("xyz").tolist()), 1.0, 1.0, 1.0, 1.0),
        damping=0.0,
        modulus=4e7,
        shear_modulus=2e7,
        density=2000.0,
        sections=(BeamSection(0.0, 1e-2, 2e-5, 1e-5, 3e-5),),
        torsion=0,
        bending=bending,
    )
    hub = Inertial(Pose(), 1.0, (0.1, 0.0, 0.0, 0.2, 0.0, 0.3))
    axes = {"roll": (1.0, 0.0, 0.0), "pitch": (0.0, 1.0, 0.0), "yaw": (0.0, 0.0, 1.0)}
    links = [Link("world"), *(Link(f"after_{name}", hub) for name in axes), Link("beam"), Link("end", hub)]
    names = [link.name for link in links]
    joints = [
        Joint(name, "continuous", names[k], names[k + 1], axis=axis) for k, (name, axis) in enumerate(axes.items())
    ]
    joints.append(Joint("weld", "fixed", names[3], "beam", Pose((0.0, 0.0, 0.0), (x, y, z, w))))
    tip = Pose(tuple(back.apply((1.0, 0.0, 0.0)).tolist()), (-x, -y, -z, w))
    joints.append(Joint("end", "fixed", "beam", "end", tip))
    return Machine("swinging", tuple(links), tuple(joints), "world", False, flexible_links=(beam,))


@pytest.mark.parametrize("integrator", ["semi_implicit", "implicit_midpoint"])
@pytest.mark.parametrize("bending", ["y", "z"])
def test_motion_does_not_depend_on_the_axes_of_the_link(bending, integrator):
    """Sections that turn about an axis of the link's frame have sums of their own."""
    ends = []
    for turn in ((0.0, 0.0, 0.0), (0.7, -0.4, 1.1)):
        world = World(gravity=(3.0, 5.0, -8.0), ground=None)
        simulation = Simulation(swinging(bending, turn), world, 2e-3, integrator=integrator)
        bent = 0.0
        for _ in range(25):
            simulation.step(10)
            beam = simulation.flexible_link["beam"]
            bent = max(bent, abs(beam.tip_deflection_y) + abs(beam.tip_deflection_z))
        assert bent > 1e-3
        ends.append(np.concatenate(simulation.link_pose("end")))
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)
