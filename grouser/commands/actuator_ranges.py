"""Operating ranges of the cylinders and hydraulic motors of a circuit: force, speed and regeneration.

Every number is that of the circuit at rest or in steady motion, by the equations of the simulation, with pumps and
their controls, relief valves, compensators and metering edges. The circuit runs without the
mechanism, with the valve that feeds the actuator at full command and all others in neutral. The other actuators stand
still; but cylinders on the same two lines move together, as on one beam, and share the load. The actuator's position
is held, a cylinder's in the middle of its stroke, while its speed is not zero.

Force [N]: that of the blocked piston after dry friction, S_A p_A - S_B p_B - F_f when pushing, S_B p_B - S_A p_A - F_f
when pulling; of a motor likewise the torque, with its displacement for both areas. It is the load at which the
actuator stalls (Merritt, Hydraulic Control Systems, 1967, chapter 6, of a valve-controlled piston).

Speed [m/s or rad/s]: at which the flows over the valve's edges are in balance with the load, S_A v into one side and
S_B v out of the other, and no more than the pump delivers; where half of the force that it could overcome resists the
motion, without load, and where half of the force of the other direction helps it. Negative where the load wins.

Regeneration: the oil of the rod side goes to the piston side instead of the tank while the cylinder extends. Both sides
then have one pressure, and that pushes on the area of the rod alone: less force, S_A - S_B instead of S_A, and more
speed for the same oil, by S_A / (S_A - S_B). It works between two loads: with more than `force` against it the cylinder
stalls, and with more than `helping_load` to help it the oil's pressure falls below the tank's, so that it cavitates. Up
to the load `worthwhile` it is faster than without.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.description.data.hydraulics import HydraulicCylinder, HydraulicMotor
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.elements.hydraulics.circuit import circuit_tanks, feeding_valve
from grouser.physics.flexible_links.division import split_flexible_links
from grouser.physics.hydraulics.actuator_geometry import make_actuator_geometry, piston_area, rod_side_area
from grouser.physics.hydraulics.elements import make_network
from grouser.physics.hydraulics.implicit import advance_part
from grouser.physics.hydraulics.oil import content
from grouser.physics.hydraulics.prediction import make_prediction
from grouser.physics.hydraulics.trials import SLIDING, STUCK, make_network_workspace
from grouser.physics.model.build import build_model

# Step of the circuit, window over which a steady state is constant, and the longest time until it [s].
_STEP, _WINDOW, _LONGEST = 5e-3, 0.2, 20.0
# Tolerances of a steady state between the means of two windows: of pressures [Pa], the tolerance of the scheme's
# sub-steps; of speeds [m/s or rad/s]; and relative [-].
_PRESSURE_CHANGE, _SPEED_CHANGE, _SHARE = 1e4, 1e-5, 1e-3
# Mass moved by an actuator; steady motion does not depend on it [kg or kg m2].
_MASS = 1.0
_BLOCKED = 1e12
# Across the blocked piston while the circuit settles [m3/(s Pa)]. In a circuit without any leakage the peak with which
# the oil comes to rest stays behind check valves and compensators; seals and spools let it go. This leak is about ten
# times what seals do (docs/hydraulics.md) and lets it go within seconds; a third or three times of it change the forces
# by less than a hundredth.
SETTLING_LEAKAGE = 1e-13


@dataclass(frozen=True)
class SpeedRange:
    """Speeds in one direction [m/s or rad/s]; None where there is no such load, or no steady motion.

    Attributes:
        resisted: where half of the force of this direction is the load.
        unloaded: without load, but for friction.
        assisted: where half of the force of the other direction helps.
    """

    resisted: float | None
    unloaded: float | None
    assisted: float | None


@dataclass(frozen=True)
class RegenerationRange:
    """Regeneration: a cylinder that extends with its rod side connected to its piston side.

    Attributes:
        force: largest load [N].
        helping_load: largest load that helps, below which the oil would cavitate [N].
        speed: without load [m/s]; None without steady motion.
        worthwhile: largest load at which it is faster than without regeneration [N]; None where it never is.
    """

    force: float
    helping_load: float
    speed: float | None
    worthwhile: float | None


@dataclass(frozen=True)
class ActuatorRange:
    """Operating range of a cylinder or motor.

    Attributes:
        name: its own.
        kind: cylinder or motor.
        valve: that moves it; None where none does.
        area_ratio: piston side over rod side [-]; 1 of a motor.
        forward_force, backward_force: pushing and pulling force of a cylinder [N], torques of a motor [N m]; negative
            where it moves so only with a load's help; None where no valve turns it round.
        forward_speed, backward_speed: extending and retracting.
        regeneration: None of motors and of cylinders with an open side.
    """

    name: str
    kind: str
    valve: str | None
    area_ratio: float
    forward_force: float
    backward_force: float | None
    forward_speed: SpeedRange
    backward_speed: SpeedRange | None
    regeneration: RegenerationRange | None


def actuator_ranges(machine: Machine) -> tuple[ActuatorRange, ...]:
    """Returns the ranges of all cylinders, then of all motors.

    Raises:
        MachineError: the machine's circuit cannot be simulated.
    """
    machine = split_flexible_links(machine)
    groups: dict[tuple[str, str], list[HydraulicCylinder]] = {}
    for cylinder in machine.cylinders:
        groups.setdefault((cylinder.piston_side, cylinder.rod_side), []).append(cylinder)
    found = {}
    for group in groups.values():
        function = _function_of_cylinders(machine, group, group[0].rod_side)
        double_acting = group[0].piston_side and group[0].rod_side
        joined = _function_of_cylinders(machine, group, group[0].piston_side) if double_acting else None
        tank = min(each.pressure for each in circuit_tanks(machine))
        found.update({each.name: each for each in _cylinder_ranges(group, function, joined, tank)})
    motors = [_motor_range(machine, number, motor) for number, motor in enumerate(machine.hydraulic_motors)]
    return (*(found[cylinder.name] for cylinder in machine.cylinders), *motors)


class _Bench:
    """Steady states of the circuit of a machine without the mechanism.

    Args:
        machine: whose circuit it is.
        actuator: number of the one that may move.
    """

    def __init__(self, machine: Machine, actuator: int):
        self.network, _, _ = make_network(machine)
        self._actuator = actuator
        self._valves = [valve.name for valve in machine.valves]
        model, names = build_model(machine, Pose(), (0.0, 0.0, 0.0))
        geometry = make_actuator_geometry(machine, names, model)
        self._workspace = make_network_workspace(self.network, len(self._valves))
        self._packed = Packed(self.network), Packed(geometry), Packed(self._workspace)
        self._prediction = Packed(make_prediction(geometry, _STEP))
        self._pressure = np.array(self.network.pressure)
        self._place = np.where(np.isfinite(self.network.stroke), 0.5 * self.network.stroke, 0.0)

    def settle(self, valve: str | None, command: float, load: float | None) -> float:
        """Brings the circuit to its steady state with one valve commanded.

        Args:
            valve, command: the valve and its command; all others 0.
            load: on the actuator, against forward motion; None: it is blocked.

        Returns:
            Its speed; NaN without a steady state.
        """
        commands = np.array([command if name == valve else 0.0 for name in self._valves])
        self._start(load)
        speed = math.inf
        for _ in range(round(_LONGEST / _WINDOW)):
            speed_before, pressure_before = speed, self._pressure.copy()
            speed = self._run(commands)
            steady = _unchanged(self._pressure, pressure_before, _PRESSURE_CHANGE)
            if steady and _unchanged(speed, speed_before, _SPEED_CHANGE):
                return speed
        return math.nan

    def pressures(self) -> tuple[float, float]:
        """On the actuator's two sides [Pa]."""
        network = self.network
        line_a, line_b = network.line_a[self._actuator], network.line_b[self._actuator]
        return float(self._pressure[line_a]), float(self._pressure[line_b])

    def _start(self, load):
        network, work, a = self.network, self._workspace, self._actuator
        now, loads = work.now, work.loads
        now.pressure[:] = self._pressure[:] = network.pressure
        now.content[:] = [content(network.oil, pressure) for pressure in network.pressure]
        now.position[:], now.velocity[:], now.direction[:], now.regime[:] = self._place, 0.0, 1.0, STUCK
        now.spool[:], now.swash[:] = 0.0, 1.0
        loads.mobility[:] = np.eye(len(loads.brake)) / _MASS
        loads.acceleration[:], loads.brake[:] = 0.0, _BLOCKED
        if load is not None:
            loads.acceleration[a], loads.brake[a], now.regime[a] = -load / _MASS, 0.0, SLIDING

    def _run(self, commands):
        """Mean speed over a window; leaves the mean pressures."""
        network, geometry, workspace = self._packed
        now, a, moved = self._workspace.now, self._actuator, 0.0
        self._pressure[:] = 0.0
        for _ in range(round(_WINDOW / _STEP)):
            self._prediction.trace_length[:] = 0
            for part in range(len(self.network.part_line_start) - 1):
                advance_part(network, geometry, part, commands, _STEP, workspace, self._prediction)
            moved += float(now.position[a] - self._place[a])
            now.position[:] = self._place
            self._pressure += now.pressure * (_STEP / _WINDOW)
        return moved / _WINDOW


