"""grouser simulates working machines for ROS 2: mechanisms, hydraulics, contact, wheels on soil.

`__all__` is the Python interface (docs/python.md). Its names are imported on first use: `import grouser` is
fast.


    machine = grouser.load_machine("demolition_robot")
    simulation = grouser.Simulation(machine, grouser.load_world("flat"))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grouser.identification.reading import load_identification
    from grouser.loading import load_machine, load_world
    from grouser.physics.base.errors import (
        BusyError,
        ConvergenceError,
        DivergenceError,
        GrouserError,
        MachineError,
        ParameterError,
    )
    from grouser.physics.description import load_soil
    from grouser.physics.description.data.blocks import (
        BlockMaterial,
        Blocks,
        BlockWall,
        ConvexSolid,
        Interface,
        LooseBlock,
    )
    from grouser.physics.description.data.closed_mesh import ClosedMesh
    from grouser.physics.description.data.clump import ClumpShape
    from grouser.physics.description.data.granular import (
        GrainEmitter,
        GrainFill,
        GrainMaterial,
        GrainPair,
        GrainSink,
        GranularMedia,
        ObstacleVibration,
        Surface,
    )
    from grouser.physics.description.data.machine import Machine, Member
    from grouser.physics.description.data.pose import Pose
    from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Mesh, Sphere
    from grouser.physics.description.data.soil import Soil, SoilGround
    from grouser.physics.description.data.world import Ground, Heightfield, Obstacle, World
    from grouser.physics.description.machine_file.fleet import combine
    from grouser.physics.granular.grain_rows import Grains
    from grouser.physics.simulation.pushes import Push
    from grouser.physics.simulation.simulation import Simulation
    from grouser.physics.simulation.transfer import carry_over
    from grouser.studies.attitude.body import RigidBody
    from grouser.studies.attitude.motion import simulate_body
    from grouser.studies.attitude.spherical import simulate_pendulum
    from grouser.studies.friction.system import DryFriction, FrictionSystem, VariableLimit
    from grouser.sweeps.reading import load_sweep
    from grouser.sweeps.running import run_sweep

__version__ = "0.1.0"

__all__ = [
    "BlockMaterial",
    "BlockWall",
    "Blocks",
    "Box",
    "BusyError",
    "Capsule",
    "ClosedMesh",
    "ClumpShape",
    "ConvergenceError",
    "ConvexSolid",
    "Cylinder",
    "DivergenceError",
    "DryFriction",
    "FrictionSystem",
    "GrainEmitter",
    "GrainFill",
    "GrainMaterial",
    "GrainPair",
    "GrainSink",
    "Grains",
    "GranularMedia",
    "Ground",
    "GrouserError",
    "Heightfield",
    "Interface",
    "LooseBlock",
    "Machine",
    "MachineError",
    "Member",
    "Mesh",
    "Obstacle",
    "ObstacleVibration",
    "ParameterError",
    "Pose",
    "Push",
    "RigidBody",
    "Simulation",
    "Soil",
    "SoilGround",
    "Sphere",
    "Surface",
    "VariableLimit",
    "World",
    "__version__",
    "carry_over",
    "combine",
    "load_identification",
    "load_machine",
    "load_soil",
    "load_sweep",
    "load_world",
    "run_sweep",
    "simulate_body",
    "simulate_pendulum",
]

_HOMES = {
    "BlockMaterial": "grouser.physics.description.data.blocks",
    "BlockWall": "grouser.physics.description.data.blocks",
    "Blocks": "grouser.physics.description.data.blocks",
    "Box": "grouser.physics.description.data.shapes",
    "BusyError": "grouser.physics.base.errors",
    "Capsule": "grouser.physics.description.data.shapes",
    "ClosedMesh": "grouser.physics.description.data.closed_mesh",
    "ClumpShape": "grouser.physics.description.data.clump",
    "ConvergenceError": "grouser.physics.base.errors",
    "ConvexSolid": "grouser.physics.description.data.blocks",
    "Cylinder": "grouser.physics.description.data.shapes",
    "DivergenceError": "grouser.physics.base.errors",
    "DryFriction": "grouser.studies.friction.system",
    "FrictionSystem": "grouser.studies.friction.system",
    "GrainEmitter": "grouser.physics.description.data.granular",
    "GrainFill": "grouser.physics.description.data.granular",
    "GrainMaterial": "grouser.physics.description.data.granular",
    "GrainPair": "grouser.physics.description.data.granular",
    "GrainSink": "grouser.physics.description.data.granular",
    "Grains": "grouser.physics.granular.grain_rows",
    "GranularMedia": "grouser.physics.description.data.granular",
    "Ground": "grouser.physics.description.data.world",
    "GrouserError": "grouser.physics.base.errors",
    "Heightfield": "grouser.physics.description.data.world",
    "Interface": "grouser.physics.description.data.blocks",
    "LooseBlock": "grouser.physics.description.data.blocks",
    "Machine": "grouser.physics.description.data.machine",
    "MachineError": "grouser.physics.base.errors",
    "Member": "grouser.physics.description.data.machine",
    "Mesh": "grouser.physics.description.data.shapes",
    "Obstacle": "grouser.physics.description.data.world",
    "ObstacleVibration": "grouser.physics.description.data.granular",
    "ParameterError": "grouser.physics.base.errors",
    "Pose": "grouser.physics.description.data.pose",
    "Push": "grouser.physics.simulation.pushes",
    "RigidBody": "grouser.studies.attitude.body",
    "Simulation": "grouser.physics.simulation.simulation",
    "Soil": "grouser.physics.description.data.soil",
    "SoilGround": "grouser.physics.description.data.soil",
    "Sphere": "grouser.physics.description.data.shapes",
    "Surface": "grouser.physics.description.data.granular",
    "VariableLimit": "grouser.studies.friction.system",
    "World": "grouser.physics.description.data.world",
    "carry_over": "grouser.physics.simulation.transfer",
    "combine": "grouser.physics.description.machine_file.fleet",
    "load_identification": "grouser.identification.reading",
    "load_machine": "grouser.loading",
    "load_soil": "grouser.physics.description",
    "load_sweep": "grouser.sweeps.reading",
    "load_world": "grouser.loading",
    "run_sweep": "grouser.sweeps.running",
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
