"""The public `Simulation`: names, checks of input, time and restart."""

import copy
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from grouser import DivergenceError, MachineError, ParameterError, Simulation, World
from grouser.physics.base.trees import leaves
from grouser.physics.description import parse_machine
from grouser.physics.description.data.pose import Pose

WORLD = World(spawn=Pose((0.0, 0.0, 0.1)))


def drive_about(simulation):
    simulation.command.update({"boom_valve": 0.7, "swing": 0.6, "spin": 12.0, "grip": -4.0})


def same_bits(one, other):
    return all(np.array_equal(a, b) for a, b in zip(leaves(one.state), leaves(other.state), strict=True))


# --- names and checks -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "read, wrong, right",
    [
        (lambda s, n: s.command[n], "boom_vlave", "boom_valve"),
        (lambda s, n: s.command.update({n: 0.0}), "swign", "swing"),
        (lambda s, n: s.joint_position[n], "lfit", "lift"),
        (lambda s, n: s.joint_velocity[n], "sping", "spin"),
        (lambda s, n: s.joint_effort[n], "gripright", "grip_right"),
        (lambda s, n: s.pressure[n], "bom", "boom"),
        (lambda s, n: s.cylinder[n], "booom", "boom"),
        (lambda s, n: s.circuit.cylinder_energy[n], "Boom", "boom"),
        (lambda s, n: s.circuit.cylinder_trace(n), "boon", "boom"),
        (lambda s, n: s.contact_wrench[n], "bsae", "base"),
        (lambda s, n: s.link_pose(n), "turet", "turret"),
    ],
)
def test_unknown_names_suggest_the_closest(simulation, read, wrong, right):
    with pytest.raises(ParameterError, match=f"{wrong}.*did you mean '{right}'"):
        read(simulation, wrong)


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, "fast", None, [1.0, 2.0], 10**400], ids=lambda value: str(value)[:9]
)
@pytest.mark.parametrize("name", ["boom_valve", "spin"])
def test_invalid_commands_change_nothing(simulation, name, value):
    simulation.command[name] = 0.25
    with pytest.raises(ParameterError, match=name):
        simulation.command[name] = value
    assert simulation.command[name] == 0.25


@pytest.mark.parametrize("value", [1.0000001, -1.5])
def test_spool_commands_are_limited_to_one(simulation, value):
    with pytest.raises(ParameterError, match="-1 to 1"):
        simulation.command["boom_valve"] = value
    simulation.command["spin"] = 100 * value  # A speed has no such range.
    assert dict(simulation.command) == {"boom_valve": 0.0, "swing": 0.0, "spin": 100 * value, "grip": 0.0}


@pytest.mark.parametrize("bad", [{"spin": math.nan}, {"boom_valve": 2.0}, {"nothing": 0.0}])
def test_command_update_is_all_or_nothing(simulation, bad):
    drive_about(simulation)
    before = dict(simulation.command)
    with pytest.raises(ParameterError):
        simulation.command.update({"swing": -0.5, **bad, "grip": 1.0})
    assert dict(simulation.command) == before


def test_command_names_are_listed(simulation):
    assert simulation.command.names == tuple(simulation.command) == ("boom_valve", "swing", "spin", "grip")
    assert simulation.command.valves == ("boom_valve",)
    assert simulation.command.drives == {"swing": "position", "spin": "velocity", "grip": "effort"}
    assert simulation.joint_position.names == ("swing", "lift", "spin", "grip", "grip_right")
    with pytest.raises(TypeError):
        simulation.joint_position["lift"] = 1.0


@pytest.mark.parametrize(
    "settings, name",
    [
        ({"step": 0.0}, "step"),
        ({"step": -1e-3}, "step"),
        ({"step": 0.2}, "step"),
        ({"step": math.nan}, "step"),
        ({"step": "1e-3"}, "step"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"tolerance": math.inf}, "tolerance"),
        ({"most_sweeps": 0}, "most_sweeps"),
        ({"scheme": "semi_implict"}, "semi_implicit"),
    ],
)
def test_settings_out_of_range_are_refused(crane, settings, name):
    with pytest.raises(ParameterError, match=name):
        Simulation(crane, WORLD, **settings)


@pytest.mark.parametrize("count", [-1, 2.5, math.nan, "3", None])
def test_step_count_must_be_a_whole_number(simulation, count):
    with pytest.raises(ParameterError, match="count"):
        simulation.step(count)
    assert simulation.step_count == 0


@pytest.mark.parametrize(
    "inertial, problem",
    [
        ("", "no mass"),
        ('<inertial><mass value="1"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial>', "inertia"),
    ],
    ids=["massless", "inertialess"],
)
def test_joints_without_inertia_are_named(inertial, problem):
    text = (
        f'<robot name="bad"><link name="world"/><link name="ghost">{inertial}</link>'
        '<joint name="hinge" type="continuous"><parent link="world"/><child link="ghost"/></joint></robot>'
    )
    with pytest.raises(MachineError, match=rf"hinge.*{problem}"):
        Simulation(parse_machine(text, "bad.urdf"))


