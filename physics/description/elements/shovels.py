"""Shovels: buckets and blades by their edges, teeth, side plates and inner profile."""

from dataclasses import dataclass

import numpy as np

from grouser.physics.description.data.pose import Vector3
from grouser.physics.description.data.shovel import Shovel
from grouser.physics.description.table.attributes import (
    Attribute,
    ElementKind,
    Kind,
    link,
    name_of,
    non_negative,
    positive,
)
from grouser.physics.description.table.family import Entry, Family, Scope
from grouser.physics.description.text.xml_tree import Element
from grouser.physics.description.urdf.bucket_profile import Plate, Profile, given_profile, section_profile

TEETH_MAX = 100
# Sine of the largest angle between edges that count as parallel.
_PARALLEL = 0.02
# Lengths below this are none, and edges beyond this are in other units [m].
_LEAST, _WIDEST = 1e-6, 50.0
# By which the direction of an edge along its plate leans to the soil: above rounding.
_LEAN = 1e-13


@dataclass(frozen=True)
class WrittenShovel:
    """A `Shovel` as written; None for values that were not given."""

    name: str
    link: str
    cutting_edge: tuple[Vector3, ...]
    top_edge: tuple[Vector3, ...]
    cutting_direction: Vector3
    profile: tuple[Vector3, ...] | None
    edge_thickness: float
    teeth: int
    tooth_side: float | None
    tooth_length: float
    side_plates: bool
    soil_friction: float | None
    adhesion: float


SHOVEL = ElementKind(
    "shovel",
    "A tool that cuts soil: a bucket, a blade or a grab. The plate from the cutting edge to the top edge separates the "
    "soil; with a profile behind it, it is the opening of a bucket. On soft ground the link's collision shapes do not "
    "touch the soil: the shovel cuts it. `grouser inspect` shows the capacity.",
    (
        name_of("of the tool"),
        link("that it is fixed to"),
        Attribute("cutting_edge", Kind.POINTS, "m", "both ends, in the link's frame", required=True),
        Attribute(
            "top_edge",
            Kind.POINTS,
            "m",
            "both ends, parallel to the cutting edge and in the same order",
            required=True,
        ),
        Attribute(
            "cutting_direction",
            Kind.DIRECTION,
            "-",
            "in which edge and teeth point, in the link's frame; made normal to the cutting edge. Soil is cut on the "
            "side of the plate to which it leans; along the plate, on that without the profile",
            required=True,
        ),
        Attribute(
            "profile",
            Kind.POINTS,
            "m",
            "of a bucket's inner surface, from the cutting edge to the top edge, in the link's frame; places along the "
            "edges do not count",
            default_text="with side_plates that of the collision mesh, if there is one; else none: a blade",
        ),
        positive("edge_thickness", "m", "of the cutting edge", default=0.02),
        Attribute("teeth", Kind.COUNT, "-", "number of teeth on the edge", default=0, minimum=0, maximum=TEETH_MAX),
        positive(
            "tooth_side",
            "m",
            "of the square that a tooth presses with; required with teeth",
            default_text="no teeth",
        ),
        non_negative("tooth_length", "m", "from the edge to the tips; requires teeth", default=0.0),
        Attribute("side_plates", Kind.BOOLEAN, "-", "whether plates close the sides", default=False),
        non_negative(
            "soil_friction",
            "-",
            "coefficient of friction between the plate and soil",
            default_text="tan of 2/3 of the soil's angle of friction",
        ),
        non_negative("adhesion", "Pa", "of soil to the plate", default=0.0),
    ),
    WrittenShovel,
    field="shovels",
    unique="name",
)


