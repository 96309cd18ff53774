"""The standard services of simulators over DDS; each test holds for every version of `simulation_interfaces`."""

import math
import re
import threading

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Vector3
from patience import DEADLINE
from sensor_msgs.msg import JointState
from simulation_interfaces import srv
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import (
    Bounds,
    EntityCategory,
    EntityFilters,
    EntityInfo,
    Result,
    SimulationState,
    SimulatorFeatures,
    TagsFilter,
)
from std_msgs.msg import Bool

from grouser.nodes.shared import topics

STEP = 1_000_000  # [ns]
OK = Result.RESULT_OK
WORLD = """
name: yard
description: A yard with a kerb.
tags: [test, outdoor]
obstacles:
  - {name: kerb, box: [4.0, 0.2, 0.1], xyz: [5.0, 0.0, 0.05], rpy_deg: [0.0, 0.0, 90.0], material: concrete}
  - {name: bollard, cylinder: {radius: 0.1, length: 1.0}, xyz: [-3.0, 0.0, 0.5], material: steel}
spawn: {xyz: [0.0, 0.0, 0.5]}
poses:
  charger: {xyz: [1.0, 2.0, 0.0], rpy_deg: [0.0, 0.0, 90.0], description: the charger, tags: [parking, indoor]}
  gate: {xyz: [9.0, 0.0, 0.0], tags: [navigation_goal]}
"""


@pytest.fixture
def world_file(tmp_path):
    file = tmp_path / "yard.yaml"
    file.write_text(WORLD)
    return file


@pytest.fixture
def yard(start_simulator, world_file):
    """A paused simulator with the loader among obstacles."""
    return start_simulator(world=str(world_file), start_paused=True)


def now(ask) -> int:
    """Simulation time [ns]."""
    stamp = ask("GetEntityState", entity="loader").state.header.stamp
    return stamp.sec * 10**9 + stamp.nanosec


def height(ask) -> float:
    return ask("GetEntityState", entity="loader").state.pose.position.z


def set_state(ask, number):
    return ask("SetSimulationState", state=SimulationState(state=number)).result


def get_state(ask) -> int:
    return ask("GetSimulationState").state.state


def names(ask, **filters) -> list[str]:
    answer = ask("GetEntities", filters=EntityFilters(**filters))
    assert answer.result.result == OK, answer.result.error_message
    return list(answer.entities)


def test_reported_features_are_the_available_services(ask, peer, yard):
    offered = set(ask("GetSimulatorFeatures").features.features)
    for name in (
        "SIMULATION_RESET_TIME",
        "SIMULATION_RESET_STATE",
        "SIMULATION_STATE_PAUSE",
        "STEP_SIMULATION_ACTION",
        "ENTITY_BOUNDS_CONVEX",
        "NAMED_POSES",
        "AVAILABLE_WORLDS",
    ):
        assert getattr(SimulatorFeatures, name) in offered
    services = {
        "SPAWNING": "/simulator/spawn_entity",
        "DELETING": "/simulator/delete_entity",
        "ENTITY_STATE_SETTING": "/simulator/set_entity_state",
        "WORLD_LOADING": "/simulator/load_world",
        "WORLD_UNLOADING": "/simulator/unload_world",
        "ENTITY_INFO_SETTING": "/simulator/set_entity_info",
        "ENTITY_STATE_GETTING": "/simulator/get_entities_states",
    }
    expected = {name for feature, name in services.items() if getattr(SimulatorFeatures, feature) in offered}

    def found():
        return {name for name, _ in peer.node.get_service_names_and_types()} & set(services.values())

    peer.wait_for(lambda: found() >= expected, "the services of the features")
    assert found() == expected


def test_transitions_of_the_simulation_state(ask, start_simulator, world_file):
    start_simulator(world=str(world_file))
    answers = srv.SetSimulationState.Response
    assert get_state(ask) == SimulationState.STATE_PLAYING
    assert set_state(ask, SimulationState.STATE_PAUSED).result == OK
    assert get_state(ask) == SimulationState.STATE_PAUSED
    paused = now(ask)
    assert set_state(ask, SimulationState.STATE_PAUSED).result == answers.ALREADY_IN_TARGET_STATE
    assert now(ask) == paused

    assert set_state(ask, SimulationState.STATE_STOPPED).result == OK
    assert get_state(ask) == SimulationState.STATE_STOPPED
    assert now(ask) == 0
    assert height(ask) == 0.5
    assert set_state(ask, SimulationState.STATE_STOPPED).result == answers.ALREADY_IN_TARGET_STATE

    assert set_state(ask, SimulationState.STATE_PAUSED).result == OK  # ready, without a step
    assert (get_state(ask), now(ask)) == (SimulationState.STATE_PAUSED, 0)
    assert set_state(ask, SimulationState.STATE_PLAYING).result == OK
    assert get_state(ask) == SimulationState.STATE_PLAYING
    for number in (4, 5, 77):  # no world, loading, and nothing at all
        refused = set_state(ask, number)
        assert refused.result == answers.INCORRECT_TRANSITION
        assert str(number) in refused.error_message


