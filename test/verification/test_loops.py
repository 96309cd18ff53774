"""Loop joints, rigid and elastic: free and blocked directions, reactions, assembly."""

import numpy as np
import pytest

from grouser import DivergenceError, MachineError, Simulation, World
from grouser.physics.base.spatial import matrix, quaternion_exponential
from grouser.physics.compliance.vibration import implicit_damping_ratio
from grouser.physics.description.data.compliance import constrained_directions
from grouser.physics.description.data.rotation import quaternion_from_rpy

SPACE = World(gravity=(0.0, 0.0, 0.0), ground=None)
EARTH = World(ground=None)
GROUND_LINK = '<link name="world"/>'
TYPES = ("spherical", "revolute", "prismatic", "cylindrical", "planar", "fixed")
# two arbitrary frames
WORLD_XYZ, WORLD_RPY = (0.3, -0.2, 0.5), (0.4, -0.7, 1.1)
BODY_XYZ, BODY_RPY = (0.1, 0.2, -0.3), (-0.9, 0.5, 0.3)
# Tolerance of a rigid loop joint at 1 ms [m or rad].
CLOSED = 1e-6


def rotation(rpy):
    return matrix(quaternion_from_rpy(*rpy))


def words(value):
    return value if isinstance(value, str) else " ".join(repr(float(number)) for number in np.atleast_1d(value))


def frame(side, link, xyz=(0, 0, 0), rpy=(0, 0, 0)):
    return f'<{side} link="{link}" xyz="{words(xyz)}" rpy="{words(rpy)}"/>'


def loop(kind, parent, child, axis="z", name="pair", **springs):
    """Text of a loop joint between two frames (link, xyz, rpy)."""
    given = "".join(f' {attribute}="{words(value)}"' for attribute, value in springs.items())
    sides = frame("parent", *parent) + frame("child", *child)
    return f'<loop_joint name="{name}" type="{kind}" axis="{axis}"{given}>{sides}</loop_joint>'


def held_body(parts, kind, axis="z", *, swapped=False, mass=2.0, inertia=(0.05, 0.05, 0.05), com=BODY_XYZ, **springs):
    """A free body that a loop joint connects to the world; swapped: the world is the child."""
    sides = [("world", WORLD_XYZ, WORLD_RPY), ("body", BODY_XYZ, BODY_RPY)]
    return parts.machine(
        GROUND_LINK,
        parts.link("body", mass, inertia, com=com),
        parts.joint("free", "floating", "world", "body"),
        extension=loop(kind, *(sides[::-1] if swapped else sides), axis, **springs),
    )


def blocked_directions(kind, axis="z"):
    translations, rotations = constrained_directions(kind, axis)
    return np.array([*translations, *rotations])


def held_frame(simulation):
    """Position and axes of the loop joint's frame on the body, in its frame on the world."""
    position, quaternion = simulation.link_pose("body")
    axes, body = rotation(WORLD_RPY), matrix(quaternion)
    return axes.T @ (position + body @ BODY_XYZ - WORLD_XYZ), axes.T @ body @ rotation(BODY_RPY)


def worst_gap(simulation, steps, blocked, name="pair"):
    """Largest deflection in the blocked directions over some steps."""
    worst = 0.0
    for _ in range(steps):
        simulation.step()
        worst = max(worst, float(np.abs(simulation.joint_deflection[name][blocked]).max(initial=0.0)))
    return worst


# --- rigid loop joints
# ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("axis", ["x", "y", "z"])
@pytest.mark.parametrize("kind", TYPES)
def test_loop_joint_allows_motion_in_its_free_directions_only(parts, kind, axis, swapped):
    simulation = Simulation(held_body(parts, kind, axis, swapped=swapped), SPACE)
    place, turn = held_frame(simulation)
    blocked = blocked_directions(kind, axis)
    push = np.where(blocked, 0.0, np.random.default_rng(5).uniform(1.0, 2.0, 6) * [1, 1, 1, 8, 8, 8])
    axes = matrix(simulation.link_pose("body")[1]).T @ rotation(WORLD_RPY)
    spin = axes @ push[3:]
    simulation.state.v[:] = [*(axes @ push[:3] - np.cross(spin, BODY_XYZ)), *spin]
    worst = worst_gap(simulation, 1000, blocked)
    assert worst < CLOSED
    place_after, turn_after = held_frame(simulation)
    # a sphere pushed at its centre moves straight and rotates about a fixed axis
    assert place_after - place == pytest.approx(push[:3] * simulation.time, abs=2.0 * CLOSED)
    angle = matrix(quaternion_exponential(*(push[3:] * simulation.time))) @ turn
    # thousand steps of angles within the joint's tolerance
    assert turn_after == pytest.approx(angle, abs=20.0 * CLOSED)


