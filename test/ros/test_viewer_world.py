"""Ground, obstacles and objects as the viewer draws them."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import trimesh
import viser
from control_msgs.msg import DynamicInterfaceGroupValues
from matplotlib.tri import LinearTriInterpolator, Triangulation
from patience import DEADLINE
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from theatre import MACHINE, NO_TURN, OTHER_MACHINE, QUARTER_TURN, Theatre, drawn_pose, handle, playing, stands_at
from visualization_msgs.msg import Marker, MarkerArray
from websockets.sync.client import connect

from grouser import catalogue
from grouser.nodes.shared import topics
from grouser.nodes.shared.messages import fill_group_values, make_group_values, point_cloud
from grouser.nodes.simulator.block_messages import BlockMarkers
from grouser.nodes.simulator.object_markers import object_markers
from grouser.nodes.viewer.soils import Grain
from grouser.nodes.viewer.values import FALLING_VALUES
from grouser.nodes.viewer.world import FIELD_POINTS, field_surface, natural_cells
from grouser.physics.base.errors import MachineError
from grouser.physics.contact.terrain import surface_below
from grouser.physics.description import load_soil, load_world, parse_machine
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import Heightfield
from grouser.runtime.sampling import BlockScene


@pytest.fixture
def theatre() -> Iterator[Theatre]:
    with playing() as theatre:
        yield theatre


def test_ruts_replace_the_natural_ground(theatre: Theatre, world_file: Callable[[str], str]) -> None:
    """A trench of 0.1 m depth on a slope: the tiles have its heights, and the ground has a hole just there."""
    slope = "point: [0.0, 0.0, 0.5], normal: [-0.6, 0.0, 0.8]"
    viewer = theatre.open_viewer(world_file(f"ground: {{{slope}, soil: {{type: dry_sand, cell: 0.05}}}}"))
    publisher = theatre.stage.create_publisher(PointCloud2, topics.TERRAIN, topics.LATCHED)
    i, j = (index.ravel() for index in np.mgrid[-8:8, 0:16])
    x, y = 0.05 * i, 0.05 * j
    rut = np.where((j >= 4) & (j < 8), 0.1, 0.0)
    columns = {"x": x, "y": y, "z": 0.5 + 0.75 * x - rut, "sinkage": rut, "rut": rut, "pressure": 1e6 * rut}

    def surface(name: str) -> trimesh.Trimesh:
        (mesh,) = trimesh.load(io.BytesIO(handle(viewer, name).glb_data), file_type="glb").geometry.values()
        return mesh

    area = 400.0**2 / 0.8
    assert surface("/ground/dry_sand").area == pytest.approx(area)
    publisher.publish(point_cloud("map", 2_000_000_000, columns))
    theatre.wait_for(lambda: handle(viewer, "/terrain/0_0"), "the trench")
    for place in (-1, 0):
        vertices = surface(f"/terrain/{place}_0").vertices
        ahead, left, height = vertices.T
        trench = (ahead > -0.41) & (ahead < 0.36) & (left > 0.19) & (left < 0.36)
        assert trench.any()
        np.testing.assert_allclose(height, 0.5 + 0.75 * ahead - 0.1 * trench, atol=1e-5)
    assert surface("/ground/dry_sand").area == pytest.approx(area - 2 * (32 * 0.05) ** 2 / 0.8)
    # A clock that was set back: the simulation was reset.
    rut[:] = 0.0
    publisher.publish(point_cloud("map", 1_000_000_000, columns | {"z": 0.5 + 0.75 * x, "pressure": rut}))
    theatre.wait_for(lambda: handle(viewer, "/terrain/0_0") is None, "natural ground after a reset")
    assert surface("/ground/dry_sand").area == pytest.approx(area)


def test_grains_are_drawn_in_colours(theatre: Theatre, world_file: Callable[[str], str]) -> None:
    """One mesh for all grains, which move with the messages; colours by material, speed or force, whose scale grows."""
    fills = "fills: {heap: {material: stone, box: [1, 1, 1], radius: 0.1}}"
    viewer = theatre.open_viewer(world_file(f"granular: {{materials: {{stone: {{youngs_modulus: 1.0e6}}}}, {fills}}}"))
    publisher = theatre.stage.create_publisher(PointCloud2, topics.GRAINS, topics.SENSOR_DATA)
    theatre.wait_for(lambda: publisher.get_subscription_count() == 1, "the viewer listens")
    column = np.arange(3.0)
    grains = {"x": column, "y": -column, "z": 2.0 * column, "radius": 0.1 + 0.01 * column, "speed": column}
    cloud = grains | {"material": np.array([0.0, 0.0, 1.0]), "force": np.array([0.0, 35.0, 90.0])}

    def shows(places: np.ndarray) -> bool:
        publisher.publish(point_cloud("map", 0, cloud))
        return (balls := handle(viewer, "/grains")) is not None and np.allclose(balls.batched_positions, places)

    theatre.wait_for(lambda: shows(np.stack([column, -column, 2.0 * column], axis=1)), "the grains")
    balls = handle(viewer, "/grains")
    np.testing.assert_allclose(balls.batched_scales, 0.1 + 0.01 * column, rtol=1e-6)
    stones = np.array(balls.batched_colors)
    assert (stones[0] == stones[1]).all() and (stones[0] != stones[2]).any()
    cloud["x"] = column + 1.0
    theatre.wait_for(
        lambda: shows(np.stack([column + 1.0, -column, 2.0 * column], axis=1)), "the grains at their new places"
    )
    with viewer.scene.server.atomic():
        viewer.scene.grains.colour_by("speed")
    speeds = np.array(handle(viewer, "/grains").batched_colors)
    assert len({tuple(colour) for colour in speeds.tolist()}) == 3
    viewer.scene._grain_choice.value = "force"
    theatre.wait_for(lambda: ">100 N<" in viewer.scene._legend.content, "the scale of forces")
    forces = np.array(handle(viewer, "/grains").batched_colors)
    cloud["force"], cloud["x"] = 7.0 * cloud["force"], column
    theatre.wait_for(lambda: shows(np.stack([column, -column, 2.0 * column], axis=1)), "the grains with other forces")
    theatre.wait_for(lambda: ">1e+03 N<" in viewer.scene._legend.content, "a scale for these")
    assert (np.array(handle(viewer, "/grains").batched_colors)[1:] != forces[1:]).any(axis=1).all()


def test_blocks_are_drawn_where_they_are(theatre: Theatre, world_file: Callable[[str], str]) -> None:
    """One mesh for the blocks of one shape, which move and turn with the messages."""
    material = "{youngs_modulus: 1.0e7, poisson_ratio: 0.2, density: 2000}"
    interface = "{normal_stiffness: 1.0e7, shear_stiffness: 1.0e7}"
    loose = "{lump: {box: [0.1, 0.1, 0.1]}}"
    viewer = theatre.open_viewer(
        world_file(f"blocks: {{material: {material}, interface: {interface}, loose: {loose}}}")
    )
    publisher = theatre.stage.create_publisher(MarkerArray, topics.BLOCKS, topics.RELIABLE)
    theatre.wait_for(lambda: publisher.get_subscription_count() == 1, "the viewer listens")
    small, large = np.eye(3)[np.newaxis], 2.0 * np.eye(3)[np.newaxis]
    poses = np.tile(np.array([0.0, 0.0, 0.0, *NO_TURN]), (3, 1))
    poses[:, 0] = 1.0, 2.0, 3.0
    poses[2, 3:] = QUARTER_TURN
    markers = BlockMarkers("map")

    def shows(numbers: list[int], group: int) -> bool:
        publisher.publish(markers.message(0, BlockScene(("a", "b", "c"), (small, large, small), poses)))
        shown = handle(viewer, f"/blocks/{group}")
        return shown is not None and np.allclose(shown.batched_positions, poses[numbers, :3])

    theatre.wait_for(lambda: shows([0, 2], 0) and shows([1], 1), "the blocks")
    turns = np.array(handle(viewer, "/blocks/0").batched_wxyzs)
    np.testing.assert_allclose(turns, np.roll(poses[[0, 2], 3:], 1, axis=1), atol=1e-6)
    poses[:, 2] += 0.5
    theatre.wait_for(lambda: shows([0, 2], 0) and shows([1], 1), "the blocks at their new places")


def test_soil_is_drawn_in_buckets_and_in_the_air(theatre: Theatre, world_file: Callable[[str], str]) -> None:
    """The bucket's soil is below the node of its link, and goes when the bucket is empty."""
    shovel = """<grouser><shovel name="scoop" link="arm" cutting_edge="0.2 -0.2 0 0.2 0.2 0" cutting_direction="0 0 1"
      top_edge="-0.2 -0.2 0 -0.2 0.2 0" profile="0.2 0 0 0.2 0 -0.2 -0.2 0 -0.2 -0.2 0 0"/></grouser></robot>"""
    viewer = theatre.open_viewer(world_file("ground: {soil: {type: sandy_loam, cell: 0.05}}"))
    theatre.stage.describe(MACHINE.replace("</robot>", shovel))
    loads = theatre.stage.create_publisher(DynamicInterfaceGroupValues, topics.BUCKETS, topics.RELIABLE)
    falling = theatre.stage.create_publisher(PointCloud2, topics.FALLING, topics.SENSOR_DATA)
    theatre.wait_for(lambda: viewer.scene.links and falling.get_subscription_count() == 1, "the machine")
    message, node = make_group_values([("scoop", ("mass", "volume"))]), f"{viewer.scene.nodes['arm']}/soil_scoop"
    lots = dict.fromkeys(FALLING_VALUES, np.array([0.3, 0.4]))

    def publish(volume: float) -> None:
        fill_group_values(message, 0, [np.array([1300.0 * volume, volume])])
        loads.publish(message)
        falling.publish(point_cloud("map", 0, lots if volume else {name: np.zeros(0) for name in lots}))

    def seen(volume: float, what: Callable[[], bool]) -> bool:
        publish(volume)
        return what()

    theatre.wait_for(lambda: seen(0.016, lambda: handle(viewer, node) and handle(viewer, "/falling_soil")), "soil")
    half = handle(viewer, node).vertices[:, 2]
    assert (half.min(), half.max()) == pytest.approx((-0.2, -0.1), abs=1e-3)  # half of the trough
    assert len(handle(viewer, "/falling_soil").batched_positions) == 10
    theatre.wait_for(
        lambda: seen(0.0, lambda: handle(viewer, node) is None and handle(viewer, "/falling_soil") is None), "no soil"
    )