def test_steps_are_exact_and_need_a_pause(ask, yard):
    first = now(ask)
    assert ask("StepSimulation", steps=7).result.result == OK
    assert ask("StepSimulation").result.result == OK  # one by default
    assert now(ask) == first + 8 * STEP
    assert ask("StepSimulation", steps=0).result.result == OK
    assert now(ask) == first + 8 * STEP

    assert set_state(ask, SimulationState.STATE_STOPPED).result == OK
    for state in (SimulationState.STATE_STOPPED, SimulationState.STATE_PLAYING):
        if get_state(ask) != state:
            assert set_state(ask, state).result == OK
        if state == SimulationState.STATE_PLAYING:
            refused = ask("StepSimulation", steps=5).result
            assert refused.result == Result.RESULT_OPERATION_FAILED
            assert "paused" in refused.error_message


def test_action_gives_feedback_of_each_step(ask, peer, yard):
    before = now(ask)
    actor = peer.act(SimulateSteps, "/simulator/simulate_steps")
    # the server must have discovered both subscribers, the action client and the inbox, or early messages are lost
    peer.wait_for(lambda: yard.count_subscribers("/simulator/simulate_steps/_action/feedback") == 2, "the listeners")
    status, result = actor.end(actor.send(SimulateSteps.Goal(steps=25)))
    assert (status, result.result.result) == (GoalStatus.STATUS_SUCCEEDED, OK)
    assert now(ask) == before + 25 * STEP
    told = actor.feedback.collect(25)
    assert [(news.completed_steps, news.remaining_steps) for news in told] == [(n, 25 - n) for n in range(1, 26)]


def test_steps_with_feedback_equal_steps_without(ask, peer, yard):
    """To the last bit, also after a stop."""
    states = []
    for _ in range(2):
        assert ask("StepSimulation", steps=150).result.result == OK
        states.append(ask("GetEntityState", entity="loader").state)
        assert set_state(ask, SimulationState.STATE_STOPPED).result == OK
        assert set_state(ask, SimulationState.STATE_PAUSED).result == OK
    actor = peer.act(SimulateSteps, "/simulator/simulate_steps")
    assert actor.end(actor.send(SimulateSteps.Goal(steps=150)))[0] == GoalStatus.STATUS_SUCCEEDED
    states.append(ask("GetEntityState", entity="loader").state)
    assert states[0].pose != states[0].pose.__class__()
    for other in states[1:]:
        assert (other.header.stamp, other.pose, other.twist) == (
            states[0].header.stamp,
            states[0].pose,
            states[0].twist,
        )


def test_the_action_can_be_canceled(ask, peer, yard):
    before = now(ask)
    actor = peer.act(SimulateSteps, "/simulator/simulate_steps")
    goal = actor.send(SimulateSteps.Goal(steps=10**9))
    actor.feedback.first("the first step")
    assert actor.cancel(goal) == 1
    status, result = actor.end(goal)
    assert status == GoalStatus.STATUS_CANCELED
    assert result.result.result == Result.RESULT_OPERATION_FAILED
    made = int(re.match(r"(\d+) of", result.result.error_message).group(1))
    assert now(ask) == before + made * STEP
    assert get_state(ask) == SimulationState.STATE_PAUSED


def test_the_action_needs_a_pause(ask, peer, start_simulator):
    start_simulator()
    actor = peer.act(SimulateSteps, "/simulator/simulate_steps")
    status, result = actor.end(actor.send(SimulateSteps.Goal(steps=5)))
    assert status == GoalStatus.STATUS_ABORTED
    assert result.result.result == Result.RESULT_OPERATION_FAILED
    assert "paused" in result.result.error_message


