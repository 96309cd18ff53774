"""Takes pictures of the machines as the viewer's page shows them: `python tooling/pictures.py [NAME ...]`.

Writes docs/images/machine_NAME.jpg. Runs each machine with its program on 127.0.0.1, and a headless Chromium, which has
to be installed.
"""

import base64
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image
from websockets.sync.client import connect

FOLDER = Path(__file__).parent.parent / "docs" / "images"
QUALITY = 82  # of the JPEG files
SIZE = (800, 500)
PATIENCE = 300.0  # for the machine to come to its moment [s of wall time]
ANSWER = 240.0  # for one answer of the browser [s]
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--remote-debugging-port=0"),
)
# The scene without panels and notices.
SCENE_ONLY = "body * { visibility: hidden } canvas { visibility: visible !important }"
HIDE_PANELS = f"document.head.appendChild(document.createElement('style')).textContent = '{SCENE_ONLY}'"

# The largest number of seconds that a field of the panel shows.
TIME = r"""Math.max(...[...document.querySelectorAll("input")]
    .map(field => parseFloat((/^([\d.]+) s$/.exec(field.value) || [0, -1])[1])))"""

# Ends after some pictures more: the page fades in.
SETTLED = """new Promise(done => {
    let count = 0;
    const tick = () => (count++ > 20 ? done(0) : requestAnimationFrame(tick));
    tick();
})"""
CONTRAST = 12.0  # least standard deviation of the middle of a picture that shows something [of 255]


@dataclass(frozen=True)
class Shot:
    """A picture.

    Attributes:
        machine, world, program: what runs.
        time: of the simulation at the picture [s].
        arguments: of the machine's xacro file, "name:=value" each.
        beside: other machines, a fleet.
    """

    machine: str
    world: str = "flat"
    program: str = ""
    time: float = 6.0
    arguments: tuple[str, ...] = ()
    beside: str = ""


SHOTS = {
    "demolition_robot": Shot("demolition_robot", program="demolition_robot"),
    "demolition_robot_clearing": Shot(
        "demolition_robot", "rubble", "demolition_robot_clearing", 18.5, ("tool:=bucket", "lidar:=false")
    ),
    "demolition_robot_wall": Shot("demolition_robot", "rubble", "demolition_robot_wall", 9.3),
    "excavator": Shot("excavator", program="excavator"),
    "excavator_dozing": Shot("excavator", "quarry", "excavator_dozing", 11.0),
    "excavator_gravel": Shot("excavator", "gravel_pit", "excavator_digging", 12.5),
    "excavator_levelling": Shot("excavator", "yard", "excavator_levelling", 24.0),
    "excavator_loading": Shot("excavator", "quarry", "excavator_trench", 41.2, beside="dump_bed"),
    "excavator_trench": Shot("excavator", "quarry", "excavator_trench", 23.0),
    "flexible_arm": Shot("flexible_arm", program="flexible_arm", time=2.0),
    "four_bar": Shot("four_bar", "weightless", "four_bar"),
    "four_track_carrier": Shot("four_track_carrier", "sand", time=2.0),
    "hydraulic_lift": Shot("hydraulic_lift", time=2.0),
    "loader_crane": Shot("loader_crane", program="loader_crane", time=3.0),
    "loader_crane_flexible": Shot("loader_crane", program="loader_crane", time=3.0, arguments=("flexible:=true",)),
    "rigid_pendulum": Shot("rigid_pendulum", "weightless", time=2.0),
    "rover": Shot("rover", "sand", "rover", 10.0),
    "rover_pebbles": Shot("rover", "pebbles", "rover", 6.0),
    "servo_fin": Shot("servo_fin", program="servo_fin", time=3.0),
    "single_wheel_testbed": Shot("single_wheel_testbed", "sand", "single_wheel_testbed", 10.0),
    "space_arm": Shot("space_arm", "weightless", "space_arm", 7.0),
    "stick_slip": Shot("stick_slip", program="stick_slip", time=3.0),
    "tracked_testbed": Shot("tracked_testbed", "sand", "tracked_testbed", 8.0),
    "bulldozer": Shot("tracked_vehicle", "quarry", "tracked_vehicle_dozing", 14.0, ("blade:=2",)),
    "tracked_vehicle": Shot("tracked_vehicle", "sand", time=2.0),
}