def test_machines_in_namespaces_are_drawn_beside(theatre: Theatre, world_file: Callable[[str], str]) -> None:
    """A trough is drawn where its frames are, with its soil; another description replaces it, and it goes with it."""
    shovel = """<grouser><shovel name="scoop" link="base_link" cutting_edge="0.2 -0.2 0 0.2 0.2 0"
      cutting_direction="0 0 1" top_edge="-0.2 -0.2 0 -0.2 0.2 0" profile="0.2 0 0 0.2 0 -0.2 -0.2 0 -0.2 -0.2 0 0"/>
      </grouser></robot>"""
    viewer, stage = theatre.open_viewer(world_file("ground: {soil: {type: sandy_loam, cell: 0.05}}")), theatre.stage
    descriptions = stage.create_publisher(String, f"trough/{topics.ROBOT_DESCRIPTION}", topics.LATCHED)
    loads = stage.create_publisher(DynamicInterfaceGroupValues, f"trough/{topics.BUCKETS}", topics.RELIABLE)
    descriptions.publish(String(data=MACHINE.replace("</robot>", shovel)))
    message = make_group_values([("scoop", ("volume",))])
    fill_group_values(message, 0, [np.array([0.016])])
    theatre.wait_for(lambda: loads.get_subscription_count() == 1, "the trough's listener")
    assert not viewer.scene.beside  # its place is not known
    stage.place("trough/base_link", "map", (1.0, 2.0, 3.0), QUARTER_TURN)
    stage.place("trough/arm", "trough/base_link", (0.5, 0.0, 0.0))

    def soil() -> viser.MeshHandle | None:
        loads.publish(message)
        return handle(viewer, "/machines/trough/trough|base_link/soil_trough|scoop")

    theatre.wait_for(soil, "the trough with its soil")
    assert viewer.scene.links == ()  # the machine of the page
    pose = drawn_pose(viewer, "/machines/trough/trough|base_link/trough|arm")
    assert pose.position == pytest.approx((1.0, 2.5, 3.0))

    descriptions.publish(String(data=OTHER_MACHINE))
    stage.place("trough/ball", "map", (0.0, 0.0, 1.0))
    theatre.wait_for(lambda: handle(viewer, "/machines/trough/trough|ball/0"), "the ball in its place")
    assert handle(viewer, "/machines/trough/trough|base_link/soil_trough|scoop") is None
    stage.destroy_publisher(descriptions)
    theatre.wait_for(lambda: not viewer.scene.beside, "that the ball is gone")
    assert handle(viewer, "/machines/trough/trough|ball/0") is None


