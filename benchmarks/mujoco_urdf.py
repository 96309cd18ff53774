"""A URDF in MuJoCo, on level ground.

MuJoCo finds no `package://`, reads few formats of meshes and fixes the root link to the world. Therefore it gets the
same links, joints, inertias and collision shapes with its mesh files under names of their own, as STL of the convex
hull, with which it computes contacts anyway. A floating base gets a floating joint to the world.
"""

import xml.etree.ElementTree as ElementTree
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from grouser.physics.description.data.machine import Machine
from grouser.physics.description.text.packages import Packages
from grouser.physics.description.urdf.meshes import triangles

WORLD = "world"
BASE_JOINT = "floating_base"
_KEPT = ("link", "joint")
_COMPILER = {"fusestatic": "true", "discardvisual": "true", "strippath": "true"}


def mujoco_model(mujoco: Any, machine: Machine, step: float, friction: float) -> Any:
    """MuJoCo's model of a machine that was read from a URDF, on the plane z = 0.

    Args:
        mujoco: the module.
        machine: from `grouser.load_machine`.
        step: [s].
        friction: of all surfaces [-].

    Raises:
        ValueError: MuJoCo refuses the file; the message is its own.
    """
    root = ElementTree.fromstring(machine.source)
    for child in list(root):
        if child.tag not in _KEPT:
            root.remove(child)
    ElementTree.SubElement(ElementTree.SubElement(root, "mujoco"), "compiler", _COMPILER)
    assets = _take_meshes(root, machine.file)
    if machine.floating_base:
        _let_float(root, machine.root)
    specification = mujoco.MjSpec.from_string(ElementTree.tostring(root, "unicode"), assets=assets)
    specification.option.timestep = step
    specification.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0])
    for geometry in specification.geoms:
        geometry.friction[0] = friction
    return specification.compile()


def put_base(mujoco: Any, model: Any, data: Any, position: Any) -> None:
    """Puts a model back to its start, a floating base with its level frame at a position [m]."""
    mujoco.mj_resetData(model, data)
    if model.njnt and model.joint(0).name == BASE_JOINT:
        data.qpos[:7] = [*position, 1.0, 0.0, 0.0, 0.0]


def _take_meshes(root: ElementTree.Element, file: str) -> dict[str, bytes]:
    """Renames the collision meshes and removes the visual ones; returns the files by their new names."""
    assets: dict[str, bytes] = {}
    known: dict[Path, bytes] = {}
    numbers = count()
    packages = Packages(file)
    for link in root.iter("link"):
        for visual in link.findall("visual"):
            link.remove(visual)
        for mesh in link.iterfind("collision/geometry/mesh"):
            path = packages.resolve(mesh.get("filename", ""))
            if path not in known:
                known[path] = _hull(path)
            name = f"mesh{next(numbers)}.stl"
            assets[name] = known[path]
            mesh.set("filename", name)
    return assets


def _hull(path: Path) -> bytes:
    """The convex hull of a mesh as binary STL; the mesh itself if it is flat."""
    import trimesh
    from scipy.spatial import QhullError

    solid = trimesh.Trimesh(*triangles(path, (1.0, 1.0, 1.0)))
    with suppress(QhullError):
        solid = solid.convex_hull
    return trimesh.exchange.stl.export_stl(solid)


def _let_float(root: ElementTree.Element, base: str) -> None:
    """Puts a floating joint between the world and the base."""
    ElementTree.SubElement(root, "link", name=WORLD)
    joint = ElementTree.SubElement(root, "joint", name=BASE_JOINT, type="floating")
    ElementTree.SubElement(joint, "parent", link=WORLD)
    ElementTree.SubElement(joint, "child", link=base)
