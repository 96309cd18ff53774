"""Whether the computer has the memory for what is asked for."""

from pathlib import Path

from grouser.physics.base.errors import ParameterError


def require_memory(name: str, count: int, each: float, what: str) -> None:
    """Refuses more of something than there is memory for now.

    Args:
        name: of the count.
        count: how many.
        each: memory for one [bytes].
        what: one of them, for the message.

    Raises:
        ParameterError: it names the memory for one, and how many there is room for.
    """
    memory = available_memory()
    if count * each > memory:
        valid = f"at most {int(memory // each)} here: {what} takes {each / 1e6:.3g} MB of {memory / 1e9:.3g} GB"
        raise ParameterError(name, count, valid)


def available_memory() -> int:
    """Memory that programs can take without others losing theirs, as the kernel estimates it [bytes]."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    (free,) = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return 1024 * int(free)