def two_bodies(parts, kind, axis="z", *, swapped=False, masses=(2.0, 0.7), **springs):
    """Two free asymmetric bodies, connected by a loop joint away from their centres."""
    sides = [("a", WORLD_XYZ, WORLD_RPY), ("b", BODY_XYZ, BODY_RPY)]
    return parts.machine(
        GROUND_LINK,
        parts.link("a", masses[0], tuple(masses[0] * np.array([0.05, 0.08, 0.11])), com=(0.1, -0.1, 0.2)),
        parts.link("b", masses[1], tuple(masses[1] * np.array([0.03, 0.02, 0.04])), com=(-0.1, 0.05, 0.1)),
        parts.joint("free_a", "floating", "world", "a"),
        parts.joint("free_b", "floating", "world", "b"),
        extension=loop(kind, *(sides[::-1] if swapped else sides), axis, **springs),
    )


def momentum(simulation):
    """Linear and angular momentum of both bodies about the world's origin, and the momenta of b alone about its com."""
    total, last = np.zeros(6), None
    for link, first in (("a", 0), ("b", 6)):
        inertial = next(one.inertial for one in simulation.machine.links if one.name == link)
        position, quaternion = simulation.link_pose(link)
        axes, com = matrix(quaternion), np.array(inertial.pose.position)
        v, w = np.split(simulation.state.v[first : first + 6], 2)
        linear = inertial.mass * axes @ (v + np.cross(w, com))
        about_com = axes @ (np.array(inertial.inertia)[[0, 3, 5]] * w)
        total += [*linear, *(about_com + np.cross(position + axes @ com, linear))]
        last = np.array([*linear, *about_com])
    return total, last


def tumble(simulation, seed=3):
    """Throws both bodies at random; two steps make their velocities consistent with the loop joint."""
    simulation.state.v[:] = np.random.default_rng(seed).uniform(-1.0, 1.0, 12) * np.tile([2, 2, 2, 6, 6, 6], 2)
    simulation.step(2)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("kind", TYPES)
def test_loop_joint_holds_tumbling_bodies_together(parts, kind, swapped):
    simulation = Simulation(two_bodies(parts, kind, "y", swapped=swapped), SPACE)
    tumble(simulation)
    assert worst_gap(simulation, 1000, blocked_directions(kind, "y")) < CLOSED


@pytest.mark.parametrize("springs", [{}, {"stiffness": 1e6, "rotational_stiffness": 1e4}])
@pytest.mark.parametrize("kind", TYPES)
def test_tumbling_bodies_conserve_momentum(parts, kind, springs):
    if springs and kind == "spherical":
        springs = {"stiffness": 1e6}
    simulation = Simulation(two_bodies(parts, kind, "y", **springs), SPACE)
    tumble(simulation)
    before = momentum(simulation)[0]
    simulation.step(1000)
    change = momentum(simulation)[0] - before
    # The reactions of a loop joint are equal and opposite, and each body keeps its momentum. Rounding: rigid rows have
    # a conductance a million times the effective mass. The position pass moves the bodies by a gap of 1e-7 m or rad in
    # each step, and back.
    size = np.linalg.norm(before[3:]) + np.linalg.norm(before[:3])
    assert np.linalg.norm(change[:3]) < 1e-9 * size
    assert np.linalg.norm(change[3:]) < (1e-9 if springs else 1e-5) * size


@pytest.mark.parametrize("kind", TYPES)
def test_tumbling_bodies_conserve_energy(parts, kind):
    losses = []
    for step in (1e-3, 2.5e-4):
        simulation = Simulation(two_bodies(parts, kind, "y"), SPACE, step)
        tumble(simulation)
        before = simulation.energy().kinetic
        worst = 0.0
        for _ in range(20):
            simulation.step(round(0.05 / step))
            worst = max(worst, abs(simulation.energy().kinetic / before - 1.0))
        losses.append(worst)
    # first order: a tenth of h w, 1e-2, with reactions in alternating directions
    assert losses[0] < 1e-3
    assert losses[1] < 0.5 * losses[0]


@pytest.mark.parametrize("kind", TYPES)
def test_loop_reaction_equals_the_rate_of_the_childs_momentum(parts, kind):
    simulation = Simulation(two_bodies(parts, kind, "x"), SPACE, step=1e-5)
    tumble(simulation)
    position, quaternion = simulation.link_pose("a")
    axes = matrix(quaternion)
    origin, frame_axes = position + axes @ WORLD_XYZ, axes @ rotation(WORLD_RPY)
    position, quaternion = simulation.link_pose("b")
    com = position + matrix(quaternion) @ np.array([-0.1, 0.05, 0.1])
    _, before = momentum(simulation)
    simulation.step()
    _, after = momentum(simulation)
    force, about_com = np.split((after - before) / simulation.step_size, 2)
    about_origin = np.cross(com - origin, force)
    reaction = simulation.joint_reaction["pair"]
    # the momenta are read at the ends of a step with a rotation of h w, 1e-4 rad
    assert reaction[:3] == pytest.approx(force @ frame_axes, abs=1e-3 * np.linalg.norm(force))
    size = np.linalg.norm(about_com) + np.linalg.norm(about_origin)
    assert reaction[3:] == pytest.approx((about_com + about_origin) @ frame_axes, abs=1e-3 * size)


