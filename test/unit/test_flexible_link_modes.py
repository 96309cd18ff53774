"""Modes of flexible links against closed forms, in all discretisations, and the lumps of mass that give them."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.interpolate import BSpline
from scipy.linalg import eigh, null_space
from scipy.optimize import brentq

from grouser.physics.description.data.compliance import BeamSection, FlexibleLink
from grouser.physics.description.elements.flexible_links.inertia import sections_inertial
from grouser.physics.flexible_links.b_spline import spline_values
from grouser.physics.flexible_links.discretisations import BY_NAME
from grouser.physics.flexible_links.modal_beam import AXIAL, BENDING_Y, BENDING_Z, TORSION, ModalBeam
from grouser.physics.flexible_links.stations import TOLERANCE, mass_stations

# The beam of the rotating-beam benchmark of Fan and Zhang (2016).
LENGTH, AREA, MOMENT, DENSITY, MODULUS, SHEAR = 8.0, 7.2968e-5, 8.2189e-9, 2766.7, 6.8952e10, 2.6e10
TORSION_CONSTANT = 5e-9
UNIFORM = (BeamSection(0.0, AREA, MOMENT, MOMENT, TORSION_CONSTANT),)
# Of a beam so slender that the rotary inertia of its sections does not count.
SLENDER = (BeamSection(0.0, AREA, 1e-4 * MOMENT, 1e-4 * MOMENT, 1e-4 * TORSION_CONSTANT),)
UNIT = math.sqrt(MODULUS * 1e-4 * MOMENT / (DENSITY * AREA)) / LENGTH**2
# Sizes at which three frequencies of a beam with any supports are within 0.1 %.
FINE = {"assumed_modes": 14, "finite_elements": 12, "bezier": 12, "b_spline": 12}
EACH = pytest.mark.parametrize("discretisation", FINE)


def beam(discretisation, size=None, sections=UNIFORM, **more):
    size = FINE[discretisation] if size is None else size
    more = {"axial": 0, "torsion": 0, "bending": "z"} | more
    return ModalBeam(
        FlexibleLink(
            *("beam", discretisation, size, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), LENGTH, 1.0, 1.0, 1.0, 0.0),
            modulus=MODULUS,
            shear_modulus=SHEAR,
            density=DENSITY,
            sections=sections,
            **more,
        )
    )


def tip(modal, kind, derivative=0):
    return modal.values(kind, np.array([LENGTH]), derivative)[0]


@pytest.mark.parametrize(("name", "degree"), [("bezier", 9), ("b_spline", 3)])
def test_splines_are_those_of_scipy(name, degree):
    functions = BY_NAME[name].transverse(degree if name == "bezier" else 6, LENGTH)
    ends = functions.breakpoints
    knots = np.concatenate([[0.0] * degree, ends, [LENGTH] * degree])
    x = np.linspace(0.0, LENGTH, 23)
    for derivative in range(3):
        one = [BSpline(knots, row, degree) for row in np.eye(len(ends) - 1 + degree)]
        expected = np.column_stack([(f.derivative(derivative) if derivative else f)(x) for f in one])
        assert spline_values(x, ends, degree, derivative) == pytest.approx(expected, rel=1e-12, abs=1e-12)
        assert functions.values(x, derivative) == pytest.approx(expected[:, 2:], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@EACH
def test_derivatives_are_those_of_the_functions(discretisation, size):
    made = BY_NAME[discretisation]
    h, x = 1e-5, np.linspace(0.1234, 7.8765, 29)
    for functions, most in ((made.transverse(size + 1, LENGTH), 2), (made.along(size, LENGTH), 1)):
        assert functions.values(x).shape == (len(x), functions.count)
        for derivative in range(most):
            slope = (functions.values(x + h, derivative) - functions.values(x - h, derivative)) / (2.0 * h)
            exact = functions.values(x, derivative + 1)
            # central difference: error h2 f''' / 6, and rounding eps / h
            assert slope == pytest.approx(exact, abs=1e-8 * max(1.0, np.abs(exact).max()))
            assert functions.values(np.zeros(1), derivative) == pytest.approx(0.0, abs=1e-14)


@EACH
def test_numbers_of_coordinates(discretisation):
    """Transverse functions for the size n: n, 2 n, n - 1 and n + 1."""
    counts = {"assumed_modes": 5, "finite_elements": 10, "bezier": 4, "b_spline": 6}
    modal = beam(discretisation, 5, axial=3, torsion=2, bending="both")
    kinds = [mode.kind for mode in modal.modes]
    each = counts[discretisation]
    assert kinds == [BENDING_Z] * each + [BENDING_Y] * each + [AXIAL] * 3 + [TORSION] * 2


@EACH
def test_frequencies_of_a_clamped_free_beam(discretisation):
    expected = UNIT * np.array([1.8751040687, 4.6940911330, 7.8547574382]) ** 2
    assert beam(discretisation, sections=SLENDER).frequencies[:3] == pytest.approx(expected, rel=1e-3)


def supported(modal, mass, stiffness, constraint):
    """Frequencies with constraints on the coordinates."""
    free = null_space(constraint)
    return np.sqrt(eigh(free.T @ stiffness @ free, free.T @ mass @ free, eigvals_only=True))


CLAMPED = UNIT * np.array([4.7300407449, 7.8532046241, 10.9956078380]) ** 2


def clamped_clamped(modal):
    constraint = np.array([tip(modal, BENDING_Z), tip(modal, BENDING_Z, 1)])
    return supported(modal, np.eye(len(modal.modes)), np.diag(modal.frequencies**2), constraint)[:3]


@EACH
def test_frequencies_of_a_clamped_clamped_beam(discretisation):
    modal = beam(discretisation, sections=SLENDER, end_loads=discretisation == "assumed_modes")
    assert clamped_clamped(modal) == pytest.approx(CLAMPED, rel=1e-3)


def test_assumed_modes_converge_slowly_to_a_clamped_end():
    """They have no curvature at the end, where a clamp gives a moment: the error falls as 1 / n."""
    errors = [clamped_clamped(beam("assumed_modes", n, SLENDER))[0] / CLAMPED[0] - 1.0 for n in (10, 20, 40)]
    assert 0.0 < errors[2] < 0.025
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(2.0, rel=0.05)


@EACH
def test_frequencies_of_a_pinned_pinned_beam(discretisation):
    """With the rotation of the link's frame as a coordinate, whose inertia and coupling are those of the stations."""
    modal = beam(discretisation, sections=SLENDER)
    stations = mass_stations(modal)
    moved = np.column_stack([stations.place, modal.values(BENDING_Z, stations.place)])
    turned = np.column_stack([np.ones(len(stations.place)), modal.values(BENDING_Z, stations.place, 1)])
    mass = moved.T @ (stations.inertia[:, :1] * moved) + turned.T @ (stations.inertia[:, 3:] * turned)
    stiffness = np.diag([0.0, *modal.frequencies**2])
    found = supported(modal, mass, stiffness, np.array([[LENGTH, *tip(modal, BENDING_Z)]]))
    assert found[:3] == pytest.approx(UNIT * (np.pi * np.arange(1, 4)) ** 2, rel=1e-3)


