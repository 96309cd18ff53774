"""The Python interface refuses wrong types and absurd values by name, and a second thread on one simulation."""

import math
import re
import threading
from operator import attrgetter

import numpy as np
import pytest
from patience import DEADLINE

import grouser
from grouser import BusyError, GrouserError, Member, ParameterError, Pose, Simulation, World
from grouser.physics.base.checks import as_float, require_quaternion
from grouser.physics.base.trees import leaves
from grouser.physics.description.data.shapes import Box, Cylinder, Sphere
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import Ground, Heightfield, NamedPose, Obstacle

HUGE = 10**400  # beyond any float
ENORMOUS = 10**5000  # beyond what Python writes as a text
# Neither numbers nor names, paths, machines, worlds, poses, lists or mappings.
NOTHING_USEFUL = (b"x", 1j, object(), HUGE, -HUGE, ENORMOUS, lambda: 0, np.array(["a", "b"]), np.array(1.0 + 1.0j))
NO_NUMBERS = ("0.001", True, np.True_, [], (0.0,), {}, np.zeros(3), math.nan, -math.inf, 1e300)
FIELD = Heightfield(np.zeros((2, 2)), 0.1, (0.0, 0.0))


def at_place(simulation, **changes):
    values = {"position": (0.0, 0.0, 1.0), "quaternion": (0.0, 0.0, 0.0, 1.0), **changes}
    return simulation.place(**values)


