"""The URDF text for other programs."""

import re
from pathlib import Path
from xml.sax.saxutils import unescape

from grouser.physics.description.text.files import package_directory, resolve
from grouser.physics.description.urdf.plain_shapes import with_plain_shapes

_XML_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
_MESH = re.compile(r"""(<mesh\s[^>]*?\bfilename\s*=\s*)(["'])(.*?)\2""", re.DOTALL)
_QUOTES = {"&quot;": '"', "&apos;": "'"}


def published_urdf(text: str, file: str) -> str:
    """Returns the text of a URDF for readers that do not have its file, such as RViz.

    The XML declaration is removed, as the text has no encoding. File names of meshes become absolute ``file://`` names,
    except in installed packages, which other computers may have in other places. Capsules are replaced by other shapes.

    Args:
        text: the expanded URDF, valid.
        file: its path.
    """

    def absolute(mesh: re.Match[str]) -> str:
        uri = unescape(mesh[3], _QUOTES).strip()
        package = uri.removeprefix("package://").partition("/")[0]
        # An installed package is found from everywhere, a package around the file only from there.
        if uri.startswith("package://") and package_directory(package, near=Path("/")) is not None:
            return mesh[0]
        try:
            return f"{mesh[1]}{mesh[2]}{resolve(uri, file).as_uri()}{mesh[2]}"
        except LookupError:
            return mesh[0]  # in a comment: all other meshes have been found by the reader

    return _MESH.sub(absolute, with_plain_shapes(_XML_DECLARATION.sub("", text, count=1).lstrip()))