@EACH
def test_axial_and_torsional_frequencies(discretisation):
    """(k - 1/2) pi c / L, with the speeds of sound of the rod and of torsion."""
    modal = beam(discretisation, axial=12, torsion=12)
    for kind, speed in (
        (AXIAL, math.sqrt(MODULUS / DENSITY)),
        (TORSION, math.sqrt(SHEAR * TORSION_CONSTANT / (DENSITY * 2.0 * MOMENT))),
    ):
        found = np.array([mode.frequency for mode in modal.modes if mode.kind == kind])
        # linear elements: (pi / 24)2 / 24 of the first, nine times that of the second
        assert found[:2] == pytest.approx(np.array([0.5, 1.5]) * np.pi * speed / LENGTH, rel=7e-3)


def shooting_frequency(sections, first, last):
    """A frequency of a clamped-free beam by integration of its equations, between two bounds [rad/s]."""
    probe = beam("finite_elements", 1, sections).flexible
    ends = probe.smooth_pieces

    def unfree(frequency):
        columns = []
        for start in ([0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]):
            state = np.array(start)
            for begin, end in pairwise(ends.tolist()):

                def change(x, y, begin=begin, end=end):
                    inside = min(max(x, begin + 1e-9), end - 1e-9)
                    area, _, moment, _ = probe.sections_at(np.array([inside]))[0]
                    rotary = DENSITY * moment * frequency**2 * y[1]
                    return [y[1], y[2] / (MODULUS * moment), y[3] - rotary, DENSITY * area * frequency**2 * y[0]]

                state = solve_ivp(change, (begin, end), state, rtol=1e-10, atol=1e-14, method="DOP853").y[:, -1]
            columns.append(state[2:])
        return columns[0][0] * columns[1][1] - columns[0][1] * columns[1][0]

    return brentq(unfree, first, last, xtol=1e-9)


