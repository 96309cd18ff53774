"""Whole steps of the excavator and the rover, at rest and moving, beside PyBullet with 50 iterations."""

import ctypes
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import numpy as np

from grouser.benchmarks.figure import Figure, cpu_time
from grouser.benchmarks.peers import require, source_file
from grouser.benchmarks.stepping import MACHINES, MOTIONS, START_HEIGHT, STEP, Grouser, compare, load
from grouser.physics.description.data.world import Ground

DESCRIPTION = "one step of 1 ms, excavator and rover, at rest and moving, beside PyBullet"

_ITERATIONS = 50
_EMPTY_STEPS = 2000
_STRONG = 1e9  # limit of the drives' forces [N m]: none


def run() -> list[Figure]:
    """Measures four cases."""
    with standard_output_to_error():
        bullet = require("pybullet")
    figures: list[Figure] = []
    for name in MACHINES:
        figures.extend(compare(name, Grouser(name), PyBullet(bullet, name), MOTIONS[name]))
    return figures


class PyBullet:
    """A stepper of PyBullet, with motors of its own: constraints that hold at any load.

    They close the same share of a position error in a step as grouser's drives, which yield under load. Motors that
    close more of it jerk the machine with each command, so that its tracks slip, and the two motions differ.
    """

    def __init__(self, bullet: Any, machine: str):
        self._bullet = bullet
        self._client = bullet.connect(bullet.DIRECT)
        self._steps = 0
        self.name = f"PyBullet {version('pybullet')}"
        bullet.setGravity(0.0, 0.0, -9.81, physicsClientId=self._client)
        bullet.setPhysicsEngineParameter(
            fixedTimeStep=STEP, numSolverIterations=_ITERATIONS, numSubSteps=0, physicsClientId=self._client
        )
        self._empty = cpu_time(lambda: self.step(_EMPTY_STEPS)) / _EMPTY_STEPS
        self._steps = 0
        plane = bullet.createCollisionShape(bullet.GEOM_PLANE, physicsClientId=self._client)
        ground = bullet.createMultiBody(0, plane, physicsClientId=self._client)
        bullet.changeDynamics(ground, -1, lateralFriction=1.0, physicsClientId=self._client)
        self._machine = bullet.loadURDF(
            str(source_file("test", "data", "models", f"{machine}.urdf")),
            (0.0, 0.0, START_HEIGHT[machine]),
            flags=bullet.URDF_USE_INERTIA_FROM_FILE,
            physicsClientId=self._client,
        )
        # Not in the URDF.
        ours = load(machine)
        number = bullet.getNumJoints(self._machine, physicsClientId=self._client)
        names = [bullet.getJointInfo(self._machine, k, physicsClientId=self._client)[1].decode() for k in range(number)]
        self._joints = {name: k for k, name in enumerate(names)}
        for link in range(-1, number):
            # the two bodies' coefficients are multiplied
            self._change(
                link, lateralFriction=Ground().friction, linearDamping=0.0, angularDamping=0.0, jointDamping=0.0
            )
        for friction in ours.frictions:
            joint = self._joints[friction.joint]
            self._motor(joint, bullet.VELOCITY_CONTROL, targetVelocity=0.0, force=0.0)
            self._change(joint, jointDamping=friction.viscous)
        positioned = [drive for drive in ours.drives if drive.mode == "position"]
        self._gains = {drive.joint: STEP * drive.stiffness / drive.damping for drive in positioned}
        self.command(dict.fromkeys((drive.joint for drive in ours.drives), 0.0))
        self._centre = np.array(bullet.getDynamicsInfo(self._machine, -1, physicsClientId=self._client)[3])

    def _change(self, link, **values):
        self._bullet.changeDynamics(self._machine, link, **values, physicsClientId=self._client)

    def _motor(self, joint, mode, **values):
        self._bullet.setJointMotorControl2(self._machine, joint, mode, **values, physicsClientId=self._client)

    @property
    def time(self) -> float:
        """Simulated so far [s]."""
        return self._steps * STEP

    def step(self, count: int) -> None:
        """Makes steps, a call for each."""
        step, client = self._bullet.stepSimulation, self._client
        for _ in range(count):
            step(client)
        self._steps += count

    def command(self, values: Mapping[str, float]) -> None:
        """Commands motors."""
        for name, value in values.items():
            joint, gain = self._joints[name], self._gains.get(name)
            if gain is None:
                self._motor(joint, self._bullet.VELOCITY_CONTROL, targetVelocity=value, force=_STRONG)
            else:
                mode = self._bullet.POSITION_CONTROL
                self._motor(joint, mode, targetPosition=value, positionGain=gain, force=_STRONG)

    def base_position(self) -> np.ndarray:
        """Of the base link's frame in the world [m]."""
        position, turn = self._bullet.getBasePositionAndOrientation(self._machine, physicsClientId=self._client)
        rotation = np.array(self._bullet.getMatrixFromQuaternion(turn)).reshape(3, 3)
        return np.array(position) - rotation @ self._centre

    def joint_positions(self) -> Mapping[str, float]:
        """Of every joint [rad]."""
        return {name: self._joint_state(joint)[0] for name, joint in self._joints.items()}

    def _joint_state(self, joint):
        return self._bullet.getJointState(self._machine, joint, physicsClientId=self._client)

    def fastest(self) -> float:
        """Greatest rate of a coordinate now [rad/s or m/s]."""
        base = self._bullet.getBaseVelocity(self._machine, physicsClientId=self._client)
        rates = [self._joint_state(joint)[1] for joint in self._joints.values()]
        return float(np.abs([*base[0], *base[1], *rates]).max())

    def effort(self) -> int:
        """Iterations of the solver: always the same."""
        return _ITERATIONS

    def conditions(self) -> Mapping[str, float | int | str]:
        """Settings of the solver."""
        return {
            "PyBullet's drives": "rigid; those of grouser yield under load",
            "PyBullet's contacts": len(self._bullet.getContactPoints(self._machine, physicsClientId=self._client)),
            "PyBullet's step of an empty world, its call from Python included [µs]": 1e6 * self._empty,
        }


@contextmanager
def standard_output_to_error() -> Iterator[None]:
    """Redirects the output of a peer's C library to the standard error: PyBullet prints when it is imported."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
        ctypes.CDLL(None).fflush(None)
    finally:
        os.dup2(kept, 1)
        os.close(kept)
