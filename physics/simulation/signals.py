"""Signals: every number that can be read of a simulation, by one name.

A name is the way to the number in Python with dots for brackets: ``pressure.boom.piston_side`` is
``simulation.pressure["boom"].piston_side``; the views `circuit` and `sensors` are left out. The name of a joint alone
is its position. Recordings, plots, sweeps and identification use these names.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import numpy as np

from grouser.physics.base.errors import ParameterError
from grouser.physics.description.text.names import closest

POSITION = "joint_position"
_JOINT_UNITS = {POSITION: ("rad", "m"), "joint_velocity": ("rad/s", "m/s"), "joint_effort": ("N m", "N")}
_DRIVE_QUANTITY = {"position": POSITION, "velocity": "joint_velocity", "effort": "joint_effort"}
_XYZ, _QUATERNION = ("x", "y", "z"), ("qx", "qy", "qz", "qw")
_WRENCH = {f"force_{axis}": "N" for axis in _XYZ} | {f"torque_{axis}": "N m" for axis in _XYZ}
_DEFLECTION = {f"translation_{axis}": "m" for axis in _XYZ} | {f"rotation_{axis}": "rad" for axis in _XYZ}
_TWIST = {f"linear_{axis}": "m/s" for axis in _XYZ} | {f"angular_{axis}": "rad/s" for axis in _XYZ}
_POSE = dict.fromkeys(_XYZ, "m") | dict.fromkeys(_QUATERNION, "-")
_CYLINDER_ENERGIES = ("supplied", "returned", "throttled", "compressed", "viscous_loss", "friction_loss", "stop_loss")

# Numbers by element: unit. The elements' views have these names.
NUMBERS = {"line_pressure": "Pa", "line_flow": "m3/s", "port_flow": "m3/s", "spool_position": "-"}
# Records by element: the unit of each field that is a number. `test_signals` compares them with the records.
RECORDS: Mapping[str, Mapping[str, str]] = {
    "pressure": {"piston_side": "Pa", "rod_side": "Pa"},
    "cylinder": {
        "position": "m",
        "velocity": "m/s",
        "pressure_piston_side": "Pa",
        "pressure_rod_side": "Pa",
        "flow_piston_side": "m3/s",
        "flow_rod_side": "m3/s",
        "spool_position": "-",
        "force": "N",
        "power": "W",
        "brake_engaged": "-",
    },
    "cylinder_energy": dict.fromkeys((*_CYLINDER_ENERGIES, "piston_work", "oil_work"), "J"),
    "hydraulic_motor": {
        "position": "rad",
        "velocity": "rad/s",
        "pressure_a": "Pa",
        "pressure_b": "Pa",
        "flow_a": "m3/s",
        "flow_b": "m3/s",
        "spool_position": "-",
        "torque": "N m",
        "power": "W",
        "brake_engaged": "-",
    },
    "pump": {"swash": "-", "flow": "m3/s", "pressure": "Pa", "shaft_power": "W"},
    "wheel": {
        "sinkage": "m",
        "entry_angle": "rad",
        "exit_angle": "rad",
        "normal_force": "N",
        "thrust": "N",
        "resistance": "N",
        "drawbar_pull": "N",
        "torque": "N m",
        "side_force": "N",
        "slip_ratio": "-",
        "slip_angle": "rad",
        "peak_pressure": "Pa",
        "peak_shear": "Pa",
    },
    "track": {
        "belt_speed": "m/s",
        "speed": "m/s",
        "side_speed": "m/s",
        "yaw_rate": "rad/s",
        "slip_ratio": "-",
        "slip_angle": "rad",
        "normal_force": "N",
        "thrust": "N",
        "resistance": "N",
        "drawbar_pull": "N",
        "side_force": "N",
        "sinkage": "m",
        "peak_pressure": "Pa",
        "tight_tension": "N",
        "slack_tension": "N",
        "shoes_in_contact": "-",
        "jumped_teeth": "-",
        "thrown": "-",
    },
    "flexible_link": {
        "tip_deflection_y": "m",
        "tip_deflection_z": "m",
        "tip_twist": "rad",
        "strain_energy": "J",
    },
}
# Arrays by element: the unit of each of their numbers.
ARRAYS: Mapping[str, Mapping[str, str]] = {
    "joint_reaction": _WRENCH,
    "joint_deflection": _DEFLECTION,
    "contact_wrench": _WRENCH,
    "obstacle_wrench": _WRENCH,
}
# Records of vectors by element: the unit of each of their numbers, by field and axis.
_VECTORS: Mapping[str, Mapping[str, str]] = {
    "spherical_joint": {f"orientation_{axis}": "-" for axis in _QUATERNION}
    | {f"angular_velocity_{axis}": "rad/s" for axis in _XYZ}
    | {f"torque_{axis}": "N m" for axis in _XYZ},
    "imu": {f"angular_velocity_{axis}": "rad/s" for axis in _XYZ}
    | {f"specific_force_{axis}": "m/s2" for axis in _XYZ}
    | {f"orientation_{axis}": "-" for axis in _QUATERNION},
}
_BUCKET_LOAD = {
    "mass": "kg",
    **{f"centre_{axis}": "m" for axis in _XYZ},
    "volume": "m3",
    "fill_factor": "-",
    "count": "-",
}
_DIGGING_FORCE = {
    **dict.fromkeys(("separation", "penetration", "bearing", "side", "inertia"), "N"),
    **{f"force_world_{axis}": "N" for axis in _XYZ},
    **{f"moment_world_{axis}": "N m" for axis in _XYZ},
    "depth": "m",
    "specific_energy": "J/m3",
}
_FIX = {"latitude": "deg", "longitude": "deg", "altitude": "m"}


class Signal(NamedTuple):
    """A number that can be read.

    Attributes:
        name: by which it is known.
        unit: SI, "-" for none.
        source: key of `read`: signals with the same key are parts of the same value.
        read: reads that value.
        part: takes the number out of it.
    """

    name: str
    unit: str
    source: tuple[str, str]
    read: Callable[[], Any]
    part: Callable[[Any], Any]

    @property
    def value(self) -> float:
        """The number now."""
        return float(self.part(self.read()))


def _itself(value: Any) -> Any:
    return value


class Signals(Mapping[str, Signal]):
    """The signals of a simulation, or of one machine in it, by name.

    Args:
        view: the `MachineView` that reads them.
    """

    def __init__(self, view: Any):
        self._signals = {signal.name: signal for signal in _all(view)}
        self._joints = frozenset(view.joint_position)

    def __getitem__(self, name: str) -> Signal:
        """A signal by its name, or by that of a joint; ParameterError with the closest name for an unknown one."""
        if isinstance(name, str):
            if name in self._signals:
                return self._signals[name]
            if name in self._joints:
                return self._signals[f"{POSITION}.{name}"]._replace(name=name)
        raise ParameterError("signal", name, self._hint(name))

    def chosen(self, names: str | Iterable[str]) -> tuple[Signal, ...]:
        """The signals of several names; a * stands for any part of a name: ``cylinder.*.force``.

        Raises:
            ParameterError: a name is unknown, or nothing has a name like it.
        """
        found: dict[str, Signal] = {}
        for name in [names] if isinstance(names, str) else names:
            if isinstance(name, str) and "*" in name:
                pattern = name.replace("[", "[[]")
                matching = [one for one in self._signals if fnmatchcase(one, pattern)]
                if not matching:
                    raise ParameterError("signal", name, f"nothing is named so; {self._hint(name)}")
                found |= {one: self._signals[one] for one in matching}
            else:
                found[name] = self[name]
        return tuple(found.values())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._signals or name in self._joints)

    def __iter__(self) -> Iterator[str]:
        return iter(self._signals)

    def __len__(self) -> int:
        return len(self._signals)

    def __repr__(self) -> str:
        kinds: dict[str, int] = {}
        for name in self._signals:
            kind = name.partition(".")[0]
            kinds[kind] = kinds.get(kind, 0) + 1
        return f"<{len(self)} signals: {', '.join(f'{count} {kind}' for kind, count in kinds.items())}>"

    def _hint(self, name: object) -> str:
        """The closest name: among those that begin with the same words, if there are such."""
        text = name if isinstance(name, str) else ""
        words = text.split(".")
        for count in range(len(words) - 1, 0, -1):
            beginning = ".".join(words[:count]) + "."
            near = [one for one in self._signals if one.startswith(beginning)]
            if near:
                return closest(text, near)
        kinds = {one.partition(".")[0] for one in self._signals}
        return closest(words[0], {*kinds, *self._joints} if len(words) == 1 else kinds)


def values_of(signals: Sequence[Signal]) -> list[float]:
    """The values of several signals now; what several are parts of is read once."""
    read: dict[tuple[str, str], Any] = {}
    values = []
    for signal in signals:
        if signal.source not in read:
            read[signal.source] = signal.read()
        values.append(float(signal.part(read[signal.source])))
    return values


def _all(view: Any) -> Iterator[Signal]:
    yield from _joints(view)
    yield from _commands(view)
    for quantity, unit in NUMBERS.items():
        yield from _numbers(quantity, getattr(view.circuit, quantity), unit)
    for quantity, fields in RECORDS.items():
        own = _units_of_motors(view) if quantity == "hydraulic_motor" else {}
        values = getattr(view.circuit, quantity, None) or getattr(view, quantity, {})
        parts = {field: attrgetter(field) for field in fields}
        for name in values:
            yield from _parts(quantity, name, values, own.get(name, fields), parts)
    for quantity, fields in ARRAYS.items():
        yield from _arrays(quantity, getattr(view, quantity), fields)
    yield from _shovels(view)
    yield from _poses(view)
    yield from _sensors(view)
    yield from _whole(view)


def _joints(view: Any) -> Iterator[Signal]:
    prismatic = {joint.name for joint in view.machine.joints if joint.type == "prismatic"}
    for quantity, units in _JOINT_UNITS.items():
        values = getattr(view, quantity)
        for name in values:
            yield _number(quantity, name, values, units[name in prismatic])


def _commands(view: Any) -> Iterator[Signal]:
    joints = {joint.name: joint for joint in view.machine.joints}
    for name in view.command:
        unit = "-"
        if name in view.command.drives:
            joint = joints.get(name.rpartition("/")[0] if name not in joints else name)
            prismatic = joint is not None and joint.type == "prismatic"
            unit = _JOINT_UNITS[_DRIVE_QUANTITY[view.command.drives[name]]][prismatic]
        yield _number("command", name, view.command, unit)


def _units_of_motors(view: Any) -> dict[str, Mapping[str, str]]:
    """Units of motors on prismatic joints."""
    prismatic = {joint.name for joint in view.machine.joints if joint.type == "prismatic"}
    linear = dict(RECORDS["hydraulic_motor"]) | {"position": "m", "velocity": "m/s", "torque": "N"}
    return {motor.name: linear for motor in view.machine.hydraulic_motors if motor.joint in prismatic}


def _poses(view: Any) -> Iterator[Signal]:
    quantities = (("link_pose", _POSE), ("base_pose", _POSE), ("base_twist", _TWIST))
    for quantity, units in quantities:
        places = {part: itemgetter(place) for place, part in enumerate(units)}
        if quantity == "link_pose":
            for link in [link.name for link in view.machine.links]:
                read = partial(_joined, partial(view.link_pose, link))
                for part, unit in units.items():
                    yield Signal(f"link_pose.{link}.{part}", unit, (quantity, link), read, places[part])
        elif not view.machine.members:
            read = partial(_joined, getattr(view, quantity))
            for part, unit in units.items():
                yield Signal(f"{quantity}.{part}", unit, (quantity, ""), read, places[part])


def _shovels(view: Any) -> Iterator[Signal]:
    buckets = [shovel.name for shovel in view.machine.shovels if shovel.profile]
    shovels = [shovel.name for shovel in view.machine.shovels]
    quantities = (("bucket_load", buckets, _BUCKET_LOAD), ("digging_force", shovels, _DIGGING_FORCE))
    for quantity, names, units in quantities:
        for name in names:
            read = partial(getattr(view, quantity), name)
            for field, unit in units.items():
                yield Signal(f"{quantity}.{name}.{field}", unit, (quantity, name), read, _of_record(field))


def _of_record(field: str) -> Callable[[Any], Any]:
    """Reads a number of a record, or of one of its vectors."""
    return partial(_part_of_field, *_split(field)) if field[-2:] in ("_x", "_y", "_z") else attrgetter(field)


def _sensors(view: Any) -> Iterator[Signal]:
    sensors = view.sensors
    yield from _numbers("strain_gauge", sensors.strain_gauge, "-")
    for quantity, values in (("spherical_joint", view.spherical_joint), ("imu", sensors.imu)):
        units = _VECTORS[quantity]
        parts: dict[str, Callable[[Any], Any]] = {field: partial(_part_of_field, *_split(field)) for field in units}
        for name in values:
            yield from _parts(quantity, name, values, units, parts)
    for name in sensors.gnss_receiver:
        yield from _parts(
            "gnss_receiver", name, sensors.gnss_receiver, _FIX, {field: attrgetter(field) for field in _FIX}
        )
    yield from _arrays("force_torque_sensor", sensors.force_torque_sensor, _WRENCH)


def _whole(view: Any) -> Iterator[Signal]:
    """Signals of the whole simulation."""
    energy = getattr(view, "energy", None)
    if energy is not None:
        for field in ("kinetic", "potential", "elastic"):
            yield Signal(f"energy.{field}", "J", ("energy", ""), energy, attrgetter(field))


def _number(quantity: str, name: str, values: Mapping[str, Any], unit: str) -> Signal:
    return Signal(f"{quantity}.{name}", unit, (quantity, name), partial(values.__getitem__, name), _itself)


def _numbers(quantity: str, values: Mapping[str, Any], unit: str) -> Iterator[Signal]:
    return (_number(quantity, name, values, unit) for name in values)


def _arrays(quantity: str, values: Mapping[str, Any], units: Mapping[str, str]) -> Iterator[Signal]:
    places = {part: itemgetter(place) for place, part in enumerate(units)}
    for name in values:
        yield from _parts(quantity, name, values, units, places)


def _parts(
    quantity: str,
    name: str,
    values: Mapping[str, Any],
    units: Mapping[str, str],
    parts: Mapping[str, Callable[[Any], Any]],
) -> Iterator[Signal]:
    read = partial(values.__getitem__, name)
    for part, unit in units.items():
        yield Signal(f"{quantity}.{name}.{part}", unit, (quantity, name), read, parts[part])


def _split(field: str) -> tuple[str, int]:
    """Field of a record and place in it, of a name such as angular_velocity_x or orientation_qw."""
    name, _, axis = field.rpartition("_")
    return name, (_XYZ if axis in _XYZ else _QUATERNION).index(axis)


def _part_of_field(field: str, place: int, record: Any) -> Any:
    return getattr(record, field)[place]


def _joined(read: Callable[[], Sequence[np.ndarray]]) -> np.ndarray:
    return np.concatenate(read())
