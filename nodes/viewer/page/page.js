// The page: what is shown, what the buttons do, and when the hands speak.

import { Circuit } from "./circuit.js";
import { Hands } from "./hands.js";
import { Link } from "./link.js";
import { Pictures } from "./pictures.js";
import { Program } from "./program.js";
import { Replay } from "./replay.js";

const SPEAKING = 40; // interval of what the hands do [ms]
const NOTICE = 6000; // how long a notice stays [ms]
// Words for the parts of a twist, positive and negative.
const TWISTS = {
  x: ["ahead", "back"], y: ["left", "right"], yaw: ["turn left", "turn right"], curvature: ["turn left", "turn right"],
};

const $ = (id) => document.getElementById(id);
const view = $("view");
const hands = new Hands();
let description = {};
let state = {};
let heldByPad = false;
let pushing = false; // the push tool
let neutral = ""; // message of the hands that was sent last while motion was not enabled

const replay = new Replay($("replay"), order);
const circuit = new Circuit($("circuit"), hands, wantEnabled);
const program = new Program($("program"));
const link = new Link({
  description: describe, state: show, answer, lost, drawing: (message) => circuit.draw(message),
  circuit: (message) => circuit.show(message), program: (message) => program.show(message),
});

function notice(text, bad = false) {
  $("notice").textContent = text;
  $("notice").classList.toggle("bad", bad);
  $("notice").hidden = !text;
  clearTimeout(notice.timer);
  notice.timer = setTimeout(() => ($("notice").hidden = true), NOTICE);
}

function order(type, fields) {
  if (!link.send(type, fields)) notice("No connection to the viewer.", true);
}

function answer(message) {
  if (message.about === "hands" || message.about === "message") letGo();
  if (!message.done || !["speed", "pause", "seek", "backward"].includes(message.about)) notice(message.text, !message.done);
}

function lost() {
  rest();
  $("clock").textContent = "no connection to the viewer";
  document.body.classList.add("lost");
}

// ---- what the hands do

function speak() {
  if (pushing) link.send("push", { on: true });
  const said = hands.message();
  const byPad = said.enable && !hands.enable;
  if (said.enable && !heldByPad && byPad) enableFirst();
  heldByPad = byPad;
  const text = JSON.stringify(said);
  // Without enabled motion the hands say only what changes: buttons that choose a mode, and that all is let go.
  if (said.enable || text !== neutral) link.send("hands", said);
  neutral = said.enable ? "" : text;
}
setInterval(speak, SPEAKING);

/** Says once that nothing is enabled: the dead man's button counts only when it is pressed. */
function enableFirst() {
  link.send("hands", { ...hands.message(), enable: false, axes: [0, 0, 0, 0, 0, 0], sliders: {}, ahead: 0, left: 0 });
}

function setEnabled(on) {
  if (on) {
    enableFirst();
    hands.enable = true;
    setEnabled.at = performance.now();
  } else {
    letGo();
  }
  showEnabled();
  speak();
}

function letGo() {
  const moved = hands.enable;
  hands.letGo();
  showEnabled();
  if (moved) speak();
}

/** All that the hands do ends, pushes too. */
function rest() {
  letGo();
  if (pushing) setPushing(false);
}

function setPushing(on) {
  pushing = on;
  link.send("push", { on });
  $("push").setAttribute("aria-pressed", String(on));
  if (on) notice("Drag a part of the machine: the force is along the drag. Press Push again to end it.");
}

function showEnabled() {
  const on = hands.enable || heldByPad;
  $("enable").setAttribute("aria-checked", String(on));
  $("enable-text").textContent = on ? "Enabled" : "Enable";
  document.body.classList.toggle("live", Boolean(state.enabled && state.yours));
}

function wantEnabled() {
  if (hands.enable || hands.pad()) return;
  $("enable").classList.remove("wanted");
  void $("enable").offsetWidth; // begins the animation anew
  $("enable").classList.add("wanted");
  notice("Switch on Enable first: then sticks, sliders and keys move the machine.");
}

