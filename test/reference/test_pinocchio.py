"""Every routine of the multibody core against Pinocchio, on seeded random states of every machine."""

from pathlib import Path
from zlib import crc32

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_twin import PinocchioTwin, placement

import grouser
from grouser.physics.base.packed import Packed
from grouser.physics.description.data.pose import Pose
from grouser.physics.model.build import build_model
from grouser.physics.model.multibody import FREE, PLANAR, SPHERICAL
from grouser.physics.multibody.articulated import forward_dynamics, make_articulated_workspace
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.energy import kinetic_energy, potential_energy, total_momentum
from grouser.physics.multibody.factorisation import factorise, solve, solve_transposed
from grouser.physics.multibody.integration import integrate_positions
from grouser.physics.multibody.jacobian import point_rows, wrench_row
from grouser.physics.multibody.kinematics import make_kinematics, update_kinematics
from grouser.physics.multibody.mass import full_matrix, make_mass_matrix
from grouser.physics.multibody.newton_euler import inverse_dynamics

ROOT = Path(__file__).resolve().parents[2]
ALL_JOINTS = ROOT / "test" / "data" / "machines" / "all_joints.urdf"
MACHINES = [*sorted((ROOT / "urdf").glob("*.xacro")), *sorted((ROOT / "test" / "data" / "models").glob("*.urdf"))]
CASES = [(path, None) for path in MACHINES] + [(ALL_JOINTS, "floating"), (ALL_JOINTS, "fixed")]

# First index of the quaternion among the positions of a joint.
QUATERNION = {FREE: 3, SPHERICAL: 0}
STATES = 200
TOLERANCE = 1e-10  # of the largest component
GRAVITY = (0.7, -1.3, -9.6)  # oblique, so that every component acts


class Case:
    """A machine, its twin, and random states of both.

    Attributes:
        states: (q, v, acceleration) of ours, one after the other.
        positions: Pinocchio's q of each.
    """

    def __init__(self, path, base):
        machine = grouser.load_machine(path, base=base)
        model, self.names = build_model(machine, gravity=GRAVITY)
        self.model = Packed(model)
        self.twin = PinocchioTwin(machine, model, self.names)
        self.random = np.random.default_rng(crc32(path.name.encode()))
        self.kinematics = Packed(make_kinematics(model))
        self.rates = len(self.model.rate_damping)
        self.bodies = len(self.model.body_parent)
        self.states = [self._state() for _ in range(STATES)]
        self.positions = [self.twin.positions(q) for q, _, _ in self.states]

    def _state(self):
        q = self.random.uniform(-3.0, 3.0, len(self.model.q_initial))
        for at, kind in zip(self.model.body_q, self.model.body_kind, strict=True):
            if kind in QUATERNION:
                turn = self.random.normal(size=4)
                q[at + QUATERNION[kind] :][:4] = turn / np.linalg.norm(turn)
        return q, self.random.normal(size=self.rates), self.random.normal(size=self.rates)

    def each(self):
        """(q, v, acceleration, Pinocchio's q) with the kinematics of that state."""
        for (q, v, acceleration), pq in zip(self.states, self.positions, strict=True):
            update_kinematics(self.model, q, v, self.kinematics)
            yield q, v, acceleration, pq

    def own_mass_matrix(self):
        """Ours for the present kinematics, without rotors: Pinocchio has none."""
        mass = Packed(make_mass_matrix(self.model))
        mass_matrix(self.model, self.kinematics, np.zeros((self.bodies, 10)), mass)
        mass.diagonal[:] -= self.model.rate_inertia
        return mass

    def own_forces(self, acceleration):
        """Our inverse dynamics for the present kinematics."""
        force = np.zeros(self.rates)
        buffers = np.zeros((2, self.bodies, 6))
        inverse_dynamics(self.model, self.kinematics, acceleration, buffers[0], buffers[1], force)
        return force

    def link_frame(self, index):
        """World rotation and position of a link of ours, and its body."""
        body, rotation = self.names.link_body[index], self.names.link_rotation[index]
        position = self.names.link_position[index]
        if body < 0:
            return rotation, position, body
        turn = self.kinematics.rotation[body]
        at = self.kinematics.origin + self.kinematics.position[body] + turn @ position
        return turn @ rotation, at, body


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0].name.split('.')[0]}-{case[1] or 'as_is'}")
def case(request):
    return Case(*request.param)


class Worst:
    """Largest relative error so far; a test without comparisons fails."""

    def __init__(self):
        self.error, self.count = 0.0, 0

    def add(self, ours, reference, scale=None):
        """Compares relative to the largest component of the reference (or to `scale`, if that is larger)."""
        reference = np.asarray(reference)
        size = max(np.abs(reference).max(initial=0.0), scale or 0.0)
        error = np.abs(np.asarray(ours) - reference).max(initial=0.0)
        self.error = max(self.error, error / size if size > 0.0 else error) if np.isfinite(error) else np.inf
        self.count += 1

    def check(self):
        assert self.count >= STATES
        assert self.error < TOLERANCE