def test_natural_ground_covers_all_but_the_tiles() -> None:
    """Over a map of soils and scattered tiles: each place is in one rectangle, of its soil, or in a tile."""
    types = np.random.default_rng(6).integers(-1, 2, (5, 4))
    soils = (load_soil("dry_sand"), load_soil("clay"))
    soil = SoilGround(soils, cell=0.05, types=types, types_cell=2.0, types_origin=(-3.0, 1.0))
    grain, tiles = Grain(soil), {(-1, 0), (0, 0), (0, 3), (2, -2)}
    places = np.random.default_rng(7).uniform(-8.0, 12.0, (500, 2))
    covers = np.zeros(len(places), dtype=int)
    for kind in (-1, 0, 1):
        corners = natural_cells(soil, grain, kind, tiles)
        low, high = corners[:, 0], corners[:, 2]
        inside = ((places[:, np.newaxis] > low) & (places[:, np.newaxis] < high)).all(axis=2).sum(axis=1)
        assert (grain.kinds(*places[inside > 0].T) == kind).all()
        covers += inside
    tiled = np.array([tuple(place) in tiles for place in np.floor(places / (32 * 0.05)).astype(int).tolist()])
    assert 0 < tiled.sum() < len(places)
    np.testing.assert_array_equal(covers, ~tiled)