/** Presses a button of the joystick once. */
async function press(number) {
  hands.buttons.add(number);
  speak();
  await new Promise((done) => setTimeout(done, 2 * SPEAKING));
  hands.buttons.delete(number);
  speak();
}

function leave() {
  // A click into the scene takes the focus from this window, not from the page.
  setTimeout(() => document.hasFocus() || rest(), 0);
}

function onKeyDown(event) {
  if (["INPUT", "TEXTAREA"].includes(event.target.tagName) && event.target.type !== "range") return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.code === "Space") order("stop");
  else if (event.code === "KeyP" && !event.repeat) order("pause", { value: !state.paused });
  else if (event.code === "KeyF" && !event.repeat && !state.replay) setPushing(!pushing);
  else if (description.travel && hands.drives(event.code) && event.target.type !== "range") {
    if (!hands.enable) {
      // Without enabled motion these keys move the camera; in the page's own window they remind.
      if (event.view === window && event.target.tagName !== "SELECT") wantEnabled();
      return;
    }
    if (!event.repeat) {
      hands.keys.add(event.code);
      speak();
    }
  } else return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

function onKeyUp(event) {
  if (event.code === "Space") event.preventDefault(); // else it would press the button that has the focus
  if (hands.keys.delete(event.code)) {
    event.stopImmediatePropagation();
    speak();
  }
}

function listen(target) {
  target.addEventListener("keydown", onKeyDown, true);
  target.addEventListener("keyup", onKeyUp, true);
  target.addEventListener("blur", leave);
}
listen(window);
view.addEventListener("load", () => listen(view.contentWindow));
if (view.contentDocument?.readyState === "complete") listen(view.contentWindow);
document.addEventListener("visibilitychange", () => document.hidden && rest());
window.addEventListener("pagehide", rest);
window.addEventListener("gamepadconnected", () => notice("Game controller: hold its left shoulder button to move the machine."));

// ---- what is shown

const plain = (name) => name.replace(/_valve$/, "").replaceAll("_", " ");

function describe(message) {
  if (description.scene && description.scene !== message.scene) view.contentWindow.location.reload();
  description = message;
  letGo();
  document.title = message.machine ? `${plain(message.machine)} – grouser` : "grouser";
  $("machine").textContent = plain(message.machine) || "grouser";
  fill($("pattern"), [...message.patterns, ""], message.pattern, (name) => (name ? plain(name) : "sliders only"));
  fill($("machines"), message.machines, message.machine, plain);
  fill($("worlds"), message.worlds, message.world, plain);
  const standard = message.machines.length > 0;
  $("change").hidden = $("boxes").hidden = !standard;
  $("no-scene").hidden = standard;
  circuit.levers = new Set(message.sliders.map(({ name }) => name));
  $("circuit-button").hidden = !message.hydraulics;
  if (!message.hydraulics) $("circuit").hidden = true;
  else if (!$("circuit").hidden) link.send("circuit", { shown: true }); // after a new connection
  $("sliders").replaceChildren(...message.sliders.map(slider));
  choices($("modes"), message.modes.map((mode) => [plain(mode.name), () => press(mode.button)]));
  choices($("ranges"), message.ranges?.length > 1 ? message.ranges.map((name, at) => [name, () => shift(at)]) : []);
  $("travel").hidden = !message.travel;
  $("keys").textContent = [
    message.travel ? "Arrow keys or W A S D drive." : "",
    "Space bar: emergency stop. P: pause. F: push.",
  ].join(" ");
  showLevers();
}

function fill(select, names, chosen, words) {
  select.replaceChildren(...names.map((name) => new Option(words(name), name, false, name === chosen)));
  select.disabled = names.length < 2;
}