def test_revolute_loop_joint_turns_without_limit(parts):
    simulation = Simulation(held_body(parts, "revolute", "y"), SPACE)
    axes = matrix(simulation.link_pose("body")[1]).T @ rotation(WORLD_RPY)
    start = simulation.joint_deflection["pair"][4]
    spin = axes @ [0.0, 20.0, 0.0]
    simulation.state.v[:] = [*-np.cross(spin, BODY_XYZ), *spin]
    assert worst_gap(simulation, 2000, blocked_directions("revolute", "y")) < CLOSED
    # more than six turns; the angle is given between -pi and pi
    turned = np.remainder(simulation.joint_deflection["pair"][4] - start - 40.0 + np.pi, 2.0 * np.pi) - np.pi
    assert abs(turned) < 40.0 * CLOSED


# --- mechanisms -----------------------------------------------------------------------------------------------------


def bar(parts, name, length, mass=1.0):
    """A slender bar along x from its origin."""
    inertia = mass * length**2 / 12.0
    return parts.link(name, mass, (1e-4, inertia, inertia), com=(0.5 * length, 0.0, 0.0))


def four_bar(
    parts, kind="spherical", lengths=(0.2, 0.5, 0.4, 0.5), axis="z", extension="", last_rpy=(0, 0, 0), **springs
):
    """Crank, coupler and rocker in the x-y plane; a loop joint connects the tips of rocker and coupler."""
    crank, coupler, rocker, ground = lengths
    return parts.machine(
        GROUND_LINK,
        *(bar(parts, "crank", crank), bar(parts, "coupler", coupler), bar(parts, "rocker", rocker)),
        parts.joint("crank_joint", "continuous", "world", "crank"),
        parts.joint("knee", "continuous", "crank", "coupler", xyz=(crank, 0, 0)),
        parts.joint("rocker_joint", "continuous", "world", "rocker", xyz=(ground, 0, 0)),
        extension=loop(kind, ("coupler", (coupler, 0, 0)), ("rocker", (rocker, 0, 0), last_rpy), axis, **springs)
        + '<initial_position joint="crank_joint" position="1.0"/>'
        + extension,
    )


def rocker_angle(crank_angle, lengths, sign):
    """Angle of the rocker by the law of cosines (Freudenstein)."""
    crank, coupler, rocker, ground = lengths
    diagonal = np.array([crank * np.cos(crank_angle) - ground, crank * np.sin(crank_angle)])
    length = np.linalg.norm(diagonal)
    open_angle = np.arccos((rocker**2 + length**2 - coupler**2) / (2.0 * rocker * length))
    return np.arctan2(diagonal[1], diagonal[0]) + sign * open_angle


@pytest.mark.parametrize("kind", ["spherical", "revolute"])
def test_four_bar_in_fast_motion_follows_its_geometry(parts, kind):
    lengths = (0.2, 0.5, 0.4, 0.5)
    drive = '<servo_drive joint="crank_joint" mode="velocity" damping="1e4" effort_limit="1e6"/>'
    simulation = Simulation(four_bar(parts, kind, lengths, extension=drive), EARTH)
    difference = np.remainder(simulation.joint_position["rocker_joint"] - rocker_angle(1.0, lengths, 1.0), 2.0 * np.pi)
    sign = 1.0 if min(difference, 2.0 * np.pi - difference) < 1e-6 else -1.0
    blocked = blocked_directions(kind)
    for ramp in np.minimum(np.arange(1, 201) / 20.0, 1.0):
        simulation.command["crank_joint"] = 12.0 * ramp
        assert worst_gap(simulation, 10, blocked) < CLOSED
        expected = rocker_angle(simulation.joint_position["crank_joint"], lengths, sign)
        off = np.remainder(simulation.joint_position["rocker_joint"] - expected + np.pi, 2.0 * np.pi) - np.pi
        # a gap of a micrometre over the sine of the angle between coupler and rocker, a half, times the rocker
        assert abs(off) < CLOSED / (0.4 * 0.5)
    assert simulation.joint_velocity["crank_joint"] == pytest.approx(12.0, rel=0.02)


def test_slider_crank_follows_its_geometry(parts):
    machine = parts.machine(
        GROUND_LINK,
        *(bar(parts, "crank", 0.1), bar(parts, "rod", 0.3), parts.link("slider", 0.5)),
        parts.joint("crank_joint", "continuous", "world", "crank"),
        parts.joint("pin", "continuous", "crank", "rod", xyz=(0.1, 0, 0)),
        parts.joint("free", "floating", "world", "slider", xyz=(0.4, 0, 0)),
        extension=loop("spherical", ("rod", (0.3, 0, 0)), ("slider",), name="wrist")
        + loop("prismatic", ("world",), ("slider",), axis="x", name="guide")
        + '<initial_position joint="crank_joint" position="0.7"/>'
        + '<servo_drive joint="crank_joint" mode="velocity" damping="1e4" effort_limit="1e6"/>',
    )
    simulation = Simulation(machine, EARTH)
    simulation.command["crank_joint"] = 12.0
    for _ in range(20):
        assert worst_gap(simulation, 100, blocked_directions("prismatic", "x"), "guide") < CLOSED
        angle = simulation.joint_position["crank_joint"]
        place = 0.1 * np.cos(angle) + np.sqrt(0.3**2 - (0.1 * np.sin(angle)) ** 2)
        # gaps of a micrometre at the wrist and at the guide, through a rod inclined by at most 20 degrees
        assert simulation.link_pose("slider")[0] == pytest.approx([place, 0.0, 0.0], abs=3.0 * CLOSED)


