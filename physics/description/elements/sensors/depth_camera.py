"""Depth cameras."""

from grouser.physics.description.data.sensors import DepthCamera
from grouser.physics.description.elements.sensors.frame import FIELDS, check_range, check_sensor_name
from grouser.physics.description.table.attributes import (
    Attribute,
    ElementKind,
    Kind,
    link,
    name_of,
    non_negative,
    place_on_link,
    positive,
)
from grouser.physics.description.table.family import Entry, Scope

SIDE_MAX = 2000
_VIEW_MIN, _VIEW_MAX = 0.01, 3.0

DEPTH_CAMERA = ElementKind(
    "depth_camera",
    "A depth camera without lens distortion, which looks along the x axis of its frame, with z up. A pixel holds the "
    "depth: the distance along the x axis, at one instant, to the same things that a lidar meets. Depths below "
    "`depth_min` are minus infinity, those above `depth_max` infinity (REP-117, REP-118). The images are in a second "
    "frame, `NAME_optical_frame`: z ahead, x to the right (REP-103)",
    (
        name_of("name, also of its frame; different from all links, joints and sensors"),
        link("link that it is fixed to"),
        *place_on_link("its frame"),
        Attribute(
            "width", Kind.COUNT, "pixel", "width of the image", default=DepthCamera.width, minimum=2, maximum=SIDE_MAX
        ),
        Attribute(
            "height",
            Kind.COUNT,
            "pixel",
            "height of the image",
            default=DepthCamera.height,
            minimum=2,
            maximum=SIDE_MAX,
        ),
        Attribute(
            "field_of_view",
            Kind.NUMBER,
            "rad",
            "horizontal angle between the outer edges of the image; pixels are square",
            default=DepthCamera.field_of_view,
            minimum=_VIEW_MIN,
            maximum=_VIEW_MAX,
        ),
        non_negative("depth_min", "m", "least measured depth", default=DepthCamera.depth_min),
        positive("depth_max", "m", "largest measured depth", default=DepthCamera.depth_max),
        non_negative(
            "noise",
            "m",
            "standard deviation of the normally distributed error of each depth, at a depth of zero",
            default=DepthCamera.noise,
        ),
        non_negative(
            "noise_growth",
            "1/m",
            "growth of this standard deviation with the square of the depth, as of stereo cameras",
            default=DepthCamera.noise_growth,
        ),
    ),
    DepthCamera,
    field="depth_cameras",
    unique="name",
)


def complete_camera(entry: Entry, scope: Scope) -> DepthCamera:
    """Checks the values of a depth camera.

    Raises:
        MachineError: a name is taken, or the range of depths is empty.
    """
    camera, element = entry.value, entry.element
    check_sensor_name(entry, scope)
    others = (other.value for field in FIELDS for other in scope.extension[field])
    taken = {*scope.links, *scope.joints, *(other.name for other in others if other is not camera)}
    if camera.optical_frame in taken:
        raise element.error(
            f"name = '{camera.name}' needs the frame '{camera.optical_frame}', the name of a link, joint or sensor",
            "rename one",
        )
    check_range(element, camera, "depth_min", "depth_max")
    return camera
