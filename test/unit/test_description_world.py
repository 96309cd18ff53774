"""World files."""

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import grouser
from grouser.physics.description.machine import Ground, Pose, World
from grouser.physics.errors import MachineError

WORLDS = sorted((Path(__file__).parents[2] / "config" / "worlds").glob("*.yaml"))


def load(tmp_path, text):
    path = tmp_path / "yard.yaml"
    path.write_text(text)
    return grouser.load_world(path)


def test_no_file_is_the_flat_world():
    assert grouser.load_world(None) == World()
    assert grouser.load_world(next(path for path in WORLDS if path.stem == "flat")) == World()


@pytest.mark.parametrize("path", WORLDS, ids=lambda path: path.stem)
def test_the_worlds_that_come_along_load(path):
    world = grouser.load_world(path)
    assert world.name == path.stem
    assert math.hypot(*world.ground.normal) == pytest.approx(1.0)


def test_everything_can_be_said(tmp_path):
    world = load(
        tmp_path,
        "name: moon yard\ngravity: [0.0, 0.1, -1.62]\n"
        "ground: {point: [1, 2, 3], normal: [0, 0, 2], friction: 0.5, restitution: 0.1}\n"
        "spawn: {xyz: [0, 0, 1e-1], rpy_deg: [0, 0, 90]}\n",
    )
    assert world.name == "moon yard"
    assert world.gravity == (0.0, 0.1, -1.62)
    assert world.ground == Ground((1, 2, 3), (0, 0, 1), 0.5, 0.1)
    assert world.spawn.position == (0.0, 0.0, 0.1)
    assert world.spawn.quaternion == pytest.approx((0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)))


def test_what_is_not_said_has_its_default(tmp_path):
    assert load(tmp_path, "# nothing\n") == World(name="yard")
    assert load(tmp_path, "gravity: 1e1") == World(name="yard", gravity=(0.0, 0.0, -10.0))
    assert load(tmp_path, "ground: {height: -2}").ground == Ground((0.0, 0.0, -2.0))
    assert load(tmp_path, "spawn: {xyz: [1, 0, 0]}").spawn == Pose((1.0, 0.0, 0.0))
    assert load(tmp_path, "ground: {normal: [1, 0, 0.01]}").ground.normal[2] == pytest.approx(0.01, rel=1e-3)
    assert load(tmp_path, "ground: null").ground is None
    assert load(tmp_path, "ground: ~").ground is None


BAD = {
    "unknown key": ("gravity: 9.81\ngrond: {}", 2, ["'grond'", "did you mean 'ground'?"]),
    "unknown key within": ("ground:\n  hight: 1", 2, ["'hight'", "did you mean 'height'?"]),
    "key twice": ("gravity: 9.81\ngravity: 1", 2, ["given twice"]),
    "not a mapping": ("- 1\n- 2", 1, ["mapping"]),
    "text": ("hello", 1, ["mapping"]),
    "upward gravity": ("gravity: -9.81", 1, ["-9.81", "0 to"]),
    "gravity not finite": ("gravity: .nan", 1, ["'.nan'"]),
    "gravity of two numbers": ("gravity: [0, 1]", 1, ["three numbers"]),
    "gravity as words": ("gravity: [0, 0, down]", 1, ["'down'"]),
    "no direction": ("ground: {normal: [0, 0, 0]}", 1, ["no direction"]),
    "vertical ground": ("ground:\n  normal: [1, 0, 0]", 2, ["ground normal", "vertical wall", "points up"]),
    "almost vertical ground": ("ground: {normal: [0, 1000, 0.9]}", 1, ["vertical wall"]),
    "negative friction": ("ground: {friction: -1}", 1, ["-1 is out of range"]),
    "restitution above one": ("ground: {restitution: 2}", 1, ["2 is out of range; valid: 0 to 1"]),
    "height and point": ("ground:\n  height: 1\n  point: [0, 0, 0]", 3, ["height and point"]),
    "ground as text": ("ground: 'null'", 1, ["mapping"]),
    "empty name": ("name: ''", 1, ["a name is needed"]),
    "not YAML": ("gravity: [1, 2", 1, ["not valid YAML"]),
    "tabs": ("ground:\n\tfriction: 1", 2, ["not valid YAML"]),
    "unknown anchor": ("gravity: *g", 1, ["not valid YAML"]),
    "two documents": ("gravity: 1\n---\ngravity: 2", 2, ["not valid YAML"]),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_world_is_refused_with_its_line(tmp_path, name):
    text, line, words = BAD[name]
    with pytest.raises(MachineError) as caught:
        load(tmp_path, text)
    assert caught.value.file == str(tmp_path / "yard.yaml")
    assert caught.value.line == line
    for word in words:
        assert word in str(caught.value)


def test_files_that_are_no_worlds_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "absent.yaml"):
        with pytest.raises(MachineError):
            grouser.load_world(path)
    for content in (b"", b"\xff\xfe\x00", b"\x00", b"[" * 10_000, b"{" * 10_000, b"a: &a [*a]"):
        path = tmp_path / "bad.yaml"
        path.write_bytes(content)
        with pytest.raises(MachineError):
            grouser.load_world(path)


def test_aliases_cannot_blow_up(tmp_path):
    lines = ["a: &a0 [1, 2]"] + [f"b{i}: &a{i + 1} [*a{i}, *a{i}, *a{i}, *a{i}]" for i in range(40)]
    with pytest.raises(MachineError, match="unknown key"):
        load(tmp_path, "\n".join(lines))


TEXT = (
    "name: yard\ngravity: [0, 0, -9.81]\nground: {point: [1, 2, 3], normal: [0, 0, 2], friction: 0.5}\n"
    "spawn: {xyz: [0, 0, 1], rpy_deg: [0, 0, 90]}\n"
)


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_a_mutated_world_loads_or_is_refused(tmp_path_factory, data):
    raw = bytearray(TEXT.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw)))
        end = data.draw(st.integers(at, min(len(raw), at + 8)))
        raw[at:end] = data.draw(
            st.sampled_from(
                [b"", b"nan", b"1e999", b"&a ", b"*a", b"!!python/object:os.system ", b"]", b"{", b": ", b"\n- "]
            )
            | st.binary(max_size=4)
        )
    path = tmp_path_factory.mktemp("world") / "yard.yaml"
    path.write_bytes(raw)
    try:
        world = grouser.load_world(path)
    except MachineError as error:
        assert str(path) in str(error)
        return
    assert all(map(math.isfinite, (*world.gravity, *world.spawn.position, *world.spawn.quaternion)))
