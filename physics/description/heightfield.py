"""Height fields: a table, an array or an image of heights to a `Heightfield`."""

import struct
import tokenize
import warnings
import zlib
from pathlib import Path

import numpy as np
import yaml

from grouser.physics.description.machine import Heightfield
from grouser.physics.description.names import shortened
from grouser.physics.description.yaml_reader import VALUE_MAX, Reader

KEYS = ("file", "cell", "origin", "height_scale", "height")
FORMATS = (".npy", ".csv", ".png")
SIDE_MAX = 4000
BYTES_MAX = 500_000_000
# Modes of Pillow for grey images, with the value of white.
_WHITE = {"L": 255.0, "I": 65535.0, "I;16": 65535.0, "I;16B": 65535.0}
# What the readers of the three formats raise on files that are cut short, garbled or of another format.
_READING_ERRORS = (
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    OSError,
    EOFError,
    MemoryError,
    SyntaxError,
    tokenize.TokenError,
    zlib.error,
    struct.error,
)


class _HeightsError(Exception):
    """A file of heights that cannot be used; the text says why."""


def read_heightfield(reader: Reader, node: yaml.Node) -> Heightfield:
    """Returns the height field that a world file gives.

    Raises:
        MachineError: a key is missing or wrong, or the file of heights cannot be used.
    """
    name = "ground heightfield"
    nodes = reader.mapping(node, name, KEYS)
    file = reader.required(nodes, "file", node, name)
    cell = reader.size(reader.required(nodes, "cell", node, name), f"{name} cell")
    scale = reader.number(nodes["height_scale"], f"{name} height_scale") if "height_scale" in nodes else 1.0
    offset = reader.number(nodes["height"], f"{name} height") if "height" in nodes else 0.0
    try:
        heights = _scaled(_read(reader.path(file, f"{name} file")), scale, offset)
    except _HeightsError as problem:
        raise reader.error(file, f"{name} file", str(problem)) from None
    if "origin" in nodes:
        origin = reader.pair(nodes["origin"], f"{name} origin")
    else:
        origin = (-0.5 * cell * (heights.shape[0] - 1), -0.5 * cell * (heights.shape[1] - 1))
    return Heightfield(heights, cell, origin)


def _read(path: Path) -> np.ndarray:
    """Returns what a file holds, shape (n_x, n_y); black to white is 0 to 1."""
    read = {".npy": _read_array, ".csv": _read_table, ".png": _read_image}.get(path.suffix.lower())
    if read is None:
        raise _HeightsError(f"format '{path.suffix}' is not read; valid: {', '.join(FORMATS)}")
    try:
        if not path.is_file():
            raise _HeightsError(f"no such file: {path}")
        size = path.stat().st_size
        if not 0 < size <= BYTES_MAX:
            raise _HeightsError(f"it has {size} bytes; valid: 1 to {BYTES_MAX}: {path}")
        return read(path)
    except _READING_ERRORS as error:
        reason = str(error).splitlines()[0][:200] if str(error) else ""
        raise _HeightsError(f"it cannot be read: {path} ({type(error).__name__}: {reason})") from None


def _read_array(path: Path) -> np.ndarray:
    # Mapped into memory, so that the shape is known before the numbers are read.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of headers that are odd but can be read
        array = np.lib.format.open_memmap(path, mode="r")
    if array.dtype.kind not in "fiu":
        raise _HeightsError(f"its array holds {array.dtype}, not numbers: {path}")
    _check_shape(array.shape, path)
    return np.array(array, dtype=float)


def _read_table(path: Path) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an empty table, whose shape says enough
        table = np.loadtxt(path, delimiter=",", ndmin=2, encoding="utf-8-sig", max_rows=SIDE_MAX + 1)
    _check_shape(table.shape, path)
    return table


def _read_image(path: Path) -> np.ndarray:
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of images so large that they are refused
        image = Image.open(path, formats=("PNG",))
    with image:
        _check_shape(image.size, path)
        if image.mode not in _WHITE:
            raise _HeightsError(f"the image is of mode {shortened(image.mode)}; valid: grey with 8 or 16 bits: {path}")
        pixels = np.array(image, dtype=float)
    # As a map is read: x to the right, y up; the first row of an image is its upper edge.
    return pixels[::-1].T / _WHITE[image.mode]


def _check_shape(shape: tuple[int, ...], path: Path) -> None:
    if len(shape) != 2 or not all(2 <= side <= SIDE_MAX for side in shape):
        sides = " x ".join(str(side) for side in shape) or "a single number"
        raise _HeightsError(f"it holds {sides}; valid: 2 x 2 to {SIDE_MAX} x {SIDE_MAX} heights: {path}")


def _scaled(heights: np.ndarray, scale: float, offset: float) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.ascontiguousarray(heights * scale + offset)
    wrong = ~(np.abs(scaled) <= VALUE_MAX)
    if wrong.any():
        i, j = (int(index[0]) for index in np.nonzero(wrong))
        raise _HeightsError(f"height [{i}, {j}] is {scaled[i, j]:g} m; valid: at most {VALUE_MAX:g} m up or down")
    scaled.flags.writeable = False
    return scaled
