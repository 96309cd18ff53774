"""Granular media of a world: materials, surfaces of pairs, and the volumes that grains fill. SI units."""

from dataclasses import dataclass

from grouser.physics.base.checks import (
    VALUE_MAX,
    require_count,
    require_items,
    require_range,
    require_size,
    require_type,
    require_unique,
    require_vector,
)
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.closed_mesh import ClosedMesh
from grouser.physics.description.data.clump import ClumpShape
from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.shapes import Box, Cylinder, Sphere

NORMAL_LAWS = ("hertz", "viscoelastic", "hooke")
TANGENTIAL_LAWS = ("no_slip", "displacement", "partial_slip", "none")
ROLLING_LAWS = ("spring", "constant", "none")
DAMPING_ENDS = ("zero_force", "zero_overlap")
_VOLUMES = "a Box, Cylinder, Sphere or ClosedMesh"
# Number of grains, at most: 2.7 kB each.
MOST_GRAINS = 2_000_000
# Largest radius by the least: steps are those of the smallest grains, and a grain meets each size class by itself.
WIDEST_RANGE = 100.0
# Least restitution of a contact that ends at zero force [-].
LEAST_RESTITUTION = 1e-3


@dataclass(frozen=True)
class GrainMaterial:
    """What a grain or a boundary is made of.

    Attributes:
        name: by which pairs name it.
        youngs_modulus: E [Pa].
        poisson_ratio: nu [-], above -1, at most 0.5.
        density: of grains [kg/m3]; boundaries need none.
    """

    name: str
    youngs_modulus: float
    poisson_ratio: float = 0.25
    density: float = 2500.0

    def __post_init__(self):
        require_range(f"youngs_modulus of '{self.name}'", self.youngs_modulus, 1.0, 1e15, "Pa")
        require_range(f"poisson_ratio of '{self.name}'", self.poisson_ratio, -0.99, 0.5)
        require_range(f"density of '{self.name}'", self.density, 1e-3, 1e6, "kg/m3")

    @property
    def shear_modulus(self) -> float:
        """G = E/(2 (1 + nu)) [Pa]."""
        return self.youngs_modulus / (2.0 * (1.0 + self.poisson_ratio))


@dataclass(frozen=True)
class Surface:
    """How the surfaces of two materials act on each other.

    Attributes:
        restitution: e of a head-on impact [-]; of the laws `hertz` and `hooke`, at any speed.
        friction: Coulomb's mu [-].
        rolling_friction: mu_r: the largest rolling moment is mu_r R* times the normal force [-].
        twisting_friction: the same about the normal [-].
        adhesion: work of adhesion w [J/m2]: touching surfaces attract with 2 pi w R* (Derjaguin, Muller and Toporov,
            1975).
        normal: `hertz`, `viscoelastic` or `hooke`.
        tangential: `no_slip` (increments of force, scaled on unloading; Thornton et al., 2013), `displacement`,
            `partial_slip` (method of dimensionality reduction; Popov and Hess) or `none`.
        rolling: `spring` (Iwashita and Oda, 1998; Ai et al., 2011), `constant` or `none`.
        damping_end: where a contact ends: at `zero_force`, or at `zero_overlap`, before which it may pull.
        stiffness: k of `hooke` [N/m].
        dissipation_time: A of `viscoelastic` (Brilliantov et al., 1996) [s].
        springs: of `partial_slip`, in half a contact.
    """

    restitution: float = 0.7
    friction: float = 0.5
    rolling_friction: float = 0.0
    twisting_friction: float = 0.0
    adhesion: float = 0.0
    normal: str = "hertz"
    tangential: str = "no_slip"
    rolling: str = "spring"
    damping_end: str = "zero_force"
    stiffness: float = 0.0
    dissipation_time: float = 0.0
    springs: int = 8

    def __post_init__(self):
        for name in ("friction", "rolling_friction", "twisting_friction"):
            require_range(name, getattr(self, name), 0.0, 1e3)
        for name in ("adhesion", "stiffness", "dissipation_time"):
            require_range(name, getattr(self, name), 0.0, VALUE_MAX)
        choices = {"normal": NORMAL_LAWS, "tangential": TANGENTIAL_LAWS, "rolling": ROLLING_LAWS}
        for name, valid in {**choices, "damping_end": DAMPING_ENDS}.items():
            if getattr(self, name) not in valid:
                raise ParameterError(name, getattr(self, name), "one of " + ", ".join(valid))
        require_range("springs", self.springs, 1, 1000)
        if self.normal == "hooke" and self.stiffness == 0.0:
            raise ParameterError("stiffness", self.stiffness, "above 0 N/m for the normal law 'hooke'")
        if self.normal != "viscoelastic":
            require_range("restitution", self.restitution, LEAST_RESTITUTION, 1.0)


