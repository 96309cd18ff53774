"""Takes short clips of the machines as the viewer's page shows them: `python tooling/clips.py [NAME ...]`.

Writes docs/images/clip_NAME.webp. The simulator is paused and asked for the steps of each picture, so that the pictures
are evenly spaced in simulation time however busy the computer is. `tooling/pictures.py` has the browser and the nodes.
"""

import io
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pictures
from PIL import Image
from websockets.sync.client import connect
from websockets.sync.connection import Connection

SIZE = (500, 400)  # of the window; the page is lower by its title
PACE = 0.12  # from picture to picture, and how long each is shown [s]
COUNT = 24  # pictures
QUALITY = 60  # of the WebP files
LARGEST = 400e3  # bytes of a clip
STEP = 0.001  # of the simulation [s]
LATE = 20  # steps by which the newest pose may be older than the present step
# Takes the tick out of the box that makes the camera follow.
STAND = """[...document.querySelectorAll("input[type=checkbox]")].find(box => {
    let row = box;
    while (!row.textContent) row = row.parentElement;
    return row.textContent.trim() === "follow the machine";
}).click()"""
# Ends when the newest poses are drawn: the viewer sends them within one of its periods, a twentieth of a second.
DRAWN = """new Promise(done => {
    let count = 0;
    const tick = () => (count++ > 3 ? done(0) : requestAnimationFrame(tick));
    setTimeout(tick, 150);
})"""


@dataclass(frozen=True)
class Clip:
    """A clip of a machine of `pictures.SHOTS`, in its world.

    Attributes:
        start: time of the first picture [s].
        speed: simulated per shown seconds.
        program: instead of the one of the picture: text of a program file.
        follow: whether the camera follows the machine.
    """

    start: float = 0.0
    speed: float = 1.0
    program: str = ""
    follow: bool = True


def commands(*lines: str) -> str:
    """Text of a program file."""
    return "commands:\n" + "".join(f"  - {{{line}}}\n" for line in lines)


SPROCKETS = [f"{end}_{side}" for end in ("front", "rear") for side in ("left", "right")]
CLIPS = {
    "demolition_robot": Clip(1.0, 2.5),
    "excavator": Clip(1.0, 3.0),
    "flexible_arm": Clip(0.0, 0.5),
    "four_bar": Clip(0.0, 1.0),
    "four_track_carrier": Clip(
        program=commands(*(f"time: 0.3, joint: sprocket_{one}, value: 2.0, ramp: 0.5" for one in SPROCKETS))
    ),
    "hydraulic_lift": Clip(
        program=commands("time: 0.2, valve: lift_valve, value: 0.8", "time: 2.2, valve: lift_valve, value: -0.8")
    ),
    "loader_crane": Clip(0.0, 2.0),
    "loader_crane_flexible": Clip(0.0, 2.0),
    "rigid_pendulum": Clip(
        program=commands(
            *("time: 0.0, joint: bearing/x, value: 20.0", "time: 0.5, joint: bearing/x, value: 0.0"),
            *("time: 0.5, joint: bearing/y, value: 20.0", "time: 1.0, joint: bearing/y, value: 0.0"),
        )
    ),
    "rover": Clip(9.5, 2.5),
    "servo_fin": Clip(program=commands("time: 0.3, joint: hinge, value: 0.6", "time: 1.5, joint: hinge, value: -0.6")),
    "single_wheel_testbed": Clip(0.0, 2.5),
    "space_arm": Clip(0.0, 2.5),
    "stick_slip": Clip(0.0, 2.0, follow=False),
    "tracked_testbed": Clip(0.0, 2.0),
    "tracked_vehicle": Clip(
        program=commands("time: 0.2, twist: x, value: 1.0, ramp: 0.5", "time: 1.5, twist: yaw, value: 0.4, ramp: 0.5")
    ),
}


def take(shot: pictures.Shot, clip: Clip, file: Path) -> None:
    """Runs a machine step by step, and takes its clip."""
    port = pictures.free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        program = shot.program
        if clip.program:
            program = str(Path(folder, "program.yaml"))
            Path(program).write_text(clip.program)
        settings: dict[str, Any] = {"machine": shot.machine, "world": shot.world, "program": program}
        if shot.arguments:
            settings["machine_arguments"] = list(shot.arguments)
        with (
            pictures.node("viewer", port=port, world=shot.world, rate=20.0),
            pictures.node("simulator", **settings, start_paused=True),
        ):
            pictures.wait(lambda: pictures.listening(port), "the page")
            browser = pictures.Browser(folder, SIZE)
            try:
                browser.open(f"http://127.0.0.1:{port}/view/")
                with connect(f"ws://127.0.0.1:{port}/control", max_size=None, max_queue=None) as control:
                    frames = film(browser, control, clip)
            finally:
                browser.close()
    frames[0].save(
        file, save_all=True, append_images=frames[1:], duration=round(1e3 * PACE), loop=0, quality=QUALITY, method=6
    )
    if file.stat().st_size > LARGEST:
        raise SystemExit(
            f"{file}: {file.stat().st_size / 1e3:.0f} kB, at most {LARGEST / 1e3:.0f}: take fewer pictures"
        )


def film(browser: pictures.Browser, control: Connection, clip: Clip) -> list[Image.Image]:
    """The pictures of a clip."""
    pictures.wait(lambda: time_of(browser) >= 0.0, "the machine")
    if not clip.follow:
        browser.run(STAND)
    browser.run(pictures.HIDE_PANELS)
    pictures.wait(lambda: pictures.painted(browser.picture()), "the scene")
    frames, now = [], 0
    for place in range(COUNT):
        wanted = round((clip.start + clip.speed * PACE * place) / STEP)
        if wanted > now:
            control.send(json.dumps({"type": "step", "count": wanted - now}))
            now = wanted
            wait_for_step(control, now)
        browser.run(DRAWN)
        frames.append(Image.open(io.BytesIO(browser.picture())).convert("RGB"))
    return frames


def wait_for_step(control: Connection, step: int) -> None:
    """Waits until the simulation has made so many steps, by what the page is told."""
    while round(json.loads(control.recv(timeout=pictures.PATIENCE)).get("time", 0.0) / STEP) < step - LATE:
        pass


def time_of(browser: pictures.Browser) -> float:
    """Simulation time that the panel shows, to a tenth of a second; below 0 before there is one [s]."""
    shown = browser.run(pictures.TIME)
    return float(shown) if isinstance(shown, int | float) else -1.0


def main() -> None:
    """Takes the clips that the command line names, or all."""
    os.environ["ROS_DOMAIN_ID"] = str(100 + os.getpid() % 100)
    for name in sys.argv[1:] or CLIPS:
        if name not in CLIPS:
            raise SystemExit(f"no clip is called '{name}': {', '.join(CLIPS)}")
        file, begun = pictures.FOLDER / f"clip_{name}.webp", time.monotonic()
        take(pictures.SHOTS[name], CLIPS[name], file)
        print(f"{file}: {file.stat().st_size / 1e3:.0f} kB, in {time.monotonic() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
