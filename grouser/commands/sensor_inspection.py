"""What `grouser inspect` shows of sensors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.sensors import DepthCamera, Lidar, Lidar3d, Sensor
from grouser.text_table import table


def sensor_facts(machine: Machine) -> list[dict[str, Any]]:
    """Type and attributes of each sensor, in the types of JSON."""
    return [{"type": sensor.type, **_fields_of(sensor)} for sensor in machine.every_sensor]


def _fields_of(sensor: Sensor) -> Mapping[str, Any]:
    """The fields of a sensor by name."""
    return {field.name: getattr(sensor, field.name) for field in fields(sensor)}


def sensor_lines(machine: Machine) -> Iterator[str]:
    """A table of the sensors; nothing without any."""
    if not machine.every_sensor:
        return
    yield from ("", "sensors")
    rows: list[Sequence[str]] = [
        (sensor.name, sensor.type.replace("_", " "), machine.carrier(sensor), _figures(sensor), _errors(sensor))
        for sensor in machine.every_sensor
    ]
    yield from table(("sensor", "type", "link", "measures", "errors"), rows)


def _figures(sensor: Sensor) -> str:
    if isinstance(sensor, Lidar):
        return f"{sensor.beams} beams, {sensor.range_min:g} to {sensor.range_max:g} m"
    if isinstance(sensor, Lidar3d):
        return f"{sensor.channels} x {sensor.samples} beams, {sensor.range_min:g} to {sensor.range_max:g} m"
    if isinstance(sensor, DepthCamera):
        return f"{sensor.width} x {sensor.height} pixels, {sensor.depth_min:g} to {sensor.depth_max:g} m"
    return getattr(sensor, "joint", "")


def _errors(sensor: Sensor) -> str:
    """Its errors that are not zero, by name."""
    errors = {
        name: value
        for name, value in _fields_of(sensor).items()
        if value and ("noise" in name or "bias" in name or "walk" in name)
    }
    return ", ".join(f"{name} {value:g}" for name, value in errors.items()) or "none"