def test_parallelogram_swings_as_a_pendulum_for_a_minute(parts):
    lengths = (0.4, 0.6, 0.4, 0.6)
    machine = four_bar(parts, "revolute", lengths)
    simulation = Simulation(machine, World(gravity=(9.81, 0.0, 0.0), ground=None))
    # crank and rocker of 1 kg turn about their ends, the coupler of 1 kg moves on a circle without rotation
    inertia = 2.0 * 0.4**2 / 3.0 + 0.4**2
    stiffness = 9.81 * 0.4 * (0.5 + 1.0 + 0.5)

    def energy():
        angle, speed = simulation.joint_position["crank_joint"], simulation.joint_velocity["crank_joint"]
        return 0.5 * inertia * speed**2 - stiffness * np.cos(angle)

    start = energy()
    blocked = blocked_directions("revolute")
    for _ in range(60):
        simulation.step(1000)
        assert np.abs(simulation.joint_deflection["pair"][blocked]).max() < CLOSED
        # never flips into the crossed branch
        assert simulation.joint_position["rocker_joint"] == pytest.approx(
            simulation.joint_position["crank_joint"], abs=1e-5
        )
        # first order, symplectic but for the loop: h w = 4e-3 of the swing's energy, and no drift
        assert energy() == pytest.approx(start, abs=4e-3 * stiffness)


def test_rigid_four_bar_gains_no_energy_in_a_minute(parts):
    simulation = Simulation(four_bar(parts, "spherical"), SPACE)
    simulation.state.v[:] = 3.0 * np.ones(3)
    simulation.step(2)
    most = simulation.energy().kinetic
    for _ in range(60):
        simulation.step(1000)
        now = simulation.energy().kinetic
        # within a turn the energy varies with the first order of the step, h w = 1e-2
        assert now < 1.01 * most
        assert np.abs(simulation.joint_deflection["pair"][:3]).max() < CLOSED


def door(parts, hinges, error=0.0, **springs):
    """A door of 20 kg, 2 m by 1 m, on hinges along a vertical post, each off by random errors of some size [m, rad]."""
    random = np.random.default_rng(2)
    heights = np.linspace(0.2, 1.8, hinges)
    return parts.machine(
        GROUND_LINK,
        parts.link("door", 20.0, (20 * 4 / 12, 20 * 5 / 12, 20 / 12), com=(0.5, 0.0, 1.0)),
        parts.joint("free", "floating", "world", "door"),
        extension="".join(
            loop(
                "revolute",
                ("world", (0, 0, height)),
                ("door", np.array([0, 0, height]) + error * random.uniform(-1, 1, 3), error * random.uniform(-1, 1, 3)),
                name=f"hinge{number}",
                **springs,
            )
            for number, height in enumerate(heights)
        ),
    )


@pytest.mark.parametrize("hinges", [2, 3])
def test_door_on_redundant_hinges(parts, hinges):
    simulation = Simulation(door(parts, hinges), EARTH)
    simulation.state.v[5] = 3.0
    for _ in range(200):
        simulation.step(10)
        reactions = np.array([simulation.joint_reaction[f"hinge{number}"] for number in range(hinges)])
        position, quaternion = simulation.link_pose("door")
        axes = matrix(quaternion)
        # the hinges together carry the weight, the centripetal force, and their moment about the post's foot
        force = reactions[:, :3].sum(axis=0)
        spin = simulation.state.v[5]
        middle = axes @ [0.5, 0.0, 0.0]
        # read at the end of the step: h w = 3e-3
        assert force == pytest.approx(-20.0 * spin**2 * middle + [0, 0, 20 * 9.81], abs=5e-3 * 200.0)
        heights = np.linspace(0.2, 1.8, hinges)
        moment = sum(np.cross([0, 0, z], r[:3]) + r[3:] for z, r in zip(heights, reactions, strict=True))
        weight = np.array([0.0, 0.0, 20.0 * 9.81])
        height = np.array([0.0, 0.0, 1.0])
        expected = np.cross(middle + height, weight) + np.cross(height, force - weight)
        assert moment == pytest.approx(expected, abs=5e-3 * 200.0)
        # internal reactions stay of the size of the load
        assert np.abs(reactions).max() < 2.0 * 200.0
    assert simulation.state.v[5] == pytest.approx(3.0, rel=1e-3)
    assert np.abs(position).max() < CLOSED