def test_queries_and_the_end_of_a_long_step_request(ask, peer, start_simulator):
    """While one request makes steps, states can be read, more steps are refused, and an emergency stop ends it.

    The controller of the lockstep commands some times; then the steps wait until the lockstep ends.
    """
    lockstep = {"lockstep_sources": ["joint_commands"], "lockstep_period": 0.1, "lockstep_deadline": 0.0}
    yard = start_simulator(start_paused=True, **lockstep)
    joints = peer.hear(JointState, topics.JOINT_STATES)
    kind = srv.StepSimulation
    client = peer.node.create_client(kind, "/simulator/step_simulation")
    assert client.wait_for_service(DEADLINE)
    ended = threading.Event()
    future = client.call_async(kind.Request(steps=20_000))
    future.add_done_callback(lambda _: ended.set())

    def under_way(count):
        """The controller repeats its command: one before the first wait of the lockstep has no effect."""
        peer.say(topics.JOINT_COMMANDS, JointState(name=["drum_joint"], velocity=[0.1]))
        return len(joints.all()) >= count

    peer.wait_for(lambda: under_way(20), "steps under way")

    assert get_state(ask) == SimulationState.STATE_PAUSED
    refused = ask("StepSimulation", steps=1).result
    assert refused.result == Result.RESULT_INCORRECT_STATE
    assert "being carried out" in refused.error_message
    assert not ended.is_set()
    peer.say(topics.EMERGENCY_STOP, Bool(data=True))
    assert ended.wait(DEADLINE)
    assert yard.report.emergency_stop
    assert future.result().result.result == Result.RESULT_OPERATION_FAILED
    assert "emergency stop" in future.result().result.error_message
    assert 0 < now(ask) < 20_000 * STEP


def test_step_requests_are_bounded(ask, yard, peer):
    refused = ask("StepSimulation", steps=10**15).result
    assert refused.result == Result.RESULT_OPERATION_FAILED
    assert "at most 1000000000" in refused.error_message
    actor = peer.act(SimulateSteps, "/simulator/simulate_steps")
    status, result = actor.end(actor.send(SimulateSteps.Goal(steps=10**15)))
    assert (status, result.result.result) == (GoalStatus.STATUS_ABORTED, Result.RESULT_OPERATION_FAILED)
    assert now(ask) == 0


def test_reset_scopes(ask, yard):
    scope = srv.ResetSimulation.Request
    assert ask("StepSimulation", steps=100).result.result == OK
    fallen = height(ask)
    assert fallen < 0.5

    assert ask("ResetSimulation", scope=scope.SCOPE_TIME).result.result == OK
    assert (now(ask), height(ask)) == (0, fallen)
    assert ask("StepSimulation", steps=10).result.result == OK
    assert now(ask) == 10 * STEP
    assert height(ask) < fallen

    assert ask("ResetSimulation", scope=scope.SCOPE_STATE).result.result == OK
    assert (now(ask), height(ask)) == (10 * STEP, 0.5)

    for everything in (scope.SCOPE_DEFAULT, scope.SCOPE_ALL, scope.SCOPE_TIME | scope.SCOPE_STATE):
        assert ask("StepSimulation", steps=10).result.result == OK
        assert ask("ResetSimulation", scope=everything).result.result == OK
        assert (now(ask), height(ask)) == (0, 0.5)
    for unknown in (8, 16 | scope.SCOPE_TIME):
        assert ask("StepSimulation", steps=1).result.result == OK
        before = now(ask)
        assert ask("ResetSimulation", scope=unknown).result.result == Result.RESULT_FEATURE_UNSUPPORTED
        assert now(ask) == before


def test_entities_are_chosen_by_all_filters(ask, yard):
    sphere, box, hull = Bounds.TYPE_SPHERE, Bounds.TYPE_BOX, Bounds.TYPE_CONVEX_HULL
    assert names(ask) == ["loader", "kerb", "bollard"]
    assert names(ask, filter="^b") == ["bollard"]
    assert names(ask, filter="(kerb|load)") == ["loader", "kerb"]
    assert names(ask, filter="[[:upper:]]") == []
    robots = [EntityCategory(category=EntityCategory.CATEGORY_ROBOT)]
    still = [EntityCategory(category=EntityCategory.CATEGORY_STATIC_OBJECT)]
    assert names(ask, categories=robots) == ["loader"]
    assert names(ask, categories=[*robots, *still], filter="r$") == ["loader"]
    tags = ["obstacle", "steel"]
    assert names(ask, tags=TagsFilter(tags=tags)) == ["kerb", "bollard"]
    assert names(ask, tags=TagsFilter(tags=tags, filter_mode=TagsFilter.FILTER_MODE_ALL)) == ["bollard"]

    def around(kind, *points):
        return names(ask, bounds=Bounds(type=kind, points=[Vector3(x=x, y=y, z=z) for x, y, z in points]))

    # the kerb is turned: it reaches from y = -2 to 2 at x = 4.9 to 5.1, up to z = 0.1
    assert around(sphere, (5.0, 2.5, 0.05), (0.51, 0.0, 0.0)) == ["kerb"]
    assert around(sphere, (5.0, 2.5, 0.05), (0.49, 0.0, 0.0)) == []
    assert around(box, (-2.95, 0.5, 2.0), (-2.85, 0.0, 0.0)) == ["bollard"]
    assert around(box, (-2.85, 0.5, 2.0), (-2.80, 0.0, 0.0)) == []
    assert around(hull, (4.5, 3.0, -1.0), (5.5, 3.0, -1.0), (5.0, 1.9, -1.0), (5.0, 1.9, 1.0)) == ["kerb"]
    assert around(hull, (4.0, 0.0, 0.04), (6.0, 1.0, 0.04), (6.0, -1.0, 0.04)) == ["kerb"]  # flat
    assert around(sphere, (0.0, 0.0, 0.0), (100.0, 0.0, 0.0)) == ["loader", "kerb", "bollard"]