function choices(group, entries) {
  group.hidden = !entries.length;
  group.replaceChildren(
    ...entries.map(([text, choose]) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: text });
      button.setAttribute("role", "radio");
      button.addEventListener("click", choose);
      return button;
    }),
  );
}

async function shift(wanted) {
  for (let at = state.range; at !== wanted; at += Math.sign(wanted - at)) {
    await press(wanted > at ? description.faster : description.slower);
  }
}

function slider({ name, scale, unit }) {
  const label = Object.assign(document.createElement("label"), { className: "slider" });
  const output = document.createElement("output");
  const input = Object.assign(document.createElement("input"), { type: "range", min: -1, max: 1, step: 0.01, value: 0 });
  input.dataset.actuator = name;
  input.setAttribute("aria-label", plain(name));
  input.addEventListener("pointerdown", wantEnabled);
  const show = (value) => {
    output.textContent = unit ? `${(value * scale).toPrecision(3)} ${unit}` : `${Math.round(100 * value)} %`;
  };
  show(0);
  hands.slider(input, name, show);
  label.append(plain(name), output, input);
  return label;
}

/** Names at the sticks, and pairs of buttons, of the present mode. */
function showLevers() {
  const active = (description.levers ?? []).filter((lever) => !lever.mode || lever.mode === state.mode);
  for (const id of ["left", "right"]) {
    const [across, along] = $(id).dataset.axes.split(" ").map(Number);
    const words = (axis, sign) => active.filter((lever) => lever.axis === axis).map((lever) => wordOf(lever, sign)).join(", ");
    $(id).querySelector(".leftward").textContent = words(across, 1);
    $(id).querySelector(".rightward").textContent = words(across, -1);
    $(id).querySelector(".up").textContent = words(along, 1);
    $(id).querySelector(".down").textContent = words(along, -1);
    $(id).hidden = !(description.levers ?? []).some((lever) => lever.axis === across || lever.axis === along);
  }
  const pairs = active.filter((lever) => lever.buttons.length);
  $("pairs").replaceChildren(...pairs.map(pair));
  $("nothing").hidden = Boolean(description.sliders?.length || description.levers?.length || description.travel || !description.machine);
}

function wordOf(lever, sign) {
  const name = plain(lever.actuator);
  const [positive, negative] = lever.kind === "twist" ? TWISTS[lever.actuator] : [`${name} +`, `${name} −`];
  return sign * lever.sign > 0 ? positive : negative;
}

function pair(lever) {
  const group = Object.assign(document.createElement("span"), { className: "pair" });
  const buttons = ["−", "+"].map((text, at) => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: text });
    button.setAttribute("aria-label", `${plain(lever.actuator)} ${text}`);
    button.addEventListener("pointerdown", wantEnabled);
    hands.hold(button, lever.buttons[lever.sign > 0 ? at : 1 - at]);
    return button;
  });
  group.append(plain(lever.actuator), ...buttons);
  return group;
}

function show(message) {
  const before = state;
  state = message;
  replay.show(message);
  document.body.classList.remove("lost");
  const parts = [`${message.time.toFixed(1)} s`, `${message.speed.toFixed(2)} × real time`, message.pace];
  $("clock").textContent = (message.building ? parts.slice(2) : parts).join(" · ");
  $("pause").textContent = message.paused ? "▶" : "❚❚";
  $("pause").setAttribute("aria-label", message.paused ? "Go on" : "Pause");
  $("step").disabled = $("count").disabled = !message.paused;
  $("latched").hidden = !message.stopped;
  showRecording(message.recording);
  showProgram(message.program, before.program);
  const waiting = message.busy || (message.building ? message.pace : "");
  $("progress").hidden = !waiting;
  $("progress-text").textContent = waiting;
  const share = message.building && /(\d+) %/.exec(message.pace);
  if (share) $("progress-bar").value = share[1] / 100;
  else $("progress-bar").removeAttribute("value");
  $("load").disabled = $("add-box").disabled = Boolean(message.busy);
  if (message.factor !== null && message.factor !== before.factor) $("speed").value = String(message.factor);
  [...$("modes").children].forEach((button, at) =>
    button.setAttribute("aria-checked", String(description.modes[at].name === message.mode)));
  [...$("ranges").children].forEach((button, at) => button.setAttribute("aria-checked", String(at === message.range)));
  if (message.mode !== before.mode) showLevers();
  // Motion that ended by itself (silence, another browser, an emergency stop) has to be enabled again.
  const ended = before.enabled && before.yours && !message.enabled;
  if (hands.enable && (ended || message.others || (message.stopped && !before.stopped))) {
    letGo();
    notice(message.others ? "Another browser commands the machine." : "All is in neutral. Enable again to go on.");
  }
  $("enable").disabled = Boolean(message.others);
  $("enable").title = message.others ? "Another browser commands the machine" : "";
  showEnabled();
}

