"""The excavator digs by its program in level soil, beside it perhaps the bed of a truck that it loads."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.catalogue import machine_file, program_file
from grouser.experiments.protocol import Parameter, positive
from grouser.experiments.soil_bins import SOIL, make_world
from grouser.function_blocks.diagram import Diagram
from grouser.function_blocks.reader import load_control_program
from grouser.function_blocks.run import DiagramRun
from grouser.physics.description import load_machine
from grouser.physics.description.data.machine import Member
from grouser.physics.description.data.pose import Pose
from grouser.physics.readings.bucket_load import BucketLoad
from grouser.physics.simulation.transfer import simulate
from grouser.resources import share_path

# Soil that the excavator digs, and the step.
DIG = {
    **SOIL,
    "density": positive(1600.0, "kg/m3", "of undisturbed soil"),
    "cohesion": Parameter(2e3, "Pa", "c: faces of undisturbed soil stand by it", minimum=0.0),
    "step": Parameter(1e-3, "s", "of time", minimum=2e-4, maximum=0.004),
}
# Where the program dumps [m].
DUMP = (1.05, 2.0)
BUCKET, BED = "excavator/bucket", "truck/bed"
_LONGEST = 40.0  # that a pass may take [s]


class ExcavatorRig:
    """The excavator in level soil.

    Args:
        parameters: `DIG`.
        bed: length, width and depth of the bed of a truck where the excavator dumps, and height of its rim [m]; None:
            it dumps on the ground.

    Attributes:
        simulation: machines and soil.
        seconds: processor time of the steps [s].
    """

    def __init__(self, parameters: Mapping[str, Any], bed: tuple[float, float, float, float] | None = None):
        members = {"excavator": Member(load_machine(machine_file("excavator")))}
        if bed is not None:
            sizes = dict(zip(("length", "width", "depth", "rim_height"), map(str, bed), strict=True))
            truck = load_machine(share_path("urdf", "objects", "dump_bed.urdf.xacro"), sizes)
            members["truck"] = Member(truck, Pose((DUMP[0], DUMP[1], bed[-1])))
        self.seconds = 0.0
        self.simulation = simulate(members, make_world(parameters), parameters["step"])
        self._excavator = self.simulation.part("excavator")
        program = load_control_program(program_file("excavator_trench"))
        assert isinstance(program, Diagram)
        self._run = DiagramRun(program, self._excavator.signals)
        self._cycle = round(program.cycle / parameters["step"])

    @property
    def truck_load(self) -> BucketLoad:
        """What lies in the bed."""
        return self.simulation.bucket_load(BED)

    @property
    def truck_capacity(self) -> float:
        """Loose volume that the level bed holds [m3]."""
        return float(self.simulation.arrays.system.digging.holds[-1].max())

    def dig(self, passes: int) -> dict[str, np.ndarray]:
        """Digs and dumps.

        Returns:
            At each cycle of the program: time [s]; solid mass above level ground, in shovels, in the air, in lumps, and
            in the bucket [kg]; force of the soil on the bucket [N]; and whether it dumps.
        """
        rows: list[tuple[float, ...]] = []
        most, dumps = round(_LONGEST * passes / (self._cycle * self.simulation.step_size)), 0
        while dumps < passes and len(rows) < most:
            self._excavator.command.update(self._run.execute({}))
            self._step(self._cycle)
            dumping = bool(self._run.values["cycle.dump"])
            dumps += bool(rows) and bool(rows[-1][-1]) and not dumping
            rows.append((*self._state(), dumping))
        names = "time", "field", "carried", "falling", "lumps", "bucket", "force", "dumps"
        return dict(zip(names, np.array(rows, dtype=float).T, strict=True))

    def _state(self) -> tuple[float, ...]:
        """Time, masses and force now."""
        simulation = self.simulation
        balance = simulation.soil_balance()
        assert balance is not None
        force = float(np.linalg.norm(simulation.digging_force(BUCKET).force_world))
        load = simulation.bucket_load(BUCKET).mass
        return simulation.time, balance.field, balance.carried, balance.falling, balance.lumps, load, force

    def wait(self, duration: float) -> None:
        """Stands for a time [s]."""
        self._excavator.command.update(dict.fromkeys(self._run.plan.commands, 0.0))
        self._step(round(duration / self.simulation.step_size))

    def _step(self, count: int) -> None:
        begun = time.process_time()
        self.simulation.step(count)
        self.seconds += time.process_time() - begun
