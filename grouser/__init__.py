"""grouser simulates working machines for ROS 2: mechanisms, hydraulics, contact, wheels on soil.

`__all__` is the Python interface. Its names are imported on first use, so that `import grouser` is fast:

    machine = grouser.load_machine("urdf/demolition_robot.urdf.xacro")
    simulation = grouser.Simulation(machine, grouser.load_world("config/worlds/flat.yaml"))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grouser.physics.base.errors import (
        BusyError,
        ConvergenceError,
        DivergenceError,
        GrouserError,
        MachineError,
        ParameterError,
    )
    from grouser.physics.description import load_machine, load_soil, load_world
    from grouser.physics.description.data.machine import Machine, Member
    from grouser.physics.description.data.pose import Pose
    from grouser.physics.description.data.world import World
    from grouser.physics.description.machine_file.fleet import combine
    from grouser.physics.simulation.pushes import Push
    from grouser.physics.simulation.simulation import Simulation
    from grouser.physics.simulation.transfer import carry_over
    from grouser.studies.attitude.body import RigidBody
    from grouser.studies.attitude.motion import simulate_body
    from grouser.studies.attitude.spherical import simulate_pendulum
    from grouser.studies.friction.system import DryFriction, FrictionSystem, VariableLimit

__version__ = "0.1.0"

__all__ = [
    "BusyError",
    "ConvergenceError",
    "DivergenceError",
    "DryFriction",
    "FrictionSystem",
    "GrouserError",
    "Machine",
    "MachineError",
    "Member",
    "ParameterError",
    "Pose",
    "Push",
    "RigidBody",
    "Simulation",
    "VariableLimit",
    "World",
    "__version__",
    "carry_over",
    "combine",
    "load_machine",
    "load_soil",
    "load_world",
    "simulate_body",
    "simulate_pendulum",
]

_HOMES = {
    "BusyError": "grouser.physics.base.errors",
    "ConvergenceError": "grouser.physics.base.errors",
    "DryFriction": "grouser.studies.friction.system",
    "FrictionSystem": "grouser.studies.friction.system",
    "VariableLimit": "grouser.studies.friction.system",
    "DivergenceError": "grouser.physics.base.errors",
    "GrouserError": "grouser.physics.base.errors",
    "Machine": "grouser.physics.description.data.machine",
    "MachineError": "grouser.physics.base.errors",
    "Member": "grouser.physics.description.data.machine",
    "ParameterError": "grouser.physics.base.errors",
    "Pose": "grouser.physics.description.data.pose",
    "Push": "grouser.physics.simulation.pushes",
    "RigidBody": "grouser.studies.attitude.body",
    "Simulation": "grouser.physics.simulation.simulation",
    "World": "grouser.physics.description.data.world",
    "carry_over": "grouser.physics.simulation.transfer",
    "combine": "grouser.physics.description.machine_file.fleet",
    "load_machine": "grouser.physics.description",
    "load_soil": "grouser.physics.description",
    "load_world": "grouser.physics.description",
    "simulate_body": "grouser.studies.attitude.motion",
    "simulate_pendulum": "grouser.studies.attitude.spherical",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'grouser' has no attribute '{name}'")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