def test_misaligned_door_on_elastic_hinges_is_preloaded(parts):
    simulation = Simulation(door(parts, 3, error=1e-4, stiffness=1e7, rotational_stiffness=1e5), EARTH)
    bent = [warning for warning in simulation.warnings if "springs bent" in warning]
    assert [warning.split('"')[1] for warning in bent] == ["hinge0", "hinge1", "hinge2"]
    simulation.state.v[5] = 3.0
    largest = 0.0
    for _ in range(300):
        simulation.step(10)
        largest = max(largest, max(np.abs(simulation.joint_reaction[f"hinge{n}"]).max() for n in range(3)))
    # the frames are off by 1e-4 m: a spring of 1e7 N/m may push by 1e3 N for each of the errors, parent's and child's
    assert largest < 3.0 * 1e3 + 400.0
    assert np.abs(simulation.link_pose("door")[0]).max() < 1e-3


@pytest.mark.parametrize("error", [1e-6, 1e-4, 4e-4])
@pytest.mark.parametrize("hinges", [2, 3])
def test_door_on_misaligned_rigid_hinges_turns_freely(parts, hinges, error):
    """Inconsistent redundant directions are left to a minimal set of hinges."""
    simulation = Simulation(door(parts, hinges, error), EARTH)
    assert len(simulation.arrays.system.loops.row_loop) == 5
    assert sum("over-constrained" in warning for warning in simulation.warnings) >= hinges - 1
    simulation.state.v[5] = 3.0
    for _ in range(200):
        simulation.step(10)
        reactions = np.array([simulation.joint_reaction[f"hinge{number}"] for number in range(hinges)])
        gaps = np.array([simulation.joint_deflection[f"hinge{number}"][:5] for number in range(hinges)])
        # gaps of the size of the errors, parent and child, over levers of up to 1.6 m
        assert np.abs(gaps).max() < 4.0 * error
        assert reactions[:, 2].sum() == pytest.approx(20.0 * 9.81, rel=1e-3)
        # the load of 200 N at its lever of half a metre to a metre, no more
        assert np.abs(reactions).max() < 2.0 * 200.0
    # the hinge line is inclined by the errors over 1.6 m, and the weight turns the door about it
    assert simulation.state.v[5] == pytest.approx(3.0, rel=1e-3 + 20.0 * error)


def test_aligned_redundant_hinges_share_the_load(parts):
    simulation = Simulation(door(parts, 3), EARTH)
    assert len(simulation.arrays.system.loops.row_loop) == 15
    assert simulation.warnings == ()


# pi / 2 as it is often written is off by 3.7e-6
@pytest.mark.parametrize("lean", [3.7e-6, 2e-4, 8e-4])
def test_plane_linkage_with_an_inclined_hinge_moves_as_with_a_straight_one(parts, lean):
    straight, leaning = (
        Simulation(four_bar(parts, "revolute", last_rpy=(angle, 0, 0)), SPACE) for angle in (0.0, lean)
    )
    assert straight.warnings == ()
    assert leaning.arrays.system.loops.row_direction.tolist() == [0, 1, 2]
    (warning,) = leaning.warnings
    assert "pair" in warning and "about x, about y" in warning
    for simulation in (straight, leaning):
        simulation.state.v[:] = 3.0
        simulation.step(1000)
    # the inclination has no effect on plane motion; the straight hinge yields by a millionth of the initial jerk
    assert leaning.state.q == pytest.approx(straight.state.q, abs=1e-5)
    assert leaning.energy().kinetic == pytest.approx(straight.energy().kinetic, rel=1e-5)
    assert leaning.joint_reaction["pair"][:3] == pytest.approx(straight.joint_reaction["pair"][:3], abs=1e-3)


@pytest.mark.parametrize("scale", [1.0, 0.01])
@pytest.mark.parametrize("angle", [0.0, 1e-3, 1e-2])
@pytest.mark.parametrize("lengths", [(0.4, 0.6, 0.4, 0.6), (0.2, 0.5, 0.4, 0.7)])
def test_loop_at_its_dead_point_keeps_all_needed_rows(parts, lengths, angle, scale):
    """With all bars in line, a needed row of the Jacobian appears redundant."""
    start = f'<initial_position joint="crank_joint" position="{angle}"/>'
    lengths = tuple(scale * length for length in lengths)
    for lean, rows in ((0.0, [0, 1, 2, 3, 4]), (1e-4, [0, 1, 2])):
        simulation = Simulation(four_bar_at(parts, start, lengths, (lean, 0, 0)), SPACE)
        assert simulation.arrays.system.loops.row_direction.tolist() == rows


