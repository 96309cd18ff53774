"""The URDF text for other programs."""

import re
from html import unescape

from grouser.physics.description.text.packages import Packages
from grouser.physics.description.urdf.plain_shapes import with_plain_shapes

_XML_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
_MESH = re.compile(r"""(<mesh\s[^>]*?\bfilename\s*=\s*)(["'])(.*?)\2""", re.DOTALL)
_BALL_JOINT = re.compile(r"""(<joint\s[^>]*?\btype\s*=\s*)(["'])\s*spherical\s*\2""")


def published_urdf(text: str, packages: Packages) -> str:
    """Returns the text of a URDF for readers that do not have its file, such as RViz.

    The XML declaration is removed, as the text has no encoding. File names of meshes become absolute ``file://`` names,
    except in installed packages, which other computers may have in other places. Capsules are replaced by other shapes,
    and joints of the type spherical, which urdfdom refuses, become floating.

    Args:
        text: the expanded URDF, valid.
        packages: of its file.
    """

    def absolute(mesh: re.Match[str]) -> str:
        uri = unescape(mesh[3]).strip()
        if packages.is_found_from_everywhere(uri):
            return mesh[0]
        try:
            return f"{mesh[1]}{mesh[2]}{packages.resolve(uri).as_uri()}{mesh[2]}"
        except LookupError:
            return mesh[0]  # a visual mesh that is not found, or one in a comment

    known = _BALL_JOINT.sub(r"\1\2floating\2", _XML_DECLARATION.sub("", text, count=1).lstrip())
    return _MESH.sub(absolute, with_plain_shapes(known))