@pytest.mark.parametrize(
    ("filters", "code", "words"),
    [
        ({"filter": "("}, Result.RESULT_OPERATION_FAILED, "filter '('"),
        ({"filter": "["}, Result.RESULT_OPERATION_FAILED, "filter '['"),
        ({"categories": [EntityCategory(category=3)]}, Result.RESULT_OPERATION_FAILED, "category 3"),
        ({"tags": TagsFilter(tags=["a"], filter_mode=7)}, Result.RESULT_FEATURE_UNSUPPORTED, "filter_mode 7"),
        ({"bounds": Bounds(type=9)}, Result.RESULT_FEATURE_UNSUPPORTED, "type 9"),
        ({"bounds": Bounds(type=Bounds.TYPE_BOX, points=[Vector3()])}, Result.RESULT_OPERATION_FAILED, "two corners"),
        ({"bounds": Bounds(type=Bounds.TYPE_CONVEX_HULL, points=[Vector3(x=float(n)) for n in range(4)])}, 4, "line"),
        (
            {"bounds": Bounds(type=Bounds.TYPE_SPHERE, points=[Vector3(x=math.nan), Vector3(x=1.0)])},
            Result.RESULT_OPERATION_FAILED,
            "finite",
        ),
    ],
)
def test_invalid_filters_are_refused_with_a_reason(ask, yard, filters, code, words):
    for service in ("GetEntities", "GetEntitiesStates"):
        answer = ask(service, filters=EntityFilters(**filters))
        assert answer.result.result == code
        assert words in answer.result.error_message
        assert not answer.entities


def test_states_are_in_the_world(ask, yard):
    assert ask("StepSimulation", steps=100).result.result == OK
    answer = ask("GetEntitiesStates", filters=EntityFilters(filter="er"))
    assert list(answer.entities) == ["loader", "kerb"]
    loader, kerb = answer.states
    assert loader == ask("GetEntityState", entity="loader").state or math.isnan(loader.acceleration.linear.x)
    assert loader.header.frame_id == "map"
    assert (loader.header.stamp.sec, loader.header.stamp.nanosec) == (0, 100 * STEP)
    assert (kerb.pose.position.x, kerb.pose.orientation.z) == pytest.approx((5.0, math.sqrt(0.5)))
    assert kerb.acceleration.linear.z == kerb.twist.linear.z == 0.0
    # It falls freely: after 100 steps of 1 ms at g t, by g t (t + h) / 2 below 0.5 m, whatever its joints do.
    fall = 9.81 * 0.1
    assert loader.twist.linear.z == pytest.approx(-fall, rel=0.05)  # its joints move it by some per cent of that
    assert loader.pose.position.z == pytest.approx(0.5 - 0.5 * fall * 0.101, abs=0.05 * 0.5 * fall * 0.101)
    assert math.isnan(loader.acceleration.linear.z)


def test_bounds_are_a_box_in_the_entitys_frame(ask, yard):
    for name, half in (("kerb", (2.0, 0.1, 0.05)), ("bollard", (0.1, 0.1, 0.5))):
        bounds = ask("GetEntityBounds", entity=name).bounds
        assert bounds.type == Bounds.TYPE_BOX
        upper, lower = ([point.x, point.y, point.z] for point in bounds.points)
        assert upper == pytest.approx(half)
        assert lower == pytest.approx(np.negative(half))
    upper, lower = ask("GetEntityBounds", entity="loader").bounds.points
    assert (lower.y, upper.y, lower.z) == pytest.approx((-0.4, 0.4, 0.0))  # of the chassis, the widest and lowest part


