"""Compliant joints of the tree: bushings, series elasticity, backlash, stiffening, hysteresis, reactions."""

from contextlib import nullcontext

import numpy as np
import pytest
from momentum import momentum_of

from grouser import Simulation, World
from grouser.physics.base.spatial import matrix
from grouser.physics.base.trees import leaves
from grouser.physics.description.data.rotation import quaternion_from_rpy

SPACE = World(gravity=(0.0, 0.0, 0.0), ground=None)
EARTH = World(ground=None)
GROUND_LINK = '<link name="world"/>'
RPY = (0.4, -0.7, 1.1)
STIFFNESS, TURNING = np.array([2e5, 5e5, 1.1e6]), np.array([3e4, 8e4, 2e5])


def words(values):
    return " ".join(repr(float(value)) for value in np.atleast_1d(values))


def tilted(kind, parent, child, xyz=(0.3, -0.2, 0.5), axis="0 0 1"):
    return (
        f'<joint name="{child}_joint" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{words(xyz)}" rpy="{words(RPY)}"/><axis xyz="{axis}"/></joint>'
    )


def bushing(parts, *more, com=(0.4, 0.1, 0.2), mass=2.0, extension="", shape=None):
    """A body on a fixed joint with six springs, over-damped; its frame is tilted."""
    springs = (
        f'<compliant_joint joint="body_joint" stiffness="{words(STIFFNESS)}" damping="{words(0.02 * STIFFNESS)}" '
        f'rotational_stiffness="{words(TURNING)}" rotational_damping="{words(0.02 * TURNING)}"/>'
    )
    body = parts.link("body", mass, (0.05, 0.05, 0.05), com=com, shape=shape)
    return parts.machine(GROUND_LINK, body, tilted("fixed", "world", "body"), *more, extension=springs + extension)


def joint_axes():
    return matrix(quaternion_from_rpy(*RPY))


def test_static_deflections_of_a_bushing_in_all_directions(parts):
    simulation = Simulation(bushing(parts), EARTH)
    simulation.step(2000)
    weight = np.array([0.0, 0.0, -2.0 * 9.81])
    force = joint_axes().T @ weight
    moment = np.cross([0.4, 0.1, 0.2], force)
    places = simulation.arrays.names.compliance["body_joint"]
    deflection = np.array([simulation.state.q[places[direction][0]] for direction in range(6)])
    # deflections rotate the lever and the following springs by 3e-4 rad
    assert deflection[:3] == pytest.approx(force / STIFFNESS, rel=1e-3)
    assert deflection[3:] == pytest.approx(moment / TURNING, abs=1e-3 * np.abs(moment / TURNING).max())
    # static reaction of the joint: about its undeflected origin, with the deflected lever
    reaction = simulation.joint_reaction["body_joint"]
    assert reaction[:3] == pytest.approx(-force, rel=1e-7)
    position, quaternion = simulation.link_pose("body")
    lever = position + matrix(quaternion) @ [0.4, 0.1, 0.2] - [0.3, -0.2, 0.5]
    assert reaction[3:] == pytest.approx(-joint_axes().T @ np.cross(lever, weight), abs=1e-6)


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "fixed"])
@pytest.mark.parametrize("axis", ["0 0 1", "0.6 0 0.8"])
def test_static_load_through_a_joint_with_one_spring_and_rigid_directions(parts, kind, axis):
    """One direction has a spring; the rigid ones transmit their share."""
    joint = tilted(kind, "world", "body", axis=axis)
    joint = joint.replace("</joint>", '<limit lower="-9" upper="9" effort="1e6" velocity="1e6"/></joint>')
    axial = "" if kind == "fixed" else ' axial_stiffness="1e4" axial_damping="500"'
    spring = f'<compliant_joint joint="body_joint" stiffness="1e6 0 0" damping="2e4 0 0"{axial}/>'
    body = parts.link("body", 2.0, (0.05, 0.05, 0.05), com=(0.4, 0.1, 0.2))
    simulation = Simulation(parts.machine(GROUND_LINK, body, joint, extension=spring), EARTH)
    simulation.step(4000)
    assert np.abs(simulation.state.v).max() < 1e-9
    position, quaternion = simulation.link_pose("body")
    weight = np.array([0.0, 0.0, -2.0 * 9.81])
    moment = np.cross(position + matrix(quaternion) @ [0.4, 0.1, 0.2] - [0.3, -0.2, 0.5], weight)
    # the joint's frame by the shortest rotation that aligns its z with the joint's axis
    x, _, z = (float(part) for part in axis.split()) if kind != "fixed" else (0.0, 0.0, 1.0)
    axes = joint_axes() @ np.array([[z, 0.0, x], [0.0, 1.0, 0.0], [-x, 0.0, z]])
    reaction = simulation.joint_reaction["body_joint"]
    assert reaction[:3] == pytest.approx(-axes.T @ weight, abs=1e-6)
    assert reaction[3:] == pytest.approx(-axes.T @ moment, abs=1e-6)
    if kind != "fixed":
        share = (axes.T @ weight)[2] if kind == "prismatic" else (axes.T @ moment)[2]
        # the spring of 1e6 N/m below moves the axis by 2e-5 m, against levers of 0.2 m
        assert simulation.joint_position["body_joint"] == pytest.approx(share / 1e4, rel=2e-4)


