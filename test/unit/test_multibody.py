"""Kinematics and dynamics of a machine with every kind of joint, compiled and interpreted, by their definitions."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from elastic_shapes import random_shape
from uncompiled import uncompiled

import grouser
from grouser.physics.base.errors import MachineError
from grouser.physics.base.packed import Packed
from grouser.physics.description import parse_machine
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import ElasticCoordinate, Inertial, Joint, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.model.build import build_model
from grouser.physics.multibody.articulated import forward_dynamics, make_articulated_workspace
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.energy import elastic_energy, kinetic_energy, potential_energy, total_momentum
from grouser.physics.multibody.integration import integrate_positions
from grouser.physics.multibody.jacobian import point_rows, wrench_row
from grouser.physics.multibody.kinematics import make_kinematics, update_kinematics, update_positions, update_velocities
from grouser.physics.multibody.mass import full_matrix, make_mass_matrix
from grouser.physics.multibody.newton_euler import inverse_dynamics

BOTH = pytest.mark.parametrize("of", [lambda leaf: leaf, uncompiled], ids=["compiled", "python"])
MACHINES = Path(__file__).parents[1] / "data"
ALL_JOINTS, ROVER = MACHINES / "machines" / "all_joints.urdf", MACHINES / "models" / "rover.urdf"


def elastic_machine():
    """The machine with all kinds of joints, with elastic base (three branches), mast and slide."""
    machine = grouser.load_machine(ALL_JOINTS, base="fixed")
    elastic = {"mast": (ElasticCoordinate("sway", 1.0),)}
    elastic["slide"] = (ElasticCoordinate("bending", 1.0), ElasticCoordinate("torsion", 2.0))
    elastic["base"] = (ElasticCoordinate("sagging", 3.0),)
    random = np.random.default_rng(8)
    links, joints = [*machine.links], [*machine.joints]
    for number, parent in enumerate(("base", "slide", "slide", "mast")):
        # masses at their joint's frame are carried; the second is beside it, the last is a point
        turn, place = random.normal(size=4), tuple(random.normal(size=3).tolist())
        pose = Pose(place, tuple((turn / np.linalg.norm(turn)).tolist()))
        moments = (0.3, 0.05, -0.02, 0.4, 0.01, 0.25) if number < 3 else (0.0,) * 6
        inertial = Inertial(Pose(place if number == 1 else (0.0, 0.0, 0.0)), 0.5 + number, moments)
        links.append(Link(f"mass_{number}", inertial))
        joints.append(Joint(f"mass_{number}", "fixed", parent, f"mass_{number}", pose))
    shapes = {joint.name: random_shape(random, len(elastic.get(joint.parent, ()))) for joint in joints}
    return replace(
        machine,
        links=tuple(replace(link, elastic=elastic.get(link.name, ())) for link in links),
        joints=tuple(replace(joint, elastic_shape=shapes[joint.name]) for joint in joints),
    )


CASES = {
    "all_joints-floating": lambda: grouser.load_machine(ALL_JOINTS, base="floating"),
    "all_joints-fixed": lambda: grouser.load_machine(ALL_JOINTS, base="fixed"),
    "rover": lambda: grouser.load_machine(ROVER),
    "elastic": elastic_machine,
}

# Central differences: a truncation error of STEP squared, and round-off over STEP.
STEP = 1e-5
DIFFERENCE = 2e-9
ROUND_OFF = 1e-11


class Case:
    """A machine in a random state.

    Attributes:
        q, v, acceleration: the state, and random accelerations.
    """

    def __init__(self, machine):
        model, self.names = build_model(machine, gravity=(1.0, -2.0, -9.0))
        self.model = Packed(model)
        self.rates, self.bodies = len(self.model.rate_damping), len(self.model.body_parent)
        random = np.random.default_rng(11)
        self.q = np.array(self.model.q_initial)
        integrate_positions(self.model, self.q, random.normal(size=self.rates), 1.0)
        self.v, self.acceleration = random.normal(size=(2, self.rates))
        self.point = random.normal(size=3)

    def kinematics(self, q=None, v=None, of=lambda leaf: leaf):
        result = Packed(make_kinematics(self.model))
        of(update_kinematics)(self.model, self.q if q is None else q, self.v if v is None else v, result)
        return result

    def moved(self, rates, step):
        """Positions after a step along coordinate rates."""
        q = self.q.copy()
        integrate_positions(self.model, q, rates, step)
        return q

    def slope(self, measure, rates):
        """Derivative of `measure(q)` along coordinate rates, by central differences."""
        return (measure(self.moved(rates, STEP)) - measure(self.moved(rates, -STEP))) / (2.0 * STEP)

    def path(self, body):
        """The body and all its ancestors."""
        while body >= 0:
            yield body
            body = self.model.body_parent[body]

    def jacobian(self, kinematics, body):
        """Twist of a body per coordinate rate, (6, coordinates)."""
        result = np.zeros((6, self.rates))
        for above in self.path(body):
            for c in range(self.model.column_start[above], self.model.column_start[above + 1]):
                result[:, self.model.column_rate[c]] += kinematics.column[c]
        return result

    def inertia(self, kinematics, body):
        """6 x 6 inertia of a body about the origin, built from its own mass properties."""
        turn, mass = kinematics.rotation[body], self.model.body_mass[body]
        xx, xy, xz, yy, yz, zz = self.model.body_inertia[body]
        about_com = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
        com = kinematics.position[body] + turn @ self.model.body_com[body]
        arm = np.array([[0.0, -com[2], com[1]], [com[2], 0.0, -com[0]], [-com[1], com[0], 0.0]])
        return np.block([[mass * np.eye(3), -mass * arm], [mass * arm, about_com - mass * arm @ arm]])

    def forces(self, acceleration, of=lambda leaf: leaf, kinematics=None):
        result, buffers = np.zeros(self.rates), np.full((2, self.bodies, 6), np.nan)
        kinematics = self.kinematics() if kinematics is None else kinematics
        of(inverse_dynamics)(self.model, kinematics, acceleration, buffers[0], buffers[1], result)
        return result


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return Case(CASES[request.param]())


def close(value, expected, tolerance):
    """Equal within a tolerance relative to the largest expected number."""
    np.testing.assert_allclose(value, expected, rtol=0.0, atol=tolerance * max(1.0, np.abs(expected).max()))


@BOTH
def test_columns_are_the_derivatives_of_the_poses(case, of):
    """Each coordinate's column gives the velocity of a point of every body that it moves, and of no other one."""

    def world_points(q):
        here = Packed(make_kinematics(case.model))
        of(update_positions)(case.model, q, here)
        return np.array([here.origin + here.position[i] + here.rotation[i] @ case.point for i in range(case.bodies)])

    kinematics = case.kinematics(of=of)
    for d in range(case.rates):
        found = case.slope(world_points, np.eye(case.rates)[d])
        for body in range(case.bodies):
            column = case.jacobian(kinematics, body)[:, d]
            point = kinematics.position[body] + kinematics.rotation[body] @ case.point
            close(found[body], column[:3] + np.cross(column[3:], point), DIFFERENCE)