@dataclass(frozen=True)
class GrainPair:
    """Two materials, of grains or boundaries, in either order, and the surface between them."""

    first: str
    second: str
    surface: Surface

    def __post_init__(self):
        for name in (self.first, self.second):
            require_type("material of a pair", name, str, "a text")
        require_type(f"surface of '{self.first}' and '{self.second}'", self.surface, Surface, "a Surface")


def _require_radii(name: str, radius: object) -> None:
    """Refuses what is not a least and a largest radius."""
    low, high = require_vector(f"radius of {name}", radius, 2, "m")
    require_size(f"radius of {name}", low)
    require_size(f"radius of {name}", high)
    if low > high:
        raise ParameterError(f"radius of {name}", radius, "the least radius, then the largest")


@dataclass(frozen=True)
class GrainFill:
    """A volume in which grains are laid out, loosely, before they settle.

    Attributes:
        name: unique in its world.
        material: of the grains.
        geometry: the volume; all but a mesh about its own centre.
        pose: of the volume in the world.
        radius: least and largest; between them all are equally probable [m]. Clumps have the volume of such spheres.
        count: number of grains or clumps; None: as `mass` says.
        mass: of all grains together [kg]; None: as `count` says; with neither as many as there is room for.
        seed: of the radii, of small displacements and of the orientations of clumps.
        clump: shape of its grains, a name; None: spheres.
    """

    name: str
    material: str
    geometry: Box | Cylinder | Sphere | ClosedMesh
    pose: Pose = Pose()
    radius: tuple[float, float] = (0.025, 0.025)
    count: int | None = None
    mass: float | None = None
    seed: int = 1
    clump: str | None = None

    def __post_init__(self):
        require_type("name of a fill", self.name, str, "a text")
        name = f"fill '{self.name}'"
        require_type(f"material of {name}", self.material, str, "a text")
        require_type(f"volume of {name}", self.geometry, (Box, Cylinder, Sphere, ClosedMesh), _VOLUMES)
        require_type(f"pose of {name}", self.pose, Pose, "a Pose")
        require_type(f"clump of {name}", self.clump, (str, type(None)), "a text, or None")
        _require_radii(name, self.radius)
        if self.count is not None:
            require_count(f"count of {name}", self.count, 1, MOST_GRAINS)
        if self.mass is not None:
            require_range(f"mass of {name}", self.mass, 1e-9, 1e12, "kg")
        if self.count is not None and self.mass is not None:
            raise ParameterError(f"mass of {name}", self.mass, "none beside a count: either gives the other")
        require_count(f"seed of {name}", self.seed, 0, 2**63 - 1)


@dataclass(frozen=True)
class GrainEmitter:
    """A box in which grains appear while the simulation runs, each at a random place that is free.

    Attributes:
        name: unique in its world.
        material: of the grains.
        box: about its own centre.
        pose: of the box in the world.
        rate: grains or clumps per second.
        radius: as of `GrainFill`.
        velocity: with which they begin, world frame [m/s].
        begin, end: times between which it works [s].
        seed: of radii, places and orientations.
        clump: as of `GrainFill`.
    """

    name: str
    material: str
    box: Box
    rate: float
    pose: Pose = Pose()
    radius: tuple[float, float] = (0.025, 0.025)
    velocity: Vector3 = (0.0, 0.0, 0.0)
    begin: float = 0.0
    end: float = VALUE_MAX
    seed: int = 1
    clump: str | None = None

    def __post_init__(self):
        require_type("name of an emitter", self.name, str, "a text")
        name = f"emitter '{self.name}'"
        require_type(f"material of {name}", self.material, str, "a text")
        require_type(f"box of {name}", self.box, Box, "a Box")
        require_type(f"pose of {name}", self.pose, Pose, "a Pose")
        require_type(f"clump of {name}", self.clump, (str, type(None)), "a text, or None")
        _require_radii(name, self.radius)
        require_range(f"rate of {name}", self.rate, 0.0, 1e6, "1/s")
        require_vector(f"velocity of {name}", self.velocity, 3, "m/s")
        for key in ("begin", "end"):
            require_range(f"{key} of {name}", getattr(self, key), 0.0, VALUE_MAX, "s")
        if self.end <= self.begin:
            raise ParameterError(f"end of {name}", self.end, f"after its begin, {self.begin:g} s")
        require_count(f"seed of {name}", self.seed, 0, 2**63 - 1)