def test_machines_are_found():
    """The machines are found by name; the list must not be empty."""
    names = {path.name for path, _ in CASES}
    assert {"excavator.urdf", "rover.urdf", "all_joints.urdf", "hydraulic_lift.urdf.xacro"} <= names


def test_link_poses_and_velocities(case):
    worst, links = Worst(), case.names.links
    for _, v, _, pq in case.each():
        rotations, positions, twists = case.twin.link_placements(pq, case.twin.rate_map @ v, links)
        for index in range(len(links)):
            rotation, position, body = case.link_frame(index)
            worst.add(rotation, rotations[index])
            worst.add(position, positions[index], scale=np.abs(positions).max())
            if body >= 0:
                about = case.kinematics.twist[body]
                linear = about[:3] + np.cross(about[3:], position - case.kinematics.origin)
                worst.add(np.concatenate([linear, about[3:]]), twists[index], scale=np.abs(twists).max())
    worst.check()


def test_mass_matrix(case):
    worst = Worst()
    for _, _, _, pq in case.each():
        worst.add(full_matrix(case.model, case.own_mass_matrix()), case.twin.mass_matrix(pq))
    worst.check()


def test_inverse_dynamics(case):
    worst = Worst()
    for _, v, acceleration, pq in case.each():
        worst.add(case.own_forces(acceleration), case.twin.forces(pq, v, acceleration))
    worst.check()


def test_forward_dynamics(case):
    """The articulated body algorithm finds the accelerations from Pinocchio's forces.

    It does not handle mimicking joints: for these the factorised mass matrix is used, as in every step.
    """
    worst = Worst()
    workspace = make_articulated_workspace(case.model)
    for _, v, acceleration, pq in case.each():
        force = case.twin.forces(pq, v, acceleration)
        if case.twin.has_mimics:
            found = force - case.own_forces(np.zeros(case.rates))
            _solve(case, found)
            reference = acceleration
        else:
            found = np.zeros(case.rates)
            forward_dynamics(case.model, case.kinematics, force, workspace, found)
            g = case.twin.rate_map
            reference = np.linalg.solve(g.T @ g, g.T @ pin.aba(case.twin.model, case.twin.data, pq, g @ v, g @ force))
        worst.add(found, reference)
    worst.check()


def _solve(case, x):
    """x <- M^-1 x by the branch-sparse factors."""
    factor = case.own_mass_matrix()
    assert factorise(case.model, case.kinematics, factor) == -1
    solve_transposed(case.model, factor, x)
    solve(case.model, factor, x)


def test_factorised_solve(case):
    worst = Worst()
    for _, v, _, pq in case.each():
        x = v.copy()
        _solve(case, x)
        worst.add(x, np.linalg.solve(case.twin.mass_matrix(pq), v))
    worst.check()


def test_energies(case):
    worst = Worst()
    for _, v, _, pq in case.each():
        kinetic = pin.computeKineticEnergy(case.twin.model, case.twin.data, pq, case.twin.rate_map @ v)
        worst.add(kinetic_energy(case.model, case.kinematics), kinetic)
        potential = pin.computePotentialEnergy(case.twin.model, case.twin.data, pq)
        # heights of both signs cancel: relative to the mass lifted by a metre
        scale = case.model.body_mass.sum() * np.linalg.norm(GRAVITY)
        worst.add(potential_energy(case.model, case.kinematics), potential, scale=scale)
    worst.check()


def test_momentum(case):
    worst = Worst()
    for _, v, _, pq in case.each():
        pin.computeCentroidalMomentum(case.twin.model, case.twin.data, pq, case.twin.rate_map @ v)
        linear, angular = case.twin.data.hg.linear, case.twin.data.hg.angular
        about_world = np.concatenate([linear, angular + np.cross(case.twin.data.com[0], linear)])
        ours = np.zeros(6)
        total_momentum(case.model, case.kinematics, ours)
        worst.add(ours, about_world)
    worst.check()


def test_point_rows(case):
    """A random point of a random link, along the axes of a random frame."""
    worst = Worst()
    rows = np.full((5, case.rates), np.nan)
    for _, _, _, pq in case.each():
        index = case.random.integers(len(case.names.links))
        rotation, position, body = case.link_frame(index)
        point = position + rotation @ case.random.uniform(-1.0, 1.0, 3)
        axes = pin.Quaternion(*_unit(case.random, 4)).matrix()
        _point_rows(case, body, point, axes, rows, 1)
        reference = axes @ case.twin.point_jacobian(pq, case.names.links[index], point)
        worst.add(rows[1:4], reference)
    assert np.isnan(rows[[0, 4]]).all()
    worst.check()


