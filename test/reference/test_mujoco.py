"""Two machines against MuJoCo: mass matrix and bias forces exactly, rest on the ground approximately."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

import grouser
from grouser.physics.base.packed import Packed
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.world import World
from grouser.physics.model.build import build_model
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.kinematics import make_kinematics, update_kinematics
from grouser.physics.multibody.mass import full_matrix, make_mass_matrix
from grouser.physics.multibody.newton_euler import inverse_dynamics

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "test" / "data" / "models"
DRIVEN = ROOT / "benchmarks" / "data"

STATES = 200
TOLERANCE = 1e-9  # relative; the models' files round inertias to nine digits


@pytest.mark.parametrize("name", ["excavator", "excavator_box", "rover", "rover_cyl"])
def test_mass_matrix_and_bias_against_mujoco(name):
    """M and C + G; MuJoCo's free joint has its linear velocity in world axes, ours in those of the body.

    With v_mj = T v and T = diag(R, 1): M = T^T M_mj T. At zero acceleration of ours, MuJoCo's is R (w x v).
    """
    theirs = mujoco.MjModel.from_xml_path(str(MODELS / f"{name}.xml"))
    data = mujoco.MjData(theirs)
    theirs.dof_damping[:] = 0.0
    model, names = build_model(grouser.load_machine(MODELS / f"{name}.urdf"))
    model, kinematics = Packed(model), Packed(make_kinematics(model))
    rates, bodies = len(model.rate_damping), len(model.body_parent)
    joints = [(theirs.joint(joint), coordinate) for joint, coordinate in names.joints.items()]
    assert theirs.nv == rates == 6 + len(joints)
    random = np.random.default_rng(7)
    own, force, buffers = Packed(make_mass_matrix(model)), np.zeros(rates), np.zeros((2, bodies, 6))
    worst = 0.0
    for _ in range(STATES):
        q, v = random.uniform(-3.0, 3.0, len(model.q_initial)), random.normal(size=rates)
        q[3:7] /= np.linalg.norm(q[3:7])
        data.qpos[:7] = [*q[:3], q[6], *q[3:6]]
        data.qvel[:6] = v[:6]
        order = np.arange(rates)
        for joint, coordinate in joints:
            data.qpos[joint.qposadr[0]] = q[coordinate.q]
            data.qvel[joint.dofadr[0]] = v[coordinate.v]
            order[coordinate.v] = joint.dofadr[0]
        update_kinematics(model, q, v, kinematics)
        turn = np.eye(rates)
        turn[:3, :3] = kinematics.rotation[0] @ names.link_rotation[0].T
        data.qvel[:3] = turn[:3, :3] @ v[:3]
        mujoco.mj_forward(theirs, data)
        full = np.zeros((rates, rates))
        mujoco.mj_fullM(theirs, data, full)
        carried = np.zeros(rates)
        carried[:3] = turn[:3, :3] @ np.cross(v[3:6], v[:3])
        bias = turn.T @ (data.qfrc_bias + full @ carried)[order]
        mass = turn.T @ full[np.ix_(order, order)] @ turn

        mass_matrix(model, kinematics, np.zeros((bodies, 10)), own)
        inverse_dynamics(model, kinematics, np.zeros(rates), buffers[0], buffers[1], force)
        worst = max(worst, np.abs(full_matrix(model, own) - mass).max() / np.abs(mass).max())
        worst = max(worst, np.abs(force - bias).max() / np.abs(bias).max())
    assert worst < TOLERANCE


@pytest.mark.parametrize(("name", "height"), [("excavator", 0.62), ("rover", 0.81)])
def test_machine_comes_to_rest_as_in_mujoco(name, height):
    """Dropped by one or two centimetres, the machine comes to rest where MuJoCo's does.

    The drives deflect equally under the same load. MuJoCo's contacts are soft and sink by some tenths of a millimetre.
    """
    theirs = mujoco.MjModel.from_xml_path(str(MODELS / f"{name}.xml"))
    data = mujoco.MjData(theirs)
    data.qpos[2] = height
    simulation = grouser.Simulation(
        grouser.load_machine(DRIVEN / f"{name}.urdf.xacro"), World(spawn=Pose((0.0, 0.0, height)))
    )
    mujoco.mj_step(theirs, data, nstep=3000)
    simulation.step(3000)

    position, quaternion = simulation.base_pose()
    assert position[2] < height - 0.005
    assert np.abs(simulation.state.v).max() < 1e-3
    assert position == pytest.approx(data.qpos[:3], abs=1e-3)
    assert quaternion[[3, 0, 1, 2]] == pytest.approx(data.qpos[3:7], abs=1e-3)
    for joint, angle in simulation.joint_position.items():
        if "wheel" not in joint:
            assert angle == pytest.approx(data.joint(joint).qpos[0], abs=2e-3), joint
