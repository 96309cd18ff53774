"""A pressure limiter as an FMU drives the hydraulic lift, or the lift as an FMU is driven by one: bits are compared.

Each communication step sets the inputs of the FMU, steps it, and gets its outputs. The machine obeys the outputs in the
next step: the loop has one communication step of delay. The comparison is the same law in Python with the same delay.
"""

import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from grouser.bridges.fmu.build import build_pressure_limiter
from grouser.bridges.fmu.description import FmuDescription, read_description
from grouser.bridges.fmu.machine_model import MachineSetup, Port, build_machine_fmu
from grouser.bridges.fmu.process import FmuDiscardedError, FmuFailedError, FmuProcess
from grouser.bridges.simulation_plant import SimulationPlant
from grouser.experiments import hydraulic_lift
from grouser.experiments.drawing import Reference, zoom
from grouser.experiments.protocol import Parameter, Result, count_steps, positive
from grouser.experiments.schedule import schedule_value
from grouser.physics.base.errors import ParameterError
from grouser.physics.description import load_machine, load_world
from grouser.physics.simulation.simulation import Simulation
from grouser.resources import share_path

DESCRIPTION = "a controller as an FMU drives the lift, or the lift is an FMU; compared to the last bit"

PARAMETERS = {
    "fmi": Parameter(2, "-", "version of FMI", choices=(2, 3)),
    "direction": Parameter("in", "-", "in: the controller is an FMU; out: the machine is one", choices=("in", "out")),
    "fmu": Parameter("", "-", "path of a controller with wish, pressure and command; empty: the pressure limiter"),
    "limit": positive(3.0e6, "Pa", "pressure at which the limiter takes the whole command back"),
    "band": positive(1.0e6, "Pa", "below the limit, over which it does so"),
    "communication_step": positive(0.001, "s", "between two exchanges, a multiple of the step"),
    "own_process": Parameter(True, "-", "whether the FMU runs in a process of its own"),
    **hydraulic_lift.PARAMETERS,
}

_COMMAND, _PRESSURE = "valve/lift_valve", "hydraulics/lift/pressure_piston_side"
# Results and the signals that they are.
_MEASURED = {
    "position": "joint/lift/position",
    "velocity": "joint/lift/velocity",
    "pressure_piston_side": _PRESSURE,
}
_UNITS = {
    "time": "s",
    "position": "m",
    "velocity": "m/s",
    "pressure_piston_side": "Pa",
    "command": "-",
    "delay_steps": "-",
    "step_time_p50": "s",
    "step_time_p99": "s",
    "max_difference": "-",
}
# [s] of wall time for a step: of a controller, and of a machine, which may have to be compiled first.
_DEADLINES = {"in": 5.0, "out": 600.0}
_DELAY_MOST = 5
_HELD_STEPS = 2.5  # communication steps after which a command that no step confirmed is taken back
_ROUNDING = 1e-9
REFERENCE = {}


class _Fmu(Protocol):
    def step(self, time: float, step: float, inputs: Sequence[float]) -> Sequence[float]: ...

    def close(self) -> None: ...


Measurements = Mapping[str, float]
Control = Callable[[float, Measurements], float | None]
Motion = Callable[[float, float], Measurements]