/** The button of the program, while a simulator executes one; after a new connection the viewer is asked again. */
function showProgram(there, before) {
  if (there === before) return;
  $("program-button").hidden = !there;
  if (!there) $("program").hidden = true;
  else if (!$("program").hidden) link.send("program", { shown: true });
}

/** The button of recordings: how long the present one is, and where. */
function showRecording(recording) {
  $("record").textContent = recording ? `● ${recording.seconds.toFixed(0)} s` : "Record";
  $("record").setAttribute("aria-pressed", String(Boolean(recording)));
  $("record").classList.toggle("bad", Boolean(recording?.incomplete));
  const what = recording && `Recording in ${recording.file}; press to end it. ${recording.incomplete}`;
  $("record").title = what || "Record the run from now on";
}

// ---- buttons

const click = (id, act) => $(id).addEventListener("click", act);
hands.stick($("left"), (left, ahead) => ([hands.axes[0], hands.axes[1]] = [left, ahead]));
hands.stick($("right"), (left, ahead) => ([hands.axes[2], hands.axes[3]] = [left, ahead]));
hands.stick($("travel"), (left, ahead) => (hands.drive = [ahead, left]));
for (const id of ["left", "right", "travel"]) $(id).addEventListener("pointerdown", wantEnabled);
click("enable", () => setEnabled(!hands.enable));
click("stop", () => order("stop"));
click("release", () => order("release"));
click("pause", () => order("pause", { value: !state.paused }));
click("step", () => order("step", { count: Number($("count").value) }));
click("reset", () => order("reset"));
$("speed").addEventListener("change", () => order("speed", { factor: Number($("speed").value) }));
$("pattern").addEventListener("change", () => order("pattern", { name: $("pattern").value }));
click("load", () => order("scene", { machine: $("machines").value, world: $("worlds").value }));
click("clear", () => order("clear"));
click("add-box", () => {
  const size = ["box-x", "box-y", "box-z"].map((id) => $(id).valueAsNumber);
  order("box", { size, mass: $("box-mass").valueAsNumber });
});
$("scene").addEventListener("submit", (event) => event.preventDefault());
click("larger", () => circuit.enlarge(1.5));
click("smaller", () => circuit.enlarge(1 / 1.5));
for (const [button, part] of [["circuit-button", "circuit"], ["program-button", "program"], ["scene-button", "scene"], ["move-button", "dock"]]) {
  click(button, () => {
    $(part).hidden = !$(part).hidden;
    if (part === "circuit" || part === "program") link.send(part, { shown: !$(part).hidden });
    $(button).setAttribute("aria-expanded", String(!$(part).hidden));
    if ($(part).hidden) letGo();
  });
}
const pictures = new Pictures(view, () => `${description.machine || "grouser"}_${(state.time ?? 0).toFixed(1)}s`, notice);
click("push", () => setPushing(!pushing));
click("record", () => order("record", { value: !state.recording }));
click("picture", () => pictures.take());
click("video", () => pictures.film($("video")));