# Name in the message -> what is called with the value; blanks tell calls of the same name apart.
CALLS = {
    "machine": lambda s, v: Simulation(v),
    "world": lambda s, v: Simulation(s.machine, v),
    "step": lambda s, v: Simulation(s.machine, s.world, step=v),
    "tolerance": lambda s, v: Simulation(s.machine, s.world, tolerance=v),
    "most_sweeps": lambda s, v: Simulation(s.machine, s.world, most_sweeps=v),
    "scheme": lambda s, v: Simulation(s.machine, s.world, scheme=v),
    "integrator": lambda s, v: Simulation(s.machine, s.world, integrator=v),
    "spawn": lambda s, v: Simulation(s.machine, s.world, spawn=v),
    "count": lambda s, v: s.step(v),
    "count  ": lambda s, v: s.batch(v),
    "count   ": lambda s, v: s.batch(2).step(v),
    "threads": lambda s, v: s.batch(2).step(1, threads=v),
    "index": lambda s, v: s.batch(2)[v],
    "snapshot": lambda s, v: s.restore(v),
    "state": lambda s, v: s.resume(v),
    "state ": lambda s, v: s.use_state(v),
    "member": lambda s, v: s.part(v),
    "line": lambda s, v: s.circuit.set_line_pressure(v, 1e5),
    "pressure": lambda s, v: s.circuit.set_line_pressure(s.arrays.lines[0], v),
    "link": lambda s, v: s.link_pose(v),
    "cylinder": lambda s, v: s.circuit.cylinder_trace(v),
    "reach": lambda s, v: s.terrain_patch(v),
    "joint": lambda s, v: s.joint_position[v],
    "command": lambda s, v: s.command[v],
    "command ": lambda s, v: s.command.__setitem__(v, 0.0),
    "boom_valve": lambda s, v: s.command.__setitem__("boom_valve", v),
    "commands": lambda s, v: s.command.update(v),
    "faulty component": lambda s, v: s.faults[v],
    "fault of boom_valve": lambda s, v: s.faults["boom_valve"][v],
    "fault of boom_valve ": lambda s, v: s.faults["boom_valve"].__setitem__(v, 0),
    "faults.boom_valve.stuck_spool": lambda s, v: s.faults["boom_valve"].__setitem__("stuck_spool", v),
    "emergency_stop": lambda s, v: setattr(s, "emergency_stop", v),
    "position": lambda s, v: at_place(s, position=v),
    "position ": lambda s, v: at_place(s, position=(v, 0.0, 1.0)),
    "quaternion": lambda s, v: at_place(s, quaternion=v),
    "quaternion ": lambda s, v: at_place(s, quaternion=(0.0, 0.0, 0.0, v)),
    "linear": lambda s, v: at_place(s, linear=v),
    "linear ": lambda s, v: at_place(s, linear=(v, 0.0, 1.0)),
    "angular": lambda s, v: at_place(s, angular=v),
    "source": lambda s, v: grouser.carry_over(v, s),
    "target": lambda s, v: grouser.carry_over(s, v),
    "gravity": lambda s, v: World(gravity=v),
    "gravity ": lambda s, v: World(gravity=(0.0, 0.0, v)),
    "ground": lambda s, v: World(ground=v),
    "obstacles": lambda s, v: World(obstacles=v),
    "obstacles[0]": lambda s, v: World(obstacles=(v,)),
    "spawn ": lambda s, v: World(spawn=v),
    "world name": lambda s, v: World(name=v),
    "world description": lambda s, v: World(description=v),
    "world tags": lambda s, v: World(tags=v),
    "poses": lambda s, v: World(poses=v),
    "position   ": lambda s, v: Pose(v),
    "position    ": lambda s, v: Pose((v, 0.0, 1.0)),
    "quaternion   ": lambda s, v: Pose(quaternion=v),
    "quaternion    ": lambda s, v: Pose(quaternion=(0.0, 0.0, 0.0, v)),
    "pose 'a'": lambda s, v: NamedPose("a", v),
    "pose name": lambda s, v: NamedPose(v, Pose()),
    "ground point": lambda s, v: Ground(point=v),
    "ground normal": lambda s, v: Ground(normal=v),
    "ground friction": lambda s, v: Ground(friction=v),
    "ground restitution": lambda s, v: Ground(restitution=v),
    "ground material": lambda s, v: Ground(material=v),
    "ground heightfield": lambda s, v: Ground(heightfield=v),
    "ground edge": lambda s, v: Ground(edge=v),
    "ground soil": lambda s, v: Ground(soil=v),
    "soils": lambda s, v: SoilGround(v),
    "level": lambda s, v: SoilGround((grouser.load_soil("zuo_cells"),), level=v),
    "cell": lambda s, v: SoilGround((grouser.load_soil("zuo_cells"),), cell=v),
    "heights": lambda s, v: Heightfield(v, 0.1, (0.0, 0.0)),
    "cell ": lambda s, v: Heightfield(np.zeros((2, 2)), v, (0.0, 0.0)),
    "origin": lambda s, v: Heightfield(np.zeros((2, 2)), 0.1, v),
    "obstacle 'a' geometry": lambda s, v: Obstacle("a", v),
    "obstacle 'a' size": lambda s, v: Obstacle("a", Box((1.0, 1.0, v))),
    "obstacle 'a' radius": lambda s, v: Obstacle("a", Sphere(v)),
    "obstacle 'a' length": lambda s, v: Obstacle("a", Cylinder(1.0, v)),
    "obstacle 'a' pose": lambda s, v: Obstacle("a", Box((1.0, 1.0, 1.0)), v),
    "obstacle 'a' friction": lambda s, v: Obstacle("a", Box((1.0, 1.0, 1.0)), friction=v),
    "machine of a member": lambda s, v: Member(v),
    "pose of a member": lambda s, v: Member(s.machine, v),
    "members": lambda s, v: grouser.combine(v),
    "member ": lambda s, v: grouser.combine({"a": v}),
    "spawn  ": lambda s, v: grouser.combine({"a": Member(s.machine)}, v),
    "machine ": lambda s, v: grouser.load_machine(v),
    "arguments": lambda s, v: grouser.load_machine("urdf/rover.urdf.xacro", v),
    "packages": lambda s, v: grouser.load_machine(s.machine.file, packages=v),
    "base": lambda s, v: grouser.load_machine(s.machine.file, base=v),
    "world ": lambda s, v: grouser.load_world(v),
    "soil": lambda s, v: grouser.load_soil(v),
    "name": lambda s, v: grouser.load_soil("zuo_cells", v),
}
# Calls whose value is one number.
NUMBERS = (
    *("step", "tolerance", "most_sweeps", "count", "count  ", "count   ", "threads", "index", "pressure", "boom_valve"),
    *("position ", "position    ", "quaternion ", "quaternion    ", "linear ", "gravity ", "ground friction"),
    *("ground restitution", "cell", "cell ", "obstacle 'a' size", "obstacle 'a' radius", "obstacle 'a' length"),
)


