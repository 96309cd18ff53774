"""Scenes of the benchmarks: they stand, both programs get the same bodies, and the figures have names and units."""

import math
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from grouser.benchmarks import chain, contacts, fleet, mujoco_peer, scenes, stepping
from grouser.benchmarks.figure import Figure, Target, as_json
from grouser.benchmarks.solver_effort import RESIDUAL
from grouser.commands.benchmark import figure_text
from grouser.physics.base.errors import MachineError

STACKS = (scenes.stack(), scenes.wall(), scenes.pyramid(), scenes.heavy_on_light(), scenes.boxes_apart(9))
ALL = (*contacts.all_scenes(), scenes.boxes_apart(9))
GRAVITY = 9.81
# gaps and overlaps of up to 10 um are tolerated at each contact
SLACK = 2e-5


@pytest.fixture(scope="module")
def mujoco():
    return pytest.importorskip("mujoco", reason="not tested: MuJoCo beside us; not installed")


def title(scene):
    return scene.name


def position(simulation, body):
    return simulation.link_pose(scenes.link_name(body))[0]


# --- scenes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scene", STACKS, ids=title)
def test_stacked_bodies_land_on_each_other(scene):
    """Each falls by the gaps below it, and no brick leaves its place."""
    simulation = scenes.simulation(scene)
    simulation.step(1000)
    for body in scene.bodies:
        level = round((body.position[2] - 0.5 * body.size[2]) / 0.2)  # every lower body is 0.2 m high
        fallen = np.subtract(position(simulation, body), body.position)
        assert fallen[2] == pytest.approx(-scenes.GAP * (level + 1), abs=SLACK * (level + 1))
        assert np.abs(fallen[:2]).max() < 2e-4


def test_wall_is_in_running_bond():
    """72 bricks; each above the first course lies on two, and the ends are flush."""
    scene = scenes.wall()
    spans = {}
    for body in scene.bodies:
        ends = (body.position[0] - 0.5 * body.size[0], body.position[0] + 0.5 * body.size[0])
        spans.setdefault(round(body.position[2], 6), []).append(ends)
    courses = [spans[height] for height in sorted(spans)]
    assert [len(course) for course in courses] == [12] * 6
    for below, above in pairwise(courses):
        assert (below[0][0], below[-1][1]) == pytest.approx((above[0][0], above[-1][1]))
        for left, right in above[1:-1]:
            assert sum(start < right and end > left for start, end in below) == 2


@pytest.mark.parametrize("fingers", [2, 4])
def test_grip_carries_the_box(fingers):
    scene = scenes.grip(fingers)
    simulation = scenes.simulation(scene)
    simulation.step(1000)
    box, *parts = scene.bodies
    # it falls while the fingers, 1 kg each and pushed by 200 N, close a gap of a millimetre: about 3 ms
    assert -0.5 * GRAVITY * 0.01**2 < position(simulation, box)[2] - box.position[2] < 0.0
    before = position(simulation, box)[2]
    for part in parts:
        wrench = simulation.part("rail").joint_effort[part.name]
        assert wrench == pytest.approx(200.0, rel=0.01)
    simulation.step(1000)
    # the tolerance of the impulses, 1e-6 m/s, for 1 s
    assert position(simulation, box)[2] == pytest.approx(before, abs=1e-6)


def test_braced_feet_press_outwards():
    """The struts lift the chassis; the ground holds the feet by friction, without which they would spread."""
    scene = scenes.braced_feet()
    simulation = scenes.simulation(scene)
    simulation.step(2000)
    chassis, *feet = scene.bodies
    assert 0.5 * feet[0].drive.target < position(simulation, chassis)[2] - chassis.position[2] < feet[0].drive.target
    reactions = {scenes.link_name(foot): np.zeros(3) for foot in feet}
    for contact in simulation.contacts():
        reactions[contact.link] += contact.force_world
    assert simulation.diagnostics.contact_count == 16
    mass = sum(body.mass for body in scene.bodies)
    assert sum(reactions.values()) == pytest.approx([0.0, 0.0, GRAVITY * mass], abs=1e-3 * GRAVITY * mass)
    for foot in feet:
        force, outwards = (
            reactions[scenes.link_name(foot)],
            np.array([*np.sign(foot.position[:2]), 0.0]) / math.sqrt(2.0),
        )
        assert 0.05 * force[2] < -force @ outwards <= scenes.FRICTION * force[2]