def test_contacts_beyond_the_joint_are_not_transmitted_twice(parts):
    """A post rests on the ground at its far end and hangs on the bushing: they share its weight."""
    machine = bushing(parts, shape='<sphere radius="0.51"/>', com=(0.0, 0.0, 0.0))
    simulation = Simulation(machine, World())
    simulation.step(3000)
    ground = sum(contact.force_world for contact in simulation.contacts())
    assert ground[2] > 1.0
    reaction = joint_axes() @ simulation.joint_reaction["body_joint"][:3]
    # at rest within the solver's tolerance of 1e-6 m/s per step of 1 ms, times 2 kg
    assert reaction + ground == pytest.approx([0.0, 0.0, 2.0 * 9.81], abs=4e-3)


def test_loops_beyond_the_joint_are_not_transmitted_twice(parts):
    """A bar from a bushing to a loop's ball: each carries half of it."""
    springs = f'<compliant_joint joint="bar_joint" stiffness="{words(STIFFNESS)}" damping="{words(0.02 * STIFFNESS)}"/>'
    ball = '<loop_joint name="ball" type="spherical"><parent link="world" xyz="1 0 0"/><child link="bar" xyz="1 0 0"/>'
    simulation = Simulation(
        parts.machine(
            GROUND_LINK,
            parts.link("bar", 3.0, (0.01, 0.25, 0.25), com=(0.5, 0, 0)),
            parts.joint("bar_joint", "continuous", "world", "bar", axis=(0, 1, 0)),
            extension=springs + ball + "</loop_joint>",
        ),
        EARTH,
    )
    simulation.step(3000)
    weight = 3.0 * 9.81
    assert simulation.joint_reaction["ball"][:3] == pytest.approx([0.0, 0.0, 0.5 * weight], abs=1e-3)
    # z of its frame is the joint's axis, y: the shortest way turns z down the joint frame's y, and y to -z
    assert simulation.joint_reaction["bar_joint"][:3] == pytest.approx([0.0, -0.5 * weight, 0.0], abs=1e-3)


def crane(parts, barrel):
    """A base on a bushing, an arm on the base, and a cylinder that lifts the arm from the base or from the world."""
    foot = np.array([0.2, 0.0, -0.6])
    if barrel == "world":
        foot = np.array([0.3, -0.2, 0.5]) + joint_axes() @ foot
    springs = (
        f'<compliant_joint joint="base_joint" stiffness="{words(STIFFNESS)}" damping="{words(0.02 * STIFFNESS)}" '
        f'rotational_stiffness="{words(TURNING)}" rotational_damping="{words(0.02 * TURNING)}"/>'
    )
    hydraulics = f"""
    <fluid/><pump supply_pressure="10e6"/>
    <directional_valve name="valve" spool_diameter="6e-3" spool_travel="2e-4"/>
    <cylinder name="lift" valve="valve" bore="0.04" rod_diameter="0.025" stroke="0.5" retracted_length="0.55"
              piston_mass="2" dead_volume_piston_side="1e-4" dead_volume_rod_side="1e-4" holding_brake="true">
      <barrel link="{barrel}" xyz="{words(foot)}"/><rod link="arm" xyz="0.5 0 0"/></cylinder>"""
    return parts.machine(
        GROUND_LINK,
        parts.link("base", 20.0, (1.0, 1.0, 1.0), com=(0.1, 0.0, -0.2)),
        parts.link("arm", 40.0, (1.0, 2.0, 1.5), com=(0.5, 0.1, 0.0)),
        tilted("fixed", "world", "base"),
        parts.joint("hinge", "continuous", "base", "arm", axis=(0, -1, 0)),
        extension=springs + hydraulics,
    )