def test_loop_rows_needed_in_other_positions_are_kept(parts):
    """A third rocker is redundant except for its length: a row redundant here is needed in other positions."""
    machine = parts.machine(
        GROUND_LINK,
        *(bar(parts, name, length) for name, length in (("crank", 0.4), ("coupler", 0.6), ("a", 0.4), ("b", 0.4))),
        parts.joint("j0", "continuous", "world", "crank"),
        parts.joint("j1", "continuous", "crank", "coupler", xyz=(0.4, 0, 0)),
        parts.joint("j2", "continuous", "world", "a", xyz=(0.6, 0, 0)),
        parts.joint("j3", "continuous", "world", "b", xyz=(0.3, 0, 0)),
        extension=loop("spherical", ("coupler", (0.6, 0, 0)), ("a", (0.4, 0, 0)), name="a_tip")
        + loop("spherical", ("coupler", (0.3, 0, 0)), ("b", (0.4 + 1e-4, 0, 0)), name="b_tip")
        + '<initial_position joint="j0" position="1.0"/>',
    )
    simulation = Simulation(machine, SPACE)
    assert len(simulation.arrays.system.loops.row_loop) == 6
    assert [warning.split('"')[1] for warning in simulation.warnings] == ["a_tip", "b_tip"]
    assert all("forced against the others" in warning for warning in simulation.warnings)


def test_rigid_loop_joints_recover_from_an_open_state(parts):
    simulation = Simulation(door(parts, 3), EARTH)
    simulation.state.q[:3] += [1e-3, -2e-3, 1e-3]
    simulation.state.v[:] = [0.3, -0.2, 0.1, 0.5, -0.5, 1.0]
    simulation.step(5)
    for number in range(3):
        assert np.abs(simulation.joint_deflection[f"hinge{number}"][:5]).max() < CLOSED
        # weight and drive of the door: the transient is over
        assert np.abs(simulation.joint_reaction[f"hinge{number}"]).max() < 1e3


# --- assembly -------------------------------------------------------------------------------------------------------


def test_loops_close_from_approximate_positions(parts):
    for angle in (0.3, 1.0, 2.0, 3.0, -1.5):
        machine = four_bar(parts, "revolute", (0.2, 0.5, 0.4, 0.5))
        start = f'<initial_position joint="crank_joint" position="{angle}"/>'
        machine = four_bar(parts, "revolute", extension="") if angle == 1.0 else four_bar_at(parts, start)
        simulation = Simulation(machine, EARTH)
        assert np.abs(simulation.joint_deflection["pair"]).max(initial=0.0, where=blocked_directions("revolute")) < 1e-9
        assert simulation.joint_position["crank_joint"] == angle


def test_inverted_hinge_is_not_closed(parts):
    with pytest.raises(MachineError, match="cannot be closed.*180 degrees"):
        Simulation(four_bar(parts, "revolute", last_rpy=(np.pi, 0, 0)), EARTH)


def test_loop_with_a_link_of_inertia_without_mass(parts):
    machine = parts.machine(
        GROUND_LINK,
        parts.link("wheel", 0.0, (1.0, 1.0, 1.0)),
        parts.joint("axle", "continuous", "world", "wheel"),
        extension=loop("revolute", ("world",), ("wheel",)),
    )
    simulation = Simulation(machine, EARTH)
    simulation.state.v[0] = 2.0
    simulation.step(100)
    assert simulation.state.v[0] == pytest.approx(2.0, rel=1e-9)


def test_stiffness_beyond_double_precision_is_reported(parts):
    """Three small wheels on springs of 9e14 N m/rad: their mass matrix has no factor in double precision."""
    springs = {"stiffness": 1.0, "rotational_stiffness": 9e14}
    machine = parts.machine(
        GROUND_LINK,
        *(parts.link(name, 1.0, (1e-6,) * 3) for name in "abc"),
        *(parts.joint(f"axle_{name}", "continuous", "world", name) for name in "abc"),
        extension=loop("fixed", ("a",), ("b",), name="ab", **springs)
        + loop("fixed", ("b",), ("c",), name="bc", **(springs | {"rotational_stiffness": 8.8e14})),
    )
    # the midpoint rule's half step is as long
    for integrator, step in (("semi_implicit", 0.05), ("implicit_midpoint", 0.1)):
        simulation = Simulation(machine, SPACE, step, integrator=integrator)
        simulation.state.v[:] = [1.0, -1.0, 0.5]
        with pytest.raises(DivergenceError, match="axle_"):
            simulation.step()


def four_bar_at(parts, start, lengths=(0.2, 0.5, 0.4, 0.5), last_rpy=(0, 0, 0)):
    crank, coupler, rocker, ground = lengths
    return parts.machine(
        GROUND_LINK,
        *(bar(parts, "crank", crank), bar(parts, "coupler", coupler), bar(parts, "rocker", rocker)),
        parts.joint("crank_joint", "continuous", "world", "crank"),
        parts.joint("knee", "continuous", "crank", "coupler", xyz=(crank, 0, 0)),
        parts.joint("rocker_joint", "continuous", "world", "rocker", xyz=(ground, 0, 0)),
        extension=loop("revolute", ("coupler", (coupler, 0, 0)), ("rocker", (rocker, 0, 0), last_rpy)) + start,
    )


def test_impossible_loop_lengths_are_refused_with_the_gap(parts):
    # coupler and rocker stretched out towards each other: 0.2 + 0.5 + 0.4 is 0.4 short of 1.5
    machine = four_bar(parts, "spherical", (0.2, 0.5, 0.4, 1.5), extension="")
    with pytest.raises(MachineError, match='loop_joint name="pair".*cannot be closed') as refused:
        Simulation(machine, EARTH)
    # the crank is at 1 rad: from its tip to the rocker's foot, less coupler and rocker
    gap = np.hypot(1.5 - 0.2 * np.cos(1.0), 0.2 * np.sin(1.0)) - 0.9
    assert f"{gap:.3g}" in str(refused.value)