def run(**parameters: Any) -> Result:
    """Lifts the load with the limiter in the loop.

    Returns:
        Curves over time, one point a communication step: `command` is what the machine obeyed from that time on.
        `max_difference` is the largest difference of any curve to the comparison. `delay_steps` is the delay with which
        the law explains the commands; absent where no delay does. `status` is "done", or says what the FMU did:
        after a discarded step the last command holds for 2.5 communication steps, after a failure it is 0 at once,
        and the run goes on. Step times are of the wall: of set, step and get.

    Raises:
        ParameterError: a step or an FMU that does not fit.
        MachineError: parameters that make no machine.
    """
    length = parameters["communication_step"]
    inner = round(length / parameters["step"])
    if inner < 1 or abs(inner * parameters["step"] - length) > _ROUNDING * length:
        raise ParameterError("communication_step", length, f"a multiple of the step, {parameters['step']:g} s")
    count = count_steps({"duration": parameters["duration"], "step": length})
    law = _limiter(parameters)
    with tempfile.TemporaryDirectory(prefix="grouser_roundtrip_") as name:
        folder = Path(name)
        world = _write_world(folder, parameters)
        expected = _loop(parameters, count, law, _machine(parameters, world))
        timing: list[float] = []
        if parameters["direction"] == "in":
            fmu = _open_controller(parameters, folder)
            controller = _FmuControl(fmu, parameters, timing)
            curves = _close_after(fmu, lambda: _loop(parameters, count, controller, _machine(parameters, world)))
            status = controller.status
        else:
            fmu = _open_machine(parameters, world, folder)
            machine = _FmuMachine(fmu, timing)
            curves = _close_after(fmu, lambda: _loop(parameters, count, law, machine))
            status = "done"
    results = {
        **curves,
        "max_difference": max(float(np.abs(curves[one] - expected[one]).max()) for one in (*_MEASURED, "command")),
        "delay_steps": _delay(curves, parameters),
        "step_time_p50": float(np.percentile(timing, 50)) if timing else None,
        "step_time_p99": float(np.percentile(timing, 99)) if timing else None,
        "status": status,
    }
    return Result(results, _UNITS)


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws position, velocity, pressure and command over time; see `protocol`."""
    panels = (
        ("position", 1.0, "m"),
        ("velocity", 1.0, "m/s"),
        ("pressure_piston_side", 1e-6, "MPa"),
        ("command", 1.0, "-"),
    )
    axes = figure.subplots(2, 2, sharex=True)
    for panel, (name, scale, unit) in zip(axes.flat, panels, strict=True):
        panel.plot(result["time"], scale * np.asarray(result[name]), linewidth=0.8)
        panel.set_ylabel(f"{name.replace('_', ' ')} [{unit}]")
        panel.grid(alpha=0.3)
        # The limiter alternates from one step to the next: a twentieth of the run in its middle shows it.
        end = float(result["time"][-1])
        zoom(panel, 0.475 * end, 0.525 * end)
    for panel in axes[-1]:
        panel.set_xlabel("time [s]")
    figure.suptitle(
        f"FMI {parameters['fmi']}: the lift with its pressure limited to {1e-6 * parameters['limit']:g} MPa, "
        f"largest difference to the run without FMU {result['max_difference']:g}"
    )


def _loop(parameters: Mapping[str, Any], count: int, control: Control, machine: Motion) -> dict[str, np.ndarray]:
    """Curves of controller and machine in lockstep: both step at the same time, each with what the other last said."""
    length = parameters["communication_step"]
    measured, command = machine(0.0, 0.0), 0.0
    rows = []
    for number in range(count + 1):
        rows.append((number * length, *(measured[signal] for signal in _MEASURED.values()), command))
        following = control(number * length, measured)
        measured = machine(length, command)
        command = command if following is None else following
    return dict(zip(("time", *_MEASURED, "command"), np.array(rows).T, strict=True))


def _limiter(parameters: Mapping[str, Any]) -> Control:
    """The law in Python."""

    def law(time: float, measured: Measurements) -> float:
        share = (parameters["limit"] - measured[_PRESSURE]) / parameters["band"]
        return _wish(parameters, time) * min(max(share, 0.0), 1.0)

    return law


def _wish(parameters: Mapping[str, Any], time: float) -> float:
    return schedule_value(parameters["command"], time + 0.5 * parameters["communication_step"])


def _machine(parameters: Mapping[str, Any], world: Path) -> Motion:
    """The machine in this process."""
    machine = load_machine(_machine_file(), hydraulic_lift.machine_arguments(parameters))
    simulation = Simulation(machine, load_world(world), step=parameters["step"], scheme=parameters["scheme"])
    plant = SimulationPlant(simulation)

    def move(length: float, command: float) -> Measurements:
        plant.command({_COMMAND: command})
        if length > 0.0:
            simulation.step(round(length / parameters["step"]))
        return plant.measure(list(_MEASURED.values()))

    return move


class _FmuControl:
    """A controller in an FMU; whatever it does, there is a command.

    Attributes:
        status: what became of it.
    """

    def __init__(self, fmu: _Fmu, parameters: Mapping[str, Any], timing: list[float]):
        self.status = "done"
        self._fmu: _Fmu | None = fmu
        self._parameters = parameters
        self._timing = timing
        self._refused = 0  # steps in a row

    def __call__(self, time_now: float, measured: Measurements) -> float | None:
        """The command of the next step; None: the last one holds."""
        if self._fmu is None:
            return 0.0
        begin = time.perf_counter()
        try:
            inputs = (_wish(self._parameters, time_now), measured[_PRESSURE])
            (command,) = self._fmu.step(time_now, self._parameters["communication_step"], inputs)
        except FmuDiscardedError as error:
            return self._refuse(str(error))
        except FmuFailedError as error:
            self.status = f"failed at {time_now:.6g} s: {error}"
            self._fmu = None
            return 0.0
        self._timing.append(time.perf_counter() - begin)
        if not -1.0 <= command <= 1.0:
            return self._refuse(f"its command {command:g} is out of range, -1 to 1")
        self._refused = 0
        return command

    def _refuse(self, reason: str) -> float | None:
        self._refused += 1
        self.status = f"refused: {reason}"
        return None if self._refused <= _HELD_STEPS else 0.0


class _FmuMachine:
    """The machine in an FMU."""

    def __init__(self, fmu: _Fmu, timing: list[float]):
        self._fmu = fmu
        self._timing = timing
        self._steps = 0

    def __call__(self, length: float, command: float) -> Measurements:
        begin = time.perf_counter()
        values = self._fmu.step(self._steps * length, length, (command,))
        self._timing.append(time.perf_counter() - begin)
        self._steps += length > 0.0
        return dict(zip(_MEASURED.values(), values, strict=True))


def _open_controller(parameters: Mapping[str, Any], folder: Path) -> _Fmu:
    file = Path(parameters["fmu"]) if parameters["fmu"] else build_pressure_limiter(parameters["fmi"], folder)
    description = _describe(parameters, file, ("wish", "pressure"), ("command",))
    own = {name for name, variable in description.variables.items() if variable.causality == "parameter"}
    values: dict[str, float] = {name: parameters[name] for name in ("limit", "band") if name in own}
    return _open(parameters, description, ("wish", "pressure"), ("command",), values)


def _open_machine(parameters: Mapping[str, Any], world: Path, folder: Path) -> _Fmu:
    setup = MachineSetup(
        machine=str(_machine_file()),
        arguments=hydraulic_lift.machine_arguments(parameters),
        step=parameters["step"],
        scheme=parameters["scheme"],
        inputs=(Port("command", _COMMAND, low=-1.0, high=1.0),),
        outputs=tuple(Port(name, signal) for name, signal in _MEASURED.items()),
    )
    file = folder / "lift.fmu"
    build_machine_fmu(setup, world, parameters["fmi"], file)
    return _open(parameters, _describe(parameters, file, ("command",), _MEASURED), ("command",), tuple(_MEASURED), {})


def _describe(
    parameters: Mapping[str, Any], file: Path, inputs: Iterable[str], outputs: Iterable[str]
) -> FmuDescription:
    try:
        description = read_description(file)
    except ValueError as problem:
        raise ParameterError("fmu", parameters["fmu"], f"an FMU for co-simulation; {problem}") from None
    wanted = {**dict.fromkeys(inputs, "input"), **dict.fromkeys(outputs, "output")}
    for name, causality in wanted.items():
        variable = description.variables.get(name)
        if variable is None or variable.causality != causality:
            raise ParameterError("fmu", parameters["fmu"], f"an FMU with the {causality} '{name}'")
    return description


def _open(
    parameters: Mapping[str, Any],
    description: FmuDescription,
    inputs: Sequence[str],
    outputs: Sequence[str],
    values: Mapping[str, float],
) -> _Fmu:
    try:
        if parameters["own_process"]:
            return FmuProcess(description, inputs, outputs, values, _DEADLINES[parameters["direction"]])
        from grouser.bridges.fmu.local import LocalFmu

        return LocalFmu(description, inputs, outputs, values)
    except FmuFailedError as error:
        raise ParameterError("fmu", parameters["fmu"], f"an FMU that can be initialized; {error}") from None


def _close_after(fmu: _Fmu, work: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    try:
        return work()
    finally:
        fmu.close()


def _delay(curves: Mapping[str, np.ndarray], parameters: Mapping[str, Any]) -> int | None:
    """Communication steps after which the law explains every command; None: no number of up to five does."""
    law = _limiter(parameters)
    pairs = zip(curves["time"].tolist(), curves["pressure_piston_side"].tolist(), strict=True)
    said = np.array([law(instant, {_PRESSURE: pressure}) for instant, pressure in pairs])
    for delay in range(_DELAY_MOST + 1):
        if np.array_equal(curves["command"][delay:], said[: len(said) - delay]):
            return delay
    return None


def _machine_file() -> Path:
    return share_path("urdf", "hydraulic_lift.urdf.xacro")


def _write_world(folder: Path, parameters: Mapping[str, Any]) -> Path:
    file = folder / "lift_world.yaml"
    file.write_text(f"name: lift\ngravity: {parameters['gravity']!r}\nground: null\n")
    return file