def test_objects_are_drawn_where_they_are(theatre: Theatre) -> None:
    """Every shape of an object moves with it; objects that are gone are no longer drawn."""
    stage, viewer = theatre.stage, theatre.open_viewer()
    shapes = stage.create_publisher(MarkerArray, topics.OBJECT_SHAPES, topics.LATCHED)
    poses = stage.create_publisher(TFMessage, topics.OBJECT_POSES, topics.RELIABLE)
    crate = """<visual><origin xyz="0 0 0.5"/><geometry><box size="1 2 3"/></geometry>
      <material name="m"><color rgba="1 0 0 1"/></material></visual>
      <collision><geometry><sphere radius="0.3"/></geometry></collision>"""
    pill = '<collision><geometry><capsule radius="0.1" length="0.6"/></geometry></collision>'
    texts = {
        name: OTHER_MACHINE.replace("<collision>", f"{shape}<!--").replace("</collision></link>", "--></link>")
        for name, shape in (("crate", crate), ("pill", pill))
    }
    markers = {name: list(object_markers(name, parse_machine(text, file=name))) for name, text in texts.items()}

    def publish(*names: str) -> None:
        shown = [marker for name in names for marker in markers[name]]
        shapes.publish(MarkerArray(markers=[Marker(action=Marker.DELETEALL), *shown]))

    def place() -> None:
        stage.place("crate", "map", (1, 2, 3), QUARTER_TURN)
        stage.place("pill", "map", (0, 0, 5))
        poses.publish(TFMessage(transforms=list(stage.transforms.values())))
        stage.transforms.clear()

    def seen_at(name: str, position: tuple, quaternion: tuple) -> bool:
        place()
        frame = handle(viewer, f"/objects/{name}")
        return (
            frame is not None
            and frame.visible
            and np.allclose(frame.position, position)
            and abs(frame.wxyz @ np.roll(quaternion, 1)) > 1.0 - 1e-9
        )

    theatre.wait_for(lambda: place() or viewer.scene.objects._received, "poses before shapes")
    publish("crate", "pill")
    theatre.wait_for(lambda: handle(viewer, "/objects/crate"), "the crate at the pose that is known")
    assert handle(viewer, "/objects/crate").visible
    theatre.wait_for(lambda: seen_at("crate", (1, 2, 3), QUARTER_TURN), "the crate")
    theatre.wait_for(lambda: seen_at("pill", (0, 0, 5), NO_TURN), "the pill")
    box, body, end = (handle(viewer, f"/objects/{name}") for name in ("crate/0", "pill/0", "pill/1"))
    assert (box.dimensions, box.color) == ((1.0, 2.0, 3.0), (255, 0, 0))
    assert box.position == pytest.approx([0.0, 0.0, 0.5])
    assert (body.radius, body.height, end.radius) == (0.1, 0.6, 0.1)
    assert end.position == pytest.approx([0.0, 0.0, 0.3])
    publish("pill")
    theatre.wait_for(lambda: handle(viewer, "/objects/crate") is None, "the pill alone")
    assert handle(viewer, "/objects/pill/0") is body and seen_at("pill", (0, 0, 5), NO_TURN)
    markers["pill"] = list(object_markers("pill", parse_machine(texts["crate"], file="pill")))
    publish("pill")
    theatre.wait_for(lambda: getattr(handle(viewer, "/objects/pill/0"), "dimensions", None), "another pill")
    theatre.wait_for(lambda: seen_at("pill", (0, 0, 5), NO_TURN), "it in its place")


