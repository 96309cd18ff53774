"""Clumps: rigid grains made of spheres that overlap or touch, and their mass properties: of the union, or as given."""

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from grouser.physics.base.checks import require_range, require_size, require_type, require_vector
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.pose import Vector3

# Spheres of a clump, at most.
MOST_SPHERES = 200
# Share of their radii by which rounding may part spheres that touch [-].
_ROUNDING = 1e-9
# Distance of the centres from a line, by the size of the clump, up to which the union is a solid of revolution [-].
_STRAIGHT = 1e-12
# Columns across the shorter sides of the union, along which its integrals are exact.
_COLUMNS = 400


class ClumpBody(NamedTuple):
    """A clump whose volume is that of the unit sphere, in its principal axes, about its centre of mass.

    Attributes:
        centre: of the spheres [-], (spheres, 3).
        radius: of the spheres [-], (spheres,).
        inertia: principal moments by the mass [-], (3,).
        reach: distance of its farthest point from its centre of mass [-].
    """

    centre: np.ndarray
    radius: np.ndarray
    inertia: np.ndarray
    reach: float


@dataclass(frozen=True)
class ClumpShape:
    """The shape of a clump: spheres in any axes and any unit of length. A fill or a bed scales it.

    Attributes:
        name: by which fills name it.
        spheres: centre and radius of each.
        relative_mass: by the mass of the union of the spheres, all of its material [-].
        centre_of_mass: in the axes and the unit of the spheres; None: that of the union.
        inertia: by the mass, about the centre of mass: Ixx, Iyy, Izz, Ixy, Ixz, Iyz in the axes of the spheres, with
            I_xy the sum of -x y dm, in the square of their unit; None: that of the union about its own centre.
    """

    name: str
    spheres: tuple[tuple[Vector3, float], ...]
    relative_mass: float = 1.0
    centre_of_mass: Vector3 | None = None
    inertia: tuple[float, ...] | None = None

    def __post_init__(self):
        require_type("name of a clump", self.name, str, "a text")
        name = f"clump '{self.name}'"
        spheres = require_type(f"spheres of {name}", self.spheres, (tuple, list), "pairs of a centre and a radius")
        if not 2 <= len(spheres) <= MOST_SPHERES:
            valid = f"2 to {MOST_SPHERES}; a grain without a clump is one sphere"
            raise ParameterError(f"number of spheres of {name}", len(spheres), valid)
        checked = []
        for sphere in spheres:
            if not isinstance(sphere, (tuple, list)) or len(sphere) != 2:
                raise ParameterError(f"sphere of {name}", sphere, "a centre and a radius")
            centre = require_vector(f"centre of a sphere of {name}", sphere[0], 3, "")
            checked.append((centre, require_size(f"radius of a sphere of {name}", sphere[1])))
        object.__setattr__(self, "spheres", tuple(checked))
        _require_one_body(name, *_arrays(self.spheres))
        require_range(f"relative_mass of {name}", self.relative_mass, 1e-3, 1e3)
        if self.centre_of_mass is not None:
            centre = require_vector(f"centre_of_mass of {name}", self.centre_of_mass, 3, "")
            object.__setattr__(self, "centre_of_mass", centre)
            _require_inside(name, centre, *_arrays(self.spheres))
        if self.inertia is not None:
            inertia = require_vector(f"inertia of {name}", self.inertia, 6, "")
            object.__setattr__(self, "inertia", inertia)
            _require_moments(name, inertia, self._size * self.body.reach)

    @property
    def shares(self) -> np.ndarray:
        """Shares of the spheres in the mass, by their volumes [-], (spheres,)."""
        cubes = self.body.radius**3
        return cubes / cubes.sum()

    @property
    def body(self) -> ClumpBody:
        """Its mass properties."""
        return _body(self.spheres, self.centre_of_mass, self.inertia)[0]

    @property
    def least_share(self) -> float:
        """Least effective mass at any point of a sphere by the mass of that sphere, all of its material [-].

        The effective mass along a normal n is the inverse of 1/m + (r x n) I^-1 (r x n), with r from the centre of mass
        to the middle of the sphere.
        """
        body, mass = self.body, self.relative_mass
        arm = np.array([[(0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)] for x, y, z in body.centre])
        turning = np.linalg.eigvalsh(np.einsum("sji,j,sjk->sik", arm, 1.0 / body.inertia, arm))[:, -1]
        return float((mass / (1.0 + turning) / body.radius**3).min())

    @property
    def _size(self) -> float:
        """Unit of `body` in that of the spheres."""
        return _body(self.spheres, self.centre_of_mass, self.inertia)[1]