def _unchanged(after, before, floor):
    return bool(np.all(np.abs(after - before) <= floor + _SHARE * np.abs(after)))


class _Function:
    """An actuator on its circuit, with the valve that moves it.

    Args:
        machine: whose circuit it is.
        actuator: its number, cylinders before motors.
        lines: its own.

    Attributes:
        valve: that moves it; None where none does.
        forward, backward: commands of that valve that push and pull; the second None without valve.
        high, low: pressures on both sides when it is blocked and pushed, and pulled.
    """

    def __init__(self, machine: Machine, actuator: int, lines: Iterable[str]):
        self._bench = _Bench(machine, actuator)
        self._stall = _Bench(_settling(machine, actuator), actuator)
        network = self._bench.network
        self.areas = float(network.area_a[actuator]), float(network.area_b[actuator])
        self._friction = float(network.dry[actuator])
        self.valve = feeding_valve(machine, lines)
        pressures = {command: self._stalled(command) for command in ((1.0, -1.0) if self.valve else (0.0,))}
        commands = sorted(pressures, key=lambda command: _push(self.areas, pressures[command]))
        self.forward, self.high = commands[-1], pressures[commands[-1]]
        self.backward, self.low = (commands[0], pressures[commands[0]]) if self.valve else (None, None)
        self.forward_force = _push(self.areas, self.high) - self._friction
        self.backward_force = None if self.low is None else -_push(self.areas, self.low) - self._friction

    def _stalled(self, command):
        self._stall.settle(self.valve, command, None)
        return self._stall.pressures()

    def forward_speed(self, load: float) -> float:
        """Steady speed against a load; NaN without a steady state."""
        return self._bench.settle(self.valve, self.forward, load)

    def forward_speeds(self) -> SpeedRange:
        """Speeds under the loads of `SpeedRange`."""
        loads = _loads(self.forward_force, self.backward_force)
        return SpeedRange(*[_known(self.forward_speed(load)) if load is not None else None for load in loads])

    def backward_speeds(self) -> SpeedRange | None:
        """Speeds backward under the loads of `SpeedRange`; None without a valve."""
        if self.backward is None:
            return None
        loads = _loads(self.backward_force, self.forward_force)
        settled = [None if load is None else self._bench.settle(self.valve, self.backward, -load) for load in loads]
        return SpeedRange(*[None if speed is None else _known(-speed) for speed in settled])


