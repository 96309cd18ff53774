"""A vehicle on two tracks with velocity drives, for tests: a box with a belt on either side."""

import math

from grouser.physics.description import parse_machine

GRAVITY = 9.81
RADIUS = 0.2


def tracked_vehicle(
    weight=20e3,
    length=1.5,
    width=0.25,
    tread=1.4,
    friction=0.7,
    shear=0.05,
    shoes=48,
    pretension=1e9,
    road_wheels=5,
    height=0.05,
    thickness=0.001,
    extra="",
    track="",
    damping=1e7,
    stiffness=1e8,
    axis="0 1 0",
    links="",
    tensioner="",
):
    """The machine; its root link's origin is on the ground below the middle of the tracks.

    Args:
        weight, length, width, tread: of the vehicle [N], of the flat runs and shoes, between the tracks' middles [m].
        friction, shear: on rigid ground [-, m].
        shoes, pretension, road_wheels, thickness: of each track.
        height: of the centre of mass [m].
        extra: further elements of <grouser>.
        track: further attributes of <track>.
        damping: of the sprockets' drives [N m s/rad].
        stiffness: of the pads [N/m3].
        axis: of the sprockets' joints.
        links: further links and joints.
        tensioner: wheel of each track, without its side, at which a tensioner is.
    """
    mass, up = weight / GRAVITY, RADIUS + thickness
    inertia = mass * (length**2 + tread**2) / 12.0
    parts, joints, tracks = [], [], []
    wheel_radius = 0.06
    inner = length - 4.2 * math.sqrt(RADIUS * wheel_radius)
    for side, across in (("left", 0.5), ("right", -0.5)):
        y = across * tread
        kept = f'tensioner="{side}_{tensioner}"' if tensioner else ""
        parts.append(
            f'<link name="{side}_wheel"><inertial><mass value="5"/>'
            '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )
        joints.append(
            f'<joint name="{side}_sprocket" type="continuous"><parent link="base"/><child link="{side}_wheel"/>'
            f'<origin xyz="{-0.5 * length} {y} {up}"/><axis xyz="{axis}"/><limit effort="1e6" velocity="100"/></joint>'
        )
        tracks.append(
            f'<track name="{side}" sprocket="{side}_sprocket" radius="{RADIUS}" width="{width}" shoes="{shoes}" '
            f'thickness="{thickness}" pretension="{pretension}" shear_displacement_modulus="{shear}" '
            f'stiffness="{stiffness}" {track} {kept}/>'
            f'<servo_drive joint="{side}_sprocket" mode="velocity" damping="{damping}"/>'
        )
        wheels = [(f"{side}_idler", 0.5 * length, up, RADIUS)]
        for k in range(road_wheels):
            at = inner * (k / max(road_wheels - 1, 1) - 0.5) if road_wheels > 1 else 0.0
            wheels.append((f"{side}_road_{k}", at, up - RADIUS + wheel_radius, wheel_radius))
        for name, x, z, radius in wheels:
            parts.append(f'<link name="{name}"/>')
            joints.append(
                f'<joint name="{name}_fixing" type="fixed"><parent link="base"/><child link="{name}"/>'
                f'<origin xyz="{x} {y} {z}"/></joint>'
            )
            tracks.append(f'<track_wheel track="{side}" link="{name}" radius="{radius}"/>')
    base = (
        f'<link name="base"><inertial><origin xyz="0 0 {height}"/><mass value="{mass - 10}"/>'
        f'<inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    text = (
        f'<robot name="vehicle">{base}{links}{"".join(parts)}{"".join(joints)}<grouser>{"".join(tracks)}'
        f'<contact link="base" friction="{friction}"/>{extra}</grouser></robot>'
    )
    return parse_machine(text, "vehicle.urdf")