TAPERED = (
    BeamSection(0.0, 2.0 * AREA, 4.0 * MOMENT, 4.0 * MOMENT, MOMENT),
    BeamSection(8.0, 0.5 * AREA, 0.2 * MOMENT, 0.2 * MOMENT, MOMENT),
)
STEPPED = (
    BeamSection(0.0, 2.0 * AREA, 4.0 * MOMENT, 4.0 * MOMENT, MOMENT),
    BeamSection(3.0, 2.0 * AREA, 4.0 * MOMENT, 4.0 * MOMENT, MOMENT),
    BeamSection(3.0, AREA, MOMENT, MOMENT, MOMENT),
)


@pytest.mark.parametrize("sections", [TAPERED, STEPPED], ids=["tapered", "stepped"])
def test_frequencies_of_beams_with_varying_sections(sections):
    """Functions of one piece cannot follow the jump of the curvature at a step: they are above by up to 2 %."""
    sizes = {"assumed_modes": 14, "finite_elements": 16, "bezier": 14, "b_spline": 16}
    found = {name: beam(name, size, sections).frequencies[:2] for name, size in sizes.items()}
    fine = found["finite_elements"]
    share = 2e-3 if sections is TAPERED else 2e-2
    for number in range(2):
        exact = shooting_frequency(sections, 0.9 * fine[number], 1.1 * fine[number])
        for name in found:
            assert 1.0 - 1e-7 < found[name][number] / exact < 1.0 + share, name
        assert fine[number] == pytest.approx(exact, rel=1e-4)


def static(modal, load):
    """Coordinates under a generalised load."""
    return load / modal.frequencies**2


def test_static_loads_at_the_end_are_exact():
    """Of polynomials, and of modes with the static shapes.

    F L3 / (3 E I), F L2 / (2 E I), F L / (E A), T L / (G J), and strain F (L - x) / (E I)
    times the distance.
    """
    for name, size in (
        *(("finite_elements", 1), ("finite_elements", 7), ("bezier", 3), ("bezier", 12), ("b_spline", 4)),
        *(("assumed_modes", 1), ("assumed_modes", 3), ("assumed_modes", 20)),
    ):
        modal = beam(name, size, bending="both", axial=2, torsion=2, end_loads=name == "assumed_modes")
        force, bent = 3.0, MODULUS * MOMENT
        for kind in (BENDING_Z, BENDING_Y):
            q = static(modal, force * tip(modal, kind))
            assert tip(modal, kind) @ q == pytest.approx(force * LENGTH**3 / (3.0 * bent), rel=1e-9)
            assert tip(modal, kind, 1) @ q == pytest.approx(force * LENGTH**2 / (2.0 * bent), rel=1e-9)
            y, z = (0.01, 0.5) if kind == BENDING_Z else (0.5, 0.01)
            strain = modal.strain(3.1, y, z) @ q
            assert strain == pytest.approx(-0.01 * force * (LENGTH - 3.1) / bent, rel=1e-8)
        curvature = modal.curvature(np.array([0.0, 3.1]))
        q = static(modal, force * tip(modal, BENDING_Z) - 2.0 * force * tip(modal, BENDING_Y))
        expected = force * np.array([[2.0 * LENGTH, LENGTH], [2.0 * (LENGTH - 3.1), LENGTH - 3.1]]) / bent
        assert np.einsum("xac,a->xc", curvature, q) == pytest.approx(expected, rel=1e-8)
        q = static(modal, force * tip(modal, AXIAL))
        assert tip(modal, AXIAL) @ q == pytest.approx(force * LENGTH / (MODULUS * AREA), rel=1e-9)
        assert modal.strain(2.0, 0.3, 0.4) @ q == pytest.approx(force / (MODULUS * AREA), rel=1e-9)
        q = static(modal, force * tip(modal, TORSION))
        assert tip(modal, TORSION) @ q == pytest.approx(force * LENGTH / (SHEAR * TORSION_CONSTANT), rel=1e-9)