def _settling(machine: Machine, actuator: int) -> Machine:
    """The machine with a leak past the piston of a cylinder, so that no peak of pressure stays in its lines."""
    if actuator >= len(machine.cylinders):
        return machine
    cylinders = list(machine.cylinders)
    cylinder = cylinders[actuator]
    if not (cylinder.piston_side and cylinder.rod_side) or cylinder.piston_side == cylinder.rod_side:
        return machine
    cylinders[actuator] = replace(cylinder, leakage=max(cylinder.leakage, SETTLING_LEAKAGE))
    return replace(machine, cylinders=tuple(cylinders))


def _push(areas, pressures):
    return areas[0] * pressures[0] - areas[1] * pressures[1]


def _known(value):
    return value if math.isfinite(value) else None


def _loads(own, other):
    """Loads: half of the direction's force against the motion, none, half of the other direction's force with it."""
    return 0.5 * own if own > 0.0 else None, 0.0, -0.5 * other if other is not None and other > 0.0 else None


def _function_of_cylinders(machine: Machine, group: Sequence[HydraulicCylinder], rod_side: str) -> _Function:
    """Cylinders on the same lines as one that has their areas, with its rod side on some line."""

    def total(field):
        return sum(getattr(cylinder, field) for cylinder in group)

    def root_of_squares(field):
        return math.sqrt(sum(getattr(cylinder, field) ** 2 for cylinder in group))

    first = group[0]
    sums = ["piston_mass", "viscous_friction", "dry_friction", "leakage", "rod_leakage"]
    sums += ["dead_volume_piston_side", "dead_volume_rod_side"]
    merged = replace(
        first,
        **{field: total(field) for field in sums},
        **{field: root_of_squares(field) for field in ("bore", "rod_diameter", "cushion_diameter")},
        static_friction=None,
        rod_side=rod_side,
    )
    others = [cylinder for cylinder in machine.cylinders if cylinder not in group]
    lines = [first.piston_side, first.rod_side]
    return _Function(replace(machine, cylinders=(merged, *others)), 0, lines)


