"""Environments for reinforcement learning, by Gymnasium's interface (docs/gymnasium.md).

Importing this registers them: ``gymnasium.make("grouser/HydraulicLift-v0")``, and
``gymnasium.make_vec("grouser/HydraulicLift-v0", num_envs=16)`` for copies that step in compiled code on all cores.
"""

try:
    import gymnasium
except ImportError as error:
    raise ImportError('the environments need gymnasium: pip install "grouser[envs]"') from error

from functools import partial
from typing import Any

from grouser.envs.demolition_reach import DemolitionReach
from grouser.envs.excavator_trench import ExcavatorTrench
from grouser.envs.hydraulic_lift import HydraulicLift
from grouser.envs.machine_env import MachineEnv
from grouser.envs.machine_vector_env import MachineVectorEnv
from grouser.envs.rover_goal import RoverGoal
from grouser.envs.task import Episode, Outcome, Quantity, Task

__all__ = [
    "TASKS",
    "DemolitionReach",
    "Episode",
    "ExcavatorTrench",
    "HydraulicLift",
    "MachineEnv",
    "MachineVectorEnv",
    "Outcome",
    "Quantity",
    "RoverGoal",
    "Task",
]

# By the names of the environments.
TASKS: dict[str, type[Task]] = {
    "grouser/HydraulicLift-v0": HydraulicLift,
    "grouser/DemolitionReach-v0": DemolitionReach,
    "grouser/RoverGoal-v0": RoverGoal,
    "grouser/ExcavatorTrench-v0": ExcavatorTrench,
}


def _make(task: type[Task], **options: Any) -> MachineEnv:
    return MachineEnv(task(), **options)


def _make_vector(task: type[Task], num_envs: int = 1, **options: Any) -> MachineVectorEnv:
    return MachineVectorEnv(task(), num_envs, **options)


for _name, _task in TASKS.items():
    gymnasium.register(
        _name,
        entry_point=partial(_make, _task),
        vector_entry_point=partial(_make_vector, _task),
        max_episode_steps=_task.most_steps,
    )
