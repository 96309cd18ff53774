"""Tolerances of trajectories as parameters, with the names of ros2_control's trajectory controller."""

import math
from collections.abc import Sequence

import numpy as np

from grouser.nodes.shared.endpoints import Endpoints
from grouser.nodes.shared.parameters import Declaration
from grouser.runtime.trajectory import Tolerance, Tolerances

_GOAL_TIME = "constraints.goal_time"
_STOPPED = "constraints.stopped_velocity_tolerance"
_MONITOR_RATE = "action_monitor_rate"
_END_MOVING = "allow_nonzero_velocity_at_trajectory_end"
_OF_JOINTS = {
    "trajectory": "How far {} may be off its trajectory on the way [rad or m]; 0: as far as it likes.",
    "goal": "How far {} may be off its trajectory's end [rad or m]; 0: as far as it likes.",
}


def declarations(joints: Sequence[str]) -> dict[str, Declaration]:
    """The parameters for the joints of a machine, by name."""

    def limit(default: float, description: str, lowest: float = 0.0, highest: float = 1e6) -> Declaration:
        return Declaration(default, description, False, lowest, highest)

    return {
        _GOAL_TIME: limit(0.0, "How long after a trajectory's end its goal may be reached [s]; 0: any time."),
        _STOPPED: limit(0.01, "Speed below which a joint stands at its goal [rad/s or m/s]; 0: any speed."),
        _MONITOR_RATE: limit(
            20.0, "Rate of the feedback of follow_joint_trajectory [Hz of simulation time].", 0.1, 1e4
        ),
        _END_MOVING: Declaration(False, "Whether a trajectory may end with a velocity that is not zero.", False),
        **{
            f"constraints.{joint}.{what}": limit(0.0, description.format(joint))
            for joint in joints
            for what, description in _OF_JOINTS.items()
        },
    }


class TrajectoryParameters:
    """Declares the parameters and reads their present values.

    Args:
        endpoints: of the robot; its namespace comes before the parameters' names.
        joints: that trajectories may move.

    Raises:
        GrouserError: a parameter was set to a value of the wrong type, or out of its range.
    """

    def __init__(self, endpoints: Endpoints, joints: Sequence[str]) -> None:
        self._endpoints = endpoints
        endpoints.declare(declarations(joints))

    @property
    def may_end_moving(self) -> bool:
        """Whether a trajectory may end with a velocity that is not zero."""
        return self._value(_END_MOVING)

    @property
    def report_interval(self) -> float:
        """Between two messages of feedback [s of simulation time]."""
        return 1.0 / self._value(_MONITOR_RATE)

    def tolerances(self, joints: Sequence[str]) -> Tolerances:
        """Default tolerances of some joints."""

        def allowed(what):
            return np.array([self._allowed(f"constraints.{joint}.{what}") for joint in joints])

        return Tolerances(
            Tolerance(allowed("trajectory"), np.full(len(joints), math.inf)),
            Tolerance(allowed("goal"), np.full(len(joints), self._allowed(_STOPPED))),
            self._allowed(_GOAL_TIME),
        )

    def _value(self, name):
        return self._endpoints.value(name)

    def _allowed(self, name):
        return self._value(name) or math.inf
