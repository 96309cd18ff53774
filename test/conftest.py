"""What all tests share: ROS 2 on the loopback interface, in a domain of this process alone."""

import atexit
import fcntl
import gc
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
DOMAINS = range(1, 102)  # beyond 101 the ports of ROS 2 reach into those the kernel hands out


def _reserve_domain():
    """Take a ROS domain that no other test process on this machine uses, for as long as this process lives.

    Returns:
        The domain's number and the open lock file, which must be kept.
    """
    folder = Path(tempfile.gettempdir()) / f"grouser_test_domains_{os.getuid()}"
    folder.mkdir(exist_ok=True)
    for domain in DOMAINS:
        file = (folder / str(domain)).open("w")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
        else:
            return domain, file
    raise RuntimeError(f"all ROS domains from {DOMAINS[0]} to {DOMAINS[-1]} are in use by other test processes")


# The same examples in every run; HYPOTHESIS_PROFILE=explore looks for new ones. Any of them may take long.
settings.register_profile("repeat", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))

# Before any test module imports rclpy: the middleware reads these once.
_domain, _domain_lock = _reserve_domain()
atexit.register(_domain_lock.close)
os.environ["ROS_DOMAIN_ID"] = str(_domain)
for _variable in ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"):  # Fast DDS 2 (Jazzy) and 3
    os.environ[_variable] = str(ROOT / "config" / "fastdds_loopback.xml")
os.environ["RMW_IMPLEMENTATION"] = "rmw_fastrtps_cpp"


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keeps the garbage collector off the millions of objects that collecting makes, and that stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()
