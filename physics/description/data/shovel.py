"""Tools that cut soil: buckets, blades and grabs. SI units."""

from dataclasses import dataclass

from grouser.physics.description.data.pose import Vector3


@dataclass(frozen=True)
class Shovel:
    """A tool that cuts soil.

    The plate that separates the soil goes from the cutting edge to the top edge; it is the opening of a bucket, and the
    face of a blade.

    Attributes:
        name: of the tool.
        link: that it is fixed to.
        cutting_edge, top_edge: both ends of each edge in the link's frame [m], parallel and in the same order.
        cutting_direction: unit vector in the link's frame, normal to the cutting edge.
        edge_thickness: of the cutting edge [m].
        teeth: number of them; 0 for a plain edge.
        tooth_side: of the square that a tooth presses with [m]; 0 without teeth.
        tooth_length: from the cutting edge to the tips [m].
        side_plates: whether plates close the sides.
        soil_friction: coefficient of friction between plate and soil [-]; None: tan of 2/3 of the soil's angle.
        adhesion: of soil to the plate [Pa].
        profile: of the inner surface from the cutting edge, (0, 0), to the top edge, (opening, 0): place along the
            plate and depth behind it [m]; empty for a blade.
        width: length of the cutting edge [m].
        opening: from the cutting edge to the top edge [m].
    """

    name: str
    link: str
    cutting_edge: tuple[Vector3, Vector3]
    top_edge: tuple[Vector3, Vector3]
    cutting_direction: Vector3
    edge_thickness: float
    teeth: int
    tooth_side: float
    tooth_length: float
    side_plates: bool
    soil_friction: float | None
    adhesion: float
    profile: tuple[tuple[float, float], ...]
    width: float
    opening: float