@pytest.mark.parametrize("sections", [TAPERED, STEPPED], ids=["tapered", "stepped"])
def test_static_shapes_of_varying_sections(sections):
    """int (L - x)2 / E I dx, by the midpoint rule."""
    modal = beam("assumed_modes", 3, sections, end_loads=True)
    x = (np.arange(8000) + 0.5) * LENGTH / 8000
    exact = ((LENGTH - x) ** 2 / (MODULUS * modal.flexible.sections_at(x)[:, 2])).sum() * LENGTH / 8000
    assert tip(modal, BENDING_Z) @ static(modal, tip(modal, BENDING_Z)) == pytest.approx(exact, rel=1e-6)


def test_assumed_modes_converge_under_a_load_at_the_end():
    """The part of mode k in the deflection falls as its wave number to the fourth: errors fall by 8 per doubling."""
    exact = LENGTH**3 / (3.0 * MODULUS * MOMENT)
    errors = []
    for size in (4, 8, 16):
        modal = beam("assumed_modes", size)
        errors.append(1.0 - tip(modal, BENDING_Z) @ static(modal, tip(modal, BENDING_Z)) / exact)
    assert all(error > 0.0 for error in errors)
    assert errors[0] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(8.0, rel=0.15)
    assert errors[1] / errors[2] == pytest.approx(8.0, rel=0.05)


def spinning(modal, rate):
    """Frequencies of bending in the plane of rotation about an axis through the start."""
    stations = mass_stations(modal)
    pull = np.einsum("p,pab->ab", stations.inertia[:, 0] * stations.place, modal.shortening(stations.place))
    stiffness = np.diag(modal.frequencies**2) + rate**2 * (pull - np.eye(len(modal.modes)))
    return np.sqrt(eigh(stiffness, eigvals_only=True))


def ritz_spinning(rate):
    """The same by Rayleigh and Ritz with powers of x, (2, ..., 11), with the axial force as a function of x."""
    x, weight = np.polynomial.legendre.leggauss(30)
    x, weight = 0.5 * (x + 1.0), 0.5 * weight
    powers = np.arange(2, 12)
    value = x[:, None] ** powers
    slope = powers * x[:, None] ** (powers - 1) / LENGTH
    curvature = powers * (powers - 1) * x[:, None] ** (powers - 2) / LENGTH**2
    length_weight = LENGTH * weight[:, None]
    mass = DENSITY * AREA * value.T @ (length_weight * value)
    tension = 0.5 * DENSITY * AREA * LENGTH**2 * (1.0 - x[:, None] ** 2)
    stiffness = MODULUS * MOMENT * curvature.T @ (length_weight * curvature)
    stiffness += rate**2 * (slope.T @ (length_weight * tension * slope) - mass)
    return np.sqrt(eigh(stiffness, mass, eigvals_only=True))


@pytest.mark.parametrize("rate", [0.0, 4.0, 10.0])
@EACH
def test_frequencies_of_a_spinning_beam(discretisation, rate):
    # the rotary inertia of the sections is a millionth of the beam's
    assert spinning(beam(discretisation), rate)[:2] == pytest.approx(ritz_spinning(rate)[:2], rel=1e-3)


@EACH
def test_frequency_of_the_published_spinning_beam(discretisation):
    assert spinning(beam(discretisation), 4.0)[0] == pytest.approx(3.34711, rel=5e-5)


@EACH
def test_buckling_load(discretisation):
    """Euler's column with a free end: an axial force F does the work 1/2 F q^T H q; pi2 E I / (4 L2)."""
    modal = beam(discretisation)
    shortened = modal.shortening(np.array([LENGTH]))[0]
    least = eigh(np.diag(modal.frequencies**2), shortened, eigvals_only=True)[0]
    assert least == pytest.approx(np.pi**2 * MODULUS * MOMENT / (4.0 * LENGTH**2), rel=1e-4)