def test_sliding_tracks_stop_within_their_friction():
    """Friction of 0.6 stops 1 m/s, and the turn's part of it less quickly."""
    scene = scenes.tracks()
    simulation = scenes.simulation(scene)
    simulation.step(1000)
    (chassis,) = scene.bodies
    way = position(simulation, chassis)[0]
    alone = 0.5 * chassis.linear[0] ** 2 / (scenes.FRICTION * GRAVITY)
    assert alone < way < 2.0 * alone
    assert np.abs(simulation.state.v).max() < 1e-6
    assert simulation.diagnostics.contact_count == 4 * len(chassis.feet)


def test_start_repeats_a_scene():
    simulation = scenes.simulation(scenes.tracks())
    simulation.step(200)
    first = simulation.state.q.tobytes()
    scenes.start(simulation, scenes.tracks())
    simulation.step(200)
    assert simulation.state.q.tobytes() == first


# --- MuJoCo ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scene", ALL, ids=title)
def test_mujoco_has_the_same_bodies(mujoco, scene):
    peer = contacts.MuJoCoScene(mujoco, scene, 1e-8)
    mujoco.mj_forward(peer.model, peer.data)
    simulation = scenes.simulation(scene)
    simulation.step(0)
    assert peer.model.nbody == len(scene.bodies) + 1 and peer.model.nv == len(simulation.state.v)
    links = {link.name: link for link in simulation.machine.links}
    for body in scene.bodies:
        theirs, link = peer.model.body(body.name), links[scenes.link_name(body)]
        assert float(theirs.mass[0]) == link.inertial.mass
        xx, _, _, yy, _, zz = link.inertial.inertia
        assert sorted(theirs.inertia) == pytest.approx(sorted((xx, yy, zz)))
        np.testing.assert_allclose(peer.position(body.name), position(simulation, body), atol=1e-12)
    kinetic = sum(0.5 * body.mass * np.square(body.linear).sum() for body in scene.bodies)
    kinetic += sum(0.5 * np.square(body.angular) @ body.inertia for body in scene.bodies)
    assert simulation.energy().kinetic == pytest.approx(kinetic)
    assert 0.5 * np.square(peer.data.qvel) @ _masses(mujoco, peer) == pytest.approx(kinetic)


def _masses(mujoco, peer):
    """Diagonal of the mass matrix."""
    masses, column = np.zeros(peer.model.nv), np.zeros(peer.model.nv)
    for k in range(peer.model.nv):
        mujoco.mj_mulM(peer.model, peer.data, column, np.eye(peer.model.nv)[k])
        masses[k] = column[k]
    return masses


def test_residual_of_mujoco_is_the_speed_that_is_left(mujoco):
    """An acceleration of 3 m/s2 too much, upwards, leaves 3 mm/s at the contacts of a box, at a step of 1 ms."""
    peer = contacts.MuJoCoScene(mujoco, scenes.boxes_apart(1), 1e-10)
    peer.step(1)
    assert peer.data.nefc == 0 and peer.residual() == 0.0
    peer.step(500)
    assert peer.residual() < 1e-9
    peer.data.qacc[2] += 3.0
    assert peer.residual() == pytest.approx(3.0 * scenes.STEP, rel=1e-6)


def test_tolerance_of_the_peer_is_as_loose_as_the_residual_allows(mujoco, monkeypatch):
    scene = scenes.stack(3)
    monkeypatch.setattr(contacts, "_LANDING_STEPS", 100)
    monkeypatch.setattr(contacts, "_SETTLING_STEPS", 50)
    monkeypatch.setattr(contacts, "_RESTING_STEPS", 50)
    peer = contacts.settled_peer(mujoco, scene)
    peer.start()
    assert peer.watch(200).residual <= RESIDUAL
    tolerance = peer.model.opt.tolerance
    looser = contacts.MuJoCoScene(mujoco, scene, 10.0 * tolerance)
    assert tolerance == mujoco_peer.TOLERANCES[0] or looser.watch(200).residual > RESIDUAL


# --- figures --------------------------------------------------------------------------------------------------------