@pytest.fixture
def world_file(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        file = tmp_path / "world.yaml"
        file.write_text(text)
        return str(file)

    return write


def test_the_ground_is_the_worlds(theatre: Theatre, world_file: Callable[[str], str]) -> None:
    """A slope of 30 degrees: the drawn plane goes through its point, and its z axis is the normal."""
    slope = "ground: {point: [1.0, 2.0, 0.5], normal: [-0.5, 0.0, 0.8660254037844386]}"
    ground = handle(theatre.open_viewer(world_file(slope)), "/ground")
    assert ground.position == pytest.approx([1.0, 2.0, 0.5])
    w, x, y, z = ground.wxyz
    normal = [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)]
    assert normal == pytest.approx([-0.5, 0.0, np.sqrt(0.75)])
    assert handle(theatre.open_viewer(world_file("ground: {height: -0.25}")), "/ground").position[2] == -0.25
    assert handle(theatre.open_viewer(world_file("ground: null")), "/ground") is None


def test_drawn_height_field_equals_the_ground_of_the_physics(
    theatre: Theatre, world_file: Callable[[str], str], tmp_path: Path
) -> None:
    np.savetxt(tmp_path / "field.csv", np.random.default_rng(3).uniform(-1.0, 1.0, (4, 3)), delimiter=",")
    world = world_file("ground: {heightfield: {file: field.csv, cell: 0.5, origin: [1.0, -2.0]}}")
    drawn = handle(theatre.open_viewer(world), "/ground")
    x, y, z = drawn.vertices.astype(float).T
    height = LinearTriInterpolator(Triangulation(x, y, drawn.faces), z)
    field = load_world(world).ground.heightfield
    # Inside the grid, which ends at (2.5, -1), and beyond it.
    for place in np.random.default_rng(4).uniform([-1.0, -4.0], [5.0, 1.0], (200, 2)):
        below = surface_below(field.heights, field.cell, *field.origin, *place)[0]
        assert float(height(*place)) == pytest.approx(below, abs=1e-5)  # the page has single precision