def _unit(random, size):
    vector = random.normal(size=size)
    return vector / np.linalg.norm(vector)


def _point_rows(case, body, point, axes, rows, first):
    model, about = case.model, point - case.kinematics.origin
    arrays = model.body_parent, model.column_start, model.column_rate, case.kinematics.column
    rows[first : first + 3] = 0.0
    point_rows(*arrays, body, -1, *about, axes, rows, first)


def test_wrench_row(case):
    """Rate of the distance between random points of two random links."""
    worst = Worst()
    rows = np.full((3, case.rates), np.nan)
    for _, _, _, pq in case.each():
        ends = case.random.integers(len(case.names.links), size=2)
        frames = [case.link_frame(index) for index in ends]
        points = [position + rotation @ case.random.uniform(-1.0, 1.0, 3) for rotation, position, _ in frames]
        line = points[0] - points[1]
        normal = line / np.linalg.norm(line)
        on_line = points[0] + case.random.uniform(-2.0, 2.0) * normal - case.kinematics.origin
        model = case.model
        arrays = model.body_parent, model.column_start, model.column_rate, case.kinematics.column
        rows[1] = 0.0
        wrench_row(*arrays, frames[0][2], frames[1][2], *normal, *np.cross(on_line, normal), rows, 1)
        jacobians = [
            case.twin.point_jacobian(pq, case.names.links[index], point)
            for index, point in zip(ends, points, strict=True)
        ]
        # the points' common motion cancels in the reference: relative to the larger of the two
        scale = max(np.abs(jacobian).max() for jacobian in jacobians)
        worst.add(rows[1], normal @ (jacobians[0] - jacobians[1]), scale=scale)
    assert np.isnan(rows[[0, 2]]).all()
    worst.check()


@pytest.mark.parametrize("step", [1e-4, 0.3])
def test_integration(case, step):
    """Our integration and Pinocchio's end at the same point of the Lie group, for small and large rotations."""
    worst = Worst()
    for q, v, _, pq in case.each():
        moved = q.copy()
        integrate_positions(case.model, moved, v, step)
        reference = pin.integrate(case.twin.model, pq, step * (case.twin.rate_map @ v))
        ours = case.twin.positions(moved)
        for at, kind in zip(case.model.body_q, case.model.body_kind, strict=True):
            if kind in QUATERNION:
                assert np.linalg.norm(moved[at + QUATERNION[kind] :][:4]) == pytest.approx(1.0, abs=1e-14)
        difference = pin.difference(case.twin.model, reference, ours)
        worst.add(difference, np.zeros_like(difference), scale=1.0)
    worst.check()


def test_case_machine_has_every_joint_type():
    """The machine has every kind of joint, deep in the tree, and a coordinate that moves several bodies."""
    model, names = build_model(grouser.load_machine(ALL_JOINTS, base="fixed"))
    kinds = dict(zip(names.body_joint, model.body_kind, strict=True))
    assert kinds["table"] == PLANAR
    assert kinds["tether"] == FREE
    assert kinds["socket"] == SPHERICAL
    for joint in ("tether", "socket"):
        assert model.body_parent[names.body_joint.index(joint)] >= 0
    assert model.body_mimics.sum() == 3
    rates = [names.joints[name].v for name in ("shoulder", "finger_joint", "thumb_joint", "knuckle_joint")]
    assert len(set(rates)) == 1


def test_spawn_pose_of_a_fixed_base():
    """A fixed base is at its spawn pose: as if Pinocchio's first joints were moved there."""
    machine = grouser.load_machine(ALL_JOINTS, base="fixed")
    spawn = Pose((1.0, -2.0, 0.5), (0.5, 0.5, -0.5, 0.5))
    model, names = build_model(machine, spawn)
    twin = PinocchioTwin(machine, model, names)
    for joint in range(1, twin.model.njoints):
        if twin.model.parents[joint] == 0:
            twin.model.jointPlacements[joint] = placement(spawn) * twin.model.jointPlacements[joint]
    model, kinematics = Packed(model), Packed(make_kinematics(model))
    q, v = np.array(model.q_initial), np.linspace(-1.0, 1.0, len(model.rate_damping))
    update_kinematics(model, q, v, kinematics)
    pq = twin.positions(q)
    mass = make_mass_matrix(model)
    mass_matrix(model, kinematics, np.zeros((len(model.body_parent), 10)), mass)
    force = np.zeros(len(v))
    buffers = np.zeros((2, len(model.body_parent), 6))
    inverse_dynamics(model, kinematics, v, buffers[0], buffers[1], force)

    assert full_matrix(model, mass) == pytest.approx(twin.mass_matrix(pq), abs=1e-10)
    assert force == pytest.approx(twin.forces(pq, v, v), rel=1e-10, abs=1e-10)
