"""The page in a real browser, beside running simulators: what its levers, keys and buttons do."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import Browser, Tab, running_browser
from control_msgs.msg import DynamicInterfaceGroupValues
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist, TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
from patience import wait_until
from PIL import Image
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from grouser.commands.replay import replay
from grouser.nodes.shared import topics
from grouser.nodes.shared.parameters import stamped_by_default
from grouser.recording.mcap_file import Recording
from grouser.runtime.mailbox import answer_of

pytestmark = pytest.mark.slow

# A busy computer may delay what the browser says for long; where silence is not tested, the timeout is long.
PATIENT = 10.0  # [s]
BOOM = '[data-actuator="boom_valve"]'
EBML = bytes.fromhex("1a45dfa3")  # how WebM files begin
# A game controller as the browser would report it: axes 2 and 3 are its right stick, button 4 its left shoulder.
GAME_CONTROLLER = """
    window.controller = { mapping: "standard", axes: [0, 0, 0, 0], buttons: Array.from({ length: 17 }, () => ({})) };
    navigator.getGamepads = () => [null, window.controller]; 0"""
RIGHT, MIDDLE = 0.9, 0.5  # places along a slider


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with running_browser(tmp_path_factory.mktemp("profile"), "the page as a browser runs it") as browser:
        yield browser


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Address of a viewer's page; the picture changes seldom, which leaves the processor to the rest."""
    values = {"port": 0, "hands_timeout": PATIENT, "rate": 2.0}
    given = [word for name, value in values.items() for word in ("-p", f"{name}:={value}")]
    command = [sys.executable, "-m", "grouser.nodes.viewer", "--ros-args", *given]
    viewer = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    found, said = None, ""
    while found is None:
        line = viewer.stderr.readline()
        assert line, f"the viewer ended: {said}"
        said += line
        found = re.search(r"http://localhost:\d+", line)
    yield found[0]
    viewer.terminate()
    _, rest = viewer.communicate()
    assert viewer.returncode == 0, rest
    assert "Traceback" not in rest


@pytest.fixture
def open_page(browser: Browser, address: str) -> Iterator[Callable[..., Tab]]:
    """Opens the page, without its scene unless that is wanted; closes all after the test."""
    tabs: list[Tab] = []

    def open_it(machine: str, scene: bool = False) -> Tab:
        tab = browser.open(address)
        tabs.append(tab)
        if not scene:
            tab.run("document.getElementById('view').hidden = true")
        tab.sees(f"document.getElementById('machine').textContent === '{machine}'")
        tab.sees("/in real time|slower|paused/.test(document.getElementById('clock').textContent)")
        return tab

    yield open_it
    for tab in tabs:
        tab.close()


@pytest.fixture
def valves(peer: Any) -> Any:
    return peer.hear(DynamicInterfaceGroupValues, topics.VALVE_COMMANDS)


def spool(message: DynamicInterfaceGroupValues, valve: str = "boom_valve") -> float:
    return message.interface_values[message.interface_groups.index(valve)].values[0]


def enable(tab: Tab) -> None:
    tab.click("#enable")
    tab.sees("document.body.classList.contains('live')")


def choose(tab: Tab, element: str, value: str) -> None:
    """Chooses from a list."""
    tab.run(
        f"(() => {{ const list = document.getElementById('{element}'); list.value = '{value}';"
        " list.dispatchEvent(new Event('change')) })()"
    )


def colours(picture: np.ndarray) -> int:
    """Number of different colours of a picture, shape (height, width, 3)."""
    return len(np.unique(picture.reshape(-1, 3), axis=0))


def stopped(message: DiagnosticArray) -> bool:
    return any(pair.key == "emergency_stop" and pair.value == "true" for one in message.status for pair in one.values)


def test_a_slider_moves_the_machine_and_springs_back(
    peer: Any, start_simulator: Callable[..., Any], open_page: Callable[..., Tab], valves: Any
) -> None:
    start_simulator()
    joints = peer.hear(JointState, topics.JOINT_STATES)
    page = open_page("loader")
    before = joints.wait(what="the boom at rest")
    boom = before.name.index("boom_joint")
    page.press(BOOM)
    page.drag(BOOM, RIGHT)
    page.release(BOOM, RIGHT)
    assert not valves.all(), "moved before it was enabled"

    enable(page)
    page.press(BOOM)
    page.drag(BOOM, RIGHT)
    valves.wait(lambda told: spool(told) > 0.7, "the command of the slider")
    joints.wait(lambda now: abs(now.position[boom] - before.position[boom]) > 0.05, "a boom that moves")
    page.release(BOOM, RIGHT)
    assert page.run(f"document.querySelector('{BOOM}').value") == "0"
    valves.wait(lambda told: spool(told) == 0.0, "neutral, after the slider sprang back")


