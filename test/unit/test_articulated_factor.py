"""The factor by recursion along a tree equals that of the stored entries, on random trees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from uncompiled import uncompiled

from grouser.physics.base.packed import Packed
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Inertial, Joint, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.machine_file.loader import parse_machine
from grouser.physics.model.blocks import with_entries
from grouser.physics.model.build import build_model
from grouser.physics.multibody.composite import mass_matrix
from grouser.physics.multibody.factorisation import (
    factorise,
    multiply,
    solve,
    solve_transposed,
    solve_transposed_row,
    solve_transposed_three,
)
from grouser.physics.multibody.integration import integrate_positions
from grouser.physics.multibody.kinematics import make_kinematics, update_kinematics
from grouser.physics.multibody.mass import add_inertia, copy_mass_matrix, make_mass_matrix, set_inertia
from grouser.physics.multibody.spans import whole

BOTH = pytest.mark.parametrize("of", [lambda leaf: leaf, uncompiled], ids=["compiled", "python"])
KINDS = ("revolute", "prismatic", "planar", "floating", "spherical", "fixed")
ROUND_OFF = 1e-10


def unit(random, size):
    vector = random.normal(size=size)
    return tuple(vector / np.linalg.norm(vector))


def tree(random, kinds, parents, floating):
    """A tree of links of about a metre and a kilogram."""
    joints = []
    for i, (kind, parent) in enumerate(zip(kinds, parents, strict=True)):
        pose = Pose(tuple(random.uniform(-0.5, 0.5, 3)), unit(random, 4))
        joints.append(Joint(f"joint{i}", kind, f"link{parent}", f"link{i + 1}", pose, unit(random, 3)))
    inertia = (*(0.3, 0.03, -0.02), *(0.4, 0.01), 0.35)
    inertials = (
        Inertial(Pose(tuple(random.uniform(-0.3, 0.3, 3)), unit(random, 4)), random.uniform(0.5, 2.0), inertia)
        for _ in range(len(kinds) + 1)
    )
    links = tuple(Link(f"link{i}", inertial) for i, inertial in enumerate(inertials))
    return Machine("tree", links, tuple(joints), "link0", floating_base=floating)


@st.composite
def random_trees(draw):
    """Up to 14 joints of any kind; short branches and long ones."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=14))
    reach = draw(st.integers(1, 14))
    parents = [int(random.integers(max(0, i + 1 - reach), i + 1)) for i in range(len(kinds))]
    floating = draw(st.booleans()) or all(kind == "fixed" for kind in kinds)
    return tree(random, kinds, parents, floating), random


def placed(model, random):
    """Kinematics in a random position."""
    q, kinematics = np.array(model.q_initial), Packed(make_kinematics(model))
    integrate_positions(model, q, random.normal(size=len(model.rate_damping)), 1.0)
    update_kinematics(model, q, np.zeros(len(model.rate_damping)), kinematics)
    return kinematics


def factored(of, model, kinematics, terms, held):
    """Factor of the mass matrix with an inertia along each coordinate, and one coordinate held."""
    found, factor = Packed(make_mass_matrix(model)), Packed(make_mass_matrix(model))
    of(mass_matrix)(model, kinematics, np.zeros((len(model.body_parent), 10)), found)
    for rate, amount in enumerate(terms):
        of(add_inertia)(found, rate, amount)
    if held is not None:
        of(set_inertia)(found, held, 2.0**100)
    of(copy_mass_matrix)(model, whole(model), found, factor)
    assert of(factorise)(model, kinematics, factor) == -1
    return found, factor


def products(of, model, factor, x):
    """L x, L^-1 x, L^-T x by each of its functions, with the squares of their lengths."""
    direct, forward, back, rows = np.empty_like(x), x.copy(), x.copy(), np.tile(x, (5, 1))
    rows[2] *= -2.0
    of(multiply)(model, factor, x, direct)
    of(solve)(model, factor, forward)
    of(solve_transposed)(model, factor, back)
    square, squares = of(solve_transposed_row)(model, factor, rows, 0, 0, len(x)), np.ones(5)
    for first in sorted(set(model.rate_first)):
        of(solve_transposed_three)(model, factor, rows, 1, first, model.rate_last[first], squares)
    rows[2] *= -0.5
    return direct, forward, back, rows[:4], np.array([square, *(squares[1:4] - 1.0) * (1.0, 0.25, 1.0)])


def assert_close(found, expected):
    """Each vector to round-off of its largest entry."""
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=ROUND_OFF * np.abs(theirs).max())


