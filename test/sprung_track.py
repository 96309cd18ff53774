"""A track on a slide with road wheels on suspensions, for tests."""

from grouser.physics.description import parse_machine

RADIUS, ROAD_RADIUS, THICKNESS = 0.2, 0.12, 0.01
END_HEIGHT = 0.45


def inertial(mass, size=0.1):
    moment = mass * size * size
    return (
        f'<inertial><mass value="{mass}"/><inertia ixx="{moment}" iyy="{moment}" izz="{moment}" ixy="0" ixz="0" '
        'iyz="0"/></inertial>'
    )


def joint(name, kind, parent, child, xyz, axis="0 1 0", limit=""):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/>'
        f'<axis xyz="{axis}"/><limit effort="1e7" velocity="100" {limit}/></joint>'
    )


def arm(name, at, stiffness, damping, length=0.25, rise=0.1, mass=8.0, rest=0.0, radius=ROAD_RADIUS, parent="hull"):
    """A trailing arm with a torsion bar, with its wheel `at` a place ahead while it is at zero: (parts, rows)."""
    up = THICKNESS + ROAD_RADIUS
    parts = (
        f'<link name="{name}_arm">{inertial(mass)}</link><link name="{name}"/>'
        + joint(
            f"{name}_pivot",
            "revolute",
            parent,
            f"{name}_arm",
            f"{at + length} 0 {up + rise}",
            limit='lower="-1" upper="1"',
        )
        + joint(f"{name}_axle", "fixed", f"{name}_arm", name, f"{-length} 0 {-rise}")
    )
    rows = (
        f'<track_wheel track="belt" link="{name}" radius="{radius}"/>'
        f'<compliant_joint joint="{name}_pivot" axial_stiffness="{stiffness}" axial_damping="{damping}" '
        f'rest_position="{rest}"/>'
    )
    return parts, rows


def sprung_track(
    parts,
    rows,
    weight=2e4,
    pretension=1e3,
    shoes=60,
    track="",
    idler=None,
    base="slide",
    friction=0.7,
    gravity=9.81,
):
    """A track with sprocket and idler in the air, road wheels as given, on a vertical slide or free.

    Args:
        parts, rows: links and joints of the road wheels, and their elements of <grouser>.
        weight: of the hull [N].
        idler: links, joints and elements that hold the idler, as (parts, rows); None for a fixed one.
        base: slide, free or held, two metres up.
    """
    ends = 0.8
    idler_parts, idler_rows = idler or (
        '<link name="idler"/>' + joint("idler_axle", "fixed", "hull", "idler", f"{ends} 0 {END_HEIGHT}"),
        f'<track_wheel track="belt" link="idler" radius="{RADIUS}"/>',
    )
    held = {
        "free": "",
        "slide": '<link name="world"/>'
        + joint("slide", "prismatic", "world", "hull", "0 0 0", "0 0 1", 'lower="-1" upper="1"'),
        "held": '<link name="world"/>' + joint("post", "fixed", "world", "hull", "0 0 2"),
    }[base]
    return parse_machine(
        f'<robot name="sprung">{held}<link name="hull">{inertial(weight / gravity, 0.6)}</link>'
        f'<link name="wheel">{inertial(10.0)}</link>'
        + joint("sprocket", "continuous", "hull", "wheel", f"{-ends} 0 {END_HEIGHT}")
        + idler_parts
        + parts
        + f'<grouser><track name="belt" sprocket="sprocket" radius="{RADIUS}" width="0.3" shoes="{shoes}" '
        f'thickness="{THICKNESS}" pretension="{pretension}" {track}/>{idler_rows}{rows}'
        f'<servo_drive joint="sprocket" mode="velocity" damping="1e6"/><contact link="hull" friction="{friction}"/>'
        "</grouser></robot>",
        "sprung.urdf",
    )