@BOTH
def test_twists_are_columns_times_rates(case, of):
    kinematics = case.kinematics(v=np.zeros(case.rates))
    of(update_velocities)(case.model, case.v, kinematics)

    for body in range(case.bodies):
        close(kinematics.twist[body], case.jacobian(kinematics, body) @ case.v, ROUND_OFF)


@BOTH
def test_bias_is_the_acceleration_at_constant_rates(case, of):
    """The biases of a body's chain add up to the rate of its twist about a fixed point."""
    here = case.kinematics(of=of)

    def twists(q):
        there = case.kinematics(q=q)
        about_here = there.twist.copy()
        about_here[:, :3] += np.cross(there.twist[:, 3:], here.origin - there.origin)
        return about_here

    rates = case.slope(twists, case.v)
    for body in range(case.bodies):
        close(sum(here.bias[above] for above in case.path(body)), rates[body], 1e2 * DIFFERENCE)


@BOTH
def test_inertia_in_world_axes(case, of):
    kinematics = case.kinematics(of=of)
    for body in range(case.bodies):
        full = case.inertia(kinematics, body)
        xx, xy, xz, yy, yz, zz, hx, hy, hz, mass = kinematics.inertia[body]
        close([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], full[3:, 3:], ROUND_OFF)
        close([hx, hy, hz, mass], [full[5, 1], full[3, 2], full[4, 0], full[0, 0]], ROUND_OFF)