def test_the_controls_fit_every_width(start_simulator: Callable[..., Any], open_page: Callable[..., Tab]) -> None:
    start_simulator(machine="excavator")
    page = open_page("excavator")
    sticks = "[...document.querySelectorAll('.stick:not([hidden])')].map((one) => one.getBoundingClientRect().right)"
    for width in (420, 900, 1120, 1140, 1500):
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=700, deviceScaleFactor=1, mobile=False)
        page.sees(f"innerWidth === {width} && Math.max(...{sticks}) <= {width}")
        assert page.run(f"document.querySelector('{BOOM}').clientWidth") >= 100


def test_drives_move_by_their_mode(
    peer: Any, start_simulator: Callable[..., Any], open_page: Callable[..., Tab]
) -> None:
    """A drive in position mode goes on at the slider's speed, and stays where it is when the slider springs back."""
    start_simulator()
    commands = peer.hear(JointState, topics.JOINT_COMMANDS)
    page = open_page("loader")
    enable(page)
    mast = '[data-actuator="mast_joint"]'
    page.press(mast)
    page.drag(mast, RIGHT)

    def value(told: JointState, joint: str, field: str) -> float:
        values = getattr(told, field)
        return values[told.name.index(joint)] if joint in told.name and values else 0.0

    def target(told: JointState) -> float:
        return value(told, "mast_joint", "position")

    commands.wait(lambda told: target(told) > 0.1, "a target that moves")
    page.release(mast, RIGHT)
    place = commands.mark()
    held = [target(told) for told in commands.collect(place + 20)[place + 10 :]]
    assert held[0] > 0.1 and len(set(held)) == 1
    for joint, field in (("drum_joint", "velocity"), ("winch_joint", "effort")):
        slider = f'[data-actuator="{joint}"]'
        page.press(slider)
        page.drag(slider, RIGHT)
        commands.wait(lambda told, joint=joint, field=field: value(told, joint, field) > 0.0, f"{field} of {joint}")
        page.release(slider, RIGHT)


def test_the_space_bar_stops_the_machine_until_it_is_released(
    peer: Any, start_simulator: Callable[..., Any], open_page: Callable[..., Tab], valves: Any
) -> None:
    start_simulator(diagnostics_rate=20.0)
    told = peer.hear(DiagnosticArray, "/diagnostics")
    page = open_page("loader")
    enable(page)
    page.press(BOOM)
    page.drag(BOOM, RIGHT)
    valves.wait(lambda told: spool(told) > 0.7, "the command of the slider")
    page.key("keyDown", "Space", " ")
    page.key("keyUp", "Space", " ")
    told.wait(stopped, "an emergency stop in the simulator")
    page.sees("!document.getElementById('latched').hidden")
    page.sees("document.getElementById('enable').getAttribute('aria-checked') === 'false'")
    page.release(BOOM, RIGHT)
    page.click("#release")
    told.wait(lambda now: not stopped(now), "the release")
    page.sees("document.getElementById('latched').hidden")
    page.click("#stop")
    told.wait(stopped, "a second emergency stop, by the button")
    page.click("#reset")
    told.wait(lambda now: not stopped(now), "the end of the stop by a reset")


def test_nothing_moves_once_the_tab_is_hidden_or_closed(
    start_simulator: Callable[..., Any], open_page: Callable[..., Tab], valves: Any
) -> None:
    start_simulator()
    other, page = open_page("loader"), open_page("loader")
    enable(page)
    page.press(BOOM)
    page.drag(BOOM, RIGHT)
    valves.wait(lambda told: spool(told) > 0.7, "the command of the slider")
    other.sees("document.getElementById('enable').disabled")
    since = valves.mark()
    other.show()
    valves.wait(lambda told: spool(told) == 0.0, "neutral, after another tab came to the front", since)
    page.sees("document.getElementById('enable').getAttribute('aria-checked') === 'false'")

    other.sees("!document.getElementById('enable').disabled")
    enable(other)
    other.press(BOOM)
    other.drag(BOOM, RIGHT)
    valves.wait(lambda told: spool(told) > 0.7, "the command of the other tab")
    since = valves.mark()
    other.close()
    valves.wait(lambda told: spool(told) == 0.0, "neutral, after the tab was closed", since)
    page.show()
    page.sees("!document.getElementById('enable').disabled")


