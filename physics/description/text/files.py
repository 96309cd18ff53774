"""Text of files."""

from os import PathLike
from pathlib import Path

from grouser.physics.base.errors import MachineError, ParameterError


def require_path(name: str, value: object, valid: str) -> Path:
    """Refuses what is no path."""
    if not isinstance(value, str | PathLike):
        raise ParameterError(name, value, valid)
    try:
        return Path(value)
    except TypeError:
        raise ParameterError(name, value, f"{valid}, as a text") from None


def read_text(path: Path, bytes_max: int, what: str) -> str:
    """Returns the text of a UTF-8 file.

    Args:
        path: the file.
        bytes_max: size above which it is refused [bytes].
        what: kind of file, for messages ("URDF", "world").

    Raises:
        MachineError: the file is absent, not a file, not readable, too large, empty or not UTF-8 text.
    """
    try:
        if not path.exists():
            raise MachineError("no such file", file=path, remedy=f"give the path of a {what} file")
        if not path.is_file():
            raise MachineError("not a file", file=path, remedy=f"give the path of a {what} file")
        with path.open("rb") as stream:
            raw = stream.read(bytes_max + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise MachineError(f"cannot be read: {reason}", file=path) from None
    if len(raw) > bytes_max:
        raise MachineError(f"larger than {bytes_max} bytes", file=path, remedy=f"is it a {what} file?")
    if not raw.strip():
        raise MachineError("the file is empty", file=path, remedy=f"give the path of a {what} file")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MachineError(
            f"not UTF-8 text: byte {raw[error.start]:#04x}",
            file=path,
            line=raw.count(b"\n", 0, error.start) + 1,
            remedy=f"is it a {what} file? Save it as UTF-8",
        ) from None
