"""Whole steps of the excavator and the rover, on a plane and on rough ground, at rest and moving, beside MuJoCo.

MuJoCo solves its soft contacts by Newton's method and, at rest, needs a single iteration: that is its best case, so
that the moving cases are the ones to look at.
"""

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.benchmarks.figure import Figure
from grouser.benchmarks.peers import require, source_file
from grouser.benchmarks.stepping import MACHINES, MOTIONS, START_HEIGHT, STEP, Grouser, compare
from grouser.physics.description.data.world import Heightfield

DESCRIPTION = "one step of 1 ms, excavator and rover, on rough ground too, at rest and moving, beside MuJoCo"

_CELL = 0.2  # of the rough ground [m]
_ORIGIN = (-5.0, -5.0)
_VERTICES = (201, 51)  # 40 m by 10 m: the rover drives through the middle and ends well before the border
_WAVES = ((0.9, 0.4, 0.03), (-0.7, 1.3, 0.03), (2.1, -1.1, 0.02))  # [rad/m], [rad/m], [m]
_BUMPS = 0.02  # [m]


def run() -> list[Figure]:
    """Measures six cases."""
    mujoco = require("mujoco")
    figures: list[Figure] = []
    for name in MACHINES:
        figures.extend(compare(name, Grouser(name), MuJoCo.of(mujoco, name), MOTIONS[name]))
    field = rough_ground()
    height = START_HEIGHT["rover"] + float(field.heights.max())
    ours, peer = Grouser("rover", field, height), MuJoCo(mujoco, model_on_field(mujoco, field, height))
    figures.extend(compare("rover, rough", ours, peer, MOTIONS["rover"]))
    return figures


def rough_ground() -> Heightfield:
    """Gentle waves with random bumps on them, the same in each run."""
    x, y = (_ORIGIN[k] + _CELL * np.arange(_VERTICES[k]) for k in range(2))
    heights = _BUMPS * np.random.default_rng(3).uniform(size=_VERTICES)
    for along, across, height in _WAVES:
        heights += height * np.sin(along * x[:, None] + across * y[None, :])
    return Heightfield(heights - np.min(heights), _CELL, _ORIGIN)


def model_on_field(mujoco: Any, field: Heightfield, height: float) -> Any:
    """MuJoCo's model of the rover, its base at a height [m] and its floor replaced by a height field."""
    root = ElementTree.parse(source_file("test", "data", "models", "rover.xml")).getroot()
    n_x, n_y = field.heights.shape
    half = [0.5 * field.cell * (number - 1) for number in (n_x, n_y)]
    size = f"{half[0]} {half[1]} {field.heights.max()} 1"
    ElementTree.SubElement(
        ElementTree.SubElement(root, "asset"), "hfield", name="rough", nrow=str(n_y), ncol=str(n_x), size=size
    )
    floor, base = root.find("./worldbody/geom[@name='floor']"), root.find("./worldbody/body")
    assert floor is not None and base is not None
    place = f"{field.origin[0] + half[0]} {field.origin[1] + half[1]} 0"
    floor.attrib.update(type="hfield", hfield="rough", pos=place)
    del floor.attrib["size"]
    base.set("pos", f"0 0 {height}")
    model = mujoco.MjModel.from_xml_string(ElementTree.tostring(root, "unicode"))
    model.hfield_data[:] = (field.heights.T / field.heights.max()).ravel()
    return model


class MuJoCo:
    """A stepper of MuJoCo; joint j_x has actuator a_x."""

    def __init__(self, mujoco: Any, model: Any):
        assert model.opt.timestep == STEP
        self.name = f"MuJoCo {mujoco.__version__}"
        self._mujoco, self._model, self._data = mujoco, model, mujoco.MjData(model)
        joints = [model.joint(number) for number in range(model.njnt)]
        self._joints = {joint.name: int(joint.qposadr[0]) for joint in joints if joint.name}
        # By number: four look-ups of names take a third of a step.
        self._actuators = {f"j{model.actuator(number).name[1:]}": number for number in range(model.nu)}

    @classmethod
    def of(cls, mujoco: Any, machine: str) -> "MuJoCo":
        """A machine of test/data/models on its plane."""
        path = source_file("test", "data", "models", f"{machine}.xml")
        return cls(mujoco, mujoco.MjModel.from_xml_path(str(path)))

    @property
    def time(self) -> float:
        """Simulated so far [s]."""
        return self._data.time

    def step(self, count: int) -> None:
        """Makes steps."""
        self._mujoco.mj_step(self._model, self._data, nstep=count)

    @property
    def control(self) -> np.ndarray:
        """Commands of the actuators by number; may be written to."""
        return self._data.ctrl

    def command(self, values: Mapping[str, float]) -> None:
        """Commands actuators."""
        for joint, value in values.items():
            self._data.ctrl[self._actuators[joint]] = value

    def base_position(self) -> np.ndarray:
        """Of the base in the world [m]."""
        return np.array(self._data.qpos[:3])

    def joint_positions(self) -> Mapping[str, float]:
        """Of every joint [rad]."""
        return {name: float(self._data.qpos[at]) for name, at in self._joints.items()}

    def fastest(self) -> float:
        """Greatest rate of a coordinate now [rad/s or m/s]."""
        return float(np.abs(self._data.qvel).max())

    def effort(self) -> int:
        """Iterations of the solver in the last step."""
        return int(self._data.solver_niter[0])

    def conditions(self) -> Mapping[str, float | int | str]:
        """Settings of the solver."""
        return {
            "MuJoCo's contacts": int(self._data.ncon),
            "MuJoCo's tolerance": float(self._model.opt.tolerance),
            "MuJoCo's friction cones": self._mujoco.mjtCone(self._model.opt.cone).name.removeprefix("mjCONE_").lower(),
        }
