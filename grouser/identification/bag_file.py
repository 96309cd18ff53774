"""Numbers in the messages of ROS 2 bags, of the storage formats sqlite3 and MCAP.

A field is named by its path: attributes with dots between, and in an array the number of an entry or its name. A name
is looked up in the list of texts beside the array that is as long: ``position.boom`` of sensor_msgs/JointState by
`name`, ``interface_values.boom.values.pressure`` of control_msgs/DynamicInterfaceGroupValues by `interface_groups` and
`interface_names`.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from grouser.identification.series import Series
from grouser.physics.base.errors import ParameterError
from grouser.physics.base.optional import require_package
from grouser.physics.description.text.names import closest

_NANOSECOND = 1e-9


def read_fields(folder: Path, fields: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Series]:
    """Returns the samples of fields of a bag.

    Args:
        folder: of the bag, or a file of one.
        fields: topics and paths in their messages.

    Returns:
        By topic and path. Times are the stamps of the messages or, where they have none, when they were recorded, in
        seconds after the first of all these.

    Raises:
        ParameterError: the package rosbags is not installed, the folder holds no bag, or a topic or path leads to no
            number.
    """
    wanted: dict[str, list[str]] = {}
    for topic, path in fields:
        wanted.setdefault(topic, []).append(path)
    reading = require_package("rosbags.highlevel", "study", "a ROS bag")
    types = require_package("rosbags.typesys", "study", "a ROS bag")
    found: dict[tuple[str, str], tuple[list[int], list[float]]] = {
        (topic, path): ([], []) for topic, paths in wanted.items() for path in paths
    }
    try:
        with reading.AnyReader([folder], default_typestore=types.get_typestore(types.Stores.ROS2_JAZZY)) as reader:
            for topic in wanted:
                if topic not in reader.topics:
                    raise ParameterError(f"topic of {folder.name}", topic, closest(topic, reader.topics))
            connections = [one for one in reader.connections if one.topic in wanted]
            for connection, recorded, data in reader.messages(connections=connections):
                message = reader.deserialize(data, connection.msgtype)
                time = _stamp(message, recorded)
                for path in wanted[connection.topic]:
                    times, values = found[connection.topic, path]
                    times.append(time)
                    values.append(number_at(message, path))
    except (reading.AnyReaderError, OSError) as error:
        raise ParameterError("bag", str(folder), f"a folder with a ROS 2 bag ({error})") from None
    first = min((times[0] for times, _ in found.values() if times), default=0)
    return {
        (topic, path): Series(f"{path} of {topic}", _NANOSECOND * (np.array(times) - first), np.array(values))
        for (topic, path), (times, values) in found.items()
    }


def number_at(message: Any, path: str) -> float:
    """Returns the number in a message at a path.

    Raises:
        ParameterError: the path leads to none.
    """
    holder, value = None, message
    for key in path.split("."):
        if isinstance(value, list | tuple | np.ndarray):
            holder, value = value, value[_entry(holder, value, key, path)]
        elif hasattr(value, "__dataclass_fields__") and key in value.__dataclass_fields__:
            holder, value = value, getattr(value, key)
        else:
            names = getattr(value, "__dataclass_fields__", ())
            raise ParameterError("field", path, f"before '{key}' a message: {closest(key, names)}")
    if not isinstance(value, bool | int | float | np.number | np.bool_):
        raise ParameterError("field", path, "the path of a number; there is " + type(value).__name__)
    return float(value)


def _entry(holder: Any, array: Any, key: str, path: str) -> int:
    """Number of an entry of an array that is given by its number or its name in a list of the same message."""
    lists = [getattr(holder, name) for name in getattr(holder, "__dataclass_fields__", ())]
    names = [
        texts for texts in lists
        if isinstance(texts, list) and len(texts) == len(array) and texts and isinstance(texts[0], str)
    ]  # fmt: skip
    for texts in names:
        if key in texts:
            return texts.index(key)
    if key.isdigit() and int(key) < len(array):
        return int(key)
    valid = closest(key, [text for texts in names for text in texts]) if names else f"0 to {len(array) - 1}"
    raise ParameterError("field", path, f"instead of '{key}' an entry of the array: {valid}")


def _stamp(message: Any, recorded: int) -> int:
    """Stamp of a message [ns]; when it was recorded if it has none."""
    stamp = getattr(getattr(message, "header", None), "stamp", None)
    stamped = 0 if stamp is None else int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
    return stamped or recorded