def _arrays(spheres: tuple[tuple[Vector3, float], ...]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([centre for centre, _ in spheres], float), np.array([radius for _, radius in spheres], float)


def _require_one_body(name: str, centre: np.ndarray, radius: np.ndarray) -> None:
    """Refuses spheres that do not hang together, and those inside of others."""
    apart = np.linalg.norm(centre[:, None] - centre, axis=2)
    both = radius[:, None] + radius
    reached, touches = np.zeros(len(radius), bool), apart <= both * (1.0 + _ROUNDING)
    reached[0] = True
    for _ in radius:
        reached = touches[reached].any(axis=0)
    if not reached.all():
        lost = int(np.flatnonzero(~reached)[0])
        valid = "spheres that hang together: each touches or overlaps others, up to the first"
        raise ParameterError(f"sphere {lost + 1} of {name}", tuple(centre[lost].tolist()), valid)
    inside = apart + radius[:, None] <= radius
    inside[np.diag_indices(len(radius))] = False
    if inside.any():
        hidden = int(np.flatnonzero(inside.any(axis=1))[0])
        raise ParameterError(f"sphere {hidden + 1} of {name}", tuple(centre[hidden].tolist()), "not inside of another")


def _require_inside(name: str, point: Vector3, centre: np.ndarray, radius: np.ndarray) -> None:
    """Refuses a centre of mass beside the spheres."""
    low, high = (centre - radius[:, None]).min(axis=0), (centre + radius[:, None]).max(axis=0)
    if ((point < low) | (point > high)).any():
        valid = f"within the box around its spheres, {_told(low)} to {_told(high)}"
        raise ParameterError(f"centre_of_mass of {name}", point, valid)


def _require_moments(name: str, inertia: tuple[float, ...], reach: float) -> None:
    """Refuses an inertia by the mass that no body within the reach has."""
    moments = np.linalg.eigvalsh(_tensor(inertia))
    told = f"{inertia}, with principal moments {_told(moments)}"
    if moments[0] <= 0.0:
        raise ParameterError(f"inertia of {name}", told, "principal moments above 0")
    if moments[2] > (moments[0] + moments[1]) * (1.0 + _ROUNDING):
        raise ParameterError(f"inertia of {name}", told, "none above the sum of the two others (triangle inequality)")
    if 0.5 * moments.sum() > reach**2:
        valid = f"a sum of at most {2.0 * reach**2:.4g}: no mass is farther than {reach:.4g} from the centre of mass"
        raise ParameterError(f"inertia of {name}", told, valid)


def _told(numbers: np.ndarray) -> str:
    return ", ".join(f"{number:.4g}" for number in numbers)


def _tensor(inertia: tuple[float, ...]) -> np.ndarray:
    xx, yy, zz, xy, xz, yz = inertia
    return np.array([(xx, xy, xz), (xy, yy, yz), (xz, yz, zz)])


@functools.lru_cache(maxsize=64)
def _body(
    spheres: tuple[tuple[Vector3, float], ...], heavy: Vector3 | None, given: tuple[float, ...] | None
) -> tuple[ClumpBody, float]:
    """The body, and its unit of length in that of the spheres."""
    centre, radius = _arrays(spheres)
    origin, size = centre[radius.argmax()], radius.max()
    centre, radius = (centre - origin) / size, radius / size
    volume, first, second = _moments(centre, radius)
    middle = first / volume
    about = second / volume - np.outer(middle, middle)
    moments = np.trace(about) * np.eye(3) - about if given is None else _tensor(given) / size**2
    middle = middle if heavy is None else (np.array(heavy) - origin) / size
    inertia, axes = np.linalg.eigh(moments)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    scale = (4.0 / 3.0 * np.pi / volume) ** (1.0 / 3.0)
    place = scale * (centre - middle) @ axes
    reach = float((np.linalg.norm(place, axis=1) + scale * radius).max())
    for array in (place, radius, inertia):
        array.flags.writeable = False
    return ClumpBody(place, scale * radius, scale**2 * inertia, reach), float(size / scale)


def _moments(centre: np.ndarray, radius: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume of the union of spheres, and its first and second moments, (3,) and (3, 3).

    Of spheres in a line they are exact to rounding: those of the solid of revolution, piecewise polynomials along it.
    Of others they are sums over columns, midpoint rule, each integrated exactly along its length.
    """
    middle = centre.mean(axis=0)
    _, spread, axes = np.linalg.svd(centre - middle)
    axes = axes if np.linalg.det(axes) > 0.0 else -axes
    place = (centre - middle) @ axes.T
    straight = spread[1] <= _STRAIGHT * spread[0]
    volume, first, second = _revolved(place[:, 0], radius) if straight else _summed(place, radius)
    first, second = axes.T @ first, axes.T @ second @ axes
    return (
        volume,
        first + volume * middle,
        second + np.outer(first, middle) + np.outer(middle, first) + volume * (np.outer(middle, middle)),
    )


def _revolved(place: np.ndarray, radius: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Moments of the union of spheres on the first axis."""
    apart, both = place[:, None] - place, place[:, None] + place
    with np.errstate(divide="ignore", invalid="ignore"):
        # where two spheres have the same section
        crossing = 0.5 * (both - (radius[:, None] ** 2 - radius**2) / apart)
    ends = np.unique(np.concatenate([place - radius, place + radius, crossing[np.isfinite(crossing)]]))
    ends = ends[(ends >= (place - radius).min()) & (ends <= (place + radius).max())]
    node, weight = np.polynomial.legendre.leggauss(4)
    x = 0.5 * (ends[1:] + ends[:-1])[:, None] + 0.5 * np.diff(ends)[:, None] * node
    weight = (0.5 * np.diff(ends)[:, None] * weight).ravel()
    section = np.maximum((radius**2 - (x.ravel()[:, None] - place) ** 2).max(axis=1), 0.0)
    x, area = x.ravel(), weight * np.pi * section
    across = float((0.25 * area * section).sum())
    return float(area.sum()), np.array([float(area @ x), 0.0, 0.0]), np.diag([float(area @ x**2), across, across])


def _summed(place: np.ndarray, radius: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Moments of the union of spheres, by columns along the first axis."""
    low, high = (place - radius[:, None]).min(axis=0), (place + radius[:, None]).max(axis=0)
    sides = (high - low)[1:] / _COLUMNS
    rows, columns = (low[k] + (np.arange(_COLUMNS) + 0.5) * sides[k - 1] for k in (1, 2))
    volume, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for y in rows:
        length, moment, square = _columns(place, radius, y, columns) * float(sides[0] * sides[1])
        z, xy = columns, y * moment.sum()
        xz, yz = moment @ z, y * (length @ z)
        volume += float(length.sum())
        first += [moment.sum(), y * length.sum(), length @ z]
        second += [[square.sum(), xy, xz], [xy, y * y * length.sum(), yz], [xz, yz, length @ z**2]]
    return volume, first, second


def _columns(place: np.ndarray, radius: np.ndarray, y: float, z: np.ndarray) -> np.ndarray:
    """Integrals of 1, x and x^2 over what the union holds of lines along x, (3, lines)."""
    square = radius**2 - (y - place[:, 1]) ** 2 - (z[:, None] - place[:, 2]) ** 2
    half = np.sqrt(np.maximum(square, 0.0))
    order = np.argsort(place[:, 0] - half, axis=1)
    begin, end = (np.take_along_axis(place[:, 0] + sign * half, order, axis=1) for sign in (-1.0, 1.0))
    # what each sphere adds to those that begin before it
    reached = np.maximum.accumulate(end, axis=1)
    begin[:, 1:] = np.maximum(begin[:, 1:], reached[:, :-1])
    end = np.maximum(end, begin)
    return np.stack([((end**p - begin**p) / p).sum(axis=1) for p in (1, 2, 3)])
