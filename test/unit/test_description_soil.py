"""Soils: presets, given parameters, and soft ground in world files."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import grouser
from grouser.docs_pages.soils import soils_page
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.description.data.soil import Soil, SoilGround, Validity, beyond_validity
from grouser.physics.description.data.world import Ground, Heightfield
from grouser.physics.description.soils.checks import check_level, check_soil
from grouser.physics.description.soils.presets import PRESETS
from grouser.physics.description.soils.schema import ALL_KEYS, CELL_KEYS, KEYS
from grouser.physics.description.world.ground_edge import edge_walls
from grouser.physics.soil.laws import make_soils, pressure_stiffness

ROOT = Path(__file__).parents[2]
WORLDS = ROOT / "config" / "worlds"
BEKKER = {
    "frictional_modulus": 1e6,
    "exponent": 1.0,
    "cohesion": 500,
    "friction_angle_deg": 30,
    "shear_displacement_modulus": 0.02,
    "density": 1600,
}
REECE = {key: value for key, value in BEKKER.items() if key != "frictional_modulus"} | {
    "reece_k1": 1e5,
    "reece_k2": 1e6,
}
CELLS = {"soil_stiffness": 1e7, "soil_viscosity": 2e5, "plastic_modulus": 1e6, "yield_stress": 3e3}


def pressure(soil, width, sinkage):
    """Under a plate of a width at a sinkage [Pa], by the laws that wheels are computed with."""
    soils = make_soils((soil,))
    return pressure_stiffness.py_func(soils, 0, width, soil.exponent) * sinkage**soil.exponent


# Plate width [m], sinkage [m], pressure [Pa] worked out in the units of the source: in kN and m,
# (k_c / b + k_phi) z^n; of compact sand in pounds and inches, (20 + 2.5 b) (z / b)^0.47 psi at b = 6 in, z = 3 in.
@pytest.mark.parametrize(
    ("name", "width", "sinkage", "expected"),
    [
        ("dry_sand", 0.1, 0.02, 1e3 * (0.99 / 0.1 + 1528.43) * 0.02**1.1),
        ("lete_sand", 0.05, 0.02, 1e3 * (102.0 / 0.05 + 5301.0) * 0.02**0.79),
        ("sandy_loam", 0.2, 0.03, 1e3 * (5.27 / 0.2 + 1515.04) * 0.03**0.7),
        ("clay", 0.2, 0.03, 1e3 * (13.19 / 0.2 + 692.15) * 0.03**0.5),
        ("snow", 0.3, 0.1, 1e3 * (4.37 / 0.3 + 196.72) * 0.1**1.6),
        ("compact_sand", 6 * 0.0254, 3 * 0.0254, 4.4482216152605 / 0.0254**2 * (20.0 + 2.5 * 6.0) * 0.5**0.47),
        ("cmu_sand", 0.05, 0.02, 8e6 * 0.02**1.46),
    ],
)
def test_pressure_sinkage_of_presets_against_their_sources(name, width, sinkage, expected):
    assert pressure(PRESETS[name].soil, width, sinkage) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_complete(name):
    preset = PRESETS[name]
    check_soil(preset.soil)
    assert preset.soil.name == name and preset.soil.source
    assert set(preset.chosen) <= {key.field for key in KEYS}
    defaults = {field.name: field.default for field in dataclasses.fields(Soil)}
    # what differs from a default and is not chosen is from the source; these are never
    assert preset.soil.unloading_stiffness == defaults["unloading_stiffness"] and "unloading_stiffness" in preset.chosen


def test_equivalent_modulus_of_the_cell_preset():
    """Elastic and plastic modulus in series: what the pressure of (3) grows by per sinkage when the rate is zero."""
    soil = PRESETS["zuo_cells"].soil
    step = 1e3
    sinkage = step / soil.soil_stiffness + step / soil.plastic_modulus
    assert pressure(soil, 0.15, sinkage) == pytest.approx(step, rel=1e-12)


def test_soil_by_name_or_by_parameters():
    assert grouser.load_soil("dry_sand") is PRESETS["dry_sand"].soil
    assert grouser.load_soil("dry_sand", name="pit") == dataclasses.replace(PRESETS["dry_sand"].soil, name="pit")
    found = grouser.load_soil(BEKKER | {"name": "yard", "source": "a bevameter", "repose_angle_deg": 35})
    assert found == Soil(
        "yard", "a bevameter", 1e6, 1.0, 500.0, math.radians(30), 0.02, density=1600.0, repose_angle=math.radians(35)
    )
    assert grouser.load_soil(BEKKER).repose_angle == math.radians(30)
    assert (grouser.load_soil(BEKKER).name, grouser.load_soil(BEKKER, "pit").name) == ("soil", "pit")
    reece = grouser.load_soil(REECE)
    assert (reece.reece_k1, reece.reece_k2, reece.frictional_modulus) == (1e5, 1e6, 0.0)
    valid = {"valid_width": [0.05, 0.3], "valid_pressure": 4e4, "valid_diameter": 0.2, "valid_sinkage": 0.5}
    assert grouser.load_soil(BEKKER | valid).validity == Validity((0.05, 0.3), 4e4, 0.2, 0.5)


def test_changed_preset():
    base = PRESETS["cmu_sand"].soil
    found = grouser.load_soil({"preset": "cmu_sand", "friction_angle_deg": 33, "exit_angle_ratio": 0.5})
    changes = {"friction_angle": math.radians(33), "exit_angle_ratio": 0.5}
    assert found == dataclasses.replace(base, source=f"changed from cmu_sand: {base.source}", **changes)
    assert grouser.load_soil({"preset": "cmu_sand", "valid_pressure": 1e4}).validity == Validity(
        (0.05, 0.1), 1e4, 0.116
    )
    assert grouser.load_soil({"preset": "dry_sand"}) == PRESETS["dry_sand"].soil


def test_missing_parameters_in_the_arrays():
    soils = make_soils((PRESETS["dry_sand"].soil, PRESETS["cmu_sand"].soil, PRESETS["zuo_cells"].soil))
    np.testing.assert_array_equal(soils.exit_angle_ratio, [math.nan, 0.4760, math.nan])
    np.testing.assert_array_equal(soils.cell_stiffness, [math.nan, math.nan, 1e7])


# A soil, the bad parameter, its value as written, words of the message.
BAD = {
    "unknown preset": ("dry_sant", "preset", "dry_sant", ["did you mean 'dry_sand'?"]),
    "unknown preset changed": ({"preset": "sand"}, "preset", "sand", ["no such soil"]),
    "unknown key": (BEKKER | {"cohesian": 1}, "soil", "cohesian", ["did you mean 'cohesion'?"]),
    "nothing": ({}, "frictional_modulus", None, ["Bekker", "reece_k1 and reece_k2"]),
    "no density": ({k: v for k, v in BEKKER.items() if k != "density"}, "density", None, ["needed", "kg/m3"]),
    "text for a number": (BEKKER | {"cohesion": "1e3"}, "cohesion", "1e3", ["finite number"]),
    "truth for a number": (BEKKER | {"cohesion": True}, "cohesion", True, ["finite number"]),
    "number for a text": (BEKKER | {"source": 3}, "source", 3, ["a text"]),
    "not finite": (BEKKER | {"sliding_friction": math.inf}, "sliding_friction", math.inf, ["finite number"]),
    "not a number": (BEKKER | {"density": math.nan}, "density", None, ["finite number"]),
    "moduli in kN": (BEKKER | {"frictional_modulus": 1528.43}, "frictional_modulus", 1528.43, ["kN/m^(n+2)?"]),
    "no stiffness": (BEKKER | {"frictional_modulus": 0}, "frictional_modulus", 0.0, ["above 0"]),
    "negative modulus": (BEKKER | {"cohesive_modulus": -1.0}, "cohesive_modulus", -1.0, ["0 to 1e+09"]),
    "cohesion in kPa": (BEKKER | {"cohesion": 1.04}, "cohesion", 1.04, ["0, or 10 to", "is it in kPa?"]),
    "negative cohesion": (BEKKER | {"cohesion": -5}, "cohesion", -5.0, ["0, or 10 to"]),
    "angle in radians": (BEKKER | {"friction_angle_deg": 0.5}, "friction_angle_deg", 0.5, ["is it in radians?"]),
    "steep friction": (BEKKER | {"friction_angle_deg": 61}, "friction_angle_deg", 61.0, ["1.6 to 60 degree"]),
    "repose in radians": (BEKKER | {"repose_angle_deg": 0.5}, "repose_angle_deg", 0.5, ["is it in radians?"]),
    "repose above friction": (
        BEKKER | {"cohesion": 0, "repose_angle_deg": 31},
        "repose_angle_deg",
        31.0,
        ["without cohesion at most friction_angle_deg, 30 degrees"],
    ),
    "swell below 1": (BEKKER | {"swell": 0.9}, "swell", 0.9, ["1 to 3"]),
    "no friction, no repose": (
        BEKKER | {"friction_angle_deg": 0},
        "repose_angle_deg",
        None,
        ["friction_angle_deg is 0"],
    ),
    "shear in mm": (BEKKER | {"shear_displacement_modulus": 25}, "shear_displacement_modulus", 25.0, ["mm or cm?"]),
    "shear across in cm": (BEKKER | {"lateral_shear_modulus": 1.3}, "lateral_shear_modulus", 1.3, ["mm or cm?"]),
    "density in g/cm3": (BEKKER | {"density": 1.6}, "density", 1.6, ["is it in g/cm3?"]),
    "exponent too low": (BEKKER | {"exponent": 0.05}, "exponent", 0.05, ["0.1 to 2.5"]),
    "exponent too high": (BEKKER | {"exponent": 3}, "exponent", 3.0, ["0.1 to 2.5"]),
    "half of Reece": (BEKKER | {"reece_k1": 1e5}, "reece_k2", None, ["beside reece_k1"]),
    "both forms": (BEKKER | {"reece_k1": 1e5, "reece_k2": 1e6}, "frictional_modulus", 1e6, ["Bekker's form"]),
    "Reece with cohesive modulus": (REECE | {"cohesive_modulus": 1e3}, "cohesive_modulus", 1e3, ["Bekker's form"]),
    "Reece on a preset of Bekker": ({"preset": "snow", "reece_k1": 1, "reece_k2": 1e4}, "cohesive_modulus", 4370.0, []),
    "Reece without stiffness": (REECE | {"reece_k1": 0, "reece_k2": 0}, "reece_k2", 0.0, ["above 0"]),
    "Reece in kPa": (REECE | {"reece_k2": 678.0}, "reece_k2", 678.0, ["is it in kPa/m?"]),
    "unknown slip sinkage": (BEKKER | {"slip_sinkage": "ding"}, "slip_sinkage", "ding", ["valid: exponent, lyasko"]),
    "slip exponent alone": (BEKKER | {"slip_exponent": 0.1}, "slip_exponent", 0.1, ["slip_sinkage is none"]),
    "no slip exponent": (BEKKER | {"slip_sinkage": "exponent"}, "slip_exponent", 0.0, ["above 0"]),
    "exponents together": (
        BEKKER | {"exponent": 2.0, "slip_sinkage": "exponent", "slip_exponent": 0.6},
        "slip_exponent",
        0.6,
        ["at most 2.5"],
    ),
    "stress ahead of the wheel": (BEKKER | {"max_stress_a1": 0.7}, "max_stress_a1", 0.7, ["from 0 to 1"]),
    "stress behind it": (BEKKER | {"max_stress_a1": -0.5}, "max_stress_a1", -0.5, ["from 0 to 1"]),
    "exit below ground": (BEKKER | {"exit_ratio": -0.1}, "exit_ratio", -0.1, ["0 to 2"]),
    "exit ahead": (BEKKER | {"exit_angle_ratio": -0.476}, "exit_angle_ratio", -0.476, ["0 to 1.5"]),
    # p / z = 1e6 N/m3 at every depth
    "soft unloading": (BEKKER | {"unloading_stiffness": 9e5}, "unloading_stiffness", 9e5, ["above 1e+06 N/m3"]),
    "some of a cell": (BEKKER | {"yield_stress": 3e3}, "soil_stiffness", None, ["need all of soil_stiffness, soil_v"]),
    "widths falling": (BEKKER | {"valid_width": [0.2, 0.1]}, "valid_width", (0.2, 0.1), ["rising"]),
    "one width": (BEKKER | {"valid_width": 0.2}, "valid_width", 0.2, ["two numbers"]),
    "no pressure": (BEKKER | {"valid_pressure": 0}, "valid_pressure", 0.0, ["above 0 Pa"]),
    "no wheel": (BEKKER | {"valid_diameter": -1}, "valid_diameter", -1.0, ["0 m or more"]),
    "no sinkage": (BEKKER | {"valid_sinkage": 0}, "valid_sinkage", 0.0, ["above 0"]),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_soils_are_refused_with_the_parameter(name):
    description, key, value, words = BAD[name]
    with pytest.raises(ParameterError) as caught:
        grouser.load_soil(description)
    assert caught.value.name == key
    assert caught.value.value == value or value is None
    for word in words:
        assert word in str(caught.value)


def test_bounds_of_parameters_are_valid():
    for key in KEYS:
        # alone they contradict others, which is another matter than their range
        for bound in (max(key.low, key.suspect), key.high):
            try:
                grouser.load_soil(BEKKER | {key.name: bound})
            except ParameterError as problem:
                out_of_range = problem.name == key.name and problem.valid.startswith(key.valid_with_unit())
                assert not out_of_range, str(problem)


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_random_mappings_are_valid_soils_or_refused(data):
    numbers = st.floats() | st.floats(0.0, 100.0) | st.sampled_from([0, 1e3, 1e6, 1e300])
    values = st.one_of(numbers, st.none(), st.text(max_size=3), st.sampled_from([*PRESETS, "exponent", [0.1, 0.2]]))
    description = dict(data.draw(st.sampled_from([BEKKER, REECE, {"preset": "cmu_sand"}, BEKKER | CELLS])))
    for key in data.draw(st.lists(st.sampled_from(ALL_KEYS), max_size=4)):
        description[key] = data.draw(values)
    try:
        soil = grouser.load_soil(description)
    except ParameterError as problem:
        assert problem.name in ALL_KEYS
        return
    check_soil(soil)
    stiffness = pressure_stiffness.py_func(make_soils((soil,)), 0, 0.1, soil.exponent)
    assert 0.0 < stiffness < math.inf


def test_level_cells_requires_cell_parameters():
    check_level(grouser.load_soil("zuo_cells"), "cells")
    check_level(grouser.load_soil("dry_sand"), "stress")
    with pytest.raises(ParameterError, match="soil 'dry_sand' has no soil_stiffness, soil_viscosity, plastic_modulus"):
        check_level(grouser.load_soil("dry_sand"), "cells")
    with pytest.raises(ParameterError, match="did you mean 'cells'"):
        check_level(grouser.load_soil("dry_sand"), "cell")


def test_frictionless_soil_with_a_repose_angle():
    assert grouser.load_soil(BEKKER | {"friction_angle_deg": 0, "repose_angle_deg": 70}).friction_angle == 0.0


@pytest.mark.parametrize("nothing", [42, None, ["dry_sand"]])
def test_values_that_are_not_soils_are_refused(nothing):
    with pytest.raises(ParameterError, match="the name of a soil, or a mapping"):
        grouser.load_soil(nothing)


def test_warnings_beyond_the_validity_of_a_soil():
    soil = grouser.load_soil(BEKKER | {"valid_width": [0.05, 0.1], "valid_pressure": 3e4, "name": "yard"})
    assert beyond_validity(soil, width=0.05, pressure=3e4) is None
    told = "the numbers of soil 'yard' hold for widths of 0.05 to 0.1 m, not 0.03 m"
    assert beyond_validity(soil, width=0.03, pressure=0.0) == told
    told = beyond_validity(soil, width=0.2, pressure=31234.0)
    assert told.endswith("of 0.05 to 0.1 m, not 0.2 m and for pressures up to 30000 Pa, not 3.12e+04 Pa")
    sand = grouser.load_soil("dry_sand")
    assert beyond_validity(sand, width=10.0, diameter=0.5, pressure=1e9, sinkage=0.33) is None
    told = beyond_validity(sand, diameter=0.3, sinkage=0.4)
    assert told.endswith(
        "hold for wheels of 0.5 m diameter or more, not 0.3 m and down to 0.333 of a wheel's diameter, not 0.4"
    )


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "zuo_cells"])
def test_presets_have_a_validity(name):
    assert PRESETS[name].soil.validity.diameter > 0.0
    assert PRESETS[name].soil.source


def test_soils_page_is_up_to_date():
    remedy = "run: python -m grouser.docs_pages.soils > docs/soils.md"
    assert (ROOT / "docs" / "soils.md").read_text(encoding="utf-8") == soils_page(), remedy


def load(folder, text):
    path = folder / "yard.yaml"
    path.write_text(text)
    return grouser.load_world(path)


def test_ground_with_one_soil(tmp_path):
    assert load(tmp_path, "ground: {soil: {type: snow}}").ground.soil == SoilGroundLike((PRESETS["snow"].soil,))
    assert load(tmp_path, "ground: {soil: null}").ground.soil is None
    found = load(tmp_path, "ground: {soil: {level: stress, cell: 0.005, bulldozing: false, type: clay}}").ground.soil
    assert found == SoilGroundLike((PRESETS["clay"].soil,), "stress", 0.005, False)
    assert load(tmp_path, "ground: {soil: {level: cells, type: zuo_cells}}").ground.soil.cell == 0.005
    soil = load(tmp_path, "ground: {soil: {types: {pit: {preset: dry_sand, cohesion: 900}}}}").ground.soil.soils[0]
    assert (soil.name, soil.cohesion) == ("pit", 900.0)
    own = ", ".join(f"{key}: {value}" for key, value in (BEKKER | CELLS).items())
    soil = load(tmp_path, f"ground: {{soil: {{level: cells, type: {{name: own, {own}}}}}}}").ground.soil.soils[0]
    assert soil == grouser.load_soil(BEKKER | CELLS | {"name": "own"})


class SoilGroundLike:
    """Equal to soft ground without a map of these values: arrays keep dataclasses from comparing themselves."""

    def __init__(self, soils, level="deformable", cell=0.02, bulldozing=True):
        self.values = (soils, level, cell, bulldozing, None)

    def __eq__(self, other):
        found = (other.soils, other.level, other.cell, other.bulldozing, other.types)
        return isinstance(other, SoilGround) and found == self.values


NUMBERS = np.array([[0, 1], [2, 1], [0, 0]])  # three columns of x, two of y


@pytest.mark.parametrize("file", ["m.npy", "m.csv", "m.png"])
def test_map_of_soils(tmp_path, file):
    np.save(tmp_path / "m.npy", NUMBERS.astype(float))
    np.savetxt(tmp_path / "m.csv", NUMBERS, delimiter=",", fmt="%d")
    Image.fromarray(NUMBERS.T[::-1].astype(np.uint8)).save(tmp_path / "m.png")
    text = (
        "ground:\n  soil:\n    types: {field: sandy_loam, pit: dry_sand}\n"
        f"    map: {{file: {file}, cell: 0.5, types: [pit, rigid, field]}}\n"
    )
    soil = load(tmp_path, text).ground.soil
    assert [one.name for one in soil.soils] == ["field", "pit"]
    np.testing.assert_array_equal(soil.types, [[1, -1], [0, -1], [1, 1]])
    assert (soil.types_cell, soil.types_origin) == (0.5, (-0.5, -0.25))
    assert soil.types.flags.c_contiguous and not soil.types.flags.writeable
    assert load(tmp_path, text.replace("0.5,", "2, origin: [3, -4],")).ground.soil.types_origin == (3.0, -4.0)


def test_large_map_of_soils(tmp_path):
    numbers = np.zeros((4000, 3), dtype=np.uint8)
    np.save(tmp_path / "m.npy", numbers)
    np.save(tmp_path / "h.npy", np.zeros((4000, 2)))
    text = (
        "ground:\n  heightfield: {file: h.npy, cell: 0.25}\n"
        "  soil: {types: {pit: dry_sand}, map: {file: m.npy, cell: 0.25, types: [pit]}}\n"
    )
    ground = load(tmp_path, text).ground
    assert ground.soil.types.shape == (4000, 3) and ground.heightfield.heights.shape == (4000, 2)


def span(wall, axis):
    half = 0.5 * wall.geometry.size[axis]
    return wall.pose.position[axis] - half, wall.pose.position[axis] + half


def test_walls_around_a_height_field(tmp_path):
    np.savetxt(tmp_path / "h.csv", [[0.0, 0.5], [3.0, 0.5], [-1.0, 0.25]], delimiter=",")
    field = "{file: h.csv, cell: 2, origin: [1, 5]}"
    text = f"obstacles: [{{sphere: 1}}]\nground: {{heightfield: {field}, edge: wall, friction: 1}}"
    world = load(tmp_path, text)
    walls = {wall.name: wall for wall in world.obstacles[1:]}
    assert list(walls) == ["edge_north", "edge_south", "edge_east", "edge_west"]
    # x is from 1 to 5, y from 5 to 7; the lowest place of the border is -1, the highest of all is 3
    for wall in walls.values():
        assert span(wall, 2) == (-2.0, 5.0)
        assert (wall.friction, wall.restitution, wall.material) == (1.0, 0.0, "ground")
    assert span(walls["edge_north"], 1)[0] == 7.0 and span(walls["edge_south"], 1)[1] == 5.0
    assert span(walls["edge_east"], 0)[0] == 5.0 and span(walls["edge_west"], 0)[1] == 1.0
    for name in ("edge_north", "edge_south"):
        assert span(walls[name], 0) == (1.0, 5.0)
    for name in ("edge_east", "edge_west"):
        # they reach over the ends of the two others
        assert span(walls[name], 1) == (span(walls["edge_south"], 1)[0], span(walls["edge_north"], 1)[1])


def test_walls_around_a_map_of_soils_on_a_slope(tmp_path):
    np.save(tmp_path / "m.npy", np.zeros((4, 2)))
    # height = x: 45 degrees; the map's numbers hold half a metre around 0, 1, 2, 3 and 0, 1
    text = (
        "ground: {normal: [-1, 0, 1], edge: wall, soil: {types: {pit: dry_sand},"
        " map: {file: m.npy, cell: 1, origin: [0, 0], types: [pit]}}}"
    )
    walls = {wall.name: wall for wall in load(tmp_path, text).obstacles}
    assert span(walls["edge_west"], 0)[1] == -0.5 and span(walls["edge_east"], 0)[0] == 3.5
    assert span(walls["edge_south"], 1)[1] == -0.5 and span(walls["edge_north"], 1)[0] == 1.5
    assert span(walls["edge_north"], 2) == pytest.approx((-0.5 - 1.0, 3.5 + 2.0), abs=1e-12)


def test_ground_edge_is_flat_by_default(tmp_path):
    np.save(tmp_path / "h.npy", np.zeros((2, 2)))
    for text in ("", ", edge: flat"):
        assert load(tmp_path, f"ground: {{heightfield: {{file: h.npy, cell: 1}}{text}}}").obstacles == ()
    with pytest.raises(ValueError, match="no edge"):
        edge_walls(Ground())
    assert len(edge_walls(Ground(heightfield=Heightfield(np.zeros((2, 2)), 1.0, (0.0, 0.0))))) == 4


@pytest.mark.parametrize(
    ("name", "soils", "slope"),
    [("sand", ["dry_sand"], 0.0), ("soft_slope", ["dry_sand"], 15.0), ("mixed", ["sand", "loam"], 0.0)],
)
def test_shipped_worlds_with_soil(name, soils, slope):
    world = grouser.load_world(WORLDS / f"{name}.yaml")
    soil = world.ground.soil
    assert [one.name for one in soil.soils] == soils
    assert (soil.level, soil.cell, soil.bulldozing) == ("deformable", 0.02, True)
    # the normal is written with eight digits
    assert math.degrees(math.acos(world.ground.normal[2])) == pytest.approx(slope, abs=1e-5)
    if name == "mixed":
        x = soil.types_origin[0] + soil.types_cell * np.arange(soil.types.shape[0])
        expected = np.where(x > 3.0, 0, np.where(x < -3.0, 1, -1))
        np.testing.assert_array_equal(soil.types, np.repeat(expected[:, None], soil.types.shape[1], axis=1))
        walls = {wall.name: wall for wall in world.obstacles}
        assert span(walls["edge_west"], 0)[1] == -13.0 and span(walls["edge_north"], 1)[0] == 9.0


def soil(text):
    return f"ground:\n  soil:\n    {text}"


def types(map_, names="{field: clay, pit: snow}"):
    return soil(f"types: {names}\n    map:\n      {map_}")


# A world, the line of the error, words of the message; m.npy holds 0, 1, 2.
WORLD_BAD = {
    "unknown edge": ("ground:\n  edge: walls", 2, ["ground edge", "'walls'", "did you mean 'wall'?"]),
    "wall around a plane": ("ground:\n  edge: wall", 2, ["no edge", "heightfield or a soil map"]),
    "wall around one soil": ("ground:\n  edge: wall\n  soil: {type: snow}", 2, ["no edge"]),
    "obstacle in the wall's place": (
        "ground:\n  edge: wall\n  soil: {types: {a: snow}, map: {file: m.npy, cell: 1, types: [a, a, a]}}\n"
        "obstacles:\n  - {name: edge_east, sphere: 1}",
        5,
        ["edge_east", "has this name"],
    ),
    "steep": ("ground:\n  normal: [1.1, 0, 1]\n  soil: {type: snow}", 2, ["47.73 degrees", "at most 45"]),
    "overhead": ("ground:\n  normal: [0, 0, -1]\n  soil: {type: snow}", 2, ["180 degrees"]),
    "soil as a name": ("ground:\n  soil: snow", 2, ["ground soil", "a mapping is needed", "type"]),
    "no soil": (soil("level: stress"), 3, ["'type' is missing"]),
    "unknown key": (soil("typ: snow"), 3, ["'typ'", "did you mean"]),
    "unknown level": (soil("level: cel"), 3, ["'cel'", "did you mean 'cells'?"]),
    "coarse cells": (soil("type: snow\n    cell: 0.2"), 4, ["0.2 is out of range", "0.001 to 0.1"]),
    "bulldozing in words": (soil("type: snow\n    bulldozing: yes"), 4, ["'yes'", "neither true"]),
    "bulldozing as a list": (soil("type: snow\n    bulldozing: []"), 4, ["ground soil bulldozing"]),
    "unknown soil": (soil("type: snw"), 3, ["ground soil type", "snw", "did you mean 'snow'?"]),
    "soil as a list": (soil("type: [snow]"), 3, ["a name is needed"]),
    "soil in kPa": (soil("type:\n      preset: snow\n      cohesion: 1.03"), 5, ["cohesion", "1.03", "is it in kPa?"]),
    "soil in radians": (soil("type: {preset: snow, friction_angle_deg: 0.3}"), 3, ["friction_angle_deg", "radians?"]),
    "number in words": (soil("type: {preset: snow, cohesion: much}"), 3, ["'much'", "finite number"]),
    "unknown number": (soil("type: {preset: snow, cohesian: 1}"), 3, ["'cohesian'", "did you mean 'cohesion'?"]),
    "number twice": (soil("type: {preset: snow, cohesion: 11, cohesion: 12}"), 3, ["given twice"]),
    "number missing": (soil("type: {frictional_modulus: 1e6, exponent: 1}"), 3, ["'cohesion' is missing", "Pa"]),
    "unknown preset": (soil("type:\n      preset: snw"), 4, ["preset", "did you mean 'snow'?"]),
    "both forms": (soil("type: {preset: compact_sand,\n      frictional_modulus: 1e6}"), 4, ["1e+06", "Bekker's form"]),
    "three widths": (soil("type: {preset: snow, valid_width: [1, 2, 3]}"), 3, ["two numbers"]),
    "cells of sand": (
        soil("level: cells\n    type: snow"),
        3,
        ["level cells with 'snow'", "soil_stiffness", "zuo_cells"],
    ),
    "type and types": (soil("types: {a: snow}\n    type: snow"), 4, ["type and types"]),
    "types as a list": (soil("types: [snow]"), 3, ["a mapping is needed"]),
    "no types": (soil("types: {}"), 3, ["a mapping is needed"]),
    "types without map": (soil("types: {a: snow, b: clay}"), 3, ["2 soils and no map"]),
    "type twice": (soil("types: {a: snow, a: clay}"), 3, ["'a' is given twice"]),
    "rigid soil": (soil("types:\n      rigid: snow"), 4, ["'rigid' is ground without soil"]),
    "unknown soil among several": (soil("types:\n      a: clay\n      b: snw"), 5, ["types b", "did you mean 'snow'?"]),
    "map without types": (soil("type: snow\n    map: {file: m.npy, cell: 1}"), 4, ["a map needs types"]),
    "map without file": (types("cell: 1"), 5, ["'file' is missing"]),
    "map without cell": (types("file: m.npy"), 5, ["'cell' is missing"]),
    "map without meaning": (types("{file: m.npy, cell: 1}"), 5, ["'types' is missing"]),
    "unknown key of a map": (types("{file: m.npy, cell: 1, size: 3}"), 5, ["'size'"]),
    "unknown soil of a map": (types("{file: m.npy, cell: 1, types: [rigid, fild]}"), 5, ["'fild'", "'field'?"]),
    "preset as the soil of a map": (types("{file: m.npy, cell: 1, types: [rigid, snow]}"), 5, ["no soil 'snow'"]),
    "empty meaning": (types("{file: m.npy, cell: 1, types: []}"), 5, ["0 entries", "1 to 100"]),
    "number without meaning": (
        types("{file: m.npy, cell: 1, types: [rigid, pit]}"),
        5,
        ["number [2, 0] is 2", "from 0 to 1"],
    ),
    "half a number": (types("{file: half.csv, cell: 1, types: [rigid, pit]}"), 5, ["number [0, 1] is 0.5"]),
    "no number": (types("{file: nan.csv, cell: 1, types: [rigid, pit]}"), 5, ["number [0, 1] is nan"]),
    "absent file": (types("{file: a.npy, cell: 1, types: [rigid]}"), 5, ["no such file"]),
    "other format": (types("{file: m.tif, cell: 1, types: [rigid]}"), 5, ["'.tif' is not read"]),
    "colours": (types("{file: rgb.png, cell: 1, types: [rigid]}"), 5, ["mode 'RGB'", "grey"]),
    "too wide": (types("{file: wide.npy, cell: 1, types: [rigid]}"), 5, ["1 x 4001", "1 x 1 to 4000 x 4000"]),
}


@pytest.fixture(scope="module")
def maps(tmp_path_factory):
    folder = tmp_path_factory.mktemp("maps")
    np.save(folder / "m.npy", np.array([[0, 1], [1, 0], [2, 2]]))
    np.save(folder / "wide.npy", np.zeros((1, 4001)))
    (folder / "half.csv").write_text("0,0.5\n")
    (folder / "nan.csv").write_text("0,nan\n")
    Image.new("RGB", (3, 3)).save(folder / "rgb.png")
    return folder


@pytest.mark.parametrize("name", WORLD_BAD)
def test_invalid_soft_ground_is_refused_with_line_and_reason(maps, name):
    text, line, words = WORLD_BAD[name]
    with pytest.raises(MachineError) as caught:
        load(maps, text)
    assert caught.value.file == str(maps / "yard.yaml")
    assert caught.value.line == line
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_cell_parameters_are_in_the_table():
    assert set(CELLS) == set(CELL_KEYS)