def _cylinder_ranges(
    group: Sequence[HydraulicCylinder], function: _Function, joined: _Function | None, tank: float
) -> Iterator[ActuatorRange]:
    """Ranges of the cylinders that move together; `joined` has their rod sides on their piston sides."""
    forward_speed, backward_speed = function.forward_speeds(), function.backward_speeds()
    if joined is not None:
        joined_speed, worthwhile = _known(joined.forward_speed(0.0)), _worthwhile(function, joined)
    for cylinder in group:
        areas, friction = (piston_area(cylinder), rod_side_area(cylinder)), cylinder.dry_friction
        force = _push(areas, function.high) - friction
        regeneration = None
        if joined is not None:
            regeneration = RegenerationRange(
                force=_push(areas, joined.high) - friction,
                helping_load=friction - (areas[0] - areas[1]) * tank,
                speed=joined_speed,
                worthwhile=None if worthwhile is None else worthwhile * force / function.forward_force,
            )
        yield ActuatorRange(
            name=cylinder.name,
            kind="cylinder",
            valve=function.valve,
            area_ratio=areas[0] / areas[1],
            forward_force=force,
            backward_force=None if function.low is None else -_push(areas, function.low) - friction,
            forward_speed=forward_speed,
            backward_speed=backward_speed,
            regeneration=regeneration,
        )


def _worthwhile(function: _Function, joined: _Function) -> float | None:
    """Load at which regeneration is no faster any more, to a thousandth of its force; None where it never is."""

    def is_faster(load):
        return joined.forward_speed(load) > function.forward_speed(load)

    low, high = 0.0, joined.forward_force
    if high <= 0.0 or not is_faster(low):
        return None
    for _ in range(10):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_faster(middle) else (low, middle)
    return low


def _motor_range(machine: Machine, number: int, motor: HydraulicMotor) -> ActuatorRange:
    function = _Function(machine, len(machine.cylinders) + number, [motor.a, motor.b])
    return ActuatorRange(
        name=motor.name,
        kind="motor",
        valve=function.valve,
        area_ratio=1.0,
        forward_force=function.forward_force,
        backward_force=function.backward_force,
        forward_speed=function.forward_speeds(),
        backward_speed=function.backward_speeds(),
        regeneration=None,
    )
