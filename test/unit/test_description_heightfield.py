"""Height fields of world files: arrays, tables and images."""

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import grouser
from grouser.physics.base.errors import MachineError
from grouser.physics.description.data.world import Ground
from grouser.physics.description.text import grid_file

WORLDS = Path(__file__).parents[2] / "config" / "worlds"
# x to the right, y up; three columns of x, two of y
HEIGHTS = np.array([[0.0, 0.5], [1.0, 0.25], [-2.0, 0.125]])


def load(folder, content):
    path = folder / "yard.yaml"
    path.write_text(f"ground:\n  heightfield: {{{content}}}\n")
    return grouser.load_world(path).ground


@pytest.fixture
def folder(tmp_path):
    np.save(tmp_path / "h.npy", HEIGHTS)
    np.savetxt(tmp_path / "h.csv", HEIGHTS, delimiter=",", header="metres")
    return tmp_path


@pytest.mark.parametrize("file", ["h.npy", "h.csv"])
def test_heights_from_arrays_and_tables(folder, file):
    ground = load(folder, f"file: {file}, cell: 0.5")
    np.testing.assert_array_equal(ground.heightfield.heights, HEIGHTS)
    assert ground.heightfield.cell == 0.5
    assert ground.heightfield.origin == (-0.5, -0.25)
    assert (ground.point, ground.normal, ground.friction) == (Ground.point, Ground.normal, Ground.friction)
    with pytest.raises(ValueError, match="read-only"):
        ground.heightfield.heights[0, 0] = 1.0


def test_byte_order_mark_of_a_table_is_ignored(folder):
    (folder / "h.csv").write_bytes((folder / "h.csv").read_bytes()[len("# metres\n") :])
    (folder / "h.csv").write_bytes(b"\xef\xbb\xbf" + (folder / "h.csv").read_bytes())
    np.testing.assert_array_equal(load(folder, "file: h.csv, cell: 0.5").heightfield.heights, HEIGHTS)


def test_origin_scale_and_offset_of_a_height_field(folder):
    field = load(folder, "file: h.npy, cell: 2, origin: [3, -4], height_scale: -2, height: 10").heightfield
    np.testing.assert_array_equal(field.heights, 10.0 - 2.0 * HEIGHTS)
    assert (field.cell, field.origin) == (2.0, (3.0, -4.0))


def test_surface_properties_of_a_height_field(folder):
    path = folder / "yard.yaml"
    path.write_text(
        "ground: {heightfield: {file: h.npy, cell: 1}, friction: 0.3, restitution: 0.2, material: gravel}\n"
    )
    ground = grouser.load_world(path).ground
    assert (ground.friction, ground.restitution, ground.material) == (0.3, 0.2, "gravel")