def test_the_circuit_shows_what_is_in_it_and_commands_a_valve(
    start_simulator: Callable[..., Any], open_page: Callable[..., Tab], valves: Any
) -> None:
    # Slow, so that the boom, which is up in 0.3 s, moves until it has been seen to move.
    node = start_simulator(real_time_factor=0.01, circuit_rate=0.0)
    page = open_page("loader")
    page.click("#circuit-button")
    names = ("element-boom_valve", "line-boom_valve.a")
    valve, line = (f"document.querySelector('#circuit [id=\"{name}\"] .value')" for name in names)
    dashes = "[...document.querySelectorAll('#circuit [id=\"line-boom_valve.a\"] .flow')]"
    motion = "[dash.classList.contains('flows'), dash.getAnimations()[0].playState].join()"
    run = f"{dashes}.some((dash) => {motion} === 'true,running')"
    stand = f"{dashes}.every((dash) => {motion} === 'false,paused')"
    page.sees(f"{valve}?.textContent === '0 %'")
    assert page.run(f"{dashes}.length") > 0
    page.sees(f"{line}.textContent.endsWith(' bar 0.0 l/min') && {stand}")
    enable(page)
    page.press("#circuit #element-boom_valve")
    page.drag("#circuit #element-boom_valve", 0.8)
    valves.wait(lambda told: spool(told) > 0.1, "a command of the valve that is dragged to the right")
    page.sees(f"parseFloat({valve}.textContent) > 5")
    page.sees(f"parseFloat({line}.textContent.split('bar')[1]) > 1 && {run}")
    page.release("#circuit #element-boom_valve", 0.8)
    valves.wait(lambda told: spool(told) == 0.0, "neutral, after the valve was let go")
    page.sees(f"{line}.textContent.endsWith(' 0.0 l/min') && {stand}")
    page.touch("#circuit #element-boom_valve", 0.2)
    valves.wait(lambda told: spool(told) < -0.1, "a command by a finger that goes to the left")
    page.lift()
    since = valves.mark()
    valves.wait(lambda told: spool(told) == 0.0, "neutral, after the finger has left", since)

    def shown() -> tuple[float, float]:
        there = answer_of(node.mailbox.call(lambda loop: loop.simulation.circuit.line_pressure["boom_valve.a"]))
        return page.run(f"parseFloat({line}.textContent)"), there

    wait_until(lambda: abs(np.subtract(*np.multiply(shown(), (1.0, 1e-5)))) <= 1.0, "the pressure of the line, in bar")


def test_pause_step_reset_and_speed(
    peer: Any, start_simulator: Callable[..., Any], open_page: Callable[..., Tab]
) -> None:
    node = start_simulator(diagnostics_rate=20.0)
    joints = peer.hear(JointState, topics.JOINT_STATES)
    page = open_page("loader")
    page.click("#pause")
    page.sees("!document.getElementById('step').disabled")
    before = node.simulated_time
    page.run("document.getElementById('count').value = '10'")
    page.click("#step")
    peer.wait_for(lambda: node.simulated_time == pytest.approx(before + 0.01), "ten steps of a millisecond")
    page.key("keyDown", "KeyP", "p")
    joints.wait(lambda now: now.header.stamp.sec + 1e-9 * now.header.stamp.nanosec > before + 0.1, "a run that goes on")
    page.run(
        "const speed = document.getElementById('speed'); speed.value = '0.5'; speed.dispatchEvent(new Event('change'))"
    )
    peer.wait_for(lambda: node.parameters.real_time_factor == 0.5, "half speed")
    page.click("#reset")
    page.sees("/back at|reset|start/i.test(document.getElementById('notice').textContent)")


def test_a_box_is_added_and_removed(
    peer: Any, start_simulator: Callable[..., Any], open_page: Callable[..., Tab]
) -> None:
    pytest.importorskip("simulation_interfaces", reason="not tested: boxes; simulation_interfaces is not installed")
    start_simulator()
    objects = peer.hear(TFMessage, topics.OBJECT_POSES)
    page = open_page("loader")
    page.click("#scene-button")
    page.sees("!document.getElementById('boxes').hidden")
    page.run("document.getElementById('box-z').value = '0.2'")
    page.click("#add-box")
    # It falls from above and comes to rest on the ground, at half of its height.
    objects.wait(
        lambda told: any(abs(one.transform.translation.z - 0.1) < 0.01 for one in told.transforms),
        "a box on the ground",
    )
    page.click("#add-box")
    objects.wait(lambda told: len(told.transforms) == 2, "a second box, beside the first")
    page.click("#clear")
    objects.wait(lambda told: not told.transforms, "no box")


