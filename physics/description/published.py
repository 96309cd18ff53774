"""The URDF text as other programs get it."""

import re
from pathlib import Path
from xml.sax.saxutils import unescape

from grouser.physics.description.text.files import package_directory, resolve
from grouser.physics.description.urdf.plain_shapes import with_plain_shapes

_XML_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
_MESH = re.compile(r"""(<mesh\s[^>]*?\bfilename\s*=\s*)(["'])(.*?)\2""", re.DOTALL)
_QUOTES = {"&quot;": '"', "&apos;": "'"}


def published_urdf(text: str, file: str) -> str:
    """The text of a URDF, fit to be read away from its file, as viewers and RViz do.

    It has no XML declaration, since it is no longer bytes in the encoding that that declares. Meshes are named by
    absolute ``file://`` names, but for those of an installed package, which every machine finds in its own place.
    Capsules are made of shapes that all of them know.

    Args:
        text: the expanded URDF, which has been read without an error.
        file: where it came from.
    """

    def absolute(mesh: re.Match[str]) -> str:
        uri = unescape(mesh[3], _QUOTES).strip()
        package = uri.removeprefix("package://").partition("/")[0]
        # An installed package is found from anywhere; one that only surrounds the file is not.
        if uri.startswith("package://") and package_directory(package, near=Path("/")) is not None:
            return mesh[0]
        try:
            return f"{mesh[1]}{mesh[2]}{resolve(uri, file).as_uri()}{mesh[2]}"
        except LookupError:
            return mesh[0]  # in a comment: a mesh that is read has been found before

    return _MESH.sub(absolute, with_plain_shapes(_XML_DECLARATION.sub("", text, count=1).lstrip()))
