"""The viewer as a process with its page, and its picture in a browser."""

import gzip
import http.client
import json
import re
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
from nursery import Child
from patience import DEADLINE, wait_until
from theatre import MACHINE, Theatre, free_port, playing
from websockets.sync.client import connect


@pytest.fixture
def theatre() -> Iterator[Theatre]:
    with playing() as theatre:
        yield theatre


@pytest.fixture
def start_viewer(launch: Callable[..., Child]) -> Callable[[int], Child]:
    """Starts the viewer as a process, with a port for its page; 0: any."""
    return lambda port: launch("grouser.nodes.viewer", "--ros-args", "-p", f"port:={port}")


@pytest.fixture
def process(start_viewer: Callable[[int], Child]) -> tuple[Child, int]:
    """The viewer as a process that has reported that it is ready, and the port of its page."""
    running = start_viewer(0)
    said, found = "", None
    while found is None:
        line = running.stdout.readline()
        assert line, f"the viewer ended: {said}"
        said += line
        found = re.search(r"http://localhost:(\d+)", line)
    return running, int(found[1])


def test_the_page_is_served(process: tuple[Child, int]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", process[1], timeout=DEADLINE)
    connection.request("GET", "/")
    answer = connection.getresponse()
    assert answer.status == 200
    assert b"<html" in gzip.decompress(answer.read())


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_viewer_stops_with_an_open_page(process: tuple[Child, int], stop: signal.Signals) -> None:
    running, port = process
    with connect(f"ws://127.0.0.1:{port}/view", subprotocols=[f"viser-v{viser.__version__}"]) as page:
        page.recv(timeout=DEADLINE)
        running.send_signal(stop)
        rest, _ = running.communicate(timeout=DEADLINE)
    assert running.returncode == 0
    assert not rest


@pytest.mark.parametrize("package", ["viser", "trimesh"])
def test_a_missing_package_is_named(package: str) -> None:
    """A loaded module of None makes Python treat a package as not installed."""
    code = f"import sys; sys.modules['{package}'] = None; from grouser.nodes.viewer.node import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=DEADLINE)
    assert done.returncode == 2, done.stderr
    assert f"viewer: the Python package {package} is not installed: pip install {package}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_taken_port_is_named(start_viewer: Callable[[int], Child]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        running = start_viewer(port)
        output, _ = running.communicate(timeout=DEADLINE)
    assert running.returncode == 2
    assert f"port = {port}" in output and "Address already in use" in output and "Traceback" not in output


def test_a_browser_that_waits_for_the_viewer_is_told_of_it(start_viewer: Callable[[int], Child]) -> None:
    """As a tab that is still open from another run: it comes as soon as somebody listens."""
    port = free_port()
    start_viewer(port)

    def listens() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    wait_until(listens, "the page")
    with connect(f"ws://127.0.0.1:{port}/control", open_timeout=DEADLINE) as page:
        assert json.loads(page.recv(timeout=DEADLINE))["type"] == "description"


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
def test_the_picture(theatre: Theatre, process: tuple[Child, int], browser: Browser, tmp_path: Path) -> None:
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