def test_patterns_and_keys_drive_a_vehicle(
    peer: Any, start_simulator: Callable[..., Any], open_page: Callable[..., Tab]
) -> None:
    start_simulator(machine="rover")
    kind = TwistStamped if stamped_by_default() else Twist
    twists = peer.hear(kind, topics.CMD_VEL)
    odometry = peer.hear(Odometry, topics.GROUND_TRUTH)
    page = open_page("rover")
    names = page.run("[...document.getElementById('pattern').options].map((one) => one.value)")
    assert set(names) == {"rover", "car", "tank", ""} and names[0] == "rover"
    page.sees("document.querySelector('#left .up').textContent === 'ahead'")

    def twist(told: Any) -> Any:
        return told.twist if kind is TwistStamped else told

    enable(page)
    start = odometry.wait(what="the rover at rest").pose.pose.position.x
    page.key("keyDown", "KeyW", "w")
    twists.wait(lambda told: twist(told).linear.x > 0.1, "ahead, by the key W")
    odometry.wait(lambda told: told.pose.pose.position.x > start + 0.05, "a rover that drives ahead")
    page.key("keyUp", "KeyW", "w")
    twists.wait(lambda told: twist(told).linear.x == 0.0, "a stop when the key is let go")

    choose = (
        "const list = document.getElementById('pattern'); list.value = 'tank'; list.dispatchEvent(new Event('change'))"
    )
    page.run(choose)
    page.sees("document.querySelector('#left .leftward').textContent === ''")
    enable(page)
    page.press("#right .plate")
    page.drag("#right .plate", 0.5, 0.05)
    # The right side ahead turns the rover to the left.
    twists.wait(lambda told: twist(told).linear.x > 0.1 and twist(told).angular.z > 0.1, "the right side ahead")
    page.release("#right .plate")
    twists.wait(lambda told: twist(told).linear.x == twist(told).angular.z == 0.0, "a stick that springs back")
    page.click("#enable")
    page.sees("!document.body.classList.contains('live')")

    page.run(GAME_CONTROLLER)
    page.run("window.controller.axes[3] = -1")
    page.sees("/ -[1-9]/.test(document.querySelector('#right .ball').style.transform)")
    page.run("window.controller.axes[3] = 0; window.controller.buttons[4].pressed = true")
    page.sees("document.body.classList.contains('live')")
    page.run("window.controller.axes[3] = -1")
    twists.wait(lambda told: twist(told).angular.z > 0.1, "the right side ahead, by a game controller")
    released = twists.mark()
    page.run("window.controller.buttons[4].pressed = false")
    page.sees("!document.body.classList.contains('live')")
    twists.wait(lambda told: twist(told).angular.z == 0.0, "neutral, when its shoulder is let go", released)


def push_and_let_go(peer: Any, node: Any, page: Tab, other: Tab, picture: Path) -> None:
    """Drags the machine by the push tool: it moves along the drag until it is let go, or the tab is hidden."""
    pushes = peer.hear(WrenchStamped, topics.PUSH)
    page.press("#view", 0.47)
    page.drag("#view", 0.46)
    page.release("#view", 0.46)
    assert not pushes.all(), "pushed without the tool, by a drag that turns the camera"

    def force() -> float:
        """Of the pushes in the simulator [N]."""
        present = answer_of(node.mailbox.call(lambda loop: dict(loop.simulation.pushes)))
        return max((float(np.linalg.norm(push.force)) for push in present.values()), default=0.0)

    def place() -> np.ndarray:
        return answer_of(node.mailbox.call(lambda loop: loop.simulation.base_pose()[0].copy()))

    def grab(drag: Callable[[int], None]) -> None:
        """Drags the machine to the left, again and again until the tool has come to the scene."""
        attempts = count()

        def pushed() -> bool:
            drag(next(attempts))
            return force() > 1000.0

        wait_until(pushed, "a push")

    def by_mouse(attempt: int) -> None:
        if attempt % 100 == 0:
            page.release("#view", 0.2)
            page.press("#view", 0.47)
        page.drag("#view", 0.2 + 0.01 * (attempt % 2))

    def by_finger(attempt: int) -> None:
        if attempt % 100 == 0:
            if attempt:
                page.lift()
            page.touch("#view", 0.4)
        page.slide("#view", 0.2 + 0.01 * (attempt % 2))

    page.click("#push")
    before = place()
    grab(by_mouse)
    wait_until(lambda: np.linalg.norm((place() - before)[:2]) > 0.1, "a machine that moves")
    green = page.picture(picture)
    assert ((green[..., 1] > 1.5 * green[..., 0]) & (green[..., 1] > 1.2 * green[..., 2])).sum() > 20, "no arrow"
    page.release("#view", 0.2)
    wait_until(lambda: force() == 0.0, "the end of the push")
    page.click("#reset")
    wait_until(lambda: np.linalg.norm((place() - before)[:2]) < 0.05, "the machine at its start")
    grab(by_finger)
    other.show()
    wait_until(lambda: force() == 0.0, "the end of the push, by a tab that is hidden")
    page.show()
    page.sees("document.getElementById('push').getAttribute('aria-pressed') === 'false'")
    page.lift()


