"""Robots beside MuJoCo: both programs get the same machine, and a missing package is named."""

from importlib import metadata

import numpy as np
import pytest
import trimesh

import grouser
from grouser.benchmarks import robots
from grouser.benchmarks.figure import SkippedError
from grouser.benchmarks.robot_files import robots_folder

WEDGE = np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.5], [0.05, 0.05, 0.1]])
INERTIAL = """<inertial><origin xyz="0.1 0 0"/><mass value="{mass}"/>
  <inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial>"""
URDF = f"""<robot name="walker">
 <link name="trunk">{INERTIAL.format(mass=3.0)}
  <visual><geometry><mesh filename="cover.stl"/></geometry></visual>
  <collision><origin xyz="0 0 -0.2"/><geometry><box size="0.4 0.2 0.1"/></geometry></collision></link>
 <link name="plate">{INERTIAL.format(mass=0.5)}</link>
 <link name="leg">{INERTIAL.format(mass=1.25)}
  <collision><origin xyz="1 0 -0.5"/><geometry><mesh filename="package://walker/wedge.ply" scale="2 1 1"/></geometry>
  </collision></link>
 <joint name="bolts" type="fixed"><parent link="trunk"/><child link="plate"/><origin xyz="0 0.1 0"/></joint>
 <joint name="hip" type="revolute"><parent link="trunk"/><child link="leg"/><origin xyz="0.2 0 0.1"/><axis xyz="0 1 0"/>
  <limit lower="-0.7" upper="0.4" effort="30" velocity="2"/><dynamics damping="0.6"/></joint>
 <transmission name="unread"/>
</robot>"""


@pytest.fixture(scope="module")
def mujoco():
    return pytest.importorskip("mujoco", reason="not tested: MuJoCo beside us; not installed")


@pytest.fixture(scope="module")
def walker(tmp_path_factory):
    """A URDF in a package, with a collision mesh in a format that MuJoCo does not read."""
    folder = tmp_path_factory.mktemp("walker")
    faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 4], [2, 3, 4], [1, 4, 3]]
    trimesh.Trimesh(WEDGE, faces, process=False).export(folder / "wedge.ply")
    # Of a visual mesh only the existence is checked.
    trimesh.Trimesh(WEDGE, faces, process=False).export(folder / "cover.stl")
    (folder / "package.xml").write_text("<package><name>walker</name></package>")
    path = folder / "walker.urdf"
    path.write_text(URDF)
    return path


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_mujoco_has_the_same_machine(mujoco, walker, base):
    machine = grouser.load_machine(walker, base=base)
    ours, height = robots.simulation_on_ground(machine)
    peer = robots.peer_on_ground(mujoco, machine, height)
    mujoco.mj_forward(peer.model, peer.data)

    assert peer.model.nv == len(ours.state.v)
    assert peer.model.opt.timestep == ours.step_size
    # The trunk is part of the world if the base is fixed.
    assert peer.model.body_mass.sum() == pytest.approx(4.75 if base == "floating" else 1.25)
    np.testing.assert_allclose(peer.position("leg"), ours.link_pose("leg")[0], atol=1e-12)
    np.testing.assert_allclose(peer.model.joint("hip").range, (-0.7, 0.4))
    assert float(peer.model.joint("hip").damping[0]) == 0.6
    np.testing.assert_array_equal(peer.model.geom_friction[:, 0], 0.8)


def test_lowest_point_is_a_millimetre_above_the_ground_in_both(mujoco, walker):
    """The lowest point is the leg's, whose frame is 0.1 m above the base: the mesh begins 0.5 m below it."""
    machine = grouser.load_machine(walker)
    ours, height = robots.simulation_on_ground(machine)
    peer = robots.peer_on_ground(mujoco, machine, height)
    mujoco.mj_forward(peer.model, peer.data)

    assert height == pytest.approx(0.4 + robots.GAP)
    assert ours.bounds()[0][2] == pytest.approx(robots.GAP)
    mesh = peer.model.mesh_vert @ peer.data.geom_xmat[-1].reshape(3, 3).T + peer.data.geom_xpos[-1]
    assert mesh[:, 2].min() == pytest.approx(robots.GAP, abs=1e-6)  # MuJoCo keeps vertices in single precision
    # The scale of the URDF acts once.
    assert np.ptp(mesh[:, 0]) == pytest.approx(0.6, abs=1e-6)


def test_mujoco_goes_back_to_the_start(mujoco, walker):
    machine = grouser.load_machine(walker)
    peer = robots.peer_on_ground(mujoco, machine, 1.5)
    peer.step(40)
    assert peer.data.qpos[2] < 1.5
    peer.start()
    np.testing.assert_array_equal(peer.data.qpos[:7], (0.0, 0.0, 1.5, 1.0, 0.0, 0.0, 0.0))


def test_missing_package_is_named_with_the_way_to_install_it(monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", absent)
    with pytest.raises(SkippedError, match=r'example-robot-data.*pip install "grouser\[robots\]"'):
        robots_folder()


def test_figures_of_a_robot(mujoco, walker, monkeypatch):
    """Both figures have a ratio and the residuals of both programs."""
    for name, value in {"_FIRST_STEPS": 20, "_SETTLING_STEPS": 30, "_LATER_STEPS": 10, "_REPEATS": 1}.items():
        monkeypatch.setattr(robots, name, value)
    monkeypatch.setattr(robots, "package_version", lambda: "1.2.3")
    first, later = robots.compare(mujoco, "walker", walker, "floating")

    assert (first.name, later.name) == ("walker, from the start", "walker, later")
    assert first.ratio == first.value / first.peer_value
    assert later.details["MuJoCo's residual, largest [m/s]"] <= 1e-6
    assert later.details["degrees of freedom"] == later.details["MuJoCo's degrees of freedom"] == 7
