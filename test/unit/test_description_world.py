"""World files."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import grouser
from grouser.physics.base.errors import MachineError
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from grouser.physics.description.data.world import Ground, NamedPose, Obstacle, World
from grouser.physics.description.soils import reader as soil_reader
from grouser.physics.description.world import blocks, grains, heightfield, obstacles

ROOT = Path(__file__).parents[2]
WORLDS = sorted((ROOT / "config" / "worlds").glob("*.yaml"))
PAGE = ROOT / "docs" / "world_files.md"


def load(tmp_path, text):
    path = tmp_path / "yard.yaml"
    path.write_text(text)
    return grouser.load_world(path)


def test_default_world_is_flat():
    assert grouser.load_world(None) == World()
    assert grouser.load_world(next(path for path in WORLDS if path.stem == "flat")) == World()


@pytest.mark.parametrize("path", WORLDS, ids=lambda path: path.stem)
def test_shipped_worlds_load(path):
    world = grouser.load_world(path)
    assert world.name == path.stem
    assert world.description.endswith(".") and world.tags
    assert world.ground is None or math.hypot(*world.ground.normal) == pytest.approx(1.0)


def test_world_with_all_keys(tmp_path):
    world = load(
        tmp_path,
        "name: moon yard\ngravity: [0.0, 0.1, -1.62]\n"
        "ground: {point: [1, 2, 3], normal: [0, 0, 2], friction: 0.5, restitution: 0.1, material: dust}\n"
        "obstacles: [{sphere: 0.5}]\n"
        "spawn: {xyz: [0, 0, 1e-1], rpy_deg: [0, 0, 90]}\n",
    )
    assert world.name == "moon yard"
    assert world.gravity == (0.0, 0.1, -1.62)
    assert world.ground == Ground((1, 2, 3), (0, 0, 1), 0.5, 0.1, "dust")
    assert world.obstacles == (Obstacle("obstacle_1", Sphere(0.5)),)
    assert world.spawn.position == (0.0, 0.0, 0.1)
    assert world.spawn.quaternion == pytest.approx((0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)))


def test_defaults_of_world_files(tmp_path):
    assert load(tmp_path, "# nothing\n") == World(name="yard")
    assert load(tmp_path, "gravity: 1e1") == World(name="yard", gravity=(0.0, 0.0, -10.0))
    assert load(tmp_path, "ground: {height: -2}").ground == Ground((0.0, 0.0, -2.0))
    assert load(tmp_path, "spawn: {xyz: [1, 0, 0]}").spawn == Pose((1.0, 0.0, 0.0))
    assert load(tmp_path, "ground: {normal: [1, 0, 0.01]}").ground.normal[2] == pytest.approx(0.01, rel=1e-3)
    assert load(tmp_path, "ground: null").ground is None
    assert load(tmp_path, "ground: ~").ground is None


def test_obstacles_of_every_shape(tmp_path):
    trimesh.creation.box(bounds=[[0, 0, 0], [1, 1, 1]]).export(tmp_path / "rock.stl")
    found = load(
        tmp_path,
        "obstacles:\n"
        "  - {name: kerb, box: [3, 2, 1], xyz: [1, 2, 3], rpy_deg: [0, 0, 180], friction: 0.4, restitution: 0.3,\n"
        "     material: stone}\n"
        "  - {sphere: 0.5}\n"
        "  - {cylinder: {radius: 1, length: 2}}\n"
        "  - {capsule: {length: 2, radius: 1}}\n"
        "  - {name: rock, mesh: {file: rock.stl, scale: 2}}\n"
        "  - {mesh: {file: rock.stl, scale: [1, -1, 2]}}\n"
        "  - {mesh: {file: rock.stl}}\n",
    ).obstacles
    kerb = found[0]
    assert (kerb.name, kerb.geometry, kerb.material) == ("kerb", Box((3, 2, 1)), "stone")
    assert (kerb.friction, kerb.restitution) == (0.4, 0.3)
    assert kerb.pose.position == (1, 2, 3)
    assert kerb.pose.quaternion == pytest.approx((0, 0, 1, 0), abs=1e-15)
    assert found[1] == Obstacle("obstacle_2", Sphere(0.5), Pose(), 0.8, 0.0, "obstacle")
    assert [one.geometry for one in found[2:4]] == [Cylinder(1.0, 2.0), Capsule(1.0, 2.0)]
    assert [one.name for one in found[4:]] == ["rock", "obstacle_6", "obstacle_7"]
    for one, corner in zip(found[4:], ((2, 2, 2), (1, -1, 2), (1, 1, 1)), strict=True):
        assert isinstance(one.geometry, Mesh) and one.geometry.path == str(tmp_path / "rock.stl")
        corners = one.geometry.hull
        assert len(corners) == 8 and not corners.flags.writeable
        np.testing.assert_array_equal(corners[np.abs(corners).sum(axis=1).argmax()], corner)


def test_description_tags_and_named_poses(tmp_path):
    world = load(
        tmp_path,
        "description: A yard.\ntags: [indoor, small]\nposes:\n"
        "  charger: {xyz: [1, 2, 0], rpy_deg: [0, 0, 90], description: the charger, tags: [parking]}\n"
        "  here: {}\n",
    )
    assert (world.description, world.tags) == ("A yard.", ("indoor", "small"))
    charger, here = world.poses
    assert (charger.name, charger.description, charger.tags) == ("charger", "the charger", ("parking",))
    assert charger.pose.position == (1.0, 2.0, 0.0)
    assert charger.pose.quaternion == pytest.approx((0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)))
    assert here == NamedPose("here", Pose())


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("poses:\n  spawn: {}", 2, "reserved for the initial pose"),
        ("poses:\n  a: {}\n  a: {}", 3, "given twice"),
        ("poses:\n  a: {xy: 1}", 2, "unknown key 'xy'"),
        ("poses: []", 1, "a mapping is needed"),
        ("poses:\n  a: {tags: parking}", 2, "a list is needed"),
        ("tags: [[]]", 1, "a name is needed"),
        ("description: ''", 1, "a name is needed"),
    ],
)
def test_invalid_named_poses_are_refused(tmp_path, text, line, problem):
    with pytest.raises(MachineError, match=re.escape(problem)) as caught:
        load(tmp_path, text)
    assert caught.value.line == line


def test_empty_list_of_obstacles(tmp_path):
    assert load(tmp_path, "obstacles: []").obstacles == ()


def test_world_files_page_lists_all_keys():
    """Each table of the page has exactly the keys of its reader."""
    sections = re.split(r"^##+ ", PAGE.read_text(), flags=re.MULTILINE)[1:]
    written = {part.split("\n")[0].strip("`"): set(re.findall(r"^\| `(\w+)`", part, re.MULTILINE)) for part in sections}
    assert written == {
        "The world": {"name", "description", "tags", "gravity", "ground", "obstacles", "spawn", "poses"}
        | {"geodetic_origin", "granular", "blocks"},
        "ground": {"height", "point", "normal", "heightfield", "friction", "restitution", "material", "edge", "soil"},
        "heightfield": set(heightfield.KEYS),
        "soil": set(soil_reader.KEYS),
        "map": set(soil_reader.MAP_KEYS),
        "heaps": set(soil_reader.HEAP_KEYS),
        "obstacles": set(obstacles.KEYS),
        "spawn": {"xyz", "rpy_deg"},
        "geodetic_origin": {"latitude", "longitude", "altitude", "yaw_deg"},
        "granular": set(grains.KEYS),
        "fills": set(grains.FILL_KEYS),
        "clumps": {*grains.CLUMP_KEYS, *grains.SPHERE_KEYS},
        "blocks": set(blocks.KEYS),
        "walls": set(blocks.WALL_KEYS),
        "loose": set(blocks.LOOSE_KEYS),
        "poses": {"xyz", "rpy_deg", "description", "tags"},
    }


def test_example_of_the_world_files_page_loads(tmp_path):
    example = re.search(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]
    np.savetxt(tmp_path / "yard.csv", np.zeros((5, 9)), delimiter=",")
    Image.fromarray(np.array([[0, 1], [2, 0]], dtype=np.uint8)).save(tmp_path / "types.png")
    world = load(tmp_path, example)
    assert world.ground.material == "gravel" and world.ground.heightfield.heights.shape == (5, 9)
    assert [obstacle.name for obstacle in world.obstacles[:2]] == ["kerb", "obstacle_2"]
    assert [soil.name for soil in world.ground.soil.soils] == ["field", "pit"]


def obstacle(text):
    return f"obstacles:\n  - {text}"


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
    "ground of no material": ("ground: {material: ''}", 1, ["ground material", "a name is needed"]),
    "obstacles as a mapping": ("obstacles: {box: [1, 1, 1]}", 1, ["a list is needed", "'- '"]),
    "obstacle as text": (obstacle("rock"), 2, ["obstacle_1", "a mapping is needed"]),
    "obstacle with an unknown key": (obstacle("{boxes: [1, 1, 1]}"), 2, ["'boxes'", "did you mean 'box'?"]),
    "obstacle without shape": (obstacle("{name: rock}"), 2, ["rock", "no shape", "box, sphere"]),
    "obstacle with two shapes": (obstacle("{box: [1, 1, 1], sphere: 1}"), 2, ["2 shapes (box, sphere)"]),
    "two obstacles of one name": (
        obstacle("{name: a, sphere: 1}\n  - {name: a, sphere: 1}"),
        3,
        ["already an obstacle of this name", "rename one"],
    ),
    "obstacle named as a nameless one": (
        obstacle("{name: obstacle_2, sphere: 1}\n  - {sphere: 1}"),
        3,
        ["obstacle_2", "already an obstacle"],
    ),
    "obstacle of no name": (obstacle("{name: '', sphere: 1}"), 2, ["a name is needed"]),
    "flat box": (obstacle("{box: [1, 0, 1]}"), 2, ["obstacle_1 box", "0 is out of range", "above 0"]),
    "box of two numbers": (obstacle("{box: [1, 1]}"), 2, ["three numbers"]),
    "negative radius": (obstacle("{name: a, sphere: -1}"), 2, ["a sphere", "-1 is out of range"]),
    "sphere of words": (obstacle("{sphere: big}"), 2, ["'big'"]),
    "cylinder without length": (obstacle("{cylinder: {radius: 1}}"), 2, ["cylinder", "'length' is missing"]),
    "capsule without radius": (obstacle("{capsule: {length: 1}}"), 2, ["capsule", "'radius' is missing"]),
    "capsule with a diameter": (obstacle("{capsule: {length: 1, diameter: 1}}"), 2, ["'diameter'"]),
    "capsule of no length": (obstacle("{capsule: {length: 0, radius: 1}}"), 2, ["capsule length", "above 0"]),
    "mesh without file": (obstacle("{mesh: {scale: 1}}"), 2, ["'file' is missing"]),
    "mesh that is not there": (obstacle("{mesh: {file: rock.stl}}"), 2, ["'rock.stl'", "mesh not found"]),
    "mesh of unknown format": (obstacle("{mesh: {file: rock.step}}"), 2, ["'.step' is not read"]),
    "mesh of no size": (obstacle("{mesh: {file: rock.stl, scale: 0}}"), 2, ["scale", "factors other than zero"]),
    "mesh of two scales": (obstacle("{mesh: {file: rock.stl, scale: [1, 1]}}"), 2, ["three numbers"]),
    "obstacle nowhere": (obstacle("{sphere: 1, xyz: [0, 0, .inf]}"), 2, ["obstacle_1 xyz", "'.inf'"]),
    "obstacle turned once": (obstacle("{sphere: 1, rpy_deg: 90}"), 2, ["rpy_deg", "three numbers"]),
    "obstacle that pulls": (obstacle("{sphere: 1, friction: -1}"), 2, ["friction", "-1 is out of range"]),
    "obstacle that gains energy": (obstacle("{sphere: 1, restitution: 2}"), 2, ["restitution", "0 to 1"]),
    "obstacle of no material": (obstacle("{sphere: 1, material: []}"), 2, ["material", "a name is needed"]),
    "empty name": ("name: ''", 1, ["a name is needed"]),
    "not YAML": ("gravity: [1, 2", 1, ["not valid YAML"]),
    "tabs": ("ground:\n\tfriction: 1", 2, ["not valid YAML"]),
    "unknown anchor": ("gravity: *g", 1, ["not valid YAML"]),
    "two documents": ("gravity: 1\n---\ngravity: 2", 2, ["not valid YAML"]),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_worlds_are_refused_with_line_and_reason(tmp_path, name):
    text, line, words = BAD[name]
    with pytest.raises(MachineError) as caught:
        load(tmp_path, text)
    assert caught.value.file == str(tmp_path / "yard.yaml")
    assert caught.value.line == line
    for word in words:
        assert word in str(caught.value)


def test_files_that_are_not_worlds_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "absent.yaml"):
        with pytest.raises(MachineError):
            grouser.load_world(path)
    for content in (b"", b"\xff\xfe\x00", b"\x00", b"[" * 10_000, b"{" * 10_000, b"a: &a [*a]"):
        path = tmp_path / "bad.yaml"
        path.write_bytes(content)
        with pytest.raises(MachineError):
            grouser.load_world(path)


def test_yaml_aliases_do_not_expand_without_bound(tmp_path):
    lines = ["a: &a0 [1, 2]"] + [f"b{i}: &a{i + 1} [*a{i}, *a{i}, *a{i}, *a{i}]" for i in range(40)]
    with pytest.raises(MachineError, match="unknown key"):
        load(tmp_path, "\n".join(lines))


TEXT = (
    "name: yard\ngravity: [0, 0, -9.81]\nground:\n  {point: [1, 2, 3], normal: [0, 0, 2], friction: 0.5, edge: flat,\n"
    "   soil: {level: stress, cell: 0.01, bulldozing: false, type: {preset: cmu_sand, cohesion: 900, exponent: 1.2}}}\n"
    "obstacles: [{box: [1, 1, 1], xyz: [0, 0, 1]}, {name: b, capsule: {radius: 1, length: 2}, friction: 1}]\n"
    "spawn: {xyz: [0, 0, 1], rpy_deg: [0, 0, 90]}\n"
    "tags: [a, b]\nposes: {gate: {xyz: [1, 2, 3], description: in, tags: [goal]}}\n"
)


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_mutated_worlds_load_or_are_refused(tmp_path_factory, data):
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
    assert all(math.isfinite(number) for place in world.poses for number in place.pose.position)