def test_entity_info_can_be_changed(ask, yard):
    info = ask("GetEntityInfo", entity="bollard").info
    assert info.category.category == EntityCategory.CATEGORY_STATIC_OBJECT
    assert list(info.tags) == ["obstacle", "steel"]
    assert "cylinder" in info.description
    human = EntityInfo(category=EntityCategory(category=EntityCategory.CATEGORY_HUMAN), description="bob", tags=["vip"])
    assert ask("SetEntityInfo", entity="bollard", info=human).result.result == OK
    assert ask("GetEntityInfo", entity="bollard").info == human
    assert names(ask, tags=TagsFilter(tags=["vip"])) == ["bollard"]
    wrong = EntityInfo(category=EntityCategory(category=3))
    assert ask("SetEntityInfo", entity="kerb", info=wrong).result.result == Result.RESULT_OPERATION_FAILED
    assert ask("ResetSimulation").result.result == OK
    assert ask("GetEntityInfo", entity="bollard").info == info


@pytest.mark.parametrize("service", ["GetEntityInfo", "GetEntityState", "GetEntityBounds", "SetEntityInfo"])
def test_unknown_entity_is_not_found(ask, yard, service):
    answer = ask(service, entity="kerbb").result
    assert answer.result == Result.RESULT_NOT_FOUND
    assert "'kerb'" in answer.error_message


def test_spawnables_list_the_machines(ask, yard, loader_file):
    answer = ask("GetSpawnables", sources=[loader_file.parent.as_uri(), "http://example.org/", "/nowhere"])
    assert answer.result.result == OK
    assert "http://example.org/" in answer.result.error_message
    assert "/nowhere" in answer.result.error_message
    found = {getattr(item, "uri", None) or item.entity_resource.uri: item for item in answer.spawnables}
    assert found["package://grouser/urdf/rover.urdf.xacro"].description.startswith("A rover with six wheels")
    assert loader_file.as_uri() in found
    assert not any("common" in uri for uri in found)


def test_worlds_are_listed_by_their_tags(ask, yard, world_file):
    answer = ask("GetAvailableWorlds", filter=TagsFilter(tags=["soft"]))
    assert answer.result.result == OK
    names = ["mixed", "obstacle_course", "quarry", "sand", "soft_slope", "yard"]
    assert [world.name for world in answer.worlds] == names
    assert answer.worlds[3].world_resource.uri == "package://grouser/config/worlds/sand.yaml"
    assert "sand" in answer.worlds[3].description

    own = [str(world_file.parent)]
    mine = ask("GetAvailableWorlds", additional_sources=own, filter=TagsFilter(tags=["test"])).worlds
    assert [(world.name, world.world_resource.uri) for world in mine] == [("yard", world_file.as_uri())]
    failed = ask("GetAvailableWorlds", additional_sources=["package://nobody/worlds", *own])
    assert failed.result.result == Result.RESULT_NOT_FOUND
    assert "nobody" in failed.result.error_message
    assert not failed.worlds
    rest = ask("GetAvailableWorlds", additional_sources=["package://nobody/worlds", *own], continue_on_error=True)
    assert rest.result.result == OK
    assert world_file.as_uri() in [world.world_resource.uri for world in rest.worlds]


def test_current_world_and_its_named_poses(ask, yard, world_file):
    world = ask("GetCurrentWorld").world
    assert (world.name, world.description, list(world.tags)) == ("yard", "A yard with a kerb.", ["test", "outdoor"])
    assert world.world_resource.uri == world_file.as_uri()
    poses = ask("GetNamedPoses").poses
    assert [pose.name for pose in poses] == ["spawn", "charger", "gate"]
    assert poses[0].pose.position.z == 0.5
    assert poses[1].pose.orientation.z == pytest.approx(math.sqrt(0.5))
    assert (poses[1].description, list(poses[1].tags)) == ("the charger", ["parking", "indoor"])
    every = TagsFilter(tags=["parking", "indoor"], filter_mode=TagsFilter.FILTER_MODE_ALL)
    assert [pose.name for pose in ask("GetNamedPoses", tags=every).poses] == ["charger"]
    some = TagsFilter(tags=["parking", "navigation_goal"])
    assert [pose.name for pose in ask("GetNamedPoses", tags=some).poses] == ["charger", "gate"]


def test_quit_is_answered_and_ends_the_process(ask, compiled, peer, launch, loader_file):
    process = launch("grouser.nodes.simulator", "--ros-args", "-p", f"machine:={loader_file}")
    peer.hear(JointState, topics.JOINT_STATES).collect(5)
    assert set_state(ask, SimulationState.STATE_QUITTING).result == OK
    output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, output
    assert "Traceback" not in output
