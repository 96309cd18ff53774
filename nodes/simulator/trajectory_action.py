"""The topic `joint_trajectory` and the action `follow_joint_trajectory` of a machine with drives."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from control_msgs.action import FollowJointTrajectory
from rclpy.action import CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from trajectory_msgs.msg import JointTrajectory

from grouser.nodes.shared import topics
from grouser.nodes.shared.deferred_action import DeferredActionServer
from grouser.nodes.shared.endpoints import Endpoints
from grouser.nodes.simulator import trajectory_messages
from grouser.nodes.simulator.trajectory_parameters import TrajectoryParameters
from grouser.physics.base.errors import ParameterError
from grouser.runtime.physics_loop import PhysicsLoop
from grouser.runtime.sampling import nanoseconds_at
from grouser.runtime.trajectory_following import Ended, Ending, Order, Progress

# There are no codes for canceled and for stopped goals: these are the ones of ros2_control's trajectory controller.
_CODES = {
    Ending.SUCCEEDED: FollowJointTrajectory.Result.SUCCESSFUL,
    Ending.CANCELED: FollowJointTrajectory.Result.SUCCESSFUL,
    Ending.PATH_VIOLATED: FollowJointTrajectory.Result.PATH_TOLERANCE_VIOLATED,
    Ending.GOAL_VIOLATED: FollowJointTrajectory.Result.GOAL_TOLERANCE_VIOLATED,
    Ending.OUTDATED: FollowJointTrajectory.Result.OLD_HEADER_TIMESTAMP,
    Ending.STOPPED: FollowJointTrajectory.Result.INVALID_GOAL,
}


class TrajectoryServer:
    """Receives trajectories, lets the physics thread follow them, and publishes their progress and results.

    An invalid goal is rejected; any other is accepted and ends with its trajectory. The physics thread reports progress
    and end by `report`; the executor's thread publishes them.

    Args:
        endpoints: of the robot.
        robot: its name in the physics loop.
        modes: joint -> mode of its drive.
        step_size: simulated time of a step [s].
        call: runs a function of the loop in the physics thread.
        refuse: takes the topic or action and the error of a message that is not valid.
        warn: takes a warning for the user.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        robot: str,
        modes: Mapping[str, str],
        step_size: float,
        call: Callable[[Callable[[PhysicsLoop], None]], object],
        refuse: Callable[[str, ParameterError], None],
        warn: Callable[[str], None],
    ) -> None:
        self._robot = robot
        self._modes = modes
        self._step_size = step_size
        self._call = call
        self._refuse = refuse
        self._warn = warn
        self._parameters = TrajectoryParameters(endpoints, [joint for joint, mode in modes.items() if mode != "effort"])
        self._goals: dict[bytes, ServerGoalHandle] = {}
        self._valid: Order
        self._news: deque[Progress | Ended] = deque()
        # All in the node's default callback group: one at a time.
        endpoints.create_subscription(JointTrajectory, topics.JOINT_TRAJECTORY, self._on_trajectory, topics.RELIABLE)
        node = endpoints.node
        self._guard = node.create_guard_condition(self._publish_news)
        endpoints.at_end(partial(node.destroy_guard_condition, self._guard))
        self._server = DeferredActionServer(
            node,
            FollowJointTrajectory,
            endpoints.name(topics.FOLLOW_JOINT_TRAJECTORY),
            lambda goal: None,
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
        )
        endpoints.at_end(self._server.destroy)

    def report(self, news: Progress | Ended) -> None:
        """Takes progress or end of a trajectory; from any thread."""
        self._news.append(news)
        self._guard.trigger()

    def _on_trajectory(self, message):
        if not message.points:
            self._call(lambda loop: loop.stop_trajectory(self._robot, "an empty trajectory was received"))
            return
        try:
            trajectory = trajectory_messages.joint_trajectory(message, self._modes, self._parameters.may_end_moving)
        except ParameterError as error:
            self._refuse(topics.JOINT_TRAJECTORY, error)
            return
        order = Order(trajectory, self._parameters.tolerances(trajectory.joints))
        self._call(lambda loop: loop.follow(self._robot, order))

    def _on_goal(self, goal):
        try:
            trajectory = trajectory_messages.goal_trajectory(goal, self._modes, self._parameters.may_end_moving)
            defaults = self._parameters.tolerances(trajectory.joints)
            tolerances = trajectory_messages.goal_tolerances(goal, defaults)
        except ParameterError as error:
            self._refuse(topics.FOLLOW_JOINT_TRAJECTORY, error)
            return GoalResponse.REJECT
        self._valid = Order(trajectory, tolerances, report_interval=self._parameters.report_interval)
        return GoalResponse.ACCEPT

    def _on_accepted(self, goal):
        ticket = bytes(goal.goal_id.uuid)
        order = replace(self._valid, ticket=ticket)
        self._goals[ticket] = goal
        goal.execute()
        self._call(lambda loop: loop.follow(self._robot, order))

    def _on_cancel(self, goal):
        ticket = bytes(goal.goal_id.uuid)
        self._call(lambda loop: loop.cancel_trajectory(self._robot, ticket))
        return CancelResponse.ACCEPT

    def _publish_news(self):
        """Sends feedback and results; in the executor's thread."""
        while self._news:
            news = self._news.popleft()
            if isinstance(news, Progress):
                stamp = nanoseconds_at(news.step, self._step_size)
                self._goals[news.ticket].publish_feedback(trajectory_messages.feedback(news, stamp))
            elif news.ticket is not None:
                self._server.notify_execute(self._goals.pop(news.ticket), partial(_finish, news))
            elif news.ending is not Ending.SUCCEEDED:
                self._warn(f"{topics.JOINT_TRAJECTORY} ended: {news.text}")


def _finish(ended, goal):
    """Sets the final state of a goal; returns its result."""
    if ended.ending is Ending.SUCCEEDED:
        goal.succeed()
    elif ended.ending is Ending.CANCELED:
        goal.canceled()
    else:
        goal.abort()
    return FollowJointTrajectory.Result(error_code=_CODES[ended.ending], error_string=ended.text)
