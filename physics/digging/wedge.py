"""The wedge of soil that a blade pushes up a plane of failure: the fundamental equation of earthmoving.

After Reece (1964) and McKyes (1985). The rake of the blade is the angle from the direction of motion to the plate, up
and back: 90 degrees for an upright plate. The plane of failure rises from the edge ahead. The ground is a plane of one
slope, positive where it rises ahead.
"""

import math
from typing import NamedTuple

from grouser.physics.base.kernel import embedded, inlined, kernel


class CutSoil(NamedTuple):
    """Soil as a tool cuts it, and its contact with the tool.

    Attributes:
        density: rho [kg/m3].
        friction: angle of internal friction phi [rad].
        cohesion: c [Pa].
        tool_friction: angle of friction between tool and soil, delta [rad].
        adhesion: between tool and soil, c_a [Pa].
    """

    density: float
    friction: float
    cohesion: float
    tool_friction: float
    adhesion: float


class Cut(NamedTuple):
    """A blade in the ground.

    Attributes:
        depth: d, of the edge below the ground, vertically above it [m].
        width: w, of the blade [m].
        rake: alpha [rad].
        slope: of the ground ahead [rad].
        surcharge: q, load on the ground [Pa].
        speed: v, along the motion [m/s].
        gravity: g [m/s2].
    """

    depth: float
    width: float
    rake: float
    slope: float
    surcharge: float
    speed: float
    gravity: float


class Face(NamedTuple):
    """A plate in soil by its angles: rake alpha, friction in the soil phi, and between plate and soil delta.

    Attributes:
        cot_rake, csc_rake: cotangent and cosecant of alpha [-].
        steepest: greatest angle of a plane of failure up which a finite force pushes the wedge [rad].
        sin_soil, cos_soil: of phi [-].
        sin_sliding, cos_sliding: of alpha + phi [-].
        sin_pushing, cos_pushing: of alpha + delta + phi [-].
        sin_force, cos_force: of alpha + delta [-].
    """

    cot_rake: float
    csc_rake: float
    steepest: float
    sin_soil: float
    cos_soil: float
    sin_sliding: float
    cos_sliding: float
    sin_pushing: float
    cos_pushing: float
    sin_force: float
    cos_force: float


class WedgeFactors(NamedTuple):
    """Dimensionless factors of the force on a blade, N_gamma, N_c, N_q, N_ca and N_a [-]."""

    weight: float
    cohesion: float
    surcharge: float
    adhesion: float
    inertia: float


@inlined
def rise(rake, slope):
    """Height above the edge at which the plate meets the ground, over the depth [-]."""
    return math.sin(rake) * math.cos(slope) / math.sin(rake + slope)


@inlined
def steepest_failure(rake, friction, tool_friction):
    """Greatest angle of a plane of failure up which a finite force pushes the wedge [rad]."""
    return min(0.5 * math.pi, math.pi - rake - friction - tool_friction)


@kernel
def face_of(rake, friction, tool_friction):
    """A plate in soil.

    Args:
        rake: alpha [rad], between 0 and pi.
        friction, tool_friction: phi and delta [rad].
    """
    sliding, pushing, force = rake + friction, rake + tool_friction + friction, rake + tool_friction
    return Face(
        1.0 / math.tan(rake),
        1.0 / math.sin(rake),
        steepest_failure(rake, friction, tool_friction),
        math.sin(friction),
        math.cos(friction),
        math.sin(sliding),
        math.cos(sliding),
        math.sin(pushing),
        math.cos(pushing),
        math.sin(force),
        math.cos(force),
    )


@inlined
def wedge_force(face, sine, cosine, soil, load, plane, plate, momentum):
    """Force of a wedge on a blade, a width, at the angle of tool friction to its normal [N/m].

    The equations of statics of the wedge, solved for the force.

    Args:
        face: the blade, as of `face_of`.
        sine, cosine: of the angle of the plane of failure [-].
        soil: `CutSoil`.
        load: weight of the wedge and what lies on it [N/m].
        plane, plate: lengths of the plane of failure and of the plate in the soil [m].
        momentum: taken up by the wedge in a second [N/m].
    """
    pressing = load * (sine * face.cos_soil + cosine * face.sin_soil)
    shearing = (soil.cohesion * plane + momentum) * face.cos_soil
    sticking = soil.adhesion * plate * (cosine * face.cos_sliding - sine * face.sin_sliding)
    return (pressing + shearing - sticking) / (sine * face.cos_pushing + cosine * face.sin_pushing)


@inlined
def inertial_force(face, sine, cosine):
    """Force of a wedge on a blade by an inertia of one along the motion, at the angle of tool friction to its normal.

    For the momentum that the wedge takes up in a second were it as fast as the blade, or for its mass times the
    acceleration of the blade: the wedge is faster or slower than the blade by sin(alpha) / sin(alpha + beta).

    Args:
        face, sine, cosine: as of `wedge_force`.
    """
    climb = 1.0 / (sine * face.cot_rake + cosine)
    return climb * face.cos_soil / (sine * face.cos_pushing + cosine * face.sin_pushing)


@embedded
def wedge_factors(rake, failure, friction, tool_friction, slope):
    """Factors of the force on a blade below plane ground.

    McKyes (1985) for level ground; each is the force of `wedge_force` by one cause alone.

    Args:
        rake, failure: angles of plate and plane of failure [rad], the latter above the slope and below
            `steepest_failure`.
        friction, tool_friction: phi and delta [rad].
        slope: of the ground ahead [rad].
    """
    top = rise(rake, slope)
    behind, ahead = top / math.tan(rake), 1.0 / (math.tan(failure) - math.tan(slope))
    resistance = math.sin(rake + failure + tool_friction + friction)
    pressing, shearing = math.sin(failure + friction) / resistance, math.cos(friction) / resistance
    return WedgeFactors(
        0.5 * (behind + ahead) * pressing,
        ahead / math.cos(failure) * shearing,
        (behind + ahead) * pressing,
        -top / math.sin(rake) * math.cos(rake + failure + friction) / resistance,
        math.sin(rake) / math.sin(rake + failure) * shearing,
    )


@inlined
def blade_force(soil, cut, factors, crescents):
    """Force on a blade at the angle of tool friction to its normal, P [N].

    P = w (rho g d^2 N_gamma + c d N_c + q d N_q + c_a d N_ca + rho v^2 d N_a)

    Args:
        soil, cut: `CutSoil`, `Cut`.
        factors: `WedgeFactors`.
        crescents: width of a crescent at either side over that of the blade; 0 for none [-].
    """
    weight = soil.density * cut.gravity * cut.depth * cut.depth * factors.weight
    shear = soil.cohesion * factors.cohesion + cut.surcharge * factors.surcharge
    inertia = soil.density * cut.speed * cut.speed * factors.inertia
    sides = 1.0 + crescents
    sticking = soil.adhesion * factors.adhesion
    return cut.width * (weight * (1.0 + 2.0 * crescents / 3.0) + cut.depth * ((shear + inertia) * sides + sticking))


@inlined
def draught_and_pull(soil, cut, force):
    """Horizontal force against the motion and downward force on a blade, H and V, friction and adhesion with it [N].

    A positive V draws the blade into the soil.
    """
    sticking = soil.adhesion * cut.width * cut.depth * rise(cut.rake, cut.slope)
    along = cut.rake + soil.tool_friction
    return force * math.sin(along) + sticking / math.tan(cut.rake), force * math.cos(along) - sticking
