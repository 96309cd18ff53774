"""Files of matplotlib's figures."""

from pathlib import Path
from typing import Any

from grouser.physics.base.errors import ParameterError


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