@pytest.mark.parametrize("command", [0.0, 0.6, -0.6])
@pytest.mark.parametrize("barrel", ["world", "base"])
def test_cylinders_beyond_the_joint_are_not_transmitted_twice(parts, barrel, command):
    """The momentum of base and arm changes by their weight, the joint's reaction and a cylinder on the world."""
    simulation = Simulation(crane(parts, barrel), EARTH, 1e-4)
    simulation.step(5000)
    simulation.command["valve"] = command
    simulation.step(3000)
    poses = {name: simulation.link_pose(name) for name in ("base", "arm")}
    before = momentum_of(simulation)
    simulation.step()
    change = (momentum_of(simulation) - before) / simulation.step_size
    cylinder = simulation.cylinder["lift"]
    assert cylinder.brake_engaged == (command == 0.0)
    assert abs(cylinder.force) > 100.0
    given = np.zeros(6)
    for name, mass, com in (("base", 20.0, (0.1, 0.0, -0.2)), ("arm", 40.0, (0.5, 0.1, 0.0))):
        place = poses[name][0] + matrix(poses[name][1]) @ com
        weight = np.array([0.0, 0.0, -9.81 * mass])
        given += [*weight, *np.cross(place, weight)]
    if barrel == "world":
        rod = poses["arm"][0] + matrix(poses["arm"][1]) @ [0.5, 0.0, 0.0]
        foot = np.array([0.3, -0.2, 0.5]) + joint_axes() @ [0.2, 0.0, -0.6]
        force = cylinder.force * (rod - foot) / np.linalg.norm(rod - foot)
        given += [*force, *np.cross(rod, force)]
    force, moment = np.split(simulation.joint_reaction["base_joint"], 2)
    force, moment = joint_axes() @ force, joint_axes() @ moment
    given += [*force, *(moment + np.cross([0.3, -0.2, 0.5], force))]
    # momenta are read at the ends of a step with a rotation of h w: 1e-4 of the cylinder's and the weights' moments
    assert given == pytest.approx(change, abs=1e-3 * (abs(cylinder.force) + 60.0 * 9.81))


# --- along the joint's coordinate -----------------------------------------------------------------------------------


def series_elastic(parts, law, motor=0.2, load=0.5, drive=""):
    """A motor's inertia, a spring joint, and the load's inertia, about one axis."""
    return parts.machine(
        GROUND_LINK,
        parts.link("motor", 1.0, (motor, motor, motor)),
        parts.link("load", 1.0, (load, load, load)),
        parts.joint("motor_joint", "continuous", "world", "motor"),
        parts.joint("load_joint", "continuous", "motor", "load"),
        extension=f'<compliant_joint joint="load_joint" {law}/>'
        + (f'<servo_drive joint="{drive}" mode="effort" effort_limit="1e6"/>' if drive else ""),
    )


