"""Headless Chromium, driven over its DevTools protocol."""

import base64
import io
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from patience import DEADLINE, wait_until
from PIL import Image
from websockets.sync.client import connect

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu-watchdog",  # which takes a busy computer for a GPU that hangs, and ends the browser
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--window-size=720,600",
    "--remote-debugging-port=0",
)


@contextmanager
def running_browser(profile: Path, what: str) -> Iterator["Browser"]:
    """A browser with its profile in a folder; skips the test of `what` where none is installed."""
    program = next((path for path in map(shutil.which, NAMES) if path), None)
    if program is None:
        pytest.skip(f"not tested: {what}; none of {', '.join(NAMES)} is installed")
    browser = Browser(program, profile)
    try:
        yield browser
    finally:
        browser.close()


class Browser:
    """A browser without a window."""

    def __init__(self, program: str, profile: Path) -> None:
        # The rclpy wheels leave these to their children; they would give Chromium the wrong libraries.
        foreign = ("LD_LIBRARY_PATH", "_ROS_WHEELS_BOOTSTRAP_COMPLETE")
        environment = {name: value for name, value in os.environ.items() if name not in foreign}
        self._process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        address = next(
            (line.split()[-1] for line in self._process.stderr if line.startswith("DevTools listening")), None
        )
        assert address, "Chromium ended before it was ready"
        # A busy computer may not answer a ping in time; what is called has a deadline.
        self._socket = connect(address, max_size=None, ping_interval=None)
        self._call_count = 0

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict:
        self._call_count += 1
        request = {"id": self._call_count, "method": method, "params": parameters}
        self._socket.send(json.dumps(request | ({"sessionId": session} if session else {})))
        while (answer := json.loads(self._socket.recv(timeout=DEADLINE))).get("id") != self._call_count:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def wait_for(self, event: str, session: str) -> None:
        """Waits for an event of a page."""
        while True:
            heard = json.loads(self._socket.recv(timeout=DEADLINE))
            if heard.get("method") == event and heard.get("sessionId") == session:
                return

    def open(self, address: str) -> "Tab":
        """A new tab with a page that has loaded."""
        return Tab(self, address)

    def close(self) -> None:
        self.call("Browser.close")
        self._socket.close()
        self._process.communicate(timeout=DEADLINE)


class Tab:
    """A page in a browser."""

    def __init__(self, browser: Browser, address: str) -> None:
        self._browser = browser
        self._closed = False
        self._target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=self._target, flatten=True)
        self._session = attached["sessionId"]
        self.call("Page.enable")
        self.call("Page.navigate", url=address)
        browser.wait_for("Page.loadEventFired", self._session)

    def call(self, method: str, **parameters: Any) -> dict:
        return self._browser.call(method, self._session, **parameters)

    def run(self, script: str) -> Any:
        """Value of an expression in JavaScript."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def sees(self, script: str) -> None:
        """Waits until an expression is true."""
        wait_until(lambda: self.run(script), script)

    def press(self, selector: str, across: float = 0.5, down: float = 0.5) -> None:
        """Presses the mouse on an element, by default in its middle; places are shares of its width and height."""
        self._point("mousePressed", selector, across, down)

    def drag(self, selector: str, across: float, down: float = 0.5) -> None:
        """Moves the pressed mouse to a place of an element."""
        self._point("mouseMoved", selector, across, down)

    def release(self, selector: str, across: float = 0.5, down: float = 0.5) -> None:
        """Releases the mouse at a place of an element."""
        self._point("mouseReleased", selector, across, down)

    def click(self, selector: str) -> None:
        self.press(selector)
        self.release(selector)

    def touch(self, selector: str, across: float) -> None:
        """Puts a finger on the middle of an element, and moves it to a share of its width; it stays there."""
        self._finger("touchStart", selector, 0.5)
        self.slide(selector, across)

    def slide(self, selector: str, across: float) -> None:
        """Moves the finger to a share of the width of an element, in the middle of its height."""
        self._finger("touchMove", selector, across)

    def _finger(self, kind: str, selector: str, across: float) -> None:
        x, y = self.run(
            f"(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            f" return [box.left + {across} * box.width, box.top + box.height / 2] }})()"
        )
        self.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y}])

    def lift(self) -> None:
        """Takes the finger away."""
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def _point(self, kind: str, selector: str, across: float, down: float) -> None:
        element = f"document.querySelector({json.dumps(selector)})"
        box = self.run(
            f"(() => {{ const element = {element}; element.scrollIntoView({{block: 'nearest'}});"
            " const box = element.getBoundingClientRect(); return [box.left, box.top, box.width, box.height] })()"
        )
        x, y = box[0] + across * box[2], box[1] + down * box[3]
        pressed = 0 if kind == "mouseReleased" else 1
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=pressed, clickCount=1)

    def key(self, kind: str, code: str, key: str) -> None:
        """A key goes down (`keyDown`) or up (`keyUp`)."""
        self.call("Input.dispatchKeyEvent", type=kind, code=code, key=key)

    def picture(self, file: Path) -> np.ndarray:
        """Red, green and blue of what is shown, shape (height, width, 3); also kept as a file."""
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
        return np.asarray(Image.open(io.BytesIO(file.read_bytes())).convert("RGB"), dtype=int)

    def show(self) -> None:
        """Brings the tab to the front; the one that was there loses the focus."""
        self._browser.call("Target.activateTarget", targetId=self._target)

    def close(self) -> None:
        """Closes the tab, once."""
        if not self._closed:
            self._closed = True
            self._browser.call("Target.closeTarget", targetId=self._target)