@pytest.mark.parametrize("bits", [8, 16])
def test_image_orientation_and_scale(tmp_path, bits):
    white = 2**bits - 1
    # upper row: y is large; left column: x is small
    pixels = np.array([[0, white, 51 * white // 255], [white, 0, 0]], dtype=np.uint8 if bits == 8 else np.uint16)
    Image.fromarray(pixels).save(tmp_path / "h.png")
    heights = load(tmp_path, "file: h.png, cell: 1, height_scale: 5, height: 1").heightfield.heights
    # 51 / 255 = 1 / 5
    np.testing.assert_allclose(heights, [[6.0, 1.0], [1.0, 6.0], [1.0, 2.0]], rtol=1e-15)


@pytest.mark.parametrize("dtype", ["f4", ">f8", "i2", "u1"])
def test_arrays_of_all_number_types(tmp_path, dtype):
    np.save(tmp_path / "h.npy", np.asfortranarray(np.array([[1, 2], [3, 4]], dtype=dtype)))
    heights = load(tmp_path, "file: h.npy, cell: 1").heightfield.heights
    assert heights.dtype == np.float64 and heights.flags.c_contiguous
    np.testing.assert_array_equal(heights, [[1, 2], [3, 4]])


def test_rough_ground_matches_its_formula():
    """The formula in the comment, to the millimetre that the table is written to."""
    field = grouser.load_world(WORLDS / "rough_ground.yaml").ground.heightfield
    x, y = (field.origin[axis] + field.cell * np.arange(81) for axis in range(2))
    x, y = x[:, None], y[None, :]
    s = np.clip(np.hypot(x, y) - 1.0, 0.0, 3.0) / 3.0
    waves = 0.10 * np.sin(0.8 * x + 0.3 * y) + 0.06 * np.sin(1.1 * y - 1.5 * x + 1)
    waves += 0.03 * np.sin(2.9 * x + 2.3 * y + 2)
    np.testing.assert_allclose(field.heights, s**2 * (3 - 2 * s) * waves, atol=0.5e-3 + 1e-12)


def write(folder, name, content):
    path = folder / name
    if isinstance(content, bytes | str):
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    elif name.endswith(".npy"):
        np.save(path, content)
    else:
        content.save(path)


# Heightfield in yard.yaml (in line 2), a file beside it, words of the message.
BAD = {
    "no file": ("cell: 1", None, ["key 'file' is missing"]),
    "no cell": ("file: h.npy", None, ["key 'cell' is missing"]),
    "unknown key": ("file: h.npy, cell: 1, size: 3", None, ["'size'"]),
    "cell of no size": ("file: h.npy, cell: 0", None, ["heightfield cell", "0 is out of range", "above 0"]),
    "origin in space": ("file: h.npy, cell: 1, origin: [0, 0, 0]", None, ["two numbers", "[x, y]"]),
    "absent": ("file: absent.npy, cell: 1", None, ["no such file", "absent.npy"]),
    "folder": ("file: ../, cell: 1", None, ["format '' is not read", ".npy, .csv, .png"]),
    "other format": ("file: h.tiff, cell: 1", ("h.tiff", "x"), ["format '.tiff' is not read", ".npy, .csv, .png"]),
    "package": ("file: 'package://no_such_package/h.npy', cell: 1", None, ["'no_such_package' is not found"]),
    "empty": ("file: bad.csv, cell: 1", ("bad.csv", ""), ["0 bytes"]),
    "blank": ("file: bad.csv, cell: 1", ("bad.csv", "\n\n"), ["valid: 2 x 2"]),
    "ragged": ("file: bad.csv, cell: 1", ("bad.csv", "1,2\n3\n"), ["cannot be read", "bad.csv"]),
    "words": ("file: bad.csv, cell: 1", ("bad.csv", "1,2\n3,x\n"), ["cannot be read", "'x'"]),
    "gap in a table": ("file: bad.csv, cell: 1", ("bad.csv", "1,nan\n3,4\n"), ["height [0, 1] is nan"]),
    "one line": ("file: bad.csv, cell: 1", ("bad.csv", "1,2,3\n"), ["it holds 1 x 3"]),
    "infinite": ("file: bad.npy, cell: 1", ("bad.npy", np.array([[0, 1], [np.inf, 2]])), ["height [1, 0] is inf"]),
    "scaled beyond use": (
        "file: bad.npy, cell: 1, height_scale: 1e6",
        ("bad.npy", np.full((2, 2), 1e305)),
        ["height [0, 0] is inf m", "at most 1e+09"],
    ),
    "three dimensions": ("file: bad.npy, cell: 1", ("bad.npy", np.zeros((2, 2, 2))), ["it holds 2 x 2 x 2"]),
    "no dimension": ("file: bad.npy, cell: 1", ("bad.npy", np.array(3.0)), ["a single number"]),
    "narrow": ("file: bad.npy, cell: 1", ("bad.npy", np.zeros((1, 5))), ["it holds 1 x 5"]),
    "too wide": ("file: bad.npy, cell: 1", ("bad.npy", np.zeros((2, 4001))), ["it holds 2 x 4001", "4000 x 4000"]),
    "complex": ("file: bad.npy, cell: 1", ("bad.npy", np.zeros((2, 2), complex)), ["complex128, not numbers"]),
    "objects": ("file: bad.npy, cell: 1", ("bad.npy", np.array([["a", {}]] * 2, object)), ["cannot be read"]),
    "no array": ("file: bad.npy, cell: 1", ("bad.npy", b"\x93NUMPY garbage"), ["cannot be read"]),
    "no image": ("file: bad.png, cell: 1", ("bad.png", b"\x89PNG\r\n\x1a\n garbage"), ["cannot be read"]),
    "jpeg": ("file: bad.png, cell: 1", ("bad.png", b"\xff\xd8\xff\xe0 garbage"), ["cannot be read"]),
    "colours": ("file: bad.png, cell: 1", ("bad.png", Image.new("RGB", (3, 3))), ["mode 'RGB'", "grey"]),
    "image too wide": ("file: bad.png, cell: 1", ("bad.png", Image.new("L", (4001, 2))), ["it holds 4001 x 2"]),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_height_fields_are_refused_with_line_and_reason(folder, name):
    content, file, words = BAD[name]
    if file is not None:
        write(folder, *file)
    with pytest.raises(MachineError) as caught:
        load(folder, content)
    assert caught.value.file == str(folder / "yard.yaml")
    assert caught.value.line == 2
    assert "heightfield" in caught.value.element
    for word in words:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["height: 1", "point: [0, 0, 1]", "normal: [0, 0, 1]"])
def test_plane_and_height_field_together_are_refused(folder, key):
    path = folder / "yard.yaml"
    path.write_text(f"ground:\n  heightfield: {{file: h.npy, cell: 1}}\n  {key}\n")
    with pytest.raises(MachineError, match=f"{key.partition(':')[0]} and heightfield") as caught:
        grouser.load_world(path)
    assert caught.value.line == 3


def test_large_grid_file_is_refused(folder, monkeypatch):
    monkeypatch.setattr(grid_file, "BYTES_MAX", 10)
    with pytest.raises(MachineError, match="valid: 1 to 10"):
        load(folder, "file: h.csv, cell: 1")


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_damaged_height_files_load_or_are_refused(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("heights")
    suffix = data.draw(st.sampled_from([".npy", ".csv", ".png"]))
    path = folder / f"h{suffix}"
    if suffix == ".npy":
        np.save(path, HEIGHTS)
    elif suffix == ".csv":
        np.savetxt(path, HEIGHTS, delimiter=",")
    else:
        Image.fromarray(np.arange(12, dtype=np.uint8).reshape(3, 4)).save(path)
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw)))
        raw[at : at + data.draw(st.integers(0, 20))] = data.draw(st.binary(max_size=4))
    path.write_bytes(raw)
    try:
        heights = load(folder, f"file: {path.name}, cell: 1").heightfield.heights
    except MachineError as error:
        assert str(folder) in str(error)
        return
    assert heights.ndim == 2 and np.isfinite(heights).all()


@pytest.mark.parametrize("sides", [(90_000, 110_000), (2**31 - 1, 2**31 - 1), (0, 40)])
def test_image_that_claims_many_pixels_is_refused_before_it_is_read(folder, sides):
    """A file of a hundred bytes; Pillow's own limit would end in its own error."""
    chunk = b"IHDR" + struct.pack(">IIBBBBB", *sides, 8, 0, 0, 0, 0)
    raw = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk)) + b"\x00" * 60
    (folder / "vast.png").write_bytes(raw)
    with pytest.raises(MachineError, match=rf"holds {sides[0]} x {sides[1]}; valid: 2 x 2 to 4000 x 4000 numbers"):
        load(folder, "file: vast.png, cell: 0.5")