class Browser:
    """Headless Chromium, driven by its DevTools protocol.

    Args:
        profile: folder for its files.
        size: of its pictures.
    """

    def __init__(self, profile: str, size: tuple[int, int] = SIZE) -> None:
        program = next((path for path in map(shutil.which, PROGRAMS) if path), None)
        if program is None:
            raise SystemExit(f"none of {', '.join(PROGRAMS)} is installed")
        # The rclpy wheels leave these to their children; they would give Chromium the wrong libraries.
        foreign = ("LD_LIBRARY_PATH", "_ROS_WHEELS_BOOTSTRAP_COMPLETE")
        self._process = subprocess.Popen(
            [program, *FLAGS, "--window-size={},{}".format(*size), f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={name: value for name, value in os.environ.items() if name not in foreign},
        )
        lines = self._process.stderr or []
        address = next(line.split()[-1] for line in lines if line.startswith("DevTools listening"))
        self._socket, self._calls = connect(address, max_size=None, ping_interval=None), 0
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method: str, session: str | None = None, **parameters: object) -> dict:
        """Calls a method of the protocol and returns its result."""
        self._calls += 1
        request = {"id": self._calls, "method": method, "params": parameters}
        self._socket.send(json.dumps(request | ({"sessionId": session} if session else {})))
        while (answer := json.loads(self._socket.recv(timeout=ANSWER))).get("id") != self._calls:
            pass
        if "error" in answer:
            raise SystemExit(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, address: str) -> None:
        """Opens a page."""
        self.call("Page.navigate", self._session, url=address)

    def run(self, script: str) -> object:
        """Runs a script in the page and returns its value, or that of its promise."""
        answer = self.call("Runtime.evaluate", self._session, expression=script, returnByValue=True, awaitPromise=True)
        return answer["result"].get("value")

    def picture(self) -> bytes:
        """What the page shows, as JPEG."""
        answer = self.call("Page.captureScreenshot", self._session, format="jpeg", quality=QUALITY)
        return base64.b64decode(answer["data"])

    def close(self) -> None:
        """Ends the program."""
        self._socket.close()
        self._process.terminate()
        self._process.wait()


@contextmanager
def node(name: str, **parameters: object) -> Iterator[None]:
    """A node of grouser as a process, with parameters."""
    settings = [word for key, value in parameters.items() for word in ("-p", f"{key}:={value}") if value != ""]
    command = [sys.executable, "-m", f"grouser.nodes.{name}", "--ros-args", "--log-level", "error", *settings]
    process = subprocess.Popen(command)
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def take(shot: Shot, file: Path) -> None:
    """Runs a machine and takes its picture."""
    port = free_port()
    arguments = {"machine_arguments": list(shot.arguments)} if shot.arguments else {}
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        node("viewer", port=port, world=shot.world, rate=5.0),
        node(
            "simulator", machine=shot.machine, world=shot.world, program=shot.program, beside=shot.beside, **arguments
        ),
    ):
        end = time.monotonic() + PATIENCE
        wait(lambda: listening(port), "the page")
        browser = Browser(profile)
        browser.open(f"http://127.0.0.1:{port}/view/")  # the scene without the controls around it
        while time.monotonic() < end:
            now = browser.run(TIME)
            if isinstance(now, int | float) and now >= shot.time:
                break
            time.sleep(0.5)
        browser.run(HIDE_PANELS)
        picture = b""
        while not painted(picture):
            if time.monotonic() > end:
                raise SystemExit(f"{shot.machine}: the browser shows nothing")
            browser.run(SETTLED)
            picture = browser.picture()
        file.write_bytes(picture)
        browser.close()


def painted(picture: bytes) -> bool:
    """Whether a picture shows more than a background, in its middle."""
    if not picture:
        return False
    grey = np.asarray(Image.open(io.BytesIO(picture)).convert("L"), dtype=float)
    rows, columns = grey.shape
    middle = grey[rows // 4 : -rows // 4, columns // 4 : -columns // 4]
    return bool(middle.std() > CONTRAST)


def wait(condition: Callable[[], bool], what: str) -> None:
    """Waits for something."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"never there: {what}")
        time.sleep(0.05)


def free_port() -> int:
    """A port that no program of this computer has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listening(port: int) -> bool:
    """Whether a server listens on a port of this computer."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def main() -> None:
    """Takes the pictures that the command line names, or all."""
    os.environ["ROS_DOMAIN_ID"] = str(100 + os.getpid() % 100)
    for name in sys.argv[1:] or SHOTS:
        if name not in SHOTS:
            raise SystemExit(f"no picture is called '{name}': {', '.join(SHOTS)}")
        file = FOLDER / f"machine_{name}.jpg"
        take(SHOTS[name], file)
        print(f"{file}: {file.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
