"""The standard services with a newer version of `simulation_interfaces` than the environment has."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parents[1]
BUILDER = ROOT / "tooling" / "build_interfaces.py"
OLDER = ROOT / "tooling" / "interfaces" / "simulation_interfaces"
CHANGED = TESTS.parent / "data" / "simulation_interfaces_2.1"  # those definitions that are not the same
GENERATOR = Path(sys.prefix) / "share" / "rosidl_generator_c"

pytestmark = [
    pytest.mark.soak,  # builds a package, and runs two files of tests again
    pytest.mark.skipif(not GENERATOR.is_dir(), reason="not tested: newer interfaces; built only with the wheels"),
]


def definitions(folder: Path) -> Path:
    """The newer package's field lists, in a folder of packages."""
    shutil.copytree(OLDER, folder / OLDER.name)
    shutil.copytree(CHANGED, folder / OLDER.name, dirs_exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def newer(tmp_path_factory) -> Path:
    """An environment with the newer package only, built once on this machine."""
    lists = definitions(tmp_path_factory.mktemp("definitions"))
    sources = [*lists.rglob("*.*"), *BUILDER.parent.glob("*interface*.py"), GENERATOR / "package.xml"]
    key = hashlib.sha256(f"{sys.version} {sys.prefix}".encode())
    for source in sorted(file for file in sources if file.is_file()):
        key.update(source.name.encode() + source.read_bytes())
    home = Path(tempfile.gettempdir()) / f"grouser_test_interfaces_{os.getuid()}"
    home.mkdir(exist_ok=True)
    prefix = home / key.hexdigest()[:16]
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = [sys.executable, BUILDER, "--definitions", lists, "--prefix", prefix, "--even-if-importable"]
        if not prefix.joinpath("share", OLDER.name).is_dir():
            quick = {**os.environ, "CFLAGS": "-O0"}
            built = subprocess.run(command, env=quick, capture_output=True, text=True, check=False)
            assert built.returncode == 0, built.stderr
    return prefix


@pytest.fixture(scope="module")
def environment(newer) -> dict[str, str]:
    """Variables of a process that sees the newer package first."""
    (site_packages,) = newer.glob("lib/python3.*/site-packages")
    first = {"PYTHONPATH": site_packages, "LD_LIBRARY_PATH": newer / "lib", "AMENT_PREFIX_PATH": newer}
    return {**os.environ, **{name: f"{path}{os.pathsep}{os.environ.get(name, '')}" for name, path in first.items()}}


def test_services_work_with_newer_interfaces(environment, compiled):
    """All tests of the services, in a process that has the newer version."""
    version = (
        "from simulation_interfaces.srv import SpawnEntity; print(SpawnEntity.Request().entity_resource.uri == '')"
    )
    seen = subprocess.run([sys.executable, "-c", version], env=environment, capture_output=True, text=True, check=False)
    assert seen.stdout.strip() == "True", seen.stderr

    files = ["test_simulation_services.py", "test_spawning_services.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *files]
    done = subprocess.run(command, cwd=TESTS, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout.splitlines()[-1]