def refusal(simulation, call, value):
    """The message of the error, which must be ours."""
    with pytest.raises(ParameterError) as caught:
        CALLS[call](simulation, value)
    return str(caught.value)


def same_bits(one, other):
    return all(np.array_equal(a, b) for a, b in zip(leaves(one[:2]), leaves(other[:2]), strict=True))


@pytest.mark.parametrize("call", CALLS)
def test_values_of_no_use_are_refused_by_name(simulation, call):
    before = simulation.snapshot()
    for value in NOTHING_USEFUL:
        message = refusal(simulation, call, value)
        assert message.startswith(call.strip()) and "is not valid: " in message
        assert len(message) < 500 and "\n" not in message
    assert same_bits(before, simulation.snapshot())


@pytest.mark.parametrize("call", NUMBERS)
def test_what_is_no_number_of_the_range_is_refused_by_name(simulation, call):
    before = simulation.snapshot()
    for value in NO_NUMBERS:
        assert refusal(simulation, call, value).startswith(call.strip())
    assert same_bits(before, simulation.snapshot())


@pytest.mark.parametrize(
    ("call", "value", "words"),
    [
        ("machine", "x.urdf", "machine = 'x.urdf'.*grouser.load_machine"),
        ("machine", None, "grouser.load_machine"),
        ("world", "flat", "world = 'flat'.*grouser.load_world"),
        ("world", None, "grouser.load_world"),
        ("snapshot", {}, "snapshot = {}.*Simulation.snapshot"),
        ("gravity", 9.81, "gravity = 9.81.*3 numbers.*m/s2, as .0, 0, -9.81."),
        ("gravity", (0.0, 0.0), "3 numbers"),
        ("gravity ", math.nan, "nan.*3 numbers"),
        ("position   ", (math.nan, 0.0, 0.0), "3 numbers.* m"),
        ("quaternion   ", (0.0, 0.0, 0.0, 0.0, 1.0), "4 numbers"),
        ("quaternion   ", (0.0, 0.0, 0.0, 2.0), "of length 1; its length is 2"),
        ("quaternion", (0.0, 0.0, 0.0, 0.0), "of length 1; its length is 0"),
        ("position", (1e300, 0.0, 0.0), "1e.300.*-1e.09 to 1e.09 m"),
        ("spawn ", Pose((1e12, 0.0, 0.0)), "spawn position.*1e.09 m"),
        ("step", 0, "1e-07 to 0.1 s"),
        ("step", 1e10, "1e-07 to 0.1 s"),
        ("count", -1, "from 0 to 1000000000000"),
        ("count", 2.0, "a whole number of steps"),
        ("count", np.bool_(True), "a whole number of steps"),
        ("count", 10**13, "from 0 to 1000000000000"),
        ("count  ", 0, "a whole number of copies, from 1"),
        ("count  ", 1_000_000, "a copy takes .* MB of .* GB"),
        ("index", 2, "from -2 to 1"),
        ("threads", 0, "from 1 to"),
        ("integrator", "variatonal", "did you mean 'variational'"),
        ("integrator", [], "as a text; valid: implicit_midpoint"),
        ("joint", ["swing"], "as a text; valid: "),
        ("commands", [("swing", 1.0)], "a mapping"),
        ("emergency_stop", "no", "True"),
        ("ground normal", (1.0, 0.0, 0.0), "not level"),
        ("ground normal", (0.0, 0.0, 2.0), "length 1"),
        ("ground friction", -0.1, "from 0 to 100"),
        ("ground restitution", 1.5, "from 0 to 1"),
        ("ground edge", "wal", "flat or wall"),
        ("obstacle 'a' radius", 0.0, "above 0"),
        ("obstacles", (Obstacle("a", Sphere(1.0)), Obstacle("a", Sphere(2.0))), "given once"),
        ("heights", np.array([[0.0, 1.0], [math.inf, 0.0]]), "heights.1, 0. = inf"),
        ("heights", np.zeros(4), "at least 2 x 2"),
        ("soils", (), "at least one"),
        ("pressure", -1e5, "a number from .* Pa"),
    ],
)
def test_messages_name_value_range_and_remedy(simulation, call, value, words):
    assert re.search(words, refusal(simulation, call, value))