@pytest.mark.parametrize("retracted", [0.2, 0.6])
def test_cylinder_outside_its_stroke_error_gives_its_lengths(crane, retracted):
    machine = replace(crane, cylinders=(replace(crane.cylinders[0], retracted_length=retracted),))
    length = math.hypot(0.3, 0.5 + 0.02 - 0.05)
    ends = rf"{length:.4f} m.*{retracted:.4f} to {retracted + 0.25:.4f} m"
    with pytest.raises(MachineError, match=rf'cylinder name="boom".*{ends}'):
        Simulation(machine, WORLD)


# --- time and restart -------------------------------------------------------------------------------------------------


def test_time_is_step_count_times_step_size(crane):
    simulation = Simulation(crane, WORLD, step=3e-4)
    simulation.step(0)
    assert (simulation.step_count, simulation.time) == (0, 0.0)
    for _ in range(7):
        simulation.step(10)
    assert simulation.step_count == 70
    assert simulation.time == 70 * 3e-4 == 70 * simulation.step_size


def test_same_commands_give_the_same_bits(crane):
    runs = [Simulation(crane, WORLD) for _ in range(2)]
    for run in runs:
        drive_about(run)
    runs[0].step(200)
    for _ in range(200):
        runs[1].step()
    assert same_bits(*runs)
    assert runs[0].joint_position["lift"] != 0.0 and runs[0].contacts()


def test_restored_simulation_continues_with_the_same_bits(simulation, crane):
    drive_about(simulation)
    simulation.step(150)
    saved = simulation.snapshot()
    simulation.emergency_stop = True
    simulation.command["swing"] = -0.3
    simulation.step(50)
    other = Simulation(crane, WORLD)
    simulation.restore(saved)
    other.restore(saved)
    assert not simulation.emergency_stop
    assert simulation.step_count == 150
    assert dict(simulation.command) == dict(other.command)
    simulation.step(100)
    other.step(100)
    through = Simulation(crane, WORLD)
    drive_about(through)
    through.step(250)
    assert same_bits(simulation, through)
    assert same_bits(other, through)


@pytest.mark.parametrize("function", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copies_and_pickles_of_a_simulation_are_refused(simulation, function):
    with pytest.raises(TypeError, match="Simulation.batch"):
        function(simulation)


def test_snapshot_can_be_pickled(simulation):
    simulation.step(5)
    saved = pickle.dumps(simulation.snapshot())
    simulation.step(5)
    simulation.restore(pickle.loads(saved))
    assert simulation.step_count == 5


def test_reset_repeats_the_motion_from_the_start(simulation, crane):
    drive_about(simulation)
    simulation.step(100)
    simulation.emergency_stop = True
    simulation.step(10)
    simulation.reset()
    fresh = Simulation(crane, WORLD)
    assert same_bits(simulation, fresh)
    assert not simulation.emergency_stop
    assert dict(simulation.command) == dict(fresh.command)
    assert simulation.contacts() == []
    assert simulation.joint_effort.values() == pytest.approx(np.zeros(5), abs=0.0)


def test_emergency_stop_latches_and_stops_all_joints(simulation):
    drive_about(simulation)
    simulation.step(300)
    simulation.emergency_stop = True
    simulation.emergency_stop = False
    assert simulation.emergency_stop
    simulation.step(700)
    assert simulation.cylinder["boom"].brake_engaged
    # the fan has 0.05 kg m2 at 12 rad/s under 4 N m: 0.15 s; contacts and rows are solved to 1e-6
    assert np.abs(simulation.state.v).max() < 1e-5


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e300])
def test_divergence_names_time_joint_and_value(simulation, value):
    simulation.step(3)
    simulation.state.v[simulation.arrays.names.joints["lift"].v] = value
    with pytest.raises(DivergenceError, match=r"t = 0\.0\d+ s") as caught:
        simulation.step(100)
    base = '<link name="base">, the base, which is free to move'
    assert caught.value.joint in {*simulation.arrays.names.rate_joint, base}
    assert not math.isfinite(caught.value.value)
    assert caught.value.time == simulation.time <= 0.010, "it stops at once"
    simulation.reset()
    simulation.step(10)
    assert np.isfinite(simulation.joint_position.values()).all()


def test_message_about_a_free_base_names_its_root_link():
    """The joint of a free base is in no file."""
    with pytest.raises(MachineError) as caught:
        Simulation(parse_machine('<robot name="r"><link name="hull"/></robot>', "bad.urdf"))
    assert '<link name="hull">, the base, which is free to move: moves a part that has no mass' in str(caught.value)
    assert "hull_free" not in str(caught.value)