@dataclass(frozen=True)
class GrainSink:
    """A box in which grains end: those whose centre is inside are taken away.

    Attributes:
        name: unique in its world.
        box: about its own centre.
        pose: of the box in the world.
    """

    name: str
    box: Box
    pose: Pose = Pose()

    def __post_init__(self):
        require_type("name of a sink", self.name, str, "a text")
        require_type(f"box of sink '{self.name}'", self.box, Box, "a Box")
        require_type(f"pose of sink '{self.name}'", self.pose, Pose, "a Pose")


@dataclass(frozen=True)
class ObstacleVibration:
    """An obstacle that vibrates for grains: its place plus amplitude times sin(2 pi frequency t + phase).

    Attributes:
        obstacle: its name.
        amplitude: world frame [m].
        frequency: [Hz].
        phase: [rad].
    """

    obstacle: str
    amplitude: Vector3
    frequency: float
    phase: float = 0.0

    def __post_init__(self):
        require_type("name of a vibrating obstacle", self.obstacle, str, "a text")
        require_vector(f"amplitude of '{self.obstacle}'", self.amplitude, 3, "m")
        require_range(f"frequency of '{self.obstacle}'", self.frequency, 1e-6, 1e4, "Hz")
        require_range(f"phase of '{self.obstacle}'", self.phase, -VALUE_MAX, VALUE_MAX, "rad")