@pytest.mark.parametrize("call", ["joint_position", "command", "faults", "circuit.line_pressure"])
def test_no_text_is_in_a_mapping_by_name(simulation, call):
    assert not any(value in attrgetter(call)(simulation) for value in ([], {}, None, 0, HUGE, np.zeros(2)))


def test_assignments_that_nothing_reads_are_refused(simulation, crane):
    member = Simulation(grouser.combine({"crane": Member(crane)})).part("crane")
    for view in (simulation, simulation.batch(1)[0], member):
        before = view.command
        with pytest.raises(ParameterError, match="command .* changed by name"):
            view.command = {"boom_valve": 0.5}
        assert view.command is before
        for name, words in {
            "step_size": "only read",
            "joint_position": "only read",
            "emergencystop": "emergency_stop",
        }.items():
            with pytest.raises(ParameterError, match=words):
                setattr(view, name, 0.0)
        view.emergency_stop = True
        assert view.emergency_stop
        view.release_emergency_stop()


def test_xacro_arguments_are_named(crane):
    with pytest.raises(ParameterError, match="xacro argument = 3"):
        grouser.load_machine("urdf/rover.urdf.xacro", {3: "x"})
    with pytest.raises(ParameterError, match="xacro argument size = .*a text, a number"):
        grouser.load_machine("urdf/rover.urdf.xacro", {"size": [1]})


def test_states_of_other_machines_are_refused(simulation, crane):
    other = Simulation(grouser.combine({"a": Member(crane), "b": Member(crane, Pose((9.0, 0.0, 0.0)))}))
    for take in (simulation.resume, simulation.use_state):
        with pytest.raises(ParameterError, match="of the same machine and world"):
            take(other.state)
    simulation.resume(simulation.state)


def test_grounds_from_arrays_are_equal_and_keep_their_values():
    point, normal = np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0])
    ground = Ground(point, normal)
    assert ground == Ground((1.0, 2.0, 3.0)) and hash(ground) == hash(Ground((1.0, 2.0, 3.0)))
    point[2] = 5.0
    assert ground.point == (1.0, 2.0, 3.0)


def test_numbers_of_all_kinds_are_taken(simulation):
    simulation.step(np.int32(2))
    simulation.command["boom_valve"] = np.float32(0.5)
    simulation.command["swing"] = np.array(0.25)
    simulation.place(np.array([0.0, 0.0, 1.0]), [0, 0, 0, 1])
    assert (simulation.step_count, simulation.command["boom_valve"], simulation.command["swing"]) == (2, 0.5, 0.25)
    assert World(gravity=np.array([0, 0, -1])) == World(gravity=[0, 0, -1]) == World(gravity=(0.0, 0.0, -1.0))
    assert Pose([1, 2, 3]) == Pose((1.0, 2.0, 3.0)) and hash(Pose([1, 2, 3])) == hash(Pose((1.0, 2.0, 3.0)))
    assert [as_float(one) for one in (1, 2.5, np.float64(3.0), np.array(4))] == [1.0, 2.5, 3.0, 4.0]