def test_the_page_has_the_scene(
    peer: Any, start_simulator: Callable[..., Any], open_page: Callable[..., Tab], tmp_path: Path
) -> None:
    """viser's client runs in the frame, over the same port. Parts in it are pushed, and its picture can be saved."""
    node = start_simulator()
    other, page = open_page("loader"), open_page("loader", scene=True)
    # The scene in the middle of the page, between its bars.
    wait_until(lambda: colours(page.picture(tmp_path / "page.png")[150:300, 100:500]) > 50, "a scene that is drawn")
    push_and_let_go(peer, node, page, other, tmp_path / "push.png")
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page.click("#picture")
    page.sees("/^Saved loader_[0-9.]+s.png/.test(document.getElementById('notice').textContent)")
    wait_until(lambda: list(tmp_path.glob("loader_*s.png")), "the saved picture")
    (file,) = tmp_path.glob("loader_*s.png")
    assert colours(np.asarray(Image.open(file).convert("RGB"))) > 50, "an empty picture"
    page.click("#video")
    page.sees("document.getElementById('video').getAttribute('aria-pressed') === 'true'")
    page.press("#view", 0.2, 0.6)

    times = count()

    def turned() -> bool:
        """Turns the camera, so that there is something to film; says whether it was filmed."""
        page.drag("#view", 0.2 + 0.02 * (next(times) % 10), 0.6)
        return page.run("parseInt(document.getElementById('video').textContent.slice(6)) > 1")

    wait_until(turned, "a film")
    page.release("#view", 0.2, 0.6)
    page.click("#video")
    page.sees("/^Saved loader_[0-9.]+s.webm/.test(document.getElementById('notice').textContent)")
    wait_until(lambda: list(tmp_path.glob("loader_*s.webm")), "the saved video")
    (file,) = tmp_path.glob("loader_*s.webm")
    assert file.read_bytes()[:4] == EBML, "no video"


def test_a_run_is_recorded_by_a_button(
    start_simulator: Callable[..., Any], open_page: Callable[..., Tab], tmp_path: Path
) -> None:
    file = tmp_path / "part.mcap"
    start_simulator(record_file=str(file), diagnostics_rate=20.0)
    page = open_page("loader")
    page.click("#record")
    page.sees("parseInt(document.getElementById('record').textContent.slice(2)) >= 1")
    assert str(file) in page.run("document.getElementById('record').title")
    page.click("#record")
    page.sees("document.getElementById('record').textContent === 'Record'")
    page.sees(f"document.getElementById('notice').textContent.includes('grouser replay {file} --view')")
    result = replay(Recording(file))
    assert result.difference is None and result.compared >= 2
    page.click("#record")
    page.sees("document.getElementById('notice').textContent.includes('a new file in a folder that exists')")


def test_the_program_shows_what_is_on_its_wires(
    start_simulator: Callable[..., Any], open_page: Callable[..., Tab], valves: Any, tmp_path: Path
) -> None:
    file = tmp_path / "program.yaml"
    file.write_text(
        "cycle: 0.01\nblocks:\n  half: {type: MUL, IN1: operator.boom_valve, IN2: 0.5}\n"
        "  moving: {type: GT, IN1: half, IN2: 0.1}\ncommands:\n  boom_valve: half\n"
    )
    start_simulator(program=str(file))
    page = open_page("loader")
    page.sees("!document.getElementById('program-button').hidden")
    page.click("#program-button")
    half, moving = (f"document.querySelector('[data-wire=\"{name}\"]')" for name in ("half.OUT", "moving.Q"))
    page.sees(f"{half}?.textContent === '0' && !{moving}.classList.contains('on')")
    enable(page)
    page.press(BOOM)
    page.drag(BOOM, RIGHT)
    valves.wait(lambda told: spool(told) > 0.7, "the command of the slider")
    page.sees(f"parseFloat({half}.textContent) > 0.35 && {moving}.classList.contains('on')")
    assert page.run(f"parseFloat({half}.textContent)") <= 0.5
    page.release(BOOM, RIGHT)
    page.sees(f"{half}.textContent === '0'")