@BOTH
def test_mass_matrix(case, of):
    kinematics = case.kinematics()
    found = Packed(make_mass_matrix(case.model))
    found.diagonal[:] = found.lower[:] = 7.0
    of(mass_matrix)(case.model, kinematics, np.zeros((case.bodies, 10)), found)
    jacobians = [case.jacobian(kinematics, body) for body in range(case.bodies)]
    expected = sum(j.T @ case.inertia(kinematics, body) @ j for body, j in enumerate(jacobians))

    close(full_matrix(case.model, found), expected, ROUND_OFF)


@BOTH
def test_inverse_dynamics(case, of):
    """Newton and Euler body by body: force = sum of J^T (I a + V x* I V - I g)."""
    kinematics = case.kinematics()
    gravity = np.concatenate([case.model.gravity, np.zeros(3)])
    expected = np.zeros(case.rates)
    for body in range(case.bodies):
        jacobian, inertia = case.jacobian(kinematics, body), case.inertia(kinematics, body)
        twist = jacobian @ case.v
        acceleration = jacobian @ case.acceleration + sum(kinematics.bias[above] for above in case.path(body))
        momentum = inertia @ twist
        carried = np.concatenate(
            [
                np.cross(twist[3:], momentum[:3]),
                np.cross(twist[3:], momentum[3:]) + np.cross(twist[:3], momentum[:3]),
            ]
        )
        expected += jacobian.T @ (inertia @ (acceleration - gravity) + carried)

    close(case.forces(case.acceleration, of), expected, ROUND_OFF)


@BOTH
def test_forward_dynamics_undoes_inverse_dynamics(of):
    case = Case(grouser.load_machine(ROVER))
    found = np.zeros(case.rates)

    workspace = make_articulated_workspace(case.model)
    of(forward_dynamics)(case.model, case.kinematics(), case.forces(case.acceleration), workspace, found)

    close(found, case.acceleration, 1e-9)


@BOTH
def test_kinetic_and_potential_energy(case, of):
    kinematics = case.kinematics()
    twists = [case.jacobian(kinematics, body) @ case.v for body in range(case.bodies)]
    kinetic = sum(0.5 * t @ case.inertia(kinematics, body) @ t for body, t in enumerate(twists))
    heights = [kinematics.position[i] + kinematics.rotation[i] @ case.model.body_com[i] for i in range(case.bodies)]
    weights = -case.model.body_mass[:, None] * case.model.gravity
    potential = ((kinematics.origin + np.array(heights)) * weights).sum()

    assert of(kinetic_energy)(case.model, kinematics) == pytest.approx(kinetic, rel=ROUND_OFF)
    assert of(potential_energy)(case.model, kinematics) == pytest.approx(potential, rel=ROUND_OFF)


def test_masses_on_elastic_links_are_carried():
    """Bodies behind all others; what is beside its joint's frame stays a body of the tree."""
    model, names = build_model(elastic_machine())
    behind = names.body_joint[model.elastic.carried[0] :]

    assert set(behind) == {"mass_0", "mass_2", "mass_3"} and "mass_1" in names.body_joint
    assert np.diff(model.elastic.station_start).tolist() == [1, 1, 1]
    assert model.elastic.turns.sum() == 2