def test_without_coupling_of_first_order_a_spinning_beam_softens():
    """Published: it has no stiffness left beyond 2.911 rad/s, its first frequency at rest."""
    modal = beam("finite_elements", coupling="zero_order")
    assert not modal.shortening(np.array([1.0, LENGTH])).any()
    assert modal.frequencies[0] == pytest.approx(2.911, rel=1e-3)


@EACH
def test_lowest_modes_are_those_of_all(discretisation):
    whole = beam(discretisation, bending="both", axial=1, torsion=1)
    order = np.argsort(whole.frequencies, kind="stable")
    for count in (1, 2, 5):
        few = beam(discretisation, bending="both", axial=1, torsion=1, modes=count)
        assert sorted(few.frequencies) == pytest.approx(whole.frequencies[order[:count]], rel=1e-12)
        assert len(mass_stations(few).place) <= len(mass_stations(whole).place)


def test_many_functions_keep_their_digits():
    """Low frequencies do not depend on high ones, which are ten thousand times and more as high."""
    expected = beam("finite_elements", 12, modes=2).frequencies
    for name, size in (("assumed_modes", 40), ("finite_elements", 60), ("bezier", 20), ("b_spline", 60)):
        assert beam(name, size, modes=2).frequencies == pytest.approx(expected, rel=3e-5), name


@st.composite
def random_sections(draw):
    number = st.floats(0.2, 5.0)
    places = sorted(draw(st.lists(st.sampled_from([0.0, 1.0, 1.0, 2.5, 6.0, 8.0]), min_size=1, max_size=4)))
    places = [at for k, at in enumerate(places) if k < 2 or at != places[k - 2]]
    return tuple(
        BeamSection(at, AREA * draw(number), MOMENT * draw(number), MOMENT * draw(number), MOMENT * draw(number))
        for at in places
    )


@settings(max_examples=25, deadline=None)
@given(
    random_sections(),
    st.sampled_from([("assumed_modes", 3), ("finite_elements", 2), ("bezier", 5), ("b_spline", 3)]),
    st.sampled_from([None, 1, 3]),
)
def test_stations_have_the_mass_properties_of_the_sections(sections, kind, modes):
    modal = beam(*kind, sections, axial=1, torsion=1, bending="both", modes=modes)
    stations = mass_stations(modal)
    assert (stations.inertia > 0.0).all()
    assert (np.diff(stations.place) > 0.0).all() and stations.place[0] > 0.0 and stations.place[-1] < LENGTH
    whole = sections_inertial(modal.flexible)
    mass = stations.inertia[:, 0]
    centre = mass @ stations.place / mass.sum()
    spread = mass @ (stations.place - centre) ** 2
    assert mass.sum() == pytest.approx(whole.mass, rel=1e-9)
    assert centre == pytest.approx(whole.pose.position[0], rel=1e-8)
    polar, _, _, about_y, _, about_z = whole.inertia
    moments = stations.inertia[:, 1:].sum(axis=0) + np.array([0.0, spread, spread])
    assert moments == pytest.approx([polar, about_y, about_z], rel=1e-7)
    x, moved = stations.place, modal.translation(stations.place)
    turned = modal.rotation(x)
    gram = np.einsum("p,pac,pbc->ab", mass, moved, moved)
    gram += np.einsum("pc,pac,pbc->ab", stations.inertia[:, 1:], turned, turned)
    # of unit modal mass; the criterion's scale is a rigid motion's or a mode's
    assert gram == pytest.approx(np.eye(len(modal.modes)), abs=10.0 * TOLERANCE)


def test_stations_give_the_stiffening_of_the_exact_integrals():
    modal = beam("assumed_modes", 5)
    finer = replace(modal.flexible, size=9)
    five = spinning(modal, 4.0)
    nine = ModalBeam(finer)
    exact = mass_stations(nine)
    columns = slice(0, 5)
    pull = np.einsum("p,pab->ab", exact.inertia[:, 0] * exact.place, nine.shortening(exact.place)[:, columns, columns])
    stiffness = np.diag(nine.frequencies[columns] ** 2) + 16.0 * (pull - np.eye(5))
    # the rotary inertia turns the modes of nine a little against those of five
    assert five == pytest.approx(np.sqrt(eigh(stiffness, eigvals_only=True)), rel=1e-4)
