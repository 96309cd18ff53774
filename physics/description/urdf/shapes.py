"""Collision and visual shapes of a link."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from grouser.physics.description.data.mechanism import Collision, Visual
from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Geometry, Mesh, Sphere
from grouser.physics.description.text.mending import Mendings
from grouser.physics.description.text.names import closest, shortened
from grouser.physics.description.text.packages import PackageNotFoundError, Packages
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf import meshes
from grouser.physics.description.urdf.origin import read_origin

_SHAPES = ("box", "cylinder", "sphere", "capsule", "mesh")
_SIZE_MAX = 1e6
Colour = tuple[float, float, float, float]


@dataclass(frozen=True)
class Materials:
    """Colours by material name, and the names without one that need not be told: they have a texture, or were told."""

    rgba: dict[str, Colour]
    silent: set[str] = field(default_factory=set)


def read_materials(robot: Element) -> Materials:
    """Collects the materials with a colour, of the robot and of all visuals: a visual may refer to a later one.

    Raises:
        MachineError: a colour cannot be read or is out of range.
    """
    rgba: dict[str, Colour] = {}
    textured: set[str] = set()
    visuals = (visual for link in robot.all("link") for visual in link.all("visual"))
    for holder in (robot, *visuals):
        for material in holder.all("material"):
            colour = _read_colour(material)
            name = material.attributes.get("name", "")
            if colour is not None and name:
                rgba.setdefault(name, colour)
            if material.optional("texture") is not None:
                textured.add(name)
    return Materials(rgba, textured)


def read_collisions(link: Element, packages: Packages) -> tuple[Collision, ...]:
    """Returns the collision shapes of a link.

    Raises:
        MachineError: a shape is missing, unknown, not positive, or its mesh cannot be read.
    """
    name = link.text("name")
    return tuple(
        Collision(
            element.attributes.get("name", ""), read_origin(element), _read_collision_geometry(element, name, packages)
        )
        for element in link.all("collision")
    )


def read_visuals(link: Element, materials: Materials, packages: Packages, mendings: Mendings) -> tuple[Visual, ...]:
    """Returns the visual shapes of a link with their colours; meshes that cannot be used are left out and told.

    Raises:
        MachineError: a shape is missing, unknown or not positive.
    """
    visuals = []
    for element in link.all("visual"):
        try:
            geometry = _read_geometry(element, packages)
        except _UnusableMeshError as problem:
            subject = f"visual mesh {shortened(problem.uri)} of link {shortened(link.text('name'))}"
            mendings.add(problem.element, subject, "cannot be used and is not shown", problem.reason)
            continue
        colour = _colour_of(element, link.text("name"), materials, mendings)
        visuals.append(Visual(element.attributes.get("name", ""), read_origin(element), geometry, colour))
    return tuple(visuals)


def _colour_of(visual: Element, link: str, materials: Materials, mendings: Mendings) -> Colour | None:
    material = next(visual.all("material"), None)
    if material is None:
        return None
    if len(list(visual.all("material"))) > 1:
        mendings.add(visual, f"link {shortened(link)}", "has a visual shape of several materials: the first is shown")
    own = _read_colour(material)
    if own is not None:
        return own
    name = material.attributes.get("name", "")
    if name not in materials.rgba and name not in materials.silent:
        materials.silent.add(name)
        mendings.add(material, f"material {shortened(name)}", "is nowhere defined: it is shown in grey")
    return materials.rgba.get(name)


def _read_colour(material: Element) -> Colour | None:
    colour = material.optional("color")
    if colour is None:
        return None
    red, green, blue, alpha = colour.vector("rgba", 4)
    for value in (red, green, blue, alpha):
        if not 0.0 <= value <= 1.0:
            raise colour.error(f"rgba holds {value:g}; valid: 0 to 1", "divide by 255 if it counts to 255")
    return (red, green, blue, alpha)


class _UnusableMeshError(Exception):
    """The file of a mesh cannot be used: its element, its name as written, and the reason."""

    def __init__(self, element: Element, uri: str, reason: str):
        super().__init__(reason)
        self.element, self.uri, self.reason = element, uri, reason


def _read_collision_geometry(parent: Element, link: str, packages: Packages) -> Geometry:
    """A geometry with the hull of its mesh."""
    try:
        geometry = _read_geometry(parent, packages)
        return _with_hull(geometry, parent) if isinstance(geometry, Mesh) else geometry
    except _UnusableMeshError as problem:
        text = f"link {shortened(link)}: filename = {shortened(problem.uri)}: {problem.reason}"
        remedy = None if isinstance(problem.__cause__, PackageNotFoundError) else "check the file name"
        raise problem.element.error(text, remedy) from None


def _with_hull(mesh: Mesh, parent: Element) -> Mesh:
    try:
        hull = meshes.convex_hull(Path(mesh.path), mesh.scale)
    except meshes.MeshError as problem:
        raise _UnusableMeshError(parent.required("geometry").required("mesh"), mesh.uri, str(problem)) from None
    return replace(mesh, hull=hull.vertices, hull_error=hull.error)


def _read_geometry(parent: Element, packages: Packages) -> Geometry:
    holder = parent.required("geometry")
    # Shapes with a prefix belong to other programs.
    shapes = [child for child in holder.children if ":" not in child.tag]
    if not shapes:
        raise holder.error("it holds no shape", f"add one of {', '.join(f'<{shape}>' for shape in _SHAPES)}")
    if len(shapes) > 1:
        raise shapes[1].error(
            f"<geometry> holds {len(shapes)} shapes, one is allowed", f"give each its own <{parent.tag}>"
        )
    shape = shapes[0]
    if shape.tag == "box":
        return Box(_sizes(shape))
    if shape.tag == "cylinder":
        return Cylinder(_size(shape, "radius"), _size(shape, "length"))
    if shape.tag == "sphere":
        return Sphere(_size(shape, "radius"))
    if shape.tag == "capsule":
        return Capsule(_size(shape, "radius"), _size(shape, "length"))
    if shape.tag == "mesh":
        return _read_mesh(shape, packages)
    raise shape.error(f"unknown shape <{shape.tag[:60]}>", closest(shape.tag, _SHAPES))


def _read_mesh(element: Element, packages: Packages) -> Mesh:
    uri = element.text("filename").strip()
    scale = element.triple("scale", (1.0, 1.0, 1.0))
    if any(not 0.0 < abs(factor) <= _SIZE_MAX for factor in scale):
        raise element.error(f"scale = {shortened(element.attributes['scale'])} is not valid: factors other than zero")
    try:
        path = packages.resolve(uri)
        meshes.check_file(path)
    except (LookupError, meshes.MeshError) as problem:
        raise _UnusableMeshError(element, uri, problem.args[0]) from problem
    return Mesh(uri, str(path), scale)


def _sizes(element: Element) -> Vector3:
    sizes = element.triple("size")
    for value in sizes:
        _check_size(element, "size", value)
    return sizes


def _size(element: Element, name: str) -> float:
    value = element.number(name)
    _check_size(element, name, value)
    return value


def _check_size(element: Element, name: str, value: float) -> None:
    if not 0.0 < value <= _SIZE_MAX:
        raise element.error(f"{name} holds {value:g}; valid: above 0, at most {_SIZE_MAX:g} m")
