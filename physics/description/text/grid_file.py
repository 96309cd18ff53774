"""Grids of numbers from files: arrays, tables and grey images."""

import struct
import tokenize
import warnings
import zlib
from pathlib import Path

import numpy as np

from grouser.physics.description.text.names import shortened

FORMATS = (".npy", ".csv", ".png")
SIDE_MAX = 4000
BYTES_MAX = 500_000_000
# Pillow's modes of grey images, with their value of white.
_WHITE = {"L": 255.0, "I": 65535.0, "I;16": 65535.0, "I;16B": 65535.0}
# Exceptions of the three readers on truncated, corrupt or foreign files.
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


class GridError(Exception):
    """A grid file cannot be used; the text gives the reason."""


def read_grid(path: Path, side_min: int) -> tuple[np.ndarray, float | None]:
    """Reads the numbers of a grid.

    Args:
        path: the file.
        side_min: least number of points along x and along y.

    Returns:
        The numbers, shape (n_x, n_y), and the number of white for images, else None.

    Raises:
        GridError: the file cannot be read, or its content is not such a grid.
    """
    read = {".npy": _read_array, ".csv": _read_table, ".png": _read_image}.get(path.suffix.lower())
    if read is None:
        raise GridError(f"format '{path.suffix}' is not read; valid: {', '.join(FORMATS)}")
    try:
        if not path.is_file():
            raise GridError(f"no such file: {path}")
        size = path.stat().st_size
        if not 0 < size <= BYTES_MAX:
            raise GridError(f"it has {size} bytes; valid: 1 to {BYTES_MAX}: {path}")
        return read(path, side_min)
    except _READING_ERRORS as error:
        reason = str(error).splitlines()[0][:200] if str(error) else ""
        raise GridError(f"it cannot be read: {path} ({type(error).__name__}: {reason})") from None


def _read_array(path: Path, side_min: int) -> tuple[np.ndarray, None]:
    # Memory-mapped: the shape is checked before the numbers are read.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about unusual headers
        array = np.lib.format.open_memmap(path, mode="r")
    if array.dtype.kind not in "fiu":
        raise GridError(f"its array holds {array.dtype}, not numbers: {path}")
    _check_shape(array.shape, side_min, path)
    return np.array(array, dtype=float), None


def _read_table(path: Path, side_min: int) -> tuple[np.ndarray, None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about an empty table; its shape is checked below
        table = np.loadtxt(path, delimiter=",", ndmin=2, encoding="utf-8-sig", max_rows=SIDE_MAX + 1)
    _check_shape(table.shape, side_min, path)
    return table, None


def _read_image(path: Path, side_min: int) -> tuple[np.ndarray, float]:
    from PIL import Image

    _check_shape(_png_size(path), side_min, path)  # before memory is allocated: a small file may claim any size
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about large images; their size has been checked
        image = Image.open(path, formats=("PNG",))
    with image:
        if image.mode not in _WHITE:
            raise GridError(f"the image is of mode {shortened(image.mode)}; valid: grey with 8 or 16 bits: {path}")
        pixels = np.array(image, dtype=float)
    # Map convention: x to the right, y up. The first row of an image is its upper edge.
    return pixels[::-1].T, _WHITE[image.mode]


def _png_size(path: Path) -> tuple[int, int]:
    """Width and height from the first chunk of a PNG file."""
    with path.open("rb") as file:
        head = file.read(24)
    if head[:8] != b"\x89PNG\r\n\x1a\n" or head[12:16] != b"IHDR":
        raise ValueError("it is no PNG image")
    width, height = struct.unpack(">II", head[16:24])
    return width, height


def _check_shape(shape: tuple[int, ...], side_min: int, path: Path) -> None:
    if len(shape) != 2 or not all(side_min <= side <= SIDE_MAX for side in shape):
        sides = " x ".join(str(side) for side in shape) or "a single number"
        valid = f"{side_min} x {side_min} to {SIDE_MAX} x {SIDE_MAX} numbers"
        raise GridError(f"it holds {sides}; valid: {valid}: {path}")