@dataclass(frozen=True)
class GranularMedia:
    """The grains of a world.

    Boundaries are the ground, the obstacles and all links; they are of the material that contacts give them, and of
    `boundary` where `materials` has none of that name.

    Attributes:
        materials: of grains and boundaries.
        fills: where grains are at the start; required without emitters.
        pairs: surfaces between two materials.
        surface: of all other pairs.
        boundary: of boundaries whose material is not among `materials`.
        settle: longest time in which grains come to rest between ground and obstacles before the start [s]; 0: none.
        impact_speed: fastest impact that is expected [m/s]: steps are a 20th of its contact.
        contact_step: longest step of the contacts [s]; None: as `impact_speed` says.
        sleeping: whether grains at rest sleep until something that moves touches them.
        emitters: where grains appear while the simulation runs.
        sinks: where they end.
        vibrations: of obstacles.
        lumps: radius of the grains that soil becomes where it is cut, of the last material [m]; 0: none.
        clumps: shapes that fills and emitters name.
    """

    materials: tuple[GrainMaterial, ...]
    fills: tuple[GrainFill, ...] = ()
    pairs: tuple[GrainPair, ...] = ()
    surface: Surface = Surface()
    boundary: GrainMaterial = GrainMaterial("boundary", 1e8, 0.3)
    settle: float = 3.0
    impact_speed: float = 1.0
    contact_step: float | None = None
    sleeping: bool = True
    emitters: tuple[GrainEmitter, ...] = ()
    sinks: tuple[GrainSink, ...] = ()
    vibrations: tuple[ObstacleVibration, ...] = ()
    lumps: float = 0.0
    clumps: tuple[ClumpShape, ...] = ()

    def __post_init__(self):
        materials = require_items("grain materials", self.materials, GrainMaterial, "a GrainMaterial")
        fills = require_items("fills of grains", self.fills, GrainFill, "a GrainFill")
        pairs = require_items("pairs of grain materials", self.pairs, GrainPair, "a GrainPair")
        emitters = require_items("emitters of grains", self.emitters, GrainEmitter, "a GrainEmitter")
        sinks = require_items("sinks of grains", self.sinks, GrainSink, "a GrainSink")
        vibrations = require_items("vibrations", self.vibrations, ObstacleVibration, "an ObstacleVibration")
        given = {"materials": materials, "fills": fills, "pairs": pairs, "emitters": emitters, "sinks": sinks}
        clumps = require_items("clumps", self.clumps, ClumpShape, "a ClumpShape")
        for name, value in {**given, "vibrations": vibrations, "clumps": clumps}.items():
            object.__setattr__(self, name, value)
        require_range("lumps", self.lumps, 0.0, VALUE_MAX, "m")
        if not fills and not emitters and not self.lumps:
            raise ParameterError("fills of grains", fills, "at least one, or an emitter")
        names = [material.name for material in materials]
        require_unique("grain materials", [*names, self.boundary.name])
        volumes = [*(fill.name for fill in fills), *(one.name for one in emitters), *(sink.name for sink in sinks)]
        require_unique("fills, emitters and sinks of grains", volumes)
        require_unique("vibrating obstacles", [one.obstacle for one in vibrations])
        known = ", ".join(names)
        made = [*((fill.name, fill.material) for fill in fills), *((one.name, one.material) for one in emitters)]
        for owner, material in made:
            if material not in names:
                raise ParameterError(f"material of '{owner}'", material, f"one of {known}")
        shapes = [shape.name for shape in clumps]
        require_unique("clumps", shapes)
        for one in self.owners:
            if one.clump is not None and one.clump not in shapes:
                raise ParameterError(f"clump of '{one.name}'", one.clump, f"one of {', '.join(shapes) or 'no clumps'}")
        for pair in pairs:
            for name in (pair.first, pair.second):
                if name not in (*names, self.boundary.name):
                    raise ParameterError("material of a pair of grains", name, f"one of {known}, {self.boundary.name}")
        require_type("surface of grains", self.surface, Surface, "a Surface")
        require_range("settle", self.settle, 0.0, 1e4, "s")
        require_range("impact_speed", self.impact_speed, 1e-6, 1e4, "m/s")
        if self.contact_step is not None:
            require_range("contact_step", self.contact_step, 1e-9, 1.0, "s")
        require_type("sleeping", self.sleeping, bool, "true or false")
        low, high = self.least_radius, max(largest for _, largest in self.radii)
        if high > WIDEST_RANGE * low:
            valid = f"radii of which the largest is at most {WIDEST_RANGE:g} times the least"
            raise ParameterError("radius of grains", f"{low:g} to {high:g} m", valid)

    @property
    def least_radius(self) -> float:
        """Of all fills, emitters and lumps [m]."""
        return min(least for least, _ in self.radii)

    @property
    def least_share(self) -> float:
        """Of all shapes of fills and emitters (`ClumpShape.least_share`), at most 1 [-]."""
        shapes = [self.shape_of(one) for one in self.owners]
        return min([1.0, *(shape.least_share for shape in shapes if shape is not None)])

    def relative_mass(self, owner: GrainFill | GrainEmitter) -> float:
        """Mass of a grain or clump by that of a sphere of its volume and material [-]."""
        shape = self.shape_of(owner)
        return 1.0 if shape is None else shape.relative_mass

    @property
    def radii(self) -> list[tuple[float, float]]:
        """Least and largest of the spheres of each fill and emitter, and of lumps [m]."""
        found = []
        for one in self.owners:
            shape = self.shape_of(one)
            least, largest = (1.0, 1.0) if shape is None else (shape.body.radius.min(), shape.body.radius.max())
            found.append((float(one.radius[0] * least), float(one.radius[1] * largest)))
        return [*found, (self.lumps, self.lumps)] if self.lumps else found

    @property
    def owners(self) -> tuple[GrainFill | GrainEmitter, ...]:
        """Fills, then emitters."""
        return (*self.fills, *self.emitters)

    def shape_of(self, owner: GrainFill | GrainEmitter) -> ClumpShape | None:
        """Shape of the clumps of a fill or emitter; None for spheres."""
        return None if owner.clump is None else next(one for one in self.clumps if one.name == owner.clump)