def test_figures_of_a_scene(mujoco, monkeypatch):
    for name, value in {"_LANDING_STEPS": 80, "_SETTLING_STEPS": 20, "_RESTING_STEPS": 50, "_REPEATS": 1}.items():
        monkeypatch.setattr(contacts, name, value)
    landing, resting = contacts.compare(mujoco, scenes.stack(2))
    assert (landing.name, resting.name) == ("stack of 2, landing", "stack of 2, at rest")
    for figure in (landing, resting):
        assert figure.unit == "µs" and figure.value > 0.0 and figure.peer_value > 0.0
        assert figure.peer.startswith("MuJoCo")
        assert figure.details["contacts"] == figure.details["MuJoCo's contacts"] == 8
        assert figure.details["apart [mm]"] < 0.1
        wanted = ["ratio", "sweeps, mean", "residual [m/s]", "share of steps at the limit of sweeps"]
        assert [target.name for target in figure.targets] == wanted


def test_commands_move_functions_in_turn_and_at_once():
    in_turn, at_once = contacts.functions_in_turn(["a", "b"]), contacts.functions_at_once(["a", "b"])
    assert [in_turn(time) for time in (0.5, 1.5, 2.5, 3.5)] == [
        {"a": 0.5, "b": 0.0},
        {"a": -0.5, "b": 0.0},
        {"a": 0.0, "b": 0.5},
        {"a": 0.0, "b": -0.5},
    ]
    assert [at_once(time) for time in (0.5, 1.5, 2.5)] == [
        {"a": 0.5, "b": 0.5},
        {"a": -0.5, "b": -0.5},
        {"a": 0.5, "b": 0.5},
    ]


def test_missed_targets_are_printed():
    few, many = Target("sweeps", 3.0, 15.0), Target("sweeps", 16.5, 15.0)
    slow, fast = Target("factor", 9.0, 20.0, at_least=True), Target("factor", 21.0, 20.0, at_least=True)
    assert [target.met for target in (few, many, slow, fast)] == [True, False, False, True]
    figure = Figure("step", 5.0, "µs", targets=(few, many, slow, fast))
    assert figure_text(figure, with_details=False).splitlines()[1:] == [
        "    missed: sweeps 16.5 (at most 15)",
        "    missed: factor 9 (at least 20)",
    ]
    assert "    met: factor 21 (at least 20)" in figure_text(figure, with_details=True)
    (written,) = as_json([figure], {})["figures"]
    assert [target["met"] for target in written["targets"]] == [True, False, False, True]


def test_figure_without_a_value_has_its_reason():
    figure = Figure("step", None, "µs", "Other 1.0", 10.0, reason="too large")
    assert figure.ratio is None
    first, second = figure_text(figure, with_details=False).splitlines()
    assert first.split() == ["step", "-", "10", "µs", "-", "Other", "1.0"]
    assert second == "    not possible: too large"
    assert as_json([figure], {})["figures"][0]["reason"] == "too large"


# --- fleets ---------------------------------------------------------------------------------------------------------


def test_mujoco_rovers_are_copies_side_by_side(mujoco):
    one, three = fleet.mujoco_rovers(mujoco, 1), fleet.mujoco_rovers(mujoco, 3)
    assert (three.nbody - 1, three.nv, three.nu) == (3 * (one.nbody - 1), 3 * one.nv, 3 * one.nu)
    assert three.body_mass.sum() == pytest.approx(3.0 * one.body_mass.sum())
    bases = [three.body(f"r{k}/base") for k in range(3)]
    np.testing.assert_array_equal([base.pos for base in bases], fleet.rover_places(3))
    for number in range(three.nu):
        actuator = three.actuator(number)
        assert three.joint(int(actuator.trnid[0])).name == actuator.name.replace("/a_", "/j_")


def test_rovers_of_both_programs_drive_the_same_way(mujoco):
    ours = fleet.driving_rovers(fleet.stepping.load("rover"), 2)
    theirs = fleet.mujoco_driving_rovers(mujoco, 2)
    for program in (ours, theirs):
        program.step(1500)
    way = theirs.base_position()[0]
    # the wheels want 0.5 m/s, less what their drives give way
    assert 0.2 < way < 0.75
    for name in ("r0", "r1"):
        assert ours.part(name).base_pose()[0][0] == pytest.approx(way, rel=0.02)


