"""The viewer as a process with its page, and its picture in a browser."""

import gzip
import http.client
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import viser
from chromium import Browser, running_browser
from patience import DEADLINE
from theatre import MACHINE, Theatre, free_port, playing
from websockets.sync.client import connect


@pytest.fixture
def theatre() -> Iterator[Theatre]:
    with playing() as theatre:
        yield theatre


@pytest.fixture
def process() -> Iterator[tuple[subprocess.Popen, int]]:
    """The viewer as a process that has reported that it is ready, and the port of its page."""
    port = free_port()
    running = start_viewer(port)
    said = []
    while not said or f"http://localhost:{port}" not in said[-1]:
        said.append(running.stderr.readline())
        assert said[-1], "the viewer ended: " + "".join(said)
    yield running, port
    running.kill()
    running.communicate()


def start_viewer(port: int) -> subprocess.Popen:
    command = [sys.executable, "-m", "grouser.nodes.viewer", "--ros-args", "-p", f"port:={port}"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_page_is_served(process: tuple[subprocess.Popen, int]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", process[1], timeout=DEADLINE)
    connection.request("GET", "/")
    answer = connection.getresponse()
    assert answer.status == 200
    assert b"<html" in gzip.decompress(answer.read())


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_viewer_stops_with_an_open_page(process: tuple[subprocess.Popen, int], stop: signal.Signals) -> None:
    running, port = process
    with connect(f"ws://127.0.0.1:{port}/view", subprotocols=[f"viser-v{viser.__version__}"]) as page:
        page.recv(timeout=DEADLINE)
        running.send_signal(stop)
        _, errors = running.communicate(timeout=DEADLINE)
    assert running.returncode == 0
    assert not errors


@pytest.mark.parametrize("package", ["viser", "trimesh"])
def test_a_missing_package_is_named(package: str) -> None:
    """A loaded module of None makes Python treat a package as not installed."""
    code = f"import sys; sys.modules['{package}'] = None; from grouser.nodes.viewer.node import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=DEADLINE)
    assert done.returncode == 2, done.stderr
    assert f"viewer: the Python package {package} is not installed: pip install {package}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_taken_port_is_named() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        running = start_viewer(port)
        _, errors = running.communicate(timeout=DEADLINE)
    assert running.returncode == 2
    assert f"port = {port}" in errors and "Address already in use" in errors and "Traceback" not in errors


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with running_browser(tmp_path / "profile", "the picture that a browser shows") as browser:
        yield browser


def redness(picture: np.ndarray) -> np.ndarray:
    red, green, blue = np.moveaxis(picture, -1, 0)
    return (red > 120) & (green < 0.5 * red) & (blue < 0.5 * red)


def magenta(picture: np.ndarray) -> np.ndarray:
    red, green, blue = np.moveaxis(picture, -1, 0)
    return (red > 100) & (blue > 0.5 * red) & (green < 0.5 * red)


def ground(picture: np.ndarray) -> np.ndarray:
    red, green, blue = np.moveaxis(picture, -1, 0)
    return (red > 190) & (red >= green) & (green > blue) & (red - blue < 30)


@pytest.mark.slow
def test_the_picture(theatre: Theatre, process: tuple[subprocess.Popen, int], browser: Browser, tmp_path: Path) -> None:
    """The page shows the ground, then the red machine with its arrow, and goes with it; seen through Chromium."""
    _, port = process

    def shows(share: Callable[[np.ndarray], np.ndarray], least: float, name: str) -> Callable[[], bool]:
        return lambda: bool(share(tab.picture(tmp_path / f"{name}.png")).mean() > least)

    tab = browser.open(f"http://127.0.0.1:{port}/view/")
    # The scene alone: panels and notices of the page have colours of their own.
    hide = "body * { visibility: hidden } canvas { visibility: visible !important }"
    tab.run(f"document.head.appendChild(document.createElement('style')).textContent = '{hide}'")
    theatre.wait_for(shows(ground, 0.2, "empty"), "the ground")
    empty = tab.picture(tmp_path / "empty.png")
    assert not redness(empty).any() and not magenta(empty).any()

    theatre.stage.place("base_link", "odom", (0, 0, 0))
    theatre.stage.describe(MACHINE)
    theatre.wait_for(shows(redness, 0.03, "machine"), "the red box")
    mixed = magenta(tab.picture(tmp_path / "machine.png"))  # where red and blue meet

    theatre.stage.forces = {"base_link": (0.0, 0.0, 1000.0)}
    theatre.wait_for(shows(lambda picture: magenta(picture) & ~mixed, 0.002, "force"), "the arrow of the contact force")

    theatre.stage.forces = {"base_link": (0.0, 0.0, 0.0)}
    theatre.wait_for(
        lambda: (magenta(tab.picture(tmp_path / "light.png")) & ~mixed).mean() < 0.0005, "no arrow without a force"
    )
    theatre.stage.place("base_link", "odom", (30, 0, 0))
    theatre.stage.forces = {"base_link": (0.0, 0.0, 1000.0)}
    theatre.wait_for(
        shows(lambda picture: magenta(picture) & ~mixed, 0.002, "followed"),
        "the arrow 30 m away, where the camera follows",
    )