def test_loops_that_close_beyond_a_limit_are_refused(parts):
    machine = parts.machine(
        GROUND_LINK,
        *(bar(parts, "crank", 0.2), bar(parts, "coupler", 0.5), bar(parts, "rocker", 0.4)),
        parts.joint("crank_joint", "continuous", "world", "crank"),
        parts.joint("knee", "continuous", "crank", "coupler", xyz=(0.2, 0, 0)),
        '<joint name="rocker_joint" type="revolute"><parent link="world"/><child link="rocker"/><origin xyz="0.5 0 0"/>'
        '<axis xyz="0 0 1"/><limit lower="-0.1" upper="0.1" effort="1" velocity="1"/></joint>',
        extension=loop("revolute", ("coupler", (0.5, 0, 0)), ("rocker", (0.4, 0, 0)))
        + '<initial_position joint="crank_joint" position="1.0"/>',
    )
    with pytest.raises(MachineError, match='joint name="rocker_joint".*stands at .* outside its limits'):
        Simulation(machine, EARTH)


# --- elastic loop joints
# --------------------------------------------------------------------------------------------------

STIFFNESS, TURNING = np.array([2e5, 5e5, 1.1e6]), np.array([3e4, 8e4, 2e5])
SPRINGS = {
    "stiffness": STIFFNESS,
    "rotational_stiffness": TURNING,
    # over-damped, to come to rest: k / d = 50 /s and 50 /s
    "damping": 0.02 * STIFFNESS,
    "rotational_damping": 0.02 * TURNING,
}