def test_a_large_height_field_is_thinned_and_keeps_its_border() -> None:
    heights = np.random.default_rng(5).uniform(-1.0, 1.0, (1000, 7))
    vertices, faces = field_surface(Heightfield(heights, 0.5, (10.0, 20.0)))
    inside = vertices[(np.abs(vertices[:, 0] - 259.75) < 250.0) & (np.abs(vertices[:, 1] - 21.5) < 2.0)]
    i, j = np.round((inside[:, :2] - [10.0, 20.0]) / 0.5).astype(int).T
    np.testing.assert_array_equal(inside[:, 2], heights[i, j])
    assert len(inside) == 7 * FIELD_POINTS and {0, 999} <= set(i)
    assert faces.min() == 0 and faces.max() == len(vertices) - 1


def test_obstacles_are_drawn(theatre: Theatre, world_file: Callable[[str], str]) -> None:
    world = """obstacles:
      - {name: kerb/left, box: [4.0, 0.3, 0.12], xyz: [0.0, 2.0, 0.06], rpy_deg: [0.0, 0.0, 90.0]}
      - {capsule: {radius: 0.15, length: 2.0}, xyz: [3.0, 0.0, 0.15]}"""
    viewer = theatre.open_viewer(world_file(world))
    kerb, capsule = handle(viewer, "/obstacles/kerb|left"), handle(viewer, "/obstacles/obstacle_2")
    assert kerb.dimensions == (4.0, 0.3, 0.12)
    np.testing.assert_allclose(kerb.wxyz, np.roll(QUARTER_TURN, 1), atol=1e-12)
    assert kerb.position == pytest.approx([0.0, 2.0, 0.06])
    np.testing.assert_allclose(np.ptp(capsule.vertices, axis=0), [0.3, 0.3, 2.3], rtol=1e-6)
    theatre.stage.describe(MACHINE)
    theatre.wait_for(lambda: viewer.scene.links, "a machine among the obstacles")
    theatre.stage.describe(OTHER_MACHINE)
    theatre.wait_for(lambda: viewer.scene.links == ("ball",), "the other machine")
    assert handle(viewer, "/obstacles/kerb|left") is kerb


def test_fixed_base_is_drawn_at_the_spawn_pose(theatre: Theatre, world_file: Callable[[str], str]) -> None:
    """TF begins at the root of a machine with a fixed base: only the world says where that is."""
    viewer = theatre.open_viewer(world_file("spawn: {xyz: [5.0, 0.0, 1.0], rpy_deg: [0.0, 0.0, 90.0]}"))
    theatre.stage.place("arm", "world", (1, 0, 1))
    theatre.stage.describe(MACHINE.replace("base_link", "world"))
    theatre.wait_for(lambda: stands_at(viewer, "arm", (5, 1, 2), QUARTER_TURN), "the arm on the base")
    assert stands_at(viewer, "world", (5, 0, 1), QUARTER_TURN)


def test_missing_world_is_named(theatre: Theatre) -> None:
    with pytest.raises(MachineError, match="no world called 'mars'"):
        theatre.open_viewer("mars")


def test_another_world_keeps_the_machine(theatre: Theatre) -> None:
    """As the page does it when another world was loaded: a scene of its own, behind the same port."""
    viewer = theatre.open_viewer()
    theatre.stage.describe(MACHINE)
    theatre.stage.forces = {"base_link": (0.0, 0.0, 100.0)}
    theatre.wait_for(lambda: handle(viewer, "/contact_forces"), "the machine and its force")
    before, port = viewer.scene, viewer.page.port
    viewer.show_world(load_world(catalogue.world_file("obstacles")))
    theatre.wait_for(
        lambda: viewer.scene is not before and handle(viewer, "/contact_forces"), "the force in the new world"
    )
    assert viewer.scene.links == ("base_link", "arm") and viewer.page.port == port
    with connect(f"ws://127.0.0.1:{port}/view", subprotocols=[f"viser-v{viser.__version__}"]) as page:
        page.recv(timeout=DEADLINE)