def test_quaternions_are_normalised_only_where_rounding_does_not_explain_their_length():
    exact = (0.1, 0.2, 0.3, math.sqrt(1.0 - 0.14))
    assert require_quaternion("quaternion", exact) == exact
    rounded = tuple(round(part, 3) for part in exact)
    turned = require_quaternion("quaternion", rounded)
    assert math.hypot(*turned) == pytest.approx(1.0, abs=1e-15)
    assert turned == pytest.approx(np.array(rounded) / math.hypot(*rounded), abs=1e-15)


@pytest.mark.parametrize("place", [(1e9, 0.0, 1.0), (-1e9, 1e9, 1e9)])
def test_machines_at_the_edge_of_the_range_go_on(simulation, place):
    simulation.place(place, (0.0, 0.0, 0.0, 1.0), (1e3, 0.0, 0.0))
    simulation.step(20)
    assert np.isfinite(simulation.state.q).all()


def test_worlds_without_gravity_and_with_sideways_gravity_load(crane):
    for gravity in ((0.0, 0.0, 0.0), (9.81, 0.0, 0.0)):
        Simulation(crane, World(gravity=gravity, spawn=Pose((0.0, 0.0, 0.1)))).step(5)


# --- threads --------------------------------------------------------------------------------------------------------


@pytest.fixture
def stepped(simulation):
    """The simulation and its batch while another thread steps them."""
    batch = simulation.batch(2)
    simulation.step(1)
    batch.step(1)
    inside, leave = threading.Event(), threading.Event()

    def step_slowly(engine):
        run = engine.run

        def held(count):
            inside.set()
            assert leave.wait(DEADLINE)
            return run(count)

        engine.run = held

    step_slowly(simulation._engine)
    thread = threading.Thread(target=simulation.step, args=(3,))
    thread.start()
    assert inside.wait(DEADLINE)
    yield simulation, thread, leave
    leave.set()
    thread.join()


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.step(1),
        lambda s: s.reset(),
        lambda s: s.snapshot(),
        lambda s: s.batch(2),
        lambda s: s.resume(s.state),
        lambda s: s.use_state(s.state),
        lambda s: at_place(s),
    ],
)
def test_a_second_thread_on_a_stepping_simulation_is_refused(stepped, call):
    simulation, thread, leave = stepped
    with pytest.raises(BusyError, match="another thread steps or changes this simulation"):
        call(simulation)
    leave.set()
    thread.join()
    assert simulation.step_count == 4  # the thread has made its steps undisturbed
    simulation.reset()
    simulation.step(2)
    assert simulation.step_count == 2


def test_a_batch_that_shares_a_copy_with_another_thread_is_refused(simulation):
    batch = simulation.batch(3)
    with batch[1]._engine.exclusive, pytest.raises(BusyError):
        batch.step(1)
    assert [copy.step_count for copy in batch] == [0, 0, 0]
    batch.step(2, threads=2)
    assert [copy.step_count for copy in batch] == [2, 2, 2]


def test_many_threads_step_one_simulation_one_at_a_time_or_are_refused(simulation):
    simulation.step(1)
    made, refused = [], []

    def step():
        for _ in range(200):
            try:
                simulation.step(5)
                made.append(5)
            except BusyError:
                refused.append(1)

    threads = [threading.Thread(target=step) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) + len(refused) == 800
    assert simulation.step_count == 1 + sum(made)


def test_copies_step_in_threads_of_their_own(simulation):
    batch = simulation.batch(2)
    threads = [threading.Thread(target=copy.step, args=(50,)) for copy in batch]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same_bits(batch[0].snapshot(), batch[1].snapshot())


def test_errors_leave_a_simulation_free(simulation):
    simulation.state.v[:] = math.nan
    with pytest.raises(GrouserError):
        simulation.step(1)
    simulation.reset()
    simulation.step(1)
    assert simulation.step_count == 1
