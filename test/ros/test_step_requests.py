"""What ends a long request for steps, over DDS."""

import pytest
from geometry_msgs.msg import PoseStamped
from patience import DEADLINE
from simulation_interfaces import srv
from simulation_interfaces.msg import Result, SimulationState

OK = Result.RESULT_OK
BALL = """<robot name="ball"><link name="ball">
  <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><sphere radius="0.1"/></geometry></collision>
</link></robot>"""


def entities(ask):
    return list(ask("GetEntities").entities)


@pytest.fixture
def yard(start_simulator):
    return start_simulator(start_paused=True)


@pytest.fixture
def begin_steps(ask, peer, yard):
    """Requests more steps than can be made, and waits for the first of them; returns their future answer."""

    def begin():
        client = peer.node.create_client(srv.StepSimulation, "/simulator/step_simulation")
        assert client.wait_for_service(DEADLINE)
        answer = client.call_async(srv.StepSimulation.Request(steps=10**9))
        peer.wait_for(lambda: ask("GetEntityState", entity="loader").state.header.stamp.nanosec, "steps under way")
        return answer

    return begin


def cause_of_end(peer, answer):
    peer.wait_for(answer.done, "the end of the steps")
    assert answer.result().result.result == Result.RESULT_OPERATION_FAILED
    return answer.result().result.error_message.partition("ended by ")[2]


def test_pause_of_a_paused_simulation_ends_its_steps(ask, peer, begin_steps):
    answer = begin_steps()
    state = SimulationState(state=SimulationState.STATE_PAUSED)
    assert ask("GetSimulationState").state.state == SimulationState.STATE_PAUSED
    assert ask("SetSimulationState", state=state).result.result == OK
    assert cause_of_end(peer, answer) == "a pause"
    again = ask("SetSimulationState", state=state).result.result
    assert again == srv.SetSimulationState.Response.ALREADY_IN_TARGET_STATE


@pytest.mark.parametrize("scope", ["SCOPE_DEFAULT", "SCOPE_SPAWNED", "SCOPE_ALL"])
def test_reset_with_spawned_entities_ends_steps(ask, peer, begin_steps, scope):
    fields = srv.SpawnEntity.Request.get_fields_and_field_types()
    resource = {"resource_string": BALL}
    if "entity_resource" in fields:
        resource = {"entity_resource": type(srv.SpawnEntity.Request().entity_resource)(**resource)}
    aside = PoseStamped()
    aside.pose.position.y = 9.0
    assert ask("SpawnEntity", name="ball", initial_pose=aside, **resource).result.result == OK
    assert "ball" in entities(ask)
    answer = begin_steps()
    reset = ask("ResetSimulation", scope=getattr(srv.ResetSimulation.Request, scope)).result
    assert reset.result == OK, reset.error_message
    assert cause_of_end(peer, answer) == "a reset"
    assert "ball" not in entities(ask)
