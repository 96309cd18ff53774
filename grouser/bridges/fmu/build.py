"""Packs scripts into FMUs, in a process of its own: the packer imports them."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from grouser.physics.base.errors import MachineError

SLAVES = Path(__file__).parent / "slaves"
_PACKERS = {2: "pythonfmu", 3: "pythonfmu3"}


def build_fmu(script: Path, version: int, directory: Path, resources: Sequence[Path] = ()) -> Path:
    """Packs the class in a script into an FMU.

    Args:
        script: with one subclass of Fmi2Slave or Fmi3Slave.
        version: of FMI, 2 or 3.
        directory: where the FMU goes, under the name of its model; made if there is none.
        resources: files beside the script in it.

    Raises:
        MachineError: the packer is not installed, or failed; with the end of what it said.
    """
    directory.mkdir(parents=True, exist_ok=True)
    before = {path: path.stat().st_mtime_ns for path in directory.glob("*.fmu")}
    command = [sys.executable, "-m", _PACKERS[version], "build", "-f", str(script), "-d", str(directory)]
    ended = subprocess.run([*command, *map(str, resources)], capture_output=True, text=True, check=False)
    made = [path for path in directory.glob("*.fmu") if before.get(path) != path.stat().st_mtime_ns]
    if ended.returncode != 0 or len(made) != 1:
        said = (ended.stderr or ended.stdout).strip().splitlines()[-1:]
        problem = f"{_PACKERS[version]} could not pack it: {''.join(said)}"
        raise MachineError(problem, file=script, remedy='is it there? pip install "grouser[fmi]"')
    return made[0]


def build_pressure_limiter(version: int, directory: Path) -> Path:
    """Packs the pressure limiter that comes along; see `build_fmu`."""
    return build_fmu(SLAVES / f"pressure_limiter_fmi{version}.py", version, directory)