def test_figures_of_fleets(mujoco, monkeypatch):
    """The number that cannot be built has a reason in place of a value."""
    build = scenes.simulation

    def refused(scene, **settings):
        if len(scene.bodies) == 500:
            raise MachineError("too many coordinates")
        return build(scene, **settings)

    monkeypatch.setattr(scenes, "simulation", refused)
    for name, value in {"_SETTLING_STEPS": 20, "_STEPS": 5, "_REPEATS": 1, "BOXES": (9, 36, 500)}.items():
        monkeypatch.setattr(fleet, name, value)
    few, many, most, *sleeping = fleet._boxes(mujoco)
    assert [figure.name for figure in (few, many, most)] == [f"step, boxes apart: {count}" for count in (9, 36, 500)]
    assert few.details["times 9"] == 1.0 and many.details["times 9"] > 0.0
    assert many.details["coordinates"] == 216
    assert [target.name for target in many.targets] == ["step [µs]"]
    assert most.value is None and "too many coordinates" in most.reason and most.peer_value > 0.0
    kinds = ("boxes asleep", "rover beside boxes asleep")
    names = [f"step, {what}: {count}" for what in kinds for count in (9, 36, 500)]
    assert [figure.name for figure in sleeping] == names
    assert sleeping[0].value > 0.0 and sleeping[2].value is None and sleeping[5].value > 0.0


def test_boxes_of_the_benchmark_sleep_in_both_programs(mujoco):
    scene = scenes.boxes_apart(9)
    ours = scenes.simulation(scene, sleeping=True)
    theirs = fleet._that_sleeps(mujoco, contacts.MuJoCoScene(mujoco, scene, 1e-8))
    beside = fleet.rover_beside_boxes(stepping.load("rover"), 9)
    for program in (ours, theirs, beside):
        program.step(1000)
    assert len(ours.asleep) == len(beside.asleep) == 9
    assert theirs is None or theirs.data.ncon == 0


# --- chains ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("links", [1, 7])
def test_chain_has_its_fall_in_both_programs(mujoco, links):
    ours, theirs = chain.simulation(links), chain.MuJoCoChain(mujoco, links, "Euler", with_energy=True)
    high = ours.energy().potential, theirs.energy()
    ours.state.q[0] = theirs.data.qpos[0] = 0.0
    mujoco.mj_forward(theirs.model, theirs.data)
    low = ours.energy().potential, theirs.energy()
    assert np.subtract(high, low) == pytest.approx([chain.fall(links)] * 2, rel=1e-12)


def test_single_link_swings_as_in_the_closed_form():
    """Half a period, by the complete elliptic integral, from one turning point to the other."""
    bar = chain.simulation(1)
    scipy = pytest.importorskip("scipy.special")
    around = chain._ACROSS + 0.25 * chain._MASS * chain._LENGTH**2
    rate = math.sqrt(chain._MASS * GRAVITY * 0.5 * chain._LENGTH / around)
    half = 2.0 * scipy.ellipk(math.sin(0.5 * chain._START) ** 2) / rate
    bar.step(round(half / chain.STEP))
    # first order at the turn: the position is quadratic there
    assert bar.state.q[0] == pytest.approx(-chain._START, abs=1e-3)


def test_energy_error_is_the_largest_difference():
    energies = iter([5.0, 5.2, 4.1, 5.1])
    counts = []
    program = SimpleNamespace(step=counts.append)
    assert chain.energy_error(program, lambda: next(energies), 0.03) == pytest.approx(0.9)
    assert counts == [10, 10, 10]


def test_figures_of_a_chain(mujoco, monkeypatch):
    for name, value in {"_STEPS": 10, "_REPEATS": 1, "_DURATION": 0.5}.items():
        monkeypatch.setattr(chain, name, value)
    *steps, energy = chain._measure(mujoco, 5)
    assert [figure.peer.rpartition(" ")[2] for figure in steps] == list(chain.INTEGRATORS)
    assert {figure.name for figure in steps} == {"step, chain of 5"}
    assert energy.name == "energy error in 0.5 s, chain of 5" and energy.unit == "%"
    # both are of first order: the error is a small share of the swing, and not zero
    assert 0.0 < energy.value < 5.0 and 0.0 < energy.peer_value < 5.0