def complete_shovel(entry: Entry, scope: Scope) -> Shovel:
    """The shovel with its profile in the axes of its plate.

    Raises:
        MachineError: edges that are none, cross or are not parallel; a profile that is open or crosses itself or the
            plate; a collision mesh without one; teeth that are wider than the edge or only half given.
    """
    written, element = entry.value, entry.element
    cutting, top = _edge(element, "cutting_edge", written.cutting_edge), _edge(element, "top_edge", written.top_edge)
    along = (cutting[1] - cutting[0]) / np.linalg.norm(cutting[1] - cutting[0])
    _check_parallel(element, along, top)
    plate = top.mean(axis=0) - cutting.mean(axis=0)
    plate -= (plate @ along) * along
    opening = float(np.linalg.norm(plate))
    if opening < _LEAST:
        raise element.error("cutting_edge and top_edge lie on one line", "the plate goes from one to the other")
    ahead = np.array(written.cutting_direction) - (np.array(written.cutting_direction) @ along) * along
    if np.linalg.norm(ahead) < _PARALLEL:
        raise element.error("cutting_direction is along the cutting edge", "give a direction across it")
    width = float(np.linalg.norm(cutting[1] - cutting[0]))
    _check_teeth(element, written, width)
    up = plate / opening
    face = np.cross(along, up)
    profile = _profile(element, written, scope, Plate(cutting.mean(axis=0), up, face, opening))
    if written.profile is not None and abs(ahead @ face) < _PARALLEL * np.linalg.norm(ahead):
        # the edge points along the plate, and soil is cut on the side that the profile is not on
        behind = float(((np.array(written.profile) - cutting.mean(axis=0)) @ face).mean())
        ahead += -_LEAN * np.copysign(np.linalg.norm(ahead), behind) * face - (ahead @ face) * face
    return Shovel(
        name=written.name,
        link=written.link,
        cutting_edge=_points(cutting),
        top_edge=_points(top),
        cutting_direction=tuple((ahead / np.linalg.norm(ahead)).tolist()),
        edge_thickness=written.edge_thickness,
        teeth=written.teeth,
        tooth_side=written.tooth_side or 0.0,
        tooth_length=written.tooth_length,
        side_plates=written.side_plates,
        soil_friction=written.soil_friction,
        adhesion=written.adhesion,
        profile=profile,
        width=width,
        opening=opening,
    )


def _profile(element: Element, written: WrittenShovel, scope: Scope, plate: Plate) -> Profile:
    """As given, or of a bucket's collision mesh; none of a blade."""
    if written.profile is not None:
        return given_profile(element, written.profile, plate)
    if written.side_plates:
        return section_profile(element, scope.links[written.link], plate, written.edge_thickness)
    return ()


def _points(edge: np.ndarray) -> tuple[Vector3, Vector3]:
    first, second = (tuple(point) for point in edge.tolist())
    return first, second


def _edge(element: Element, name: str, points: tuple[Vector3, ...]) -> np.ndarray:
    if len(points) != 2:
        raise element.error(f"{name} has {len(points)} points", "give both ends, x y z of each")
    ends = np.array(points, dtype=float)
    if np.linalg.norm(ends[1] - ends[0]) < _LEAST:
        raise element.error(f"both ends of {name} are at {_text(ends[0])} m", "give two points")
    if (width := np.linalg.norm(ends[1] - ends[0])) > _WIDEST:
        raise element.error(f"{name} is {width:g} m wide", "give metres: is it in mm or cm?")
    return ends


def _check_parallel(element: Element, along: np.ndarray, top: np.ndarray) -> None:
    """Requires edges that are parallel and run the same way."""
    other = (top[1] - top[0]) / np.linalg.norm(top[1] - top[0])
    if float(along @ other) < 0.0:
        raise element.error(
            "the sides of the plate cross: top_edge runs against cutting_edge, from "
            f"{_text(top[0])} to {_text(top[1])} m",
            "swap its ends",
        )
    lean = float(np.linalg.norm(np.cross(along, other)))
    if lean > _PARALLEL:
        raise element.error(
            f"cutting_edge and top_edge are {np.degrees(np.arcsin(min(lean, 1.0))):.3g} degrees from parallel",
            f"up to {np.degrees(_PARALLEL):.2g} degrees are valid",
        )


def _check_teeth(element: Element, written: WrittenShovel, width: float) -> None:
    if written.teeth == 0:
        if written.tooth_side is not None or written.tooth_length > 0.0:
            raise element.error("tooth_side or tooth_length without teeth", "give the number of teeth")
        return
    if written.tooth_side is None:
        raise element.error(f"{written.teeth} teeth without tooth_side", "give the side of a tooth [m]")
    if written.teeth * written.tooth_side > width:
        raise element.error(
            f"{written.teeth} teeth of {written.tooth_side:g} m are wider than the cutting edge, {width:.4g} m",
            f"a tooth_side of up to {width / written.teeth:.4g} m fits",
        )


def _text(point: np.ndarray) -> str:
    return " ".join(f"{value:g}" for value in point)


FAMILY = Family((SHOVEL,), complete={"shovels": complete_shovel})