@BOTH
def test_elastic_energy(of):
    """Half k q^2 of each elastic coordinate, however many branches share it; zero without elastic links."""
    case = Case(elastic_machine())
    stiffness = {"base.sagging": 3.0, "mast.sway": 1.0, "slide.bending": 1.0, "slide.torsion": 2.0}
    q, deflections = np.array(case.model.q_initial), np.linspace(0.1, 1.0, case.rates)
    integrate_positions(case.model, q, deflections, 1.0)
    expected = sum(
        0.5 * stiffness.get(name, 0.0) * deflection**2
        for name, deflection in zip(case.names.rate_joint, deflections, strict=True)
    )

    assert of(elastic_energy)(case.model, q) == pytest.approx(expected, rel=ROUND_OFF)
    rover = Case(grouser.load_machine(ROVER))
    assert of(elastic_energy)(rover.model, rover.q) == 0.0


def test_weight_is_the_gradient_of_the_potential_energy(case):
    at_rest = case.kinematics(v=np.zeros(case.rates))
    weight = case.forces(np.zeros(case.rates), kinematics=at_rest)
    for d in range(case.rates):
        slope = case.slope(lambda q: potential_energy(case.model, case.kinematics(q=q)), np.eye(case.rates)[d])
        assert slope == pytest.approx(weight[d], abs=1e-6 * np.abs(weight).max())


def test_power_is_the_time_derivative_of_the_energy(case):
    """For the forces of an acceleration: v . force = dE/dt along the motion."""

    def energy(sign):
        after = case.v + sign * STEP * case.acceleration
        # positions move along the mean rate of the step, exact to second order
        there = case.kinematics(q=case.moved(0.5 * (case.v + after), sign * STEP), v=after)
        return kinetic_energy(case.model, there) + potential_energy(case.model, there)

    power = case.v @ case.forces(case.acceleration)

    assert (energy(1.0) - energy(-1.0)) / (2.0 * STEP) == pytest.approx(power, rel=1e-6)


@BOTH
def test_momentum_about_the_world_origin(case, of):
    kinematics = case.kinematics()
    expected = np.zeros(6)
    for body in range(case.bodies):
        momentum = case.inertia(kinematics, body) @ case.jacobian(kinematics, body) @ case.v
        expected[:3] += momentum[:3]
        expected[3:] += momentum[3:] + np.cross(kinematics.origin, momentum[:3])
    found = np.full(6, np.nan)
    of(total_momentum)(case.model, kinematics, found)

    close(found, expected, ROUND_OFF)


@BOTH
def test_point_rows(case, of):
    kinematics, model = case.kinematics(), case.model
    frame = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    arrays = model.body_parent, model.column_start, model.column_rate, kinematics.column
    for body in range(-1, case.bodies):
        rows = np.full((5, case.rates), np.nan)
        rows[1:4] = 0.0
        of(point_rows)(*arrays, body, -1, *case.point, frame, rows, 1)
        jacobian = case.jacobian(kinematics, body)
        close(rows[1:4], frame @ (jacobian[:3] + np.cross(jacobian[3:].T, case.point).T), ROUND_OFF)
        assert np.isnan(rows[[0, 4]]).all()


@BOTH
def test_wrench_row_of_a_line_is_the_rate_of_the_distance(case, of):
    """Between points of any two bodies, the world included; zero between points of one body."""
    here = case.kinematics()
    model, random = case.model, np.random.default_rng(6)
    arrays = model.body_parent, model.column_start, model.column_rate, here.column
    for _ in range(20):
        body, other = random.integers(-1, case.bodies, size=2)
        ends = random.normal(size=(2, 3))

        def points(kinematics, pair=(body, other), ends=ends):
            return [
                end if i < 0 else kinematics.origin + kinematics.position[i] + kinematics.rotation[i] @ end
                for i, end in zip(pair, ends, strict=True)
            ]

        start = points(here)
        normal = (start[0] - start[1]) / np.linalg.norm(start[0] - start[1])
        row = np.zeros((1, case.rates))
        moment = np.cross(start[1] - here.origin, normal)
        of(wrench_row)(*arrays, body, other, *normal, *moment, row, 0)
        for d in range(case.rates):

            def distance(q, points=points):
                first, second = points(case.kinematics(q=q))
                return np.linalg.norm(first - second)

            assert case.slope(distance, np.eye(case.rates)[d]) == pytest.approx(row[0, d], abs=20 * DIFFERENCE)
        if body == other:
            assert not row.any()


