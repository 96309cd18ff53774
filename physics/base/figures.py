"""Figures of matplotlib, and their files."""

import io
from pathlib import Path
from typing import Any

from grouser.physics.base.errors import ParameterError
from grouser.physics.base.optional import require_package


def make_figure(width: float, height: float) -> Any:
    """Returns an empty figure, which notebooks show.

    Args:
        width, height: its size [inches].

    Raises:
        ParameterError: the package matplotlib is not installed.
    """
    figure_type: Any = require_package("matplotlib.figure", "study", "a plot").Figure

    class ShownFigure(figure_type):
        def _repr_png_(self) -> bytes:
            picture = io.BytesIO()
            self.savefig(picture, format="png")
            return picture.getvalue()

    return ShownFigure(figsize=(width, height), layout="constrained")


def save_figure(figure: Any, file: str | Path, name: str, dpi: float = 150.0) -> None:
    """Writes a figure.

    Args:
        figure: of matplotlib.
        file: png, svg or pdf.
        name: of what gave the file, for the message.
        dpi: resolution of a png [dots an inch].

    Raises:
        ParameterError: the file cannot be written, or has another ending.
    """
    try:
        figure.savefig(file, dpi=dpi)
    except (OSError, ValueError) as error:
        raise ParameterError(name, str(file), f"a file name of png, svg or pdf ({error})") from None