@pytest.mark.parametrize("axis", ["x", "z"])
@pytest.mark.parametrize("kind", TYPES)
def test_loop_spring_deflection_is_force_over_stiffness(parts, kind, axis):
    com = (0.4, 0.1, 0.2)
    simulation = Simulation(held_body(parts, kind, axis, com=com, **SPRINGS), EARTH)
    start = simulation.joint_deflection["pair"].copy()
    assert start[blocked_directions(kind, axis)] == pytest.approx(0.0, abs=1e-9)
    # free directions may start deflected: they come to rest first
    simulation.step(2000)
    assert np.abs(simulation.state.v).max() < 1e-10
    axes = rotation(WORLD_RPY)
    weight = np.array([0.0, 0.0, -2.0 * 9.81])
    force = axes.T @ weight
    deflection = simulation.joint_deflection["pair"]
    assert deflection[:3] == pytest.approx(force / STIFFNESS, rel=1e-9)
    position, quaternion = simulation.link_pose("body")
    body = matrix(quaternion)
    about_child = axes.T @ np.cross(body @ (np.array(com) - BODY_XYZ), weight)
    # the rotation vector's gradient is the axis, within the angle of 3e-4 rad
    assert deflection[3:] == pytest.approx(about_child / TURNING, abs=1e-3 * np.abs(about_child / TURNING).max())
    reaction = simulation.joint_reaction["pair"]
    assert reaction[:3] == pytest.approx(-force, rel=1e-9)
    about_origin = axes.T @ np.cross(position + body @ np.array(com) - WORLD_XYZ, weight)
    assert reaction[3:] == pytest.approx(-about_origin, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("kind", TYPES)
def test_loop_reaction_with_the_world_as_child(parts, kind):
    simulation = Simulation(held_body(parts, kind, com=(0.4, 0.1, 0.2), swapped=True, **SPRINGS), EARTH)
    simulation.step(2000)
    body = matrix(simulation.link_pose("body")[1])
    axes = body @ rotation(BODY_RPY)
    weight = np.array([0.0, 0.0, -2.0 * 9.81])
    reaction = simulation.joint_reaction["pair"]
    assert reaction[:3] == pytest.approx(weight @ axes, rel=1e-7, abs=1e-7)
    moment = np.cross(body @ (np.array([0.4, 0.1, 0.2]) - BODY_XYZ), weight)
    assert reaction[3:] == pytest.approx(moment @ axes, rel=1e-7, abs=1e-7)
    assert simulation.joint_deflection["pair"][:3] == pytest.approx(-reaction[:3] / STIFFNESS, rel=1e-7)


def test_mass_on_an_elastic_loop_joint_oscillates_as_predicted(parts):
    step, mass, stiffness = 1e-3, 2.0, 2e4
    springs = {"stiffness": stiffness, "rotational_stiffness": 1e5}
    simulation = Simulation(held_body(parts, "fixed", mass=mass, inertia=(1.0, 1.0, 1.0), **springs), SPACE, step)
    frequency = np.sqrt(stiffness / mass) / (2.0 * np.pi)
    assert simulation.vibration.natural_frequencies()[:3] == pytest.approx(frequency, rel=1e-9)
    simulation.state.v[:3] = matrix(simulation.link_pose("body")[1]).T @ rotation(WORLD_RPY) @ [0.1, 0.0, 0.0]
    deflection = []
    for _ in range(300):
        simulation.step()
        deflection.append(simulation.joint_deflection["pair"][0])
    # x_k = c r^k sin(k a): an implicit Euler step multiplies by 1 / (1 - i w h)
    turn = 2.0 * np.pi * frequency * step
    factor = 1.0 / (1.0 - 1j * turn)
    k = np.arange(1, 301)
    # the motion is along a straight line: rounding only
    assert deflection == pytest.approx(0.1 / (turn / step) * (factor**k).imag, abs=1e-6 * 0.1 / (turn / step))
    ratio = implicit_damping_ratio(frequency, step)
    decay = -np.log(abs(factor))
    assert ratio == pytest.approx(decay / abs(np.log(factor)), rel=1e-12)
    (damping,) = [
        one for one in simulation.vibration.numerical_damping() if abs(one.frequency - frequency) < 1e-6 * frequency
    ]
    assert (damping.part, damping.damping_ratio) == ("pair", pytest.approx(ratio, rel=1e-6))
    (warning,) = simulation.warnings
    worst = max(simulation.vibration.numerical_damping(), key=lambda one: one.damping_ratio)
    assert warning.startswith(f'"{worst.part}": ')
    assert f"at {worst.frequency:.3g} Hz by {worst.damping_ratio:.2g} of" in warning


@pytest.mark.parametrize("step", [1e-3, 1e-2])
@pytest.mark.parametrize("masses", [(2.0, 0.7), (0.01, 0.01), (1000.0, 0.01), (0.01, 1000.0)])
@pytest.mark.parametrize("kind", TYPES)
def test_stiff_loop_joints_are_stable(parts, kind, masses, step):
    springs = {"stiffness": 1e8}
    if kind != "spherical":
        springs["rotational_stiffness"] = 1e5
    machine = two_bodies(parts, kind, masses=masses, **springs)
    simulation = Simulation(machine, SPACE, step)
    simulation.state.v[:] = np.random.default_rng(4).uniform(-1.0, 1.0, 12) * 0.5
    simulation.step(2)
    energy = simulation.energy().kinetic
    simulation.step(1000)
    now = simulation.energy()
    # implicit springs dissipate energy; the bodies' rotation exchanges h w of it, 1e-2 at 1 rad/s and 10 ms
    assert now.kinetic + now.elastic < energy * (1.0 + step)
    assert np.abs(simulation.joint_deflection["pair"][blocked_directions(kind)]).max() < 1e-3


@pytest.mark.parametrize("kind", ["revolute", "cylindrical", "spherical"])
def test_unequal_loop_springs_do_no_work_in_a_turn(parts, kind):
    """A shaft turns under a load that deflects its bearing; the springs do no net work."""
    rigidity = {"stiffness": 1e6, "rotational_stiffness": (2e3, 8e3, 0.0)}
    if kind == "spherical":
        rigidity["rotational_stiffness"] = (2.0, 8.0, 3.0)
    machine = held_body(parts, kind, com=tuple(np.array(BODY_XYZ) + rotation(BODY_RPY) @ [0, 0, 0.3]), **rigidity)
    gravity = rotation(WORLD_RPY) @ ([20.0, 20.0, 0.0] if kind != "spherical" else [0.0, 0.0, 0.0])
    simulation = Simulation(machine, World(gravity=tuple(gravity), ground=None))
    axes = matrix(simulation.link_pose("body")[1]).T @ rotation(WORLD_RPY)
    spin = axes @ ([0.0, 0.0, 5.0] if kind != "spherical" else [1.0, 2.0, 8.0])
    simulation.state.v[:] = [*-np.cross(spin, BODY_XYZ), *spin]
    simulation.step(2)
    start = simulation.energy()
    total = start.kinetic + start.potential + start.elastic
    for _ in range(20):
        simulation.step(1000)
        now = simulation.energy()
        # implicit springs only dissipate; most of it by the shaft's speed
        assert now.kinetic + now.potential + now.elastic < total + 1e-2 * start.kinetic


# --- restart --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("springs", [{}, {"stiffness": 1e6, "damping": 10.0}])
def test_loop_joint_restart_is_exact(parts, springs):
    machine = four_bar(parts, "spherical", **springs)
    simulation = Simulation(machine, EARTH)
    simulation.step(200)
    saved = simulation.snapshot()
    simulation.step(300)
    q, v = np.array(simulation.state.q), np.array(simulation.state.v)
    other = Simulation(machine, EARTH)
    other.restore(saved)
    other.step(300)
    assert np.array_equal(other.state.q, q) and np.array_equal(other.state.v, v)
    assert np.array_equal(other.joint_reaction["pair"], simulation.joint_reaction["pair"])


def test_unknown_loop_joints_are_named(parts):
    simulation = Simulation(four_bar(parts), EARTH)
    with pytest.raises(Exception, match="pare.*pair"):
        simulation.joint_reaction["pare"]