# --- building of the arrays -------------------------------------------------------------------------------------------


def two_links(inertials, joints, base="floating"):
    links = tuple(Link(f"link{i}", inertial) for i, inertial in enumerate(inertials))
    return Machine("two", links, joints, "link0", floating_base=base == "floating")


def test_links_on_fixed_joints_are_lumped_into_one_body():
    """Two point masses: their centre, and the reduced mass times the square of their distance."""
    point = (0.0,) * 6
    machine = two_links(
        (Inertial(Pose((1.0, 0.0, 0.0)), 3.0, point), Inertial(Pose((0.0, 0.0, 0.0)), 1.0, point)),
        (Joint("weld", "fixed", "link0", "link1", Pose((5.0, 0.0, 0.0))),),
    )
    model, names = build_model(machine)

    assert model.body_mass.tolist() == [4.0]
    assert model.body_com.tolist() == [[2.0, 0.0, 0.0]]
    assert model.body_inertia[0] == pytest.approx([0.0, 0.0, 0.0, 12.0, 0.0, 12.0])
    assert names.link_body.tolist() == [0, 0]
    assert names.link_position[1].tolist() == [5.0, 0.0, 0.0]


def test_model_arrays_are_read_only(case):
    with pytest.raises(ValueError, match="read-only"):
        case.model.body_mass[0] = 1.0


def test_massless_joint_is_rejected():
    machine = two_links(
        (Inertial(Pose(), 1.0, (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)), None),
        (Joint("idle", "revolute", "link0", "link1"),),
    )
    with pytest.raises(MachineError, match='joint name="idle"'):
        build_model(machine)


def test_a_mass_matrix_that_is_too_large_is_rejected(monkeypatch):
    """Coordinates count with those of the widest block: three in a row, and one that needs as much room."""
    monkeypatch.setattr("grouser.physics.model.tree._MOST_ENTRIES", 11)
    inertial = Inertial(Pose(), 1.0, (1.0, 0.0, 0.0, 1.0, 0.0, 1.0))
    parents = ("link0", "link1", "link2", "link0")
    joints = tuple(Joint(f"joint{i}", "continuous", parent, f"link{i + 1}") for i, parent in enumerate(parents))

    with pytest.raises(MachineError, match="has 4 coordinates, of which 3 are coupled: .* 12 entries, more than 11"):
        build_model(two_links((inertial,) * 5, joints, base="fixed"))
    build_model(two_links((inertial,) * 4, joints[:3], base="fixed"))


def test_many_free_bodies_need_room_in_proportion():
    inertial = Inertial(Pose(), 1.0, (1.0, 0.0, 0.0, 1.0, 0.0, 1.0))
    joints = tuple(Joint(f"joint{i}", "floating", "link0", f"link{i + 1}") for i in range(350))

    model, _ = build_model(two_links((inertial,) * 351, joints, base="fixed"))

    assert make_mass_matrix(model).lower.shape == (2100, 6)
    assert len(model.pattern) == 350 * 15


def test_blocks_of_the_mass_matrix():
    """Trees have blocks of their own; a loop joint between trees makes one block of them and of what lies between."""
    bodies = "".join(
        f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        f'</inertial></link><joint name="j_{name}" type="floating"><parent link="world"/><child link="{name}"/></joint>'
        for name in "abcd"
    )
    loop = '<loop_joint name="l" type="spherical"><parent link="a"/><child link="c"/></loop_joint>'
    for extension, ends in (("", [0, 6, 12, 18, 24]), (loop, [0, 18, 24])):
        text = f'<robot name="m"><link name="world"/>{bodies}<grouser>{extension}</grouser></robot>'
        model, _ = build_model(parse_machine(text, "m.urdf"))
        counts = np.diff(ends)
        assert model.rate_first.tolist() == np.repeat(ends[:-1], counts).tolist()
        assert model.rate_last.tolist() == np.repeat(ends[1:], counts).tolist()