def test_series_elastic_joint_rings_at_its_two_mass_frequency(parts):
    simulation = Simulation(series_elastic(parts, 'axial_stiffness="500"'), SPACE, 1e-5)
    reduced = 0.2 * 0.5 / 0.7
    frequency = np.sqrt(500.0 / reduced) / (2.0 * np.pi)
    # the rigid rotation of both is left out
    assert simulation.vibration.natural_frequencies() == pytest.approx([frequency], rel=1e-9)
    simulation.state.q[1] = 0.01
    crossings, before = [], 0.01
    while len(crossings) < 3:
        simulation.step()
        now = simulation.joint_position["load_joint"]
        if before * now <= 0.0:
            crossings.append(simulation.time - 1e-5 * now / (now - before))
        before = now
    # implicit spring, w h = 6e-4: period off by its square
    assert 1.0 / (crossings[2] - crossings[0]) == pytest.approx(frequency, rel=1e-5)
    assert 0.7 * simulation.state.v[0] + 0.5 * simulation.state.v[1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("stiffness", [1e3, 1e5, 1e7])
def test_backlash_has_its_width_and_gains_no_energy(parts, stiffness):
    law = f'axial_stiffness="{stiffness}" backlash="0.1" rest_position="0.3"'
    simulation = Simulation(series_elastic(parts, law), SPACE)
    simulation.state.q[1] = 0.3
    simulation.state.v[1] = 1.0
    speed, position = simulation.joint_velocity["load_joint"], simulation.joint_position["load_joint"]
    # no force in the gap: 0.05 to the first side
    while abs(position + 1e-3 * speed - 0.3) < 0.05:
        simulation.step()
        assert simulation.joint_velocity["load_joint"] == speed == 1.0
        position = simulation.joint_position["load_joint"]
    most, reach, energy = 0.5 * 0.5, 0.0, None
    for _ in range(20_000):
        simulation.step()
        reach = max(reach, abs(simulation.joint_position["load_joint"] - 0.3))
        energy = simulation.energy()
        # contact with the spring within a step is implicit: no energy is gained, except by rounding
        assert energy.kinetic + energy.elastic < most * (1.0 + 1e-9)
    # half the gap plus the greatest compression by the load's energy, or a step's travel if that is more
    assert 0.05 - 2e-3 < reach < 0.05 + max(np.sqrt(2.0 * most / stiffness), 1e-3)


def test_backlash_under_a_load_rests_at_one_side(parts):
    law = 'axial_stiffness="1e6" axial_damping="300" backlash="0.1"'
    machine = parts.machine(
        GROUND_LINK,
        parts.link("arm", 2.0, (0.1, 0.1, 0.1), com=(0.5, 0.0, 0.0)),
        parts.joint("hinge", "continuous", "world", "arm", axis=(0, 1, 0)),
        extension=f'<compliant_joint joint="hinge" {law}/>',
    )
    simulation = Simulation(machine, EARTH)
    simulation.step(5000)
    torque = 2.0 * 9.81 * 0.5 * np.cos(0.05)
    # positive about y is down
    assert simulation.joint_position["hinge"] == pytest.approx(0.05 + torque / 1e6, rel=1e-6)


def test_cubic_stiffness_against_its_curve(parts):
    law = 'axial_stiffness="200" cubic_stiffness="5000" axial_damping="40"'
    simulation = Simulation(series_elastic(parts, law, drive="motor_joint"), SPACE)
    # the motor drives both: the spring accelerates the load's inertia with torque * 0.5 / 0.7
    for torque, told in ((5.0, ""), (30.0, ""), (150.0, '"load" turns by')):
        simulation.command["motor_joint"] = torque
        with pytest.warns(RuntimeWarning, match=told) if told else nullcontext():
            simulation.step(6000)
        deflection = -simulation.joint_position["load_joint"]
        carried = 200.0 * deflection + 5000.0 * deflection**3
        # settled with a decay of 40 N m s/rad over 0.14 kg m2
        assert carried == pytest.approx(torque * 0.5 / 0.7, rel=1e-6)


def hysteretic(parts, hysteresis=2.0, slope=400.0):
    """An inertia with a hysteretic joint, moved by a stiff drive."""
    return parts.machine(
        GROUND_LINK,
        parts.link("wheel", 1.0, (0.1, 0.1, 0.1)),
        parts.joint("hinge", "continuous", "world", "wheel"),
        extension=f'<compliant_joint joint="hinge" hysteresis="{hysteresis}" hysteresis_stiffness="{slope}"/>'
        '<servo_drive joint="hinge" mode="position" stiffness="1e7" damping="100" effort_limit="1e8"/>',
    )


def test_hysteresis_traces_dahls_loop(parts):
    most, slope, step = 2.0, 400.0, 1e-3
    simulation = Simulation(hysteretic(parts, most, slope), SPACE, step)
    speed, swing = 0.02, 0.02

    def drive(until, sign):
        work, trace = 0.0, []
        while sign * (until - simulation.command["hinge"]) > 1e-9:
            simulation.command["hinge"] = simulation.command["hinge"] + sign * speed * step
            before = simulation.joint_position["hinge"]
            simulation.step()
            after = simulation.joint_position["hinge"]
            work += simulation.state.springs.hysteresis[0] * (after - before)
            trace.append((after, simulation.state.springs.hysteresis[0]))
        return work, np.array(trace)

    _, virgin = drive(swing, 1.0)
    # implicit steps: z lags by a step's travel, sigma v h = 8e-3 of z_max 2
    expected = most * (1.0 - np.exp(-slope * virgin[:, 0] / most))
    assert virgin[:, 1] == pytest.approx(expected, abs=1.5 * slope * speed * step)
    drive(-swing, -1.0)
    up, rising = drive(swing, 1.0)
    down, _ = drive(-swing, -1.0)
    # from -z_0 at -x_0: z = z_max - (z_max + z_0) exp(-sigma (x + x_0) / z_max), closed where it comes back to z_0
    decay = np.exp(-slope * 2.0 * swing / most)
    z0 = most * (1.0 - decay) / (1.0 + decay)
    expected = most - (most + z0) * np.exp(-slope * (rising[:, 0] + swing) / most)
    assert rising[:, 1] == pytest.approx(expected, abs=3.0 * slope * speed * step)
    half = most * 2.0 * swing - (most + z0) * most / slope * (1.0 - decay)
    assert up + down == pytest.approx(2.0 * half, rel=0.02)


def test_hysteresis_dissipates(parts):
    """A free oscillation against a hysteretic spring loses energy from each turning point to the next."""
    machine = series_elastic(parts, 'axial_stiffness="500" hysteresis="1.0" hysteresis_stiffness="2000"')
    simulation = Simulation(machine, SPACE)
    simulation.state.q[1] = 0.1
    peaks, before = [], 0.0
    while simulation.time < 1.0:
        simulation.step()
        if before * simulation.joint_velocity["load_joint"] < 0.0:
            peaks.append(simulation.joint_position["load_joint"])
        before = simulation.joint_velocity["load_joint"]
    swings = np.abs(np.diff(peaks))
    assert len(swings) > 10
    assert np.all(np.diff(swings) < 0.0)
    # At large amplitude the hysteresis dissipates its level times the travel: 2 z_max of 500 N m/rad from peak to peak
    # (Coulomb), less the reversal, z_max / sigma = 5e-4 rad a swing, and more by the implicit spring's
    # damping, w h / 2 = 0.03 a radian.
    assert swings[0] - swings[1] > 2.0 * (2.0 * 1.0 / 500.0) * 0.9


# --- vibrations -----------------------------------------------------------------------------------------------------


def test_frequencies_of_a_chain_of_masses(parts):
    """Three sliding masses on three springs: 2 w sin((2 n - 1) pi / 14), fixed at one end and free at the other."""
    machine = parts.machine(
        GROUND_LINK,
        *(parts.link(f"m{n}", 2.0) for n in range(3)),
        *(
            parts.joint(f"s{n}", "prismatic", "world" if n == 0 else f"m{n - 1}", f"m{n}", axis=(1, 0, 0))
            for n in range(3)
        ),
        extension="".join(f'<compliant_joint joint="s{n}" axial_stiffness="800"/>' for n in range(3)),
    )
    simulation = Simulation(machine, SPACE)
    expected = 2.0 * np.sqrt(800.0 / 2.0) * np.sin((2 * np.arange(1, 4) - 1) * np.pi / 14.0) / (2.0 * np.pi)
    assert simulation.vibration.natural_frequencies() == pytest.approx(expected, rel=1e-9)


def test_numerical_damping_of_many_joints_is_one_warning(parts):
    """The stiffest of three springs is damped most: the step's share grows with the frequency."""
    machine = parts.machine(
        GROUND_LINK,
        *(parts.link(f"m{n}", 1.0) for n in range(3)),
        *(parts.joint(f"s{n}", "prismatic", "world", f"m{n}", axis=(1, 0, 0)) for n in range(3)),
        extension="".join(
            f'<compliant_joint joint="s{n}" axial_stiffness="{k}"/>' for n, k in enumerate((1e4, 4e6, 1e5))
        ),
    )
    simulation = Simulation(machine, SPACE)
    (warning,) = simulation.warnings
    # sqrt(4e6) = 2000 rad/s, 318 Hz: ln(5) / 2 of a decay in a step with a phase of atan(2)
    ratio = 0.5 * np.log(5.0) / np.hypot(0.5 * np.log(5.0), np.arctan(2.0))
    assert warning.startswith('"s1": ')
    assert f"at 318 Hz by {ratio:.2g} of the critical damping, and of 2 more less" in warning
    assert len(simulation.vibration.numerical_damping()) == 3


def test_free_bodies_on_a_spring_have_one_frequency(parts):
    """Two free bodies on a sliding spring: rigid-body motions are left out, and a rigid loop joint has no effect."""
    pair = (
        '<loop_joint name="slide" type="prismatic" axis="x" stiffness="900 1e9 1e9" rotational_stiffness="1e9">'
        '<parent link="a"/><child link="b"/></loop_joint>'
    )
    machine = parts.machine(
        GROUND_LINK,
        parts.link("a", 3.0),
        parts.link("b", 1.0),
        parts.joint("free_a", "floating", "world", "a"),
        parts.joint("free_b", "floating", "world", "b"),
        extension=pair,
    )
    frequencies = Simulation(machine, SPACE).vibration.natural_frequencies()
    assert len(frequencies) == 6
    assert frequencies[0] == pytest.approx(np.sqrt(900.0 / 0.75) / (2.0 * np.pi), rel=1e-6)


def test_a_rigid_loop_constrains_the_vibration(parts):
    """Two sliders, each on a spring, coupled by a rigid loop joint."""
    machine = parts.machine(
        GROUND_LINK,
        parts.link("a", 3.0),
        parts.link("b", 1.0),
        parts.joint("slide_a", "prismatic", "world", "a", axis=(1, 0, 0)),
        parts.joint("slide_b", "prismatic", "world", "b", axis=(1, 0, 0)),
        extension='<compliant_joint joint="slide_a" axial_stiffness="700"/>'
        '<compliant_joint joint="slide_b" axial_stiffness="200"/>'
        '<loop_joint name="weld" type="fixed"><parent link="a"/><child link="b"/></loop_joint>',
    )
    simulation = Simulation(machine, SPACE)
    assert simulation.vibration.natural_frequencies() == pytest.approx([np.sqrt(900.0 / 4.0) / (2.0 * np.pi)], rel=1e-9)
    (mode,) = simulation.vibration.modes()
    assert mode.energy == pytest.approx({"slide_a": 7.0 / 9.0, "slide_b": 2.0 / 9.0})


def test_bodies_without_elasticity_do_not_vibrate(parts):
    machine = parts.machine(
        GROUND_LINK,
        parts.link("free", 5.0),
        parts.link("a", 3.0),
        parts.link("b", 2.0),
        parts.joint("float", "floating", "world", "free"),
        parts.joint("slide_a", "prismatic", "world", "a", axis=(1, 0, 0)),
        parts.joint("slide_b", "prismatic", "a", "b", axis=(1, 0, 0)),
        extension='<compliant_joint joint="slide_b" axial_stiffness="90"/>',
    )
    (mode,) = Simulation(machine, SPACE).vibration.modes()
    # two masses with a spring between them
    assert mode.frequency == pytest.approx(np.sqrt(90.0 * (1 / 3.0 + 1 / 2.0)) / (2.0 * np.pi), rel=1e-9)
    assert mode.shape[:6].tolist() == [0.0] * 6
    assert mode.shape[6] / mode.shape[7] == pytest.approx(-2.0 / 5.0)


# --- stiffness and restart ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1e-3, 1e-2])
@pytest.mark.parametrize("mass", [0.01, 1.0, 1000.0])
def test_stiff_bushings_are_stable(parts, mass, step):
    springs = '<compliant_joint joint="body_joint" stiffness="1e8" rotational_stiffness="1e5"/>'
    inertia = (0.01 * mass,) * 3
    machine = parts.machine(
        GROUND_LINK,
        parts.link("arm", mass, inertia, com=(0.2, 0, 0)),
        parts.link("body", mass, inertia, com=(0.4, 0.1, 0.2)),
        parts.joint("hinge", "continuous", "world", "arm", axis=(0, 0.6, 0.8)),
        tilted("fixed", "arm", "body"),
        extension=springs,
    )
    simulation = Simulation(machine, EARTH, step)
    start = simulation.energy()
    for _ in range(20):
        simulation.step(100)
        now = simulation.energy()
        total = now.kinetic + now.potential + now.elastic - start.potential
        # a swing of w = 8 rad/s: the first order of the step, w h / 2 of what it exchanges
        assert total < 0.5 * 8.0 * step * mass * 9.81 * 2.0
    assert np.abs(simulation.state.q[1:]).max() < 1e-1


@pytest.mark.parametrize("integrator", ["semi_implicit", "implicit_midpoint"])
def test_compliant_joint_restart_is_exact(parts, integrator):
    law = 'axial_stiffness="500" cubic_stiffness="1e4" backlash="0.01" hysteresis="1" hysteresis_stiffness="900"'
    machine = series_elastic(parts, law)
    simulation = Simulation(machine, SPACE, integrator=integrator)
    simulation.state.v[:] = [0.5, 2.0]
    simulation.step(300)
    saved = simulation.snapshot()
    simulation.step(300)
    other = Simulation(machine, SPACE, integrator=integrator)
    other.restore(saved)
    other.step(300)
    for mine, others in zip(leaves(simulation.state), leaves(other.state), strict=True):
        assert np.array_equal(mine, others)