@BOTH
@settings(deadline=None)
@given(case=random_trees(), hold=st.booleans())
def test_the_recursion_gives_the_factor_of_the_entries(of, case, hold):
    machine, random = case
    model, _ = build_model(machine, longest_with_entries=0)
    stored, model = Packed(with_entries(model)), Packed(model)
    kinematics = placed(model, random)
    count = len(model.rate_damping)
    terms = random.choice([0.0, 0.02, 5.0], count)
    held = int(random.integers(count)) if hold else None

    mass, factor = factored(of, model, kinematics, terms, held)
    other_mass, other_factor = factored(of, stored, kinematics, terms, held)

    assert model.rate_entries.tolist() == [0] * count and model.pattern.size == 0
    assert mass.diagonal.tolist() == other_mass.diagonal.tolist()
    np.testing.assert_allclose(factor.diagonal, other_factor.diagonal, rtol=ROUND_OFF)
    x = random.normal(size=count)
    assert_close(products(of, model, factor, x), products(of, stored, other_factor, x))


def test_a_long_chain_in_one_run_of_many():
    """A chain of 70 hinges between short trees: one factor by recursion, and the entries of the others."""
    random = np.random.default_rng(11)
    kinds = ["floating", "revolute", *["revolute"] * 70, "floating", "spherical"]
    parents = [0, 1, 0, *range(3, 72), 0, 0]
    model, _ = build_model(tree(random, kinds, parents, False))
    stored, model = Packed(with_entries(model)), Packed(model)
    kinematics = placed(model, random)

    assert model.run_start.tolist() == [0, 7, 77, 86]
    assert model.run_tree.tolist() == [[0, 0], [2, 72], [0, 0]]
    assert make_mass_matrix(model).lower.shape == (86, 7)
    terms = np.zeros(86)
    _, factor = factored(lambda leaf: leaf, model, kinematics, terms, None)
    _, other = factored(lambda leaf: leaf, stored, kinematics, terms, None)
    x = random.normal(size=86)
    assert_close(products(lambda leaf: leaf, model, factor, x), products(lambda leaf: leaf, stored, other, x))


def test_the_rows_of_contacts_skip_what_lies_beyond_them():
    """A row with entries for the first half of a chain stays zero in the other half."""
    random = np.random.default_rng(5)
    model, _ = build_model(tree(random, ["revolute"] * 40, range(40), False))
    model = Packed(model)
    _, factor = factored(lambda leaf: leaf, model, placed(model, random), np.zeros(40), None)
    row = np.zeros((1, 40))
    row[0, :20] = random.normal(size=20)

    solve_transposed_row(model, factor, row, 0, 0, 40)

    assert row[0, :20].all() and not row[0, 20:].any()


def hinges(inside):
    """URDF text of 35 hinged links in a row; `inside` goes into the last joint."""
    text = '<link name="l0"/>'
    for i in range(1, 36):
        text += (
            f'<link name="l{i}"><inertial><mass value="1"/>'
            '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="j{i}" type="continuous"><parent link="l{i - 1}"/><child link="l{i}"/>'
            f'<origin xyz="1 0 0"/><axis xyz="0 1 0"/>{inside if i == 35 else ""}</joint>'
        )
    return text


LOOP = '<loop_joint name="rod" type="spherical"><parent link="l2"/><child link="l33"/></loop_joint>'


@pytest.mark.parametrize(
    ("mimic", "extension", "trees"),
    [
        ("", "", [[0, 36]]),
        ('<mimic joint="j3"/>', "", []),
        ("", LOOP, []),
    ],
    ids=["open", "shared coordinate", "loop"],
)
def test_coupled_coordinates_have_entries(mimic, extension, trees):
    text = f'<robot name="m">{hinges(mimic)}<grouser>{extension}</grouser></robot>'
    machine = parse_machine(text, "m.urdf", "floating")

    model, _ = build_model(machine)

    assert model.run_tree.tolist() == trees


@BOTH
@pytest.mark.parametrize("pivot", [-1e3, np.nan])
def test_a_bad_pivot_is_reported(of, pivot):
    random = np.random.default_rng(2)
    model, _ = build_model(tree(random, ["revolute"] * 5, range(5), False), longest_with_entries=0)
    model = Packed(model)
    kinematics, mass = placed(model, random), Packed(make_mass_matrix(model))
    mass_matrix(model, kinematics, np.zeros((len(model.body_parent), 10)), mass)
    mass.along[3] = pivot

    assert of(factorise)(model, kinematics, mass) == 3
